"""Matmuls that sum over a symbolic extent, as the gradients of weights do over the tokens of a batch."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from tilewright import te

TYPES: dict[str, Any] = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32}
TOLERANCES = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 2e-6}


def product(rows: int, columns: int, layout: str, dtype: str, least: int = 0) -> list[te.Tensor]:
    """Of A and B, each stored as it is, "N", or as its transpose."""
    extent: Any = te.var("K", min=least)
    A = te.placeholder((extent, rows) if layout[0] == "T" else (rows, extent), dtype, name="A")
    B = te.placeholder((columns, extent) if layout[1] == "T" else (extent, columns), dtype, name="B")
    k = te.reduce_axis((0, extent), name="k")

    def term(i: te.Expr, j: te.Expr) -> te.Expr:
        a, b = A(k, i) if layout[0] == "T" else A(i, k), B(j, k) if layout[1] == "T" else B(k, j)
        return te.sum(a.astype("float32") * b.astype("float32"), axis=k)

    total = te.compute((rows, columns), term, name="total")
    return [
        A,
        B,
        total if dtype == "float32" else te.compute(total.shape, lambda *at: total(*at).astype(dtype), name="C"),
    ]


def run(target: str, tensors: list[te.Tensor], layout: str, dtype: str, extents: tuple[int, ...]) -> str:
    """What made the schedule; the results of each extent are right."""
    s = tw.auto_schedule(tensors[-1], target)
    func = tw.build(s, tensors, target=target, name="product")
    rows, columns = (int(extent) for extent in tensors[-1].shape)
    rng = np.random.default_rng(0)
    for extent in extents:
        a, b = rng.standard_normal((rows, extent)), rng.standard_normal((extent, columns))
        a, b = a.astype(TYPES[dtype]), b.astype(TYPES[dtype])
        out = np.full((rows, columns), np.nan).astype(TYPES[dtype])
        func(
            np.ascontiguousarray(a.T) if layout[0] == "T" else a,
            np.ascontiguousarray(b.T) if layout[1] == "T" else b,
            out,
        )
        wanted = a.astype("float64") @ b.astype("float64")
        assert np.abs(out.astype("float64") - wanted).max() <= TOLERANCES[dtype] * np.abs(wanted).max()
    return s.explain()


@pytest.mark.sample(4)
@pytest.mark.parametrize("target", ["sim -device=H200", "sim -device=T4", "cpu"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("layout", "shape"), [("TN", (128, 96)), ("TN", (52, 36)), ("NN", (52, 36)), ("NT", (128, 96)), ("TT", (52, 36))]
)
def test_results(shape: tuple[int, int], layout: str, dtype: str, target: str) -> None:
    told = run(target, product(*shape, layout, dtype), layout, dtype, (0, 1, 7, 64, 333))
    # Rows of a matrix with a symbolic number of columns may begin at any element.
    is_by_tensor_cores = layout == "TN" and dtype != "float32" and target == "sim -device=H200"
    assert ("tensor cores: " in told) == is_by_tensor_cores
    assert target == "cpu" or "reduction" not in told


def test_warpgroups() -> None:
    told = run("sim -device=H200", product(512, 512, "TN", "float16"), "TN", "float16", (0, 1, 70))
    assert "warpgroups: C" in told
