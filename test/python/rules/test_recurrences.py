"""Recurrences whose steps read other elements of the step before."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing

NUMBERS = np.random.default_rng(8)


def shortest_paths(n: int) -> tuple[te.Tensor, te.Tensor]:
    """Between all of `n` nodes, by way of the first of them, the first two and so on."""
    W, d = te.placeholder((n, n), "int32", name="W"), te.placeholder((n + 1, n, n), "int32", name="d")
    init = te.compute((1, n, n), lambda _, i, j: W[i, j], name="init")
    update = te.compute(
        (n + 1, n, n),
        lambda t, i, j: te.min(d[t - 1, i, j], d[t - 1, i, t - 1] + d[t - 1, t - 1, j]),
        name="update",
    )
    return W, te.scan(init, update, d, name="paths")  # type: ignore[return-value]


def heat(batch: int, n: int, steps: int) -> tuple[te.Tensor, te.Tensor]:
    """Of `batch` rods, whose ends are cold."""
    X, u = te.placeholder((batch, n), name="X"), te.placeholder((steps, batch, n), name="u")

    def at(t: te.Expr, b: te.Expr, i: te.Expr) -> te.Expr:
        return te.if_then_else(te.all(i >= 0, i < n), u[t, b, te.min(te.max(i, 0), n - 1)], 0.0)

    init = te.compute((1, batch, n), lambda _, b, i: X[b, i], name="init")
    update = te.compute(
        (steps, batch, n),
        lambda t, b, i: u[t - 1, b, i] + 0.25 * (at(t - 1, b, i - 1) + at(t - 1, b, i + 1) - 2.0 * u[t - 1, b, i]),
        name="update",
    )
    return X, te.scan(init, update, u, name="rods")  # type: ignore[return-value]


@pytest.mark.parametrize("target", ["sim", "cpu"])
def test_shortest_paths(target: str) -> None:
    W, Y = shortest_paths(5)
    w = NUMBERS.integers(1, 100, (5, 5)).astype("int32")
    exact = [w]
    for k in range(5):
        exact.append(np.minimum(exact[-1], exact[-1][:, [k]] + exact[-1][[k]]))
    func = tw.build(tw.auto_schedule(Y, target), [W, Y], target)
    (made,) = testing.run(func, [w], [(tuple(Y.shape), "int32")])
    np.testing.assert_array_equal(made, np.stack(exact))


@pytest.mark.parametrize("target", ["sim", "cpu"])
def test_rods(target: str) -> None:
    X, Y = heat(3, 70, 5)
    x = NUMBERS.standard_normal((3, 70)).astype("float32")
    exact = [x.astype("float64")]
    for _ in range(4):
        padded = np.pad(exact[-1], ((0, 0), (1, 1)))
        exact.append(exact[-1] + 0.25 * (padded[:, :-2] + padded[:, 2:] - 2 * exact[-1]))
    func = tw.build(tw.auto_schedule(Y, target), [X, Y], target)
    (made,) = testing.run(func, [x], [(tuple(Y.shape), "float32")])
    np.testing.assert_allclose(made, np.stack(exact), rtol=1e-5, atol=1e-5)
