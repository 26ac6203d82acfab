"""Reductions of rows and columns, and what is made of them: a block of threads reduces together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from programs.checks import TARGETS, Scheduled, check
from tilewright import te, testing
from tilewright.te import Expr, Schedule, Tensor

Exact = NDArray[np.float64]
U = testing.unit_roundoff("float32")
THREADS = 32
targets = pytest.mark.parametrize("target", TARGETS)


def reduced(X: Tensor, element: Callable[[Expr, Expr], Expr], combine: Callable[..., Expr], name: str) -> Tensor:
    """A number a row."""
    k = te.reduce_axis((0, X.shape[1]), "k")
    return te.compute((X.shape[0],), lambda i: combine(element(i, k), axis=k), name=name)


def row_a_block(s: Schedule, Y: Tensor, *reductions: Tensor) -> None:
    """The threads of a block compute a row of Y, and each of the reductions that it needs, together."""
    i, j = Y.op.axis
    _, thread = s[Y].split(j, factor=THREADS)
    s[Y].bind(i, te.thread_axis("blockIdx.x"))
    s[Y].bind(thread, te.thread_axis("threadIdx.x"))
    for stage in reductions:
        s[stage].compute_at(s[Y], i)
        _, thread = s[stage].split(stage.op.reduce_axis[0], factor=THREADS)
        s[stage].bind(thread, te.thread_axis("threadIdx.x"))


def row_sum(rows: int, columns: int) -> Scheduled:
    X = te.placeholder((rows, columns), name="X")
    total = reduced(X, lambda i, k: X[i, k], te.sum, "total")
    s = te.create_schedule(total.op)
    row, inner = s[total].split(total.op.axis[0], factor=4)
    _, thread = s[total].split(total.op.reduce_axis[0], factor=THREADS)
    s[total].bind(row, te.thread_axis("blockIdx.x"))
    s[total].bind(inner, te.thread_axis("threadIdx.y"))
    s[total].bind(thread, te.thread_axis("threadIdx.x"))
    return s, [X, total]


def column_sum(rows: int, columns: int) -> Scheduled:
    """Threads along x take neighbouring columns, threads along y share the rows."""
    X = te.placeholder((rows, columns), name="X")
    k = te.reduce_axis((0, rows), "k")
    total = te.compute((columns,), lambda j: te.sum(X[k, j], axis=k), name="total")
    s = te.create_schedule(total.op)
    block, thread = s[total].split(total.op.axis[0], factor=16)
    _, part = s[total].split(total.op.reduce_axis[0], factor=4)
    s[total].bind(block, te.thread_axis("blockIdx.x"))
    s[total].bind(thread, te.thread_axis("threadIdx.x"))
    s[total].bind(part, te.thread_axis("threadIdx.y"))
    return s, [X, total]


def softmax(rows: int, columns: int) -> Scheduled:
    X = te.placeholder((rows, columns), name="X")
    largest = reduced(X, lambda i, k: X[i, k], te.max, "largest")
    power = te.compute(X.shape, lambda i, j: te.exp(X[i, j] - largest[i]), name="power")
    total = reduced(X, lambda i, k: power[i, k], te.sum, "total")
    Y = te.compute(X.shape, lambda i, j: power[i, j] / total[i], name="Y")
    s = te.create_schedule(Y.op)
    s[power].compute_inline()
    row_a_block(s, Y, total, largest)
    return s, [X, Y]


def layer_norm(rows: int, columns: int) -> Scheduled:
    X, gamma, beta = (
        te.placeholder((rows, columns), name="X"),
        te.placeholder((columns,), name="gamma"),
        te.placeholder((columns,), name="beta"),
    )
    mean = reduced(X, lambda i, k: X[i, k] * (1.0 / columns), te.sum, "mean")
    variance = reduced(X, lambda i, k: (X[i, k] - mean[i]) * (X[i, k] - mean[i]) * (1.0 / columns), te.sum, "variance")
    Y = te.compute(
        X.shape,
        lambda i, j: (X[i, j] - mean[i]) * te.rsqrt(variance[i] + 1e-5) * gamma[j] + beta[j],
        name="Y",
    )
    s = te.create_schedule(Y.op)
    row_a_block(s, Y, variance, mean)
    return s, [X, gamma, beta, Y]


def rms_norm(rows: int, columns: int) -> Scheduled:
    X, gamma = te.placeholder((rows, columns), name="X"), te.placeholder((columns,), name="gamma")
    square = reduced(X, lambda i, k: X[i, k] * X[i, k], te.sum, "square")
    Y = te.compute(X.shape, lambda i, j: X[i, j] * te.rsqrt(square[i] * (1.0 / columns) + 1e-5) * gamma[j], name="Y")
    s = te.create_schedule(Y.op)
    row_a_block(s, Y, square)
    return s, [X, gamma, Y]


def argmax(rows: int, columns: int) -> Scheduled:
    """The first of the largest elements of each row and where it stands."""

    def combine(x, y):
        left = te.any(x[1] > y[1], te.all(x[1] == y[1], x[0] < y[0]))
        return te.select(left, x[0], y[0]), te.select(left, x[1], y[1])

    reducer = te.comm_reducer(combine, lambda t0, t1: (te.const(2**31 - 1, t0), te.min_value(t1)), name="argmax")
    X = te.placeholder((rows, columns), name="X")
    k = te.reduce_axis((0, columns), "k")
    index, value = te.compute((rows,), lambda i: reducer((k, X[i, k]), axis=k), name="argmax")
    s = te.create_schedule(index.op)
    _, thread = s[index].split(index.op.reduce_axis[0], factor=THREADS)
    s[index].bind(index.op.axis[0], te.thread_axis("blockIdx.x"))
    s[index].bind(thread, te.thread_axis("threadIdx.x"))
    return s, [X, index, value]


@targets
def test_row_sum(target: str) -> None:
    check(lambda: row_sum(10, 99), target, lambda x: [(x.sum(axis=1), 99 * U * np.abs(x).sum(axis=1))])


@targets
def test_column_sum(target: str) -> None:
    check(lambda: column_sum(50, 35), target, lambda x: [(x.sum(axis=0), 50 * U * np.abs(x).sum(axis=0))])


@targets
def test_softmax(target: str) -> None:
    def expected(x: Exact):
        shifted = x - x.max(axis=1, keepdims=True)
        power = np.exp(shifted)
        exact = power / power.sum(axis=1, keepdims=True)
        return [(exact, (2 * np.abs(shifted).max() + 9 + x.shape[1]) * U * exact)]

    check(lambda: softmax(5, 70), target, expected)


@targets
def test_layer_norm(target: str) -> None:
    def expected(x: Exact, gamma: Exact, beta: Exact):
        columns = x.shape[1]
        centred = x - x.mean(axis=1, keepdims=True)
        exact = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * gamma + beta
        # Mean and variance are sums of so many terms; what is subtracted is as large as the largest element.
        relative = (3 * columns + 12) * U
        return [(exact, relative * (np.abs(x).max() / centred.std() * np.abs(gamma) + np.abs(exact) + np.abs(beta)))]

    check(lambda: layer_norm(4, 75), target, expected)


@targets
def test_rms_norm(target: str) -> None:
    def expected(x: Exact, gamma: Exact):
        exact = x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-5) * gamma
        return [(exact, (x.shape[1] + 9) * U * np.abs(exact))]

    check(lambda: rms_norm(4, 75), target, expected)


@targets
def test_argmax(target: str) -> None:
    check(lambda: argmax(6, 75), target, lambda x: [(x.argmax(axis=1).astype(float), 0), (x.max(axis=1), 0)])
