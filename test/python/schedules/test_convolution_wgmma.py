"""Convolutions by warpgroups: margins, strides, channels of any number, parts, and what the kernels are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from convolutions import check_conv2d, convolved
from tilewright import schedules, te, testing
from tilewright.backend.cubin import link


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((1, 64, 9, 64, 3), {"tile": (1, 8, 8, 64), "blocks": 2}),
        ((3, 64, 7, 72, 3), {"tile": (2, 8, 8, 72), "in_dtype": "bfloat16"}),
        ((3, 72, 9, 64, 3), {"tile": (1, 8, 16, 64), "stride": 2, "bias": True}),
        ((2, 64, 11, 30, 3), {"tile": (1, 8, 8, 32), "dilation": 2, "bias": True}),
        ((2, 64, 11, 64, 3), {"tile": (2, 4, 16, 64), "share_rows": False, "blocks": None}),
        ((2, 32, 11, 64, 1), {"out_dtype": "float32"}),
        ((1, 64, 9, 128, 3), {"tile": (1, 8, 16, 64), "cluster": (1, 2), "bias": True}),
        ((2, 64, 9, 64, 3), {"tile": (1, 8, 16, 64), "cluster": (2, 1), "share_rows": False}),
        ((1, 3, 40, 64, 7), {"tile": (1, 8, 16, 64), "stride": 2, "cluster": (2, 1), "bias": True}),
        ((1, 128, 13, 64, 3), {"tile": (1, 8, 16, 64), "split_k": 2, "bias": True}),
        ((1, 128, 9, 100, 3), {"tile": (1, 8, 16, 104), "split_k": 2}),
        ((1, 20, 11, 64, 5), {"tile": (1, 8, 8, 64)}),
        ((2, 3, 21, 64, 7), {"tile": (1, 8, 8, 64), "stride": 2, "bias": True}),
        ((2, 3, 21, 64, 7), {"tile": (1, 8, 8, 64)}),
        ((2, 3, 21, 64, 7), {"tile": (2, 4, 8, 64), "stride": 2, "share_rows": False}),
        ((1, 64, 18, 64, 5), {"tile": (1, 16, 8, 64), "stride": 2}),
        ((3, 1, 9, 30, 3), {}),
        ((1, 64, 8, 33, 2), {}),
    ],
)
def test_results(shape: tuple[int, int, int, int, int], options: dict[str, Any]) -> None:
    check_conv2d(schedules.conv2d_wgmma, shape, options)


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(16))
def test_random_shapes(seed: int) -> None:
    """Any number of channels, filters and pixels, in tiles that reach over their ends, exactly."""
    random = np.random.default_rng(seed)

    def one_of(*values: Any) -> Any:
        return values[random.integers(len(values))]

    kernel, dilation = one_of(1, 2, 3, 3, 4, 5, 7), one_of(1, 1, 2, 3)
    options: dict[str, Any] = {"stride": one_of(1, 1, 2, 3), "dilation": dilation}
    options["tile"] = (*one_of((1, 8, 8), (2, 8, 8), (1, 4, 16), (1, 8, 16), (1, 16, 8)), one_of(8, 32, 64, 72, 128))
    options["share_rows"] = one_of(None, None, False)
    options["blocks"] = one_of(132, 3, None)
    if options["blocks"]:
        options["consumers"] = one_of(1, 1, 2)
    batch, channels, filters = one_of(1, 2, 3), one_of(1, 3, 5, 8, 20, 64, 72, 100), one_of(8, 24, 33, 64, 130)
    least = max(1, dilation * (kernel - 1) + 1 - 2 * (kernel // 2 * dilation))
    size = int(random.integers(least, 20))
    func = tw.build(
        *schedules.conv2d_wgmma(batch, channels, size, filters, kernel, **options), target="sim", name="conv2d"
    )
    x = random.integers(-4, 5, (batch, size, size, channels)).astype("float16")
    w = random.integers(-4, 5, (filters, kernel, kernel, channels)).astype("float16")
    exact = convolved(x, w, options["stride"], dilation)
    (y,) = testing.run(func, [x, w], [(exact.shape, "float16")])
    np.testing.assert_array_equal(y, exact.astype("float16"))


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((1, 1024, 13, 1024, 3), {}),
        ((32, 64, 56, 64, 3), {}),
        ((32, 256, 14, 256, 3), {}),
        ((32, 3, 224, 64, 7), {"stride": 2}),
    ],
)
@pytest.mark.parametrize("is_biased", [False, True])
def test_kernels(shape: tuple[int, int, int, int, int], options: dict[str, Any], is_biased: bool) -> None:
    """No notes of the assembler, nothing spilled."""
    bias = te.placeholder((shape[3],), "float16", name="bias")
    if is_biased:
        options = options | {
            "operands": [bias],
            "epilogue": lambda value, n, y, x, f: te.max(value + bias[f].astype("float32"), 0.0),
        }
    func = tw.build(*schedules.conv2d_wgmma(*shape, **options), target="cuda -arch=sm_90a", name="conv2d")
    assert "wgmma.mma_async.sync.aligned.m64n" in func.ptx and "cp.async.bulk.tensor.4d.shared::cluster" in func.ptx
    linked = link(func.ptx, "sm_90a")
    assert not linked.notes
    assert {(kernel.spill_store_bytes, kernel.stack_bytes) for kernel in linked.resources.values()} == {(0, 0)}


def test_rows_that_are_shared_are_fetched_once() -> None:
    """A box with the rows above and below, for three of the nine places of the kernel."""
    text = str(tw.lower(*schedules.conv2d_wgmma(2, 64, 16, 64, 3, tile=(1, 8, 16, 64)), stage="gpu"))
    assert (
        "!tile.tensor_map<1x10x16x64xf16, swizzle = 128>" in text
        and "!tile.tensor_map<1x3x64x64xf16, swizzle = 128>" in text
    )


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"tile": (1, 6, 8, 64)},
            "expected a tile of whole images, or of rows of one, that warpgroups share, 64 pixels each, and of a multiple of 8 "
            "filters up to 256, and a split_k that divides 1 K tiles of the channels, got a tile of (1, 6, 8, 64) and a split_k of 1",
        ),
        (
            {"tile": (2, 4, 8, 64), "share_rows": True},
            "expected a kernel larger than the stride, without dilation unless that is 1, and tiles with rows of multiples of "
            "8 pixels, of one image for each warpgroup, to share rows, got a kernel of 3 with stride 1 and dilation 1, and a tile "
            "of (2, 4, 8, 64)",
        ),
        (
            {"split_k": 3},
            "expected a tile of whole images, or of rows of one, that warpgroups share, 64 pixels each, and of a multiple of 8 "
            "filters up to 256, and a split_k that divides 1 K tiles of the channels, got a tile of (1, 8, 8, 64) and a split_k of 3",
        ),
        (
            {"in_dtype": "float32"},
            "expected images of float16 or bfloat16 and results of float16, bfloat16, float32, got float32 and float32",
        ),
    ],
)
def test_what_is_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError) as error:
        schedules.conv2d_wgmma(1, 64, 8, 64, 3, **options)
    assert str(error.value) == text
