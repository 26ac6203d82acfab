"""Hand-written kernels of the gpu stage, run by the simulator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sim_support import module
from tilewright.ir import Module, context
from tilewright.sim import Buffer, compile_sim

Run = Callable[..., None]


@pytest.fixture
def run() -> Run:
    """run(arguments, body, inputs, output, block, …): launches the kernel; inputs count as written, the output does
    not, and both are NumPy arrays in the order of the kernel's arguments, the output last."""

    def launch(
        arguments: str,
        body: str,
        inputs: list[np.ndarray],
        output: np.ndarray,
        block: tuple[int, int, int],
        grid: tuple[int, int, int] = (1, 1, 1),
        shared: int = 0,
        checks: bool = True,
        extents: tuple[int, ...] = (),
    ) -> None:
        with context():
            simulator = compile_sim(Module.parse(module(arguments, body)), checks)
        arrays = [*inputs, output]
        buffers = [
            Buffer(f"array {number}", array.ctypes.data, array.nbytes, written=array is not output)
            for number, array in enumerate(arrays)
        ]
        with simulator.call(buffers):
            simulator.launch("k", grid, block, shared, [*(array.ctypes.data for array in arrays), *extents])

    return launch
