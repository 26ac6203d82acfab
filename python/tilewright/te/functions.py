"""The functions of scalar expressions, and by their names constants, symbols and conditions."""
# ruff: noqa: F405  # what is named here of the functions of one float is imported with all of them

from __future__ import annotations

import builtins
from typing import Any

from ..dtypes import dtype_of
from ..errors import TilewrightTypeError as TypeError
from ..guards import is_tuple
from ..messages.location import Source, user_source
from .arithmetic import binary, constant, literal, need_arithmetic, unify
from .conditions import all, any, if_given, if_then_else, is_given, select
from .expr import Call, Const, Expr, ExprLike, Select
from .float_functions import *  # noqa: F403
from .float_functions import exp, log1p, need_float
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
    """The quotient `a / b`. Of integers it is rounded towards zero, as in C. Raises what `floordiv` raises.

    >>> from tilewright import te
    >>> i = te.var("i")
    >>> te.div(i, 4)
    truncdiv(i, 4)
    """
    source = user_source()
    lhs, _ = unify("div", a, b, source)
    return binary("div" if lhs.element_type.is_float else "truncdiv", a, b)


def floordiv(a: ExprLike, b: ExprLike) -> Expr:
    """The quotient `a / b`, rounded down, as in NumPy and Python; of floats, too.

    A division of integers by zero gives a number with all bits set (-1, or the largest unsigned number), as on a GPU.
    The simulator reports such a quotient where it is used. The least number divided by -1 is itself. See
    docs/numbers.md. Raises TypeError for two dtypes, ValueError where an integer is divided by the number 0.

    >>> from tilewright import te
    >>> i = te.var("i")
    >>> te.floordiv(i, 4)
    i // 4
    """
    return binary("floordiv", a, b)


def floormod(a: ExprLike, b: ExprLike) -> Expr:
    """What `floordiv` leaves of `a`, with the sign of `b`. Of integers by zero, all bits are set. Raises what
    `floordiv` raises.

    >>> from tilewright import te
    >>> i = te.var("i")
    >>> te.floormod(i, 4)
    i % 4
    """
    return binary("floormod", a, b)


def truncdiv(a: ExprLike, b: ExprLike) -> Expr:
    """The quotient `a / b`, rounded towards zero. Of integers by zero, all bits are set; see `floordiv`. Raises what
    `floordiv` raises.

    >>> from tilewright import te
    >>> i = te.var("i")
    >>> te.truncdiv(i, 4)
    truncdiv(i, 4)
    """
    return binary("truncdiv", a, b)


def truncmod(a: ExprLike, b: ExprLike) -> Expr:
    """What `truncdiv` of `a / b` leaves, with the sign of `a`. Of integers by zero, all bits are set. Raises what
    `floordiv` raises.

    >>> from tilewright import te
    >>> i = te.var("i")
    >>> te.truncmod(i, 4)
    truncmod(i, 4)
    """
    return binary("truncmod", a, b)


def indexdiv(a: ExprLike, b: ExprLike) -> Expr:
    """The quotient `a / b` of indices, which are not negative: `floordiv`. Raises what `floordiv` raises.

    >>> from tilewright import te
    >>> i = te.var("i")
    >>> te.indexdiv(i, 4)
    i // 4
    """
    return binary("floordiv", a, b)


def indexmod(a: ExprLike, b: ExprLike) -> Expr:
    """The remainder of `a / b` of indices, which are not negative: `floormod`. Raises what `floordiv` raises.

    >>> from tilewright import te
    >>> i = te.var("i")
    >>> te.indexmod(i, 4)
    i % 4
    """
    return binary("floormod", a, b)


def add(a: ExprLike, b: ExprLike) -> Expr:
    """``a + b``. Raises TypeError for two dtypes, ValueError for a number that the dtype does not have.

    >>> from tilewright import te
    >>> x = te.var("x", "float32")
    >>> te.add(x, 1)
    x + 1.0
    """
    return binary("add", a, b)


