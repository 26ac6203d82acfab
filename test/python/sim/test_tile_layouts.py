"""Where the bytes of tiles lie: TMA copies with their swizzles and edges, and products of operands in every layout."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from tile_kernels import both, build, host_function, rounded


def wide(swizzle: int) -> str:
    return f", swizzle = {swizzle}" if swizzle else ""


def copy(tensor: tuple[int, ...], box: tuple[int, int], at: tuple[int, ...], swizzle: int, dump: bool = False) -> str:
    """A block that copies one tile of i16 from A at `at` and stores it to B at the same place or, with `dump`, writes the
    bytes of shared memory to B as they lie."""
    leading = (1,) * (len(tensor) - 2)
    shape = "x".join(map(str, tensor))
    count = box[0] * box[1]
    kernel_type = f"memref<{count}xi16>" if dump else "!map"
    result = f"memref<{count}xi16>" if dump else f"memref<{shape}xi16>"
    store = "tile.elect role { tile.tma_store %tile to %B[AT] : !tile, !map\n tile.commit_stores }\n tile.wait_stores 0"
    if dump:
        store = f"""
      %shared = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
      %raw = memref.view %shared[%c0][] : memref<0xi8, #gpu.address_space<workgroup>> to memref<{count}xi16, #gpu.address_space<workgroup>>
      %thread = gpu.thread_id x
      %c128 = arith.constant 128 : index
      %count = arith.constant {count} : index
      scf.for %i = %thread to %count step %c128 {{
        %x = memref.load %raw[%i] : memref<{count}xi16, #gpu.address_space<workgroup>>
        memref.store %x, %B[%i] : {kernel_type}
      }}"""
    coordinates = ", ".join(f"%at{i}" for i in range(len(at)))
    constants = "\n".join(f"%at{i} = arith.constant {value} : index" for i, value in enumerate(at))
    return f"""
