"""Operators of ai.onnx that are fused, with activations, or in another form."""

from __future__ import annotations

import math
from typing import Any

from ....graph import Value
from ...node import CONVERTERS, Node, contrib
from ..contractions import matmul
from ..parts import part

__all__ = ["channels_first", "channels_last", "fast_gelu", "gelu", "halves", "silu"]


def channels_first(node: Node, x: Value, is_last: bool = True) -> Value:
    """Images N…C as NC…; those whose channels are not the last dimension stay."""
    return node.op_("transpose", x, permutation=[0, x.rank - 1, *range(1, x.rank - 1)]) if is_last else x


def channels_last(node: Node, x: Value, is_last: bool = True) -> Value:
    """Images NC… as N…C, where these are wanted."""
    return node.op_("transpose", x, permutation=[0, *range(2, x.rank), 1]) if is_last else x


# What an attribute of activation parameters is called in ai.onnx, by activation.
_PARAMETERS = {"LeakyRelu": ("alpha",), "HardSigmoid": ("alpha", "beta"), "Clip": ("min", "max")}


def _activated(node: Node, x: Value) -> Value:
    """A result with the activation that a fused node names."""
    name = node.attr("activation", "")
    if not name:
        return x
    given = {each: node.attr(f"activation_{each}") for each in ("alpha", "beta", "gamma")}
    parameters = node.attr("activation_params")
    if parameters:
        names = _PARAMETERS.get(name, ())
        if len(names) != len(parameters):
            raise node.error(f"activation_params: expected {len(names)} numbers for {name}, got {len(parameters)}")
        given = dict(zip(names, parameters))
    if name == "Clip":  # which has attributes before version 11
        return node.apply(name, x, version=6, **given)[0]
    return node.apply(name, x, **given)[0]


@contrib("FusedMatMul", "TransposeMatMul", "FusedMatMulActivation")
def _fused_matmul(node: Node) -> Value:
    made: list[Value] = []
    for position, name in enumerate("AB"):
        x = node.tensor(position)
        order = list(range(x.rank))
        if x.rank > 1 and node.attr(f"transBatch{name}", 0):  # rows are the first dimension
            order = [*order[1:-1], order[0], order[-1]]
        if x.rank > 1 and node.attr(f"trans{name}", 0):
            order[-2:] = reversed(order[-2:])
        made.append(x if order == sorted(order) else node.op_("transpose", x, permutation=order))
    result = matmul(node, made[0], made[1])
    alpha = node.attr("alpha", 1.0)
    return _activated(node, result if alpha == 1 else node.op_("mul", result, node.constant(alpha, result)))


@contrib("FusedGemm")
def _fused_gemm(node: Node) -> Value:
    return _activated(node, CONVERTERS["Gemm"](node))


@contrib("GemmFastGelu")
def _gemm_fast_gelu(node: Node) -> Value:
    return _fast_gelu_of(node, matmul(node, node.tensor(0), node.tensor(1)), 2)


def _convolved(node: Node, is_last: bool) -> Value:
    names = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")
    inputs = [channels_first(node, node.tensor(0), is_last), node.tensor(1)]
    inputs += [node.tensor(2)] if node.has(2) else []
    result = node.apply("Conv", *inputs, **{name: node.attr(name) for name in names})[0]
    if node.has(3):
        result = node.op_("add", result, channels_first(node, node.tensor(3), is_last))
    return channels_last(node, _activated(node, result), is_last)


@contrib("FusedConv")
def _fused_conv(node: Node) -> Value:
    return _convolved(node, is_last=False)


@contrib("NhwcConv", "NhwcFusedConv")
def _nhwc_conv(node: Node) -> Value:
    return _convolved(node, is_last=True)


@contrib("NhwcMaxPool")
def _nhwc_max_pool(node: Node) -> Value:
    names = ("auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides")
    x = channels_first(node, node.tensor(0))
    return channels_last(node, node.apply("MaxPool", x, **{name: node.attr(name) for name in names})[0])


