"""Runs lit over test/lit with the tools of the package that is imported, and shows one pytest test a file."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sample import selected

ROOT = Path(__file__).parent.parent / "lit"
FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for suffix in (".mlir", ".test")
    for path in ROOT.rglob(f"*{suffix}")
    if "Output" not in path.parts and "Inputs" not in path.parts
)


@pytest.fixture(scope="module")
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    """What lit says of each file that this session has selected, from one run of lit."""
    report = tmp_path_factory.mktemp("lit") / "report.json"
    environment = {**os.environ, "TILEWRIGHT_LIT_OUTPUT": str(report.parent)}
    command = [sys.executable, "-c", "from lit.main import main; main()", "-q", "--output", str(report)]
    run = subprocess.run(
        [*command, *(str(ROOT / file) for file in selected(request, "test_lit", "file"))],
        env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if not report.exists():
        pytest.fail(f"lit wrote no report:\n{run.stdout}{run.stderr}")
    tests = json.loads(report.read_text())["tests"]
    return {test["name"].partition(" :: ")[2]: test for test in tests}


@pytest.mark.parametrize("file", FILES)
def test_lit(file: str, results: dict[str, dict]) -> None:
    assert file in results, "lit did not find this file"
    result = results[file]
    if result["code"] == "UNSUPPORTED":
        pytest.skip("unsupported here, says the file")
    assert result["code"] == "PASS", result["output"]


def test_files() -> None:
    """A moved folder must not leave an empty run behind."""
    assert FILES


def test_every_pass_has_a_case_of_its_own() -> None:
    """Each pass is run by name on a file that is no error's: what it does is seen without its pipeline."""
    definitions = Path(__file__).parents[2] / "passes"
    passes = [
        name
        for file in definitions.glob("*/Passes.td")
        for name in re.findall(r'^def \w+ : Pass<"([\w-]+)"', file.read_text(), re.MULTILINE)
    ]
    assert len(passes) > 70
    runs = [
        line
        for file in FILES
        if not file.endswith("_invalid.mlir")
        for line in (ROOT / file).read_text().splitlines()
        if "RUN:" in line
    ]
    asked = {name for line in runs for name in re.findall(r"(?:^|[\s'\"(,=])-{0,2}([a-z][\w-]*)", line)}
    assert not set(passes) - asked
