"""Programs for `tw.auto_schedule`, with what they should compute: the check that tests of several kinds share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import tilewright as tw
from tilewright import te, testing

__all__ = ["Made", "check"]

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