def gelu(node: Node, x: Value) -> Value:
    """x times the normal distribution's probability of less than x."""
    half = node.op_("mul", x, node.constant(0.5, x))
    wide = node.op_("erf", node.op_("mul", x, node.constant(math.sqrt(0.5), x)))
    return node.op_("mul", half, node.op_("add", wide, node.constant(1, x)))


def fast_gelu(node: Node, x: Value) -> Value:
    """`gelu` by tanh."""
    cube = node.op_("mul", node.op_("mul", x, x), node.constant(0.044715, x))
    inner = node.op_("mul", node.op_("mul", x, node.op_("add", cube, node.constant(1, x))),
                     node.constant(math.sqrt(2 / math.pi), x))  # fmt: skip
    half = node.op_("mul", x, node.constant(0.5, x))
    return node.op_("mul", half, node.op_("add", node.op_("tanh", inner), node.constant(1, x)))


def _fast_gelu_of(node: Node, x: Value, bias: int) -> Value:
    return fast_gelu(node, node.op_("add", x, node.tensor(bias)) if node.has(bias) else x)


@contrib("Gelu")
def _gelu(node: Node) -> Value:
    return gelu(node, node.tensor(0))


@contrib("BiasGelu")
def _bias_gelu(node: Node) -> Value:
    return gelu(node, node.op_("add", node.tensor(0), node.tensor(1)))


@contrib("FastGelu")
def _fast_gelu_with_bias(node: Node) -> Value:
    return _fast_gelu_of(node, node.tensor(0), 1)


def silu(node: Node, x: Value, alpha: float = 1.0) -> Value:
    """x times the sigmoid of `alpha` x."""
    scaled = x if alpha == 1 else node.op_("mul", x, node.constant(alpha, x))
    return node.op_("mul", x, node.op_("sigmoid", scaled))


@contrib("QuickGelu")
def _quick_gelu(node: Node) -> Value:
    return silu(node, node.tensor(0), node.attr("alpha", 1.702))


def halves(node: Node, x: Value) -> list[Value]:
    """The first and the second half of the last dimension."""
    width = x.shape[-1] // 2
    return [part(node, x, x.rank - 1, start, width) for start in (0, width)]


@contrib("BiasSplitGelu")
def _bias_split_gelu(node: Node) -> Value:
    left, right = halves(node, node.op_("add", node.tensor(0), node.tensor(1)))
    return node.op_("mul", left, gelu(node, right))


@contrib("BiasAdd")
def _bias_add(node: Node) -> Value:
    return node.op_("add", node.op_("add", node.tensor(0), node.tensor(1)), node.tensor(2))


@contrib("BiasDropout")
def _bias_dropout(node: Node) -> Any:
    x = node.op_("add", node.tensor(0), node.tensor(1))
    if node.has(4) and node.number(4):
        raise node.error("expected training_mode to be false: the result is random otherwise")
    y = node.op_("add", x, node.tensor(2)) if node.has(2) else x
    mask = node.constant(True, "bool")
    return [y, node.op_("expand", mask, shape=list(x.shape))] if node.has_output(1) else y


@contrib("BiasSoftmax")
def _bias_softmax(node: Node) -> Value:
    x = node.op_("add", node.tensor(0), node.tensor(1))
    return node.apply("Softmax", x, version=11, axis=node.attr("axis", 1))[0]  # over all dimensions from the axis on


@contrib("ExpandDims")
def _expand_dims(node: Node) -> Value:
    x = node.tensor(0)
    axis = node.axis(int(node.number(1)), x.rank + 1)
    return node.reshape(x, [*x.shape[:axis], 1, *x.shape[axis:]])


@contrib("Unique")
def _unique(node: Node) -> list[Value]:
    values, _, numbers, counts = node.apply("Unique", node.tensor(0), results=4, version=11, sorted=0)
    return [values, numbers, counts]


@contrib("DequantizeLinear", "GatherND", "GridSample", "MatMulInteger16", "Pad", "QuantizeLinear", "Range", "Trilu")
def _as_in_onnx(node: Node) -> Any:
    """Operators with the inputs and attributes of those in ai.onnx."""
    return CONVERTERS[node.op.removesuffix("16")](node)
