"""Matmuls with any number of rows: one kernel, on tensor cores where the types have them."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes  # noqa: F401  NumPy has bfloat16 by it
import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing
from tilewright.te.schedule import Schedule

CASES = {
    "warpgroups": ("bfloat16", 512, 1024, False, "cuda -arch=sm_90a"),
    "warpgroups, B transposed": ("float16", 128, 512, True, "cuda -arch=sm_90a"),
    "tensor cores": ("float16", 60, 40, False, "cuda -arch=sm_80"),
    "tensor cores, B transposed": ("bfloat16", 64, 72, True, "cuda -arch=sm_80"),
    "tiles of vectors": ("float32", 128, 64, False, "cuda -arch=sm_90a"),
    "tiles of vectors, ragged": ("float32", 45, 33, False, "cuda -arch=sm_90a"),
}


@pytest.mark.sample(3)
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


EXTENTS = {
    "a multiple": lambda n, m: n * 17,
    "a product": lambda n, m: n * m,
    "a sum": lambda n, m: n + m + 1,
    "a quotient": lambda n, m: (n * m) // 2,
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("rule", ["warpgroups", "tensor cores"])
@pytest.mark.parametrize("extent", EXTENTS)
def test_rows_that_symbols_make(extent: str, rule: str) -> None:
    """As of a batch and a length in one, which models flatten."""
    n, m = te.var("n"), te.var("m")
    rows = EXTENTS[extent](n, m)
    A = te.placeholder((rows, 128), "bfloat16", name="A")
    B = te.placeholder((128, 256), "bfloat16", name="B")
    k = te.reduce_axis((0, 128), "k")
    C = te.compute(
        (rows, 256), lambda i, j: te.sum(A[i, k].astype("float32") * B[k, j].astype("float32"), axis=k), name="C"
    )
    s = tw.auto_schedule(C, "cuda -arch=sm_90a", settings={"C": {"rule": rule}})
    f = tw.build(s, [n, m, A, B, C], "sim")
    for sizes in ((1, 3), (5, 8)):
        count = EXTENTS[extent](*sizes)
        a, b = (np.random.default_rng(5).integers(-3, 4, x).astype("bfloat16") for x in ((count, 128), (128, 256)))
        out = np.full((count, 256), np.nan, "float32")
        f(*sizes, a, b, out)
        np.testing.assert_array_equal(out, a.astype("float32") @ b.astype("float32"))


def test_rows_that_are_flattened() -> None:
    """Of a transposed batch, as in attention's layers."""
    n = te.var("n")
    X = te.placeholder((n, 17, 64), "bfloat16", name="X")
    A = te.compute((n * 17, 64), lambda i, j: X[i % n, i // n, j], name="A")
    B = te.placeholder((64, 64), "bfloat16", name="B")
    k = te.reduce_axis((0, 64), "k")
    C = te.compute(
        (n * 17, 64), lambda i, j: te.sum(A[i, k].astype("float32") * B[j, k].astype("float32"), axis=k), name="C"
    )
    s = tw.auto_schedule(C, "cuda -arch=sm_90a")
    assert [one.rule for one in s.plan.decisions] == ["tensor cores"]
    f = tw.build(s, [X, B, C], "sim")
    x, b = (np.random.default_rng(6).integers(-3, 4, shape).astype("bfloat16") for shape in ((3, 17, 64), (64, 64)))
    out = np.full((51, 64), np.nan, "float32")
    f(x, b, out)
    rows = x.transpose(1, 0, 2).reshape(51, 64).astype("float32")
    np.testing.assert_array_equal(out, rows @ b.astype("float32").T)


def test_few_rows_share_the_loop_along_k() -> None:
    """Blocks add up parts of the results where the memory for the parts is bounded, for any number of such rows."""

    def program(rows: Any) -> list[Any]:
        A = te.placeholder((rows, 1024), name="A")
        B = te.placeholder((1024, 48), name="B")
        k = te.reduce_axis((0, 1024), name="k")
        C = te.compute((rows, 48), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
        return [A, B, te.compute((rows, 48), lambda i, j: te.max(C[i, j], 0.0), name="D")]

    def splits(s: Schedule) -> int:
        return int(re.findall(r"tiles=\(\(\d+, \d+\), \d+, \d+, (\d+)\)", str(s.explain()))[-1])

    any_rows, few = program(te.var("n", min=2)), program(te.var("n", min=2, max=32))
    s = tw.auto_schedule(few[-1], "sim")
    assert splits(s) > 1 and splits(tw.auto_schedule(any_rows[-1], "sim").classes[-1]) == 1
    function = tw.build(s, few, target="sim")
    random = np.random.default_rng(3)
    for rows in (2, 17, 32):
        a, b = (random.integers(-4, 5, shape).astype("float32") for shape in ((rows, 1024), (1024, 48)))
        d = np.empty((rows, 48), "float32")
        function(a, b, d)
        np.testing.assert_array_equal(d, np.maximum(a @ b, 0))


@pytest.mark.parametrize("extent", [5, 2, 0])
def test_an_epilogue_reads_nothing_beside_a_tensor_without_elements(extent: int) -> None:
    """How many elements are added is no extent of the result: there are tiles where it is 0, or less."""
    n, k = te.var("n"), te.reduce_axis((0, 64), "k")
    A, B = te.placeholder((64, 64), "float16", name="A"), te.placeholder((64, 64), "float16", name="B")
    C = te.placeholder((n,), name="C")
    P = te.compute(
        (64, 64), lambda i, j: te.sum(A[i, k].astype("float32") * B[k, j].astype("float32"), axis=k), name="P"
    )
    Y = te.compute((64, 64), lambda i, j: P[i, j] + te.if_then_else(j < n - 2, C[j], 0.0), name="Y")
    s = tw.auto_schedule(Y, "sim -device=H200", settings={"Y": {"rule": "warpgroups"}})
    function = tw.build(s, [A, B, C, Y], "sim -device=H200", name="added")
    a, b, c = np.eye(64, dtype="float16"), np.full((64, 64), 3, "float16"), np.arange(1, extent + 1, dtype="float32")
    (got,) = testing.run(function, [a, b, c], [((64, 64), "float32")])
    exact = b.astype("float32")
    exact[:, : max(extent - 2, 0)] += c[: max(extent - 2, 0)]
    np.testing.assert_array_equal(got, exact)
