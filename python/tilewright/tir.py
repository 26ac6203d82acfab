"""The expressions of `te` under the names that scripts for TVM use them by: `tvm.tir.const`, `tvm.tir.if_then_else`.

>>> from tilewright import tir
>>> tir.const(1, "float16").dtype
'float16'
"""

from __future__ import annotations

from .compat import attribute_of
from .te import functions
from .te.expr import Expr as PrimExpr
from .te.expr import ExprLike, IterVar
from .te.functions import *  # noqa: F403
from .te.functions import const, select, var
from .te.reduction import comm_reducer, max, min, sum

__all__ = [
    "Cast", "FloatImm", "IntImm", "IterVar", "PrimExpr", "Select", "SizeVar", "Var", "comm_reducer", "max", "min",
    "sum",
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


__getattr__ = attribute_of("tir", "module 'tilewright.tir'")
