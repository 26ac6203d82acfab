"""What is known of extents that may be symbolic."""

from __future__ import annotations

from typing import Any

from ..te.derivative import same
from ..te.expr import Call, Const, Var
from ..te.tensor import Extent

__all__ = ["are_equal", "divisor_of", "may_be_less", "may_be_none", "round_up"]


def divisor_of(extent: Extent) -> int:
    """A number that divides the extent: a number itself, of a symbol what is said of it."""
    if isinstance(extent, (int, Const)):
        return int(extent.value if isinstance(extent, Const) else extent)
    if isinstance(extent, Call) and extent.op == "mul":
        return divisor_of(extent.args[0]) * divisor_of(extent.args[1])
    return extent.divisible_by if isinstance(extent, Var) else 1


def are_equal(a: Any, b: Any) -> bool:
    """Whether two extents are equal in any call."""
    if isinstance(a, int) or isinstance(b, int):
        return isinstance(a, int) and isinstance(b, int) and a == b
    return a is b or same(a, b)


def may_be_less(a: Any, b: Any) -> bool:
    """Whether one extent may be less than another one; of symbols nobody knows."""
    return a < b if isinstance(a, int) and isinstance(b, int) else True


def may_be_none(extent: Any) -> bool:
    """Whether the extent may be 0."""
    if isinstance(extent, int):
        return extent < 1
    if isinstance(extent, Call) and extent.op == "mul":
        return any(map(may_be_none, extent.args))
    if isinstance(extent, Const):
        return int(extent.value) < 1
    return not isinstance(extent, Var) or (extent.minimum or 0) < 1


def round_up(extent: Extent, size: int) -> Extent:
    """The least multiple of `size` that is not less."""
    return extent if divisor_of(extent) % size == 0 else (extent + (size - 1)) // size * size
