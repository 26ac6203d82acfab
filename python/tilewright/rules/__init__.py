"""A schedule for any te program, by rules from its index maps, without measuring.

`auto_schedule` classifies the stages of a program (`facts`) and groups them into kernels (`groups`). For each kernel,
the first rule that applies decides (`elementwise`, `reductions`, …). The schedule's primitives then carry out the
decisions. A decision is data (`plan`), which `Schedule.explain()` prints.
"""

from .context import Context, Rule, choice
from .groups import Group
from .make import auto_schedule
from .plan import Choice, Decision, Plan

__all__ = ["Choice", "Context", "Decision", "Group", "Plan", "Rule", "auto_schedule", "choice"]
