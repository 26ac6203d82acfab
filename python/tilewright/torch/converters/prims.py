"""Operators of PyTorch's namespace prims, which some decompositions are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...graph import Value
from ..call import CONVERTERS, Call, converter
from .reductions import variance_and_mean

for _prim, _aten in {
    "add": "add.Tensor", "sub": "sub.Tensor", "mul": "mul.Tensor", "rsqrt": "rsqrt.default", "sqrt": "sqrt.default",
    "exp": "exp.default", "log": "log.default", "abs": "abs.default", "neg": "neg.default", "where": "where.self",
    "eq": "eq.Tensor", "ne": "ne.Tensor", "lt": "lt.Tensor", "le": "le.Tensor", "gt": "gt.Tensor", "ge": "ge.Tensor",
    "maximum": "maximum.default", "minimum": "minimum.default", "pow": "pow.Tensor_Tensor",
    "transpose": "permute.default", "reshape": "view.default", "clone": "clone.default",
    "bitwise_and": "bitwise_and.Tensor", "bitwise_or": "bitwise_or.Tensor", "remainder": "remainder.Tensor",
    "tanh": "tanh.default", "erf": "erf.default", "floor": "floor.default", "trunc": "trunc.default",
}.items():  # fmt: skip
    CONVERTERS[f"prims.{_prim}.default"] = CONVERTERS[_aten]


@converter("prims.convert_element_type.default", "prims.device_put.default")
def _convert(call: Call, x: Value, *_: Any) -> Value:
    return call.cast(x, call.dtype)


@converter("prims.div.default")
def _div(call: Call, a: Any, b: Any) -> Value:
    if "float" in call.dtype:
        return CONVERTERS["div.Tensor"](call, a, b)
    return CONVERTERS["div.Tensor_mode"](call, a, b, "trunc")


@converter("prims.broadcast_in_dim.default")
def _broadcast_in_dim(call: Call, x: Value, shape: Sequence[Any], dims: Sequence[int]) -> Value:
    own: list[Any] = [1] * len(shape)
    for d, extent in zip(dims, x.shape):
        own[d] = extent
    return call.expand(call.reshape(x, own), shape)


@converter("prims.sum.default", "prims.prod.default", "prims.amax.default", "prims.amin.default")
def _reduce(call: Call, x: Value, dims: Sequence[int] | None, *_: Any) -> Value:
    name = {"sum": "sum", "prod": "prod", "amax": "max", "amin": "min"}[call.target.split(".")[1]]
    axes = list(range(x.rank)) if dims is None else sorted(dims)
    wide = "float32" if x.dtype in ("float16", "bfloat16") and name in ("sum", "prod") else x.dtype
    return (
        call.cast(call.op(f"reduce_{name}", call.cast(x, wide), axes=axes, keepdims=False), call.dtype) if axes else x
    )


@converter("prims.var.default")
def _var(call: Call, x: Value, dims: Sequence[int] | None, correction: Any = 1, *_: Any) -> Value:
    return variance_and_mean(call, x, None if dims is None else list(dims), correction, False)[0]


@converter("prims.iota.default")
def _iota(call: Call, length: Any, start: Any, step: Any, *_: Any) -> Value:
    places = call.op("iota", shape=[length], axis=0, to=call.dtype)
    if step != 1:
        places = call.op("mul", places, call.constant(step, places))
    return places if start == 0 else call.op("add", places, call.constant(start, places))


@converter("prims.fma.default")
def _fma(call: Call, a: Value, b: Value, c: Value) -> Value:
    """a * b + c; the product may be rounded by itself."""
    return CONVERTERS["add.Tensor"](call, CONVERTERS["mul.Tensor"](call, a, b), c)
