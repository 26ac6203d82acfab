"""Quantised operators."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ...graph import Value
from ..dtypes import dtype_name
from ..narrow import Narrow, decoded
from ..node import Node, converter
from .contractions import matmul, windows
from .elementwise import converted


def spread(node: Node, value: Value, x: Value, axis: int, block: int) -> Value:
    if isinstance(value, Narrow):
        value = decoded(node, value)
    return _broadcast(node, value, x, axis, block)


def _broadcast(node: Node, value: Value, x: Value, axis: int, block: int) -> Value:
    """A scale or a zero point in the shape in which it is broadcast to `x`."""
    if value.rank == 0 or value.rank == 1 and str(value.shape[0]) == "1":
        return node.reshape(value, [])
    axis = node.axis(axis, x.rank)
    if value.rank == 1:
        return node.reshape(value, [*[1] * axis, value.shape[0], *[1] * (x.rank - axis - 1)])
    if value.rank == x.rank and block:
        shape = list(value.shape)
        wide = node.reshape(value, [*shape[: axis + 1], 1, *shape[axis + 1 :]])
        wide = node.op_("expand", wide, shape=[*shape[: axis + 1], block, *shape[axis + 1 :]])
        joined = node.reshape(wide, [*shape[:axis], shape[axis] * block, *shape[axis + 1 :]])
        extent = x.shape[axis]
        if str(joined.shape[axis]) != str(extent):
            sizes = [*joined.shape[:axis], extent, *joined.shape[axis + 1 :]]
            joined = node.op_("slice", joined, starts=[0] * x.rank, steps=[1] * x.rank, sizes=sizes)
        return joined
    return value


def quantized(node: Node, x: Value, scale: Value, zero: Value | None, to: str) -> Value:
    """Floats as integers: rounded over the scale, plus the zero point, saturated."""
    y = node.op_("div", x, scale)
    if "float" in to:
        return converted(node, y, to, bool(node.attr("saturate", 1)))
    y = node.op_("round", y)
    if zero is not None:
        y = node.op_("add", y, _real(node, zero))
    limits = ml_dtypes.iinfo(to)
    y = node.op_("max", y, node.constant(int(limits.min), y))
    y = node.op_("min", y, node.constant(int(limits.max), y))
    return converted(node, y, to, True)


def _real(node: Node, x: Value) -> Value:
    """A quantised tensor as float32."""
    if isinstance(x, Narrow):
        return decoded(node, x)
    return node.cast(x, "float32")


def _zero(node: Node, scale: Value, dtype: str) -> Value:
    """The zero point; where all of it is known to be 0, that is one number."""
    if not node.has(2) or node.is_known(2) and not np.any(node.host(2).astype(np.float64)):
        return node.reshape(node.constant(0, dtype), [1] * scale.rank)
    return node.tensor(2)


def _are_of_graph(node: Node, x: Value, integers: str) -> bool:
    """Whether the graph has an operator for the node: of integers that te has, and scales along one axis."""
    scale, block = node.type(1), node.attr("block_size", 0)
    narrow = any(isinstance(node.tensor(i), Narrow) for i in (0, 2) if node.has(i))
    if narrow or integers not in ("int8", "uint8", "int16", "uint16", "int32") or not x.rank:
        return False
    is_one = all(str(extent) == "1" for extent in scale.shape)
    return is_one or scale.rank == 1 and not block or scale.rank == x.rank and block > 0


def _axis_of(node: Node, x: Value, scale: Value) -> int:
    """The axis, counted from 0; one scale has none."""
    if all(str(extent) == "1" for extent in scale.shape):
        return 0
    return node.axis(node.attr("axis", 1), x.rank)


@converter("QuantizeLinear")
def _quantize(node: Node) -> Value:
    x, scale = node.tensor(0), node.tensor(1)
    axis, block = node.attr("axis", 1), node.attr("block_size", 0)
    to = "uint8"
    if node.has(2):
        to = node.type(2).dtype
    elif node.attr("output_dtype", 0):
        to = dtype_name(node.attr("output_dtype"))
    if _are_of_graph(node, x, to):
        places = {"axis": _axis_of(node, x, scale), "block": block}
        return node.op_("quantize", x, scale, _zero(node, scale, to), **places, to=to)
    precise = node.cast(x, "float32")
    zero = spread(node, node.tensor(2), x, axis, block) if node.has(2) and "float" not in to else None
    return quantized(node, precise, spread(node, node.cast(scale, "float32"), x, axis, block), zero, to)


@converter("DequantizeLinear")
def _dequantize(node: Node) -> Value:
    x, scale = node.tensor(0), node.tensor(1)
    axis, block = node.attr("axis", 1), node.attr("block_size", 0)
    to = dtype_name(node.attr("output_dtype")) if node.attr("output_dtype", 0) else scale.dtype
    if _are_of_graph(node, x, x.dtype):
        places = {"axis": _axis_of(node, x, scale), "block": block}
        return node.op_("dequantize", x, scale, _zero(node, scale, x.dtype), **places, to=to)
    y = _real(node, x)
    if node.has(2):
        y = node.op_("sub", y, _real(node, spread(node, node.tensor(2), x, axis, block)))
    return node.cast(node.op_("mul", y, spread(node, node.cast(scale, "float32"), x, axis, block)), to)


def shifted(node: Node, x: Value, zero: Value | None, is_row: bool) -> Value:
    """An integer tensor as int32, less its zero point, which may be one for each row or column."""
    y = node.cast(x, "int32")
    if zero is None:
        return y
    zero = node.cast(zero, "int32")
    if zero.rank == 1 and str(zero.shape[0]) != "1":
        zero = node.reshape(zero, [*zero.shape, 1] if is_row else list(zero.shape))
    elif zero.rank <= 1:
        zero = node.reshape(zero, [])
    return node.op_("sub", y, zero)


@converter("MatMulInteger")
def _matmul_integer(node: Node) -> Value:
    a, b = node.tensor(0), node.tensor(1)
    a = shifted(node, a, node.tensor(2) if node.has(2) else None, True)
    b = shifted(node, b, node.tensor(3) if node.has(3) else None, False)
    return matmul(node, a, b, "int32", "int32")


@converter("QLinearMatMul")
def _qlinear_matmul(node: Node) -> Value:
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = node.tensors()
    a32 = shifted(node, a, a_zero, True)
    b32 = shifted(node, b, b_zero, False)
    total = node.cast(matmul(node, a32, b32, "int32", "int32"), "float32")
    scale = node.op_("mul", scale_of(node, a_scale, True), scale_of(node, b_scale, False))
    real = node.op_("mul", total, scale)
    zero = _scalar(node, y_zero)
    return quantized(node, real, scale_of(node, y_scale, True), zero, y_zero.dtype)


def scale_of(node: Node, scale: Value, is_row: bool) -> Value:
    scale = node.cast(scale, "float32")
    if scale.rank == 1 and str(scale.shape[0]) != "1":
        return node.reshape(scale, [*scale.shape, 1] if is_row else list(scale.shape))
    return _scalar(node, scale)


def _scalar(node: Node, value: Value) -> Value:
    return node.reshape(value, []) if value.rank <= 1 and str(value.shape or 1) in ("1", "(1,)", "[1]") else value


def _convolved(node: Node, x: Value, w: Value, x_zero: Value | None, w_zero: Value | None) -> Value:
    x32 = node.cast(x, "int32")
    if x_zero is not None:
        x32 = node.op_("sub", x32, node.reshape(node.cast(x_zero, "int32"), []))
    w32 = node.cast(w, "int32")
    if w_zero is not None:
        zero = node.cast(w_zero, "int32")
        is_one = zero.rank == 0 or str(zero.shape[0]) == "1"
        zero = node.reshape(zero, [] if is_one else [*zero.shape, *[1] * (w.rank - 1)])
        w32 = node.op_("sub", w32, zero)
    found = windows(node, x, list(w.shape[2:]))
    return node.op_("conv", x32, w32, **found, groups=node.attr("group", 1), acc="int32", to="int32")


@converter("ConvInteger")
def _conv_integer(node: Node) -> Value:
    return _convolved(
        node, node.tensor(0), node.tensor(1), node.tensor(2) if node.has(2) else None,
        node.tensor(3) if node.has(3) else None,
    )  # fmt: skip


@converter("QLinearConv")
def _qlinear_conv(node: Node) -> Any:
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = (node.tensor(i) for i in range(8))
    total = _convolved(node, x, w, x_zero, w_zero)
    if node.has(8):
        bias = node.tensor(8)
        total = node.op_("add", total, node.reshape(bias, [*bias.shape, *[1] * (total.rank - 2)]))
    w_scale = node.cast(w_scale, "float32")
    is_one = w_scale.rank == 0 or str(w_scale.shape[0]) == "1"
    w_scale = node.reshape(w_scale, [] if is_one else [*w_scale.shape, *[1] * (x.rank - 2)])
    scale = node.op_("mul", node.reshape(node.cast(x_scale, "float32"), []), w_scale)
    real = node.op_("mul", node.cast(total, "float32"), scale)
    y_scale = node.reshape(node.cast(y_scale, "float32"), [])
    return quantized(node, real, y_scale, node.reshape(y_zero, []), y_zero.dtype)
