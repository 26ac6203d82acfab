"""How the threads of a block combine what each of them reduced: the rule of passes/loops-to-gpu/ThreadReduction.cpp."""

from __future__ import annotations

from mlir import ir

from ...ir.attributes import parameters

__all__ = ["Block", "block_of", "combined_by"]

# The threads along each index that a loop is bound to; None where their number is no constant.
Block = dict[str, "int | None"]

_WARP = 32


def block_of(kernel: ir.Operation) -> Block:
    """The threads of the kernel that a nest at the loops stage becomes."""
    block: Block = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "scf.for" and "schedule.bind" in op.attributes:
            tag = str(parameters(op.attributes["schedule.bind"])["thread"])
            if tag.startswith("threadIdx."):
                bound = op.operands[1].owner
                made = None if isinstance(bound, ir.Block) else bound.operation
                constant = made is not None and made.name == "arith.constant"
                block[tag] = ir.IntegerAttr(made.attributes["value"]).value if made is not None and constant else None
        return ir.WalkResult.ADVANCE

    kernel.walk(visit, ir.WalkOrder.PRE_ORDER)
    return block


def combined_by(block: Block, thread: str) -> str:
    """What carries a value from thread to thread along one index of a block.

    >>> combined_by({"threadIdx.x": 32, "threadIdx.y": 4}, "threadIdx.x")
    'by shuffles'
    >>> combined_by({"threadIdx.x": 128}, "threadIdx.x")
    'by shuffles, then in shared memory'
    >>> combined_by({"threadIdx.x": 32, "threadIdx.y": 4}, "threadIdx.y")
    'in shared memory'
    >>> combined_by({"threadIdx.x": 20}, "threadIdx.x")
    'in shared memory'
    """
    total = 1
    for number in block.values():
        if number is None:
            return "in shared memory"
        total *= number
    threads = block[thread] or 1
    # All lanes of a shuffle must be there.
    whole = total % _WARP == 0 or total < _WARP and _is_power_of_2(total)
    if thread == "threadIdx.x" and whole and threads <= _WARP and _is_power_of_2(threads):
        return "by shuffles"
    if thread == "threadIdx.x" and whole and threads % _WARP == 0:
        return "by shuffles, then in shared memory"
    return "in shared memory"


def _is_power_of_2(number: int) -> bool:
    return number & (number - 1) == 0
