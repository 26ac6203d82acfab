"""The ready convolution computes what it says: with margins, strides, few channels, and channels in parts."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import tilewright as tw
from tilewright import schedules, testing
from tilewright.schedules.convolutions.definition import Convolution
from tilewright.schedules.convolutions.direct import conv2d_direct, is_direct

Exact = NDArray[np.float64]


def convolve(x: Exact, w: Exact, stride: int) -> Exact:
    kernel, size = w.shape[2], x.shape[2]
    margin = kernel // 2
    padded = np.pad(x, ((0, 0), (0, 0), (margin, margin), (margin, margin)))
    span = stride * ((size + 2 * margin - kernel) // stride) + 1
    return sum(
        np.einsum("ncyx,fc->nfyx", padded[:, :, dy : dy + span : stride, dx : dx + span : stride], w[:, :, dy, dx])
        for dy in range(kernel)
        for dx in range(kernel)
    )


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("batch", "channels", "size", "filters", "kernel", "options"),
    [
        (2, 8, 6, 40, 3, {"block_k": 8}),
        (2, 3, 10, 32, 7, {"stride": 2}),
        (2, 16, 8, 32, 3, {"block_k": 4, "split_k": 4}),
        (2, 6, 5, 33, 3, {"block_k": 4, "split_k": 3}),
        (1, 10, 5, 33, 1, {"block_k": 4}),
        (1, 2, 3, 6, 3, {}),
        (2, 37, 9, 50, 3, {"stride": 2}),
        (3, 22, 7, 35, 1, {}),
        (1, 45, 6, 17, 5, {"block_k": 16}),
        (1, 4, 5, 8, 4, {}),
        (2, 8, 6, 64, 3, {"winograd": True}),
        (1, 8, 5, 33, 3, {"winograd": True, "block_k": 4}),
    ],
)
def test_conv2d(batch: int, channels: int, size: int, filters: int, kernel: int, options: dict[str, int]) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((batch, channels, size, size), dtype=np.float32)
    w = rng.standard_normal((filters, channels, kernel, kernel), dtype=np.float32)
    wide = x.astype(float), w.astype(float)
    stride = options.get("stride", 1)
    exact = convolve(*wide, stride)
    scheduled = schedules.conv2d(batch, channels, size, filters, kernel, tile=(32, 32), **options)
    func = tw.build(*scheduled, target="sim", name="conv2d")
    (y,) = testing.run(func, [x, w], [(exact.shape, "float32")])
    terms = channels * kernel * kernel
    testing.assert_within(y, exact, terms * testing.unit_roundoff("float32") * convolve(*map(np.abs, wide), stride))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("batch", "channels", "size", "filters", "kernel"),
    [(2, 3, 20, 24, 5), (1, 1, 33, 9, 7), (1, 2, 9, 70, 5), (1, 4, 17, 8, 9), (2, 1, 6, 3, 6)],
)
def test_windows_in_shared_memory(batch: int, channels: int, size: int, filters: int, kernel: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((batch, channels, size, size), dtype=np.float32)
    w = rng.standard_normal((filters, channels, kernel, kernel), dtype=np.float32)
    wide = x.astype(float), w.astype(float)
    exact = convolve(*wide, 1)
    with tw.Target("sim -device=H200"):
        func = tw.build(*conv2d_direct(Convolution(batch, channels, size, filters, kernel, 1)), name="conv2d")
    (y,) = testing.run(func, [x, w], [(exact.shape, "float32")])
    terms = channels * kernel * kernel
    testing.assert_within(y, exact, terms * testing.unit_roundoff("float32") * convolve(*map(np.abs, wide), 1))


def test_windows_in_shared_memory_are_chosen() -> None:
    """For a kernel of at least 5 x 5, and where blocks fill the SMs."""
    with tw.Target("cuda -device=H200"):
        chosen = [schedules.conv2d(*sizes)[0].trace() for sizes in ((32, 16, 118, 24, 7), (1, 64, 28, 64, 5))]
        own = [conv2d_direct(Convolution(*sizes, 1))[0].trace() for sizes in ((32, 16, 118, 24, 7), (1, 64, 28, 64, 5))]
    assert [one == other for one, other in zip(chosen, own)] == [True, False]
    assert not is_direct(Convolution(32, 64, 118, 64, 3, 1)) and not is_direct(Convolution(32, 16, 118, 24, 7, 2))


def test_a_row_of_the_kernel_takes_few_loads() -> None:
    """8 x 8 results of 7 elements each: 14 pixels, and 7 times two vectors of filters."""
    ptx = tw.build(*schedules.conv2d(32, 16, 118, 24, 7), target="cuda -device=H200", name="conv").ptx
    assert (ptx.count("fma.rn.f32"), ptx.count("ld.shared")) == (
        448,
        7 * 2 + 14 + ptx.split(".entry")[1].count("ld.shared"),
    )


@pytest.mark.sweep
def test_multiplications_have_no_conditions_where_nothing_is_divided() -> None:
    """Filters, pixels and channels that tiles and steps do not divide: what is beyond them is zero."""
    whole, odd = (
        tw.build(
            *schedules.conv2d(2, channels, size, filters, 3, stride=2), target="cuda -arch=sm_90a", name="conv"
        ).ptx
        for channels, size, filters in ((128, 33, 192), (124, 31, 180))
    )
    assert odd.count("fma.rn.f32") == whole.count("fma.rn.f32") == 512
    assert odd.count("setp") < whole.count("setp") + 60


def test_winograd_is_chosen() -> None:
    assert schedules.conv2d(32, 256, 14, 256, 3)[0].trace() == schedules.conv2d_winograd(32, 256, 14, 256)[0].trace()


def test_wrong_winograd() -> None:
    with pytest.raises(ValueError) as error:
        schedules.conv2d(1, 8, 8, 32, 3, stride=2, winograd=True)
    assert str(error.value) == (
        "expected a kernel of 3, a stride of 1 and no split_k for winograd, got kernel 3, stride 2 and split_k None"
    )
    with pytest.raises(ValueError) as error:
        schedules.conv2d_winograd(1, 12, 8, 32, tile=(32, 32))
    assert str(error.value) == (
        "expected a tile of multiples of 8, and a block_k that divides the channels, got tile (32, 32) and block_k 8 for 12 "
        "channels"
    )


def test_wrong_numbers() -> None:
    with pytest.raises(ValueError) as error:
        schedules.conv2d(1, 8, 8, 32, 3, tile=(32, 20), split_k=3)
    assert str(error.value) == (
        "expected a tile of multiples of 8, and a split_k that divides the channels, got tile (32, 20) and split_k 3 for 8 channels"
    )
