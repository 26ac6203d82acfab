"""Random schedules for a processor, which target cpu follows: the result is exact, or the schedule is refused.

`python bench/fuzz_cpu.py` runs as many as there is time for.
"""

from __future__ import annotations

import importlib.util

import pytest

from tree import ROOT


def run(seeds: range) -> None:
    spec = importlib.util.spec_from_file_location("fuzz_cpu", ROOT / "bench" / "fuzz_cpu.py")
    assert spec is not None and spec.loader is not None
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    found = {seed: bench.run(seed) for seed in seeds}
    assert {seed: why for seed, (result, why) in found.items() if result == "wrong"} == {}
    # Else the generator is no good: it means to make legal ones.
    assert sum(result == "refused" for result, _ in found.values()) < len(seeds) / 5


@pytest.mark.sample(1)
@pytest.mark.parametrize("first", range(0, 30, 10))
def test_schedules_that_the_processor_follows(first: int) -> None:
    run(range(first, first + 10))


@pytest.mark.slow
def test_many_schedules_that_the_processor_follows() -> None:
    run(range(10_000, 11_000))
