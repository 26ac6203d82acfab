"""Normalisation."""

from __future__ import annotations

from typing import Any

from ...graph import Value
from ..node import Node, converter
from .reductions import mean


def _channels(node: Node, value: Value, rank: int) -> Value:
    """A number for each channel, in the shape in which it is broadcast."""
    return node.reshape(value, [*value.shape, *[1] * (rank - 2)])


def _deviation(node: Node, variance: Value, epsilon: float | None = None) -> Value:
    """The root of a variance and an epsilon, by default the node's."""
    epsilon = node.attr("epsilon", 1e-5) if epsilon is None else epsilon
    return node.op_("sqrt", node.op_("add", variance, node.constant(epsilon, variance)))


def _centred(node: Node, x: Value, axes: list[int]) -> tuple[Value, Value, Value]:
    """The mean, what is left of elements without it, and the variance: never negative, unlike E[x^2] - E[x]^2."""
    average = mean(node, x, axes, True)
    away = node.op_("sub", x, average)
    return average, away, mean(node, node.op_("mul", away, away), axes, True)


@converter("BatchNormalization")
def _batch_normalization(node: Node) -> Any:
    x = node.tensor(0)
    scale, bias, average, variance = (node.tensor(i) for i in range(1, 5))
    results: list[Value] = []
    if node.attr("training_mode", 0):
        axes = [d for d in range(x.rank) if d != 1]
        own, _, spread = _centred(node, x, axes)
        momentum = node.attr("momentum", 0.9)
        for before, now in ((average, own), (variance, spread)):
            kept = node.op_("mul", before, node.constant(momentum, before))
            new = node.op_("mul", node.reshape(now, before.shape), node.constant(1 - momentum, before))
            results.append(node.op_("add", kept, new))
        average, variance = own, spread
    else:
        average, variance = _channels(node, average, x.rank), _channels(node, variance, x.rank)
    away = node.op_("sub", x, node.cast(average, x.dtype))
    y = node.op_("div", away, _deviation(node, node.cast(variance, x.dtype)))
    y = node.op_("mul", y, node.cast(_channels(node, scale, x.rank), x.dtype))
    return [node.op_("add", y, node.cast(_channels(node, bias, x.rank), x.dtype)), *results]


@converter("InstanceNormalization")
def _instance_normalization(node: Node) -> Value:
    x = node.tensor(0)
    _, away, variance = _centred(node, x, list(range(2, x.rank)))
    y = node.op_("div", away, _deviation(node, variance))
    y = node.op_("mul", y, _channels(node, node.tensor(1), x.rank))
    return node.op_("add", y, _channels(node, node.tensor(2), x.rank))


def layer_normalized(
    node: Node, given: Value, scale: Value, bias: Value | None, axis: int = -1, epsilon: float = 1e-5,
    is_simplified: bool = False,
) -> list[Value]:  # fmt: skip
    """The dimensions from an axis on normalised, the mean, and 1 over the deviation.

    If `is_simplified`, the mean is taken as 0. Everything is computed in float32 at least.
    """
    axis = node.axis(axis, given.rank)
    x = node.cast(given, "float32") if node.attr("stash_type", 1) == 1 and given.dtype != "float64" else given
    axes = list(range(axis, given.rank))
    if is_simplified:
        average = node.constant(0, x)
        away, variance = x, mean(node, node.op_("mul", x, x), axes, True)
    else:
        average, away, variance = _centred(node, x, axes)
    root = _deviation(node, variance, epsilon)
    # ONNX Runtime's models may have a scale of another type than x, which is that of the result.
    y = node.op_("mul", node.cast(node.op_("div", away, root), scale.dtype), scale)
    if bias is not None:
        y = node.op_("add", y, bias)
    return [y, average, node.op_("div", node.constant(1, x), root)]


@converter("LayerNormalization")
def _layer_normalization(node: Node) -> list[Value]:
    bias = node.tensor(2) if node.has(2) else None
    axis, epsilon = node.attr("axis", -1), node.attr("epsilon", 1e-5)
    return layer_normalized(node, node.tensor(0), node.tensor(1), bias, axis, epsilon)


@converter("SimplifiedLayerNormalization")  # of ONNX Runtime, which puts it into ONNX's domain
def _simplified_layer_normalization(node: Node) -> list[Value]:
    axis, epsilon = node.attr("axis", -1), node.attr("epsilon", 1e-5)
    y, _, factor = layer_normalized(node, node.tensor(0), node.tensor(1), None, axis, epsilon, is_simplified=True)
    return [y, factor]


def group_normalized(
    node: Node, given: Value, groups: int, scale: Value, bias: Value, epsilon: float, for_each_channel: bool
) -> Value:
    """Images NC… normalised over groups of channels. A scale and a bias are for each channel, or for each group."""
    channels = given.shape[1]
    if not isinstance(channels, int) or channels % groups:
        raise node.error(f"expected channels that {groups} groups share evenly, got {channels}")
    x = node.cast(given, "float32") if given.dtype in ("float16", "bfloat16") else given
    grouped = node.reshape(x, [x.shape[0], groups, channels // groups, *x.shape[2:]])
    _, away, variance = _centred(node, grouped, list(range(2, grouped.rank)))
    shape, rank = (x.shape, x.rank) if for_each_channel else (grouped.shape, grouped.rank)
    y = node.reshape(node.cast(node.op_("div", away, _deviation(node, variance, epsilon)), scale.dtype), shape)
    y = node.op_("mul", y, _channels(node, scale, rank))
    return node.cast(node.reshape(node.op_("add", y, _channels(node, bias, rank)), given.shape), given.dtype)


@converter("GroupNormalization")
def _group_normalization(node: Node) -> Value:
    x, scale, bias = (node.tensor(i) for i in range(3))
    groups, epsilon = node.attr("num_groups"), node.attr("epsilon", 1e-5)
    # A scale and a bias for each channel; before version 21 for each group.
    return group_normalized(node, x, groups, scale, bias, epsilon, node.version >= 21)


@converter("MeanVarianceNormalization")
def _mean_variance_normalization(node: Node) -> Value:
    x = node.tensor(0)
    axes = [node.axis(axis, x.rank) for axis in node.attr("axes", [0, 2, 3])]
    _, away, variance = _centred(node, x, axes)
    return node.op_("div", away, node.op_("add", node.op_("sqrt", variance), node.constant(1e-9, x)))


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
