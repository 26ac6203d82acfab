"""bench/launch_soak.py, with few launches: its roads work, and it finds memory that goes."""

from __future__ import annotations

import importlib.util
import itertools
from pathlib import Path

import pytest

from tilewright.runtime import cuda

pytest.importorskip("tvm_ffi")
SCRIPT = Path(__file__).parents[3] / "bench" / "launch_soak.py"
specification = importlib.util.spec_from_file_location("launch_soak", SCRIPT)
assert specification is not None and specification.loader is not None
launch_soak = importlib.util.module_from_spec(specification)
specification.loader.exec_module(launch_soak)


@pytest.mark.sweep
@pytest.mark.parametrize(("target", "launches"), [("cpu", 20000), ("sim", 4000)])
def test_memory_stays_as_it_is(target: str, launches: int) -> None:
    found = launch_soak.soak(target, launches)
    assert found["grown_bytes"] < launch_soak.SLACK and found["launches"] >= launches
    assert [sample["launches"] for sample in found["samples"]] == sorted(
        {sample["launches"] for sample in found["samples"]}
    )


@pytest.mark.sweep
def test_memory_that_goes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = itertools.count(0, 1 << 20)
    monkeypatch.setattr(launch_soak, "resident", lambda: next(sizes))
    with pytest.raises(AssertionError, match="^9437184 bytes of this process's memory went"):
        launch_soak.soak("cpu", 4000)


@pytest.mark.gpu
def test_on_every_gpu() -> None:
    if not cuda(0).exist:
        pytest.skip("no GPU here")
    launch_soak.soak("cuda", 200_000)
