"""Printed CUDA computes what the kernel computes, whatever operators stand in its expressions and its indices.

`python bench/fuzz_sources.py` runs more of these.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.printed import Printed, compare, compile_for_gpu, make

FEW, MANY, AT_ONCE = 10, 2000, 25


def check(seeds: range, folder: Path) -> None:
    programs = [made for made in map(make, seeds) if isinstance(made, Printed)]
    assert len(programs) > 0.7 * len(seeds)
    wrong = compare(programs, folder)
    text = {program.name: f"{program.text}\n{program.function.source('cuda')}" for program in programs}
    assert not wrong, "\n".join(f"{name}: {why}\n{text[name]}" for name, why in wrong.items())


@pytest.mark.sweep
def test_expressions_compute_the_same(tmp_path: Path) -> None:
    check(range(FEW), tmp_path)


@pytest.mark.sweep
def test_more_expressions_compute_the_same(tmp_path: Path) -> None:
    check(range(FEW, 30), tmp_path)


@pytest.mark.sweep
def test_expressions_compile_for_a_gpu() -> None:
    programs = [made for made in map(make, range(FEW)) if isinstance(made, Printed)]
    refused = compile_for_gpu(programs)
    assert not refused, "\n".join(refused.values())


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FEW, MANY, AT_ONCE))
def test_many_expressions(first: int, tmp_path: Path) -> None:
    check(range(first, first + AT_ONCE), tmp_path)
