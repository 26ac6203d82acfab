"""Tensor maps on the simulator: what cuTensorMapEncodeTiled would refuse, with the full text of each refusal."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from mlir import ir

from tilewright.errors import SimulationError
from tilewright.ir import context, library
from tilewright.runtime.simulator import Buffer, Simulator, compile_sim

EMPTY = """
module attributes {gpu.container_module} {
  gpu.module @f_kernels {
    memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024}
    gpu.func @f_kernel0(%A: !tile.tensor_map<8x32xf32, swizzle = 128>) kernel
        attributes {known_block_size = array<i32: 32, 1, 1>} {
      %c0 = arith.constant 0 : index
      %buffer = tile.alloc at 0 : !tile.buffer<8x32xf32, swizzle = 128>
      tile.elect role {
        tile.tma_store %buffer to %A[%c0, %c0]
            : !tile.buffer<8x32xf32, swizzle = 128>, !tile.tensor_map<8x32xf32, swizzle = 128> loc("k.py":4:0)
        tile.commit_stores
        tile.wait_stores 0
      }
      gpu.return
    }
  }
}"""


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    with context():
        return compile_sim(ir.Module.parse(EMPTY), checks=True)


def encode(
    simulator: Simulator,
    element: int = 7,
    extents: tuple[int, ...] = (64, 16),
    strides: tuple[int, ...] = (4, 256),
    box: tuple[int, ...] = (32, 8),
    steps: tuple[int, ...] = (1, 1),
    swizzle: int = 128,
    offset: int = 0,
) -> bytes:
    """The map of a tensor in an array of 16 rows of 64 numbers of 32 bits, dimensions innermost first."""
    array = np.zeros(64 * 16 + 8, np.float32)
    base = -(-array.ctypes.data // 16) * 16
    rank = len(extents)

    def five(values: tuple[int, ...]) -> list[int]:
        return [*values[:5], *[0] * (5 - len(values))]

    numbers = [base + offset, element, rank, swizzle, *five(extents), *five(strides), *five(box), *five(steps)]
    made = ctypes.create_string_buffer(128)
    with simulator.call([Buffer("A", base, 64 * 16 * 4, written=True)]):
        tensor = (ctypes.c_uint64 * 24)(*numbers)
        library().tilewrightSimEncode(ctypes.c_void_p(simulator.handle), made, tensor)
    return made.raw


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"element": 99}, "expected a type that tensor maps know, got number 99"),
        (
            {"extents": (1,) * 6, "strides": (4,) * 6, "box": (1,) * 6},
            "expected a tensor of 1 to 5 dimensions, got 6",
        ),
        ({"offset": 4}, "expected a tensor at a multiple of 16 bytes, got one 4 bytes past one"),
        ({"extents": (64, 2**32)}, "expected an extent of 1 to 2^32 - 1 in dimension 0, got 4294967296"),
        ({"strides": (4, 252)}, "expected a stride of a multiple of 16 bytes below 2^40 in dimension 0, got 252"),
        ({"box": (32, 257)}, "expected a box across 1 to 256 elements in dimension 0, got 257"),
        ({"box": (32, 64), "steps": (1, 8)}, "expected a box across 1 to 256 elements in dimension 0, got 512"),
        ({"steps": (1, 9)}, "expected a step of 1 to 8 elements in dimension 0, got 9"),
        ({"steps": (2, 1)}, "expected a step of 1 element in dimension 1, got 2"),
        ({"box": (3, 8)}, "expected rows of the box of a multiple of 16 bytes up to the swizzle's 128, got 12"),
        ({"box": (64, 8)}, "expected rows of the box of a multiple of 16 bytes up to the swizzle's 128, got 256"),
        ({"box": (3, 8), "swizzle": 0}, "expected rows of the box of a multiple of 16 bytes, got 12"),
        ({"extents": (64, 17)}, "expected 4352 bytes of 'A' for its tensor map, got 4096"),
        ({"offset": 1 << 20}, "expected a tensor that the program may use, got another address"),
    ],
)
def test_maps_that_are_refused(simulator: Simulator, wrong: dict[str, object], message: str) -> None:
    with pytest.raises(SimulationError) as raised:
        encode(simulator, **wrong)  # pyright: ignore[reportArgumentType]
    assert raised.value.reports == (f"tensor map: {message}",)


def launch(simulator: Simulator, map: bytes) -> tuple[str, ...]:
    value = (ctypes.c_uint8 * 128).from_buffer_copy(map)
    with pytest.raises(SimulationError) as raised, simulator.call([]):
        simulator.launch("f_kernel0", (1, 1, 1), (32, 1, 1), 1024, [value])
    return raised.value.reports


def test_bytes_that_are_no_map(simulator: Simulator) -> None:
    assert launch(simulator, bytes(128)) == (
        "k.py:4: expected a tensor map of 2 dimensions, got other bytes, in block (0, 0, 0) in f_kernel0",
    )


def test_a_map_of_another_tensor(simulator: Simulator) -> None:
    line = encode(simulator, extents=(64,), strides=(4,), box=(32,))
    assert launch(simulator, line) == (
        "k.py:4: expected a tensor map of 2 dimensions, got one of 1, in block (0, 0, 0) in f_kernel0",
    )
