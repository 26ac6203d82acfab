"""Each pass alone on changed IR of any stage, from all lit tests and the golden files: an error or a result.

`bench/fuzz_passes.py` does the same for hours; what it found is in bench/results/fuzz-passes.json.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fuzz.alone import ROOT, case_of, inputs, opt, passes
from fuzz.ir_mutations import mutated_bytes, mutated_text

# Ends of the process in upstream's parser, verifiers and reader of bytecode, which run before any pass of ours.
READING = "while reading: "


def ours(said: str) -> bool:
    """Whether a crash is in this project: in a pass, or in a verifier or attribute of its dialects."""
    return not said.startswith(READING) or "tilewright::" in said


def fuzz(first: int, count: int, folder: Path) -> dict[str, Any]:
    out = folder / "found.json"
    command = [sys.executable, str(ROOT / "bench" / "fuzz_passes.py"), f"--first={first}", f"--count={count}"]
    subprocess.run([*command, f"--json={out}"], check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    return json.loads(out.read_text())


@pytest.mark.sweep
def test_a_few(tmp_path: Path) -> None:
    found = fuzz(0, 120, tmp_path)
    crashes = {said: cases for said, cases in found["crashes"].items() if ours(said)}
    assert not crashes, json.dumps(crashes, indent=1)
    # Most changes do not parse; what does is given to passes, some of which take it.
    assert found["counts"]["parsed"] > 5 and found["counts"]["result"] > 20 and found["counts"]["error"] > 3


@pytest.mark.slow
def test_many(tmp_path: Path) -> None:
    first = int.from_bytes(os.urandom(4), "little")
    found = fuzz(first, 20_000, tmp_path)
    crashes = {said: cases for said, cases in found["crashes"].items() if ours(said)}
    assert not crashes, json.dumps(crashes, indent=1)


def test_all_passes_and_inputs_are_there() -> None:
    """Passes are found in Passes.td, inputs in the lit tests: neither list is written by hand."""
    from mlir.passmanager import PassManager

    from fuzz.alone import _context

    with _context():
        for pipeline in passes():
            PassManager.parse(pipeline)
    assert len(passes()) > 50 and len(inputs()) > 400
    assert sum(bool(one.pipelines) for one in inputs()) > 350


def test_a_seed_says_everything() -> None:
    assert case_of(7) == case_of(7)
    text = inputs()[0].text
    assert mutated_text(text, Random(3)) == mutated_text(text, Random(3))
    assert mutated_bytes(b"x" * 50, Random(3)) == mutated_bytes(b"x" * 50, Random(3))


def test_the_tool_is_asked_what_crashed() -> None:
    assert opt(b"module {}", "builtin.module(apply-schedule)") == (0, "")
    status, said = opt(b"module {", "")
    assert status == 1 and "error" in said
