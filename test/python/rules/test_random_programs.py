"""Random programs, scheduled by rules: exact on the simulator with all checks, and on the processor.

The programs are those of the fuzzer of schedules. The rules and each of their settings are drawn as well, among those that
the plan allows: what a tuner may try is right, too.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import tilewright as tw
from fuzz.check import check
from fuzz.choices import Choices, Seeded
from fuzz.program import Program
from fuzz.programs import random_program
from tilewright.rules import Plan, cpu
from tilewright.te import Schedule

FEW, MANY = 60, 1500
SEEDS = [
    *((12, draws_settings) for draws_settings in (False, True)),
    *(pytest.param(FEW, draws_settings, marks=pytest.mark.sweep) for draws_settings in (False, True)),
]


def scheduled(program: Program, target: str, seed: int | None) -> Schedule:
    outputs = [value.tensor for value in program.outputs]
    s = tw.auto_schedule(outputs, target)
    assert s.plan is not None
    if seed is None:
        return s
    drawn = Choices(Seeded(seed))
    rules: dict[str, dict[str, Any]] = {one.stages[0]: {"rule": drawn.pick(one.rules)} for one in s.plan}
    s = tw.auto_schedule(outputs, target, settings=rules)
    settings = {
        decision.stages[0]: rules[decision.stages[0]]
        | {choice.name: drawn.pick(choice.alternatives) for choice in decision.choices}
        for decision in s.plan or ()
    }
    return tw.auto_schedule(outputs, target, settings=settings)


def run(first: int, count: int, target: str, *, draws_settings: bool) -> Counter[str]:
    rules: Counter[str] = Counter()
    for seed in range(first, first + count):
        program = random_program(Choices(Seeded(seed)), on_threads=target != "cpu")
        plan: Plan | None = None
        try:
            s = scheduled(program, target, seed if draws_settings else None)
            plan = s.plan
            check(program, s, target)
        except Exception as error:
            raise AssertionError(f"seed {seed}, target {target}: {error}\n{program.text}\n{plan}") from error
        rules.update(decision.rule for decision in plan or ())
    return rules


@pytest.fixture
def no_work_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a processor small programs are left to the compiler: here the rules get them."""
    monkeypatch.setattr(cpu, "_WORTH", 0)
    monkeypatch.setattr(cpu, "_is_the_compilers", lambda context: False)


@pytest.mark.sweep
@pytest.mark.parametrize("count, draws_settings", SEEDS)
def test_on_the_simulator(count: int, draws_settings: bool) -> None:
    rules = run(0, count, "sim", draws_settings=draws_settings)
    if count == FEW:
        assert {"elementwise", "reduction", "recurrence"} <= rules.keys()


@pytest.mark.sample(1)
@pytest.mark.usefixtures("no_work_is_small")
@pytest.mark.parametrize("count, draws_settings", SEEDS)
def test_on_the_processor(count: int, draws_settings: bool) -> None:
    rules = run(0, count, "cpu", draws_settings=draws_settings)
    if count == FEW:
        assert {"parallel elementwise", "parallel reduction", "as it is"} <= rules.keys()


@pytest.mark.slow
@pytest.mark.parametrize("draws_settings", [False, True])
@pytest.mark.parametrize("target", ["sim -arch=sm_75", "sim -arch=sm_80", "sim -device=H200", "cpu"])
def test_many(target: str, draws_settings: bool, request: Any) -> None:
    if target == "cpu":
        request.getfixturevalue("no_work_is_small")
    run(10_000, MANY, target, draws_settings=draws_settings)
