"""Sums of all elements of rows that have reductions of their own, as losses have them: those of each row first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from ..te import Expr, IterVar, compute, reduce_axis, sum
from ..te.expr import Read
from ..te.linear import linear_of
from ..te.scan_stages import ScanOp
from ..te.tensor import ComputeOp, Operation, Tensor
from ..te.walks import parts
from .contraction import contraction_of
from .facts import Program, extent_of, is_static
from .inlining import inlined, substituted
from .matrices import replaced

__all__ = ["SumsByRows", "sums_by_rows"]

# So few rows do not keep a GPU busy, and so many elements of a row no block keeps.
_FEWEST, _LONGEST = 32, 40960


@dataclass(slots=True)
class SumsByRows:
    """What stands for operations, and the stages with a sum of each row."""

    instead: dict[Operation, Operation] = field(default_factory=dict[Operation, Operation])
    rows: list[Operation] = field(default_factory=list[Operation])


def sums_by_rows(program: Program) -> SumsByRows:
    """A program whose sums are taken of each row first; nothing stands for operations where no sum is such.

    A sum of all elements is a kernel of its own, and so is each reduction of rows that the elements are made of. The
    sum of a row is computed where the other reductions of that row are, in one kernel. Another one adds up the rows.
    """
    made = SumsByRows()

    def change(op: Operation, now: Operation) -> Operation:
        if not isinstance(op, ComputeOp) or not isinstance(now, ComputeOp):
            return now
        rows = _rows_of(program, op)
        if not rows:
            return now
        each, now = _by_rows(now, [place for place, axis in enumerate(op.reduce_axis) if axis in rows])
        made.rows.append(each)
        return now

    made.instead = replaced(program, change)
    return made if made.instead else SumsByRows()


def _rows_of(program: Program, op: ComputeOp) -> Sequence[IterVar]:
    """The axes of a sum that count rows with at least one more reduction each; none where that is no use."""
    reduction = op.reduction
    if reduction is None or reduction.name != "sum" or isinstance(op, ScanOp) or prod(map(extent_of, op.shape)) != 1:
        return ()
    axes = reduction.axis
    if not is_static(axes) or any(axis.dom is None or axis.dom.min for axis in axes):
        return ()
    others, rows = dict[Operation, None](), list[IterVar]()
    for read in _reads(inlined(reduction.exprs[0])):
        of_read = read.tensor.op
        if not isinstance(of_read, ComputeOp) or of_read.reduction is None:
            continue
        if contraction_of(program.stages[of_read]) is not None:
            return ()
        indices = [linear_of(index) for index in read.indices]
        own = [axis for axis in axes if any(index is None or index.of(axis) for index in indices)]
        if others and own != rows:
            return ()
        rows = own
        others[of_read] = None
    columns = [axis for axis in axes if axis not in rows]
    extents = {tuple(_extents(one.reduce_axis)) for one in others}
    if not rows or len(extents) != 1 or prod(_extents(rows)) < _FEWEST:
        return ()
    (extent,) = extents
    is_alike = extent == tuple(_extents(columns)) if columns else len(others) > 1
    return rows if is_alike and prod(extent) <= _LONGEST else ()


def _reads(expr: Expr) -> list[Read]:
    return [part for part in parts([expr]) if isinstance(part, Read)]


def _extents(axes: Sequence[IterVar]) -> list[int]:
    return [extent_of(axis.dom.extent) if axis.dom is not None else 1 for axis in axes]


def _by_rows(op: ComputeOp, rows: Sequence[int]) -> tuple[Operation, Operation]:
    """What each row adds up to, and the sum of that."""
    reduction = op.reduction
    assert reduction is not None
    own = [reduction.axis[place] for place in rows]
    columns = [axis for axis in reduction.axis if axis not in own]
    spatial = {axis: 0 for axis in op.axis}

    def of_row(*at: Expr) -> Expr:
        others = [reduce_axis((0, extent), axis.name) for axis, extent in zip(columns, _extents(columns))]
        places: Mapping[IterVar, object] = {**spatial, **dict(zip(own, at)), **dict(zip(columns, others))}
        value = substituted(reduction.exprs[0], places)
        # Of an element at a place that data decides, no axis would say which row it is of.
        return sum(value, axis=others) if others else inlined(value)

    each = _from(op, compute(_extents(own), of_row, name=f"{op.name}_of_row"))
    along = [reduce_axis((0, extent), axis.name) for axis, extent in zip(own, _extents(own))]
    return each.op, _from(op, compute(op.shape, lambda *_: sum(each(*along), axis=along), name=op.name)).op


def _from(op: ComputeOp, made: Tensor) -> Tensor:
    """Errors and views name the line of the sum."""
    made.op.source = op.source
    return made
