"""Rows of features, and the scores and classes that models make of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import numpy_helper

from ....graph import Value
from ...node import Node

__all__ = [
    "as_scores",
    "class_of",
    "float_rows",
    "floats_of",
    "labels_of",
    "row_weights",
    "rows",
    "transformed",
    "two_classes",
]

_NEARLY_ZERO = 1e-7  # of SOFTMAX_ZERO
_ERF = 0.147  # in Winitzki's approximation of erf, by which PROBIT is defined in ONNX's reference


def rows(node: Node, position: int = 0) -> Value:
    """An input as a matrix; a vector is one row."""
    x = node.tensor(position)
    if x.rank not in (1, 2):
        raise node.error(f"input {position}: expected one dimension or two, got {x.rank}")
    return x if x.rank == 2 else node.reshape(x, [1, *x.shape])


def float_rows(node: Node) -> Value:
    """The first input as a matrix of floats: float64 stays."""
    x = rows(node)
    return x if x.dtype == "float64" else node.cast(x, "float32")


def floats_of(node: Node, name: str) -> np.ndarray:
    """Floats, or a tensor of them, as an attribute with `_as_tensor` behind its name is."""
    given = node.attr(f"{name}_as_tensor")
    if given is not None:
        return numpy_helper.to_array(given).reshape(-1)
    return np.asarray(node.attr(name) or [], np.float32)


def row_weights(node: Node, name: str, x: Value, dtype: Any = np.float64) -> np.ndarray:
    """A list of numbers, one for each column of `x`, or one for all of them."""
    values = np.asarray(node.attr(name, []), dtype)
    if len(values) not in (1, x.shape[-1]):
        raise node.error(f"{name}: expected 1 number or {x.shape[-1]}, one for each column, got {len(values)}")
    return values


def labels_of(node: Node, name: str) -> np.ndarray:
    """The labels of the classes, at least two, which have to be integers."""
    if node.attr("classlabels_strings"):
        raise node.error("expected class labels of int64, got strings")
    labels = np.asarray(node.attr(name, []), np.int64)
    if len(labels) < 2:
        raise node.error(f"{name}: expected two labels at least, got {len(labels)}")
    return labels


def class_of(node: Node, scores: Value, labels: np.ndarray) -> Value:
    """By row the label of the class with the largest score, the first of equal ones."""
    best = node.op_("argmax", scores, axis=1, keepdims=False, select_last=False)
    if np.array_equal(labels, np.arange(len(labels))):
        return best
    return node.op_("gather", node.builder.constant(labels), best, axis=0)


def two_classes(node: Node, score: Value, from_one: bool) -> Value:
    """Columns for both classes, of the score of the second one: the first is 1 less it, or its negative."""
    first = node.op_("sub", node.constant(1, score), score) if from_one else node.op_("neg", score)
    return node.op_("concat", first, score, axis=1)


def as_scores(node: Node, scores: Value) -> Value:
    """Scores in the type that results have."""
    return node.cast(scores, "float32")


def transformed(node: Node, scores: Value, name: str) -> Value:
    """Rows of scores after a `post_transform`."""
    known: dict[str, Any] = {
        "NONE": lambda: scores, "SOFTMAX": lambda: node.op_("softmax", scores, axis=1),
        "LOGISTIC": lambda: node.op_("sigmoid", scores), "SOFTMAX_ZERO": lambda: _softmax_zero(node, scores),
        "PROBIT": lambda: _probit(node, scores),
    }  # fmt: skip
    if name not in known:
        raise node.error(f"post_transform: expected one of {', '.join(known)}, got {name}")
    return known[name]()


def _softmax_zero(node: Node, scores: Value) -> Value:
    """A softmax in which a score of 0 stays 0. Where all are 0, each is 0.5."""
    op = node.op_
    largest = op("reduce_max", scores, axes=[1], keepdims=True)
    is_zero = op("less_equal", op("abs", scores), node.constant(_NEARLY_ZERO, scores))
    kept = op("mul", scores, op("exp", op("neg", largest)))
    powers = op("where", is_zero, kept, op("exp", op("sub", scores, largest)))
    total = op("reduce_sum", powers, axes=[1], keepdims=True)
    half = node.constant(0.5, scores)
    return op("where", op("equal", total, node.constant(0, scores)), half, op("div", powers, total))


def _probit(node: Node, scores: Value) -> Value:
    """The quantile of the normal distribution. Of 0 and 1 it is 0, as in ONNX's reference."""
    op = node.op_

    def number(value: float) -> Value:
        return node.constant(value, scores)

    x = op("sub", op("mul", scores, number(2)), number(1))
    inner = op("mul", op("sub", number(1), x), op("add", number(1), x))
    is_end = op("equal", inner, number(0))
    logarithm = op("log", op("where", is_end, number(1), inner))
    half = op("add", op("mul", logarithm, number(0.5)), number(2 / (np.pi * _ERF)))
    root = op("sqrt", op("sub", op("mul", half, half), op("mul", logarithm, number(1 / _ERF))))
    size = op("mul", op("sqrt", op("sub", root, half)), number(np.sqrt(2)))
    return op("where", op("less", x, number(0)), op("neg", size), size)
