"""Functions of elements."""

from __future__ import annotations

from .. import schedules
from .operator import Operand, Scheduled, operator
from .shapes import expect_float32, expect_same_shape

__all__ = ["add", "gelu"]


@operator
def add(x: Operand, y: Operand) -> Scheduled:
    """x + y, float32 (`schedules.add`)."""
    expect_float32("add", x=x, y=y)
    expect_same_shape("add", x=x, y=y)
    return schedules.add(*x.shape)


@operator
def gelu(x: Operand) -> Scheduled:
    """x / 2 * (1 + erf(x / sqrt(2))), float32 (`schedules.gelu`)."""
    expect_float32("gelu", x=x)
    return schedules.gelu(*x.shape)
