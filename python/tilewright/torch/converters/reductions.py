"""Operators that reduce, scan or order elements along dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ...graph import Value
from ...graph.operators.common import accumulator
from ..call import CONVERTERS, Call, converter
from .movement import sliced


def _count(call: Call, x: Value, axes: list[int]) -> Value:
    """How many elements are reduced, as a number of float."""
    count: Any = 1
    for axis in axes:
        count = count * x.shape[axis]
    if isinstance(count, int):
        return call.constant(count, accumulator(call.dtype))
    # Ones, summed along the same dimensions: what the extents are is known in a call.
    ones = call.op("expand", call.constant(1, accumulator(call.dtype)), shape=[x.shape[axis] for axis in axes])
    return call.op("reduce_sum", ones, axes=list(range(len(axes))), keepdims=False)


def _reduce(call: Call, name: str, x: Value, axes: list[int], keepdims: bool) -> Value:
    return call.op(name, x, axes=axes, keepdims=keepdims) if x.rank else x


@converter("sum.dim_IntList", "sum.default")
def _sum(call: Call, x: Value, dims: Any = None, keepdims: Any = False, *_: Any) -> Value:
    if call.target == "sum.default":
        dims, keepdims = None, False
    wide = accumulator(call.dtype)
    return call.cast(
        _reduce(call, "reduce_sum", call.cast(x, wide), call.axes(dims, x.rank), keepdims), call.dtype
    )  # fmt: skip


@converter("prod.default", "prod.dim_int")
def _prod(call: Call, x: Value, dim: Any = None, keepdims: Any = False, *_: Any) -> Value:
    if call.target == "prod.default":
        dim, keepdims = None, False
    wide = accumulator(call.dtype)
    return call.cast(
        _reduce(call, "reduce_prod", call.cast(x, wide), call.axes(dim, x.rank), keepdims), call.dtype
    )  # fmt: skip


@converter("mean.default", "mean.dim")
def _mean(call: Call, x: Value, dims: Any = None, keepdims: Any = False, *_: Any) -> Value:
    if call.target == "mean.default":
        dims, keepdims = None, False
    axes = call.axes(dims, x.rank)
    total = _reduce(call, "reduce_sum", call.cast(x, accumulator(call.dtype)), axes, keepdims)
    return call.cast(call.op("div", total, _count(call, x, axes if x.rank else [])), call.dtype)


def variance_and_mean(
    call: Call, x: Value, dims: Any, correction: Any, keepdims: bool, to: str | None = None
) -> tuple[Value, Value]:  # fmt: skip
    """The variance over dimensions and the mean; `correction` is taken from the number of elements."""
    axes = call.axes(dims, x.rank)
    x = call.cast(x, accumulator(call.dtype))
    count = _count(call, x, axes if x.rank else [])
    average = call.op("div", _reduce(call, "reduce_sum", x, axes, True), count)
    away = call.op("sub", x, average)
    squares = _reduce(call, "reduce_sum", call.op("mul", away, away), axes, keepdims)
    correction = 1 if correction is None else correction
    if correction:
        rest = call.op("sub", count, call.constant(correction, count))
        count = call.op("max", rest, call.constant(0, count))
    variance = call.op("div", squares, count)
    if not keepdims:
        average = call.reshape(average, variance.shape)
    to = to or call.dtype
    return call.cast(variance, to), call.cast(average, to)


@converter("var.correction", "var_mean.correction")
def _var(call: Call, x: Value, dims: Any, correction: Any, keepdims: bool) -> Any:
    found = variance_and_mean(call, x, dims, correction, keepdims)
    return found if call.target.startswith("var_mean") else found[0]


@converter("var.dim")
def _var_dim(call: Call, x: Value, dims: Any, unbiased: bool, keepdims: bool) -> Value:
    return variance_and_mean(call, x, dims, int(unbiased), keepdims)[0]


@converter("amax.default", "amin.default")
def _extremum(call: Call, x: Value, dims: Any, keepdims: bool) -> Value:
    axes = call.axes(dims, x.rank)
    call.builder.require_elements(x.shape[axis] for axis in (axes if x.rank else ()))
    return _reduce(call, f"reduce_{call.target[1:4]}", x, axes, keepdims)


@converter("max.default", "min.default")
def _extremum_of_all(call: Call, x: Value) -> Value:
    call.builder.require_elements(x.shape)
    return _reduce(call, f"reduce_{call.target[:3]}", x, list(range(x.rank)), False)


@converter("any.default", "any.dim", "any.dims")
def _any(call: Call, x: Value, dims: Any = None, keepdims: bool = False) -> Value:
    axes = call.axes(dims, x.rank)
    result = _reduce(call, "reduce_max", call.cast(x, "bool"), axes, keepdims)
    return call.cast(result, call.dtype)


@converter("max.dim", "min.dim")
def _extremum_and_place(call: Call, x: Value, dim: int, keepdims: bool) -> Any:
    name = call.target[:3]
    if not x.rank:
        return x, call.constant(0, "int64")
    axis = call.axis(dim, x.rank)
    call.builder.require_elements([x.shape[axis]])
    place = call.op(f"arg{name}", x, axis=axis, keepdims=keepdims, select_last=False)
    return call.op(f"reduce_{name}", x, axes=[axis], keepdims=keepdims), place


@converter("argmax.default", "argmin.default")
def _place(call: Call, x: Value, dim: int | None, keepdims: bool) -> Value:
    if dim is None or not x.rank:
        flat: Any = 1
        for extent in x.shape:
            flat = flat * extent
        call.builder.require_elements(x.shape)
        found = call.op(
            call.target[:6], call.reshape(x, [flat]), axis=0, keepdims=False, select_last=False
        )  # fmt: skip
        return call.reshape(found, call.shape)
    axis = call.axis(dim, x.rank)
    call.builder.require_elements([x.shape[axis]])
    return call.op(call.target[:6], x, axis=axis, keepdims=keepdims, select_last=False)


def _cumulative(name: str) -> Callable[..., Value]:
    def convert(call: Call, x: Value, dim: int, dtype: torch.dtype | None = None) -> Value:
        del dtype
        if not x.rank:
            return call.cast(x, call.dtype)
        wide = accumulator(call.dtype)
        found = call.op(name, call.cast(x, wide), axis=call.axis(dim, x.rank), exclusive=False, reverse=False)
        return call.cast(found, call.dtype)

    return convert


CONVERTERS.update({"cumsum.default": _cumulative("cumsum"), "cumprod.default": _cumulative("cumprod")})


@converter("topk.default")
def _topk(call: Call, x: Value, k: Any, dim: int, largest: bool, is_sorted: bool) -> Any:
    del is_sorted
    if not x.rank:
        return x, call.constant(0, "int64")
    axis = call.axis(dim, x.rank)
    if isinstance(k, int):
        return call.builder.ops("topk", x, k=k, axis=axis, largest=largest)
    return [sliced(call, one, axis, 0, k) for one in _in_order(call, x, axis, largest)]


@converter("sort.default", "sort.stable")
def _sort(call: Call, x: Value, *given: Any) -> Any:
    dim, descending = given[-2:]
    if not x.rank:
        return x, call.constant(0, "int64")
    values, places = _in_order(
        call, call.cast(x, "uint8" if x.dtype == "bool" else x.dtype), call.axis(dim, x.rank), bool(descending)
    )
    return call.cast(values, x.dtype), places


def _in_order(call: Call, x: Value, axis: int, descending: bool) -> Sequence[Value]:
    """The elements along an axis in order, and where they are."""
    count = x.shape[axis] if isinstance(x.shape[axis], int) else -1
    return call.builder.ops("topk", x, k=count, axis=axis, largest=descending)


@converter("_softmax.default", "_log_softmax.default")
def _softmax(call: Call, x: Value, dim: int, half_to_float: bool) -> Value:
    del half_to_float
    x = call.cast(x, call.dtype)
    if not x.rank:
        return call.reshape(_softmax_of(call, call.reshape(x, [1]), 0), [])
    return _softmax_of(call, x, call.axis(dim, x.rank))


def _softmax_of(call: Call, x: Value, axis: int) -> Value:
    return call.op("log_softmax" if "log" in call.target else "softmax", x, axis=axis)


@converter("histc.default")
def _histc(call: Call, x: Value, bins: int, low: Any, high: Any) -> Value:
    if not low < high:
        raise call.error(f"expected a range that is given, min < max, got {low} and {high}")
    flat: Any = 1
    for extent in x.shape:
        flat = flat * extent
    wide = "float64" if x.dtype in ("float64", "int64", "int32") else "float32"
    x = call.cast(call.reshape(x, [flat, 1]), wide)
    first, last, width = (call.constant(one, wide) for one in (low, high, high - low))
    place = call.op("floor", call.op("div", call.op("mul", call.op("sub", x, first), call.constant(bins, wide)), width))
    place = call.op("min", place, call.constant(bins - 1, wide))
    inside = call.op("and", call.op("greater_equal", x, first), call.op("less_equal", x, last))
    mine = call.op("equal", place, call.op("iota", shape=[1, bins], axis=1, to=wide))
    hits = call.cast(call.op("and", inside, mine), "int64")
    return call.cast(call.op("reduce_sum", hits, axes=[0], keepdims=False), call.dtype)
