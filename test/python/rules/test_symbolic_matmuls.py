"""Matmuls with any number of rows: one kernel, on tensor cores where the types have them."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import te

CASES = {
    "warpgroups": ("bfloat16", 512, 1024, False, "cuda -arch=sm_90a"),
    "warpgroups, B transposed": ("float16", 128, 512, True, "cuda -arch=sm_90a"),
    "tensor cores": ("float16", 60, 40, False, "cuda -arch=sm_80"),
    "tensor cores, B transposed": ("bfloat16", 64, 72, True, "cuda -arch=sm_80"),
    "tiles of vectors": ("float32", 128, 64, False, "cuda -arch=sm_90a"),
    "tiles of vectors, ragged": ("float32", 45, 33, False, "cuda -arch=sm_90a"),
}


@pytest.mark.parametrize("name", CASES)
def test_one_kernel_for_all_rows(name: str) -> None:
    dtype, N, K, b_transposed, target = CASES[name]
    rows = te.var("rows", min=1, max=4096)
    A = te.placeholder((rows, K), dtype, name="A")
    B = te.placeholder((N, K) if b_transposed else (K, N), dtype, name="B")
    bias = te.placeholder((N,), dtype, name="bias")
    k = te.reduce_axis((0, K), "k")

    def product(i: te.Expr, j: te.Expr) -> te.Expr:
        b = B[j, k] if b_transposed else B[k, j]
        return te.sum(A[i, k].astype("float32") * b.astype("float32"), axis=k)

    C = te.compute((rows, N), product, name="C")
    D = te.compute((rows, N), lambda i, j: te.max(C[i, j] + bias[j].astype("float32"), 0.0).astype(dtype), name="D")
    s = tw.auto_schedule(D, target)
    assert f"  {name.partition(',')[0]}: D, C: rows rows, {N} columns, K {K}" in str(s.explain())
    f = tw.build(s, [A, B, bias, D], "sim")
    rng = np.random.default_rng(3)
    for count in (1, 63, 130):
        a, b, c = (rng.integers(-3, 4, x).astype(dtype) for x in ((count, K), B.shape, (N,)))
        out = np.full((count, N), np.nan).astype(dtype)
        f(a, b, c, out)
        exact = a.astype("float64") @ (b.T if b_transposed else b).astype("float64") + c.astype("float64")
        np.testing.assert_array_equal(out, np.maximum(exact, 0).astype(dtype))


def test_columns_of_any_number_have_no_aligned_rows() -> None:
    """A transposed operand with so many columns: TMA and wide copies need rows that begin at multiples of 16 bytes."""
    rows = te.var("rows", min=1, max=256)
    A, B = te.placeholder((64, rows), "float16", name="A"), te.placeholder((64, 64), "float16", name="B")
    k = te.reduce_axis((0, 64), "k")
    C = te.compute(
        (rows, 64), lambda i, j: te.sum(A[k, i].astype("float32") * B[k, j].astype("float32"), axis=k), name="C"
    )
    f = tw.build(tw.auto_schedule(C, "cuda -arch=sm_90a"), [A, B, C], "sim")
    a, b = (np.random.default_rng(4).integers(-3, 4, x).astype("float16") for x in ((64, 77), (64, 64)))
    out = np.full((77, 64), np.nan, "float32")
    f(a, b, out)
    np.testing.assert_array_equal(out, a.T.astype("float32") @ b.astype("float32"))
