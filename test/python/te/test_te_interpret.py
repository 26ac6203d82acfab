"""te by NumPy is computed in pieces, whose size is no part of the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright import te
from tilewright.te import Tensor
from tilewright.te import interpret as interpreter


def matmul(A: Tensor) -> list[Tensor]:
    k = te.reduce_axis((0, 6), name="k")
    return [te.compute((5, 4, 5), lambda b, i, j: te.sum(A[b, i, k] * A[j, i, k], axis=k), name="C")]


def first_largest(A: Tensor) -> list[Tensor]:
    def combine(x: Any, y: Any) -> Any:
        takes = te.any(x[1] > y[1], te.all(x[1] == y[1], x[0] < y[0]))
        return te.select(takes, x[0], y[0]), te.select(takes, x[1], y[1])

    argmax = te.comm_reducer(combine, lambda i, v: (te.const(99, i), te.min_value(v)), name="argmax")
    k = te.reduce_axis((0, 6), name="k")
    return list(te.compute((5, 4), lambda i, j: argmax((k.astype("int32"), A[i, j, k]), axis=k), name="largest"))


def running(A: Tensor) -> list[Tensor]:
    """A scan of two stages."""
    state = te.placeholder((5, 6), name="state")
    k = te.reduce_axis((0, 4), name="k")
    init = te.compute((1, 6), lambda _, i: A[0, 0, i], name="init")
    total = te.compute((5, 6), lambda t, i: te.sum(A[t, k, i], axis=k), name="total")
    update = te.compute((5, 6), lambda t, i: state[t - 1, i] * 0.5 + total[t, i], name="update")
    return [te.scan(init, update, state, name="S")]


@pytest.mark.parametrize("program", [matmul, first_largest, running])
@pytest.mark.parametrize("at_once", [1, 7, 50])
def test_pieces_make_the_whole(
    program: Callable[[Tensor], list[Tensor]], at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    A = te.placeholder((5, 4, 6), name="A")
    a = np.random.default_rng(0).standard_normal((5, 4, 6)).astype("float32")
    outputs = program(A)
    whole = interpreter.interpret(outputs, {A: a}, {})
    monkeypatch.setattr(interpreter, "_AT_ONCE", at_once)
    for one, other in zip(interpreter.interpret(outputs, {A: a}, {}), whole):
        np.testing.assert_array_equal(one, other)


def test_no_more_elements_than_these_are_computed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    largest = 0
    reduce = interpreter._Stage._reduce

    def counted(self: Any, reduction: Any, parts: list[Any]) -> list[Any]:
        nonlocal largest
        largest = max(largest, *(part.size for part in parts))
        return reduce(self, reduction, parts)

    monkeypatch.setattr(interpreter._Stage, "_reduce", counted)
    A = te.placeholder((5, 4, 6), name="A")
    a = np.ones((5, 4, 6), "float32")
    interpreter.interpret(matmul(A), {A: a}, {})
    assert largest == 5 * 4 * 5 * 6
    monkeypatch.setattr(interpreter, "_AT_ONCE", 31)
    largest = 0
    interpreter.interpret(matmul(A), {A: a}, {})
    assert largest == 30  # rows of 6 elements, 5 of them


def test_a_read_outside_is_told_from_any_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "_AT_ONCE", 2)
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i + 1], name="B")
    with pytest.raises(interpreter.ReadOutside, match=r": B reads A at 8 in dimension 0, expected 0 to 7$"):
        interpreter.interpret([B], {A: np.ones(8, "float32")}, {})
