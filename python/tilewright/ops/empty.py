"""Operations of arrays without elements: there is nothing to tile, and sums of nothing are zeros."""

from __future__ import annotations

from .operator import Operand

__all__ = ["is_empty"]


def is_empty(*operands: Operand | None) -> bool:
    """Whether an extent of any of them is the number 0."""
    return any(isinstance(extent, int) and extent == 0 for one in operands if one for extent in one.shape)
