"""Operators that put numbers in the place of categories."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import numpy_helper

from ....graph import Value
from ...node import Node, classical


@classical("OneHotEncoder")
def _one_hot_encoder(node: Node) -> Value:
    """A category that is not known has zeros, also where the node says that it is an error."""
    x = node.tensor(0)
    if node.attr("cats_strings"):
        raise node.error("expected categories of int64, got strings")
    categories = np.asarray(node.attr("cats_int64s", []), np.int64)
    if not len(categories):
        raise node.error("cats_int64s: expected one category at least, got none")
    wide = node.reshape(node.cast(x, "int64"), [*x.shape, 1])
    return node.cast(node.op_("equal", wide, node.builder.constant(categories)), "float32")


_DEFAULTS: dict[str, Any] = {"floats": ("default_float", -0.0), "int64s": ("default_int64", -1)}


def _array(node: Node, what: str) -> tuple[str, np.ndarray]:
    """What the keys or the values are called behind their first word, and the numbers that they are."""
    if f"{what}_tensor" in node.attributes:
        array = numpy_helper.to_array(node.attr(f"{what}_tensor")).reshape(-1)
        if array.dtype.kind in "fiub":
            return "tensor", array
    for kind, dtype in (("floats", np.float32), ("int64s", np.int64)):
        if f"{what}_{kind}" in node.attributes:
            return kind, np.asarray(node.attr(f"{what}_{kind}"), dtype)
    told = ", ".join(name for name in node.attributes if name.startswith((what, "classes"))) or "none"
    raise node.error(f"expected {what} that are numbers, got {told}")


@classical("LabelEncoder")
def _label_encoder(node: Node) -> Value:
    x = node.tensor(0)
    _, keys = _array(node, "keys")
    kind, values = _array(node, "values")
    if len(keys) != len(values) or not len(keys):
        raise node.error(f"expected as many values as keys, at least one, got {len(keys)} and {len(values)}")
    if keys.dtype.name != x.dtype:
        raise node.error(f"expected keys of type {x.dtype}, which the input has, got {keys.dtype.name}")
    if kind == "tensor":
        given = node.attr("default_tensor")
        default = -1 if values.dtype.kind == "i" else -0.0
        default = default if given is None else numpy_helper.to_array(given).reshape(-1)[0]
    else:
        default = node.attr(*_DEFAULTS[kind])
    wide = node.reshape(x, [*x.shape, 1])
    is_key = node.op_("equal", wide, node.builder.constant(keys))
    if keys.dtype.kind == "f" and np.isnan(keys).any():
        is_key = node.op_("or", is_key, node.op_("and", node.op_("isnan", wide), node.builder.constant(np.isnan(keys))))
    # Place 0 is that of the default.
    numbers = node.builder.constant(np.arange(1, len(keys) + 1, dtype=np.int32))
    found = node.op_("where", is_key, numbers, node.constant(0, "int32"))
    place = node.op_("reduce_max", found, axes=[x.rank], keepdims=False)
    table = np.concatenate([np.asarray([default]).astype(values.dtype), values])
    return node.op_("gather", node.builder.constant(table), place, axis=0)


@classical("ZipMap")
def _zip_map(node: Node) -> Value:
    """The matrix of scores itself: its columns are in the order of the labels that would be the maps' keys."""
    return node.tensor(0)
