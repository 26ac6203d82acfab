"""bench/fuzz_cuda.py, on the simulator: its seeds are of these generators, and what is late is told from what hangs."""

from __future__ import annotations

import importlib.util
import json
import time
from types import ModuleType

import pytest

from tree import ROOT


@pytest.fixture
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz_cuda", ROOT / "bench" / "fuzz_cuda.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_seeds_are_of_these_generators(bench: ModuleType) -> None:
    seeds = json.loads((ROOT / "bench" / "results" / "fuzz-seeds.json").read_text())
    assert seeds["generators"] == bench.digest()
    assert len(seeds["right"]) > 400 and not seeds["went wrong"]


def test_what_is_late_is_run_again_alone(bench: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(bench, "COMPILE", 0.0)
        found = bench.run_all([0], "sim", 1, time.monotonic() + 60)
        assert (found[0]["result"], found[0]["at"]) == ("late", "compile")
        assert 'File "' in found[0]["error"]  # where it was
        bench.run_alone(found, "sim", time.monotonic() + 60)
        assert found[0]["result"] == "late" and len(found[0]["alone"]) == 1
    bench.run_alone(found, "sim", time.monotonic() + 60)
    assert found[0]["result"] == "slow"
    assert [one["result"] for one in found[0]["alone"]] == ["right"] * 3
    figures = bench.summary(found, time.monotonic())
    assert figures["counts"] == {"slow": 1} and list(figures["slow"]) == ["0"] and not figures["went wrong"]
