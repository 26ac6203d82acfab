"""Operators that reduce or order elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ...graph import Value
from ..node import CONVERTERS, Node, converter


def _axes(node: Node, rank: int) -> list[int] | None:
    """The axes of a reduction; None where there is nothing to reduce over and the operator is left out."""
    axes = node.integers(1, "axes") if node.has(1) or "axes" in node.attributes else None
    if not axes:
        if node.attr("noop_with_empty_axes", 0):
            return None
        axes = None
    return node.axes(axes, rank)


_Step: TypeAlias = Callable[[Node, Value], Value]


def _reduction(name: str, before: _Step | None = None, after: _Step | None = None) -> Callable[[Node], Value]:
    def convert(node: Node) -> Value:
        x = node.tensor(0)
        axes = _axes(node, x.rank)
        if before is not None:
            x = before(node, x)
        if axes is not None:
            x = node.op_(name, x, axes=axes, keepdims=bool(node.attr("keepdims", 1)))
        return after(node, x) if after is not None else x

    return convert


def _square(node: Node, x: Value) -> Value:
    return node.op_("mul", x, x)


CONVERTERS.update({
    "ReduceSum": _reduction("reduce_sum"),
    "ReduceProd": _reduction("reduce_prod"),
    "ReduceMax": _reduction("reduce_max"),
    "ReduceMin": _reduction("reduce_min"),
    "ReduceL1": _reduction("reduce_sum", lambda node, x: node.op_("abs", x)),
    "ReduceL2": _reduction("reduce_sum", _square, lambda node, x: _rooted(node, x)),
    "ReduceSumSquare": _reduction("reduce_sum", _square),
    "ReduceLogSum": _reduction("reduce_sum", None, lambda node, x: node.op_("log", x)),
})  # fmt: skip


def _rooted(node: Node, x: Value) -> Value:
    if "float" in x.dtype:
        return node.op_("sqrt", x)
    return node.cast(node.op_("sqrt", node.cast(x, "float64")), x.dtype)


def mean(node: Node, x: Value, axes: list[int], keepdims: bool) -> Value:
    """The mean over some dimensions. The sum of 16-bit floats is one of float32: it may be beyond their range."""
    wide = node.cast(x, "float32") if x.dtype in ("float16", "bfloat16") else x
    count: Any = 1
    for axis in axes:
        count = count * x.shape[axis]
    if isinstance(count, int):
        number = node.constant(count, wide)
    else:  # Ones, summed along the same dimensions: what the extents are is known in a call.
        ones = node.op_("expand", node.constant(1, wide), shape=[x.shape[axis] for axis in axes])
        number = node.op_("reduce_sum", ones, axes=list(range(len(axes))), keepdims=False)
    total = node.op_("reduce_sum", wide, axes=axes, keepdims=keepdims)
    return node.cast(node.op_("div", total, number), x.dtype)


@converter("ReduceMean")
def _mean(node: Node) -> Value:
    x = node.tensor(0)
    axes = _axes(node, x.rank)
    return x if axes is None else mean(node, x, axes, bool(node.attr("keepdims", 1)))


@converter("ReduceLogSumExp")
def _log_sum_exp(node: Node) -> Value:
    x = node.tensor(0)
    axes = _axes(node, x.rank)
    if axes is None:
        return x
    keepdims = bool(node.attr("keepdims", 1))
    if any(isinstance(x.shape[axis], int) and x.shape[axis] == 0 for axis in axes):
        return node.op_("log", node.op_("reduce_sum", node.op_("exp", x), axes=axes, keepdims=keepdims))
    # exp(x - largest) does not overflow. Where the largest is infinite, nothing is subtracted.
    largest = node.op_("reduce_max", x, axes=axes, keepdims=True)
    infinite = node.op_("isinf", largest, positive=True, negative=True)
    largest = node.op_("where", infinite, node.constant(0, x), largest)
    total = node.op_("reduce_sum", node.op_("exp", node.op_("sub", x, largest)), axes=axes, keepdims=True)
    result = node.op_("add", node.op_("log", total), largest)
    if keepdims:
        return result
    return node.reshape(result, [extent for d, extent in enumerate(x.shape) if d not in axes])


def _arg(name: str) -> Any:
    def convert(node: Node) -> Value:
        x = node.tensor(0)
        axis = node.axis(node.attr("axis", 0), x.rank)
        node.builder.require_elements(x.shape[axis : axis + 1])
        return node.op_(
            name, x, axis=axis, keepdims=bool(node.attr("keepdims", 1)),
            select_last=bool(node.attr("select_last_index", 0)),
        )  # fmt: skip

    return convert


CONVERTERS.update({"ArgMax": _arg("argmax"), "ArgMin": _arg("argmin")})


def _cumulative(name: str) -> Any:
    def convert(node: Node) -> Value:
        x = node.tensor(0)
        axis = node.axis(int(node.number(1)), x.rank)
        return node.op_(
            name, x, axis=axis, exclusive=bool(node.attr("exclusive", 0)), reverse=bool(node.attr("reverse", 0))
        )  # fmt: skip

    return convert


CONVERTERS.update({"CumSum": _cumulative("cumsum"), "CumProd": _cumulative("cumprod")})


@converter("TopK")
def _topk(node: Node) -> Any:
    x = node.tensor(0)
    k = int(node.number(1)) if node.has(1) else node.attr("k")
    axis = node.axis(node.attr("axis", -1), x.rank)
    return node.builder.ops("topk", x, k=k, axis=axis, largest=bool(node.attr("largest", 1)))


def _soft(name: str) -> Any:
    def convert(node: Node) -> Value:
        x = node.tensor(0)
        if node.version >= 13:
            return node.op_(name, x, axis=node.axis(node.attr("axis", -1), x.rank))
        # Before version 13 over all dimensions from the axis on.
        axis = node.axis(node.attr("axis", 1), x.rank)
        inner: Any = 1
        for extent in x.shape[axis:]:
            inner = inner * extent
        flat = node.reshape(x, [*x.shape[:axis], inner])
        return node.reshape(node.op_(name, flat, axis=axis), x.shape)

    return convert


CONVERTERS.update({"Softmax": _soft("softmax"), "LogSoftmax": _soft("log_softmax")})


@converter("Hardmax")
def _hardmax(node: Node) -> Value:
    x = node.tensor(0)
    axis = node.axis(node.attr("axis", -1 if node.version >= 13 else 1), x.rank)
    place = node.op_("argmax", x, axis=axis, keepdims=True, select_last=False)
    iota = node.op_("iota", shape=list(x.shape), axis=axis, to="int64")
    return node.cast(node.op_("equal", iota, place), x.dtype)
