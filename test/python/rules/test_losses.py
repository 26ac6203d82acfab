"""Sums of all elements whose rows have reductions of their own: those of a row are one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing
from tilewright.graph.operators import OPERATORS
from tilewright.graph.operators.common import in_range

H200, SIM = "cuda -device=H200", "sim -device=H200"


def _log_softmax(X: te.Tensor) -> te.Tensor:
    return OPERATORS["log_softmax"](X, axis=1)[0]


def _total(value: Any, *extents: int, scale: float = 1.0, name: str = "total") -> te.Tensor:
    axes = [te.reduce_axis((0, extent), f"k{place}") for place, extent in enumerate(extents)]
    total = te.compute((1,), lambda _: te.sum(value(*axes), axis=axes), name=name)
    return te.compute((1,), lambda i: total[i] * scale, name="loss")


class Divergence:
    """Kullback's, of softmaxes of rows."""

    def __init__(self, rows: int, columns: int) -> None:
        self.inputs = [te.placeholder((rows, columns), name=name) for name in ("X", "Y")]
        p, q = map(_log_softmax, self.inputs)
        self.output = _total(lambda i, j: te.exp(p[i, j]) * (p[i, j] - q[i, j]), rows, columns, scale=0.5)
        self.shapes = [(rows, columns)] * 2

    @staticmethod
    def exact(x: np.ndarray, y: np.ndarray) -> float:
        p, q = (one - np.log(np.exp(one).sum(1, keepdims=True)) for one in (x, y))
        return float((np.exp(p) * (p - q)).sum() * 0.5)


class Distances:
    """Of rows; the larger of two counts."""

    def __init__(self, rows: int, columns: int) -> None:
        A, P, N = self.inputs = [te.placeholder((rows, columns), name=name) for name in ("A", "P", "N")]

        def distance(X: te.Tensor) -> te.Tensor:
            k = te.reduce_axis((0, columns), "k")
            return te.compute(
                (rows,), lambda i: te.sum((A[i, k] - X[i, k]) * (A[i, k] - X[i, k]), axis=k), name="squares"
            )

        near, far = distance(P), distance(N)
        self.output = _total(lambda i: te.max(te.sqrt(near[i]) - te.sqrt(far[i]) + 1.0, 0.0), rows)
        self.shapes = [(rows, columns)] * 3

    @staticmethod
    def exact(a: np.ndarray, p: np.ndarray, n: np.ndarray) -> float:
        near, far = (np.sqrt(((a - one) ** 2).sum(1)) for one in (p, n))
        return float(np.maximum(near - far + 1, 0).sum())


class CrossEntropy:
    def __init__(self, rows: int, columns: int) -> None:
        X, L = self.inputs = [te.placeholder((rows, columns), name="X"), te.placeholder((rows,), "int64", name="L")]
        logs = _log_softmax(X)
        self.output = _total(lambda i: logs(i, in_range(L(i), columns)), rows, scale=-1.0)
        self.shapes = [(rows, columns), (rows,)]

    @staticmethod
    def exact(x: np.ndarray, labels: np.ndarray) -> float:
        logs = x - np.log(np.exp(x).sum(1, keepdims=True))
        return float(-logs[np.arange(len(x)), labels].sum())


@pytest.mark.parametrize("kind", [Divergence, Distances, CrossEntropy])
def test_two_kernels(kind: Any) -> None:
    """One for all of a row, and one that adds up the rows."""
    large, loss = kind(128, 4096), kind(40, 36)
    plan = tw.auto_schedule(large.output, H200).plan
    assert plan is not None and [one.stages[0] for one in plan] == ["total_of_row", "loss"]
    func = tw.build(tw.auto_schedule(loss.output, SIM), [*loss.inputs, loss.output], SIM)
    random = np.random.default_rng(1)
    arrays = [
        random.integers(0, 36, shape) if len(shape) == 1 else random.standard_normal(shape).astype("float32")
        for shape in loss.shapes
    ]
    (made,) = testing.run(func, arrays, [((1,), "float32")])
    exact = loss.exact(*(one.astype("float64") if one.ndim == 2 else one for one in arrays))
    np.testing.assert_allclose(made, [exact], rtol=2e-5)


def _names(output: te.Tensor, target: str = H200) -> list[str]:
    plan = tw.auto_schedule(output, target).plan
    assert plan is not None
    return [one.stages[0] for one in plan]


def test_what_stays_as_it_is() -> None:
    assert "total_of_row" not in _names(Divergence(16, 4096).output)  # too few rows
    assert "total_of_row" not in _names(Divergence(64, 50000).output)  # too long for registers
    assert "total_of_row" not in _names(Divergence(128, 4096).output, "cpu")
    X = te.placeholder((128, 4096), name="X")
    k = te.reduce_axis((0, 4096), "k")
    squares = te.compute((128,), lambda i: te.sum(X[i, k] * X[i, k], axis=k), name="squares")
    assert _names(_total(lambda i: te.sqrt(squares[i]), 128)) == ["squares", "loss"]  # two kernels anyway


def test_the_schedule_of_an_output_is_that_of_what_stands_for_it() -> None:
    loss = Distances(64, 100)
    s = tw.auto_schedule(loss.output, H200)
    assert s[loss.output].op.name == "loss"
    with pytest.raises(ValueError, match="rule 'reduction' of total_of_row, .*: expected threads of"):
        tw.auto_schedule(loss.output, H200, settings={"total_of_row": {"threads": 3}})
