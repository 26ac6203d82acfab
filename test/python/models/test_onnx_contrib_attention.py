"""Attention of ONNX Runtime, against formulas in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

import tilewright as tw  # noqa: E402
from models.contrib_models import node, run  # noqa: E402

BATCH, ROWS, HEADS, WIDTH = 2, 4, 2, 8
ALL = HEADS * WIDTH


def _floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([*shape, seed]).standard_normal(shape).astype("float32")


def _close(got: np.ndarray, wanted: Any) -> None:
    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-6)
    assert got.dtype == np.float32 and got.shape == np.shape(wanted)


def _heads(x: np.ndarray, heads: int) -> np.ndarray:
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def _joined(x: np.ndarray) -> np.ndarray:
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def _attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: Any = 0.0, scale: float | None = None, softcap: float = 0.0,
    sinks: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Batch x heads x rows x width; keys and values may have fewer heads."""
    k, v = (np.repeat(one, q.shape[1] // one.shape[1], axis=1).astype(np.float64) for one in (k, v))
    scores = q @ k.transpose(0, 1, 3, 2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    scores = softcap * np.tanh(scores / softcap) if softcap else scores
    weights = np.exp(scores + mask)
    total = weights.sum(-1, keepdims=True)
    if sinks is not None:
        total = total + np.exp(sinks.astype(np.float64))[:, None, None]
    return weights / total @ v


def _behind(rows: int, keys: int) -> np.ndarray:
    """The mask by which the last queries see no later key."""
    return np.where(np.arange(keys) <= np.arange(rows)[:, None] + keys - rows, 0.0, -np.inf)


@pytest.mark.sweep
def test_attention_of_bert_and_gpt2() -> None:
    x, w, b, bias = _floats(BATCH, ROWS, 6), _floats(6, 3 * ALL), _floats(3 * ALL), _floats(1, HEADS, ROWS, ROWS)
    w = w * np.float32(0.3)
    past = _floats(2, BATCH, HEADS, 3, WIDTH)
    masks = {
        "two": np.array([[1, 1, 1, 0], [1, 1, 1, 1]], np.int32), "ends": np.array([3, 4], np.int32),
        "both": np.array([3, 4, 1, 0], np.int32), "three": np.tril(np.ones((BATCH, ROWS, ROWS), np.int32)),
        "four": np.tril(np.ones((BATCH, 1, 9, 9), np.int32)),
    }  # fmt: skip
    nodes = [
        node("Attention", f"x w b {name}", f"y_{name}", num_heads=HEADS, mask_filter_value=-50.0) for name in masks
    ]
    nodes += [
        node("Attention", "x w b", "causal", num_heads=HEADS, unidirectional=1, scale=0.1),
        node("Attention", "x w b - past", "behind present", num_heads=HEADS, unidirectional=1),
        node("Attention", "x w b - - bias", "biased", num_heads=HEADS),
    ]
    got = run(nodes, {"x": x, "w": w, "b": b, "past": past, "bias": bias, **masks})
    q, k, v = (_heads(one, HEADS) for one in np.split(x @ w + b, 3, axis=-1))
    seen = {
        "two": masks["two"][:, None, None], "ends": np.arange(ROWS) < masks["ends"][:, None, None, None],
        "both": (np.arange(ROWS) < np.array([3, 4])[:, None, None, None])
        & (np.arange(ROWS) >= np.array([1, 0])[:, None, None, None]),
        "three": masks["three"][:, None], "four": masks["four"][:, :, :ROWS, :ROWS],
    }  # fmt: skip
    for name, visible in seen.items():
        _close(got[f"y_{name}"], _joined(_attention(q, k, v, np.where(visible, 0.0, -50.0))))
    _close(got["causal"], _joined(_attention(q, k, v, _behind(ROWS, ROWS), 0.1)))
    k2, v2 = (np.concatenate([before, new], 2) for before, new in zip(past, (k, v)))
    _close(got["behind"], _joined(_attention(q, k2, v2, _behind(ROWS, ROWS + 3))))
    _close(got["present"], np.stack([k2, v2]))
    _close(got["biased"], _joined(_attention(q, k, v, bias)))


@pytest.mark.sweep
def test_attention_of_quantized_projections() -> None:
    rng = np.random.default_rng(1)
    x, w = rng.integers(0, 256, (BATCH, ROWS, 6)), rng.integers(-128, 128, (6, 3 * ALL))
    b, scales = _floats(3 * ALL), np.abs(_floats(3 * ALL)) / 100
    given = {"x": x.astype(np.uint8), "w": w.astype(np.int8), "b": b, "s": np.float32(0.02), "t": scales}
    zeros = {"xz": np.uint8(128), "wz": np.zeros(3 * ALL, np.int8), "m": np.array([3, 4], np.int32)}
    got = run([node("QAttention", "x w b s t m xz wz", "y", num_heads=HEADS)], {**given, **zeros})
    projected = (x - 128) @ w * np.float32(0.02) * scales + b
    q, k, v = (_heads(one, HEADS) for one in np.split(projected, 3, axis=-1))
    visible = np.arange(ROWS) < np.array([3, 4])[:, None, None, None]
    _close(got["y"], _joined(_attention(q, k, v, np.where(visible, 0.0, -10000.0))))


@pytest.mark.sweep
def test_attention_of_several_heads() -> None:
    q, k, v, bias = _floats(BATCH, ROWS, ALL), _floats(BATCH, 6, ALL), _floats(BATCH, 6, 24), _floats(2 * ALL + 24)
    own, packed, pair = (
        _floats(BATCH, ROWS, ALL, seed=1),
        _floats(BATCH, ROWS, HEADS, 3, WIDTH),
        _floats(BATCH, 6, HEADS, 2, WIDTH),
    )
    past, added = _floats(BATCH, HEADS, 3, WIDTH), _floats(1, HEADS, ROWS, 6)
    lengths = np.array([2, 6], np.int32)
    nodes = [
        node("MultiHeadAttention", "q k v bias", "biased", num_heads=HEADS),
        node("MultiHeadAttention", "q k v - lengths added", "padded", num_heads=HEADS),
        node("MultiHeadAttention", "packed", "whole", num_heads=HEADS, unidirectional=1),
        node("MultiHeadAttention", "q pair", "cross", num_heads=HEADS),
        node("MultiHeadAttention", "q own own - - - past past", "y pk pv", num_heads=HEADS),
    ]
    given = {"q": q, "k": k, "v": v, "bias": bias, "own": own, "packed": packed, "pair": pair}
    got = run(nodes, {**given, "past": past, "added": added, "lengths": lengths})
    parts = q + bias[:ALL], k + bias[ALL : 2 * ALL], v + bias[2 * ALL :]
    _close(got["biased"], _joined(_attention(*(_heads(one, HEADS) for one in parts))))
    visible = np.arange(6) < lengths[:, None, None, None]
    heads = [_heads(one, HEADS) for one in (q, k, v)]
    _close(got["padded"], _joined(_attention(*heads, added + np.where(visible, 0.0, -10000.0))))
    three = [packed[:, :, :, i].transpose(0, 2, 1, 3) for i in range(3)]
    _close(got["whole"], _joined(_attention(*three, _behind(ROWS, ROWS))))
    two = [pair[:, :, :, i].transpose(0, 2, 1, 3) for i in range(2)]
    _close(got["cross"], _joined(_attention(heads[0], *two)))
    present = np.concatenate([past, _heads(own, HEADS)], 2)
    _close(got["pk"], present)
    _close(got["y"], _joined(_attention(heads[0], present, present)))


def _rotated(x: np.ndarray, cosines: np.ndarray, sines: np.ndarray, is_interleaved: bool) -> np.ndarray:
    pairs = cosines.shape[-1]
    cosines, sines = cosines[:, None], sines[:, None]
    own, rest = x[..., : 2 * pairs], x[..., 2 * pairs :]
    first, second = (own[..., ::2], own[..., 1::2]) if is_interleaved else (own[..., :pairs], own[..., pairs:])
    real, other = first * cosines - second * sines, first * sines + second * cosines
    made = np.stack([real, other], -1).reshape(own.shape) if is_interleaved else np.concatenate([real, other], -1)
    return np.concatenate([made, rest], -1)


def test_rotary_embeddings() -> None:
    x, four = _floats(BATCH, ROWS, ALL), _floats(BATCH, HEADS, ROWS, WIDTH)
    places, first = np.array([[3, 1, 4, 1], [5, 9, 2, 6]]), np.array([3])
    cosines, sines = _floats(12, WIDTH // 2), _floats(12, WIDTH // 2, seed=1)
    short = cosines[:, :2].copy()
    nodes = [
        node("RotaryEmbedding", "x places c s", "halves"),
        node("RotaryEmbedding", "four places c s", "neighbours", interleaved=1),
        node("RotaryEmbedding", "x first short short", "part", num_heads=HEADS, rotary_embedding_dim=4),
    ]
    given = {"x": x, "four": four, "places": places, "first": first, "c": cosines, "s": sines, "short": short}
    got = run(nodes, given)
    _close(got["halves"], _joined(_rotated(_heads(x, HEADS), cosines[places], sines[places], False)))
    _close(got["neighbours"], _rotated(four, cosines[places], sines[places], True))
    angles = short[np.arange(3, 3 + ROWS)][None]
    _close(got["part"], _joined(_rotated(_heads(x, HEADS), angles, angles, False)))


def _over_cache(given: dict[str, np.ndarray], rows: int, extent: int, **options: Any) -> tuple[np.ndarray, list[Any]]:
    """GroupQueryAttention, batch by batch: the result, and keys and values that are in use."""
    made, caches = [], []
    q, k, v = (_heads(given[name], heads) for name, heads in (("q", 4), ("k", 2), ("v", 2)))
    for b, last in enumerate(given["lengths"]):
        keys = last + 1
        before = max(keys - rows, 0)
        places = np.arange(before, before + rows)[None]
        one, other = q[b : b + 1], k[b : b + 1]
        if options.get("rotary", True):
            one, other = (_rotated(each, given["c"][places], given["s"][places], False) for each in (one, other))
        cache = [
            np.concatenate([given[name][b : b + 1, :, :before], new], 2)[:, :, :keys]
            for name, new in (("pk", other), ("pv", v[b : b + 1]))
        ]
        away = places[0][:, None] - np.arange(keys)
        visible = (away >= 0) & (away < options.get("window", keys))
        mask = np.where(visible, 0.0, -np.inf) + options.get("bias", np.zeros((1, 1, 1, extent)))[..., :keys]
        caches.append(cache)
        made.append(_attention(one, *cache, mask, None, options.get("softcap", 0.0), options.get("sinks")))
    return _joined(np.concatenate(made)), caches


def _cached(batch: int, rows: int, past: int, lengths: list[int]) -> dict[str, Any]:
    given: dict[str, Any] = {
        "q": _floats(batch, rows, 32),
        "k": _floats(batch, rows, 16),
        "v": _floats(batch, rows, 16, seed=1),
    }
    given |= {"pk": _floats(batch, 2, past, 8), "pv": _floats(batch, 2, past, 8, seed=1)}
    given |= {"lengths": np.array(lengths, np.int32) - 1, "total": np.int32(max(lengths))}
    return {**given, "c": _floats(16, 4), "s": _floats(16, 4, seed=1)}


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("batch", "rows", "past", "lengths"),
    [(2, 4, 0, [4, 3]), (2, 1, 5, [6, 4]), (1, 3, 5, [8]), (1, 1, 9, [6]), (2, 4, 9, [3, 4])],
    ids=["a prompt", "a step", "a chunk", "a step in a buffer", "a prompt in a buffer"],
)
def test_attention_over_caches(batch: int, rows: int, past: int, lengths: list[int]) -> None:
    given = _cached(batch, rows, past, lengths)
    heads = {"num_heads": 4, "kv_num_heads": 2}
    nodes = [node("GroupQueryAttention", "q k v pk pv lengths total c s", "y nk nv", do_rotary=1, **heads)]
    got = run(nodes, given, ("total",))
    y, caches = _over_cache(given, rows, max(past, *lengths, 1))
    for b, length in enumerate(lengths):
        used = min(rows, length)  # the rows behind it are padding
        _close(got["y"][b, :used], y[b, :used])
        for name, cache in zip(("nk", "nv"), caches[b]):
            assert got[name].shape[2] == max(past, *lengths)
            _close(got[name][b, :, :length], cache[0])


@pytest.mark.sweep
def test_attention_over_caches_with_its_options() -> None:
    given = _cached(1, 3, 5, [8])
    sinks, bias = _floats(4), _floats(1, 4, 3, 8)
    packed = np.concatenate([given[name] for name in "qkv"], -1)
    heads = {"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1}
    ends = "pk pv lengths total c s"
    nodes = [
        node("GroupQueryAttention", f"packed - - {ends}", "packed_y", **heads),
        node("GroupQueryAttention", f"q k v {ends}", "window", local_window_size=3, **heads),
        node("GroupQueryAttention", f"q k v {ends} - bias", "capped", softcap=2.0, **heads),
        node("GroupQueryAttention", f"q k v {ends} - - sinks", "sunk", **heads),
        node("GroupQueryAttention", f"q k v {ends}", "smooth", smooth_softmax=1, **heads),
    ]
    got = run(nodes, {**given, "packed": packed, "sinks": sinks, "bias": bias}, ("total",))
    _close(got["packed_y"], _over_cache(given, 3, 8)[0])
    _close(got["window"], _over_cache(given, 3, 8, window=3)[0])
    _close(got["capped"], _over_cache(given, 3, 8, softcap=2.0, bias=bias)[0])
    _close(got["sunk"], _over_cache(given, 3, 8, sinks=sinks)[0])
    _close(got["smooth"], _over_cache(given, 3, 8, sinks=np.zeros(4))[0])


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (
            node("Attention", "x w - - - -", "y", num_heads=2, do_rotary=1),
            "node 'y' (Attention): expected attention without do_rotary and past_present_share_buffer, got one",
        ),
        (
            node("Attention", "x w - mask", "y", num_heads=2),
            "node 'y' (Attention): expected a mask with a number or two for each of 2 batches, got 3 numbers",
        ),
        (
            node("Attention", "x w", "y", num_heads=5),
            "node 'y' (Attention): expected a width that 5 heads share evenly, got 16",
        ),
        (
            node("MultiHeadAttention", "x x x - - - - - mask", "y", num_heads=2),
            "node 'y' (MultiHeadAttention): expected attention without past_sequence_length, cache_indirection and an "
            "output qk",
        ),
        (
            node("GroupQueryAttention", "x x x - - mask mask - - - - - s s", "y", num_heads=2, kv_num_heads=2),
            "node 'y' (GroupQueryAttention): expected attention without k_scale",
        ),
        (
            node(
                "GroupQueryAttention", "x x x - - mask mask", "y", num_heads=2, kv_num_heads=2, sliding_window_cache=1
            ),
            "node 'y' (GroupQueryAttention): expected attention without sliding_window_cache and an output output_qk",
        ),
        (
            node("RotaryEmbedding", "x mask s s", "y", is_packed_batching=1),
            "node 'y' (RotaryEmbedding): expected is_packed_batching to be 0, got 1",
        ),
        (
            node("RotaryEmbedding", "x first w w", "y", num_heads=2),
            "node 'y' (RotaryEmbedding): expected angles for at most 8 elements, got 48 pairs",
        ),
    ],
    ids=lambda one: one.rsplit(": ")[-1] if isinstance(one, str) else one.op_type,
)
def test_what_attention_refuses(nodes: Any, message: str) -> None:
    given = {
        "x": _floats(2, 1, 16),
        "w": _floats(16, 48),
        "mask": np.zeros(3, np.int32),
        "s": np.float32([1]),
        "first": np.array([0]),
    }
    with pytest.raises(tw.CompileError) as caught:
        run([nodes], given)
    assert str(caught.value) == message
