"""Arithmetic on shapes with symbolic extents: arrays of numbers and index expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto

from .. import te
from ..graph import GraphBuilder, Value
from ..graph.numbers import number_of
from ..graph.operators.extents import normal, quotient

if TYPE_CHECKING:
    from .node import Node

__all__ = ["as_tensor", "evaluate", "shape_of", "supports"]


def shape_of(node: Node) -> np.ndarray:
    """The result of Shape or Size: numbers where all are known."""
    kind = node.type(0)
    if node.op == "Size":
        total: Any = 1
        for extent in kind.shape:
            total = total * extent
        return _array(total, ())
    start, end = node.attr("start", 0), node.attr("end", kind.rank)
    extents = list(kind.shape)[slice(start, end)]
    return _array(extents, (len(extents),))


def _array(values: Any, shape: tuple[int, ...]) -> np.ndarray:
    made = np.empty(shape, object)
    made[...] = values
    return numbers_of(made)


def numbers_of(values: np.ndarray) -> np.ndarray:
    """An array of int64 where every element is a number."""
    if all(isinstance(one, (int, np.integer)) for one in values.reshape(-1).tolist()):
        return values.astype(np.int64)
    return values


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "Add": lambda a, b: normal(a + b),
    "Sub": lambda a, b: normal(a - b),
    "Mul": lambda a, b: normal(a * b),
    "Div": lambda a, b: quotient(a, b),
    "Mod": lambda a, b: a % b,
    "Min": lambda a, b: min(a, b) if isinstance(a, int) and isinstance(b, int) else te.min(a, b),
    "Max": lambda a, b: max(a, b) if isinstance(a, int) and isinstance(b, int) else te.max(a, b),
}
_INTEGERS = (TensorProto.INT32, TensorProto.INT64)
_MOVES = ("Concat", "Gather", "Slice", "Squeeze", "Unsqueeze", "Reshape", "Identity", "Cast", "CastLike", "ReduceProd")


def supports(node: Node, symbolic: Sequence[bool]) -> bool:
    """Whether a node is computed on symbolic extents, which these of its inputs have. Floats are none."""
    if node.op in ("Cast", "CastLike"):
        to = node.attr("to") if node.op == "Cast" else node.scope.type_of(node.proto.input[1]).dtype
        return symbolic[0] and (to in _INTEGERS if node.op == "Cast" else "int" in to)
    return node.op in _ARITHMETIC or node.op in _MOVES and (node.op == "Concat" or not any(symbolic[1:]))


def evaluate(node: Node, values: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results of a node on arrays of which one has symbolic extents."""
    given = [value.astype(object) for value in values]
    if node.op in _ARITHMETIC:
        function = np.frompyfunc(_ARITHMETIC[node.op], 2, 1)
        return [numbers_of(np.asarray(function(given[0], given[1]), object))]
    x = given[0]
    rest = [[int(one) for one in value.reshape(-1).tolist()] for value in values[1:]] if node.op != "Concat" else []
    if node.op == "Concat":
        result = np.concatenate(given, axis=node.attr("axis", 0))
    elif node.op == "Gather":
        result = np.take(x, values[1].astype(np.int64), axis=node.attr("axis", 0))
    elif node.op == "Slice":
        starts = rest[0] if rest else node.attr("starts")
        ends = rest[1] if rest else node.attr("ends")
        steps = rest[3] if len(rest) > 3 else [1]
        result = x[slice(starts[0], ends[0], steps[0])]
    elif node.op == "Squeeze":
        result = x.reshape(())
    elif node.op == "Unsqueeze":
        result = x.reshape((1,))
    elif node.op == "Reshape":
        result = x.reshape(rest[0])
    elif node.op == "ReduceProd":
        total: Any = 1
        for one in x.reshape(-1).tolist():
            total = total * one
        result = np.empty((1,) if node.attr("keepdims", 1) else (), object)
        result[...] = total
    else:
        result = x
    return [numbers_of(np.asarray(result, object))]


def as_tensor(builder: GraphBuilder, value: np.ndarray) -> Value:
    """A shape as a tensor of the model, an int64 for each number."""
    numbers = [builder.op("reshape", number_of(builder, one), shape=[1]) for one in value.reshape(-1).tolist()]
    made = numbers[0] if len(numbers) == 1 else builder.op("concat", *numbers, axis=0)
    return builder.op("reshape", made, shape=list(value.shape))
