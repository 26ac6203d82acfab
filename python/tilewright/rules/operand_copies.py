"""Operands of matmuls that warpgroups cannot read as they lie: kernels of their own copy them where that pays.

From shared memory, ``wgmma`` reads tf32 along K alone. TMA steps over rows of multiples of 16 bytes alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..devices import GPU, MOST_BLOCKS_YZ
from ..instructions import WGMMA
from ..schedules.extents import round_up
from ..schedules.matmuls.mma import COPY
from ..schedules.matmuls.problem import Problem
from ..schedules.matmuls.timed_candidates import timed_candidates
from ..te import Expr, Tensor, compute, if_then_else
from ..te.expr import Read
from ..te.tensor import ComputeOp, Operation
from .context import item_bytes
from .contraction import Contraction
from .inlining import rewritten
from .tensor_cores import most_parts, problem_of, rows_are_aligned, timed_tiles

__all__ = ["LEAST_OF_MANY", "OperandCopies", "copied", "copies_before", "has_tiles"]

# Of a kernel that transposes: seconds, and the part of the bandwidth of the memory that it has.
_LAUNCH, _OF_BANDWIDTH = 3e-6, 0.8
_LEAST = 64  # rows and columns of a tile
LEAST_OF_MANY = 512
"""The bytes of a row of K of one of many matmuls, below which the epilogue decides: few warps an SM compute it."""


@dataclass(frozen=True, slots=True)
class OperandCopies:
    """Which operands are copied, A first: transposed, or with longer rows."""

    turned: tuple[bool, bool]
    padded: tuple[bool, bool]


def copies_before(found: Contraction, gpu: GPU | None) -> OperandCopies | None:
    """The copies with which warpgroups take a matmul, None without any.

    ``mma.sync`` reads operands as they lie, at half the rate, and rows of odd lengths element by element.
    """
    if gpu is None or "wgmma" not in gpu.features or not found.stage.is_static or not found.is_of_matrices:
        return None
    dtype, other = found.factor_dtypes
    if dtype != other or (dtype, found.stage.op.dtype) not in WGMMA:
        return None
    problem = problem_of(found, dtype)
    turned = problem.turned(swap_ab=False)
    if any(turned) and dtype != "tf32" or not has_tiles(problem):
        return None
    if problem.batch > 1 and problem.K * problem.item_bytes < LEAST_OF_MANY:
        return None
    along = replace(problem, layout=f"{problem.layout[0]}T") if turned[1] else problem
    is_aligned = rows_are_aligned(problem, found)
    padded = not is_aligned[0] and not turned[0], not is_aligned[1] and not turned[1]
    if not any(turned) and not any(padded):
        return None
    by_warps = _by_warps(found, problem, gpu)
    # The model knows of copies to longer rows where the extents are no multiples.
    by_warpgroups = min((time for _, time in timed_candidates(along, gpu, "matmul_wgmma")), default=None)
    if by_warpgroups is None or by_warps is None:
        return None
    for turns, pads, is_whole, rows in zip(turned, padded, along.is_aligned, (problem.M, problem.N)):
        moved = 2.0 * rows * problem.K * problem.batch * problem.item_bytes
        if turns or pads and is_whole:
            by_warpgroups += _LAUNCH + moved / (_OF_BANDWIDTH * gpu.bandwidth)
    return OperandCopies(turned, padded) if by_warpgroups < by_warps else None


def has_tiles(problem: Problem) -> bool:
    """Whether warpgroups have tiles of so many rows and columns, and blocks for so many matmuls."""
    return min(problem.M, problem.N) >= _LEAST and problem.batch <= MOST_BLOCKS_YZ


def _by_warps(found: Contraction, problem: Problem, gpu: GPU) -> float | None:
    """The seconds that ``mma.sync`` may take for operands as they lie."""
    parts = most_parts(found, problem)
    return next(iter(timed_tiles(problem, gpu, found.stage.op.dtype, parts=parts).values()), None)


def copied(found: Contraction, copies: OperandCopies) -> tuple[Operation, list[Operation]]:
    """The matmul of operands that are copied, and what copies them."""
    op = found.stage.op
    assert isinstance(op, ComputeOp)
    instead: dict[Operation, tuple[Tensor, bool]] = {}
    for access, turns, pads in zip((found.a, found.b), copies.turned, copies.padded):
        if turns or pads:
            instead[access.tensor.op] = _copy(access.tensor, turns), turns
            instead[access.tensor.op][0].op.source = op.source

    def replace(expr: Expr) -> Expr | None:
        if not isinstance(expr, Read) or expr.tensor.op not in instead:
            return None
        tensor, turns = instead[expr.tensor.op]
        *outer, row, column = expr.indices
        return Read(tensor, (*outer, *((column, row) if turns else (row, column))), expr.source)

    return rewritten(op, replace), [tensor.op for tensor, _ in instead.values()]


def _copy(tensor: Tensor, turns: bool) -> Tensor:
    """The tensor, transposed or not, with zeros behind rows that are no multiples of 16 bytes."""
    *outer, rows, columns = tensor.shape
    if turns:
        rows, columns = columns, rows
    length = round_up(columns, COPY // item_bytes(tensor))

    def element(*at: Expr) -> Expr:
        value = tensor(*at[:-2], at[-1], at[-2]) if turns else tensor(*at)
        return value if length == columns else if_then_else(at[-1] < columns, value, 0)

    return compute((*outer, rows, length), element, name=f"{tensor.op.name}_{'along_k' if turns else 'padded'}")
