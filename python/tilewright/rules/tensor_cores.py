"""Products of matrices by tensor cores."""

from __future__ import annotations

from ..te.schedule import Schedule
from .context import Context
from .groups import Group
from .plan import Decision

__all__ = ["TensorCores"]


class TensorCores:
    name = "tensor cores"

    def decide(self, context: Context, group: Group) -> Decision | None:
        return None

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None: ...
