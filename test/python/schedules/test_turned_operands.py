"""Operands of `wgmma` that are not of 16 bits and do not have k along their rows are transposed first. The first operand
of tf32 is not: threads load it to registers."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.devices import find
from tilewright.schedules import matmul_wgmma
from tilewright.schedules.matmuls.problem import Problem
from tilewright.schedules.matmuls.selection import choose

CASES = [
    ("tf32", 130, 200, 72, True, False, {"tile": (64, 128)}),
    ("tf32", 128, 64, 65, False, False, {"tile": (64, 64)}),
    ("tf32", 16, 128, 40, True, True, {"tile": (16, 64), "swap_ab": True}),
    ("int8", 65, 64, 99, True, True, {"tile": (64, 64)}),
    ("int8", 64, 96, 128, False, False, {"tile": (64, 64), "split_k": 2}),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype, M, N, K, transpose_a, transpose_b, options", CASES)
def test_on_the_simulator(dtype, M, N, K, transpose_a, transpose_b, options):
    rng = np.random.default_rng(M)
    stored = "int8" if dtype == "int8" else "float32"
    a, b = (rng.integers(-8, 9, shape).astype(stored) for shape in ((M, K), (K, N)))
    s, tensors = matmul_wgmma(M, N, K, dtype, transpose_a=transpose_a, transpose_b=transpose_b, **options)
    func = tw.build(s, tensors, target="sim", name="matmul")
    c = np.empty((M, N), "int32" if dtype == "int8" else "float32")
    func(np.ascontiguousarray(a.T) if transpose_a else a, np.ascontiguousarray(b.T) if transpose_b else b, c)
    np.testing.assert_array_equal(c, a.astype("float64") @ b.astype("float64"))


@pytest.mark.parametrize(
    "layout, swap_ab, copies", [("NN", True, 0), ("TT", False, 0), ("TN", False, 1), ("NN", False, 1)]
)
def test_operands_of_tf32_in_registers(layout, swap_ab, copies):
    M, N, K = 192, 200, 100
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(shape).astype("float32") for shape in ((M, K), (K, N)))
    ways = {"transpose_a": layout[0] == "T", "transpose_b": layout[1] == "T", "swap_ab": swap_ab}
    s, tensors = matmul_wgmma(M, N, K, "tf32", tile=(64, 128) if swap_ab else (128, 64), cluster=(1, 1), **ways)
    func = tw.build(s, tensors, target="sim", name="matmul")
    assert func.ir("gpu").count("gpu.launch_func") == 1 + copies
    c = np.empty((M, N), "float32")
    func(np.ascontiguousarray(a.T) if layout[0] == "T" else a, np.ascontiguousarray(b.T) if layout[1] == "T" else b, c)
    size = abs(a).astype("float64") @ abs(b)
    off = abs(c - a.astype("float64") @ b)
    assert (off <= 2.0**-10 * size).all() and off.max() > 1e-5 * size.max()


def test_loads_to_registers_wait_for_matmuls():
    """Matmuls that are under way read registers: of a loop's iteration, what the one before has loaded."""
    s, tensors = matmul_wgmma(256, 256, 512, "tf32", transpose_a=True, transpose_b=True, tile=(128, 128))
    lines = tw.build(s, tensors, target="cuda -arch=sm_90a", name="matmul").ir("gpu").splitlines()
    multiplied = [number for number, line in enumerate(lines) if "tile.wgmma " in line]
    assert multiplied
    for number in multiplied:
        assert lines[number - 1].strip().startswith("tile.wgmma_wait 0")


def test_batches_and_any_number_of_rows():
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-8, 9, shape).astype("float32") for shape in ((2, 24, 70), (2, 24, 64)))
    s, tensors = matmul_wgmma(te.var("M", min=1), 64, 24, "tf32", batch=2, transpose_a=True, tile=(64, 64))
    func = tw.build(s, tensors, target="sim", name="matmul")
    c = np.empty((2, 70, 64), "float32")
    func(a, b, c)
    np.testing.assert_array_equal(c, a.swapaxes(1, 2).astype("float64") @ b.astype("float64"))


@pytest.mark.parametrize("layout", ["NN", "TN", "TT"])
def test_large_matmuls_of_tf32_are_multiplied_by_warpgroups(layout):
    assert choose(Problem(4096, 4096, 4096, "tf32", layout), find("H100")).schedule == "matmul_wgmma"


def test_clusters_share_operands_where_k_is_split():
    s, tensors = matmul_wgmma(128, 256, 256, "float16", tile=(64, 128), cluster=(2, 1), split_k=2)
    func = tw.build(s, tensors, target="sim", name="matmul")
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-8, 9, shape).astype("float16") for shape in ((128, 256), (256, 256)))
    c = np.empty((128, 256), "float32")
    func(a, b, c)
    np.testing.assert_array_equal(c, a.astype("float64") @ b.astype("float64"))
