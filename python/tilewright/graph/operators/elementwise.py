"""Operators that compute each element from the elements at its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import te
from ...te import Expr, Tensor
from .common import OPERATORS, broadcast, operator

_FLOAT_FUNCTIONS: dict[str, Callable[[Any], Expr]] = {
    "floor": te.floor, "ceil": te.ceil, "round": te.nearbyint, "trunc": te.trunc, "sqrt": te.sqrt, "rsqrt": te.rsqrt,
    "reciprocal": lambda x: 1.0 / x, "exp": te.exp, "log": te.log, "log1p": te.log1p, "sin": te.sin, "cos": te.cos,
    "tan": te.tan, "asin": te.asin, "acos": te.acos, "atan": te.atan, "sinh": te.sinh, "cosh": te.cosh,
    "tanh": te.tanh, "asinh": te.asinh, "acosh": te.acosh, "atanh": te.atanh, "erf": te.erf, "sigmoid": te.sigmoid,
    "isnan": te.isnan,
}  # fmt: skip


def _truncated_division(a: Expr, b: Expr) -> Expr:
    return a / b if a.dtype.startswith(("float", "bfloat")) else te.truncdiv(a, b)


_BINARY: dict[str, Callable[[Any, Any], Expr]] = {
    "add": te.add, "sub": te.subtract, "mul": te.multiply, "div": _truncated_division, "pow": te.power,
    "mod": te.floormod, "fmod": te.truncmod, "min": te.min, "max": te.max, "atan2": te.atan2,
    "and": te.bitwise_and, "or": te.bitwise_or, "xor": te.bitwise_xor,
    "shift_left": te.left_shift, "shift_right": te.right_shift,
    "equal": lambda a, b: a == b, "not_equal": lambda a, b: a != b,
    "less": lambda a, b: a < b, "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b, "greater_equal": lambda a, b: a >= b,
}  # fmt: skip


def _register_unary(name: str, function: Callable[[Any], Expr]) -> None:
    def made(x: Tensor) -> Tensor:
        return broadcast(name, function, x)

    made.__name__ = name
    made.__doc__ = f"`{name}` of each element."
    operator(made)


def _register_binary(name: str, function: Callable[[Any, Any], Expr]) -> None:
    def made(a: Tensor, b: Tensor) -> Tensor:
        return broadcast(name, function, a, b)

    made.__name__ = name
    made.__doc__ = f"`{name}` of each two elements, broadcast."
    operator(made)


for _name, _unary in _FLOAT_FUNCTIONS.items():
    _register_unary(_name, _unary)
for _name, _binary in _BINARY.items():
    _register_binary(_name, _binary)


@operator
def abs_(x: Tensor) -> Tensor:
    """The absolute value."""
    return broadcast("abs", te.abs, x)


@operator
def neg(x: Tensor) -> Tensor:
    """The negative."""
    return broadcast("neg", lambda e: -e, x)


@operator
def sign(x: Tensor) -> Tensor:
    """-1, 0 or 1; NaN of NaN."""

    def element(e: Expr) -> Expr:
        zero, one = te.const(0, x.dtype), te.const(1, x.dtype)
        if x.dtype.startswith("uint"):
            return te.select(e > zero, one, zero)
        return te.select(e > zero, one, te.select(e < zero, zero - one, e))

    return broadcast("sign", element, x)


@operator
def not_(x: Tensor) -> Tensor:
    """Of bools the negation, of integers all bits inverted."""
    return broadcast("not", lambda e: ~e, x)


@operator
def relu(x: Tensor) -> Tensor:
    """The larger of it and 0."""
    return broadcast("relu", lambda e: te.max(e, te.const(0, x.dtype)), x)


@operator
def isinf(x: Tensor, *, positive: bool, negative: bool) -> Tensor:
    """Whether it is infinite, of one sign or the other."""

    def element(e: Expr) -> Expr:
        if positive and negative:
            return te.isinf(e)
        if not positive and not negative:
            return te.const(False, "bool")
        sided = e > te.const(0, x.dtype) if positive else e < te.const(0, x.dtype)
        return te.isinf(e) & sided

    return broadcast("isinf", element, x)


@operator
def cast(x: Tensor, *, to: str, saturate: bool) -> Tensor:
    """In another element type. `saturate` is of conversions to float8."""
    del saturate
    return broadcast("cast", lambda e: e.astype(to), x)


@operator
def where(condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """`a` where the condition is true, otherwise `b`."""
    return broadcast("where", te.select, condition, a, b)


@operator
def bitcast(x: Tensor, *, to: str) -> Tensor:
    """The same bits in an element type of the same width."""
    return broadcast("bitcast", lambda e: te.reinterpret(e, to), x)


ELEMENTWISE = frozenset(name for name, one in OPERATORS.items() if one.function.__module__ == __name__)
"""The names of these operators."""
