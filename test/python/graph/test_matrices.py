"""Factors of matrices, eigenvalues and singular values as the graph's operators make them, against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.graph.operators import OPERATORS, blocks, factors
from tilewright.rules import auto_schedule

TARGETS = ["cpu", "sim"]
SIZES = [(5, 5), (1, 1), (7, 4), (4, 7), (33, 33), (40, 12)]
SQUARE = [5, 1, 2, 33]
LARGE = [pytest.param(*shape, marks=pytest.mark.sweep) for shape in [(70, 70), (51, 131), (600, 64)]]
"""A GPU factors these by panels, of which the last one is not whole; a thread has one row of a panel or two."""

MOST = 60.0
"""So many roundings an element of a result may differ by; the numbers are those of a normal distribution."""

Array = np.ndarray[Any, Any]


def _run(name: str, target: str, *arrays: Array, **options: Any) -> list[Array]:
    given = [te.placeholder(one.shape, str(one.dtype), name=f"x{i}") for i, one in enumerate(arrays)]
    made = list(OPERATORS[name](*given, by_threads=target != "cpu", **options))
    function = tw.build(auto_schedule(made, target), [*given, *made], target=target, name=name)
    results: list[Array] = [np.empty([int(extent) for extent in one.shape], one.dtype) for one in made]
    function(*arrays, *results)
    return results


def _numbers(*shape: int, dtype: str = "float32") -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def _check(made: Array, wanted: Array, dtype: str, scale: float = 1.0) -> None:
    bound = MOST * max(scale, 1.0) * np.finfo(dtype).eps
    np.testing.assert_allclose(made.astype("float64"), wanted.astype("float64"), rtol=0, atol=bound)


@pytest.mark.sample(4)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows, columns", SIZES)
def test_lu(rows: int, columns: int, dtype: str, target: str) -> None:
    x, count = _numbers(2, rows, columns, dtype=dtype), min(rows, columns)
    factors, pivots = _run("lu", target, x)
    (order,) = _run("row_order", target, pivots, rows=rows)
    for own, made, pivot, places in zip(x, factors.astype("float64"), pivots, order):
        exchanged = own.copy()
        for step, row in enumerate(pivot):
            exchanged[[step, row]] = exchanged[[row, step]]
        np.testing.assert_array_equal(own[places], exchanged)
        lower = np.tril(made[:, :count], -1) + np.eye(rows, count)
        assert np.abs(lower).max() <= 1 + 1e-6  # as each pivot is the largest
        _check(lower @ np.triu(made[:count]), exchanged, dtype)


@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.sweep)])
@pytest.mark.parametrize("rows, columns", LARGE)
def test_lu_by_panels(rows: int, columns: int, dtype: str) -> None:
    assert min(rows, columns) >= factors.LEAST
    test_lu(rows, columns, dtype, "sim")


@pytest.mark.parametrize("target", TARGETS)
def test_pivots_of_equal_and_of_no_size(target: str) -> None:
    x = np.array([[[1, 2], [-1, 5]], [[0, 3], [0, 4]], [[1, 0], [np.nan, 2]]], "float32")
    factors, pivots = _run("lu", target, x)
    assert pivots.tolist()[:2] == [[0, 1], [0, 1]]  # of equal ones the first
    np.testing.assert_array_equal(factors[0], [[1, 2], [-1, 7]])
    np.testing.assert_array_equal(factors[1], [[0, 3], [0, 4]])  # a column of zeros is left
    assert np.isnan(factors[2]).any()


@pytest.mark.sample(4)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", SQUARE)
def test_cholesky_and_triangular_solutions(rows: int, dtype: str, target: str) -> None:
    x = _numbers(2, rows, rows, dtype=dtype)
    square = (x @ x.transpose(0, 2, 1) / rows + np.eye(rows)).astype(dtype)
    (lower,) = _run("cholesky", target, np.tril(square) + np.triu(np.full_like(square, np.nan), 1))
    np.testing.assert_array_equal(lower, np.tril(lower))
    _check(lower.astype("float64") @ lower.transpose(0, 2, 1), square, dtype)
    b = _numbers(2, rows, 3, dtype=dtype)
    for upper, unit in ((False, False), (True, False), (False, True), (True, True)):
        a = lower.transpose(0, 2, 1) if upper else lower
        if unit:
            a = a / rows
        other = np.full_like(a, np.nan)  # is not read
        given = a + (np.tril(other, -1) if upper else np.triu(other, 1))
        whole = a * (1 - np.eye(rows)) + np.eye(rows) if unit else a
        (y,) = _run("solve_triangular", target, given.astype(dtype), b, upper=upper, unit=unit)
        _check(whole.astype("float64") @ y, b, dtype)


@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.sweep)])
@pytest.mark.parametrize("rows", [pytest.param(131, marks=pytest.mark.sweep)])
def test_cholesky_and_triangular_solutions_by_panels(rows: int, dtype: str) -> None:
    assert rows >= factors.LEAST
    test_cholesky_and_triangular_solutions(rows, dtype, "sim")


@pytest.mark.sample(4)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows, columns", SIZES)
def test_reflections(rows: int, columns: int, dtype: str, target: str) -> None:
    x = _numbers(2, rows, columns, dtype=dtype)
    factors, scales = _run("reflections", target, x)
    one = np.broadcast_to(np.eye(rows, dtype=dtype), (2, rows, rows)).copy()
    (q,) = _run("reflect", target, factors, scales, one, transposed=False)
    (transposed,) = _run("reflect", target, factors, scales, one, transposed=True)
    # The error of a column is relative to its norm.
    _check(q.astype("float64") @ np.triu(factors), x, dtype, rows**0.5 / 8)
    _check(q.astype("float64") @ transposed, one, dtype)
    _check(q.transpose(0, 2, 1), transposed, dtype)


@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.sweep)])
@pytest.mark.parametrize("rows, columns", LARGE)
def test_reflections_by_panels(rows: int, columns: int, dtype: str) -> None:
    assert min(rows, columns) >= factors.LEAST
    test_reflections(rows, columns, dtype, "sim")


@pytest.mark.sample(4)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", SQUARE)
def test_eigenvalues(rows: int, dtype: str, target: str) -> None:
    x = _numbers(2, rows, rows, dtype=dtype)
    x += x.transpose(0, 2, 1)
    x[1] = np.eye(rows)[::-1]  # whose eigenvalues are 1 and -1, with zeros on the diagonal
    values, vectors = _run("diagonalize", target, x)
    norm = float(np.abs(x).max()) * rows**0.5
    _check(np.sort(values), np.linalg.eigvalsh(x.astype("float64")), dtype, norm)
    wide = vectors.astype("float64")
    _check(wide.transpose(0, 2, 1) @ (values[..., None] * wide), x, dtype, norm)
    _check(wide @ wide.transpose(0, 2, 1), np.broadcast_to(np.eye(rows), x.shape), dtype)


@pytest.mark.sample(4)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows, columns", SIZES)
def test_singular_values(rows: int, columns: int, dtype: str, target: str) -> None:
    x = _numbers(2, rows, columns, dtype=dtype)
    x[1, -1] = x[1, 0]  # one of them is 0
    made, rotations = _run("orthogonalize", target, x)
    norms = np.sort(np.linalg.norm(made.astype("float64"), axis=-1))[:, ::-1]
    wanted = np.linalg.svd(x.astype("float64"), compute_uv=False)
    _check(norms[:, : wanted.shape[1]], wanted, dtype, float(wanted.max()))
    wide = rotations.astype("float64")
    _check(wide @ x, made, dtype, float(wanted.max()))
    _check(wide @ wide.transpose(0, 2, 1), np.broadcast_to(np.eye(rows), (2, rows, rows)), dtype)


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["lu", "cholesky", "reflections"])
def test_small_panels(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factors, "LEAST", 2)
    monkeypatch.setattr(blocks, "PANEL", 8)  # of float64 4
    if name == "lu":
        test_lu(10, 13, dtype, "sim")
    elif name == "cholesky":
        test_cholesky_and_triangular_solutions(10, dtype, "sim")
    else:
        test_reflections(13, 10, dtype, "sim")
