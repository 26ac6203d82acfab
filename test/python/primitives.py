"""The primitives of the public schedule language, for tests that go through all of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tilewright.te.schedule import Schedule, Stage
from tilewright.te.schedule.group import Group

# What a schedule has besides primitives.
NO_PRIMITIVES: dict[type, set[str]] = {
    Schedule: {
        "add_stage",
        "apply",
        "emit",
        "explain",
        "find_stage",
        "ir",
        "name_of",
        "stage_of_axis",
        "trace",
    },
    Stage: {
        "axes_at",
        "axis_handle",
        "factored_axes",
        "forget_unused_axes",
        "has_axis",
        "loops",
        "loops_at",
        "replace_op",
        "spatial_leaves",
        "spatial_loops",
    },  # fmt: skip
    Group: set(),
}
PRIMITIVES: dict[str, Callable[..., Any]] = {
    f"{owner.__name__}.{name}": method
    for owner, others in NO_PRIMITIVES.items()
    for name, method in inspect.getmembers(owner, inspect.isfunction)
    if not name.startswith("_") and name not in others
}
