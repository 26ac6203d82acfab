"""Rotary embeddings, and GroupQueryAttention, whose keys and values are in caches."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import te
from ....graph import Value
from ....graph.numbers import number_of
from ....graph.operators.extents import Extent, normal, quotient
from ...node import Node, contrib
from ..normalization import layer_normalized
from ..parts import as_last, of_last, part
from .attention import attended, heads_of, joined, positions
from .fused import halves

__all__ = ["rotated"]


def rotated(node: Node, x: Value, cosines: Value, sines: Value, is_interleaved: bool) -> Value:
    """Batch x heads x rows x width with pairs of elements rotated, one of each half, or neighbours if `is_interleaved`.

    `cosines` and `sines` are batch x rows x pairs. Elements without a pair stay.
    """
    pairs = cosines.shape[-1]
    if not isinstance(pairs, int) or not isinstance(x.shape[-1], int) or 2 * pairs > x.shape[-1]:
        raise node.error(f"expected angles for at most {x.shape[-1]} elements, got {pairs} pairs")
    own = part(node, x, 3, 0, 2 * pairs)
    cosines, sines = (
        node.cast(node.reshape(one, [one.shape[0], 1, *one.shape[1:]]), x.dtype) for one in (cosines, sines)
    )
    if is_interleaved:
        split = node.reshape(own, [*own.shape[:-1], pairs, 2])
        first, second = (of_last(node, split, i) for i in range(2))
    else:
        first, second = halves(node, own)
    real = node.op_("sub", node.op_("mul", first, cosines), node.op_("mul", second, sines))
    other = node.op_("add", node.op_("mul", first, sines), node.op_("mul", second, cosines))
    if is_interleaved:
        made = node.reshape(as_last(node, real, other), own.shape)
    else:
        made = node.op_("concat", real, other, axis=3)
    rest = x.shape[-1] - 2 * pairs
    return node.op_("concat", made, part(node, x, 3, 2 * pairs, rest), axis=3) if rest else made


@contrib("RotaryEmbedding")
def _rotary_embedding(node: Node) -> Value:
    x, places = node.tensor(0), node.cast(node.tensor(1), "int64")
    if node.attr("is_packed_batching", 0):
        raise node.error("expected is_packed_batching to be 0, got 1")
    is_flat = x.rank == 3
    if is_flat:  # without a number of heads the angles are for whole heads
        heads: Any = node.attr("num_heads", 0) or quotient(x.shape[-1], normal(node.tensor(2).shape[-1] * 2))
        x = heads_of(node, x, heads)
    if places.rank == 1:  # the place of the first row
        places = node.op_("add", positions(node, x.shape[2], 1, 2), node.reshape(places, [1, 1]))
    cosines, sines = (node.op_("gather", node.tensor(i), places, axis=0) for i in (2, 3))
    made = rotated(node, x, cosines, sines, bool(node.attr("interleaved", 0)))
    return joined(node, made) if is_flat else made


def _most(a: Extent, b: Extent) -> Extent:
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else te.max(a, b)


def _cache(node: Node, past: Value | None, new: Value, before: Value, extent: Extent) -> Value:
    """A cache of an extent: for each batch the first elements of the past one, and the new ones behind them."""
    rows = new.shape[2]
    if past is None:
        return new
    place = positions(node, extent, 1, 2)
    away = node.op_("sub", place, before)  # batch x extent
    zero = node.constant(0, "int64")
    is_new = node.op_(
        "and", node.op_("greater_equal", away, zero), node.op_("less", away, number_of(node.builder, rows))
    )
    # Past elements stay where they are, also those behind the new ones.
    behind = node.op_("add", away, number_of(node.builder, past.shape[2]))
    kept = node.op_("min", place, number_of(node.builder, past.shape[2] - 1))  # type: ignore[operator]
    chosen = node.op_("where", is_new, behind, kept)
    both = node.op_("concat", past, new, axis=2)
    batch, heads, _, width = both.shape
    wide = node.op_("expand", node.reshape(chosen, [batch, 1, extent, 1]), shape=[batch, heads, extent, width])
    return node.op_("gather_elements", both, wide, axis=2)


@contrib("GroupQueryAttention")
def _group_query_attention(node: Node) -> list[Any]:
    for position, name in ((12, "k_scale"), (13, "v_scale"), (16, "query_seqlens")):
        if node.has(position):
            raise node.error(f"expected attention without {name}")
    if node.attr("sliding_window_cache", 0) or node.has_output(3):
        raise node.error("expected attention without sliding_window_cache and an output output_qk")
    heads, own = node.attr("num_heads"), node.attr("kv_num_heads")
    if node.has(1):
        q, k, v = (heads_of(node, node.tensor(i), count) for i, count in enumerate((heads, own, own)))
    else:
        packed = heads_of(node, node.tensor(0), heads + 2 * own)
        q, k, v = (
            part(node, packed, 1, start, count) for start, count in ((0, heads), (heads, own), (heads + own, own))
        )
    if node.has(14):
        epsilon = node.attr("qk_norm_epsilon", 1e-6)
        own_epsilons = [node.attr(name, epsilon) for name in ("q_norm_epsilon", "k_norm_epsilon")]
        q, k = (
            layer_normalized(node, one, node.tensor(i), None, -1, least, is_simplified=True)[0]
            for one, i, least in zip((q, k), (14, 15), own_epsilons)
        )
    batch, _, queries, _ = q.shape
    total = node.host(6).reshape(-1)[0]
    total = total if isinstance(total, te.Expr) else int(total)
    lengths = node.reshape(node.op_("add", node.cast(node.tensor(5), "int64"), node.constant(1, "int64")), [batch, 1])
    past = [node.tensor(i) if node.has(i) else None for i in (3, 4)]
    # Each batch has so many keys in the cache before this call: none where this one is its first.
    count = number_of(node.builder, queries)
    before = node.op_("max", node.op_("sub", lengths, count), node.constant(0, "int64"))
    places = node.op_("add", positions(node, queries, 1, 2), before)
    if node.attr("do_rotary", 0):
        at = node.cast(node.tensor(9), "int64") if node.has(9) else places
        cosines, sines = (node.op_("gather", node.tensor(i), at, axis=0) for i in (7, 8))
        q, k = (rotated(node, one, cosines, sines, bool(node.attr("rotary_interleaved", 0))) for one in (q, k))
    first = past[0]
    extent = queries if first is None else _most(first.shape[2], total)
    k, v = (_cache(node, one, new, before, extent) for one, new in zip(past, (k, v)))
    y = _over_cache(node, q, k, v, places, lengths)
    return [joined(node, y), k, v]


def _over_cache(node: Node, q: Value, k: Value, v: Value, places: Value, lengths: Value) -> Value:
    """Attention of queries at places to the keys of a cache, which has so many for each batch."""
    batch, heads, queries, _ = q.shape
    extent, dtype = k.shape[2], q.dtype
    key = positions(node, extent, 3, 4)
    place = node.reshape(places, [batch, 1, queries, 1])
    seen = node.op_("less", key, node.reshape(lengths, [batch, 1, 1, 1]))
    if node.attr("causal", 1):
        seen = node.op_("and", seen, node.op_("less_equal", key, place))
    window = node.attr("local_window_size", -1)
    if window > 0:
        seen = node.op_("and", seen, node.op_("less", node.op_("sub", place, key), node.constant(window, "int64")))
    options = {"softcap": float(node.attr("softcap", 0.0))}
    scale = node.attr("scale", 0.0)
    has_sink = node.has(11) or node.attr("smooth_softmax", 0)
    if not node.has(10) and not has_sink:
        return attended(node, q, k, v, seen, scale, **options)
    mask = node.op_("where", seen, node.constant(0, dtype), node.constant(-np.inf, dtype))
    if node.has(10):
        bias = node.tensor(10)
        if str(bias.shape[3]) != str(extent):  # of a cache with more elements than there are keys
            shape = [*bias.shape[:3], extent - bias.shape[3]]  # type: ignore[operator]
            bias = node.op_("concat", bias, node.op_("expand", node.constant(0, bias), shape=shape), axis=3)
        mask = node.op_("add", mask, bias)
    if has_sink:  # as the score of a key of zeros, whose value is zeros
        sink = node.cast(node.tensor(11), dtype) if node.has(11) else node.constant([0.0], dtype)
        last = node.op_("expand", node.reshape(sink, [1, *sink.shape, 1, 1]), shape=[batch, heads, queries, 1])
        mask = node.op_("concat", node.op_("expand", mask, shape=[batch, heads, queries, extent]), last, axis=3)
        zeros = node.op_("expand", node.constant(0, dtype), shape=[*k.shape[:2], 1, k.shape[3]])
        k, v = (node.op_("concat", one, zeros, axis=2) for one in (k, v))
    return attended(node, q, k, v, mask, scale, **options)
