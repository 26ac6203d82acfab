"""Attention in one kernel on GPUs without wgmma: their warps multiply by mma.sync, and without TMA threads copy tiles."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from attention_reference import exact, kernels
from tilewright import ops

TYPES = {"float16": (np.float16, 2e-3), "bfloat16": (ml_dtypes.bfloat16, 1.5e-2)}
# Shared memory of 163 and of 99 KB, TMA, and TMA with registers that could be handed out.
GPUS = ["A100", "RTX_4090", "RTX_5090", "B200"]


# Batch, heads, heads of keys, queries, keys and columns; keys of several turns of a ring.
CASES: list[tuple[tuple[int, ...], dict[str, Any], str]] = [
    ((1, 2, 2, 192, 448, 64), {}, "float16"),
    ((1, 4, 2, 150, 150, 80), {"is_causal": True}, "float16"),
    ((1, 2, 1, 300, 700, 128), {}, "bfloat16"),
    ((2, 2, 2, 77, 333, 128), {"window": (40, 0)}, "bfloat16"),
    ((1, 1, 1, 64, 200, 256), {}, "float16"),
    ((1, 8, 2, 1, 500, 128), {}, "float16"),
]


@pytest.mark.sample(6)
@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize(("shape", "options", "dtype"), CASES)
def test_results(shape: tuple[int, ...], options: dict[str, Any], dtype: str, gpu: str) -> None:
    batch, heads, shared, queries, keys, width = shape
    kind, tolerance = TYPES[dtype]
    rng = np.random.default_rng(sum(shape))
    q, k, v = (
        rng.standard_normal((batch, count, rows, width)).astype(kind)
        for count, rows in ((heads, queries), (shared, keys), (shared, keys))
    )
    target = f"sim -device={gpu}"
    got = ops.attention(q, k, v, enable_gqa=heads != shared, target=target, **options)
    i, j = np.arange(queries)[:, None], np.arange(keys)
    seen = np.ones((queries, keys), bool)
    if options.get("is_causal"):
        seen = j <= i
    elif "window" in options:
        seen = (j <= i + options["window"][1]) & (j >= i - options["window"][0])
    assert np.abs(got.astype("float64") - exact(q, k, v, seen)).max() < tolerance


@pytest.mark.parametrize("gpu", GPUS)
def test_one_kernel(gpu: str) -> None:
    q = np.zeros((4, 16, 1024, 128), "float16")
    target = f"sim -device={gpu}"
    s, tensors = ops.attention.schedule(q, q, q, target=target)
    assert kernels(str(tw.lower(s, tensors, "attention", stage="gpu", target=target))) == (1, 2)
    assert "specialize" not in str(s.trace())


def test_columns_that_threads_do_not_store_whole() -> None:
    """Heads of 72 have 96 columns in shared memory: another kernel copies those that are there."""
    q, target = np.random.default_rng(0).standard_normal((1, 2, 130, 72)).astype("float16"), "sim -device=A100"
    s, tensors = ops.attention.schedule(q, q.copy(), q.copy(), target=target)
    assert kernels(str(tw.lower(s, tensors, "attention", stage="gpu", target=target))) == (2, 2)
    got = ops.attention(q, q.copy(), q.copy(), target=target)
    assert np.abs(got - exact(q, q, q, np.ones((130, 130), bool))).max() < 2e-3


@pytest.mark.parametrize("gpu", ["A100", "B200"])
def test_the_program_in_stages(gpu: str) -> None:
    """The rule finds attention for these GPUs, too."""
    from tilewright import te
    from tilewright.graph.operators.attention import attention

    tensors = [te.placeholder((2, 3, 200, 64), "float16", name=name) for name in "QKV"]
    result = attention(*tensors, scale=None, before=None, behind=0, offset=0, softcap=20.0)
    s = tw.auto_schedule(result, f"sim -device={gpu}")
    assert s.explain().count("attention: O") == 1
    func = tw.build(s, [*tensors, result], target=f"sim -device={gpu}", name="attention")
    q, k, v = np.random.default_rng(1).standard_normal((3, 2, 3, 200, 64)).astype("float16")
    out = np.empty_like(q)
    func(q, k, v, out)
    scores = 20 * np.tanh(q.astype("float64") @ k.astype("float64").transpose(0, 1, 3, 2) / 8 / 20)
    scores[..., ~np.tri(200, dtype=bool)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    assert np.abs(out - weights / weights.sum(-1, keepdims=True) @ v).max() < 2e-3
