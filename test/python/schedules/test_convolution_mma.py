"""Convolutions by tensor cores: margins, strides, channels of any number, parts, and what the kernels are made of."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import schedules, te, testing
from tilewright.codegen import link
from tilewright.runtime.ndarray import as_dtype

SMALL = {"tile": (32, 32), "warps": (1, 2), "depth": 3}


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
        ((1, 64, 5, 32, 3), {"parts": 3}),
        ((2, 128, 3, 40, 3), {"parts": 6, "stride": 2, "bias": True}),
        ((1, 3, 8, 16, 3), {"parts": 3}),
        ((1, 64, 6, 32, 3), {"tile": (64, 64), "warps": (2, 2)}),
        ((1, 8, 5, 16, 3), {"in_dtype": "tfloat32"}),
    ],
)
def test_results(shape: tuple[int, int, int, int, int], options: dict[str, Any]) -> None:
    batch, channels, size, filters, kernel = shape
    options = SMALL | options
    dtype = options.get("in_dtype", "float16")
    bias = [te.placeholder((filters,), "float32", name="bias")] if options.pop("bias", False) else []
    if bias:
        options["operands"] = bias
        options["epilogue"] = lambda value, n, y, x, f: te.max(value + bias[0][f], 0.0)
    func = tw.build(*schedules.conv2d_mma(*shape, **options), target="sim", name="conv2d")
    rng = np.random.default_rng(sum(shape))
    stored = "float32" if dtype == "tfloat32" else dtype
    x = rng.standard_normal((batch, size, size, channels)).astype("float32").astype(as_dtype(stored))
    w = rng.standard_normal((filters, kernel, kernel, channels)).astype("float32").astype(as_dtype(stored))
    added = [rng.standard_normal(filters).astype("float32") for _ in bias]
    stride, margin = options.get("stride", 1), kernel // 2
    out = (size + 2 * margin - kernel) // stride + 1
    (y,) = testing.run(func, [x, w, *added], [((batch, out, out, filters), stored)])
    padded = np.pad(x.astype("float64"), ((0, 0), (margin, margin), (margin, margin), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), axis=(1, 2))[:, ::stride, ::stride]
    exact = np.einsum("nyxcij,fijc->nyxf", windows, w.astype("float64"))
    if bias:
        exact = np.maximum(exact + added[0], 0)
    # Of tf32 it is the factors that lose bits.
    rounding = {"float16": 2**-11, "bfloat16": 2**-8, "tfloat32": 2**-9}[dtype]
    assert np.abs(y.astype("float64") - exact).max() <= 1.01 * rounding * np.abs(exact).max() + 1e-4


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
        schedules.conv2d_mma(1, 64, 8, 64, 3, tile=(40, 64), parts=2)
    assert str(error.value) == (
        "expected a tile of multiples of 32 x 16, which 2 x 2 warps share, and parts that divide the 9 steps, got a tile "
        "of (40, 64) and 2 parts"
    )
