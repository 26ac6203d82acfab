"""Mixtures of experts, of float weights and of weights of few bits."""

from __future__ import annotations

import math
from typing import Any

from ....graph import Value
from ...node import Node, contrib
from ..contractions import matmul
from ..parts import of_last
from .fused import fast_gelu, halves, silu
from .weights import bits_of, dequantized, unpacked


def _shares(node: Node, scores: Value, weights: Value | None) -> Value:
    """By token and expert, what share the expert's result has: 0 but for the `k` best experts."""
    best = node.builder.ops("topk", scores, k=node.attr("k", 1), axis=1, largest=True)
    # Other weights are the router's own, else a softmax of the scores.
    given = node.op_("softmax", scores, axis=1) if weights is None else weights
    taken = node.op_("gather_elements", given, best[1], axis=1)
    if node.attr("normalize_routing_weights", 0):
        taken = node.op_("div", taken, node.op_("reduce_sum", taken, axes=[1], keepdims=True))
    none = node.op_("expand", node.constant(0, scores), shape=list(scores.shape))
    return node.op_("scatter_elements", none, best[1], taken, axis=1, reduction="none")


def _gated(node: Node, gate: Value, linear: Value) -> Value:
    limit = node.attr("swiglu_limit", math.inf)
    if limit < math.inf:
        gate = node.op_("min", gate, node.constant(limit, gate))
        linear = node.op_("max", node.op_("min", linear, node.constant(limit, linear)), node.constant(-limit, linear))
    beta = node.attr("activation_beta", 0.0)
    linear = node.op_("add", linear, node.constant(beta, linear)) if beta else linear
    return node.op_("mul", silu(node, gate, node.attr("activation_alpha", 1.0)), linear)


def _activated(node: Node, x: Value) -> Value:
    """The result of the first matmul of an expert with the activation of the node."""
    name = node.attr("activation_type", "relu")
    if name == "swiglu":
        fusion = node.attr("swiglu_fusion", 0)
        if fusion == 1:  # neighbours
            split = node.reshape(x, [*x.shape[:-1], x.shape[-1] // 2, 2])
            return _gated(node, of_last(node, split, 0), of_last(node, split, 1))
        return _gated(node, *halves(node, x))
    known: dict[str, Any] = {
        "relu": lambda: node.op_("relu", x), "gelu": lambda: fast_gelu(node, x), "silu": lambda: silu(node, x),
        "identity": lambda: x,
    }  # fmt: skip
    if name not in known:
        raise node.error(f"activation_type: expected {', '.join(known)} or swiglu, got {name}")
    return known[name]()


def _mixed(node: Node, weights: list[Value | None], biases: list[Value | None], router: Value | None) -> Value:
    """Each expert's result for each token, times its share. All experts are computed."""
    if node.attr("use_sparse_mixer", 0):
        raise node.error("expected use_sparse_mixer to be 0, got 1")
    given, scores = node.tensor(0), node.tensor(1)
    tokens = node.reshape(given, [1, scores.shape[0], given.shape[-1]])

    def projected(x: Value, number: int) -> Value:
        weight, bias = weights[number], biases[number]
        assert weight is not None  # that of an operator that has it
        y = matmul(node, x, node.op_("transpose", weight, permutation=[0, 2, 1]))
        return y if bias is None else node.op_("add", y, node.reshape(bias, [bias.shape[0], 1, bias.shape[1]]))

    first = projected(tokens, 0)
    if weights[2] is None:
        inner = _activated(node, first)
    elif node.attr("activation_type") == "swiglu":
        inner = _gated(node, first, projected(tokens, 2))
    else:
        inner = node.op_("mul", _activated(node, first), projected(tokens, 2))
    made = projected(inner, 1)
    shares = node.op_("transpose", _shares(node, scores, router), permutation=[1, 0])
    weighted = node.op_("mul", made, node.reshape(shares, [*shares.shape, 1]))
    return node.reshape(node.op_("reduce_sum", weighted, axes=[0], keepdims=False), given.shape)


def _given(node: Node, *places: int) -> list[Value | None]:
    return [node.tensor(position) if node.has(position) else None for position in places]


@contrib("MoE")
def _moe(node: Node) -> Value:
    return _mixed(node, _given(node, 2, 4, 6), _given(node, 3, 5, 7), None)


@contrib("QMoE")
def _quantized_moe(node: Node) -> Value:
    if node.attr("quant_type", "int") != "int" or node.attr("weights_prepacked", -1) == 1:
        raise node.error("expected weights of quant_type int that are not prepacked")
    weights: list[Value | None] = []
    for number, position in enumerate((2, 5, 8)):
        if not node.has(position):
            weights.append(None)
            continue
        name = f"fc{number + 1}_expert_weight_bits"
        bits = bits_of(node, name if name in node.attributes else "expert_weight_bits")
        packed, scales = node.tensor(position), node.tensor(position + 1)
        zeros = node.tensor(11 + number) if node.has(11 + number) else None
        count: Any = packed.shape[-1] * 8 // bits
        if scales.rank == 2:  # one for each row; zero points are packed along the rows
            if zeros is not None:
                whole = node.cast(unpacked(node, zeros, bits, scales.shape[1]), scales.dtype)
                zeros = node.reshape(whole, [*whole.shape, 1])
            scales = node.reshape(scales, [*scales.shape, 1])
        block = node.attr("block_size", 0) or count
        weights.append(dequantized(node, packed, scales, zeros, bits, block, count))
    return _mixed(node, weights, _given(node, 4, 7, 10), _given(node, 14)[0])
