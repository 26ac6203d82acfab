"""Extents as tensors: what a model computes with the number of its elements."""

from __future__ import annotations

import numpy as np

from ..te import Expr, Var
from ..te.expr import Call, Const
from .builder import GraphBuilder, Value

__all__ = ["number_of"]

_OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "floordiv": "div", "floormod": "mod", "min": "min", "max": "max"
}  # fmt: skip
"""By operator of te's extents the graph's."""


def number_of(builder: GraphBuilder, extent: int | Expr) -> Value:
    """An extent as a tensor of one int64: a symbol is the last place of a dimension that has one element more.

    >>> from tilewright import te
    >>> from tilewright.graph import TensorType
    >>> n = te.var("n")
    >>> with GraphBuilder("length", [("x", TensorType((n,), "float32"))]) as builder:
    ...     number_of(builder, n * 2).type
    TensorType(shape=(), dtype='int64')
    """
    if isinstance(extent, (int, Const)):
        return builder.constant(np.asarray(int(extent), np.int64))
    if isinstance(extent, Var):
        places = builder.op("iota", shape=[extent + 1], axis=0, to="int64")
        return builder.op("reshape", builder.op("slice", places, starts=[extent], steps=[1], sizes=[1]), shape=[])
    if not isinstance(extent, Call) or extent.op not in _OPERATORS:
        raise builder.error(f"expected an extent of sums, products, quotients, minima and maxima, got {extent}")
    a, b = (number_of(builder, one) for one in extent.args)
    if extent.op == "floordiv":
        return builder.op("div", builder.op("sub", a, builder.op("mod", a, b)), b)
    return builder.op(_OPERATORS[extent.op], a, b)
