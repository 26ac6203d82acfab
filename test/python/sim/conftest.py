"""Hand-written kernels of the gpu stage, run by the simulator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tilewright.ir import Module, context
from tilewright.runtime.simulator import Buffer, compile_sim

Run = Callable[..., None]


def module(arguments: str, body: str) -> str:
    """A module with one kernel `k`; the user's names for its arguments are their own."""
    parameters = [argument.strip() for argument in arguments.split(" %")]
    named = ", ".join(
        "%" + parameter.lstrip("%").rstrip(",") + f' {{te.name = "{parameter.lstrip("%").split(":")[0]}"}}'
        for parameter in parameters
    )
    values = ", ".join("%" + parameter.lstrip("%").rstrip(",") for parameter in parameters)
    return f"""
module attributes {{gpu.container_module}} {{
  gpu.module @p_kernels {{
    memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {{alignment = 1024}}
    gpu.func @k({arguments}) kernel {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %shared = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
      {body}
    }}
  }}
  func.func @p({named}) {{
    %c1 = arith.constant 1 : index
    gpu.launch_func @p_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args({values})
    return
  }}
}}"""


@pytest.fixture
def run() -> Run:
    """run(arguments, body, inputs, output, block, …): launches the kernel; inputs count as written, the output does
    not, and both are NumPy arrays in the order of the kernel's arguments, the output last. `extents` are the dynamic
    ones, by the argument's number."""

    def launch(
        arguments: str,
        body: str,
        inputs: list[np.ndarray],
        output: np.ndarray,
        block: tuple[int, int, int],
        grid: tuple[int, int, int] = (1, 1, 1),
        shared: int = 0,
        checks: bool = True,
        extents: dict[int, tuple[int, ...]] | None = None,
    ) -> None:
        with context():
            simulator = compile_sim(Module.parse(module(arguments, body)), checks)
        arrays = [*inputs, output]
        buffers = [
            Buffer(f"array {number}", array.ctypes.data, array.nbytes, written=array is not output)
            for number, array in enumerate(arrays)
        ]
        with simulator.call(buffers):
            params = [p for n, array in enumerate(arrays) for p in (array.ctypes.data, *(extents or {}).get(n, ()))]
            simulator.launch("k", grid, block, shared, params)

    return launch
