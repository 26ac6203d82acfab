"""The functions of one float."""

from __future__ import annotations

from collections.abc import Callable

from ..dtypes import dtype_of
from ..errors import TilewrightTypeError as TypeError
from ..messages.location import user_source
from .arithmetic import literal, need_arithmetic
from .expr import Call, Expr, ExprLike

__all__ = [
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh",
    "erf", "exp", "exp2", "floor", "isfinite", "isinf", "isnan", "log", "log10",
    "log1p", "log2", "nearbyint", "round", "rsqrt", "sigmoid", "sin", "sinh",
    "sqrt", "tan", "tanh", "trunc",
]  # fmt: skip


def need_float(name: str, value: Expr) -> None:
    """Refuses an argument of `te.name` that is no float."""
    source = user_source()
    need_arithmetic(f"te.{name}", value, source)
    if not value.element_type.is_float:
        raise TypeError(f"{source}: te.{name}: expected a float, got {value.dtype}: convert it with .astype")


_Unary = Callable[[ExprLike], Expr]


_DOC = """{what}

    `x` is an expression of floats, or a number of Python. The result is {result}.

    Raises
    ------
    TypeError
        Where `x` is of another type: `te.Expr.astype` converts it.

    >>> from tilewright import te
    >>> te.{name}(te.var("x", "float32"))
    {name}(x)
    """


def _unary(name: str, what: str, result: str | None = None) -> _Unary:
    """A function of one float, of the same type or of `result`."""

    def function(x: ExprLike) -> Expr:
        source = user_source()
        value = literal(float(x) if isinstance(x, int) and not isinstance(x, bool) else x, None, source)
        need_float(name, value)
        return Call(name, (value,), dtype_of(result) if result else value.element_type, source)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = _DOC.format(name=name, what=what, result=f"a {result}" if result else "of the type of `x`")
    return function


exp: _Unary = _unary("exp", "e to the power of `x`.")
exp2: _Unary = _unary("exp2", "Two to the power of `x`.")
erf: _Unary = _unary("erf", "The error function.")
tanh: _Unary = _unary("tanh", "The hyperbolic tangent.")
sigmoid: _Unary = _unary("sigmoid", "The logistic function, 1 / (1 + exp(-x)).")
log: _Unary = _unary("log", "The natural logarithm.")
log2: _Unary = _unary("log2", "The logarithm to base 2.")
log10: _Unary = _unary("log10", "The logarithm to base 10.")
log1p: _Unary = _unary("log1p", "The natural logarithm of 1 + x.")
tan: _Unary = _unary("tan", "The tangent of an angle in radians.")
cos: _Unary = _unary("cos", "The cosine of an angle in radians.")
cosh: _Unary = _unary("cosh", "The hyperbolic cosine.")
sin: _Unary = _unary("sin", "The sine of an angle in radians.")
sinh: _Unary = _unary("sinh", "The hyperbolic sine.")
asin: _Unary = _unary("asin", "The angle in radians whose sine is `x`.")
acos: _Unary = _unary("acos", "The angle in radians whose cosine is `x`.")
atan: _Unary = _unary("atan", "The angle in radians whose tangent is `x`.")
asinh: _Unary = _unary("asinh", "The inverse of the hyperbolic sine.")
acosh: _Unary = _unary("acosh", "The inverse of the hyperbolic cosine.")
atanh: _Unary = _unary("atanh", "The inverse of the hyperbolic tangent.")
sqrt: _Unary = _unary("sqrt", "The square root.")
rsqrt: _Unary = _unary("rsqrt", "One over the square root.")
floor: _Unary = _unary("floor", "`x`, rounded down.")
ceil: _Unary = _unary("ceil", "`x`, rounded up.")
trunc: _Unary = _unary("trunc", "`x`, rounded towards zero.")
round: _Unary = _unary("round", "`x`, rounded to the nearest integer, halves away from zero.")
nearbyint: _Unary = _unary("nearbyint", "`x`, rounded to the nearest integer, halves to even.")
isnan: _Unary = _unary("isnan", "True where `x` is NaN.", "bool")
isfinite: _Unary = _unary("isfinite", "True where `x` is neither infinite nor NaN.", "bool")
isinf: _Unary = _unary("isinf", "True where `x` is an infinity.", "bool")
