"""Schedules: how a program is computed, with the names and meanings of TVM's `te.Schedule`.

Each primitive is checked and becomes an op of the `schedule` dialect at the call. A primitive that cannot be raises
`ScheduleError` and leaves the schedule as it was.
"""

from .schedule import Schedule, create_schedule
from .stage import Stage
from .trace import Trace

__all__ = ["Schedule", "Stage", "Trace", "create_schedule"]
