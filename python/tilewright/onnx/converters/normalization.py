"""Normalisation."""

from __future__ import annotations

from typing import Any

from ...graph import Value
from ..node import Node, converter
from .reductions import mean


def _channels(node: Node, value: Value, rank: int) -> Value:
    """A number for each channel, in the shape in which it is broadcast."""
    return node.reshape(value, [*value.shape, *[1] * (rank - 2)])


def _normalized(node: Node, x: Value, average: Value, variance: Value, epsilon: float) -> Value:
    root = node.op_("sqrt", node.op_("add", variance, node.constant(epsilon, variance)))
    return node.op_("div", node.op_("sub", x, average), root)


@converter("BatchNormalization")
def _batch_normalization(node: Node) -> Any:
    x = node.tensor(0)
    scale, bias, average, variance = (node.tensor(i) for i in range(1, 5))
    epsilon = node.attr("epsilon", 1e-5)
    results: list[Value] = []
    if node.attr("training_mode", 0):
        axes = [d for d in range(x.rank) if d != 1]
        own = mean(node, x, axes, True)
        away = node.op_("sub", x, own)
        spread = mean(node, node.op_("mul", away, away), axes, True)
        momentum = node.attr("momentum", 0.9)
        for before, now in ((average, own), (variance, spread)):
            kept = node.op_("mul", before, node.constant(momentum, before))
            new = node.op_("mul", node.reshape(now, before.shape), node.constant(1 - momentum, before))
            results.append(node.op_("add", kept, new))
        average, variance = own, spread
    else:
        average, variance = _channels(node, average, x.rank), _channels(node, variance, x.rank)
    y = _normalized(node, x, node.cast(average, x.dtype), node.cast(variance, x.dtype), epsilon)
    y = node.op_("mul", y, node.cast(_channels(node, scale, x.rank), x.dtype))
    return [node.op_("add", y, node.cast(_channels(node, bias, x.rank), x.dtype)), *results]


@converter("InstanceNormalization")
def _instance_normalization(node: Node) -> Value:
    x = node.tensor(0)
    axes = list(range(2, x.rank))
    average = mean(node, x, axes, True)
    away = node.op_("sub", x, average)
    variance = mean(node, node.op_("mul", away, away), axes, True)
    y = _normalized(node, x, average, variance, node.attr("epsilon", 1e-5))
    y = node.op_("mul", y, _channels(node, node.tensor(1), x.rank))
    return node.op_("add", y, _channels(node, node.tensor(2), x.rank))


@converter("LpNormalization")
def _lp_normalization(node: Node) -> Value:
    x = node.tensor(0)
    axis = node.axis(node.attr("axis", -1), x.rank)
    if node.attr("p", 2) == 1:
        norm = node.op_("reduce_sum", node.op_("abs", x), axes=[axis], keepdims=True)
    else:
        norm = node.op_("sqrt", node.op_("reduce_sum", node.op_("mul", x, x), axes=[axis], keepdims=True))
    zero = node.constant(0, x)
    return node.op_("where", node.op_("equal", norm, zero), zero, node.op_("div", x, norm))


@converter("LRN")
def _lrn(node: Node) -> Value:
    x = node.tensor(0)
    size = node.attr("size")
    before = (size - 1) // 2
    squares = node.op_("mul", x, x)
    # Windows of channels: pooling of an image whose rows are the channels.
    flat: Any = 1
    for extent in x.shape[2:]:
        flat = flat * extent
    image = node.reshape(squares, [x.shape[0], 1, x.shape[1], flat])
    total = node.op_(
        "sum_pool", image, kernel=[size, 1], strides=[1, 1], before=[before, 0], after=[size - 1 - before, 0],
        dilations=[1, 1],
    )  # fmt: skip
    scaled = node.op_("mul", node.reshape(total, x.shape), node.constant(node.attr("alpha", 1e-4) / size, x))
    scaled = node.op_("add", scaled, node.constant(node.attr("bias", 1.0), x))
    return node.op_("div", x, node.op_("pow", scaled, node.constant(node.attr("beta", 0.75), x)))
