"""The expressions of `te` under the names that scripts for TVM use them by: `tvm.tir.const`, `tvm.tir.if_then_else`.

TVM's classes make the expressions that they name, and `isinstance` tells which an expression is.

>>> from tilewright import tir
>>> tir.const(1, "float16").dtype
'float16'
>>> isinstance(tir.Var("x", "int32") + 1, tir.Add), isinstance(tir.IntImm("int32", 3), tir.IntImm)
(True, True)
"""

from __future__ import annotations

from collections.abc import Callable as _Callable

from .errors import ScheduleError
from .te import functions, ir_builder, nodes
from .te.expr import Expr as PrimExpr
from .te.expr import ExprLike, IterVar
from .te.fragments import call_intrin, fragment_calls
from .te.functions import *  # noqa: F403  # pyright: ignore[reportAssignmentType]  # reinterpret is another
from .te.ir_builder import decl_buffer
from .te.nodes import *  # noqa: F403
from .te.reduction import comm_reducer, max, min, sum
from .te.statements import Buffer
from .te.tensor import Tensor as DataProducer
from .te.variables import const, convert
from .tvm_compat.missing_names import attribute_of

__all__ = [
    "Buffer", "DataProducer", "IterVar", "PrimExpr", "ScheduleError", "call_intrin", "comm_reducer", "convert",
    "decl_buffer", "infinity", "ir_builder", "likely", "max", "min", "pow", "shift_left", "shift_right", "sum",
]  # fmt: skip
__all__ += functions.__all__
__all__ += nodes.__all__
__all__ += ["tvm_fill_fragment", "tvm_load_matrix_sync", "tvm_mma_sync", "tvm_store_matrix_sync"]

_Binary = _Callable[[ExprLike, ExprLike], PrimExpr]
pow: _Binary = functions.power
shift_left: _Binary = functions.left_shift
shift_right: _Binary = functions.right_shift
tvm_fill_fragment: _Callable[..., object] = fragment_calls["tvm_fill_fragment"]
tvm_load_matrix_sync: _Callable[..., object] = fragment_calls["tvm_load_matrix_sync"]
tvm_mma_sync: _Callable[..., object] = fragment_calls["tvm_mma_sync"]
tvm_store_matrix_sync: _Callable[..., object] = fragment_calls["tvm_store_matrix_sync"]


def reinterpret(dtype: object, value: ExprLike) -> PrimExpr:  # noqa: F811
    """`te.reinterpret`, with TVM's order of arguments."""
    return functions.reinterpret(value, dtype)


def infinity(dtype: object) -> PrimExpr:
    """The largest value of a floating-point type, which is no number.

    >>> infinity("float32")
    inf
    """
    return const(float("inf"), dtype)


def likely(condition: ExprLike) -> ExprLike:
    """The condition itself: that it mostly holds is of no use here."""
    return condition


__getattr__: _Callable[[str], object] = attribute_of("tir", "module 'tilewright.tir'")
