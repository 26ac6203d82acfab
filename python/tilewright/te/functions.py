"""Constants, symbols, conditions and the functions of mathematics, on scalar expressions."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex

from ..dtypes import dtype_of
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..messages.location import Source, user_source
from .expr import (
    Call,
    Const,
    Expr,
    ExprLike,
    IterVar,
    Read,
    Select,
    Var,
    _need_arithmetic,
    binary,
    constant,
    literal,
    unify,
)
from .names import checked_name
from .reduction import bound

if TYPE_CHECKING:
    from .tensor import Tensor

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

THREAD_TAGS = (
    "blockIdx.x", "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y", "threadIdx.z",
    "vthread", "vthread.x", "vthread.y", "vthread.z",
)  # fmt: skip


def const(value: int | float | bool, dtype: object = None) -> Const:
    """A constant; without a dtype an int32, float32 or bool.

    >>> const(1, "float16").dtype
    'float16'
    """
    source = user_source()
    if dtype is None:
        return literal(value, None, source)  # type: ignore[return-value]
    number = literal(value, None, source)
    if not isinstance(number, Const):
        raise TypeError(f"{source}: te.const: expected a number, got {value}")
    return constant(number.value, dtype_of(dtype, source), source)


def var(
    name: str = "tindex", dtype: object = "int32", *, divisible_by: int = 1, min: int | None = None,
    max: int | None = None, default: int | float | bool | None = None
) -> Var:  # fmt: skip
    """A symbolic extent, or a number that a call gives.

    An extent is taken from the shapes of the arguments at each call, and the program works for every value. A number
    is an argument of `tw.build` itself, as TVM's scripts have extents, too: ``tw.build(s, [n, alpha, A, B])`` makes a
    function that is called with numbers of Python's or NumPy's at their places. Numbers may have any type that has
    arithmetic; what is an extent, or stands in one, is int32 or int64.

    Parameters
    ----------
    divisible_by
        A number that divides every value: a split by a factor of it needs no predicate, so that its loops can be
        vectorised.
    min
        The least value: what it decides is not asked, as whether a first tile is whole, or a grid has blocks. An
        extent is at least 0 without.
    max
        The greatest value, where there is one.
    default
        What a number is in calls that leave it out: those at the end of the arguments may be, and any by its name.

    The first three are of int32 and int64 alone. A call with a number or an extent that is otherwise raises ValueError
    before anything runs.

    >>> n = var("n", divisible_by=64, min=64, max=4096)
    >>> n.divisible_by, n.minimum, n.maximum
    (64, 64, 4096)
    >>> alpha = var("alpha", "float32", default=1.0)
    """
    source = user_source()
    name = checked_name(name, "te.var", source)
    kind = dtype_of(dtype, source)
    if kind.storage:
        raise TypeError(f"{source}: te.var {name}: expected a dtype with arithmetic, got {kind}")
    if kind.name not in ("int32", "int64"):
        if divisible_by != 1 or min is not None or max is not None:
            raise TypeError(
                f"{source}: te.var {name}: expected divisible_by, min and max of int32 or int64, got them of {kind}"
            )
        number = Var(name, kind, source, is_index=False, is_symbol=True)
        if default is not None:
            number.default = _checked_default(number, default, source)
        return number
    made = Var(name, kind, source)
    made.divisible_by = _at_least(1, divisible_by, f"te.var {name}: divisible_by", source)
    made.minimum = 0 if min is None else _at_least(0, min, f"te.var {name}: min", source)
    if max is not None:
        made.maximum = _at_least(made.minimum, max, f"te.var {name}: max", source)
    if default is not None:
        made.default = _checked_default(made, default, source, is_bounded=min is not None)
    return made


def _checked_default(number: Var, default: object, source: Source, is_bounded: bool = False) -> int | float | bool:
    from .arguments import checked_default

    value = checked_default(number.name, number._dtype, default, source)
    what = None
    if number.is_index and value % number.divisible_by:
        what = f"divisible by {number.divisible_by}"
    elif is_bounded and value < number.minimum:
        what = f"at least {number.minimum}"
    elif number.maximum is not None and value > number.maximum:
        what = f"at most {number.maximum}"
    if what is not None:
        raise ValueError(f"{source}: te.var {number.name}: default: expected a number {what}, got {value}")
    return value


def _at_least(least: int, number: object, what: str, source: Source) -> int:
    if isinstance(number, bool) or not isinstance(number, SupportsIndex):
        raise TypeError(f"{source}: {what}: expected an integer, got {number!r}")
    if number.__index__() < least:
        raise ValueError(f"{source}: {what}: expected at least {least}, got {number.__index__()}")
    return number.__index__()


def size_var(
    name: str = "size", dtype: object = "int32", *, divisible_by: int = 1, min: int = 0, max: int | None = None,
    default: int | None = None
) -> Var:  # fmt: skip
    """A symbolic extent, or a number that a call gives, which is at least 0."""
    made = var(name, dtype, divisible_by=divisible_by, min=min, max=max, default=default)
    made.is_size = True
    return made


def thread_axis(dom: object = None, tag: object = "", name: str = "") -> IterVar:
    """A block or thread index, to bind an axis to.

    ``te.thread_axis("threadIdx.x")``, or with its extent, ``te.thread_axis((0, 64), "threadIdx.x")`` or
    ``te.thread_axis(64, "threadIdx.x")``; TVM's other order of the two works, too.

    >>> thread_axis((0, 64), "threadIdx.x")
    threadIdx.x
    """
    source = user_source()
    if isinstance(dom, str):
        dom, tag = (tag or None), dom
    if tag not in THREAD_TAGS:
        raise ValueError(f"{source}: te.thread_axis: expected one of {', '.join(THREAD_TAGS)}, got {tag!r}")
    extent = dom
    if isinstance(dom, (tuple, list)):
        if len(dom) != 2 or dom[0] != 0:
            raise ValueError(f"{source}: te.thread_axis {tag}: expected the pair (0, extent), got {dom!r}")
        extent = dom[1]
    if extent is not None:
        if isinstance(extent, bool) or not isinstance(extent, SupportsIndex):
            raise TypeError(f"{source}: te.thread_axis {tag}: expected an integer extent, got {extent!r}")
        extent = extent.__index__()
        if extent < 1:
            raise ValueError(f"{source}: te.thread_axis {tag}: expected an extent of at least 1, got {extent}")
        if extent > 2**31 - 1:
            raise ValueError(f"{source}: te.thread_axis {tag}: expected an extent of at most 2147483647, got {extent}")
    name = checked_name(name, f"te.thread_axis {tag}", source)
    return IterVar(name or str(tag), None if extent is None else (0, extent), "thread", source, tag=str(tag))


def min_value(dtype: object) -> Const:
    """The least value of a type, minus infinity for floats."""
    source = user_source()
    return bound(dtype_of(dtype, source), False, source)


def max_value(dtype: object) -> Const:
    """The largest value of a type, infinity for floats."""
    source = user_source()
    return bound(dtype_of(dtype, source), True, source)


def _select(what: str, condition: ExprLike, true_value: ExprLike, false_value: ExprLike, lazy: bool) -> Expr:
    source = user_source()
    test = literal(condition, None, source)
    if test.dtype != "bool":
        raise TypeError(f"{source}: te.{what}: expected a bool as condition, got {test.dtype}")
    first, second = unify(what, true_value, false_value, source)
    return Select(test, first, second, lazy, source)


def if_then_else(condition: ExprLike, true_value: ExprLike, false_value: ExprLike) -> Expr:
    """One value or the other, only the one taken computed: reads beyond a tensor are safe in the other.

    >>> from tilewright import te
    >>> A = te.placeholder((6,), name="A")
    >>> te.compute((8,), lambda i: te.if_then_else(te.all(i >= 1, i < 7), A[i - 1], 0.0), name="padded").shape
    (8,)
    """
    return _select("if_then_else", condition, true_value, false_value, lazy=True)


def is_given(tensor: Tensor) -> Expr:
    """Whether a call gives this tensor, a `te.placeholder` with ``optional=True``, and not None.

    >>> from tilewright import te
    >>> te.is_given(te.placeholder((8,), name="bias", optional=True))
    bias_is_given
    """
    return _given("is_given", tensor)


def if_given(tensor: Tensor, then: ExprLike, otherwise: ExprLike) -> Expr:
    """`then` in calls that give this tensor, `otherwise` in those that give None: decided at each call. Only `then` may
    read the tensor, and it is computed only where that is there.

    >>> from tilewright import te
    >>> A, bias = te.placeholder((8,), name="A"), te.placeholder((8,), name="bias", optional=True)
    >>> te.compute((8,), lambda i: te.if_given(bias, A[i] + bias[i], A[i]), name="C").shape
    (8,)
    """
    return _select("if_given", _given("if_given", tensor), then, otherwise, lazy=True)


def _given(what: str, tensor: Tensor) -> Var:
    source = user_source()
    flag = getattr(getattr(tensor, "op", None), "given", None)
    if not isinstance(flag, Var):
        raise TypeError(f"{source}: te.{what}: expected a te.placeholder with optional=True, got {tensor!r}")
    return flag


def select(condition: ExprLike, true_value: ExprLike, false_value: ExprLike) -> Expr:
    """One value or the other, both computed."""
    return _select("select", condition, true_value, false_value, lazy=False)


def _fold(what: str, op: str, conditions: tuple[ExprLike, ...]) -> Expr:
    source = user_source()
    if not conditions:
        raise ValueError(f"{source}: te.{what}: expected at least one condition, got none")
    exprs = [literal(condition, None, source) for condition in conditions]
    for expr in exprs:
        if expr.dtype != "bool":
            raise TypeError(f"{source}: te.{what}: expected conditions of bool, got {expr.dtype}")
    result = exprs[0]
    for expr in exprs[1:]:
        if not _must_wait(expr, result):
            result = Call(op, (result, expr), result._dtype, source)
        elif op == "and":
            result = Select(result, expr, Const(False, result._dtype, source), True, source)
        else:
            result = Select(result, Const(True, result._dtype, source), expr, True, source)
    return result


def _must_wait(condition: Expr, before: Expr) -> bool:
    """Whether what `condition` reads may be there only where the one before it left that open.

    Two conditions on elements at indices that both have are evaluated together, which takes no branch.
    """
    guards = isinstance(before, Select) or not _has_element(before)
    reads = [part for part in _parts(condition) if part.is_element]
    if guards:
        return bool(reads)
    return builtins.any(not isinstance(read, Read) or builtins.any(map(_has_element, read.indices)) for read in reads)


def _has_element(expr: Expr) -> bool:
    return builtins.any(part.is_element for part in _parts(expr))


def _parts(expr: Expr) -> Iterator[Expr]:
    todo, seen = [expr], set[int]()
    while todo:
        one = todo.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            todo.extend(reversed(one.operands()))


def all(*conditions: ExprLike) -> Expr:
    """True where all conditions are. No element is read for a condition that those before it have decided."""
    return _fold("all", "and", conditions)


def any(*conditions: ExprLike) -> Expr:
    """True where a condition is. No element is read for a condition that those before it have decided."""
    return _fold("any", "or", conditions)


def div(a: ExprLike, b: ExprLike) -> Expr:
    """The quotient, of integers rounded towards zero, as in C."""
    source = user_source()
    lhs, _ = unify("div", a, b, source)
    return binary("div" if lhs._dtype.is_float else "truncdiv", a, b)


def floordiv(a: ExprLike, b: ExprLike) -> Expr:
    """The quotient, rounded down, as NumPy and Python have it, of floats, too.

    By zero, the quotient of integers has all bits set (-1, or the largest unsigned number), as on a GPU; the simulator
    reports it where it is used. The least number divided by -1 is itself. See docs/numbers.md.
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
    dtype = lhs._dtype
    if dtype.bits < 32:  # computed in float32, and rounded once
        lhs, rhs = lhs.astype("float32"), rhs.astype("float32")
    # Of equal infinities the difference is no number; the larger one is the result.
    larger, gap = binary("max", lhs, rhs), abs(binary("sub", lhs, rhs))
    result = Select(binary("eq", lhs, rhs), lhs + _log_of_two(lhs, source), larger + log1p(exp(-gap)), False, source)
    return result.astype(dtype)


