"""Moves of elements."""

from __future__ import annotations

from .. import schedules
from ..te import placeholder
from .empty import is_empty, of_elements
from .operator import Operand, Scheduled, operator
from .shapes import expect_dimensions, expect_float32

__all__ = ["transpose"]


@operator
def transpose(x: Operand) -> Scheduled:
    """y[j, i] = x[i, j], float32 (`schedules.transpose`)."""
    expect_float32("transpose", x=x)
    expect_dimensions("transpose", 2, x=x)
    if is_empty(x):
        X = placeholder(x.shape, x.dtype, name="X")
        return of_elements(x.shape[::-1], lambda j, i: X[i, j], [X])
    return schedules.transpose(*x.shape)