!map = !tile.tensor_map<{"x".join(map(str, (*leading, *box)))}xi16{wide(swizzle)}>
!tile = !tile.buffer<{box[0]}x{box[1]}xi16{wide(swizzle)}>
!ring = !tile.ring<1, !tile>
module attributes {{gpu.container_module}} {{
  gpu.module @f_kernels {{
    memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {{alignment = 1024}}
    gpu.func @f_kernel0(%A: !map, %B: {kernel_type}) kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
      %c0 = arith.constant 0 : index
      %slot = arith.constant 0 : i32
      {constants}
      %ring = tile.ring consumers 1 at 0 : !ring
      tile.elect role {{
        %into = tile.acquire %ring[%slot, %slot] : !ring
        tile.tma_load %A[{coordinates}] to %into signal %ring[%slot] : !map, !tile, !ring
        tile.commit %ring[%slot] : !ring
      }}
      %tile = tile.wait %ring[%slot, %slot] : !ring
      {store.replace("AT", coordinates)}
      gpu.return
    }}
  }}
  {host_function("f", {"A": f"memref<{shape}xi16>"}, {"B": result}, maps={"A": "!map"} | ({} if dump else {"B": "!map"}))}
}}"""


def numbered(shape: tuple[int, ...]) -> np.ndarray:
    return (np.arange(np.prod(shape)) % 32749 + 1).astype(np.int16).reshape(shape)


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@both
def test_the_bytes_of_a_tile_in_shared_memory(target: str, swizzle: int) -> None:
    rows, columns = 24, 64 if swizzle in (0, 128) else swizzle // 2
    a, b = numbered((rows, columns)), np.zeros(rows * columns, np.int16)
    build(copy(a.shape, (rows, columns), (0, 0), swizzle, dump=True), target)(a, b)
    # PTX ISA, "swizzling modes": of 16-byte chunk c in row r of 128 bytes the number is c ^ r % 8, and so on.
    expected = np.zeros_like(b)
    for row in range(rows):
        for column in range(columns):
            byte = (row * columns + column) * 2
            line, chunk = byte // 128, byte // 16 % 8
            chunk ^= {0: 0, 32: line % 2, 64: line % 4, 128: line % 8}[swizzle]
            # A pattern of 32 bytes has 2 chunks, one of 64 has 4, each within 128 bytes.
            expected[(line * 128 + chunk * 16 + byte % 16) // 2] = a[row, column]
    assert np.array_equal(b, expected)


@pytest.mark.parametrize("at", [(0, 0), (8, 16), (-3, -8), (30, 56), (-40, 0)])
@both
def test_what_is_outside_of_a_tensor_is_zero(target: str, at: tuple[int, int]) -> None:
    a, dumped = numbered((40, 72)), np.full(16 * 32, -1, np.int16)
    build(copy(a.shape, (16, 32), at, 0, dump=True), target)(a, dumped)
    padded = np.zeros((40 + 80, 72 + 128), np.int16)
    padded[40:80, 32 : 32 + 72] = a
    assert np.array_equal(dumped.reshape(16, 32), padded[40 + at[0] :][:16, 32 + at[1] :][:, :32])


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("at", [(0, 0), (8, 16), (30, 56), (40, 0)])
@both
def test_what_is_outside_of_a_tensor_is_not_written(target: str, swizzle: int, at: tuple[int, int]) -> None:
    columns = swizzle // 2 or 32
    a = numbered((40, 72))
    b = np.full_like(a, -1)
    build(copy(a.shape, (16, columns), at, swizzle), target)(a, b)
    # What is inside comes back to its place.
    expected = np.full_like(a, -1)
    inside = tuple(slice(x, x + n) for x, n in zip(at, (16, columns)))
    expected[inside] = a[inside]
    assert np.array_equal(b, expected)


@pytest.mark.parametrize(
    "at, dump, expected",
    [
        ((0, 4), True, "at a multiple of 16 bytes of a row, got element 4 of 2 bytes"),
        ((0, -5), True, "at a multiple of 16 bytes of a row, got element -5 of 2 bytes"),
        ((-3, 0), False, "in the tensor that it writes to, got -3 in dimension 0"),
        ((0, -8), False, "in the tensor that it writes to, got -8 in dimension 1"),
    ],
)
def test_boxes_that_the_engine_does_not_take(at: tuple[int, int], dump: bool, expected: str) -> None:
    """A GPU gives up on them (CUDA_ERROR_ILLEGAL_INSTRUCTION, seen on an H200)."""
    a = numbered((40, 72))
    b = np.zeros(16 * 32 if dump else a.shape, np.int16)
    with pytest.raises(tw.SimulationError) as caught:
        build(copy(a.shape, (16, 32), at, 0, dump=dump))(a, b)
    assert f"expected the box of a TMA copy to begin {expected}" in str(caught.value)


@both
def test_a_tensor_of_four_dimensions(target: str) -> None:
    a = numbered((2, 3, 16, 64))
    b = np.zeros_like(a)
    build(copy(a.shape, (8, 64), (1, 2, 8, 0), 128), target)(a, b)
    expected = np.zeros_like(a)
    expected[1, 2, 8:16] = a[1, 2, 8:16]
    assert np.array_equal(b, expected)


@dataclass(frozen=True, slots=True)
class Product:
    """C[64, n] = A[64, k] B[k, n] by one warpgroup, its operands stored with k or the other dimension innermost."""

    dtype: str
    sums: str
    n: int
    k: int
    swizzle_a: int = 128
    swizzle_b: int = 128
    mn_major_a: bool = False
    mn_major_b: bool = False
    stored: str = "f32"
    swizzle_c: int = 128

    def shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        a = (self.k, 64) if self.mn_major_a else (64, self.k)
        return a, (self.k, self.n) if self.mn_major_b else (self.n, self.k)

    def text(self) -> str:
        bits = {"bf16": 2, "f16": 2, "tf32": 4, "i8": 1, "f32": 4, "i32": 4}
        size, size_c = bits.get(self.dtype, 1), bits[self.stored]

        def types(name: str, shape: tuple[int, int], dtype: str, swizzle: int, of: int) -> str:
            panel = swizzle // of if swizzle else shape[1]
            buffer = f"!{name} = !tile.buffer<{shape[0]}x{shape[1]}x{dtype}{wide(swizzle)}>"
            return f"{buffer}\n!map_{name} = !tile.tensor_map<{min(shape[0], 256)}x{panel}x{dtype}{wide(swizzle)}>"

        shape_a, shape_b = self.shapes()
        memory = {"tf32": "f32"}.get(self.dtype, self.dtype)
        majors = tuple(" mn_major" if major else "" for major in (self.mn_major_a, self.mn_major_b))
        tensors = {name: f"memref<{x}x{y}x{memory}>" for name, (x, y) in zip("AB", (shape_a, shape_b))}
        return f"""
{types("a", shape_a, self.dtype, self.swizzle_a, size)}
{types("b", shape_b, self.dtype, self.swizzle_b, size)}
{types("c", (64, self.n), self.stored, self.swizzle_c, size_c)}
!ring = !tile.ring<1, !a, !b>
module attributes {{gpu.container_module}} {{
  gpu.module @f_kernels {{
    gpu.func @f_kernel0(%A: !map_a, %B: !map_b, %C: !map_c) kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
      %c0 = arith.constant 0 : index
      %slot = arith.constant 0 : i32
      %ring = tile.ring consumers 1 : !ring
      %c = tile.alloc : !c
      tile.elect role {{
        %a, %b = tile.acquire %ring[%slot, %slot] : !ring
        tile.tma_load %A[%c0, %c0] to %a signal %ring[%slot] : !map_a, !a, !ring
        tile.tma_load %B[%c0, %c0] to %b signal %ring[%slot] : !map_b, !b, !ring
        tile.commit %ring[%slot] : !ring
      }}
      %a, %b = tile.wait %ring[%slot, %slot] : !ring
      %sum = tile.wgmma %a{majors[0]}, %b{majors[1]} : !a, !b -> !tile.accumulator<64x{self.n}x{self.sums}>
      tile.wgmma_commit
      %total = tile.wgmma_wait 0 for %sum : !tile.accumulator<64x{self.n}x{self.sums}> -> !tile.fragment<64x{self.n}x{self.sums}>
      tile.store_fragment %total to %c : !tile.fragment<64x{self.n}x{self.sums}>, !c
      tile.fence_async
      tile.sync_warpgroup
      tile.elect role {{
        tile.tma_store %c to %C[%c0, %c0] : !c, !map_c
        tile.commit_stores
      }}
      tile.wait_stores 0
      gpu.return
    }}
  }}
  {host_function("f", tensors, {"C": f"memref<64x{self.n}x{self.stored}>"}, {"A": "!map_a", "B": "!map_b", "C": "!map_c"})}
}}"""


NUMPY = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "tf32": np.float32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "i8": np.int8,
    "f32": np.float32,
    "i32": np.int32,
}


def check(product: Product, target: str) -> None:
    """Small whole numbers, whose products and sums every type has exactly: any wrong place is seen."""
    generator = np.random.default_rng(product.n)
    a, b = (generator.integers(-4, 5, shape).astype(NUMPY[product.dtype]) for shape in product.shapes())
    c = np.full((64, product.n), 77, np.float32).astype(NUMPY[product.stored])
    build(product.text(), target)(a, b, c)
    left, right = (x.astype(np.float64) for x in (a, b))
    exact = (left.T if product.mn_major_a else left) @ (right if product.mn_major_b else right.T)
    assert np.array_equal(c.astype(np.float64), exact)


@pytest.mark.sample(10)
@pytest.mark.parametrize("swizzle_a", [32, 64, 128])
@pytest.mark.parametrize("swizzle_b", [32, 64, 128])
@pytest.mark.parametrize("majors", [(False, False), (True, False), (False, True), (True, True)])
@both
def test_swizzles_and_majors(target: str, swizzle_a: int, swizzle_b: int, majors: tuple[bool, bool]) -> None:
    check(Product("f16", "f32", 64, 128, swizzle_a, swizzle_b, *majors), target)


@pytest.mark.parametrize("n", [32, 96, 160, 256])
@both
def test_columns(target: str, n: int) -> None:
    check(Product("bf16", "f32", n, 64), target)


@pytest.mark.sample(5)
@pytest.mark.parametrize("dtype", ["tf32", "f8E4M3FN", "f8E5M2", "i8"])
@pytest.mark.parametrize("swizzle", [32, 64, 128])
@both
def test_types_whose_sums_run_along_the_columns(target: str, dtype: str, swizzle: int) -> None:
    stored = "i32" if dtype == "i8" else "f32"
    check(Product(dtype, stored, 64, 128, swizzle, swizzle, stored=stored), target)


@pytest.mark.parametrize("dtype", ["f16", "f8E4M3FN"])
@both
def test_sums_of_16_bits(target: str, dtype: str) -> None:
    check(Product(dtype, "f16", 64, 64, 64, 64, stored="f16"), target)


@pytest.mark.parametrize("stored", ["f32", "f16"])
@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@both
def test_fragments_in_shared_memory(target: str, stored: str, swizzle: int) -> None:
    check(Product("f16", "f32", 64, 32, 64, 64, stored=stored, swizzle_c=swizzle), target)


@both
def test_copies_of_tf32_are_rounded_to_nearest_even(target: str) -> None:
    product = Product("tf32", "f32", 32, 32)
    bits = np.random.default_rng(3).integers(0x3F000000, 0x41000000, (64, 32), dtype=np.uint32)
    bits[:4] = bits[:4] & 0xFFFFE000 | 0x1000  # in the middle
    a, b = bits.view(np.float32), np.eye(32, dtype=np.float32)
    c = np.full((64, 32), np.nan, np.float32)
    build(product.text(), target)(a, b, c)
    assert np.array_equal(c, rounded(a))
