"""The passes under valgrind: no kernel's way down reads what was erased before, or what was never written."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tilewright as tw
from tilewright import schedules, te

# Small ones: valgrind takes fifty times as long, and what matters is which passes have something to do.
KERNELS: dict[str, Callable[[], Any]] = {
    "conv2d": lambda: schedules.conv2d(2, 8, 14, 32, 3),
    "conv2d_mma": lambda: schedules.conv2d_mma(2, 32, 14, 64, 3),
    "conv2d_wgmma": lambda: schedules.conv2d_wgmma(2, 64, 14, 64, 3),
    "elementwise": lambda: schedules.elementwise(te.tanh, (256, 256)),
    "layer_norm": lambda: schedules.layer_norm(64, 512),
    "matmul_mma": lambda: schedules.matmul_mma(
        16, 256, 1024, "bfloat16", transpose_b=True, tile=(16, 16), warps=(1, 2), stages=5, block_k=128
    ),
    "matmul_mma, ragged": lambda: schedules.matmul_mma(70, 71, 73, "float16", tile=(32, 64), split_k=2),
    "matmul_wgmma": lambda: schedules.matmul_wgmma(256, 512, 256, "bfloat16", "bfloat16", cluster=(2, 1)),
    "matmul_wgmma, deferred": lambda: schedules.matmul_wgmma(
        128, 512, 256, "bfloat16", "bfloat16", tile=(64, 128), blocks=2, deferred=True
    ),
    "matmul_wgmma, stream-K": lambda: schedules.matmul_wgmma(200, 320, 512, "bfloat16", stream_k=True, blocks=7),
    "matmul_wgmma, in turn": lambda: schedules.matmul_wgmma(
        512, 512, 256, "float8_e4m3fn", transpose_b=True, tile=(64, 128), consumers=2
    ),
    "sgemm": lambda: schedules.sgemm(256, 256, 256),
    "softmax": lambda: schedules.softmax(64, 512),
    "transpose": lambda: schedules.transpose(100, 130),
}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.parametrize("target", ["cuda", "sim"])
def test_passes(target: str, tmp_path: Path) -> None:
    source = tmp_path / "kernels.mlir"
    programs = [str(tw.lower(*make(), stage="te", target=target)) for make in KERNELS.values()]
    source.write_text("\n// -----\n".join(programs))
    tool = Path(tw.__file__).parent / "_lib" / "tilewright-opt"
    options = [
        "--split-input-file",
        "--mlir-disable-threading",
        f"--tilewright-pipeline=from=te to=nvvm target={target} arch=sm_90a",
    ]
    command = ["valgrind", "-q", "--error-exitcode=9", tool, source, *options, "-o", tmp_path / "out.mlir"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "out.mlir").read_text().count("// -----") == len(KERNELS) - 1
