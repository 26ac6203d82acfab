"""Expressions that are deep or long, and numbers that are large: they compile, or an error names the user's line."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.te.derivative import same
from tilewright.te.walks import run

A = te.placeholder((8,), name="A")


def built(body: Any) -> np.ndarray:
    """What a compute of 8 elements gives of 0 to 7, on this machine's processor."""
    B = te.compute((8,), body, name="B")
    b = np.zeros(8, np.float32)
    tw.build(te.create_schedule(B.op), [A, B], "cpu")(np.arange(8, dtype=np.float32), b)
    return b


@pytest.mark.sample(1)
@pytest.mark.parametrize("depth", [250, 600])
def test_nested_choices(depth: int) -> None:
    def body(i: Any) -> Any:
        value = A[i]
        for n in range(depth):
            value = te.if_then_else(i > n % 7, value + 1, A[i])
        return value

    expected = np.arange(8, dtype=np.float32)
    for n in range(depth):
        expected = np.where(np.arange(8) > n % 7, expected + 1, np.arange(8))
    assert (built(body) == expected).all()


@pytest.mark.parametrize("terms", [500, 2000])
def test_an_index_of_many_terms(terms: int) -> None:
    def body(i: Any) -> Any:
        index = i
        for n in range(terms):
            index = index + i * (n % 3) - n % 2
        return A[index % 8]

    at = np.arange(8) * (1 + sum(n % 3 for n in range(terms))) - terms // 2
    assert (built(body) == at % 8).all()


@pytest.mark.sweep
def test_a_sum_of_many_terms_and_its_text() -> None:
    def body(i: Any) -> Any:
        value = A[i]
        for n in range(1500):
            value = value + A[(i + n) % 8]
        return value

    B = te.compute((8,), body, name="B")
    assert str(B.op.body[0]).count(" + A[") == 1500
    at = np.arange(8)
    assert (built(body) == at + sum((at + n) % 8 for n in range(1500))).all()
    assert str(te.create_schedule(B.op)).count("A[") >= 1500


def test_a_conjunction_of_many_conditions() -> None:
    def body(i: Any) -> Any:
        return te.if_then_else(te.all(*(i > n % 5 - 1 for n in range(600))), A[i], 0.0)

    assert (built(body) == [0, 0, 0, 0, 4, 5, 6, 7]).all()


@pytest.mark.sweep
def test_the_text_of_nested_choices() -> None:
    def body(i: Any) -> Any:
        value = A[i]
        for n in range(1000):
            value = te.if_then_else(A[i] > n, value, A[i] + n)
        return value

    s = te.create_schedule(te.compute((8,), body, name="B").op)
    assert str(s).count("A[i]") >= 1000


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["choices", "functions"])
def test_the_gradient_of_what_is_deep(kind: str) -> None:
    """Of 3 * x in 1,200 steps, each of which is the operand of the next."""

    def body(i: Any) -> Any:
        x = A[i]
        value = 3.0 * x
        for n in range(1200):
            value = te.select(x > float(n), value, value + 1.0) if kind == "choices" else -te.abs(value)
        return value

    B = te.compute((8,), body, name="B")
    head = te.placeholder((8,), name="head")
    (gradient,) = te.gradient(B, [A], head)
    result = np.zeros(8, np.float32)
    run = tw.build(te.create_schedule(gradient.op), [A, head, gradient], "cpu")
    run(np.arange(1, 9, dtype=np.float32), np.ones(8, np.float32), result)
    assert (result == (3.0 if kind == "choices" else -3.0)).all()


def test_deep_expressions_that_are_written_the_same() -> None:
    def chain(steps: int, end: Any) -> Any:
        for _ in range(steps):
            end = te.exp(end) + end
        return end

    i = te.thread_axis("threadIdx.x")
    assert same(chain(2000, A[i]), chain(2000, A[i]))
    assert not same(chain(2000, A[i]), chain(2000, A[i] + 1.0)) and not same(chain(2000, A[i]), chain(1999, A[i]))


