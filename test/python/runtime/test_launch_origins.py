"""`launch_config` says where each number comes from: the user's own `bind` first, then the formula."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

import tilewright as tw
from tilewright import schedules, te
from tree import ROOT

SM90 = "cuda -arch=sm_90a"
EXAMPLES = {
    "01_vector_add.py": "vector_add(1000)",
    "02_tiled_gemm.py": "mmult(64, 64, 64)",
    "03_register_tiled_gemm.py": "sgemm(256, 256, 256)",
    "04_conv2d.py": "conv2d(16, 32, 14, 14)",
    "05_dense.py": "dense(32, 128, 64)",
    "06_softmax.py": "softmax(64, 1000)",
    "07_argmax.py": "argmax(64, 100)",
    "08_arguments.py": "scale_and_add(64)",
}
HERE = Path(__file__).name


class Array:
    def __init__(self, *shape: int) -> None:
        self.shape = shape


def numbers(launch: Any) -> dict[str, int]:
    named = zip(("grid.x", "grid.y", "grid.z", "block.x", "block.y", "block.z"), (*launch.grid, *launch.block))
    return {**dict(named), "shared": launch.shared_bytes}


def test_all_examples_are_here() -> None:
    assert sorted(path.name for path in (ROOT / "python" / "examples").glob("0*.py")) == sorted(EXAMPLES)


@pytest.mark.sweep
@pytest.mark.parametrize("file", EXAMPLES)
def test_examples_name_their_own_bind(file: str) -> None:
    path = ROOT / "python" / "examples" / file
    schedule, args = eval(EXAMPLES[file], runpy.run_path(str(path), run_name="example"))
    function = tw.build(schedule, args, SM90, "f")
    arrays = [100, 2.0, (Array(100, 64), Array(64)), Array(100, 64)] if file == "08_arguments.py" else []
    lines = path.read_text().splitlines()
    for launch in function.launch_config(*arrays):
        for name, value in numbers(launch).items():
            if name != "shared" and value > 1:
                place, _, line = launch.origin[name].rpartition(f", {file}:")
                assert " of stage " in place and ".bind(" in lines[int(line) - 1], (name, launch.origin)
        assert ("shared" in launch.origin) == (launch.shared_bytes > 0)


def test_the_formula_follows_the_bind() -> None:
    n = te.var("n")
    A = te.placeholder((n, 8), name="A")
    B = te.compute((n, 8), lambda i, j: A[i, j] + 1.0, name="B")
    s = te.create_schedule(B.op)
    block, thread = s[B].split(B.op.axis[0], factor=128)
    s[B].bind(block, te.thread_axis("blockIdx.x"))
    s[B].bind(thread, te.thread_axis("threadIdx.x"))
    for target in ("sim", SM90):
        config = tw.build(s, [A, B], target, "f").launch_config(Array(1000, 8), Array(1000, 8))
        assert config.formula == {"grid.x": "ceildiv(n, 128)"}
        line = int(config.origin["grid.x"].rpartition(":")[2])
        assert str(config).splitlines()[1:5] == [
            f"  grid.x = 8  (i.outer of stage B, {HERE}:{line}: ceildiv(n, 128))",
            "  grid.y = 1",
            "  grid.z = 1",
            f"  block.x = 128  (i.inner of stage B, {HERE}:{line + 1})",
        ]


def test_constants_need_no_formula() -> None:
    config = tw.build(*schedules.add(64, 64), SM90, "f").launch_config()
    assert config.formula == {}


def test_a_tile_kernel_lists_its_shared_memory() -> None:
    made = schedules.matmul_wgmma(4096, 4096, 4096)
    (launch,) = tw.build(*made, SM90, "mm").launch_config()
    ring, c, barriers = launch.origin["shared"].split("), ")
    assert ring == f"ring of k.outer (4 slots of {2 * (128 * 64 + 64 * 256)} bytes"
    assert c == f"C ({2 * 2 * 64 * 128} bytes" and barriers.startswith("barriers (")
    slots = 4 * 2 * (128 * 64 + 64 * 256)
    assert slots + 2 * 2 * 64 * 128 + int(barriers.split("(")[1].split()[0]) == launch.shared_bytes
    line = launch.origin["block.x"].rpartition(", ")[2]
    assert launch.origin["grid.x"] == f"persistent blocks of stage C, {line}"
    assert Path(line.rpartition(":")[0]).name == HERE


def test_blocks_that_stay_have_a_formula_of_symbols() -> None:
    m = te.var("m")
    function = tw.build(*schedules.matmul_wgmma(m, 4096, 4096), SM90, "mm")
    (launch,) = function.launch_config(Array(4096, 4096), Array(4096, 4096), Array(4096, 4096))
    assert launch.formula["grid.x"] == "min(ceildiv(m, 128) * 16, 132)"
    assert launch.grid[0] == 132


def test_rings_of_one_slot() -> None:
    (launch,) = tw.build(*schedules.attention_wgmma(8, 1024, 1024, 64), SM90, "f").launch_config()
    assert launch.origin["shared"].startswith("ring of Q.shared (1 slot of 16384 bytes), ring of ")
