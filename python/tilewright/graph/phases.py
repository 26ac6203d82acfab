"""The phases of a model's call: each but the first begins with numbers that groups have made, which decide extents."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..te import Var
from ..te.walks import parts

if TYPE_CHECKING:
    from mlir import ir

    from .model import Model

__all__ = ["Phases", "phases_of"]


@dataclass(frozen=True, slots=True)
class Phases:
    """The group that each phase begins with, and by symbol of a number that data decide the phase that reads it."""

    begins: list[int]
    of_count: dict[str, int]

    def of_group(self, group: int) -> int:
        """The phase that a group is in."""
        return bisect_right(self.begins, group) - 1


def phases_of(model: Model, *, reads_all: bool = False) -> Phases:
    """The phases of a model, which has as few as can be: the host waits for each.

    A phase reads all numbers that have been made when it begins. With `reads_all`, what nothing depends on is read,
    too.
    """
    begins, of_count = [0], dict[str, int]()
    made: set[ir.Value] = {*model.arguments, *model.constants}

    def begin(position: int, used: set[str]) -> None:
        if not used - {*of_count}:
            return
        begins.append(position)
        for name, value in model.counts.items():
            if model.parts.root_of(value) in made:
                of_count.setdefault(name, len(begins) - 1)
        assert used <= {*of_count}, "a group whose extents no group before it decides"

    for position, group in enumerate(model.groups):
        begin(position, {symbol.name for symbol in group.all_symbols} & {*model.counts})
        made.update(group.results)
    shown = (extent for _, kind in model.outputs for extent in kind.shape if not isinstance(extent, int))
    needed = {one.name for one in parts(shown) if isinstance(one, Var)} & {*model.counts}
    begin(len(model.groups), {*model.counts} if reads_all else needed)
    return Phases(begins, of_count)
