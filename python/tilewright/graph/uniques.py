"""The different rows of a matrix, which are as many as data decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .counts import running_count

if TYPE_CHECKING:
    from ..te import Expr
    from .builder import GraphBuilder, Value

__all__ = ["Uniques", "consecutive_rows", "unique_rows"]


@dataclass(frozen=True, slots=True)
class Uniques:
    """The different rows of a matrix: how often there is a new one, and for each row the number of its like.

    `is_first` says which rows are the first of their kind, and `number` is the place of each row among the results.
    """

    builder: GraphBuilder
    is_first: Value
    number: Value

    def _is_of(self, extent: int | Expr) -> Value:
        """For each result, a row of the matrix, and each row given whether it is like the result."""
        builder, count = self.builder, self.number.shape[0]
        results = builder.op("iota", shape=[extent, 1], axis=0, to="int64")
        return builder.op("equal", builder.op("reshape", self.number, shape=[1, count]), results)

    def places(self, extent: int | Expr) -> Value:
        """Where the first of each kind is."""
        builder, count = self.builder, self.number.shape[0]
        first = builder.op("and", self._is_of(extent), builder.op("reshape", self.is_first, shape=[1, count]))
        place = builder.op("where", first, builder.op("iota", shape=[1, count], axis=1, to="int64"), _int(builder, 0))
        return builder.op("reduce_sum", place, axes=[1], keepdims=False)

    def counts(self, extent: int | Expr) -> Value:
        """How many there are of each kind."""
        found = self.builder.op("cast", self._is_of(extent), to="int64", saturate=True)
        return self.builder.op("reduce_sum", found, axes=[1], keepdims=False)


def unique_rows(builder: GraphBuilder, x: Value, in_order: bool, equal_nans: bool) -> Uniques:
    """The different rows of a matrix: in ascending order of their elements, or in the order of the first of each kind.

    NaN is the largest. With `equal_nans`, one NaN is like another.
    """
    rows, columns = x.shape
    a = builder.op("reshape", x, shape=[rows, 1, columns])
    b = builder.op("reshape", x, shape=[1, rows, columns])
    same, less = builder.op("equal", a, b), builder.op("less", b, a)
    if "float" in x.dtype:
        none_a, none_b = builder.op("isnan", a), builder.op("isnan", b)
        less = builder.op("or", less, builder.op("and", none_a, builder.op("not", none_b)))
        if equal_nans:
            same = builder.op("or", same, builder.op("and", none_a, none_b))
    unlike = builder.op("not", same)
    place = builder.op("argmax", builder.op("cast", unlike, to="int32", saturate=True), axis=2, keepdims=True,
                       select_last=False)  # fmt: skip
    is_below = builder.op("reshape", builder.op("gather_elements", less, place, axis=2), shape=[rows, rows])
    is_like = builder.op("not", _any(builder, unlike, 2))
    own = builder.op("iota", shape=[rows], axis=0, to="int64")
    if "float" in x.dtype and not equal_nans:
        # A row with NaN is like no other, but it is the first of its kind.
        on_diagonal = builder.op("equal", builder.op("reshape", own, shape=[rows, 1]), own)
        is_like = builder.op("or", is_like, on_diagonal)
    numbers = builder.op("cast", is_like, to="int32", saturate=True)
    first = builder.op("argmax", numbers, axis=1, keepdims=False, select_last=False)
    is_first = builder.op("equal", first, own)
    if not in_order:
        running = builder.op("sub", running_count(builder, is_first), _int(builder, 1))
        return Uniques(builder, is_first, builder.op("gather", running, first, axis=0))
    if "float" in x.dtype and not equal_nans:
        # Of rows that only NaN tells apart, the first comes first.
        before = builder.op("less", own, builder.op("reshape", own, shape=[rows, 1]))
        backward = builder.op("transpose", is_below, permutation=[1, 0])
        neither = builder.op("not", builder.op("or", is_below, backward))
        tied = builder.op("and", neither, builder.op("and", before, builder.op("not", is_like)))
        is_below = builder.op("or", is_below, tied)
    counted = builder.op("and", is_below, builder.op("reshape", is_first, shape=[1, rows]))
    numbers = builder.op("cast", counted, to="int64", saturate=True)
    return Uniques(builder, is_first, builder.op("reduce_sum", numbers, axes=[1], keepdims=False))


def consecutive_rows(builder: GraphBuilder, x: Value) -> Uniques:
    """The rows of a matrix that differ from the row before them."""
    own = builder.op("iota", shape=[x.shape[0]], axis=0, to="int64")
    place = builder.op("max", builder.op("sub", own, _int(builder, 1)), _int(builder, 0))
    before = builder.op("gather", x, place, axis=0)
    differs = _any(builder, builder.op("not_equal", x, before), 1)
    is_first = builder.op("or", differs, builder.op("equal", own, _int(builder, 0)))
    running = builder.op("sub", running_count(builder, is_first), _int(builder, 1))
    return Uniques(builder, is_first, running)


def _int(builder: GraphBuilder, value: int) -> Value:
    return builder.constant(np.asarray(value, np.int64))


def _any(builder: GraphBuilder, x: Value, axis: int) -> Value:
    return builder.op("reduce_max", x, axes=[axis], keepdims=False)
