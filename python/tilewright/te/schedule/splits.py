"""What a loop is split by, and the extents of its parts."""

from __future__ import annotations

from ...errors import TilewrightTypeError as TypeError
from ...messages.location import Source
from ..expr import Const, Expr, IterVar, Var
from .checks import integer
from .stage_handles import Dom

__all__ = ["split_extents", "split_number"]


def split_number(given: object, name: str, source: Source) -> int | Var | None:
    """What a split is by, or into: an integer or a symbol."""
    if isinstance(given, Var):
        if not given.is_symbol or not given.is_index:
            raise TypeError(
                f"{source}: split: expected an integer or a te.var of int32 or int64 as {name}, got {given!r}"
            )
        return given
    if isinstance(given, Expr) and not isinstance(given, Const):
        raise TypeError(
            f"{source}: split: expected an integer or a te.var as {name}, got {given}: pass a te.var for it"
        )
    return integer(given, "split", name, source)


def split_extents(parent: IterVar, factor: int | Var | None, nparts: int | Var | None) -> list[Dom]:
    """The extents of the loops that a reduction axis is split into; those of spatial axes depend on where they run."""
    if parent.kind != "reduce" or parent.dom is None:
        return [None, None]
    given = factor if factor is not None else nparts if nparts is not None else 1
    extent = parent.dom[1]
    are_numbers = isinstance(extent, int) and isinstance(given, int)
    rest = -(-extent // given) if are_numbers else (extent + (given - 1)) // given
    return [(0, rest), (0, given)] if factor is not None else [(0, given), (0, rest)]
