"""Operators whose results have as many elements as data decide."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...graph import Value
from ...graph.counts import count_of, flat, places_in, places_where
from ...graph.operators.suppression import MOST_KNOWN
from ...graph.uniques import unique_rows
from ..node import Node, converter


def _places(node: Node, mask: Value) -> Value:
    """The places of what is true in a vector, as many as data decide."""
    return places_where(node.builder, mask, node.counted(count_of(node.builder, mask)))


@converter("NonZero")
def _nonzero(node: Node) -> Value:
    x = node.tensor(0)
    x = x if x.rank else node.reshape(x, [1])
    if any(not isinstance(extent, int) for extent in x.shape[1:]):
        raise node.error(f"expected extents that are numbers but for the first, got {tuple(map(str, x.shape))}")
    mask = x if x.dtype == "bool" else node.op_("not_equal", x, node.constant(0, x))
    places = _places(node, flat(node.builder, mask))
    rows = [node.reshape(one, [1, *one.shape]) for one in places_in(node.builder, places, x.shape)]
    return rows[0] if len(rows) == 1 else node.op_("concat", *rows, axis=0)


@converter("Compress")
def _compress(node: Node) -> Value:
    """The slices at which a condition is true."""
    x = node.tensor(0)
    axis = node.attr("axis")
    if axis is None:
        x, axis = flat(node.builder, x), 0
    axis = node.axis(axis, x.rank)
    if node.is_known(1):
        places = np.flatnonzero(node.host(1).reshape(-1)).astype(np.int64)
        return node.op_("gather", x, node.builder.constant(places), axis=axis)
    return node.op_("gather", x, _places(node, flat(node.builder, node.tensor(1))), axis=axis)


@converter("Unique")
def _unique(node: Node) -> list[Value | None]:
    x = node.tensor(0)
    axis = node.attr("axis")
    if axis is None:
        moved, rest, order = flat(node.builder, x), list[Any](), list[int]()
    else:
        axis = node.axis(axis, x.rank)
        order = [axis, *(d for d in range(x.rank) if d != axis)]
        moved = node.op_("transpose", x, permutation=order)
        rest = list(moved.shape[1:])
    if not all(isinstance(extent, int) for extent in rest):
        raise node.error(f"expected extents that are numbers but for that of the axis, got {tuple(map(str, x.shape))}")
    rows = node.reshape(moved, [moved.shape[0], math.prod(rest)])
    found = unique_rows(node.builder, rows, bool(node.attr("sorted", 1)), equal_nans=True)
    extent = node.counted(count_of(node.builder, found.is_first))
    places = found.places(extent)
    values = node.op_("gather", moved, places, axis=0)
    if order:
        values = node.op_("transpose", values, permutation=[order.index(d) for d in range(x.rank)])
    return [values, places, found.numbers(extent), found.counts(extent) if node.has_output(3) else None]


@converter("NonMaxSuppression")
def _non_max_suppression(node: Node) -> Value:
    """Takes the best box of each class, and leaves out those that overlap it, as often as boxes may be selected."""
    boxes, scores = node.tensor(0), node.tensor(1)
    count = scores.shape[2]
    limit = int(node.number(2, 0))
    if limit <= 0:
        return node.op_("expand", node.constant(0, "int64"), shape=[0, 3])
    limit = min(limit, count if isinstance(count, int) else 2**31 - 1)
    least = node.reshape(node.tensor(4), [1]) if node.has(4) else node.constant([-np.inf], scores)
    most = node.reshape(node.tensor(3), [1]) if node.has(3) else node.constant([0.0], scores)
    edges = _edges(node, boxes)
    found = node.op_("suppress_boxes", edges, scores, least, most, limit=limit)
    if not all(isinstance(extent, int) for extent in found.shape[1:]):
        raise node.error(
            f"expected classes whose number is known, and boxes whose number or limit is, up to {MOST_KNOWN}, got "
            f"scores {tuple(map(str, scores.shape))} and the limit {limit}"
        )
    selected = flat(node.builder, found)
    places = _places(node, node.op_("greater", selected, node.constant(-1, selected)))
    box = node.op_("gather", selected, places, axis=0)
    columns = places_in(node.builder, places, found.shape)[:2]
    return node.op_("concat", *(node.reshape(one, [*one.shape, 1]) for one in (*columns, box)), axis=1)


def _edges(node: Node, boxes: Value) -> Value:
    """The two low edges of each box, and then the two high ones: [batch, 4, boxes]."""
    batch, count = boxes.shape[:2]
    first, second = (
        node.op_("slice", boxes, starts=[0, 0, d], steps=[1, 1, 1], sizes=[batch, count, 2]) for d in (0, 2)
    )
    if node.attr("center_point_box", 0):
        half = node.op_("mul", second, node.constant(0.5, boxes))
        first, second = node.op_("sub", first, half), node.op_("add", first, half)
    edges = node.op_("concat", node.op_("min", first, second), node.op_("max", first, second), axis=2)
    return node.op_("transpose", edges, permutation=[0, 2, 1])
