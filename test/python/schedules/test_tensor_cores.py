"""Products by tensor cores: all types and layouts, whole tiles and ragged ones, and what the kernels are made of."""

from __future__ import annotations

import re
from typing import Any

import pytest

import products
import tilewright as tw
from tilewright import schedules
from tilewright.backend.cubin import link

SMALL = {"tile": (32, 32), "warps": (1, 2)}
TYPES = [
    ("float16", "float32", "float32"),
    ("float16", "float32", "float16"),
    ("float16", "float16", "float16"),
    ("bfloat16", "float32", "bfloat16"),
    ("tf32", "float32", "float32"),
    ("int8", "int32", "int32"),
    ("float8_e4m3fn", "float32", "float32"),
    ("float8_e5m2", "float32", "float16"),
]


def check(shape: tuple[int, int, int], types: tuple[str, str, str], options: dict[str, Any]) -> None:
    """A product on the simulator, with a bias and a relu where options say so."""
    options = dict(options)
    bias = types[2] if options.pop("bias", False) else None
    # Each of the sums is rounded once a product of tiles.
    products.check(schedules.matmul_mma, shape, types, roundings=2, bias=bias, **options)


@pytest.mark.sample(4)
@pytest.mark.parametrize("types", TYPES, ids="-".join)
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("transpose_a", [False, True])
def test_types_and_layouts(types: tuple[str, str, str], transpose_a: bool, transpose_b: bool) -> None:
    shape = (32, 64, 384) if types[0].endswith(("8", "fn", "e5m2")) else (32, 64, 192)
    check(shape, types, SMALL | {"transpose_a": transpose_a, "transpose_b": transpose_b})


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("shape", "types", "options"),
    [
        ((64, 128, 128), TYPES[0], {"tile": (64, 64), "warps": (2, 2), "stages": 2}),
        (
            (32, 64, 128),
            TYPES[0],
            {"tile": (32, 64), "warps": (2, 1), "block_k": 32, "stages": 4, "transpose_b": True, "min_blocks": 2},
        ),
        ((33, 47, 65), TYPES[0], SMALL),
        ((33, 47, 65), TYPES[0], SMALL | {"transpose_b": True}),
        ((1, 7, 5), TYPES[1], SMALL),
        ((33, 40, 72), TYPES[0], SMALL),
        ((33, 44, 68), TYPES[2], SMALL | {"transpose_b": True}),
        ((17, 40, 130), TYPES[3], SMALL | {"transpose_a": True}),
        ((50, 34, 31), TYPES[4], SMALL),
        ((31, 33, 129), TYPES[5], SMALL | {"transpose_b": True}),
        ((33, 47, 65), TYPES[3], SMALL | {"pad": (False, True), "transpose_a": True}),
        ((33, 47, 65), TYPES[3], SMALL | {"pad": (False, False)}),
        ((20, 40, 48), TYPES[3], {"tile": (16, 32), "warps": (1, 2), "block_k": 16, "split_k": 2}),
        ((33, 47, 65), TYPES[6], SMALL | {"transpose_b": True}),
        ((20, 36, 68), TYPES[7], SMALL | {"pad": (False, False)}),
    ],
)
def test_shapes(shape: tuple[int, int, int], types: tuple[str, str, str], options: dict[str, Any]) -> None:
    check(shape, types, options)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((32, 64, 64), {"batch": 3}),
        ((33, 47, 65), {"batch": 2, "transpose_b": True}),
        ((40, 48, 200), {"split_k": 3}),
        ((40, 47, 200), {"split_k": 3, "batch": 2, "transpose_b": True, "bias": True}),
        ((70, 100, 64), {"group": 2}),
        ((100, 70, 64), {"group": 2, "bias": True}),
    ],
)
def test_batches_parts_groups_and_epilogues(shape: tuple[int, int, int], options: dict[str, Any]) -> None:
    check(shape, TYPES[3], SMALL | options)


def test_edges_are_copies_that_write_zeros() -> None:
    func = tw.build(*schedules.matmul_mma(100, 136, 72), target="cuda -arch=sm_90a", name="mm")
    assert func.ir("gpu").count("gpu.launch_func") == 1
    assert re.search(r"cp\.async\.cg\.shared\.global \[%\w+\], \[%\w+\], 16, %r", func.ptx)
    assert "st.shared" not in func.ptx


