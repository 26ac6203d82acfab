"""Schedules: how a program is computed, with the names and meanings of TVM's `te.Schedule`.

Each primitive is checked and becomes an op of the `schedule` dialect at the call. A primitive that cannot be raises
`ScheduleError` and leaves the schedule as it was.
"""

from __future__ import annotations

from collections.abc import Callable as _Callable

from ...tvm_compat.missing_names import attribute_of
from .bounds import InferBound
from .inlining import AutoInlineBroadcast, AutoInlineElemWise, AutoInlineInjective
from .relations import Fuse, Singleton, Split
from .schedule import Schedule, create_schedule
from .stage import Stage
from .trace import Trace

__all__ = [
    "AutoInlineBroadcast", "AutoInlineElemWise", "AutoInlineInjective", "Fuse", "InferBound", "Schedule", "Singleton",
    "Split", "Stage", "Trace", "create_schedule",
]  # fmt: skip

__getattr__: _Callable[[str], object] = attribute_of("te.schedule", "module 'tilewright.te.schedule'")