def _log_of_two(like: Expr, source: Source) -> Const:
    return constant(0.6931471805599453, like._dtype, source)


def fmod(a: ExprLike, b: ExprLike) -> Expr:
    """The remainder of floats, of the sign of `a`."""
    source = user_source()
    lhs, rhs = unify("fmod", a, b, source)
    _need_float("fmod", lhs)
    return Call("truncmod", (lhs, rhs), lhs._dtype, source)


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
    unsigned = builtins.all(first._dtype.kind == "uint" for first, *_ in lanes)
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
    return Call("atan2", (lhs, rhs), lhs._dtype, source)


def abs(x: ExprLike) -> Expr:
    """The absolute value of a float or an integer."""
    source = user_source()
    value = literal(x, None, source)
    _need_arithmetic("abs", value, source)
    if value._dtype.kind == "uint":
        return value
    value = value.astype(value.dtype) if value.is_index else value
    return Call("abs", (value,), value._dtype, source)


def popcount(x: ExprLike) -> Expr:
    """How many bits of an integer are set."""
    source = user_source()
    value = literal(x, None, source)
    if not value._dtype.is_integer:
        raise TypeError(f"{source}: te.popcount: expected an integer, got {value.dtype}")
    value = value.astype(value.dtype) if value.is_index else value
    return Call("popcount", (value,), value._dtype, source)


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
    if "bool" in (value.dtype, to.name) or value._dtype.bits != to.bits:
        raise TypeError(
            f"{source}: te.reinterpret: expected a type of {value._dtype.bits} bits, as {value.dtype} has, and no "
            f"bool, got {to}"
        )
    return value if to is value._dtype else Call("reinterpret", (value,), to, source)


