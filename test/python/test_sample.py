"""Samples: every kind is in them, they are the same in each process, and nothing is in neither the suite nor the sweep."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from sample import chosen

TESTS = """
import pytest

@pytest.mark.sample(3)
@pytest.mark.parametrize("n", range(10))
def test_numbers(n): pass

@pytest.mark.sample(3)
@pytest.mark.parametrize("target", ["sim", "cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("dtype", ["a", "b", "c", "d"])
@pytest.mark.parametrize("thing", [object(), object()])
def test_kinds(target, dtype, thing): pass

@pytest.mark.sample(3)
@pytest.mark.parametrize("n", range(3))
def test_few(n): pass

@pytest.mark.sample(1)
@pytest.mark.parametrize("n", [0, pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(3, marks=pytest.mark.sweep)])
def test_slow(n): pass
"""


def kinds(**values: str) -> frozenset[tuple[str, str]]:
    return frozenset(values.items())


def test_a_sample_is_spread() -> None:
    assert chosen([kinds(n=str(n)) for n in range(10)], 3) == {0, 3, 6}
    assert chosen([kinds()] * 10, 1) == {0}
    assert chosen([kinds()] * 3, 5) == {0, 1, 2}


def test_every_shared_value_is_in_the_sample() -> None:
    cases = [kinds(target=target, dtype=dtype) for target in ("sim", "cpu") for dtype in "abcde"]
    found = chosen(cases, 2)
    assert len(found) == 5
    assert {value for number in found for value in cases[number]} == {value for case in cases for value in case}


def test_names_of_many_cases_are_spread() -> None:
    cases = [kinds(name=name, dtype=dtype) for name in "abcdefgh" for dtype in ("half", "float")]
    found = chosen(cases, 3)
    assert len(found) == 3
    assert {value for number in found for value in cases[number]} >= {("dtype", "half"), ("dtype", "float")}


CONFTEST = """
import pytest
from sample import mark_sweep

@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    mark_sweep(items)
    for item in items:
        print(item.name, *(mark.name for mark in item.iter_markers() if mark.name in ("sweep", "slow", "gpu")), sep="|")
"""


def collect(folder: Path, *names: str) -> dict[str, set[str]]:
    """The marks of each test."""
    (folder / "test_it.py").write_text(TESTS)
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n  sample\n  sweep\n  slow\n  gpu\n")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *names]
    inherited = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    env = {**inherited, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split("|") for line in done.stdout.splitlines() if "::" not in line and "[" in line]
    return {name: set(marks) for name, *marks in lines}


def test_each_case_is_in_the_suite_or_in_the_sweep(tmp_path: Path) -> None:
    found = collect(tmp_path)
    assert len(found) == 10 + 24 + 3 + 4
    suite = {name for name, marks in found.items() if not marks}
    assert {name for name in suite if "numbers" in name} == {f"test_numbers[{n}]" for n in (0, 3, 6)}
    assert {name for name in suite if "few" in name} == {f"test_few[{n}]" for n in range(3)}
    assert {name for name in found if "slow" in name and found[name]} == {f"test_slow[{n}]" for n in (1, 2, 3)}
    assert found["test_slow[1]"] == {"slow"} and found["test_slow[2]"] == found["test_slow[3]"] == {"sweep"}
    kinds = {name for name in suite if "kinds" in name}
    assert len(kinds) == 4  # one for each dtype
    for word in ("sim", "cpu", "-a-", "-b-", "-c-", "-d-", "thing0", "thing1"):
        assert any(word in name for name in kinds), word
    # Where there is a GPU, all of its tests run.
    assert all(marks == {"gpu"} for name, marks in found.items() if "cuda" in name)


def test_a_case_by_its_name_is_run(tmp_path: Path) -> None:
    assert collect(tmp_path, "test_it.py::test_numbers[5]") == {"test_numbers[5]": set()}
