"""Moves of elements."""

from __future__ import annotations

from .. import schedules
from .operator import Operand, Scheduled, operator
from .shapes import expect_dimensions, expect_float32

__all__ = ["transpose"]


@operator
def transpose(x: Operand) -> Scheduled:
    """y[j, i] = x[i, j], float32 (`schedules.transpose`)."""
    expect_float32("transpose", x=x)
    expect_dimensions("transpose", 2, x=x)
    return schedules.transpose(*x.shape)
