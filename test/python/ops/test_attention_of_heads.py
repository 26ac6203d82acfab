"""What each head of attention has of its own: a slope of its scores (ALiBi), and a sink."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright import TilewrightError, ops

TARGETS = ("cpu", "sim -arch=sm_80", "sim -device=H200")


def check(shape: tuple[int, ...], keys: int, target: str, names: str, **options: Any) -> None:
    """Attention of heads that share keys in pairs, beside float64."""
    rng = np.random.default_rng(0)
    heads, queries, width = shape[-3:]
    q = rng.standard_normal(shape).astype("float16")
    k, v = rng.standard_normal((2, *shape[:-3], heads // 2, keys, width)).astype("float16")
    all_arrays = {
        "slopes": -(2.0 ** -np.arange(1, heads + 1)).astype("float32"),
        "sinks": rng.standard_normal(heads).astype("float32"),
    }
    arrays = {name: one for name, one in all_arrays.items() if name in names}
    got = ops.attention(q, k, v, enable_gqa=True, target=target, **arrays, **options)
    scores = q.astype("float64") @ np.repeat(k, 2, -3).astype("float64").swapaxes(-1, -2) * width**-0.5
    away = np.arange(keys) - np.arange(queries)[:, None] - options.get("offset", 0)
    if "slopes" in arrays:
        scores = scores + arrays["slopes"][:, None, None] * away
    scores = np.where((away <= 0) | (not options.get("is_causal")), scores, -np.inf)
    sinks = arrays.get("sinks", np.full(heads, -np.inf))[:, None, None]
    largest = np.maximum(scores.max(-1, keepdims=True), sinks)
    largest = np.where(largest == -np.inf, 0, largest)
    weights = np.exp(scores - largest)
    total = weights.sum(-1, keepdims=True) + np.exp(sinks - largest)
    exact = weights @ np.repeat(v, 2, -3).astype("float64") / np.where(total == 0, 1, total)
    assert np.abs(got - exact).max() <= 2.0**-10 * max(1, np.abs(v).max())


@pytest.mark.sample(1)
@pytest.mark.parametrize("target", TARGETS)
def test_several_queries(target: str) -> None:
    for names in ("slopes", "sinks", "slopes and sinks"):
        check((2, 70, 64), 100, target, names, is_causal=True, offset=30)


@pytest.mark.sample(1)
@pytest.mark.parametrize("target", TARGETS)
def test_one_query_whose_keys_are_split(target: str) -> None:
    check((1, 6, 1, 64), 900, target, "slopes and sinks", offset=899)


@pytest.mark.sample(1)
@pytest.mark.parametrize("target", TARGETS)
def test_rows_that_see_no_key_but_a_sink_are_zero(target: str) -> None:
    q, k, v = np.random.default_rng(0).standard_normal((3, 2, 70, 64)).astype("float16")
    got = ops.attention(q, k, v, sinks=np.array([0, 5], "float32"), is_causal=True, offset=-9, target=target)
    assert (got[:, :9] == 0).all()
    assert np.isfinite(got).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"slopes": np.zeros(2, "float16")}, "attention: expected slopes of float32, got float16"),
        (
            {"sinks": np.zeros(3, "float32")},
            "attention: expected q of at least 3 dimensions and a number for each of its heads as sinks, got shapes "
            "(2, 4, 8) and (3,)",
        ),
    ],
)
def test_what_does_not_fit(given: dict[str, Any], message: str) -> None:
    x = np.zeros((2, 4, 8), "float16")
    with pytest.raises(TilewrightError) as raised:
        ops.attention(x, x, x, **given)
    assert str(raised.value) == message
