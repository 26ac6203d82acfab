"""Schedules by rule of programs that read one of a stage's several tensors, and of scans of several states."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing
from tilewright.te import Tensor

N = 64


def _largest(q: Tensor) -> Tensor:
    k = te.reduce_axis((0, N), "k")
    return te.compute((N,), lambda i: te.max(q[i, k], axis=k), name="m")


def _less_largest(q: Tensor) -> Tensor:
    m = _largest(q)
    return te.compute((N, N), lambda i, j: q[i, j] - m[i], name="D")


def _squared(q: Tensor) -> Tensor:
    k = te.reduce_axis((0, N), "k")
    b = te.compute((N, N), lambda i, j: (i - j).astype("float32"), name="B")
    return te.compute((N, N), lambda i, j: te.sum(q[i, k] * b[k, j], axis=k), name="C")


@pytest.mark.parametrize("target", ["sim", "cpu"])
@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (_largest, lambda q: q.max(axis=1)),
        (_less_largest, lambda q: q - q.max(axis=1, keepdims=True)),
        (_squared, lambda q: q @ (np.arange(N)[:, None] - np.arange(N))),
        (lambda q: te.compute((N, N), lambda i, j: q[j, i], name="T"), np.transpose),
    ],
)
def test_one_of_several_tensors_is_read(made: Callable, expected: Callable, target: str) -> None:
    """No primitive copies a part of them to shared memory or registers."""
    A = te.placeholder((N, N), name="A")
    _, q = te.compute((N, N), lambda i, j: (A[i, j] * 2.0, A[i, j] + 1.0), name="P")
    out = made(q)
    function = tw.build(tw.auto_schedule([out], target), [A, out], target)
    a = np.random.default_rng(0).integers(-4, 4, (N, N)).astype("float32")
    (got,) = testing.run(function, [a], [(tuple(map(int, out.shape)), "float32")])
    np.testing.assert_array_equal(got, expected(a + 1))


def test_states_scanned_together_have_one_number_of_threads() -> None:
    X = te.placeholder((4, 6), name="X")
    S, Q = te.placeholder((4, 6), name="S"), te.placeholder((4,), name="Q")
    k = te.reduce_axis((0, 6), "k")
    begins = te.compute((1, 6), lambda t, i: X[t, i], name="b"), te.compute((1,), lambda t: X[t, 0], name="c")
    rows = te.compute((4, 6), lambda t, i: S[t - 1, i] + Q[t - 1] + X[t, i], name="u")
    largest = te.compute((4,), lambda t: te.max(S[t - 1, k], axis=k), name="v")
    made = te.scan(list(begins), [rows, largest], [S, Q])
    plan = tw.auto_schedule(made, "sim").plan
    assert plan is not None
    found = [decision.choices[0].alternatives for decision in plan if decision.rule == "recurrence"]
    assert found == [(64,), (64,)]
