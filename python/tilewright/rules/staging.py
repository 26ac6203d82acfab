"""What a kernel of its own stores before a contraction reads it, as its tiles would compute each element many times."""

from __future__ import annotations

from math import prod

from ..devices import GPU
from ..te.expr import Select
from ..te.tensor import ComputeOp
from .context import item_bytes
from .contraction import Contraction, contraction_of
from .facts import Access, Program, StageFacts, extent_of, size_of

__all__ = ["operands_to_store", "slides", "takes_copies"]

# What multiplications reach of their peak, and copies of the bandwidth. A kernel more, of which the next hides a part.
_OF_PEAK, _OF_BANDWIDTH, _LAUNCH = 0.7, 0.8, 3e-6
# Copies may take so much of the time of a contraction.
_OF_CONTRACTION = 0.2
# Rows or columns that a tile has about, so that others compute an element of an operand again. Instructions that a
# condition costs, and each element more that is read. Instructions that an SM begins in a cycle, on 32 lanes each.
_OF_TILE, _OF_SELECT, _OF_READ, _ISSUED = 128, 4, 6, 4


def slides(found: Contraction, access: Access) -> bool:
    """Whether an operand is read by windows: at sums of places of the results and places along K."""
    reduced = {id(axis) for axis in found.k}
    keys = [index.terms.keys() for index in access.indices if index is not None]
    return any(reduced & key and key - reduced for key in keys)


def takes_copies(found: Contraction, gpu: GPU) -> bool:
    """Whether it is a convolution of float32 that takes so long that copies of images and filters are a small part."""
    if not _is_float32(found) or slides(found, found.a) == slides(found, found.b):
        return False
    copied = sum(4 * prod(map(extent_of, access.tensor.shape)) for access in (found.a, found.b))
    seconds = 2.0 * found.stage.work / (_OF_PEAK * gpu.peak("fma", "float32"))
    return _copying(copied, gpu) <= _OF_CONTRACTION * seconds


def _is_float32(found: Contraction) -> bool:
    return found.stage.is_static and {*found.operand_dtypes, found.stage.op.dtype} == {"float32"}


def _copying(moved: int, gpu: GPU) -> float:
    """The seconds in which so many bytes are read, and written."""
    return 2.0 * moved / (_OF_BANDWIDTH * gpu.bandwidth) + _LAUNCH


def operands_to_store(program: Program, gpu: GPU) -> list[StageFacts]:
    """Operands of matmuls whose elements cost more to compute in each tile than to store once. They are made of several
    elements, or of one under a condition."""
    found: list[StageFacts] = []
    for stage in program:
        contraction = contraction_of(stage)
        if contraction is None or not contraction.is_of_matrices or not _is_float32(contraction):
            continue
        for access, others in ((contraction.a, contraction.N), (contraction.b, contraction.M)):
            operand = program.stages.get(access.tensor.op)
            if operand is None or operand.op in program.apart or operand.readers != [stage]:
                continue
            if _costs_more(operand, others, access, gpu):
                found.append(operand)
    return found


def _costs_more(operand: StageFacts, others: int, access: Access, gpu: GPU) -> bool:
    op = operand.op
    if not isinstance(op, ComputeOp) or op.reduction is not None or op.num_outputs > 1:
        return False
    instructions = _OF_READ * (len(operand.accesses) - 1) + (_OF_SELECT if isinstance(op.body[0], Select) else 0)
    lanes = _ISSUED * 32 * gpu.sms * gpu.clock_hz
    again = -(-others // _OF_TILE) * operand.size * instructions / lanes
    return again > _copying(size_of(operand.spatial) * item_bytes(access.tensor), gpu)
