"""Random programs with random schedules, on the simulator with all checks and on the processor.

A schedule is applied and its result is exact, or it is refused; `python bench/fuzz_cuda.py` does the same on a GPU.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import tilewright as tw
from fuzz.check import check, is_clear
from fuzz.choices import Choices, Seeded
from fuzz.coverage import WANTED, called, features
from fuzz.mutations import mutated
from fuzz.program import Program
from fuzz.programs import random_program
from fuzz.schedules import Scheduler
from tilewright import ScheduleError, te, testing

SCHEDULES, MUTATIONS, PROCESSOR, MANY = 300, 150, 100, 4000
PART = 50  # of the seeds: parts run in several processes
FEW = 15  # in the suite


def options(examples: int) -> dict[str, Any]:
    """Few examples are always the same, for CI; many are others each time. Both are shrunk."""
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


@dataclass
class Case:
    """A program with its schedule, the primitives in it, and why it was refused as it was made, if it was."""

    program: Program
    scheduler: Scheduler
    calls: set[str]
    refused: str = ""

    def __str__(self) -> str:
        return f"{self.program.text}\n{self.scheduler.schedule.trace()}"


def make(choices: Choices, target: str) -> Case:
    program = random_program(choices, on_threads=target != "cpu")
    case = Case(program, Scheduler(choices, program, target), set())
    try:
        with called(case.calls):
            case.scheduler.run()
    except ScheduleError as error:
        case.refused = str(error)
    return case


@st.composite
def cases(draw, target: str) -> Case:
    return make(Choices(Drawn(draw)), target)


class Tally:
    """Runs cases and counts."""

    def __init__(self, target: str) -> None:
        self.target, self.all, self.refused = target, 0, 0
        self.tried: set[str] = set()
        """What there was in the cases that were right."""

    def run(self, case: Case) -> None:
        self.all += 1
        refused = case.refused
        try:
            if not refused:
                check(case.program, case.scheduler.schedule, self.target)
        except ScheduleError as error:
            refused = str(error)
        if refused:
            assert is_clear(refused), refused
            self.refused += 1
        else:
            self.tried |= case.calls | features(case.program, case.scheduler)

    def check(self) -> None:
        """Else the generator is no good: it means to make legal ones."""
        assert self.refused < self.all / 10


@functools.cache
def run_part(first: int, target: str, count: int = PART) -> Tally:
    """Cases of seeds: the same each time, and spread over all that there is."""
    tally = Tally(target)
    for seed in range(first, first + count):
        case = make(Choices(Seeded(seed)), target)
        try:
            tally.run(case)
        except Exception as error:
            raise AssertionError(f"seed {seed}, target {target}: {error}\n{case}") from error
    return tally


def run_in_ci(examples: int, target: str) -> Tally:
    """All parts together."""
    tally = Tally(target)
    for first in range(0, examples, PART):
        part = run_part(first, target)
        tally.all += part.all
        tally.refused += part.refused
        tally.tried |= part.tried
    tally.check()
    return tally


def fuzz(examples: int, target: str) -> None:
    tally = Tally(target)

    @settings(**options(examples))
    @given(cases(target))
    def run(case: Case) -> None:
        note(str(case))
        tally.run(case)

    run()
    tally.check()


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


@pytest.mark.parametrize("target", ["sim", "cpu"])
def test_a_few_schedules(target: str) -> None:
    assert run_part(0, target, FEW).refused < FEW / 5


@pytest.mark.sweep
@pytest.mark.parametrize("first", range(0, SCHEDULES, PART))
def test_schedules(first: int) -> None:
    assert run_part(first, "sim").refused < PART / 5  # of all parts together: less than a tenth, as below


@pytest.mark.sweep
@pytest.mark.parametrize("first", range(0, PROCESSOR, PART))
def test_schedules_on_the_processor(first: int) -> None:
    assert run_part(first, "cpu").refused < PART / 5


@pytest.mark.sweep
def test_every_primitive_is_tried() -> None:
    """And all else that the generators are meant to try."""
    # Loops for the threads of a processor are an error on a GPU.
    assert WANTED - run_in_ci(SCHEDULES, "sim").tried == {"Stage.parallel", "Stage.rolling_update"}
    assert "Stage.parallel" in run_in_ci(PROCESSOR, "cpu").tried


@pytest.mark.sweep
@pytest.mark.parametrize("examples", [20, pytest.param(MUTATIONS, marks=pytest.mark.sweep)])
def test_mutations_are_refused_or_right(examples: int) -> None:
    fuzz_mutations(examples)


@pytest.mark.slow
def test_many_schedules() -> None:
    fuzz(MANY, "sim")


@pytest.mark.slow
def test_many_schedules_on_the_processor() -> None:
    fuzz(MANY, "cpu")


@pytest.mark.slow
def test_many_mutations_are_refused_or_right() -> None:
    fuzz_mutations(MANY)


def test_sums_across_threads_within_a_shared_stage() -> None:
    """Seed 1026 of older generators: threads must not share out a loop in which all of them compute one element."""
    A = te.placeholder((13, 23), name="A")
    k = te.reduce_axis((0, 23), "k")
    top = te.compute((13,), lambda i: te.max(A[i, k], axis=k), name="top")
    below = te.compute((13, 23), lambda i, j: A[i, j] - top[i], name="below")
    B = te.compute((13, 23), lambda i, j: below[i, j] * 2.0, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(s[B].op.axis[0], te.thread_axis("threadIdx.x"))
    j = s[B].op.axis[1]
    s[B].reorder(j, s[B].op.axis[0])
    s[B].bind(j, te.thread_axis("blockIdx.x"))
    s[below].set_scope("shared")
    s[below].compute_at(s[B], j)
    s[top].compute_at(s[below], s[below].op.axis[1])
    s[top].bind(s[top].split(k, factor=13)[1], te.thread_axis("threadIdx.x"))
    a = np.random.default_rng(3).integers(-9, 9, (13, 23)).astype("float32")
    (got,) = testing.run(tw.build(s, [A, B], "sim"), [a], [((13, 23), "float32")])
    np.testing.assert_array_equal(got, 2 * (a - a.max(axis=1, keepdims=True)))
