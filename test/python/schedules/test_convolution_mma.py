"""Convolutions by tensor cores: margins, strides, channels of any number, parts, and what the kernels are made of."""

from __future__ import annotations

import re
from typing import Any

import pytest

import tilewright as tw
from convolutions import check_conv2d
from tilewright import schedules
from tilewright.backend.cubin import link

SMALL = {"tile": (32, 32), "warps": (1, 2), "stages": 3}


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((1, 64, 6, 32, 3), {}),
        ((2, 16, 5, 40, 3), {"stride": 2}),
        ((1, 72, 4, 16, 1), {"in_dtype": "bfloat16"}),
        ((1, 32, 7, 8, 5), {"bias": True}),
        ((2, 3, 11, 24, 7), {"stride": 2}),
        ((1, 5, 6, 32, 3), {}),
        ((1, 12, 5, 8, 3), {"bias": True}),
        ((1, 64, 5, 32, 3), {"split_k": 3}),
        ((2, 128, 3, 40, 3), {"split_k": 6, "stride": 2, "bias": True}),
        ((1, 3, 8, 16, 3), {"split_k": 3}),
        ((1, 64, 6, 32, 3), {"tile": (64, 64), "warps": (2, 2)}),
        ((1, 8, 5, 16, 3), {"in_dtype": "tf32"}),
    ],
)
def test_results(shape: tuple[int, int, int, int, int], options: dict[str, Any]) -> None:
    check_conv2d(schedules.conv2d_mma, shape, SMALL | options)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((1, 1024, 13, 1024, 3), {}),
        ((32, 64, 56, 64, 3), {}),
        ((32, 256, 14, 256, 3), {}),
        ((32, 3, 224, 64, 7), {"stride": 2}),
    ],
)
def test_kernels(shape: tuple[int, int, int, int, int], options: dict[str, Any]) -> None:
    func = tw.build(*schedules.conv2d_mma(*shape, **options), target="cuda -arch=sm_90a", name="conv2d")
    assert "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" in func.ptx
    assert "cp.async.cg.shared.global" in func.ptx and "ldmatrix.sync.aligned.m8n8.x4.shared.b16" in func.ptx
    assert not re.search(r"(ld|st)\.local", func.ptx)
    linked = link(func.ptx, "sm_90a")
    assert {(kernel.spill_store_bytes, kernel.stack_bytes) for kernel in linked.resources.values()} == {(0, 0)}


def test_few_pixels_are_shared_out_in_parts() -> None:
    s, tensors = schedules.conv2d_mma(1, 1024, 13, 1024, 3)
    func = tw.build(s, tensors, target="cuda -arch=sm_90a", name="conv2d")
    first, second = func.launch_config().launches
    assert first.grid[0] * first.grid[1] * first.grid[2] >= 132 and second.shared_bytes == 0


def test_wrong_parts() -> None:
    with pytest.raises(ValueError) as error:
        schedules.conv2d_mma(1, 64, 8, 64, 3, tile=(40, 64), split_k=2)
    assert str(error.value) == (
        "expected a tile of multiples of 32 x 16, which 2 x 2 warps share, and a split_k that divides the 9 K tiles, got a tile "
        "of (40, 64) and a split_k of 2"
    )
