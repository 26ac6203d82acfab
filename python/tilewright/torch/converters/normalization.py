"""Normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...graph import Value
from ...graph.operators.common import accumulator
from ..call import Call, converter
from .reductions import variance_and_mean


def _scaled(call: Call, x: Value, weight: Value | None, bias: Value | None, shape: Sequence[Any]) -> Value:
    """Times a weight and plus a bias, each in a shape that is broadcast."""
    if weight is not None:
        x = call.op("mul", x, call.cast(call.reshape(weight, shape), x.dtype))
    if bias is not None:
        x = call.op("add", x, call.cast(call.reshape(bias, shape), x.dtype))
    return x


def _normalized(call: Call, x: Value, axes: list[int], epsilon: float) -> tuple[Value, Value, Value]:
    """In float32 at least, less its mean and over its standard deviation; the mean, and 1 over the deviation."""
    wide = call.cast(x, accumulator(x.dtype))
    variance, average = variance_and_mean(call, wide, axes, 0, True, wide.dtype)
    scale = call.op("rsqrt", call.op("add", variance, call.constant(epsilon, variance)))
    return call.op("mul", call.op("sub", wide, average), scale), average, scale


@converter("native_layer_norm.default")
def _layer_norm(
    call: Call, x: Value, shape: Sequence[Any], weight: Value | None, bias: Value | None, epsilon: float
) -> Any:
    axes = list(range(x.rank - len(shape), x.rank))
    y, average, scale = _normalized(call, x, axes, epsilon)
    y = _scaled(call, y, weight, bias, list(x.shape[x.rank - len(shape) :]))
    return call.cast(y, call.type(0).dtype), call.cast(average, call.type(1).dtype), call.cast(
        scale, call.type(2).dtype
    )  # fmt: skip


@converter("native_group_norm.default")
def _group_norm(
    call: Call, x: Value, weight: Value | None, bias: Value | None, n: Any, c: Any, inner: Any, groups: int,
    epsilon: float,
) -> Any:  # fmt: skip
    grouped = call.reshape(x, [n, groups, c // groups, inner])
    y, average, scale = _normalized(call, grouped, [2, 3], epsilon)
    y = _scaled(call, call.reshape(y, x.shape), weight, bias, [1, c, *[1] * (x.rank - 2)])
    return (
        call.cast(y, call.type(0).dtype),
        call.cast(call.reshape(average, [n, groups]), call.type(1).dtype),
        call.cast(call.reshape(scale, [n, groups]), call.type(2).dtype),
    )


@converter("_native_batch_norm_legit_no_training.default")
def _batch_norm(
    call: Call, x: Value, weight: Value | None, bias: Value | None, average: Value, variance: Value, momentum: float,
    epsilon: float,
) -> Any:  # fmt: skip
    shape = [1, x.shape[1], *[1] * (x.rank - 2)]
    wide = accumulator(x.dtype)
    variance = call.cast(variance, wide)
    scale = call.op("rsqrt", call.op("add", variance, call.constant(epsilon, variance)))
    y = call.op("sub", call.cast(x, wide), call.cast(call.reshape(average, shape), wide))
    y = _scaled(call, call.op("mul", y, call.reshape(scale, shape)), weight, bias, shape)
    nothing = call.op("expand", call.constant(0, call.type(1).dtype), shape=[0])
    return call.cast(y, call.dtype), nothing, nothing