def _need_float(name: str, value: Expr) -> None:
    source = user_source()
    _need_arithmetic(f"te.{name}", value, source)
    if not value._dtype.is_float:
        raise TypeError(f"{source}: te.{name}: expected a float, got {value.dtype}: convert it with .astype")


def _unary(name: str, doc: str, result: str | None = None) -> Callable[[ExprLike], Expr]:
    """A function of one float, of the same type or of `result`."""

    def function(x: ExprLike) -> Expr:
        source = user_source()
        value = literal(float(x) if isinstance(x, int) and not isinstance(x, bool) else x, None, source)
        _need_float(name, value)
        return Call(name, (value,), dtype_of(result) if result else value._dtype, source)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


exp = _unary("exp", "The exponential function.")
exp2 = _unary("exp2", "Two to the power of `x`.")
erf = _unary("erf", "The error function.")
tanh = _unary("tanh", "The hyperbolic tangent.")
sigmoid = _unary("sigmoid", "1 / (1 + exp(-x)).")
log = _unary("log", "The natural logarithm.")
log2 = _unary("log2", "The logarithm to base 2.")
log10 = _unary("log10", "The logarithm to base 10.")
log1p = _unary("log1p", "The natural logarithm of 1 + x.")
tan = _unary("tan", "The tangent.")
cos = _unary("cos", "The cosine.")
cosh = _unary("cosh", "The hyperbolic cosine.")
sin = _unary("sin", "The sine.")
sinh = _unary("sinh", "The hyperbolic sine.")
asin = _unary("asin", "The inverse of the sine.")
acos = _unary("acos", "The inverse of the cosine.")
atan = _unary("atan", "The inverse of the tangent.")
asinh = _unary("asinh", "The inverse of the hyperbolic sine.")
acosh = _unary("acosh", "The inverse of the hyperbolic cosine.")
atanh = _unary("atanh", "The inverse of the hyperbolic tangent.")
sqrt = _unary("sqrt", "The square root.")
rsqrt = _unary("rsqrt", "One over the square root.")
floor = _unary("floor", "Rounded down.")
ceil = _unary("ceil", "Rounded up.")
trunc = _unary("trunc", "Rounded towards zero.")
round = _unary("round", "Rounded to the nearest integer, halves away from zero.")
nearbyint = _unary("nearbyint", "Rounded to the nearest integer, halves to even.")
isnan = _unary("isnan", "True for NaN.", "bool")
isfinite = _unary("isfinite", "True for what is neither infinite nor NaN.", "bool")
isinf = _unary("isinf", "True for an infinity.", "bool")
