"""Operators that make tensors of numbers."""

from __future__ import annotations

from typing import Any

from ...graph import Value
from ...te import Expr
from ..call import Call, converter


def filled(call: Call, value: Any) -> Value:
    """A number, or the one element of a tensor, in the shape of the result."""
    if isinstance(value, Value):
        return call.expand(call.cast(value, call.dtype), call.shape)
    return call.expand(call.constant(value, call.dtype), call.shape)


@converter("full.default", "full_like.default", "fill.Scalar", "fill.Tensor", "new_full.default")
def _full(call: Call, _: Any, value: Any, *rest: Any) -> Value:
    return filled(call, rest[0] if call.target == "new_full.default" else value)


@converter("zeros.default", "zeros_like.default", "new_zeros.default", "empty.memory_format")
@converter("empty_strided.default", "empty_like.default", "new_empty.default", "empty_permuted.default")
@converter("new_empty_strided.default", "_efficientzerotensor.default")
def _zeros(call: Call, *_: Any) -> Value:
    return filled(call, 0)


@converter("ones.default", "ones_like.default", "new_ones.default")
def _ones(call: Call, *_: Any) -> Value:
    return filled(call, 1)


@converter("scalar_tensor.default")
def _scalar_tensor(call: Call, value: Any, *_: Any) -> Value:
    return call.constant(value, call.dtype)


@converter("arange.start_step", "arange.default", "arange.start")
def _arange(call: Call, *given: Any) -> Value:
    start, step = 0, 1
    if call.target != "arange.default":
        start = given[0]
    if call.target == "arange.start_step":
        step = given[2]
    wide = call.dtype if "int" in call.dtype else "float64"
    places = call.op("iota", shape=call.shape, axis=0, to=wide)
    if isinstance(step, Expr) or step != 1:
        places = call.op("mul", places, call.constant(step, wide))
    if isinstance(start, Expr) or start != 0:
        places = call.op("add", places, call.constant(start, wide))
    return call.cast(places, call.dtype)
