"""Running results of rows as a user writes them, a scan and its results by rows: one kernel as `ops.cumsum` has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..devices import GPU
from ..schedules.running_sums import COMBINERS, LONGEST, SHORTEST, running_results_of_rows
from ..te import if_then_else
from ..te.derivative import same
from ..te.expr import Call, Const, Expr, IterVar, Previous, Read, Select
from ..te.linear import linear_of
from ..te.program import operations
from ..te.rewrite import rewrite
from ..te.scan_stages import ScanOp
from ..te.schedule import Schedule
from ..te.tensor import ComputeOp, Operation, PlaceholderOp, Tensor
from ..te.walks import parts
from .inlining import inlined, substituted
from .plan import Decision

__all__ = ["Running", "running_in"]

# Stages that are computed in the place of their reads: each multiplies the reads of an element.
_MOST_INLINED = 3


@dataclass(frozen=True, slots=True)
class Running:
    """The running results of a row: the combiner, an element of it, and what the program makes of a result."""

    name = "running results"

    scan: ScanOp
    output: ComputeOp
    combiner: str
    element: Expr  # at the axes of the scan
    result: Read  # of the scan, in `value`
    value: Expr  # at the axes of the output
    is_reversed: bool

    def decision(self) -> Decision:
        names = tuple(op.name for op in operations([self.output])[::-1] if isinstance(op, ComputeOp))
        rows, extent = self.output.shape[:-1], self.output.shape[-1]
        why = f"{' x '.join(map(str, rows)) or 1} rows of {extent} elements, which threads combine in shared memory"
        return Decision(self.name, names, why, (), rules=(self.name,))

    def schedule(self, decision: Decision) -> tuple[Schedule, Tensor]:
        """The schedule, and the result in it."""
        extent = self.output.shape[-1]

        def element(*at: Any) -> Expr:
            step = extent - 1 - at[-1] if self.is_reversed else at[-1]
            return substituted(self.element, dict(zip(self.scan.axis, (step, *at[:-1]), strict=True)))

        def stored(result: Expr, *at: Any) -> Expr:
            axes = dict(zip(map(id, self.output.axis), at, strict=True))
            return rewrite(self.value, lambda part: result if part is self.result else axes.get(id(part)))

        return running_results_of_rows(
            self.combiner, self.output.shape, self.scan.dtype, element, stored, reverse=self.is_reversed,
            name=self.output.name,
        )  # fmt: skip


def running_in(outputs: Sequence[Operation], gpu: GPU | None) -> Running | None:
    """The running results that are all that the program computes; None where there is another stage in it.

    It is a scan of one state, each of which combines the one before and an element of a row. The program stores the
    results by rows, in the order of the elements. What it reads lies along the rows. Of the extents, that of a row
    alone may be symbolic; its results begin with the first then.
    """
    if gpu is None or len(outputs) != 1:
        return None
    (output,) = outputs
    ops = [op for op in operations(outputs) if not isinstance(op, PlaceholderOp)]
    scans = [op for op in ops if isinstance(op, ScanOp)]
    if len(scans) != 1 or len(ops) > 3 + _MOST_INLINED or scans[0].inner or scans[0].num_outputs != 1:
        return None
    if any(not isinstance(op, ComputeOp) or op.reduction is not None or op.num_outputs != 1 for op in ops):
        return None
    if not output.shape or not all(isinstance(extent, int) and extent > 0 for extent in output.shape[:-1]):
        return None
    extent = output.shape[-1]
    if isinstance(extent, int) and not SHORTEST <= extent <= LONGEST:
        return None
    assert isinstance(output, ComputeOp)
    (scan,) = scans
    found = _combined(scan)
    stored = _stored(output, scan, extent)
    if found is None or stored is None or not _lies_along(found[1], scan.axis[0]):
        return None
    return Running(scan, output, found[0], found[1], *stored)


def _combined(scan: ScanOp) -> tuple[str, Expr] | None:
    """The combiner and the elements of a scan, the first of which is what it begins with."""
    (body,) = scan.body
    if not isinstance(body, Select) or not isinstance(body.condition, Call):
        return None
    begin, value = body.condition.args[1], body.false_value
    if not isinstance(begin, Const) or begin.value != 1:
        return None
    if not isinstance(value, Call) or value.op not in COMBINERS or value.dtype != scan.dtype:
        return None
    # The first is the one before in either order, for which the combiners are the same.
    before, element = value.args if isinstance(value.args[0], Previous) else value.args[::-1]
    if (
        not isinstance(before, Previous)
        or before.lag != 1
        or any(isinstance(part, Previous) for part in parts([element]))
    ):
        return None
    first, element = inlined(body.true_value), inlined(element)
    step = scan.axis[0]
    if not same(first, substituted(element, {step: Const(0, step.element_type, step.source)})):
        element = if_then_else(step < 1, first, element)
    return value.op, element


def _stored(output: ComputeOp, scan: ScanOp, extent: int | Expr) -> tuple[Read, Expr, bool] | None:
    """The result that is read, what an element of the output is made of it, and whether rows end with the first."""
    axes = output.axis
    if output is scan:
        result = Read(scan.output(0), tuple(axes), scan.source)
        return (result, result, False) if len(axes) == 1 else None
    value = inlined(output.body[0])
    reads = [part for part in parts([value]) if isinstance(part, Read) and part.tensor.op is scan]
    if not reads or any(not same(read, reads[0]) for read in reads):
        return None
    result = reads[0]
    step, *others = result.indices
    if len(others) != len(axes) - 1 or any(index is not axis for index, axis in zip(others, axes)):
        return None
    place = linear_of(step)
    if place is None or [id(axis) for axis, _ in place.terms.values()] != [id(axes[-1])]:
        return None
    if not _is_same_extent(scan.shape[0], extent):
        return None
    factor = place.of(axes[-1])
    reversed_at = [(-1, extent - 1)] if isinstance(extent, int) else []
    if (factor, place.constant) not in [(1, 0), *reversed_at]:
        return None
    value = rewrite(value, lambda part: result if isinstance(part, Read) and part.tensor.op is scan else None)
    return result, value, factor == -1


def _is_same_extent(a: int | Expr, b: int | Expr) -> bool:
    return same(a, b) if isinstance(a, Expr) and isinstance(b, Expr) else isinstance(a, int) and a == b


def _lies_along(element: Expr, step: IterVar) -> bool:
    """Whether what an element reads lies along the steps: neighbouring threads read neighbours."""
    reads = [part for part in parts([element]) if isinstance(part, Read) and part.indices]
    of_steps = [read for read in reads if any((i := linear_of(index)) is None or i.of(step) for index in read.indices)]
    last = [linear_of(read.indices[-1]) for read in of_steps]
    return bool(last) and all(index is not None and abs(index.of(step)) == 1 for index in last)
