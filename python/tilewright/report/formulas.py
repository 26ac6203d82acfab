"""What the numbers of launches are computed by, as formulas of the extents."""

from __future__ import annotations

from mlir import ir

from ..te.schedule.expressions import Expressions

__all__ = ["NUMBERS", "formulas", "ops_of"]

NUMBERS = ("grid.x", "grid.y", "grid.z", "block.x", "block.y", "block.z")
# Of gpu.launch_func the groups of operands: what it waits for, grid, block, cluster, shared memory, arguments.
_FIRST, _SHARED = 1, 10


def formulas(module: ir.Module | None) -> dict[str, dict[str, str]]:
    """By kernel of a module of stage gpu, what each number of its launch is computed by:
    {"f_kernel0": {"grid.x": "(n + 31) // 32", …}}."""
    found: dict[str, dict[str, str]] = {}
    for function in (op.operation for op in module.body if op.operation.name == "func.func") if module else ():
        expressions = Expressions(function)
        for op in ops_of(function):
            if op.name != "gpu.launch_func":
                continue
            counts = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
            begin = sum(counts[:_FIRST])
            texts = {name: expressions.of(op.operands[begin + number]).text for number, name in enumerate(NUMBERS)}
            if counts[_SHARED]:
                texts["shared"] = expressions.of(op.operands[sum(counts[:_SHARED])]).text
            found[str(op.attributes["kernel"]).rpartition("@")[2].strip('"')] = texts
    return found


def ops_of(root: ir.Operation) -> list[ir.Operation]:
    """An op and all ops in its regions, each before those in its own."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        found.append(op)
        return ir.WalkResult.ADVANCE

    root.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found
