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


def rods_along(shape: tuple[int, ...], along: int) -> tuple[te.Tensor, te.Tensor]:
    """Rods along one axis, of each of which a step reads neighbours."""
    n = shape[along]
    X, u = te.placeholder(shape, name="X"), te.placeholder((4, *shape), name="u")

    def at(t: te.Expr, *place: te.Expr, by: int) -> te.Expr:
        index = list(place)
        index[along] = te.min(te.max(place[along] + by, 0), n - 1)
        return u(t, *index)

    init = te.compute((1, *shape), lambda _, *place: X(*place), name="init")
    update = te.compute(
        (4, *shape),
        lambda t, *place: u(t - 1, *place) * 0.5 + 0.25 * (at(t - 1, *place, by=-1) + at(t - 1, *place, by=1)),
        name="update",
    )
    return X, te.scan(init, update, u, name="rods")  # type: ignore[return-value]


BLOCKS = [((3, 70), 1, "i1"), ((40, 2), 0, "i2"), ((2, 3, 40), 2, "i2, i1"), ((2, 40, 3), 1, "i3, i1")]


@pytest.mark.parametrize("target", ["sim", "cpu"])
@pytest.mark.parametrize(("shape", "along", "axes"), BLOCKS)
def test_each_block_has_rods_of_its_own(shape: tuple[int, ...], along: int, axes: str, target: str) -> None:
    X, Y = rods_along(shape, along)
    s = tw.auto_schedule(Y, target)
    assert s.plan is not None
    if target == "sim":
        assert s.plan.decisions[-1].why == (
            f"each element along the first axis needs those before it, and others of the step before along i{along + 1}: "
            f"the threads of a block for each {axes}, which wait for each other, have them all"
        )
    x = NUMBERS.standard_normal(shape).astype("float32")
    exact, n = [x.astype("float64")], shape[along]
    for _ in range(3):
        lower, upper = (exact[-1].take(np.clip(np.arange(n) + by, 0, n - 1), along) for by in (-1, 1))
        exact.append(exact[-1] * 0.5 + 0.25 * (lower + upper))
    (made,) = testing.run(tw.build(s, [X, Y], target), [x], [(tuple(Y.shape), "float32")])
    np.testing.assert_allclose(made, np.stack(exact), rtol=1e-5, atol=1e-5)


def test_cells_of_a_batch_have_a_block_each() -> None:
    """A stage of the steps reads the state of its own element of the batch alone, of any number of them."""
    n, hidden = te.var("n"), 10
    X, W = te.placeholder((5, n, hidden), name="X"), te.placeholder((hidden, hidden), name="W")
    h, k = te.placeholder((5, n, hidden), name="h"), te.reduce_axis((0, hidden), "k")
    product = te.compute((5, n, hidden), lambda t, b, i: te.sum(h[t - 1, b, k] * W[k, i], axis=k), name="product")
    init = te.compute((1, n, hidden), lambda _, b, i: X[0, b, i], name="init")
    update = te.compute((5, n, hidden), lambda t, b, i: te.tanh(product[t, b, i] + X[t, b, i]), name="update")
    Y = te.scan(init, update, h, name="cells")
    s = tw.auto_schedule(Y, "sim")
    assert s.plan is not None and "a block for each b," in s.plan.decisions[-1].why
    x, w = NUMBERS.standard_normal((5, 3, hidden)).astype("float32"), NUMBERS.standard_normal((hidden, hidden))
    exact = [x[0].astype("float64")]
    for row in x[1:]:
        exact.append(np.tanh(exact[-1] @ w + row))
    function = tw.build(s, [X, W, Y], "sim")
    (made,) = testing.run(function, [x, w.astype("float32")], [(x.shape, "float32")])
    np.testing.assert_allclose(made, np.stack(exact), rtol=1e-4, atol=1e-4)
