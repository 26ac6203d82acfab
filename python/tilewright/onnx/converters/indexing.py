"""Operators that read or write at places that data gives."""

from __future__ import annotations

from ...graph import Value
from ..node import Node, converter


@converter("Gather")
def _gather(node: Node) -> Value:
    x = node.tensor(0)
    return node.op_("gather", x, node.tensor(1), axis=node.axis(node.attr("axis", 0), x.rank))


@converter("GatherElements")
def _gather_elements(node: Node) -> Value:
    x = node.tensor(0)
    return node.op_("gather_elements", x, node.tensor(1), axis=node.axis(node.attr("axis", 0), x.rank))


@converter("GatherND")
def _gather_nd(node: Node) -> Value:
    return node.op_("gather_nd", node.tensor(0), node.tensor(1), batch_dims=node.attr("batch_dims", 0))


@converter("ScatterElements", "Scatter")
def _scatter_elements(node: Node) -> Value:
    x = node.tensor(0)
    axis = node.axis(node.attr("axis", 0), x.rank)
    return node.op_(
        "scatter_elements", x, node.tensor(1), node.tensor(2), axis=axis, reduction=node.attr("reduction", "none")
    )  # fmt: skip


@converter("ScatterND")
def _scatter_nd(node: Node) -> Value:
    return node.op_("scatter_nd", *node.tensors(), reduction=node.attr("reduction", "none"))


@converter("ReverseSequence")
def _reverse_sequence(node: Node) -> Value:
    return node.op_(
        "reverse_sequence", node.tensor(0), node.tensor(1), time_axis=node.attr("time_axis", 0),
        batch_axis=node.attr("batch_axis", 1),
    )  # fmt: skip


@converter("OneHot")
def _one_hot(node: Node) -> Value:
    indices, values = node.tensor(0), node.tensor(2)
    depth = int(node.number(1))
    rank = indices.rank + 1
    axis = node.axis(node.attr("axis", -1), rank)
    shape = [*indices.shape[:axis], depth, *indices.shape[axis:]]
    # An index may count from the end, and be a float.
    indices = node.cast(indices, "int64")
    wrapped = node.op_("add", indices, node.constant(depth, "int64"))
    indices = node.op_("where", node.op_("less", indices, node.constant(0, "int64")), wrapped, indices)
    place = node.op_("iota", shape=shape, axis=axis, to="int64")
    wide = node.reshape(indices, [*indices.shape[:axis], 1, *indices.shape[axis:]])
    off, on = (
        node.reshape(node.op_("slice", values, starts=[i], steps=[1], sizes=[1]), []) for i in range(2)
    )  # fmt: skip
    return node.op_("where", node.op_("equal", place, wide), on, off)


@converter("TensorScatter")
def _tensor_scatter(node: Node) -> Value:
    """A cache with updates behind one another along the axis of the sequence, from an index of each batch on."""
    cache, update = node.tensor(0), node.tensor(1)
    axis = node.axis(node.attr("axis", -2), cache.rank)
    batch = cache.shape[0]
    begins = node.tensor(2) if node.has(2) else node.op_("expand", node.constant(0, "int64"), shape=[batch])
    shape = list(update.shape)
    place = node.op_("iota", shape=shape, axis=axis, to="int64")
    place = node.op_("add", place, node.reshape(node.cast(begins, "int64"), [batch, *[1] * (cache.rank - 1)]))
    if node.attr("mode", "linear") == "circular":
        place = node.op_("mod", place, node.constant(cache.shape[axis], "int64"))
    return node.op_("scatter_elements", cache, place, update, axis=axis, reduction="none")
