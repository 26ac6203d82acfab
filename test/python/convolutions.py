"""Ready convolutions beside NumPy's in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tilewright as tw
from tilewright import te, testing
from tilewright.runtime.ndarray import as_dtype
from tilewright.te import Tensor
from tilewright.te.schedule import Schedule

# Of the result's type, and of tf32, whose factors lose bits.
ROUNDING = {"float16": 2**-11, "bfloat16": 2**-8, "float32": 2**-20, "tf32": 2**-9}


def convolved(x: np.ndarray, w: np.ndarray, stride: int = 1, dilation: int = 1) -> np.ndarray:
    """x[n, y, x, c] with w[f, i, j, c], with a margin of half a kernel, in float64."""
    kernel = w.shape[1]
    margin, across = kernel // 2 * dilation, dilation * (kernel - 1) + 1
    padded = np.pad(x.astype("float64"), ((0, 0), (margin, margin), (margin, margin), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (across, across), axis=(1, 2))
    windows = windows[:, ::stride, ::stride, :, ::dilation, ::dilation]
    return np.einsum("nyxcij,fijc->nyxf", windows, w.astype("float64"))


def check_conv2d(
    schedule: Callable[..., tuple[Schedule, list[Tensor]]],
    shape: tuple[int, int, int, int, int],
    options: dict[str, Any],
) -> None:
    """Runs the convolution of `shape`: batch, channels, size, filters, kernel; with "bias" in `options` with one, and the
    negative results cut off."""
    batch, channels, size, filters, kernel = shape
    options = dict(options)
    dtype = options.get("in_dtype", "float16")
    bias = [te.placeholder((filters,), "float32", name="bias")] if options.pop("bias", False) else []
    if bias:
        options["operands"] = bias
        options["epilogue"] = lambda value, n, y, x, f: te.max(value + bias[0][f], 0.0)
    func = tw.build(*schedule(*shape, **options), target="sim", name="conv2d")
    rng = np.random.default_rng(sum(shape))
    stored = "float32" if dtype == "tf32" else dtype
    made = options.get("out_dtype", stored)
    x, w = (
        rng.standard_normal(one).astype("float32").astype(as_dtype(stored))
        for one in ((batch, size, size, channels), (filters, kernel, kernel, channels))
    )
    added = [rng.standard_normal(filters).astype("float32") for _ in bias]
    stride, dilation = options.get("stride", 1), options.get("dilation", 1)
    exact = convolved(x, w, stride, dilation)
    (y,) = testing.run(func, [x, w, *added], [(exact.shape, made)])
    if bias:
        exact = np.maximum(exact + added[0], 0)
    rounding = ROUNDING["tf32" if dtype == "tf32" else made]
    assert np.abs(y.astype("float64") - exact).max() <= 1.01 * rounding * np.abs(exact).max() + 1e-4
