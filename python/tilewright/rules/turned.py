"""Operands of matmuls in tf32 that lie across K: kernels of their own transpose them where that pays."""

from __future__ import annotations

from dataclasses import replace

from ..devices import GPU
from ..schedules.matmuls.timed_candidates import timed_candidates
from ..te import Expr, Tensor, compute
from ..te.expr import Read
from ..te.tensor import ComputeOp, Operation
from .contraction import Contraction
from .inlining import rewritten
from .tensor_cores import problem_of, timed_tiles

__all__ = ["across_k", "along_k"]

# Of a kernel that transposes: seconds, and the part of the bandwidth of the memory that it has.
_LAUNCH, _OF_BANDWIDTH = 3e-6, 0.8
_ALIGNED = 4  # elements that rows are multiples of for TMA
_LEAST = 64  # rows and columns of a tile


def across_k(found: Contraction, gpu: GPU | None) -> tuple[bool, bool]:
    """Which operands of a matmul to transpose, A first. From shared memory, ``wgmma`` reads tf32 along K alone.
    ``mma.sync`` reads it in any order, at half the rate."""
    none = False, False
    if gpu is None or "wgmma" not in gpu.features or not found.stage.is_static or not found.is_of_matrices:
        return none
    if found.factor_dtypes[0] != "tf32":
        return none
    problem = problem_of(found, "tf32")
    which = problem.turned(swap_ab=False)
    if not any(which) or min(problem.M, problem.N) < _LEAST or problem.K % _ALIGNED:
        return none
    along = replace(problem, layout=f"{problem.layout[0]}T")
    by_warpgroups = min((time for _, time in timed_candidates(along, gpu, "matmul_wgmma")), default=None)
    by_warps = next(iter(timed_tiles(problem, gpu, found.stage.op.dtype).values()), None)
    if by_warpgroups is None or by_warps is None:
        return none
    for turns, rows in zip(which, (problem.M, problem.N)):
        moved = 2.0 * rows * problem.K * problem.batch * problem.item_bytes
        by_warpgroups += turns * (_LAUNCH + moved / (_OF_BANDWIDTH * gpu.bandwidth))
    return which if by_warpgroups < by_warps else none


def along_k(found: Contraction, which: tuple[bool, bool]) -> tuple[Operation, list[Operation]]:
    """The matmul with `which` of its operands transposed, and what transposes them."""
    op = found.stage.op
    assert isinstance(op, ComputeOp)
    instead: dict[Operation, Tensor] = {}
    for access, turns in zip((found.a, found.b), which):
        if turns:
            instead[access.tensor.op] = _transpose(access.tensor)
            instead[access.tensor.op].op.source = op.source

    def replace(expr: Expr) -> Expr | None:
        if not isinstance(expr, Read) or expr.tensor.op not in instead:
            return None
        *outer, row, column = expr.indices
        return Read(instead[expr.tensor.op], (*outer, column, row), expr.source)

    return rewritten(op, replace), [tensor.op for tensor in instead.values()]


def _transpose(tensor: Tensor) -> Tensor:
    *outer, rows, columns = tensor.shape
    return compute(
        (*outer, columns, rows), lambda *at: tensor(*at[:-2], at[-1], at[-2]), name=f"{tensor.op.name}_along_k"
    )
