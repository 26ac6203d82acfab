"""Schedules for classes of the values of a symbolic extent: few rows want other tiles than many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from ..te.expr import Var
from ..te.schedule import Schedule
from ..te.symbol_ranges import narrowed
from .contraction import contraction_of
from .facts import Program

__all__ = ["in_classes", "rows_in"]

# The greatest values of the classes but the last, which has all above. One row is a reduction, the tiles of mma.sync
# and wgmma have 16 and 64 rows at the least, and above 256 rows the tiles are those of many.
_LIMITS = (1, 16, 64, 256)

Made = TypeVar("Made")


def rows_in(program: Program) -> Var | None:
    """The symbol that the contractions of a program have among their results' extents, where that is one."""
    found = {
        axis.dom.extent
        for stage in program
        if contraction_of(stage) is not None
        for axis in stage.spatial
        if axis.dom is not None and isinstance(axis.dom.extent, Var)
    }
    return found.pop() if len(found) == 1 else None


def in_classes(symbol: Var, make: Callable[[], Made], schedule_of: Callable[[Made], Schedule]) -> list[Made]:
    """What `make` makes for each class of the values of a symbol; neighbours with one schedule are one class."""
    found: list[Made] = []
    for least, most in _ranges(symbol):
        with narrowed({symbol: (least, most)}):
            made = make()
        s = schedule_of(made)
        if found and schedule_of(found[-1]).ir() == s.ir():
            least, _ = schedule_of(found.pop()).ranges[symbol]
        s.ranges = {symbol: (least, most)}
        if s.plan is not None:
            upper = f"from {least} on" if most is None else f"from {least} to {most}"
            s.plan = replace(s.plan, extents=f"{symbol.name} {upper}")
        found.append(made)
    return found


def _ranges(symbol: Var) -> Iterator[tuple[int, int | None]]:
    """The least and the greatest value of each class that has any."""
    least, unit = symbol.minimum, symbol.divisible_by
    for most in (*_LIMITS, symbol.maximum):
        if most is not None and symbol.maximum is not None:
            most = min(most, symbol.maximum)
        if most is None or max(-(-least // unit) * unit, unit) <= most:
            yield least, most
            if most is None or most == symbol.maximum:
                return
            least = most + 1
