"""Determinants, by Gaussian elimination that is written out: matrices are small."""

from __future__ import annotations

import numpy as np

from ...graph import Value
from ..node import Node, converter

_MOST_ROWS = 32


@converter("Det")
def _det(node: Node) -> Value:
    """Each step takes the row with the largest number of the first column, and subtracts it from the others."""
    op, matrix = node.op_, node.tensor(0)
    rank, rows = matrix.rank, matrix.shape[-1]
    if not isinstance(rows, int) or rows != matrix.shape[-2] or rows > _MOST_ROWS:
        raise node.error(f"expected square matrices of at most {_MOST_ROWS} rows, got {tuple(matrix.shape)}")
    outer = list(matrix.shape[:-2])
    one = node.constant(1, matrix)
    product = op("expand", one, shape=outer)
    for size in range(rows, 0, -1):
        column = op("slice", matrix, starts=[0] * rank, steps=[1] * rank, sizes=[*outer, size, 1])
        place = op("argmax", op("abs", column), axis=rank - 2, keepdims=True, select_last=False)
        numbers = node.builder.constant(np.arange(size, dtype=np.int64)[:, None])
        is_pivot = op("equal", numbers, place)
        pivot = _picked(node, matrix, is_pivot)  # outer x 1 x size
        first = op("slice", matrix, starts=[0] * rank, steps=[1] * rank, sizes=[*outer, 1, size])
        head = op("slice", pivot, starts=[0] * rank, steps=[1] * rank, sizes=[*outer, 1, 1])
        is_swapped = op("not_equal", place, node.builder.constant(np.int64(0)))
        signed = op("where", is_swapped, op("neg", head), head)
        product = op("mul", product, node.reshape(signed, outer))
        if size == 1:
            break
        swapped = op("where", is_pivot, first, matrix)
        rest = _without_first(node, swapped, rank - 2)
        is_zero = op("equal", head, node.constant(0, matrix))
        factors = op("div", _first_column(node, rest), op("where", is_zero, one, head))
        below = op("sub", rest, op("mul", factors, pivot))
        matrix = _without_first(node, below, rank - 1)
    return product


def _picked(node: Node, matrix: Value, is_pivot: Value) -> Value:
    """The row of each matrix at which a column of bools is true."""
    kept = node.op_("where", is_pivot, matrix, node.constant(0, matrix))
    return node.op_("reduce_sum", kept, axes=[matrix.rank - 2], keepdims=True)


def _without_first(node: Node, x: Value, axis: int) -> Value:
    starts = [int(d == axis) for d in range(x.rank)]
    sizes = [extent - 1 if d == axis and isinstance(extent, int) else extent for d, extent in enumerate(x.shape)]
    return node.op_("slice", x, starts=starts, steps=[1] * x.rank, sizes=sizes)


def _first_column(node: Node, x: Value) -> Value:
    return node.op_("slice", x, starts=[0] * x.rank, steps=[1] * x.rank, sizes=[*x.shape[:-1], 1])
