"""Reductions of rows: the last dimension, which lies together, for each of what the others count."""

from __future__ import annotations

from .. import schedules
from ..te import placeholder, reduce_axis, sum
from .empty import copy_of_nothing, is_empty, of_elements
from .operator import Operand, Scheduled, operator
from .shapes import expect_dimensions, expect_float32, expect_shape

__all__ = ["layer_norm", "rms_norm", "row_sum", "softmax"]


@operator
def softmax(x: Operand) -> Scheduled:
    """exp(x - largest of the row) / their sum, of the rows of a float32 matrix (`schedules.softmax`)."""
    rows, columns = _rows("softmax", x)
    return copy_of_nothing(x) if is_empty(x) else schedules.softmax(rows, columns)


@operator
def row_sum(x: Operand) -> Scheduled:
    """The sums of the rows of a float32 matrix (`schedules.row_sum`)."""
    rows, columns = _rows("row_sum", x)
    if not is_empty(x):
        return schedules.row_sum(rows, columns)
    X, k = placeholder(x.shape, x.dtype, name="X"), reduce_axis((0, columns), "k")
    return of_elements((rows,), lambda i: sum(X[i, k], axis=k), [X])


@operator
def layer_norm(x: Operand, gamma: Operand, beta: Operand, *, epsilon: float = 1e-5) -> Scheduled:
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta, of rows of a float32 matrix (`schedules.layer_norm`)."""
    rows, columns = _rows("layer_norm", x)
    expect_float32("layer_norm", gamma=gamma, beta=beta)
    expect_shape("layer_norm", (columns,), gamma=gamma, beta=beta)
    if is_empty(x):
        return copy_of_nothing(x, gamma=gamma, beta=beta)
    return schedules.layer_norm(rows, columns, epsilon=epsilon)


@operator
def rms_norm(x: Operand, gamma: Operand, *, epsilon: float = 1e-5) -> Scheduled:
    """x / sqrt(mean of the squares + epsilon) * gamma, of the rows of a float32 matrix (`schedules.rms_norm`)."""
    rows, columns = _rows("rms_norm", x)
    expect_float32("rms_norm", gamma=gamma)
    expect_shape("rms_norm", (columns,), gamma=gamma)
    if is_empty(x):
        return copy_of_nothing(x, gamma=gamma)
    return schedules.rms_norm(rows, columns, epsilon=epsilon)


def _rows(what: str, x: Operand) -> tuple[int, int]:
    expect_float32(what, x=x)
    expect_dimensions(what, 2, x=x)
    return x.shape[0], x.shape[1]
