"""Operators whose results have as many elements as data decide."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...graph import Value
from ...graph.counts import count_of, flat, places_in, places_where
from ...graph.uniques import unique_rows
from ..node import Node, converter

_MOST_SELECTED = 1024
"""So many boxes of one class are selected at most."""


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
    return [values, places, found.number, found.counts(extent) if node.has_output(3) else None]


@converter("NonMaxSuppression")
def _non_max_suppression(node: Node) -> Value:
    """Takes the best box of each class, and leaves out those that overlap it, as often as boxes may be selected."""
    boxes, scores = node.tensor(0), node.tensor(1)
    batch, classes, count = scores.shape
    limit = int(node.number(2, 0))
    if isinstance(count, int):
        limit = min(limit, count)
    if limit > _MOST_SELECTED:
        raise node.error(f"expected at most {_MOST_SELECTED} boxes to be selected of each class, got {limit}")
    if limit <= 0:
        return node.op_("expand", node.constant(0, "int64"), shape=[0, 3])
    least = node.constant(-np.inf, scores)
    if node.has(4):
        is_there = node.op_("greater", scores, node.reshape(node.tensor(4), [1, 1, 1]))
        scores = node.op_("where", is_there, scores, least)
    most = node.reshape(node.tensor(3), [1, 1, 1]) if node.has(3) else node.constant(0, "float32")
    edges, areas = _edges(node, boxes, [batch, classes, count])
    own = node.op_("iota", shape=[1, 1, count], axis=2, to="int64")
    chosen: list[Value] = []
    valid: list[Value] = []
    for _ in range(limit):
        best = node.op_("argmax", scores, axis=2, keepdims=True, select_last=False)
        found = node.op_("reduce_max", scores, axes=[2], keepdims=True)
        chosen.append(best)
        valid.append(node.op_("greater", found, least))
        overlap = _overlap(node, edges, areas, best)
        is_out = node.op_("or", node.op_("greater", overlap, most), node.op_("equal", own, best))
        scores = node.op_("where", is_out, least, scores)
    every = chosen[0] if limit == 1 else node.op_("concat", *chosen, axis=2)
    mask = valid[0] if limit == 1 else node.op_("concat", *valid, axis=2)
    places = _places(node, flat(node.builder, mask))
    box = node.op_("gather", flat(node.builder, every), places, axis=0)
    columns = places_in(node.builder, places, [batch, classes, limit])[:2]
    return node.op_("concat", *(node.reshape(one, [*one.shape, 1]) for one in (*columns, box)), axis=1)


def _edges(node: Node, boxes: Value, shape: list[Any]) -> tuple[list[Value], Value]:
    """The least y and x and the largest of each box, and its area, with a dimension for the classes."""
    batch, count = boxes.shape[:2]
    column = [
        node.reshape(
            node.op_("slice", boxes, starts=[0, 0, d], steps=[1, 1, 1], sizes=[batch, count, 1]), [batch, 1, count]
        )
        for d in range(4)
    ]  # fmt: skip
    if node.attr("center_point_box", 0):
        half = node.constant(0.5, boxes)
        x, y, width, height = column
        across, down = node.op_("mul", width, half), node.op_("mul", height, half)
        column = [
            node.op_("sub", y, down),
            node.op_("sub", x, across),
            node.op_("add", y, down),
            node.op_("add", x, across),
        ]
    first, second = column[:2], column[2:]
    low = [node.op_("min", a, b) for a, b in zip(first, second)]
    high = [node.op_("max", a, b) for a, b in zip(first, second)]
    area = node.op_("mul", *(node.op_("sub", b, a) for a, b in zip(low, high)))
    return [node.op_("expand", one, shape=shape) for one in (*low, *high)], node.op_("expand", area, shape=shape)


def _overlap(node: Node, edges: list[Value], areas: Value, best: Value) -> Value:
    """The intersection over the union of all boxes with one of each class; 0 where they do not overlap."""
    low, high, zero = edges[:2], edges[2:], node.constant(0, areas)

    def of_best(x: Value) -> Value:
        return node.op_("gather_elements", x, best, axis=2)

    sides = [
        node.op_("max", node.op_("sub", node.op_("min", b, of_best(b)), node.op_("max", a, of_best(a))), zero)
        for a, b in zip(low, high)
    ]  # fmt: skip
    common = node.op_("mul", *sides)
    union = node.op_("sub", node.op_("add", areas, of_best(areas)), common)
    return node.op_("where", node.op_("greater", common, zero), node.op_("div", common, union), zero)
