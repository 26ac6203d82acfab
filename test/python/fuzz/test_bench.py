"""bench/fuzz_cuda.py, on the simulator: runs are added to those before, and what is late is told from what hangs."""

from __future__ import annotations

import importlib.util
import json
import time
from pathlib import Path
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


@pytest.mark.sweep
def test_runs_are_added(bench: ModuleType, tmp_path: Path) -> None:
    """A run goes on after the seeds that there are of the same generators."""
    out, since = tmp_path / "results.json", time.monotonic()
    assert bench.earlier_runs(out) == []
    found = bench.run_all([3, 4], "sim", 1, since + 600)
    run = bench.summary(found, since)
    assert run["seeds"] == [3, 4] and set(run["counts"]) <= {"right", "refused"}
    other = {**run, "generators": "another", "seeds": [0, 99]}
    bench.write(out, [run, other])
    runs = bench.earlier_runs(out)
    assert runs == [run, other] and bench.next_seed(runs) == 5
    bench.write(out, [*runs, run])
    totals = json.loads(out.read_text())["totals"]
    assert totals[bench.digest()] == {result: 2 * count for result, count in run["counts"].items()}
    out.write_text("{}")
    with pytest.raises(SystemExit, match="expected a file with runs"):
        bench.earlier_runs(out)


@pytest.mark.sweep
def test_reports_come_while_it_runs(bench: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "EVERY", 0.0)
    told: list[dict[int, object]] = []
    found = bench.run_all([0, 1], "sim", 1, time.monotonic() + 600, told.append)
    assert len(found) == 2 and told and all(set(one) <= set(found) for one in told)


def test_the_results_on_a_gpu_are_runs(bench: ModuleType) -> None:
    runs = bench.earlier_runs(ROOT / "bench" / "results" / "h200-fuzz.json")
    assert runs and all(run["device"] and run["commit"] for run in runs)
    # What went wrong has its cause, and the commit that mended it.
    wrong = [one for run in runs for one in run["went wrong"].values()]
    assert all(one["cause"] and one["mended"] for one in wrong)


@pytest.mark.sweep
def test_what_is_late_is_run_again_alone(bench: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(bench, "COMPILE", 0.0)
        found = bench.run_all([0], "sim", 1, time.monotonic() + 600)
        assert (found[0]["result"], found[0]["at"]) == ("late", "compile")
        assert 'File "' in found[0]["error"]  # where it was
        bench.run_alone(found, "sim", time.monotonic() + 600)
        assert found[0]["result"] == "late" and len(found[0]["alone"]) == 1
    bench.run_alone(found, "sim", time.monotonic() + 600)
    assert found[0]["result"] == "slow"
    assert [one["result"] for one in found[0]["alone"]] == ["right"] * 3
    figures = bench.summary(found, time.monotonic())
    assert figures["counts"] == {"slow": 1} and list(figures["slow"]) == ["0"] and not figures["went wrong"]
