"""The different rows of a matrix, which are as many as data decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .counts import places_where, running_count

if TYPE_CHECKING:
    from ..te import Expr
    from .builder import GraphBuilder, Value

__all__ = ["Uniques", "consecutive_rows", "unique_rows"]


@dataclass(frozen=True, slots=True)
class Uniques:
    """The different rows of a matrix, as runs of like rows that follow each other.

    `is_first` says of each row, in the order of the runs, whether it begins one; so many different rows there are.
    `order` has the place of each of these rows in the matrix; without it they are in the order of the matrix. Results
    are in the order of the runs, or, `by_place`, in that of the first row of each kind in the matrix.
    """

    builder: GraphBuilder
    is_first: Value
    order: Value | None = None
    by_place: bool = False

    def places(self, extent: int | Expr) -> Value:
        """Where the first of each kind is, `extent` of them."""
        places = self._in_matrix(places_where(self.builder, self.is_first, extent))
        return self._gather(places, _sorted(self.builder, places)) if self.by_place else places

    def counts(self, extent: int | Expr) -> Value:
        """How many there are of each kind."""
        builder = self.builder
        own = builder.op("iota", shape=list(self.is_first.shape), axis=0, to="int64")
        follower = self._gather(self.is_first, builder.op("add", own, _int(builder, 1)))
        end = builder.op("reduce_max", own, axes=[0], keepdims=False)
        is_last = builder.op("or", follower, builder.op("equal", own, end))
        first = places_where(builder, self.is_first, extent)
        last = places_where(builder, is_last, extent)
        sizes = builder.op("add", builder.op("sub", last, first), _int(builder, 1))
        return self._gather(sizes, _sorted(builder, self._in_matrix(first))) if self.by_place else sizes

    def numbers(self, extent: int | Expr) -> Value:
        """By row of the matrix, which of the results it is like."""
        builder = self.builder
        number = builder.op("sub", running_count(builder, self.is_first), _int(builder, 1))
        if self.by_place:
            order = _sorted(builder, self._in_matrix(places_where(builder, self.is_first, extent)))
            number = self._gather(_sorted(builder, order), number)
        return number if self.order is None else self._gather(number, _sorted(builder, self.order))

    def _in_matrix(self, places: Value) -> Value:
        return places if self.order is None else self._gather(self.order, places)

    def _gather(self, x: Value, places: Value) -> Value:
        return self.builder.op("gather", x, places, axis=0)


def unique_rows(builder: GraphBuilder, x: Value, in_order: bool, equal_nans: bool) -> Uniques:
    """The different rows of a matrix: in ascending order of their elements, or in the order of the first of each kind.

    NaN is the largest. With `equal_nans`, one NaN is like another.
    """
    if x.dtype == "bool":
        x = builder.op("cast", x, to="uint8", saturate=True)
    order = builder.op("sort_rows", x)
    ordered = builder.op("gather", x, order, axis=0)
    return Uniques(builder, _begins(builder, ordered, equal_nans), order, not in_order)


def consecutive_rows(builder: GraphBuilder, x: Value) -> Uniques:
    """The rows of a matrix that differ from the row before them."""
    return Uniques(builder, _begins(builder, x, False))


def _begins(builder: GraphBuilder, x: Value, equal_nans: bool) -> Value:
    """Which rows differ from the row before them; the first does."""
    own = builder.op("iota", shape=[x.shape[0]], axis=0, to="int64")
    place = builder.op("max", builder.op("sub", own, _int(builder, 1)), _int(builder, 0))
    before = builder.op("gather", x, place, axis=0)
    differs = builder.op("not_equal", x, before)
    if equal_nans and "float" in x.dtype:
        are_nan = builder.op("and", builder.op("isnan", x), builder.op("isnan", before))
        differs = builder.op("and", differs, builder.op("not", are_nan))
    any_differs = builder.op("reduce_max", differs, axes=[1], keepdims=False)
    return builder.op("or", any_differs, builder.op("equal", own, _int(builder, 0)))


def _sorted(builder: GraphBuilder, x: Value) -> Value:
    """The places of a vector's elements in ascending order; of the places of a permutation, its inverse."""
    return builder.op("sort_rows", builder.op("reshape", x, shape=[*x.shape, 1]))


def _int(builder: GraphBuilder, value: int) -> Value:
    return builder.constant(np.asarray(value, np.int64))