def test_an_error_passes_through_what_waits() -> None:
    """A step's `with` ends where what it waits for fails."""
    ended = []

    def fails() -> Any:
        raise KeyError("x")
        yield

    def waits(depth: int) -> Any:
        try:
            return (yield waits(depth - 1) if depth else fails())
        finally:
            ended.append(depth)

    with pytest.raises(KeyError, match="x"):
        run(waits(5000))
    assert ended == list(range(5001))


# ------------------------------------------------------------------ large numbers


def fails(expected: str, function: Any) -> None:
    with pytest.raises(ValueError) as caught:
        function()
    told = re.sub(rf"{re.escape(__file__)}:\d+", "HERE", str(caught.value))
    assert told == expected


BIG = 2**62


def test_extents_beyond_63_bits() -> None:
    text = "HERE: placeholder A: expected at most 2^63 - 1 bytes, elements of {}, got {}"
    fails(text.format("float32", 2**63), lambda: te.placeholder((2**63,), name="A"))
    fails(text.format("float32", 2**70), lambda: te.placeholder((2**70,), name="A"))
    fails(text.format("float32", f"{BIG} x 4"), lambda: te.placeholder((BIG, 4), name="A"))
    fails(text.format("float32", 2**61), lambda: te.placeholder((2**61,), name="A"))
    fails(
        text.format("int8", f"{2**40} x n x {2**40}"), lambda: te.placeholder((2**40, te.var("n"), 2**40), "int8", "A")
    )
    assert te.placeholder((2**63 - 1,), "int8").shape == (2**63 - 1,)
    text = "HERE: compute C: expected at most 2^63 - 1 bytes, elements of float32, got {}"
    fails(text.format(f"{2**40} x {2**40}"), lambda: te.compute((2**40, 2**40), lambda i, j: A[0], name="C"))
    fails(text.format(2**61), lambda: te.compute((2**61,), lambda i: A[0], name="C"))


def test_iterations_beyond_63_bits() -> None:
    k, m = te.reduce_axis((0, 2**40), "k"), te.reduce_axis((0, 2**20), "m")
    fails(
        f"HERE: compute C: expected at most 2^63 - 1 iterations, got 8 x {2**40} x {2**20}",
        lambda: te.compute((8,), lambda i: te.sum(A[i], axis=[k, m]), name="C"),
    )


def test_axes_whose_end_is_beyond_63_bits() -> None:
    text = "HERE: reduce_axis k: expected {}"
    fails(text.format(f"an end of at most 2^63 - 1, got {2**63}"), lambda: te.reduce_axis((0, 2**63), "k"))
    fails(
        text.format(f"a first value of at most 2^63 - 1, got {2**64}"), lambda: te.reduce_axis((2**64, 2**64 + 1), "k")
    )
    fails(
        text.format(f"a first value of at least -2^63 + 1, got {-(2**63)}"), lambda: te.reduce_axis((-(2**63), 0), "k")
    )
    fails(text.format(f"a number of values of at most 2^63 - 1, got {2**63}"), lambda: te.reduce_axis((-BIG, BIG), "k"))


def test_a_reduction_that_ends_at_an_axis() -> None:
    fails(
        "HERE: compute B: expected reduce_axis k to end at a number, a te.var or an expression of these, got one of "
        "the axis 'i': end at the largest, and give the reduction where=",
        lambda: te.compute((8,), lambda i: te.sum(A[i], axis=te.reduce_axis((0, i), "k")), name="B"),
    )
    n = te.var("n")
    fails(
        "HERE: compute B: expected reduce_axis k to end at a number, a te.var or an expression of these, got one of "
        "the axis 'j': end at the largest, and give the reduction where=",
        lambda: te.compute((8,), lambda j: te.sum(A[j], axis=te.reduce_axis((2, n * 2 + j), "k")), name="B"),
    )
