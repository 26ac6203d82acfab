"""Ensembles of trees: rows walk down all trees at once, one level a step."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....graph import Value
from ...node import Node, classical
from .forests import MISSING, Forest, forest_by_ids, forest_by_places
from .scores import as_scores, class_of, floats_of, labels_of, rows, transformed, two_classes

_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")  # as numbers of TreeEnsemble


def _leaves(node: Node, x: Value, forest: Forest) -> Value:
    """By row and tree the node where the row ends."""
    op, constant = node.op_, node.builder.constant
    # Integers become float64, which holds them and what they are compared with.
    is_float = x.dtype.startswith("float")
    kind: Any = np.result_type(x.dtype if is_float else "float64", forest.thresholds.dtype)
    dtype = str(kind)
    x = node.cast(x, dtype)
    features, thresholds = constant(forest.features), constant(forest.thresholds.astype(dtype))
    children = constant(forest.children.reshape(-1))
    results = forest.children.shape[1]
    place = op("expand", constant(forest.roots), shape=[x.shape[0], len(forest.roots)])
    for _ in range(forest.steps):
        value = op("gather_elements", x, op("gather", features, place, axis=0), axis=1)
        threshold = op("gather", thresholds, place, axis=0)
        # Below the threshold the result is 0; at it and above it, it is one more each.
        reached, passed = (node.cast(op(one, value, threshold), "int32") for one in ("greater_equal", "greater"))
        result = op("add", reached, passed)
        if is_float:
            result = op("where", op("isnan", value), constant(np.int32(MISSING)), result)
        first = op("mul", place, constant(np.int32(results)))
        place = op("gather", children, op("add", first, result), axis=0)
    return place


def _combined(node: Node, forest: Forest, dtype: str) -> Value:
    """By row and target what the leaves have, combined."""
    op, constant = node.op_, node.builder.constant
    place = _leaves(node, rows(node), forest)
    weights = forest.weights.astype(dtype)
    is_least = forest.combine in ("MIN", "MAX")
    # A tree may have no number for a target: it is left out.
    none = {"MIN": np.inf, "MAX": -np.inf}.get(forest.combine, 0.0)
    is_none = np.isnan(weights)
    table = constant(np.where(is_none, np.asarray(none, dtype), weights))
    taken = op("gather", table, place, axis=0)
    reducer = f"reduce_{forest.combine.lower()}" if is_least else "reduce_sum"
    made = op(reducer, taken, axes=[1], keepdims=False)
    if forest.combine == "AVERAGE":
        made = op("div", made, node.constant(len(forest.roots), made))
    if is_least and is_none.any():
        made = op("where", op("isinf", made, positive=True, negative=True), node.constant(0, made), made)
    return made


def _dtype(node: Node, *names: str) -> str:
    """What leaves are summed in: float64 where the features or numbers of the node are."""
    is_wide = node.type(0).dtype == "float64" or any(floats_of(node, one).dtype == np.float64 for one in names)
    return "float64" if is_wide else "float32"


@classical("TreeEnsembleRegressor")
def _regressor(node: Node) -> Value:
    count = node.attr("n_targets", 1)
    forest = forest_by_ids(node, "target", count)
    made = _combined(node, forest, _dtype(node, "target_weights"))
    base = floats_of(node, "base_values")
    if len(base):
        if len(base) != count:
            raise node.error(f"base_values: expected {count}, one for each target, got {len(base)}")
        made = node.op_("add", made, node.constant(base, made))
    return as_scores(node, transformed(node, made, node.attr("post_transform", "NONE")))


@classical("TreeEnsembleClassifier")
def _classifier(node: Node) -> list[Value]:
    labels = labels_of(node, "classlabels_int64s")
    count = len(labels)
    forest = forest_by_ids(node, "class", count)
    dtype, transform = _dtype(node, "class_weights"), node.attr("post_transform", "NONE")
    base = floats_of(node, "base_values")
    sums = _combined(node, forest, dtype)
    used = set(node.attr("class_ids", []))
    if count == 2 and len(used) == 1:
        # The only scores are those of the second class, whichever class they name.
        return _of_one(node, sums, used.pop(), base, labels, transform)
    if len(base):
        if len(base) != count:
            raise node.error(f"base_values: expected {count}, one for each class, got {len(base)}")
        sums = node.op_("add", sums, node.constant(base, sums))
    return [class_of(node, sums, labels), as_scores(node, transformed(node, sums, transform))]


def _of_one(
    node: Node, sums: Value, column: int, base: np.ndarray, labels: np.ndarray, transform: str
) -> list[Value]:  # fmt: skip
    """Label and scores of two classes by the scores of the second one: probabilities where no weight is negative."""
    score = node.op_("slice", sums, starts=[0, column], steps=[1, 1], sizes=[sums.shape[0], 1])
    if len(base):
        score = node.op_("add", score, node.constant(base[-1], score))
    is_probability = transform in ("NONE", "PROBIT") and (floats_of(node, "class_weights") >= 0).all()
    both = two_classes(node, score, from_one=bool(is_probability))
    return [class_of(node, both, labels), as_scores(node, transformed(node, both, transform))]


@classical("TreeEnsemble")
def _ensemble(node: Node) -> Value:
    x = node.type(0)
    number: int = node.attr("post_transform", 0)
    if not 0 <= number < len(_TRANSFORMS):
        raise node.error(f"post_transform: expected a number from 0 to {len(_TRANSFORMS) - 1}, got {number}")
    acc = "float32" if x.dtype == "float16" else x.dtype
    made = transformed(node, _combined(node, forest_by_places(node), acc), _TRANSFORMS[number])
    return node.cast(made, x.dtype)
