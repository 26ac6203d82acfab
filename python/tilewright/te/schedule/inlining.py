"""Stages inlined by what they compute: TVM's ``te.schedule.AutoInlineElemWise`` and its sisters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...errors import TilewrightTypeError as TypeError
from ...messages.location import user_source
from ..expr import Expr, IterVar, Read
from ..scan_stages import ScanOp
from ..tensor import ComputeOp

if TYPE_CHECKING:
    from .schedule import Schedule

__all__ = ["AutoInlineBroadcast", "AutoInlineElemWise", "AutoInlineInjective"]


def AutoInlineElemWise(sch: Schedule) -> None:  # noqa: N802 - TVM's name
    """`compute_inline` of each stage whose elements are of those at the same place of what it reads.

    Stages that a primitive was used on before, outputs, and copies that the schedule made stay.

    >>> from tilewright import te
    >>> A = te.placeholder((64,), name="A")
    >>> B = te.compute((64,), lambda i: A[i] * 2, name="B")
    >>> C = te.compute((64,), lambda i: B[63 - i] + 1, name="C")
    >>> D = te.compute((64,), lambda i: C[i] - 3, name="D")
    >>> s = te.create_schedule(D.op)
    >>> te.schedule.AutoInlineElemWise(s)
    >>> print(s)
    C: global float32[64]
    for i in range(64):  # C
      C[i] = A[-i + 63] * 2.0 + 1.0
    for i in range(64):  # D
      D[i] = C[i] - 3.0
    """
    _inline(sch, "AutoInlineElemWise", lambda op: _reads_in_order(op, whole=True))


def AutoInlineBroadcast(sch: Schedule) -> None:  # noqa: N802
    """The same of stages that also read some of the axes alone, in their order: ``A[i, j] + b[j]``."""
    _inline(sch, "AutoInlineBroadcast", lambda op: _reads_in_order(op, whole=False))


def AutoInlineInjective(sch: Schedule) -> None:  # noqa: N802
    """The same of every stage without a reduction."""
    _inline(sch, "AutoInlineInjective", lambda op: True)


def _inline(sch: Schedule, what: str, is_meant: Callable[[ComputeOp], bool]) -> None:
    from .schedule import Schedule

    if not isinstance(sch, Schedule):
        raise TypeError(f"{user_source()}: {what}: expected a schedule, got {sch!r}")
    for stage in sch.stages:
        op = stage.op
        if not isinstance(op, ComputeOp) or isinstance(op, ScanOp) or op.reduction is not None or stage.is_output:
            continue
        if not stage.is_scheduled and is_meant(op):
            stage.compute_inline()


def _reads_in_order(op: ComputeOp, whole: bool) -> bool:
    """Whether each read is at the axes themselves, in order: all of them, or also some."""
    todo: list[Expr] = list(op.body)
    seen: set[int] = set()
    while todo:
        expr = todo.pop()
        if id(expr) in seen:
            continue
        seen.add(id(expr))
        if isinstance(expr, Read):
            places = [_place(index, op.axis) for index in expr.indices]
            if -1 in places or (places != list(range(len(op.axis))) if whole else places != sorted(set(places))):
                return False
        todo.extend(expr.operands())
    return True


def _place(index: Expr, axes: tuple[IterVar, ...]) -> int:
    """Which of the axes an index is, or -1."""
    return next((place for place, axis in enumerate(axes) if axis is index), -1)
