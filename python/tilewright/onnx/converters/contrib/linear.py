"""Operators on 8-bit integers with scales and zero points, and matmuls of them."""

from __future__ import annotations

from typing import Any

from ....graph import Value
from ...node import Node, contrib
from ..contractions import matmul
from ..quantization import scale_of, shifted
from .fused import channels_first, channels_last

__all__ = ["integer_matmul"]


def _one(node: Node, value: Value) -> Value:
    """A scale or a zero point, of which there is one."""
    return node.reshape(value, [])


def _real(node: Node, position: int) -> Value:
    """An input with a scale and a zero point behind it, as float32."""
    x, scale = node.tensor(position), _one(node, node.tensor(position + 1))
    zero = _one(node, node.tensor(position + 2)) if node.has(position + 2) else node.constant(0, x)
    return node.op_("dequantize", x, scale, zero, axis=0, block=0, to=scale.dtype)


def _quantized(node: Node, x: Value, position: int, like: Value) -> Value:
    """A result in the type of another tensor, by the scale at a position, and the zero point behind it."""
    scale = _one(node, node.tensor(position))
    zero = _one(node, node.tensor(position + 1)) if node.has(position + 1) else node.constant(0, like)
    return node.op_("quantize", x, scale, zero, axis=0, block=0, to=zero.dtype)


def _binary(name: str) -> Any:
    def convert(node: Node) -> Value:
        return _quantized(node, node.op_(name, _real(node, 0), _real(node, 3)), 6, node.tensor(0))

    return convert


contrib("QLinearAdd")(_binary("add"))
contrib("QLinearMul")(_binary("mul"))


@contrib("QLinearConcat")
def _concat(node: Node) -> Value:
    made = [_real(node, position) for position in range(2, node.input_count, 3)]
    whole = node.op_("concat", *made, axis=node.axis(node.attr("axis"), made[0].rank))
    return _quantized(node, whole, 0, node.tensor(2))


@contrib("QLinearWhere")
def _where(node: Node) -> Value:
    made = node.op_("where", node.tensor(0), _real(node, 1), _real(node, 4))
    return _quantized(node, made, 7, node.tensor(1))


def _as_floats(operator: str, *names: str, version: int | None = None) -> Any:
    """An operator of ai.onnx on an input as float32, with these attributes."""

    def convert(node: Node) -> Value:
        is_last = bool(node.attr("channels_last", 0))
        x = channels_first(node, _real(node, 0), is_last)
        own = node.attr("opset", version)
        y = node.apply(operator, x, version=own, **{name: node.attr(name) for name in names})[0]
        return channels_last(node, _quantized(node, y, 3, node.tensor(0)), is_last)

    return convert


contrib("QLinearSigmoid")(_as_floats("Sigmoid"))
contrib("QLinearLeakyRelu")(_as_floats("LeakyRelu", "alpha"))
contrib("QLinearSoftmax")(_as_floats("Softmax", "axis"))
contrib("QLinearReduceMean")(_as_floats("ReduceMean", "axes", "keepdims", version=13))
contrib("QLinearGlobalAveragePool")(_as_floats("GlobalAveragePool"))
contrib("QLinearAveragePool")(
    _as_floats("AveragePool", "auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides")
)


@contrib("QLinearConv")
def _conv(node: Node) -> Value:
    names = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")
    is_last = bool(node.attr("channels_last", 0))
    inputs = [channels_first(node, node.tensor(0), is_last), *(node.tensor(i) for i in range(1, node.input_count))]
    made = node.apply("QLinearConv", *inputs, **{name: node.attr(name) for name in names})[0]
    return channels_last(node, made, is_last)


def integer_matmul(
    node: Node, left: tuple[int, int, int], right: tuple[int, int, int], bias: int | None = None
) -> Value:  # fmt: skip
    """The matmul of integers, as floats. Each operand has a position, and those of its scale and its zero point."""
    a, b = (
        shifted(node, node.tensor(one), node.tensor(zero) if node.has(zero) else None, is_row)
        for (one, _, zero), is_row in ((left, True), (right, False))
    )
    scale = node.op_("mul", scale_of(node, node.tensor(left[1]), True), scale_of(node, node.tensor(right[1]), False))
    real = node.op_("mul", node.cast(matmul(node, a, b, "int32", "int32"), "float32"), scale)
    y = node.cast(real, node.tensor(right[1]).dtype)
    return y if bias is None or not node.has(bias) else node.op_("add", y, node.tensor(bias))


