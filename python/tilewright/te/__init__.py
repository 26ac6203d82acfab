"""Tensor expressions: what is computed, with the names and meanings of TVM's `te`.

>>> from tilewright import te
>>> A = te.placeholder((64, 32), name="A")
>>> B = te.placeholder((32, 48), name="B")
>>> k = te.reduce_axis((0, 32), name="k")
>>> C = te.compute((64, 48), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
>>> s = te.create_schedule(C.op)
>>> io, jo, ii, ji = s[C].tile(*C.op.axis, 16, 16)
>>> s[C].bind(io, te.thread_axis("blockIdx.y"))
"""

from __future__ import annotations

from collections.abc import Callable as _Callable

from ..tvm_compat.missing_names import attribute_of, provide
from . import functions, hybrid, nodes
from .arguments import Aligned, Pointer, Shape, aligned, pointer, shape
from .autodiff import gradient
from .definitions import compute, placeholder
from .expr import Expr, IterVar, Var
from .extents import Array
from .extern_op import ExternOp, extern
from .functions import *  # noqa: F403
from .hybrid import HybridOp
from .intrinsic import TensorIntrin, decl_tensor_intrin
from .intrinsic_call import TensorComputeOp
from .recurrence import scan
from .reduction import comm_reducer, max, min, prod, reduce_axis, sum
from .scan_stages import ScanOp
from .statements import Buffer
from .strides import Strided, strided
from .tag import tag_scope
from .tensor import ComputeOp, Operation, PlaceholderOp, Tensor, TensorSlice
from .variables import convert

# isort: split
# At the end: a schedule is made of the above.
from . import schedule as schedule
from .schedule import Schedule, Stage, Trace, create_schedule

__all__ = [
    "Aligned", "ComputeOp", "Expr", "ExternOp", "HybridOp", "IterVar", "Operation", "PlaceholderOp", "Pointer",
    "ScanOp", "Schedule", "Shape", "Stage", "Strided", "Tensor", "TensorComputeOp", "TensorSlice", "TensorIntrin",
    "Trace", "Var", "aligned", "comm_reducer", "compute", "create_schedule", "decl_tensor_intrin", "extern",
    "gradient", "hybrid", "max", "min", "placeholder", "pointer", "prod", "reduce_axis", "scan", "shape", "strided",
    "sum", "tag_scope",
]  # fmt: skip
__all__ += functions.__all__

__getattr__: _Callable[[str], object] = attribute_of("te", "module 'tilewright.te'")

# What scripts for TVM look for in modules that te is made on top of.
provide("ir", "Array", Array)
provide("ir", "PrimExpr", Expr)
provide("runtime", "const", functions.const)
provide("runtime", "convert", convert)
provide("te.schedule", "Buffer", Buffer)
provide("te.schedule", "IterVar", IterVar)
provide("te.schedule", "Var", nodes.Var)
provide("te.schedule", "convert", convert)
