"""A schedule for any te program, by rules from its index maps, without measuring.

`auto_schedule` classifies the stages of a program (`facts`), puts them together in kernels (`groups`), lets the first
rule decide that is for such a kernel (`elementwise`, `reductions`, …), and uses the primitives that the decisions say.
What was decided is data (`plan`), which `Schedule.explain()` prints.
"""

from .context import Context, Rule, choice
from .groups import Group
from .make import auto_schedule
from .plan import Choice, Decision, Plan

__all__ = ["Choice", "Context", "Decision", "Group", "Plan", "Rule", "auto_schedule", "choice"]
