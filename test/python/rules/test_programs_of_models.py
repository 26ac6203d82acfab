"""Programs around models: edit distances, gates of experts, losses, boxes, images, convolutions of normalized weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rule_programs import Made, check
from tilewright import te

NUMBERS = np.random.default_rng(3)


def floats(*shape: int) -> np.ndarray:
    return NUMBERS.standard_normal(shape).astype("float32")


def edit_distances() -> Made:
    """By diagonals, of which the last two are states: the first is the second of the step before."""
    n = 9
    A, B = te.placeholder((n,), "int32", name="A"), te.placeholder((n,), "int32", name="B")
    shape = (2 * n + 1, n + 1)
    before, last = te.placeholder(shape, "int32", name="before"), te.placeholder(shape, "int32", name="last")

    def letter(word: te.Tensor, at: Any) -> Any:
        return word[te.min(te.max(at - 1, 0), n - 1)]

    def cell(d: Any, i: Any) -> Any:
        j, above = d - i, te.max(i - 1, 0)
        changed = before[d - 1, above] + te.if_then_else(letter(A, i) == letter(B, j), 0, 1)
        least = te.min(te.min(last[d - 1, above], last[d - 1, i]) + 1, changed)
        edge = te.if_then_else(j == 0, i.astype("int32"), least)
        return te.if_then_else(te.any(j < 0, j > n), 1000, te.if_then_else(i == 0, j.astype("int32"), edge))

    first = te.compute((1, n + 1), lambda _, i: te.const(1000), name="first")
    second = te.compute((1, n + 1), lambda _, i: te.if_then_else(i == 0, 0, 1000), name="second")
    updates = [te.compute(shape, lambda d, i: last[d - 1, i], name="moved"), te.compute(shape, cell, name="cell")]
    _, cells = te.scan([first, second], updates, [before, last], inputs=[A, B], name="cells")
    Y = te.compute((1,), lambda _: cells[2 * n, n], name="Y")
    a, b = (NUMBERS.integers(0, 4, n).astype("int32") for _ in range(2))
    row = list(range(n + 1))
    for i in range(n):
        above, row = row, [i + 1]
        for j in range(n):
            row.append(min(above[j + 1] + 1, row[j] + 1, above[j] + int(a[i] != b[j])))
    return [A, B], [Y], [a, b], [np.array([row[n]])]


def two_experts_of_eight() -> Made:
    X, k, u, v, w = te.placeholder((26, 8), name="X"), *(te.reduce_axis((0, 8), name) for name in "kuvw")
    best = te.compute((26,), lambda t: te.max(X[t, k], axis=k), name="best")
    one = te.compute(
        (26,), lambda t: te.min(te.if_then_else(X[t, u] == best[t], u.astype("int32"), 8), axis=u), name="one"
    )

    def other(t: Any, e: Any) -> Any:
        return te.if_then_else(e.astype("int32") == one[t], te.min_value("float32"), X[t, e])

    second = te.compute((26,), lambda t: te.max(other(t, v), axis=v), name="second")
    two = te.compute(
        (26,), lambda t: te.min(te.if_then_else(other(t, w) == second[t], w.astype("int32"), 8), axis=w), name="two"
    )
    share = te.compute((26,), lambda t: 1.0 / (1.0 + te.exp(second[t] - best[t])), name="share")
    x = floats(26, 8)
    order = np.argsort(-x, 1)
    apart = np.take_along_axis(x, order[:, 1:2], 1) - np.take_along_axis(x, order[:, :1], 1)
    return [X], [one, two, share], [x], [order[:, 0], order[:, 1], 1 / (1 + np.exp(apart[:, 0].astype("float64")))]


def loss_of_what_is_not_ignored() -> Made:
    X, T = te.placeholder((30, 17), name="X"), te.placeholder((30,), "int64", name="T")
    c, d, n, p = (te.reduce_axis((0, extent), name) for extent, name in zip((17, 17, 30, 30), "cdnp"))
    largest = te.compute((30,), lambda i: te.max(X[i, c], axis=c), name="largest")
    total = te.compute((30,), lambda i: te.sum(te.exp(X[i, d] - largest[i]), axis=d), name="total")

    def loss(i: Any) -> Any:
        return te.if_then_else(T[i] != -100, largest[i] + te.log(total[i]) - X[i, te.max(T[i], 0)], 0.0)

    losses = te.compute((30,), loss, name="losses")
    added = te.compute((1,), lambda _: te.sum(losses[n], axis=n), name="added")
    count = te.compute((1,), lambda _: te.sum(te.if_then_else(T[p] != -100, 1.0, 0.0), axis=p), name="count")
    Y = te.compute((1,), lambda i: added[i] / te.max(count[i], 1.0), name="Y")
    x, t = floats(30, 17), NUMBERS.integers(0, 17, 30)
    t[::4] = -100
    kept = t != -100
    exact = np.log(np.exp(x.astype("float64")).sum(1))[kept] - x[kept, t[kept]]
    return [X, T], [Y], [x, t], [exact.mean(keepdims=True)]


def boxes_that_overlap() -> Made:
    B, S, k = te.placeholder((40, 4), name="B"), te.placeholder((40,), name="S"), te.reduce_axis((0, 40), name="k")

    def area(i: Any) -> Any:
        return (B[i, 2] - B[i, 0]) * (B[i, 3] - B[i, 1])

    def overlap(i: Any, j: Any) -> Any:
        sides = (te.max(te.min(B[i, c + 2], B[j, c + 2]) - te.max(B[i, c], B[j, c]), 0.0) for c in (0, 1))
        shared = next(sides) * next(sides)
        return shared / (area(i) + area(j) - shared)

    I = te.compute((40, 40), overlap, name="I")  # noqa: E741
    better = te.compute(
        (40,), lambda i: te.sum(te.if_then_else(te.all(S[k] > S[i], I[i, k] > 0.4), 1, 0), axis=k), name="better"
    )
    low, s = NUMBERS.random((40, 2)), NUMBERS.random(40).astype("float32")
    b = np.concatenate([low, low + 0.2 + NUMBERS.random((40, 2)) * 0.3], 1).astype("float32")
    wide = b.astype("float64")
    sides = np.minimum(wide[:, None, 2:], wide[None, :, 2:]) - np.maximum(wide[:, None, :2], wide[None, :, :2])
    shared, areas = np.maximum(sides, 0).prod(-1), (wide[:, 2:] - wide[:, :2]).prod(-1)
    exact = shared / (areas[:, None] + areas[None] - shared)
    return [B, S], [I, better], [b, s], [exact, ((s[None] > s[:, None]) & (exact > 0.4)).sum(1)]


def rows_by_hadamards_matrix() -> Made:
    X = Y = te.placeholder((7, 32), name="X")
    for step in range(5):
        half, A = 1 << step, Y

        def element(r: Any, i: Any, half: int = half, A: te.Tensor = A) -> Any:
            return te.if_then_else(i // half % 2 == 0, A[r, i] + A[r, i + half], A[r, i - half] - A[r, i])

        Y = te.compute((7, 32), element, name=f"step{step}")
    x, matrix = floats(7, 32), np.ones((1, 1))
    for _ in range(5):
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return [X], [Y], [x], [x @ matrix]


def convolution_by_standardized_filters() -> Made:
    X, W = te.placeholder((1, 8, 10, 10), name="X"), te.placeholder((16, 8, 3, 3), name="W")
    a, b, r = ([te.reduce_axis((0, extent)) for extent in (8, 3, 3)] for _ in range(3))
    mean = te.compute((16,), lambda f: te.sum(W(f, *a), axis=a), name="mean")

    def centred(f: Any, *at: Any) -> Any:
        return W(f, *at) - mean[f] / 72.0

    squares = te.compute((16,), lambda f: te.sum(centred(f, *b) * centred(f, *b), axis=b), name="squares")
    V = te.compute(W.shape, lambda f, *at: centred(f, *at) * te.rsqrt(squares[f] / 72.0 + 1e-5), name="V")
    Y = te.compute(
        (1, 16, 8, 8), lambda n, f, y, x: te.sum(X[n, r[0], y + r[1], x + r[2]] * V(f, *r), axis=r), name="Y"
    )
    x, w = floats(1, 8, 10, 10), floats(16, 8, 3, 3)
    wide = w.astype("float64")
    axes = (1, 2, 3)
    v = (wide - wide.mean(axes, keepdims=True)) / np.sqrt(wide.var(axes, keepdims=True) + 1e-5)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype("float64"), (3, 3), axis=(2, 3))
    return [X, W], [Y], [x, w], [np.einsum("nchwij,fcij->nfhw", windows, v)]


PROGRAMS: list[Callable[[], Made]] = [
    edit_distances, two_experts_of_eight, loss_of_what_is_not_ignored, boxes_that_overlap, rows_by_hadamards_matrix,
    convolution_by_standardized_filters,
]  # fmt: skip


@pytest.mark.sample(4)
@pytest.mark.parametrize("target", ["sim", "cpu"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs_of_models(program: Callable[[], Made], target: str) -> None:
    check(program, target)
