"""Conditional expressions that both branches of another one need: they are computed once, and only where they would be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te

N = 16


def chain(levels: int) -> list[Any]:
    """Each level adds 1 to the one before, but for one element."""
    A = te.placeholder((N,), name="A")

    def element(i: te.Expr) -> te.Expr:
        value = A[i]
        for level in range(levels):
            value = te.if_then_else(i == level, value, value + 1)
        return value

    return [A, te.compute((N,), element, name="B")]


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_a_long_chain(target: str) -> None:
    args = chain(60)
    schedule = te.create_schedule(args[1].op)
    if target == "sim":
        schedule[args[1]].bind(args[1].op.axis[0], te.thread_axis("threadIdx.x"))
    function = tw.build(schedule, args, target)
    a, b = np.random.default_rng(0).integers(0, 9, N).astype("float32"), np.zeros(N, "float32")
    function(a, b)
    np.testing.assert_array_equal(b, a + 59)
    assert len(str(function.ir("te")).splitlines()) < 60 * 12


def test_places_that_data_choose() -> None:
    A = te.placeholder((N,), name="A")

    def element(i: te.Expr) -> te.Expr:
        place = i
        for level in range(40):
            place = te.if_then_else(A[level % N] > 0.5, place, (place + 1) % N)
        return A[place]

    B = te.compute((N,), element, name="B")
    a, b = np.random.default_rng(0).random(N).astype("float32"), np.zeros(N, "float32")
    tw.build(te.create_schedule(B.op), [A, B], "cpu")(a, b)
    moved = sum(a[level % N] <= 0.5 for level in range(40))
    np.testing.assert_array_equal(b, a[(np.arange(N) + moved) % N])


def test_what_only_some_branches_need_stays_in_them() -> None:
    """Elements outside of A are read in neither branch, though both name them."""
    A = te.placeholder((4,), name="A")

    def element(i: te.Expr) -> te.Expr:
        inner = te.if_then_else(i % 2 == 0, A[i - 4], A[i - 4] + 1)
        inside = te.all(i >= 4, i < 8)
        return te.if_then_else(i < 9, te.if_then_else(inside, inner, 0.0), te.if_then_else(inside, inner, 1.0))

    B = te.compute((N,), element, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    a, b = np.arange(4, dtype="float32"), np.zeros(N, "float32")
    tw.build(s, [A, B], "sim")(a, b)  # which checks each place
    expected = [0, 0, 0, 0, 0, 2, 2, 4, 0, 1, 1, 1, 1, 1, 1, 1]
    np.testing.assert_array_equal(b, np.array(expected, "float32"))