def subtract(a: ExprLike, b: ExprLike) -> Expr:
    """``a - b``. Raises what `add` raises.

    >>> from tilewright import te
    >>> x, y = te.var("x", "float32"), te.var("y", "float32")
    >>> te.subtract(x, y)
    x - y
    """
    return binary("sub", a, b)


def multiply(a: ExprLike, b: ExprLike) -> Expr:
    """``a * b``. Raises what `add` raises.

    >>> from tilewright import te
    >>> x = te.var("x", "float32")
    >>> te.multiply(x, 2)
    x * 2.0
    """
    return binary("mul", a, b)


def ceildiv(a: ExprLike, b: ExprLike) -> Expr:
    """The quotient `a / b` of integers, rounded up. Raises what `floordiv` raises.

    >>> from tilewright import te
    >>> i = te.var("i")
    >>> te.ceildiv(i, 4)  # the least number that is not below i / 4
    0 - (0 - i) // 4
    """
    return binary("sub", 0, binary("floordiv", binary("sub", 0, a), b))


def bitwise_and(a: ExprLike, b: ExprLike) -> Expr:
    """``a & b`` of integers or bools. Raises what `add` raises, and TypeError for floats.

    >>> from tilewright import te
    >>> i = te.var("i")
    >>> te.bitwise_and(i, 7)
    int32(i) & int32(7)
    """
    return binary("and", a, b)


def bitwise_or(a: ExprLike, b: ExprLike) -> Expr:
    """``a | b`` of integers or bools. Raises what `add` raises, and TypeError for floats.

    >>> from tilewright import te
    >>> i = te.var("i")
    >>> te.bitwise_or(i, 1)
    int32(i) | int32(1)
    """
    return binary("or", a, b)


def bitwise_xor(a: ExprLike, b: ExprLike) -> Expr:
    """``a ^ b`` of integers or bools. Raises what `add` raises, and TypeError for floats.

    >>> from tilewright import te
    >>> i, j = te.var("i"), te.var("j")
    >>> te.bitwise_xor(i, j)
    int32(i) ^ int32(j)
    """
    return binary("xor", a, b)


def bitwise_not(a: Expr) -> Expr:
    """``~a`` of an integer or a bool. Raises TypeError for a float.

    >>> from tilewright import te
    >>> i = te.var("i")
    >>> te.bitwise_not(i)
    int32(i) ^ int32(-1)
    """
    return ~literal(a, None, user_source())


def left_shift(a: ExprLike, b: ExprLike) -> Expr:
    """``a << b`` of integers. 0 where `b` is negative, or the width of the type or more. Raises what `add` raises, and
    TypeError for floats.

    >>> from tilewright import te
    >>> i = te.var("i")
    >>> te.left_shift(i, 2)
    int32(i) << int32(2)
    """
    return binary("shl", a, b)


def right_shift(a: ExprLike, b: ExprLike) -> Expr:
    """``a >> b`` of integers. Where `b` is negative, or the width of the type or more: 0, or -1 of a negative `a`.
    Raises what `add` raises, and TypeError for floats.

    >>> from tilewright import te
    >>> i = te.var("i")
    >>> te.right_shift(i, 2)
    int32(i) >> int32(2)
    """
    return binary("shr", a, b)


def logaddexp(a: ExprLike, b: ExprLike) -> Expr:
    """``log(exp(a) + exp(b))`` of floats, which neither overflows nor loses the smaller of the two. Raises TypeError
    for another type, or for two.

    >>> from tilewright import te
    >>> x, y = te.var("x", "float32"), te.var("y", "float32")
    >>> te.logaddexp(x, y).dtype
    'float32'
    """
    source = user_source()
    lhs, rhs = unify("logaddexp", a, b, source)
    need_float("logaddexp", lhs)
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
    """The remainder of the floats `a / b`, with the sign of `a`, as C's ``fmod``. Raises TypeError for another type, or
    for two.

    >>> from tilewright import te
    >>> x, y = te.var("x", "float32"), te.var("y", "float32")
    >>> te.fmod(x, y)
    truncmod(x, y)
    """
    source = user_source()
    lhs, rhs = unify("fmod", a, b, source)
    need_float("fmod", lhs)
    return Call("truncmod", (lhs, rhs), lhs.element_type, source)


