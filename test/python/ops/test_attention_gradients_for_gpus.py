"""Gradients of attention on GPUs without wgmma."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from attention_reference import exact_gradients
from tilewright import ops

GPUS = ["A100", "RTX_4090", "B200"]
# Batch, heads, heads of keys, queries, keys and columns.
CASES: list[tuple[tuple[int, ...], dict[str, Any], str]] = [
    ((1, 2, 2, 192, 320, 64), {}, "float16"),
    ((1, 2, 1, 200, 200, 128), {"is_causal": True}, "bfloat16"),
    ((1, 2, 2, 130, 270, 80), {"window": (50, 0)}, "float16"),
    ((1, 1, 1, 100, 150, 192), {}, "float16"),
]


@pytest.mark.sample(4)
@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize(("shape", "options", "dtype"), CASES)
def test_results(shape: tuple[int, ...], options: dict[str, Any], dtype: str, gpu: str) -> None:
    batch, heads, shared, queries, keys, width = shape
    kind: Any = np.float16 if dtype == "float16" else ml_dtypes.bfloat16
    rng = np.random.default_rng(sum(shape))
    gradient, q, k, v = (
        rng.standard_normal((batch, count, rows, width)).astype(kind)
        for count, rows in ((heads, queries), (heads, queries), (shared, keys), (shared, keys))
    )
    target = f"sim -device={gpu}"
    got = ops.attention_gradients(gradient, q, k, v, enable_gqa=heads != shared, target=target, **options)
    i, j = np.arange(queries)[:, None], np.arange(keys)
    seen = (j <= i) if options else np.ones((queries, keys), bool)
    if "window" in options:
        seen = seen & (j >= i - options["window"][0])
    for made, wanted in zip(got, exact_gradients(gradient, q, k, v, seen), strict=True):
        error = np.abs(made.astype("float64") - wanted).max() / np.abs(wanted).max()
        assert error < (2e-3 if dtype == "float16" else 1.5e-2)


@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("width", [64, 128])
def test_three_kernels(width: int, gpu: str) -> None:
    """Statistics, gradients by queries, and those by keys and values; seven matmuls, of which none is stored."""
    q = np.zeros((2, 4, 512, width), "float16")
    target = f"cuda -device={gpu}"
    s, tensors = ops.attention_gradients.schedule(q, q, q, q, target=target)
    func = tw.build(s, tensors, target=target, name="gradients")
    assert len(func.launch_config().launches) == func.ptx.count(".entry") == 3
    assert "mma.sync" in func.ptx and "wgmma" not in func.ptx
