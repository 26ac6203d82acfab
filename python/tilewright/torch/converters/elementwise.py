"""Operators of each element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from ...graph import Value
from ...te import Expr
from ..call import CONVERTERS, Call, converter
from ..dtypes import dtype_name, torch_dtype
from ..extents import SymbolicFloat

_HALF = ("float16", "bfloat16")


def _is_float(dtype: str) -> bool:
    return "float" in dtype


def _unary(name: str) -> Callable[[Call, Value], Value]:
    def convert(call: Call, x: Value) -> Value:
        return call.op(name, call.cast(x, call.dtype))

    return convert


for _aten, _name in {
    "abs": "abs", "neg": "neg", "sqrt": "sqrt", "rsqrt": "rsqrt",
    "reciprocal": "reciprocal", "exp": "exp", "log": "log", "log1p": "log1p", "sin": "sin", "cos": "cos",
    "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "erf": "erf", "sigmoid": "sigmoid", "relu": "relu",
    "bitwise_not": "not",
}.items():  # fmt: skip
    CONVERTERS[f"{_aten}.default"] = _unary(_name)


@converter("sign.default", "sgn.default")
def _sign(call: Call, x: Value) -> Value:
    if not _is_float(x.dtype):
        return call.op("sign", x)
    zero = call.constant(0, x)  # PyTorch's sign of NaN is 0
    return call.op("sub", *(call.cast(call.op(name, x, zero), x.dtype) for name in ("greater", "less")))


def _rounding(name: str) -> Callable[[Call, Value], Value]:
    def convert(call: Call, x: Value) -> Value:
        return call.op(name, x) if _is_float(x.dtype) else x

    return convert


for _aten in ("floor", "ceil", "round", "trunc"):
    CONVERTERS[f"{_aten}.default"] = _rounding(_aten)


@converter("expm1.default")
def _expm1(call: Call, x: Value) -> Value:
    # tanh(x / 2) * (exp(x) + 1): near 0 no digit is lost. Where the exponential is infinite, so is the result.
    wide = "float64" if call.dtype == "float64" else "float32"
    x = call.cast(x, wide)
    half = call.op("tanh", call.op("mul", x, call.constant(0.5, x)))
    return call.cast(call.op("mul", half, call.op("add", call.op("exp", x), call.constant(1, x))), call.dtype)


def _logarithm(base: float) -> Callable[[Call, Value], Value]:
    def convert(call: Call, x: Value) -> Value:
        wide = "float64" if call.dtype == "float64" else "float32"
        found = call.op("log", call.cast(x, wide))
        return call.cast(call.op("mul", found, call.constant(1 / math.log(base), found)), call.dtype)

    return convert


CONVERTERS["log2.default"] = _logarithm(2)
CONVERTERS["log10.default"] = _logarithm(10)


@converter("isnan.default")
def _isnan(call: Call, x: Value) -> Value:
    return call.op("isnan", x) if _is_float(x.dtype) else call.op("not_equal", x, x)


@converter("isinf.default")
def _isinf(call: Call, x: Value) -> Value:
    return call.op("isinf", x, positive=True, negative=True) if _is_float(x.dtype) else call.op("not_equal", x, x)


@converter("logical_not.default")
def _logical_not(call: Call, x: Value) -> Value:
    return call.op("not", call.cast(x, "bool"))


# Two operands: tensors, or a tensor and a number.


def common(call: Call, *operands: Any) -> str:
    """The element type in which tensors and numbers are computed together, as PyTorch promotes them."""
    ranked = [one for one in operands if isinstance(one, Value)]
    kinds: list[Any] = [
        torch.empty([1] if one.rank else [], dtype=torch_dtype(one.dtype), device="meta") for one in ranked
    ]  # fmt: skip
    # An extent is promoted as a number of Python is, and so is a float that is computed of extents.
    numbers = (one for one in operands if not isinstance(one, Value))
    kinds += [0 if isinstance(one, Expr) else 0.0 if isinstance(one, SymbolicFloat) else one for one in numbers]
    dtype = kinds[0].dtype if len(kinds) == 1 else torch.result_type(kinds[0], kinds[1])
    for one in kinds[2:]:
        dtype = torch.result_type(torch.empty([1], dtype=dtype, device="meta"), one)
    return dtype_name(dtype)


def operands(call: Call, dtype: str, *given: Any) -> list[Value]:
    """Tensors and numbers as tensors of one type."""
    return [call.cast(one, dtype) if isinstance(one, Value) else call.constant(one, dtype) for one in given]


def _wide(dtype: str, *given: Any) -> str:
    """The type in which is computed: with numbers, which have more digits than 16-bit floats, float32 for these."""
    return "float32" if dtype in _HALF and not all(isinstance(one, Value) for one in given) else dtype


def _binary(name: str, floats: bool = False) -> Callable[[Call, Any, Any], Value]:
    def convert(call: Call, a: Any, b: Any) -> Value:
        dtype = call.dtype if floats else common(call, a, b)
        wide = _wide(dtype, a, b)
        if dtype == "bool" and name == "mul":
            return call.op("and", *operands(call, dtype, a, b))
        return call.cast(call.op(name, *operands(call, wide, a, b)), call.dtype)

    return convert


def _comparison(name: str) -> Callable[[Call, Any, Any], Value]:
    def convert(call: Call, a: Any, b: Any) -> Value:
        dtype = common(call, a, b)
        wide = "uint8" if dtype == "bool" and name not in ("equal", "not_equal") else dtype  # False is less than True
        return call.op(name, *operands(call, wide, a, b))

    return convert


for _aten, _name in {
    "mul": "mul", "atan2": "atan2", "fmod": "fmod", "remainder": "mod", "maximum": "max", "minimum": "min",
    "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor", "bitwise_left_shift": "shift_left",
    "bitwise_right_shift": "shift_right", "__lshift__": "shift_left", "__rshift__": "shift_right",
}.items():  # fmt: skip
    for _overload in ("Tensor", "Scalar", "default"):
        CONVERTERS[f"{_aten}.{_overload}"] = _binary(_name, floats=_aten == "atan2")
for _aten, _name in {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"
}.items():  # fmt: skip
    for _overload in ("Tensor", "Scalar"):
        CONVERTERS[f"{_aten}.{_overload}"] = _comparison(_name)


def _logical(name: str) -> Callable[[Call, Value, Value], Value]:
    def convert(call: Call, a: Value, b: Value) -> Value:
        return call.op(name, call.cast(a, "bool"), call.cast(b, "bool"))

    return convert


for _name in ("and", "or", "xor"):
    CONVERTERS[f"logical_{_name}.default"] = _logical(_name)


def _scaled_sum(name: str) -> Callable[..., Value]:
    def convert(call: Call, a: Any, b: Any, alpha: Any = 1) -> Value:
        dtype = call.dtype
        if dtype == "bool":
            return call.op("or", *operands(call, dtype, a, b))
        wide = "float32" if dtype in _HALF and alpha != 1 else _wide(dtype, a, b)
        left, right = operands(call, wide, a, b)
        if alpha != 1:
            right = call.op("mul", right, call.constant(alpha, wide))
        return call.cast(call.op(name, left, right), dtype)

    return convert


for _name in ("add", "sub"):
    for _overload in ("Tensor", "Scalar"):
        CONVERTERS[f"{_name}.{_overload}"] = _scaled_sum(_name)


@converter("div.Tensor", "div.Scalar", "true_divide.Tensor", "div.Tensor_mode", "div.Scalar_mode")
def _div(call: Call, a: Any, b: Any, rounding_mode: str | None = None) -> Value:
    if rounding_mode is None:
        wide = _wide(call.dtype, a, b)
        return call.cast(call.op("div", *operands(call, wide, a, b)), call.dtype)
    dtype = call.dtype
    wide = "float32" if dtype in _HALF else dtype
    left, right = operands(call, wide, a, b)
    if not _is_float(dtype):
        quotient = call.op("div", left, right)
        if rounding_mode == "floor" and not dtype.startswith("uint"):
            rest = call.op("fmod", left, right)
            zero = call.constant(0, dtype)
            signs = call.op("not_equal", call.op("less", rest, zero), call.op("less", right, zero))
            inexact = call.op("and", call.op("not_equal", rest, zero), signs)
            quotient = call.op("sub", quotient, call.cast(inexact, dtype))
        return quotient
    if rounding_mode == "trunc":
        return call.cast(call.op("trunc", call.op("div", left, right)), dtype)
    # The quotient of what the remainder leaves is whole, up to rounding.
    rest = call.op("mod", left, right)
    whole = call.op("round", call.op("div", call.op("sub", left, rest), right))
    quotient = call.op("div", left, right)
    special = call.op("equal", right, call.constant(0, wide))
    return call.cast(call.op("where", special, quotient, whole), dtype)


@converter("pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow.Scalar")
def _pow(call: Call, a: Any, b: Any) -> Value:
    wide = "float32" if call.dtype in _HALF else call.dtype
    if isinstance(b, (int, float)) and isinstance(a, Value) and b in (1, 2, 3):
        (x,) = operands(call, wide, a)
        result = x
        for _ in range(int(b) - 1):
            result = call.op("mul", result, x)
        return call.cast(result, call.dtype)
    if b == 0.5 and isinstance(a, Value):
        return call.cast(call.op("sqrt", call.cast(a, wide)), call.dtype)
    return call.cast(call.op("pow", *operands(call, wide, a, b)), call.dtype)


@converter("clamp.default", "clamp.Tensor")
def _clamp(call: Call, x: Value, low: Any = None, high: Any = None) -> Value:
    x = call.cast(x, call.dtype)
    for name, bound in (("max", low), ("min", high)):
        if bound is not None:
            x = call.op(name, x, *operands(call, call.dtype, bound))
    return x


@converter("where.self")
def _where(call: Call, condition: Value, a: Value, b: Value) -> Value:
    return call.op("where", call.cast(condition, "bool"), *operands(call, call.dtype, a, b))


@converter("_to_copy.default", "to.dtype", "_to_copy.out")
def _to_copy(call: Call, x: Value | float, *_: Any) -> Value:
    return call.cast(x, call.dtype) if isinstance(x, Value) else call.constant(x, call.dtype)


@converter("view.dtype")
def _view_dtype(call: Call, x: Value, dtype: torch.dtype) -> Value:
    return call.op("bitcast", x, to=dtype_name(dtype))


@converter("clone.default", "alias.default", "lift_fresh_copy.default", "detach.default", "lift_fresh.default",
           "alias_copy.default", "contiguous.default", "_conj.default")  # fmt: skip
def _same(call: Call, x: Value, *_: Any) -> Value:
    return x


@converter("copy.default")
def _copy(call: Call, x: Value, source: Value, *_: Any) -> Value:
    return call.expand(call.cast(source, call.dtype), call.shape)
