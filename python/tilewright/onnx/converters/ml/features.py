"""Operators that scale, replace and choose features."""

from __future__ import annotations

import math

import numpy as np

from ....graph import Value
from ....graph.operators.common import elements
from ...node import Node, classical
from ..movement import sliced
from .scores import as_scores, row_weights, rows


@classical("Scaler")
def _scaler(node: Node) -> Value:
    given = node.tensor(0)
    # Integers become float64, which holds them: an offset may be nearly as large.
    x = given if given.dtype == "float32" else node.cast(given, "float64")
    if "offset" in node.attributes:
        x = node.op_("sub", x, node.constant(row_weights(node, "offset", given), x))
    if "scale" in node.attributes:
        x = node.op_("mul", x, node.constant(row_weights(node, "scale", given), x))
    return as_scores(node, x)


@classical("Normalizer")
def _normalizer(node: Node) -> Value:
    """A row whose norm is 0 stays."""
    op, given = node.op_, node.tensor(0)
    x = rows(node)
    x = x if x.dtype == "float32" else node.cast(x, "float64")
    size = op("abs", x)
    norm = node.attr("norm", "MAX")
    if norm == "MAX":
        divisor = op("reduce_max", size, axes=[1], keepdims=True)
    elif norm == "L1":
        divisor = op("reduce_sum", size, axes=[1], keepdims=True)
    elif norm == "L2":
        divisor = op("sqrt", op("reduce_sum", op("mul", x, x), axes=[1], keepdims=True))
    else:
        raise node.error(f"norm: expected MAX, L1 or L2, got {norm}")
    is_zero = op("equal", divisor, node.constant(0, x))
    made = op("div", x, op("where", is_zero, node.constant(1, x), divisor))
    return as_scores(node, node.reshape(made, given.shape))


@classical("Imputer")
def _imputer(node: Node) -> Value:
    x = node.tensor(0)
    is_float = x.dtype.startswith("float")
    name = "imputed_value_floats" if is_float else "imputed_value_int64s"
    values = row_weights(node, name, x, np.float64 if is_float else np.int64)
    missing = node.attr("replaced_value_float" if is_float else "replaced_value_int64", 0)
    if math.isnan(missing):
        is_missing = node.op_("isnan", x)
    else:
        is_missing = node.op_("equal", x, node.constant(missing, x))
    return node.op_("where", is_missing, node.constant(values, x), x)


@classical("Binarizer")
def _binarizer(node: Node) -> Value:
    x = node.tensor(0)
    return node.cast(node.op_("greater", x, node.constant(node.attr("threshold", 0.0), x)), x.dtype)


@classical("ArrayFeatureExtractor")
def _array_feature_extractor(node: Node) -> Value:
    """Columns by their numbers. Of a vector a row is made."""
    x, places = node.tensor(0), node.tensor(1)
    count = elements(places.shape)
    taken = node.op_("gather", x, node.reshape(places, [count]), axis=x.rank - 1)
    return taken if x.rank > 1 else node.reshape(taken, [1, count])


@classical("FeatureVectorizer")
def _feature_vectorizer(node: Node) -> Value:
    """Inputs beside one another, each cut or filled up with zeros to its number of columns."""
    widths = node.attr("inputdimensions")
    if widths is not None and len(widths) != node.input_count:
        raise node.error(f"inputdimensions: expected {node.input_count}, one for each input, got {len(widths)}")
    parts: list[Value] = []
    for position in range(node.input_count):
        x = node.cast(rows(node, position), "float32")
        own = x.shape[1]
        if not isinstance(own, int):
            raise node.error(f"input {position}: expected a number of columns that is known, got {own}")
        width = own if widths is None else widths[position]
        if width < own:
            x = sliced(node, x, {1: (0, width, 1)})
        elif width > own:
            zero = node.constant(0, x)
            x = node.op_("pad", x, zero, before=[0, 0], after=[0, width - own], mode="constant")
        parts.append(x)
    return node.op_("concat", *parts, axis=1)
