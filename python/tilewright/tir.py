"""The expressions of `te` under the names that scripts for TVM use them by: `tvm.tir.const`, `tvm.tir.if_then_else`.

>>> from tilewright import tir
>>> tir.const(1, "float16").dtype
'float16'
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from .compat import attribute_of
from .te import functions, ir_builder
from .te.expr import Expr as PrimExpr
from .te.expr import ExprLike, IterVar
from .te.functions import *  # noqa: F403
from .te.functions import const, select, var
from .te.ir_builder import decl_buffer
from .te.reduction import comm_reducer, max, min, sum
from .te.statements import Buffer

__all__ = [
    "Add", "And", "Buffer", "Cast", "Div", "EQ", "FloatImm", "FloorDiv", "FloorMod", "GE", "GT", "IntImm", "IterVar",
    "LE", "LT", "Max", "Min", "Mod", "Mul", "NE", "Not", "Or", "PrimExpr", "Select", "SizeVar", "Sub", "Var",
    "comm_reducer", "decl_buffer", "infinity", "ir_builder", "likely", "max", "min", "shift_left", "shift_right", "sum",
]  # fmt: skip
__all__ += functions.__all__

Select = select
Var = var
SizeVar = functions.size_var


def Cast(dtype: object, value: ExprLike) -> PrimExpr:  # noqa: N802
    """``value.astype(dtype)``."""
    return (value if isinstance(value, PrimExpr) else const(value)).astype(dtype)


def IntImm(dtype: object, value: int) -> PrimExpr:  # noqa: N802
    """``const(value, dtype)``."""
    return const(value, dtype)


def FloatImm(dtype: object, value: float) -> PrimExpr:  # noqa: N802
    """``const(value, dtype)``."""
    return const(value, dtype)


def infinity(dtype: object) -> PrimExpr:
    """The largest value of a floating-point type, which is no number.

    >>> infinity("float32")
    inf
    """
    return const(float("inf"), dtype)


def likely(condition: ExprLike) -> ExprLike:
    """The condition itself: that it mostly holds is of no use here."""
    return condition


def _operator(name: str, function: Callable[..., PrimExpr]) -> Callable[..., PrimExpr]:
    """A node of TVM's as the operator that makes it."""

    def node(*args: ExprLike) -> PrimExpr:
        first, *rest = (value if isinstance(value, PrimExpr) else const(value) for value in args)
        return function(first, *rest)

    node.__name__ = node.__qualname__ = name
    node.__doc__ = f"The expression that {function.__name__} makes of its operands."
    return node


Add, Sub, Mul = (_operator(name, getattr(operator, name.lower())) for name in ("Add", "Sub", "Mul"))
Div, Mod = _operator("Div", functions.truncdiv), _operator("Mod", functions.truncmod)
FloorDiv, FloorMod = _operator("FloorDiv", functions.floordiv), _operator("FloorMod", functions.floormod)
Min, Max = _operator("Min", min), _operator("Max", max)
EQ, NE = _operator("EQ", PrimExpr.equal), _operator("NE", operator.ne)
LT, LE, GT, GE = (_operator(name, getattr(operator, name.lower())) for name in ("LT", "LE", "GT", "GE"))
Not = _operator("Not", PrimExpr.__invert__)
And, Or = _operator("And", functions.all), _operator("Or", functions.any)
shift_left, shift_right = functions.left_shift, functions.right_shift

__getattr__ = attribute_of("tir", "module 'tilewright.tir'")
