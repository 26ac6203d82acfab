"""Matmuls whose results are stored as the transpose, as the product of the operands' transposes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy

from ..te.expr import Call, Expr, Read, ReduceItem
from ..te.rewrite import rewrite
from ..te.scan_stages import ScanOp
from ..te.tensor import ComputeOp, Operation
from .contraction import contraction_of
from .facts import Kind, Program, StageFacts
from .inlining import rewritten

__all__ = ["as_stored_in_rows"]


def as_stored_in_rows(outputs: Sequence[Operation]) -> Mapping[Operation, Operation]:
    """What stands for the operations of a program whose matmuls have the rows that are stored; nothing where all have.

    What is made of a result and read or stored as its transpose is a row of tiles down a column in memory. Rows and
    columns of the matmul change places; its operands stay as they lie.
    """
    program = Program(outputs)
    turned = {stage.op for stage in program if _is_stored_down(stage)}
    instead: dict[Operation, Operation] = {}
    if not turned:
        return instead
    for stage in program:
        op, now = stage.op, stage.op
        if any(tensor.op in instead for tensor in op.input_tensors):
            if not isinstance(op, ComputeOp) or isinstance(op, ScanOp):
                return {}
            now = _reading(op, instead, turned)
        if op in turned:
            assert isinstance(now, ComputeOp)
            now = _turned(now)
        if now is not op:
            instead[op] = now
    return instead


def _is_stored_down(stage: StageFacts) -> bool:
    """Whether rows of a matmul become the last axis of what the maps behind it store."""
    found = contraction_of(stage)
    if found is None or not found.is_of_matrices or stage.op.num_outputs > 1:
        return False
    places = list(range(len(stage.spatial)))  # where its axes are in what is made of it
    while not stage.is_output and len(stage.readers) == 1:
        reader = stage.readers[0]
        reads = [access.axes for access in reader.reads_of(stage.op)]
        own = [id(axis) for axis in reader.spatial]
        if reader.kind != Kind.MAP or reader.op.num_outputs > 1 or any(axes != reads[0] for axes in reads):
            break
        if sorted(map(id, reads[0])) != sorted(own):
            break
        places = [own.index(id(reads[0][place])) for place in places]
        stage = reader
    return places[-2] == len(places) - 1


def _reading(op: ComputeOp, instead: Mapping[Operation, Operation], turned: set[Operation]) -> ComputeOp:
    """The operation reading what stands for others, at the same elements."""

    def replace(expr: Expr) -> Expr | None:
        if not isinstance(expr, Read) or expr.tensor.op not in instead:
            return None
        indices = [rewrite(index, replace) for index in expr.indices]
        if expr.tensor.op in turned:
            indices[-2:] = indices[:-3:-1]
        return Read(instead[expr.tensor.op].output(expr.tensor.value_index), tuple(indices), expr.source)

    return rewritten(op, replace)


def _turned(op: ComputeOp) -> ComputeOp:
    """The same elements, rows and columns in each other's place, and so the operands."""
    *axes, row, column = op.axis
    *shape, rows, columns = op.shape
    reduction = copy(op.reduction)
    assert reduction is not None
    product = copy(reduction.exprs[0])
    assert isinstance(product, Call)
    product.args = product.args[::-1]
    reduction.exprs = (product,)
    made = ComputeOp(op.name, (*axes, column, row), (*shape, columns, rows), (ReduceItem(reduction, 0),), op.source)
    made.attrs = op.attrs
    return made
