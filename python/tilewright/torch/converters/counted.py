"""Operators whose results have as many elements as data decide."""

from __future__ import annotations

import math
from typing import Any

from ...graph import Value
from ...graph.counts import count_of, flat, places_in, places_of, places_where
from ...graph.operators.common import broadcast_shapes
from ...graph.uniques import Uniques, consecutive_rows, unique_rows
from ..call import Call, converter

__all__ = ["columns_of", "mask_of"]


def mask_of(call: Call, x: Value) -> Value:
    """Which elements are not 0."""
    return x if x.dtype == "bool" else call.op("not_equal", x, call.constant(0, x))


def columns_of(call: Call, mask: Value, dim: int = 0) -> list[Value]:
    """By dimension of a mask, the indices of what is true; these are as many as the result has in a dimension."""
    if any(not isinstance(extent, int) for extent in mask.shape[1:]):
        raise call.error(f"expected extents that are numbers but for the first, got {tuple(map(str, mask.shape))}")
    elements = flat(call.builder, mask_of(call, mask))
    extent = call.counted(count_of(call.builder, elements), dim=dim)
    return places_in(call.builder, places_where(call.builder, elements, extent), mask.shape)


@converter("nonzero.default")
def _nonzero(call: Call, x: Value) -> Value:
    if not x.rank:
        extent = call.counted(call.cast(mask_of(call, x), "int64"))
        return call.op("iota", shape=[extent, 0], axis=0, to="int64")
    columns = [call.reshape(one, [*one.shape, 1]) for one in columns_of(call, x)]
    return columns[0] if len(columns) == 1 else call.op("concat", *columns, axis=1)


@converter("masked_select.default")
def _masked_select(call: Call, x: Value, mask: Value) -> Value:
    shape = broadcast_shapes(x.shape, mask.shape)
    elements = flat(call.builder, call.expand(mask, shape))
    places = places_where(call.builder, elements, call.counted(count_of(call.builder, elements)))
    return call.op("gather", flat(call.builder, call.expand(x, shape)), places, axis=0)


def _uniques(call: Call, found: Uniques, x: Value, dim: int = 0) -> tuple[Value, Value, Value]:
    """The different slices of `x`, the number of each slice's kind, and how many there are of each."""
    extent = call.counted(count_of(call.builder, found.is_first), dim=dim)
    return call.op("gather", x, found.places(extent), axis=0), found.numbers(extent), found.counts(extent)


def _rows(call: Call, x: Value) -> Value:
    """The slices along the first axis, each as a row."""
    rest = list(x.shape[1:])
    if not all(isinstance(extent, int) for extent in rest):
        raise call.error(f"expected extents that are numbers but for the first, got {tuple(map(str, x.shape))}")
    return call.reshape(x, [x.shape[0], math.prod(rest)])


def _unused(call: Call, wanted: bool, made: Value) -> Value:
    """A result that is not asked for has no elements."""
    return made if wanted else call.op("iota", shape=[0], axis=0, to="int64")


@converter("_unique2.default")
def _unique(call: Call, x: Value, in_order: bool = True, inverse: bool = False, counts: bool = False) -> list[Value]:
    del in_order  # PyTorch sorts all of them
    elements = flat(call.builder, x)
    found = unique_rows(call.builder, _rows(call, elements), True, equal_nans=False)
    values, numbers, sizes = _uniques(call, found, elements)
    return [values, _unused(call, inverse, call.reshape(numbers, list(x.shape))), _unused(call, counts, sizes)]


@converter("unique_dim.default")
def _unique_dim(
    call: Call, x: Value, dim: int, in_order: bool = True, inverse: bool = False, counts: bool = False
) -> list[Value]:
    del in_order
    return _along(call, x, dim, inverse, counts, is_consecutive=False)


@converter("unique_consecutive.default")
def _unique_consecutive(
    call: Call, x: Value, inverse: bool = False, counts: bool = False, dim: int | None = None
) -> list[Value]:
    if dim is not None:
        return _along(call, x, dim, inverse, counts, is_consecutive=True)
    elements = flat(call.builder, x)
    values, numbers, sizes = _uniques(call, consecutive_rows(call.builder, _rows(call, elements)), elements)
    return [values, _unused(call, inverse, call.reshape(numbers, list(x.shape))), _unused(call, counts, sizes)]


def _along(call: Call, x: Value, dim: int, inverse: bool, counts: bool, is_consecutive: bool) -> list[Value]:
    axis = call.axis(dim, x.rank)
    order = [axis, *(d for d in range(x.rank) if d != axis)]
    moved = call.op("transpose", x, permutation=order)
    rows = _rows(call, moved)
    found = consecutive_rows(call.builder, rows) if is_consecutive else unique_rows(call.builder, rows, True, False)
    values, numbers, sizes = _uniques(call, found, moved, axis)
    back = call.op("transpose", values, permutation=[order.index(d) for d in range(x.rank)])
    return [back, _unused(call, inverse, numbers), _unused(call, counts, sizes)]


@converter("bincount.default")
def _bincount(call: Call, x: Value, weights: Value | None = None, least: int = 0) -> Value:
    x = call.cast(x, "int64")
    most = call.op("add", call.op("reduce_max", x, axes=[0], keepdims=False), call.constant(1, "int64"))
    extent = call.counted(call.op("max", most, call.constant(least, "int64")))
    count = x.shape[0]
    number = call.op("iota", shape=[extent, 1], axis=0, to="int64")
    found = call.op("equal", call.reshape(x, [1, count]), number)
    if weights is None:
        each = call.cast(found, "int64")
    else:
        zero = call.constant(0, call.dtype)
        each = call.op("where", found, call.reshape(call.cast(weights, call.dtype), [1, count]), zero)
    return call.op("reduce_sum", each, axes=[1], keepdims=False)


@converter("repeat_interleave.Tensor")
def _repeat_interleave(call: Call, repeats: Value, size: Any = None) -> Value:
    repeats = call.cast(repeats, "int64")
    total = call.op("reduce_sum", repeats, axes=[0], keepdims=False)
    extent = call.counted(total)
    running = call.op("cumsum", repeats, axis=0, exclusive=False, reverse=False)
    return call.cast(places_of(call.builder, running, extent), call.dtype)


@converter("item.default", "_local_scalar_dense.default")
def _item(call: Call, x: Value) -> None:
    call.take(x)
