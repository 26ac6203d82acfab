"""What is known of extents that may be symbolic."""

from __future__ import annotations

from ..te.expr import Call, Const, Var
from ..te.tensor import Extent

__all__ = ["divisor_of", "round_up"]


def divisor_of(extent: Extent) -> int:
    """A number that divides the extent: a number itself, of a symbol what is said of it."""
    if isinstance(extent, (int, Const)):
        return int(extent.value if isinstance(extent, Const) else extent)
    if isinstance(extent, Call) and extent.op == "mul":
        return divisor_of(extent.args[0]) * divisor_of(extent.args[1])
    return extent.divisible_by if isinstance(extent, Var) else 1


def round_up(extent: Extent, size: int) -> Extent:
    """The least multiple of `size` that is not less."""
    return extent if divisor_of(extent) % size == 0 else (extent + (size - 1)) // size * size
