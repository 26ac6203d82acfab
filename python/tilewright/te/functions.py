"""The functions of scalar expressions, and by their names constants, symbols and conditions."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from ..dtypes import dtype_of
from ..errors import TilewrightTypeError as TypeError
from ..messages.location import Source, user_source
from .arithmetic import binary, constant, literal, need_arithmetic, unify
from .conditions import all, any, if_given, if_then_else, is_given, select
from .expr import Call, Const, Expr, ExprLike, Select
from .variables import const, max_value, min_value, size_var, thread_axis, var

__all__ = [
    "abs", "acos", "acosh", "add", "all", "any", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
    "bitwise_not", "bitwise_or", "bitwise_xor", "ceil", "ceildiv", "const", "cos", "cosh", "div", "dp4a", "erf",
    "exp", "exp10", "exp2", "floor", "floordiv", "floormod", "fmod", "if_given", "if_then_else", "indexdiv",
    "indexmod", "is_given", "isfinite", "isinf", "isnan", "left_shift", "log", "log10", "log1p", "log2",
    "logaddexp", "max_value", "min_value", "multiply", "nearbyint", "popcount", "power", "reinterpret",
    "right_shift", "round",
    "rsqrt", "select", "sigmoid", "sin", "sinh", "size_var", "sqrt", "subtract", "tan", "tanh", "thread_axis",
    "trunc", "truncdiv", "truncmod", "var",
]  # fmt: skip


def div(a: ExprLike, b: ExprLike) -> Expr:
    """The quotient, of integers rounded towards zero, as in C."""
    source = user_source()
    lhs, _ = unify("div", a, b, source)
    return binary("div" if lhs.element_type.is_float else "truncdiv", a, b)


def floordiv(a: ExprLike, b: ExprLike) -> Expr:
    """The quotient, rounded down, as NumPy and Python have it, of floats, too.

    A division of integers by zero gives a number with all bits set (-1, or the largest unsigned number), as on a GPU.
    The simulator reports such a quotient where it is used. The least number divided by -1 is itself. See
    docs/numbers.md.
    """
    return binary("floordiv", a, b)


def floormod(a: ExprLike, b: ExprLike) -> Expr:
    """What `floordiv` leaves: of the sign of `b`. Of integers by zero, all bits are set."""
    return binary("floormod", a, b)


def truncdiv(a: ExprLike, b: ExprLike) -> Expr:
    """The quotient, rounded towards zero. Of integers by zero, all bits are set; see `floordiv`."""
    return binary("truncdiv", a, b)


def truncmod(a: ExprLike, b: ExprLike) -> Expr:
    """What `truncdiv` leaves: of the sign of `a`. Of integers by zero, all bits are set."""
    return binary("truncmod", a, b)


def indexdiv(a: ExprLike, b: ExprLike) -> Expr:
    """The quotient of indices, which are not negative: `floordiv`."""
    return binary("floordiv", a, b)


def indexmod(a: ExprLike, b: ExprLike) -> Expr:
    """The remainder of indices, which are not negative: `floormod`."""
    return binary("floormod", a, b)


def add(a: ExprLike, b: ExprLike) -> Expr:
    """``a + b``."""
    return binary("add", a, b)


def subtract(a: ExprLike, b: ExprLike) -> Expr:
    """``a - b``."""
    return binary("sub", a, b)


def multiply(a: ExprLike, b: ExprLike) -> Expr:
    """``a * b``."""
    return binary("mul", a, b)


def ceildiv(a: ExprLike, b: ExprLike) -> Expr:
    """The quotient of integers, rounded up."""
    return binary("sub", 0, binary("floordiv", binary("sub", 0, a), b))


def bitwise_and(a: ExprLike, b: ExprLike) -> Expr:
    """``a & b``."""
    return binary("and", a, b)


def bitwise_or(a: ExprLike, b: ExprLike) -> Expr:
    """``a | b``."""
    return binary("or", a, b)


def bitwise_xor(a: ExprLike, b: ExprLike) -> Expr:
    """``a ^ b``."""
    return binary("xor", a, b)


def bitwise_not(a: Expr) -> Expr:
    """``~a``."""
    return ~a


def left_shift(a: ExprLike, b: ExprLike) -> Expr:
    """``a << b``; 0 where `b` is the width of the type or more, or negative."""
    return binary("shl", a, b)


def right_shift(a: ExprLike, b: ExprLike) -> Expr:
    """``a >> b``; where `b` is the width of the type or more, or negative, 0, or -1 of a negative `a`."""
    return binary("shr", a, b)


def logaddexp(a: ExprLike, b: ExprLike) -> Expr:
    """``log(exp(a) + exp(b))``, which neither overflows nor loses the smaller of the two."""
    source = user_source()
    lhs, rhs = unify("logaddexp", a, b, source)
    _need_float("logaddexp", lhs)
    dtype = lhs.element_type
    if dtype.bits < 32:  # computed in float32, and rounded once
        lhs, rhs = lhs.astype("float32"), rhs.astype("float32")
    # Of equal infinities the difference is no number; the larger one is the result.
    larger, gap = binary("max", lhs, rhs), abs(binary("sub", lhs, rhs))
    result = Select(binary("eq", lhs, rhs), lhs + _log_of_two(lhs, source), larger + log1p(exp(-gap)), False, source)
    return result.astype(dtype)


def _log_of_two(like: Expr, source: Source) -> Const:
    return constant(0.6931471805599453, like.element_type, source)


def fmod(a: ExprLike, b: ExprLike) -> Expr:
    """The remainder of floats, of the sign of `a`."""
    source = user_source()
    lhs, rhs = unify("fmod", a, b, source)
    _need_float("fmod", lhs)
    return Call("truncmod", (lhs, rhs), lhs.element_type, source)


def power(a: ExprLike, b: ExprLike) -> Expr:
    """`a` to the power of `b`."""
    return binary("power", a, b)


def exp10(x: ExprLike) -> Expr:
    """Ten to the power of `x`."""
    source = user_source()
    value = literal(float(x) if isinstance(x, int) and not isinstance(x, bool) else x, None, source)
    _need_float("exp10", value)
    return binary("power", 10.0, value)


def dp4a(vec1: Any, vec2: Any, acc: ExprLike = 0) -> Expr:
    """`acc` plus the four products of bytes of two words, as CUDA's ``__dp4a``.

    `vec1` and `vec2` are words of int32 (four int8) or uint32 (four uint8), or four elements of a buffer that
    ``vload(begin, "int8x4")`` gives. The result is of int32, or of uint32 where both are unsigned; it wraps.

    >>> from tilewright import te
    >>> A = te.placeholder((8,), "int32", name="A")
    >>> te.compute((8,), lambda i: te.dp4a(A[i], A[i]), name="B").dtype
    'int32'
    """
    source = user_source()
    lanes = [_bytes(vec1, source), _bytes(vec2, source)]
    unsigned = builtins.all(first.element_type.kind == "uint" for first, *_ in lanes)
    result = "uint32" if unsigned else "int32"
    total = literal(acc, const(0, result), source)
    if total.is_index:
        total = total.astype(result)
    if total.dtype != result:
        raise TypeError(f"{source}: te.dp4a: expected acc of {result}, got {total.dtype}")
    for one, other in zip(*lanes):
        total = total + one.astype(result) * other.astype(result)
    return total


def _bytes(word: Any, source: Source) -> list[Expr]:
    """The four bytes of a word, the lowest first."""
    if isinstance(word, tuple) and len(word) == 4 and builtins.all(one.dtype in ("int8", "uint8") for one in word):
        return list(word)
    value = literal(word, None, source)
    if value.is_index or value.dtype not in ("int32", "uint32"):
        raise TypeError(
            f'{source}: te.dp4a: expected words of int32 or uint32, or vload(begin, "int8x4"), got {value.dtype}'
        )
    to = "int8" if value.dtype == "int32" else "uint8"
    return [binary("shr", value, 8 * place).astype(to) for place in range(4)]


def atan2(a: ExprLike, b: ExprLike) -> Expr:
    """The angle of the point (b, a)."""
    source = user_source()
    lhs, rhs = unify("atan2", a, b, source)
    _need_float("atan2", lhs)
    return Call("atan2", (lhs, rhs), lhs.element_type, source)


def abs(x: ExprLike) -> Expr:
    """The absolute value of a float or an integer."""
    source = user_source()
    value = literal(x, None, source)
    need_arithmetic("abs", value, source)
    if value.element_type.kind == "uint":
        return value
    value = value.astype(value.dtype) if value.is_index else value
    return Call("abs", (value,), value.element_type, source)


def popcount(x: ExprLike) -> Expr:
    """How many bits of an integer are set."""
    source = user_source()
    value = literal(x, None, source)
    if not value.element_type.is_integer:
        raise TypeError(f"{source}: te.popcount: expected an integer, got {value.dtype}")
    value = value.astype(value.dtype) if value.is_index else value
    return Call("popcount", (value,), value.element_type, source)


def reinterpret(x: ExprLike, dtype: object) -> Expr:
    """The bits of `x` as a value of another type of the same width.

    >>> from tilewright import te
    >>> A = te.placeholder((8,), "float32", name="A")
    >>> te.compute((8,), lambda i: te.reinterpret(A[i], "int32"), name="B").dtype
    'int32'
    """
    source = user_source()
    value, to = literal(x, None, source), dtype_of(dtype, source)
    value = value.astype(value.dtype) if value.is_index else value
    if "bool" in (value.dtype, to.name) or value.element_type.bits != to.bits:
        raise TypeError(
            f"{source}: te.reinterpret: expected a type of {value.element_type.bits} bits, as {value.dtype} has, and "
            f"no bool, got {to}"
        )
    return value if to is value.element_type else Call("reinterpret", (value,), to, source)


def _need_float(name: str, value: Expr) -> None:
    source = user_source()
    need_arithmetic(f"te.{name}", value, source)
    if not value.element_type.is_float:
        raise TypeError(f"{source}: te.{name}: expected a float, got {value.dtype}: convert it with .astype")


_Unary = Callable[[ExprLike], Expr]


def _unary(name: str, doc: str, result: str | None = None) -> _Unary:
    """A function of one float, of the same type or of `result`."""

    def function(x: ExprLike) -> Expr:
        source = user_source()
        value = literal(float(x) if isinstance(x, int) and not isinstance(x, bool) else x, None, source)
        _need_float(name, value)
        return Call(name, (value,), dtype_of(result) if result else value.element_type, source)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


exp: _Unary = _unary("exp", "The exponential function.")
exp2: _Unary = _unary("exp2", "Two to the power of `x`.")
erf: _Unary = _unary("erf", "The error function.")
tanh: _Unary = _unary("tanh", "The hyperbolic tangent.")
sigmoid: _Unary = _unary("sigmoid", "1 / (1 + exp(-x)).")
log: _Unary = _unary("log", "The natural logarithm.")
log2: _Unary = _unary("log2", "The logarithm to base 2.")
log10: _Unary = _unary("log10", "The logarithm to base 10.")
log1p: _Unary = _unary("log1p", "The natural logarithm of 1 + x.")
tan: _Unary = _unary("tan", "The tangent.")
cos: _Unary = _unary("cos", "The cosine.")
cosh: _Unary = _unary("cosh", "The hyperbolic cosine.")
sin: _Unary = _unary("sin", "The sine.")
sinh: _Unary = _unary("sinh", "The hyperbolic sine.")
asin: _Unary = _unary("asin", "The inverse of the sine.")
acos: _Unary = _unary("acos", "The inverse of the cosine.")
atan: _Unary = _unary("atan", "The inverse of the tangent.")
asinh: _Unary = _unary("asinh", "The inverse of the hyperbolic sine.")
acosh: _Unary = _unary("acosh", "The inverse of the hyperbolic cosine.")
atanh: _Unary = _unary("atanh", "The inverse of the hyperbolic tangent.")
sqrt: _Unary = _unary("sqrt", "The square root.")
rsqrt: _Unary = _unary("rsqrt", "One over the square root.")
floor: _Unary = _unary("floor", "Rounded down.")
ceil: _Unary = _unary("ceil", "Rounded up.")
trunc: _Unary = _unary("trunc", "Rounded towards zero.")
round: _Unary = _unary("round", "Rounded to the nearest integer, halves away from zero.")
nearbyint: _Unary = _unary("nearbyint", "Rounded to the nearest integer, halves to even.")
isnan: _Unary = _unary("isnan", "True for NaN.", "bool")
isfinite: _Unary = _unary("isfinite", "True for what is neither infinite nor NaN.", "bool")
isinf: _Unary = _unary("isinf", "True for an infinity.", "bool")
