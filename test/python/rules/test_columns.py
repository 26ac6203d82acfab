"""Long columns on a processor: threads share parts of the rows, and sums round as little as those of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from rule_programs import SQUARES, check_sum, sum_of
from tilewright import ops, te


@pytest.mark.parametrize(
    ("shape", "axes", "how"),
    [
        ((1000, 1001), (0,), "1001 results of 1000 elements each, whose neighbours lie together (part=25, tile=256)"),
        ((9973, 33), (0,), "33 results of 9973 elements each, whose neighbours lie together (part=95, tile=64)"),
        ((100_003, 3), (0,), "3 results of 100003 elements each, whose neighbours lie together (part=339, tile=4)"),
        ((2, 100, 300, 8), (1, 2), "16 results of 30000 elements each, whose neighbours lie together (part=1, tile=8)"),
        ((5, 601, 3, 33), (1,), "495 results of 601 elements each, whose neighbours lie together (part=43, tile=64)"),
    ],
)
def test_sums_round_little(shape: tuple[int, ...], axes: tuple[int, ...], how: str) -> None:
    assert f"columns in parts: Y: {how}" in check_sum(shape, axes)


@pytest.mark.parametrize(
    ("shape", "axes"),
    [((511, 1001), (0,)), ((1000, 100), (0,)), ((1, 1000, 1001), (0,)), ((1, 100_000, 3), (0, 1))],
)
def test_others_have_no_parts(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    assert "columns in parts" not in sum_of(shape, axes)[0].explain()


@pytest.mark.parametrize(
    ("operation", "exact"), [(ops.mean, np.mean), (ops.max, np.max), (ops.min, np.min)], ids=["mean", "max", "min"]
)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_operations(operation: Callable[..., Any], exact: Callable[..., Any], dtype: str) -> None:
    x = (SQUARES[:700_000].reshape(7000, 100) * 1e-3 + 1).astype(dtype)
    got = operation(x, axis=0)
    wanted = exact(x.astype("float64"), axis=0)
    np.testing.assert_allclose(got, wanted, rtol={"float16": 1e-3, "float32": 1e-5, "float64": 1e-12}[dtype])


def test_integers() -> None:
    x = np.arange(200_000, dtype="int32").reshape(2000, 100)
    np.testing.assert_array_equal(ops.sum(x, axis=0), x.sum(0))


def test_results_that_a_map_reads() -> None:
    x = te.placeholder((2000, 100), name="X")
    k = te.reduce_axis((0, 2000), "k")
    total = te.compute((100,), lambda j: te.sum(x[k, j], axis=k), name="total")
    y = te.compute((100,), lambda j: te.sqrt(total[j]) + 1.0, name="Y")
    s = tw.auto_schedule(y, "cpu")
    assert "columns in parts: Y, total:" in s.explain()
    given, made = SQUARES[:200_000].reshape(2000, 100), np.zeros(100, "float32")
    tw.build(s, [x, y], "cpu")(given, made)
    np.testing.assert_allclose(made, np.sqrt(given.sum(0, dtype="float64")) + 1, rtol=1e-6)


def test_columns_that_others_read_stay_with_these() -> None:
    """The variance of a column: the whole program is the compiler's."""
    x = te.placeholder((2000, 100), name="X")
    k, n = te.reduce_axis((0, 2000), "k"), te.reduce_axis((0, 2000), "n")
    total = te.compute((100,), lambda j: te.sum(x[k, j], axis=k), name="total")
    y = te.compute((100,), lambda j: te.sum(x[n, j] - total[j] / 2000.0, axis=n), name="Y")
    assert "columns in parts" not in tw.auto_schedule(y, "cpu").explain()
