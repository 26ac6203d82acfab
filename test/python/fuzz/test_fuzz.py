"""Random programs with random schedules, on the simulator with all checks and on the processor.

A schedule is applied and its result is exact, or it is refused; `python bench/fuzz_cuda.py` does the same on a GPU.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from fuzz.check import check, is_clear
from fuzz.choices import Choices
from fuzz.mutations import mutated
from fuzz.programs import Program, random_program
from fuzz.schedules import Scheduler
from tilewright import ScheduleError, te

SCHEDULES, MUTATIONS, PROGRAMS, MANY = 250, 150, 100, 4000


def options(examples: int) -> dict[str, Any]:
    """Few examples are always the same, for CI; many are others each time, and are shrunk."""
    return {
        "max_examples": examples,
        "deadline": None,
        "database": None,
        "derandomize": examples < MANY,
        "print_blob": True,
        "suppress_health_check": list(HealthCheck),
    }


class Drawn:
    """Decisions that hypothesis draws: the less of each, the simpler."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))


@st.composite
def programs(draw) -> Program:
    return random_program(Choices(Drawn(draw)))


@st.composite
def scheduled(draw) -> tuple[Program, Scheduler, str]:
    """A program with its schedule, and why the schedule was refused as it was made, if it was."""
    choices = Choices(Drawn(draw))
    program = random_program(choices)
    scheduler = Scheduler(choices, program)
    try:
        scheduler.run()
    except ScheduleError as error:
        return program, scheduler, str(error)
    return program, scheduler, ""


def fuzz(examples: int) -> None:
    seen: Counter[str] = Counter()

    @settings(**options(examples))
    @given(scheduled())
    def run(case: tuple[Program, Scheduler, str]) -> None:
        program, scheduler, refused = case
        note(f"{program.text}\n{scheduler.schedule.trace()}")
        seen["all"] += 1
        try:
            if not refused:
                check(program, scheduler.schedule, "sim")
        except ScheduleError as error:
            refused = str(error)
        if refused:
            note(refused)
            assert is_clear(refused)
            seen["refused"] += 1

    run()
    # Else the generator is no good: it means to make legal ones.
    assert seen["refused"] < seen["all"] / 10


def fuzz_mutations(examples: int) -> None:
    seen: Counter[str] = Counter()

    @settings(**options(examples))
    @given(st.data())
    def run(data: st.DataObject) -> None:
        choices = Choices(Drawn(data.draw))
        program = random_program(choices)
        scheduler = Scheduler(choices, program)
        schedule = te.create_schedule(list(scheduler.schedule.outputs))
        try:
            scheduler.run()
        except ScheduleError:
            pass  # the calls so far will do
        trace = mutated(scheduler.schedule.trace(), choices)
        note(f"{program.text}\n{trace}")
        try:
            trace.apply(schedule)
            check(program, schedule, "sim")
        except ScheduleError as error:
            note(str(error))
            assert is_clear(str(error))
            seen["refused"] += 1
        else:
            seen["right"] += 1

    run()
    assert seen["refused"] > examples / 10 and seen["right"] > examples / 10


def fuzz_programs(examples: int) -> None:
    @settings(**options(examples))
    @given(programs())
    def run(program: Program) -> None:
        note(program.text)
        check(program, te.create_schedule(list(dict.fromkeys(value.tensor.op for value in program.outputs))), "cpu")

    run()


def test_schedules() -> None:
    fuzz(SCHEDULES)


def test_mutations_are_refused_or_right() -> None:
    fuzz_mutations(MUTATIONS)


def test_programs_on_the_processor() -> None:
    fuzz_programs(PROGRAMS)


@pytest.mark.slow
def test_many_schedules() -> None:
    fuzz(MANY)


@pytest.mark.slow
def test_many_mutations_are_refused_or_right() -> None:
    fuzz_mutations(MANY)


@pytest.mark.slow
def test_many_programs_on_the_processor() -> None:
    fuzz_programs(MANY)