@contrib("MatMulIntegerToFloat")
def _matmul_integer_to_float(node: Node) -> Value:
    return integer_matmul(node, (0, 2, 4), (1, 3, 5), bias=6)


@contrib("DynamicQuantizeMatMul")
def _dynamic_quantize_matmul(node: Node) -> Value:
    a, scale, zero = node.apply("DynamicQuantizeLinear", node.tensor(0), results=3, version=11)
    b = shifted(node, node.tensor(1), node.tensor(3) if node.has(3) else None, False)
    total = matmul(node, shifted(node, a, zero, True), b, "int32", "int32")
    scales = node.op_("mul", scale, scale_of(node, node.tensor(2), False))
    y = node.op_("mul", node.cast(total, "float32"), scales)
    return node.op_("add", y, node.tensor(4)) if node.has(4) else y


@contrib("MulInteger")
def _mul_integer(node: Node) -> Value:
    a, b = (
        shifted(node, node.tensor(i), node.tensor(i + 1) if node.has(i + 1) else None, True) for i in (0, 2)
    )  # fmt: skip
    return node.op_("mul", a, b)


@contrib("ReduceSumInteger")
def _reduce_sum_integer(node: Node) -> Value:
    x = node.cast(node.tensor(0), "int32")
    return node.apply("ReduceSum", x, version=11, axes=node.attr("axes"), keepdims=node.attr("keepdims"))[0]


@contrib("QGemm")
def _gemm(node: Node) -> Value:
    a, b = (
        shifted(node, node.tensor(i), node.tensor(i + 2) if node.has(i + 2) else None, is_row)
        for i, is_row in ((0, not node.attr("transA", 0)), (3, bool(node.attr("transB", 0))))
    )
    if node.attr("transA", 0):
        a = node.op_("transpose", a, permutation=[1, 0])
    if node.attr("transB", 0):
        b = node.op_("transpose", b, permutation=[1, 0])
    total = matmul(node, a, b, "int32", "int32")
    if node.has(6):
        total = node.op_("add", total, node.tensor(6))
    scale = node.op_("mul", scale_of(node, node.tensor(1), True), scale_of(node, node.tensor(4), False))
    y = node.op_("mul", node.cast(total, "float32"), scale)
    alpha = node.attr("alpha", 1.0)
    y = y if alpha == 1 else node.op_("mul", y, node.constant(alpha, y))
    return _quantized(node, y, 7, node.tensor(0)) if node.has(7) else y


@contrib("DynamicQuantizeLSTM")
def _lstm(node: Node) -> list[Value]:
    """Weights have 8 bits. ONNX Runtime quantises the other operand, too; here it stays as it is."""
    weights = [_direction_weights(node, position, scale) for position, scale in ((1, 8), (2, 10))]
    rest = [node.tensor(i) if node.has(i) else None for i in range(3, 8)]
    names = ("activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size", "input_forget")
    attributes = {name: node.attr(name) for name in names}
    return node.apply("LSTM", node.tensor(0), *weights, *rest, results=node.output_count, version=14, **attributes)


def _direction_weights(node: Node, position: int, scale: int) -> Value:
    """Weights, directions x inputs x gates, as floats, directions x gates x inputs. Each has its scale behind it."""
    real, scales, zero = (node.cast(node.tensor(i), "float32") for i in (position, scale, scale + 1))
    shape = [*scales.shape, *[1] * (3 - scales.rank)] if scales.rank == 1 else [scales.shape[0], 1, scales.shape[1]]
    away = node.op_("sub", real, node.reshape(zero, shape))
    floats = node.op_("mul", away, node.reshape(scales, shape))
    return node.op_("transpose", floats, permutation=[0, 2, 1])
