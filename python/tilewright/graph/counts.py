"""What has as many elements as data decide: their number, which `GraphBuilder.count` takes, and their places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import TilewrightValueError as ValueError
from ..te import Expr

if TYPE_CHECKING:
    from .builder import GraphBuilder, Value

__all__ = ["count_of", "flat", "places_in", "places_of", "places_where", "running_count"]

_DIRECTLY = 1024
"""So many elements are compared with each place. Of more, first the ends of blocks are, and then those of one block."""

_BLOCK = 256
"""The elements of a block where their number is symbolic."""


def flat(builder: GraphBuilder, x: Value) -> Value:
    """A tensor as a vector."""
    count: Any = 1
    for extent in x.shape:
        count = extent if isinstance(count, int) and count == 1 else count * extent
    return builder.op("reshape", x, shape=[count])


def running_count(builder: GraphBuilder, mask: Value) -> Value:
    """At each place of a vector of bools how many are true up to it."""
    numbers = builder.op("cast", mask, to="int64", saturate=True)
    return builder.op("cumsum", numbers, axis=0, exclusive=False, reverse=False)


def count_of(builder: GraphBuilder, mask: Value) -> Value:
    """How many of a vector of bools are true, as an int64 of no dimension."""
    numbers = builder.op("cast", mask, to="int64", saturate=True)
    return builder.op("reduce_sum", numbers, axes=[0], keepdims=False)


def places_of(builder: GraphBuilder, running: Value, count: int | Expr) -> Value:
    """The places in a vector at which `running`, numbers that do not fall, is first above 0, 1, … and `count` - 1.

    An element's place is how many are not above it.
    """
    number = builder.op("iota", shape=[count, 1], axis=0, to="int64")
    (extent,) = running.shape
    if isinstance(extent, int) and extent <= _DIRECTLY:
        return _below(builder, builder.op("reshape", running, shape=[1, extent]), number)
    block = math.isqrt(extent - 1) + 1 if isinstance(extent, int) else _BLOCK
    blocks = (extent + (block - 1)) // block
    # What is behind the end is the last element, which is above all numbers.
    place = builder.op("iota", shape=[blocks * block], axis=0, to="int64")
    padded = builder.op("reshape", builder.op("gather", running, place, axis=0), shape=[blocks, block])
    ends = builder.op("slice", padded, starts=[0, block - 1], steps=[1, 1], sizes=[blocks, 1])
    of_block = _below(builder, builder.op("reshape", ends, shape=[1, blocks]), number)
    in_block = _below(builder, builder.op("gather", padded, of_block, axis=0), number)
    size = builder.constant(np.asarray(block, np.int64))
    return builder.op("add", builder.op("mul", of_block, size), in_block)


def places_where(builder: GraphBuilder, mask: Value, count: int | Expr) -> Value:
    """The places of what is true in a vector of bools, which are `count`."""
    return places_of(builder, running_count(builder, mask), count)


def _below(builder: GraphBuilder, row: Value, number: Value) -> Value:
    """Of each row how many elements are not above its number."""
    found = builder.op("less_equal", row, number)
    return builder.op("reduce_sum", builder.op("cast", found, to="int64", saturate=True), axes=[1], keepdims=False)


def places_in(builder: GraphBuilder, place: Value, shape: Sequence[int | Expr]) -> list[Value]:
    """By dimension of a shape, the indices of elements whose places in row-major order are given."""
    columns: list[Value] = []
    for d in reversed(range(len(shape))):
        extent = shape[d]
        if d == 0:
            columns.append(place)
        elif isinstance(extent, int):
            size = builder.constant(np.asarray(extent, np.int64))
            rest = builder.op("mod", place, size)
            columns.append(rest)
            place = builder.op("div", builder.op("sub", place, rest), size)
        else:
            raise ValueError(f"expected extents that are numbers but for the first, got {tuple(map(str, shape))}")
    return columns[::-1]