@pytest.mark.sweep
def test_a_ragged_factor_is_written_in_whole_tiles_first() -> None:
    """Then the product fetches it by cp.async, as any other; a factor with rows of 16 bytes stays where it is."""
    for shape, kernels in (((128, 130, 136), 2), ((128, 130, 135), 3)):
        func = tw.build(*schedules.matmul_mma(*shape), target="cuda -arch=sm_90a", name="mm")
        assert func.ir("gpu").count("gpu.launch_func") == kernels
        assert "cp.async.cg.shared.global" in func.ptx and "st.shared" not in func.ptx


def test_instructions_of_a_kernel() -> None:
    scheduled = schedules.matmul_mma(256, 256, 256, transpose_b=True, warps=(2, 4))
    func = tw.build(*scheduled, target="cuda -arch=sm_90a", name="mm")
    # A warp has 64 x 32 of 128 x 128: 4 x 4 tiles, four times a step of 64.
    assert func.ptx.count("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") == 4 * 4 * 4
    # Of four matrices each: one tile of the first factor, two of the second.
    assert func.ptx.count("ldmatrix.sync.aligned.m8n8.x4.shared.b16") == 4 * (4 + 2)
    assert "cp.async.cg.shared.global" in func.ptx
    assert len(re.findall(r"st\.global\.v2\.", func.ptx)) == 4 * 2 * 4
    assert func.ir("gpu").count("gpu.barrier") == 1


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("types", "options", "instruction"),
    [
        (TYPES[0], {"transpose_b": True, "tile": (128, 256), "warps": (2, 4)}, "m16n8k16.row.col.f32.f16.f16.f32"),
        (TYPES[2], {}, "m16n8k16.row.col.f16.f16.f16.f16"),
        (TYPES[3], {"transpose_a": True}, "m16n8k16.row.col.f32.bf16.bf16.f32"),
        (TYPES[4], {"transpose_b": True}, "m16n8k8.row.col.f32.tf32.tf32.f32"),
        (TYPES[5], {"transpose_b": True}, "m16n8k32.row.col.s32.s8.s8.s32"),
        (TYPES[6], {"transpose_b": True}, "m16n8k32.row.col.f32.e4m3.e4m3.f32"),
        (TYPES[7], {"transpose_b": True}, "m16n8k32.row.col.f32.e5m2.e5m2.f32"),
    ],
)
def test_nothing_is_spilled(types: tuple[str, str, str], options: dict[str, Any], instruction: str) -> None:
    in_dtype, acc_dtype, out_dtype = types
    # mma.sync of 8-bit floats is of sm_89 and sm_120; where wgmma has them, the assembler puts code in its place.
    arch = "sm_89" if "float8" in in_dtype else "sm_90a"
    scheduled = schedules.matmul_mma(512, 512, 512, in_dtype, out_dtype, acc_dtype=acc_dtype, **options)
    func = tw.build(*scheduled, target=f"cuda -arch={arch}", name="mm")
    assert f"mma.sync.aligned.{instruction}" in func.ptx
    assert not re.search(r"(ld|st)\.local", func.ptx)
    linked = link(func.ptx, arch)
    assert [(kernel.spill_store_bytes, kernel.stack_bytes) for kernel in linked.resources.values()] == [(0, 0)]


def test_transposed_factors_are_transposed_on_their_way_to_registers() -> None:
    ptx = tw.build(
        *schedules.matmul_mma(128, 128, 128, transpose_a=True, warps=(2, 4)), target="cuda -arch=sm_80", name="mm"
    ).ptx
    assert ptx.count("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16") == 4 * (4 + 2)
    assert "ld.shared" not in ptx


def test_wrong_tiles() -> None:
    with pytest.raises(ValueError) as error:
        schedules.matmul_mma(64, 64, 64, tile=(48, 64), block_k=24, warps=(2, 4))
    assert str(error.value) == (
        "expected a tile of multiples of 32 x 32, which 2 x 4 warps share, and a block_k that is a multiple of 16, got a "
        "tile of (48, 64) and a block_k of 24"
    )


def test_wrong_parts() -> None:
    with pytest.raises(ValueError) as error:
        schedules.matmul_mma(64, 64, 64, split_k=0)
    assert str(error.value) == "expected a positive split_k and a positive group, got 0 and 1"
