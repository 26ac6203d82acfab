"""Pooling."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...graph import Value
from ..node import Node, converter
from .contractions import numbers, windows


def _windows(node: Node, x: Value) -> dict[str, list[int]]:
    """The windows of pooling; with ceil_mode the last one may go beyond the padding, if it begins before that."""
    kernel = numbers(node, "kernel_shape", x.rank - 2, 1)
    found = windows(node, x, kernel)
    if node.attr("ceil_mode", 0) and node.attr("auto_pad", "NOTSET") == "NOTSET":
        for d, extent in enumerate(x.shape[2:]):
            if not isinstance(extent, int):
                raise node.error(f"ceil_mode of dimension {d + 2}: expected an extent that is known, got {extent}")
            stride, reach = found["strides"][d], (kernel[d] - 1) * found["dilations"][d] + 1
            padded = extent + found["before"][d] + found["after"][d]
            count = math.ceil((padded - reach) / stride) + 1
            if (count - 1) * stride >= extent + found["before"][d]:
                count -= 1
            found["after"][d] += max((count - 1) * stride + reach - padded, 0)
    return {"kernel": kernel, **found}


@converter("MaxPool")
def _max_pool(node: Node) -> Any:
    x = node.tensor(0)
    found = _windows(node, x)
    result = [node.op_("max_pool", x, **found)]
    if node.has_output(1):
        result.append(node.op_("max_pool_indices", x, **found, column_major=bool(node.attr("storage_order", 0))))
    return result


def _counts(node: Node, x: Value, found: dict[str, list[int]], include: bool) -> np.ndarray:
    """How many elements each window has that count."""
    total = np.ones((), np.float64)
    pads = list(node.attr("pads") or [0] * (2 * len(found["kernel"])))
    for d, extent in enumerate(x.shape[2:]):
        if not isinstance(extent, int):
            raise node.error(f"dimension {d + 2}: expected an extent that is known, got {extent}")
        low, high = found["before"][d], found["after"][d]
        own_high = pads[len(found["kernel"]) + d] if node.attr("auto_pad", "NOTSET") == "NOTSET" else high
        inside = np.zeros(low + extent + high)
        inside[0 if include else low : low + extent + (own_high if include else 0)] = 1
        stride, dilation, size = found["strides"][d], found["dilations"][d], found["kernel"][d]
        begins = range(0, len(inside) - (size - 1) * dilation, stride)
        along = np.array([inside[begin : begin + (size - 1) * dilation + 1 : dilation].sum() for begin in begins])
        total = total[..., None] * along
    return total


@converter("AveragePool")
def _average_pool(node: Node) -> Value:
    x = node.tensor(0)
    found = _windows(node, x)
    counts = _counts(node, x, found, bool(node.attr("count_include_pad", 0)))
    if counts.size and (counts == counts.reshape(-1)[0]).all():
        counts = counts.reshape(-1)[0]
    return node.op_("div", node.op_("sum_pool", x, **found), node.constant(counts, x))


@converter("LpPool")
def _lp_pool(node: Node) -> Value:
    x = node.tensor(0)
    p = node.attr("p", 2)
    powers = node.op_("pow", node.op_("abs", x), node.constant(p, x))
    total = node.op_("sum_pool", powers, **_windows(node, x))
    return node.op_("pow", total, node.constant(1.0 / p, x))


def _spatial(x: Value) -> list[int]:
    return list(range(2, x.rank))


@converter("GlobalAveragePool")
def _global_average(node: Node) -> Value:
    from .reductions import mean

    x = node.tensor(0)
    return mean(node, x, _spatial(x), True)


@converter("GlobalMaxPool")
def _global_max(node: Node) -> Value:
    x = node.tensor(0)
    return node.op_("reduce_max", x, axes=_spatial(x), keepdims=True)


@converter("GlobalLpPool")
def _global_lp(node: Node) -> Value:
    x = node.tensor(0)
    p = node.attr("p", 2)
    powers = node.op_("pow", node.op_("abs", x), node.constant(p, x))
    return node.op_("pow", node.op_("reduce_sum", powers, axes=_spatial(x), keepdims=True), node.constant(1.0 / p, x))


@converter("MaxUnpool")
def _max_unpool(node: Node) -> Value:
    x, places = node.tensor(0), node.tensor(1)
    rank = x.rank - 2
    kernel, strides = numbers(node, "kernel_shape", rank, 1), numbers(node, "strides", rank, 1)
    pads = numbers(node, "pads", 2 * rank, default=0)
    natural = [
        (extent - 1) * s + k - pads[d] - pads[d + rank]
        for d, (extent, s, k) in enumerate(zip(x.shape[2:], strides, kernel))
    ]
    shape = [*x.shape[:2], *natural]
    size = math.prod(shape)
    flat = node.op_("expand", node.constant(0, x), shape=[size])
    count = math.prod(x.shape)  # type: ignore[arg-type]
    made = node.op_(
        "scatter_elements", flat, node.reshape(places, [count]), node.reshape(x, [count]), axis=0, reduction="none"
    )  # fmt: skip
    made = node.reshape(made, shape)
    if not node.has(2):
        return made
    # The places are those in the natural shape. What is asked for has zeros behind it.
    more = [want - extent for want, extent in zip(node.integers(2), shape)]
    if any(one < 0 for one in more):
        raise node.error(f"expected an output of at least {tuple(shape)}, got {tuple(node.integers(2))}")
    return node.op_("pad", made, node.constant(0, x), before=[0] * len(more), after=more, mode="constant")
