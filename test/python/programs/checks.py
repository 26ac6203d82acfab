"""Runs a program of the field: on the simulator and the processor against NumPy, and through to machine code for a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tilewright as tw
from tilewright import testing
from tilewright.te import Schedule, Tensor

Scheduled = tuple[Schedule, list[Tensor]]
TARGETS = ("sim", "cpu", "cuda")


def check(
    make: Callable[[], Scheduled],
    target: str,
    expected: Callable[..., Sequence[tuple[NDArray[Any], Any]]],
    **options: int,
) -> None:
    """`expected` takes the inputs in float64 and gives each output with the bound of its error."""
    s, args = make()
    function = tw.build(s, args, target="cuda -arch=sm_90a" if target == "cuda" else target, name="program")
    if target == "cuda":
        assert function.cubin[:4] == b"\x7fELF"
        return
    rng = np.random.default_rng(options.get("seed", 0))
    arguments = function.signature.arguments
    inputs = [rng.standard_normal(one.shape, dtype=np.float32) for one in arguments if not one.output]
    outputs = [(one.shape, one.dtype) for one in arguments if one.output]
    results = testing.run(function, inputs, outputs)
    for got, (exact, bound) in zip(results, expected(*(one.astype(np.float64) for one in inputs)), strict=True):
        testing.assert_within(got, exact, bound)
