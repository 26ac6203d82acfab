"""Normalisation that is fused with sums, and the embeddings of BERT."""

from __future__ import annotations

from typing import Any

from ....graph import Value
from ...node import Node, contrib
from ..normalization import group_normalized, layer_normalized
from .fused import channels_first, channels_last, silu

_LEAST = 1e-12  # the epsilon where none is given


def _sum_of(node: Node, *positions: int) -> Value:
    """The sum of those inputs that are given."""
    first, *rest = (node.tensor(position) for position in positions if node.has(position))
    for other in rest:
        first = node.op_("add", first, other)
    return first


def _skipped(node: Node, total: Value, scale: Value, bias: Value | None, is_simplified: bool) -> list[Value]:
    epsilon = node.attr("epsilon", _LEAST)
    return [*layer_normalized(node, total, scale, bias, -1, epsilon, is_simplified), total]


@contrib("SkipLayerNormalization")
def _skip_layer_normalization(node: Node) -> list[Value]:
    return _skipped(node, _sum_of(node, 0, 1, 4), node.tensor(2), node.tensor(3) if node.has(3) else None, False)


@contrib("SkipSimplifiedLayerNormalization")
def _skip_simplified_layer_normalization(node: Node) -> list[Value]:
    return _skipped(node, _sum_of(node, 0, 1, 3), node.tensor(2), None, True)


@contrib("EmbedLayerNormalization")
def _embed_layer_normalization(node: Node) -> list[Any]:
    ids = node.tensor(0)
    batch, count = ids.shape
    total = node.op_("gather", node.tensor(2), ids, axis=0)
    if node.has(8):
        positions = node.tensor(8)
    else:
        positions = node.op_("iota", shape=[1, count], axis=1, to="int64")
    total = node.op_("add", total, node.op_("gather", node.tensor(3), positions, axis=0))
    if node.has(1) and node.has(4):
        total = node.op_("add", total, node.op_("gather", node.tensor(4), node.tensor(1), axis=0))
    y = layer_normalized(node, total, node.tensor(5), node.tensor(6), -1, node.attr("epsilon", _LEAST))[0]
    return [y, _first_without(node, batch, count), total]


def _first_without(node: Node, batch: Any, count: Any) -> Value | None:
    """For each batch the place of the first 0 in its mask, which is how many words it has."""
    if not node.has_output(1):
        return None
    if not node.has(7):
        return node.op_("expand", node.constant(0, "int32"), shape=[batch])
    mask = node.tensor(7)
    ones = node.cast(node.op_("not_equal", mask, node.constant(0, mask)), "int32")
    before = node.op_("cumprod", ones, axis=1, exclusive=False, reverse=False)
    return node.op_("reduce_sum", before, axes=[1], keepdims=False)


def _grouped(node: Node, x: Value) -> Value:
    """Group normalisation, with an activation. The channels of `x` are its second dimension."""
    y = group_normalized(
        node, x, node.attr("groups"), node.tensor(1), node.tensor(2), node.attr("epsilon", 1e-5), for_each_channel=True
    )  # fmt: skip
    return silu(node, y) if node.attr("activation", 0) else y


@contrib("GroupNorm")
def _group_norm(node: Node) -> Value:
    is_last = bool(node.attr("channels_last", 1))
    return channels_last(node, _grouped(node, channels_first(node, node.tensor(0), is_last)), is_last)


@contrib("SkipGroupNorm")
def _skip_group_norm(node: Node) -> list[Value]:
    is_last = bool(node.attr("channels_last", 1))
    x = channels_first(node, node.tensor(0), is_last)
    skip = node.tensor(3)
    if skip.rank == 2:
        skip = node.reshape(skip, [*skip.shape, *[1] * (x.rank - 2)])
    else:
        skip = channels_first(node, skip, is_last)
    total = node.op_("add", x, skip)
    if node.has(4):
        bias = node.tensor(4)
        total = node.op_("add", total, node.reshape(bias, [*bias.shape, *[1] * (x.rank - 2)]))
    return [channels_last(node, one, is_last) for one in (_grouped(node, total), total)]
