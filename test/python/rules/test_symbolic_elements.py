"""Elements of any number of rows in vectors, and the sums of their columns in parts."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te

TARGETS = ["sim -device=H200", "cpu"]
SIZES = [(1, 1), (3, 7), (2, 30), (0, 5), (4, 0)]


def program(kind: str, columns: int, dtype: str) -> list[te.Tensor]:
    batch, length = te.var("b"), te.var("n")
    x = te.placeholder((batch, length, columns), dtype, name="x")
    scale = te.placeholder((columns,), dtype, name="scale")
    shape: Any = (batch, length, columns)

    def turned(i: te.Expr, b: te.Expr, j: te.Expr) -> te.Expr:
        return x(b, i, j) + scale(j)

    def shifted(b: te.Expr, i: te.Expr, j: te.Expr) -> te.Expr:
        return te.if_then_else(i < length - 1, x(b, te.min(i + 1, length - 1), j), scale(j))

    if kind == "turned":
        return [x, scale, te.compute((length, batch, columns), turned, name="y")]
    made = shifted if kind == "shifted" else lambda b, i, j: x(b, i, j) * scale(j)
    return [x, scale, te.compute(shape, made, name="y")]


def exact(kind: str, x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    if kind == "scaled":
        return x * scale
    if kind == "turned":
        return x.swapaxes(0, 1) + scale
    last = np.broadcast_to(scale, (x.shape[0], min(x.shape[1], 1), x.shape[2]))
    return np.concatenate([x[:, 1:], last], 1)


@pytest.mark.sample(4)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("columns", [256, 36, 3])
@pytest.mark.parametrize("kind", ["scaled", "turned", "shifted"])
def test_elements(kind: str, columns: int, dtype: str, target: str) -> None:
    tensors = program(kind, columns, dtype)
    func = tw.build(tw.auto_schedule(tensors[-1], target), tensors, target=target, name="elements")
    rng = np.random.default_rng(0)
    for batch, length in SIZES:
        x, scale = rng.standard_normal((batch, length, columns)).astype(dtype), np.arange(columns).astype(dtype)
        wanted = exact(kind, x, scale)
        out = np.full(wanted.shape, np.nan, dtype)
        func(x, scale, out)
        np.testing.assert_allclose(out, wanted, rtol=2e-3 if dtype == "float16" else 1e-6)


@pytest.mark.parametrize(("dtype", "lanes"), [("float32", 4), ("float16", 8)])
def test_a_thread_has_a_vector(dtype: str, lanes: int) -> None:
    tensors, target = program("scaled", 768, dtype), "cuda -device=H200"
    s = tw.auto_schedule(tensors[-1], target)
    assert f"lanes={lanes}" in s.explain()
    ptx = tw.build(s, tensors, target=target, name="elements").ptx
    assert re.search(r"st\.global\.v4\.(b32|f32)", ptx)


@pytest.mark.sample(2)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("columns", [768, 100])
def test_sums_of_columns(columns: int, dtype: str, target: str) -> None:
    """As of the gradient by a bias: what a symbol counts is summed over by many blocks."""
    rows = te.var("rows")
    x = te.placeholder((rows, columns), dtype, name="x")
    k = te.reduce_axis((0, rows), name="k")
    total = te.compute((columns,), lambda j: te.sum(x(k, j).astype("float32"), axis=k), name="total")
    s = tw.auto_schedule(total, target)
    assert target == "cpu" or "reduction in parts: total" in s.explain()
    func = tw.build(s, [x, total], target=target, name="sums")
    for count in (0, 1, 300, 1025):
        given = np.random.default_rng(count).standard_normal((count, columns)).astype(dtype)
        out = np.full(columns, np.nan, "float32")
        func(given, out)
        wanted = given.astype("float64").sum(0)
        assert np.abs(out - wanted).max() <= 1e-5 * max(np.abs(wanted).max(), 1e-30)
