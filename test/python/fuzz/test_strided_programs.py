"""Random programs with random schedules on arguments that are not row-major: exact, with nothing beside them written."""

from __future__ import annotations

import random

import pytest

from fuzz.check import is_clear
from fuzz.choices import Choices, Seeded
from fuzz.strided import Views
from fuzz.test_fuzz import make
from tilewright import ScheduleError


def run(seeds: range, target: str) -> None:
    refused = 0
    for seed in seeds:
        case = make(Choices(Seeded(seed)), target)
        if case.refused:
            continue
        try:
            Views(case.program, random.Random(seed)).check(case.scheduler.schedule, target)
        except ScheduleError as error:
            assert is_clear(str(error)), f"seed {seed}: {error}\n{case}"
            refused += 1
        except Exception as error:
            raise AssertionError(f"seed {seed}, target {target}: {error}\n{case}") from error
    assert refused < len(seeds) / 4


@pytest.mark.sample(2)
@pytest.mark.parametrize(("target", "first"), [(target, first) for target in ("sim", "cpu") for first in (0, 10, 20)])
def test_schedules(target: str, first: int) -> None:
    run(range(first, first + 10), target)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["sim", "cpu"])
def test_many_schedules(target: str) -> None:
    run(range(1000), target)
