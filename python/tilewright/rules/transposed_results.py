"""Matmuls whose results are stored as the transpose, as the product of the operands' transposes."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy

from ..te.expr import Call, ReduceItem
from ..te.tensor import ComputeOp, Operation
from .contraction import contraction_of
from .facts import Kind, Program, StageFacts, is_static
from .matrices import replaced

__all__ = ["as_stored_in_rows"]


def as_stored_in_rows(program: Program) -> Mapping[Operation, Operation]:
    """What stands for the operations of a program whose matmuls have the rows that are stored; nothing where all have.

    What is made of a result and read or stored as its transpose is a row of tiles down a column in memory. Rows and
    columns of the matmul change places; its operands stay as they lie.
    """
    turned = {stage.op for stage in program if _is_stored_down(stage)}
    return replaced(program, lambda op, now: _turned(now) if op in turned else now, turned) if turned else {}


def _is_stored_down(stage: StageFacts) -> bool:
    """Whether rows of a matmul, of known number, become the last axis of what the maps behind it store."""
    found = contraction_of(stage)
    if found is None or not found.is_of_matrices or stage.op.num_outputs > 1 or not is_static(stage.spatial[-2:]):
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


def _turned(op: Operation) -> ComputeOp:
    """The same elements, rows and columns in each other's place, and so the operands."""
    assert isinstance(op, ComputeOp)
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
