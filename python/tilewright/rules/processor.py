"""Which programs for a processor have schedules by rules in models."""

from __future__ import annotations

from collections.abc import Sequence

from ..target import Target
from ..te.schedule import Schedule
from ..te.tensor import Operation
from .contraction import contraction_of
from .facts import Program
from .make import auto_schedule
from .packed_tiles import PackedTiles

__all__ = ["schedule_of_tiles"]


def schedule_of_tiles(outputs: Sequence[Operation], target: Target) -> Schedule | None:
    """The schedule by rules of a program with matmuls whose panels are packed; None of one that has none.

    >>> from tilewright import te
    >>> x = te.placeholder((8,), name="x")
    >>> schedule_of_tiles([te.compute((8,), lambda i: x[i] * 2).op], Target("cpu")) is None
    True
    """
    if all(contraction_of(stage) is None for stage in Program(outputs)):
        return None
    schedule = auto_schedule(outputs, target)
    decisions = schedule.plan.decisions if schedule.plan is not None else ()
    return schedule if any(one.rule == PackedTiles.name for one in decisions) else None
