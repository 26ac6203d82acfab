"""Linear models."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....graph import Value
from ...node import Node, classical
from ..contractions import matmul
from .scores import as_scores, class_of, float_rows, floats_of, labels_of, transformed, two_classes

__all__ = ["projected"]


def projected(node: Node, x: Value, coefficients: np.ndarray, count: int, offsets: np.ndarray) -> Value:
    """Matmul of rows with `count` rows of coefficients, plus offsets."""
    columns = x.shape[1]
    if not isinstance(columns, int) or coefficients.size != count * columns:
        raise node.error(
            f"coefficients: expected {count} for each of {columns} columns, got {coefficients.size} in all"
        )
    weight: Any = coefficients.reshape(count, columns)
    made = matmul(node, x, node.constant(weight.transpose(), x))
    return node.op_("add", made, node.constant(offsets, x))


def _sums(node: Node, x: Value, count: int) -> Value:
    coefficients = floats_of(node, "coefficients")
    offsets = np.asarray(node.attr("intercepts") or [0.0] * count, np.float32)
    if len(offsets) != count:
        raise node.error(f"intercepts: expected {count}, got {len(offsets)}")
    return projected(node, x, coefficients, count, offsets)


@classical("LinearRegressor")
def _linear_regressor(node: Node) -> Value:
    made = _sums(node, float_rows(node), node.attr("targets", 1))
    return as_scores(node, transformed(node, made, node.attr("post_transform", "NONE")))


@classical("LinearClassifier")
def _linear_classifier(node: Node) -> list[Value]:
    """Two classes may have one score, that of the second one."""
    labels, x = labels_of(node, "classlabels_ints"), float_rows(node)
    count = len(labels)
    if count == 2 and len(node.attr("coefficients", [])) == x.shape[1]:
        sums = two_classes(node, _sums(node, x, 1), from_one=False)
    else:
        sums = _sums(node, x, count)
    scores = transformed(node, sums, node.attr("post_transform", "NONE"))
    return [class_of(node, sums, labels), as_scores(node, scores)]
