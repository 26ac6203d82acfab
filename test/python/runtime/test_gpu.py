"""The run time on a real GPU: each check of bench/gpu_smoke.py is a test."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from tilewright.runtime import cuda

SMOKE = Path(__file__).parents[3] / "bench" / "gpu_smoke.py"
sys.path.insert(0, str(SMOKE.parent))  # the script's parts stand beside it
specification = importlib.util.spec_from_file_location("gpu_smoke", SMOKE)
assert specification is not None and specification.loader is not None
gpu_smoke = importlib.util.module_from_spec(specification)
specification.loader.exec_module(gpu_smoke)


@pytest.mark.gpu
@pytest.mark.parametrize("check", gpu_smoke.CHECKS, ids=lambda check: check.__name__)
def test_gpu(check) -> None:
    if not cuda(0).exist:
        pytest.skip("no GPU here")
    told = check()
    if told is not None and told.startswith("skipped"):
        pytest.skip(told)


def test_the_kernels_link_without_a_gpu() -> None:
    for arch in ("sm_80", "sm_90a"):
        assert gpu_smoke.cubin_for(arch).startswith(b"\x7fELF")
