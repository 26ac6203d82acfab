"""Operators whose results are random: each call of a model gives the same numbers, which a seed decides."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from ...graph import Value
from ...graph.random import RandomNumbers
from ..dtypes import dtype_name
from ..node import Node, converter


def _numbers(node: Node) -> RandomNumbers:
    """Those of the attribute `seed`, or of the name of the result, so that a model is compiled the same each time."""
    seed = node.attr("seed")
    number = np.float64(seed).view(np.int64) if seed is not None else zlib.crc32(node.proto.output[0].encode())
    return RandomNumbers(node.builder, node.builder.constant(np.asarray(number, np.int64)))


def _type(node: Node) -> str:
    like = node.type(0).dtype if node.has(0) else "float32"
    return dtype_name(node.attr("dtype")) if node.attr("dtype") else like


def _shape(node: Node) -> list[Any]:
    return list(node.type(0).shape) if node.has(0) else list(node.attr("shape"))


def _scaled(node: Node, x: Value, factor: float, added: float) -> Value:
    x = node.op_("add", node.op_("mul", x, node.constant(factor, x)), node.constant(added, x))
    return node.cast(x, _type(node))


def _wide(node: Node) -> str:
    return "float64" if _type(node) == "float64" else "float32"


@converter("RandomUniform", "RandomUniformLike")
def _uniform(node: Node) -> Value:
    low, high = node.attr("low", 0.0), node.attr("high", 1.0)
    return _scaled(node, _numbers(node).uniform(_shape(node), _wide(node)), high - low, low)


@converter("RandomNormal", "RandomNormalLike")
def _normal(node: Node) -> Value:
    numbers = _numbers(node).normal(_shape(node), _wide(node))
    return _scaled(node, numbers, node.attr("scale", 1.0), node.attr("mean", 0.0))


@converter("Bernoulli")
def _bernoulli(node: Node) -> Value:
    return node.cast(_numbers(node).below(_shape(node), node.tensor(0)), _type(node))
