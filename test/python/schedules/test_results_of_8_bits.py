"""Results of 8 bits of `wgmma` kernels go through shared memory, and TMA stores them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.schedules import matmul_wgmma

CASES = [
    ("float8_e5m2", 64, 128, {"tile": (64, 128)}),
    ("int8", 130, 112, {"tile": (64, 64)}),  # tiles that are cut, rows of 112 bytes
    ("float8_e4m3fn", 192, 256, {"tile": (64, 128), "blocks": 2, "deferred": True}),
    ("float8_e4m3fn", 256, 256, {"tile": (128, 256), "columns": 128}),
    ("int8", 192, 192, {"tile": (64, 96), "blocks": 2, "consumers": 2}),
]


def rounded(dtype):
    """What the epilogue makes of a sum."""
    if dtype == "int8":
        return lambda c, i, j: te.max(te.min(te.nearbyint(c.astype("float32") * 0.25), 127.0), -128.0).astype("int8")
    return lambda c, i, j: (c.astype("float32") * 0.25).astype(dtype)


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype, M, N, options", CASES)
def test_on_the_simulator(dtype, M, N, options):
    rng = np.random.default_rng(M)
    a, b = (rng.integers(-5, 6, shape).astype("int8") for shape in ((M, 96), (N, 96)))
    s, tensors = matmul_wgmma(M, N, 96, "int8", out_dtype=dtype, transpose_b=True, epilogue=rounded(dtype), **options)
    func = tw.build(s, tensors, target="sim", name="matmul")
    assert "tile.store_fragment" in func.ir("gpu")
    stored = np.dtype(getattr(ml_dtypes, dtype, dtype))
    c = np.empty((M, N), stored)
    func(a, b, c)
    exact = (a.astype("float32") @ b.astype("float32").T) * np.float32(0.25)
    expected = np.clip(np.round(exact), -128, 127) if dtype == "int8" else exact
    np.testing.assert_array_equal(c.astype("float32"), expected.astype(stored).astype("float32"))


def test_threads_store_columns_of_c_that_are_rows_of_the_tile():
    a, b = (np.ones(shape, "int8") for shape in ((16, 64), (128, 64)))
    s, tensors = matmul_wgmma(
        16, 128, 64, "int8", out_dtype="int8", transpose_b=True, epilogue=rounded("int8"), tile=(16, 64), swap_ab=True
    )
    func = tw.build(s, tensors, target="sim", name="matmul")
    assert "tile.store_fragment" not in func.ir("gpu")
    c = np.empty((16, 128), "int8")
    func(a, b, c)
    assert (c == 16).all()
