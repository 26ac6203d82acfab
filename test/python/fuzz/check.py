"""Runs a program with a schedule and compares with the exact result."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import tilewright as tw
from fuzz.program import Program
from tilewright import testing
from tilewright.te import Schedule


def check(program: Program, schedule: Schedule, target: str, built: Callable[[], object] = lambda: None) -> None:
    """Raises AssertionError where a result is wrong, SimulationError where the simulator found something, and
    ScheduleError where the schedule is refused. Calls `built` before the function is run."""
    function = tw.build(schedule, program.args, target=target, name="fuzzed")
    built()
    outputs = [(value.shape, value.dtype) for value in program.outputs]
    try:
        for value, got in zip(program.outputs, testing.run(function, program.arrays(), outputs)):
            np.testing.assert_array_equal(got.astype(np.float64), value.exact, err_msg=f"{value.name} on {target}")
    except (AssertionError, tw.SimulationError) as error:
        raise type(error)(f"{error}\n{bisected(program, schedule, target)}") from None


def bisected(program: Program, schedule: Schedule, target: str) -> str:
    """The stage and the pass that made it wrong, as far as that can be told."""
    try:
        return str(testing.bisect(schedule, program.args, target, "fuzzed", inputs=program.arrays()))
    except (tw.TilewrightError, TypeError, ValueError) as error:
        return f"bisect: {error}"


def is_clear(refusal: str) -> bool:
    """True for what a user can read: the place, what was expected, and nothing of the compiler's inside."""
    first = refusal.splitlines()[0]
    told = "expected" in first or "is not bound" in first
    inside = ("'memref", "'scf", "'llvm", "'builtin", "failed to", "unrealized", "verif", "dominate")
    return ": error: " in first and told and not any(word in refusal for word in inside)