def power(a: ExprLike, b: ExprLike) -> Expr:
    """`a` to the power of `b`, of floats. Raises what `add` raises.

    >>> from tilewright import te
    >>> x = te.var("x", "float32")
    >>> te.power(x, 2)
    power(x, 2.0)
    """
    return binary("power", a, b)


def exp10(x: ExprLike) -> Expr:
    """Ten to the power of `x`, a float. Raises TypeError for another type.

    >>> from tilewright import te
    >>> x = te.var("x", "float32")
    >>> te.exp10(x)
    power(10.0, x)
    """
    source = user_source()
    value = literal(float(x) if isinstance(x, int) and not isinstance(x, bool) else x, None, source)
    need_float("exp10", value)
    return binary("power", 10.0, value)


def dp4a(vec1: Any, vec2: Any, acc: ExprLike = 0) -> Expr:
    """`acc` plus the four products of bytes of two words, as CUDA's ``__dp4a``.

    `vec1` and `vec2` are words of int32 (four int8) or uint32 (four uint8), or four elements of a buffer that
    ``vload(begin, "int8x4")`` gives. The result is of int32, or of uint32 where both are unsigned; it wraps. Raises
    TypeError for words of other types, and for an `acc` of another type than the result.

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
    if is_tuple(word) and len(word) == 4 and builtins.all(one.dtype in ("int8", "uint8") for one in word):
        return list(word)
    value = literal(word, None, source)
    if value.is_index or value.dtype not in ("int32", "uint32"):
        raise TypeError(
            f'{source}: te.dp4a: expected words of int32 or uint32, or vload(begin, "int8x4"), got {value.dtype}'
        )
    to = "int8" if value.dtype == "int32" else "uint8"
    return [binary("shr", value, 8 * place).astype(to) for place in range(4)]


def atan2(a: ExprLike, b: ExprLike) -> Expr:
    """The angle of the point (b, a) in radians, from -pi to pi, of floats. Raises TypeError for another type, or for
    two.

    >>> from tilewright import te
    >>> x, y = te.var("x", "float32"), te.var("y", "float32")
    >>> te.atan2(x, y)
    atan2(x, y)
    """
    source = user_source()
    lhs, rhs = unify("atan2", a, b, source)
    need_float("atan2", lhs)
    return Call("atan2", (lhs, rhs), lhs.element_type, source)


def abs(x: ExprLike) -> Expr:
    """The absolute value of a float or an integer. Raises TypeError for another type.

    >>> from tilewright import te
    >>> x = te.var("x", "float32")
    >>> te.abs(x)
    abs(x)
    """
    source = user_source()
    value = literal(x, None, source)
    need_arithmetic("abs", value, source)
    if value.element_type.kind == "uint":
        return value
    value = value.astype(value.dtype) if value.is_index else value
    return Call("abs", (value,), value.element_type, source)


def popcount(x: ExprLike) -> Expr:
    """How many bits of the integer `x` are set. Raises TypeError for another type.

    >>> from tilewright import te
    >>> i = te.var("i")
    >>> te.popcount(i)
    popcount(int32(i))
    """
    source = user_source()
    value = literal(x, None, source)
    if not value.element_type.is_integer:
        raise TypeError(f"{source}: te.popcount: expected an integer, got {value.dtype}")
    value = value.astype(value.dtype) if value.is_index else value
    return Call("popcount", (value,), value.element_type, source)


def reinterpret(x: ExprLike, dtype: object) -> Expr:
    """The bits of `x` as a value of another type of the same width. Raises TypeError for a type of another width, and
    for bools.

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
