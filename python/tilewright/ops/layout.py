"""Moves of elements."""

from __future__ import annotations

from .. import schedules
from ..target import Target
from .by_rules import by_rules, given, operate
from .empty import is_empty
from .operator import Operand, Scheduled, operator
from .shapes import expect_dimensions

__all__ = ["transpose"]


@operator
def transpose(x: Operand, *, target: Target | None = None) -> Scheduled:
    """y[j, i] = x[i, j], of any type; float32 is by `schedules.transpose`, others by rules.

    >>> import numpy as np
    >>> transpose(np.array([[1, 2, 3]], "int8"))
    array([[1],
           [2],
           [3]], dtype=int8)
    """
    expect_dimensions("transpose", 2, x=x)
    if x.dtype == "float32" and not is_empty(x) and (target is None or target.kind != "cpu"):
        return schedules.transpose(*x.shape)
    X = given(x, "X")
    return by_rules([X], operate("transpose", X, permutation=(1, 0)), target)
