"""Programs for `tw.auto_schedule`, with what they should compute: the check that tests of several kinds share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tilewright as tw
from tilewright import te, testing

__all__ = ["SQUARES", "Made", "check", "check_sum", "sum_of"]

Made = tuple[list[te.Tensor], list[te.Tensor], list[np.ndarray], list[np.ndarray]]
"""Inputs and outputs, an array for each input, and the exact result for each output."""


def check(program: Callable[[], Made], target: str) -> None:
    """A program that rules schedule computes its exact results: floats to 2e-5, all else to the last bit."""
    inputs, outputs, arrays, exact = program()
    func = tw.build(tw.auto_schedule(outputs, target), [*inputs, *outputs], target)
    made = testing.run(func, arrays, [(np.shape(one), out.dtype) for one, out in zip(exact, outputs)])
    for got, one in zip(made, exact, strict=True):
        if got.dtype.kind == "f":
            np.testing.assert_allclose(got, one, rtol=2e-5, atol=2e-5)
        else:
            np.testing.assert_array_equal(got, one)


SQUARES = np.random.default_rng(20323).standard_normal(1 << 20).astype("float32") ** 2
"""Numbers of one sign, whose sums lose nothing to cancellation."""


def sum_of(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[Any, list[Any]]:
    """The schedule by rules of a sum along some axes on a processor, and its arguments."""
    x = te.placeholder(shape, "float32", name="X")
    reduced = [te.reduce_axis((0, shape[axis]), f"k{axis}") for axis in axes]
    kept = [axis for axis in range(len(shape)) if axis not in axes]

    def element(*at: Any) -> Any:
        places = dict(zip(kept, at)) | dict(zip(axes, reduced))
        return te.sum(x[tuple(places[axis] for axis in range(len(shape)))], axis=reduced)

    y = te.compute(tuple(shape[axis] for axis in kept), element, name="Y")
    return tw.auto_schedule([y], "cpu"), [x, y]


def check_sum(shape: tuple[int, ...], axes: tuple[int, ...]) -> str:
    """The schedule by rules of a sum on a processor rounds as little as a sum of parts does. What explains it."""
    s, args = sum_of(shape, axes)
    x = SQUARES[: np.prod(shape)].reshape(shape)
    y = np.zeros([extent for axis, extent in enumerate(shape) if axis not in axes], "float32")
    tw.build(s, args, "cpu")(x, y)
    np.testing.assert_allclose(y, x.sum(axes, dtype="float64"), rtol=1e-6)
    return s.explain()
