"""What a bisection found, as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["Bisection", "StageResult"]


@dataclass(frozen=True, slots=True)
class StageResult:
    """What became of one stage: "right", "wrong" or "not run", and why or where."""

    stage: str
    outcome: str
    detail: str

    def __str__(self) -> str:
        return (
            f"  {self.stage:<6}  {self.outcome}: {self.detail}" if self.detail else f"  {self.stage:<6}  {self.outcome}"
        )


@dataclass(frozen=True, slots=True)
class Bisection:
    """What `bisect` found.

    `stage` is the first stage whose result differs, or None. `passes` is the first pass whose result differs, or the
    passes among which it is. `inputs` are the smallest arguments that show the difference, by name. `found` says what
    differs for them.
    """

    name: str
    stages: tuple[StageResult, ...]
    stage: str | None = None
    passes: tuple[str, ...] = ()
    found: str = ""
    sizes: tuple[int, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def _at(self) -> int:
        return [one.stage for one in self.stages].index(self.stage) if self.stage is not None else len(self.stages)

    def __bool__(self) -> bool:
        """True where a stage differs."""
        return self.stage is not None

    def __str__(self) -> str:
        before = [one.stage for one in self.stages[: self._at()] if one.outcome == "right"]
        if self.stage is None:
            head = f"{self.name}: each stage computes the same"
        else:
            head = f"{self.name}: stage {self.stage} differs from {before[-1]}"
        lines = [head, *map(str, self.stages)]
        if self.passes:
            told = "pass" if len(self.passes) == 1 else "one of the passes"
            lines.append(f"{told}: {', '.join(self.passes)}")
        if self.found:
            lines.append(self.found)
        if self.sizes:
            lines.append(f"sizes: {', '.join(map(str, self.sizes))}")
        lines += [f"{name} = {_shown(value)}" for name, value in self.inputs.items()]
        return "\n".join(lines)


def _shown(value: Any) -> str:
    """An argument in a line: of an array the elements that are not zero."""
    if not isinstance(value, np.ndarray):
        return str(value)
    places = np.argwhere(value != 0)
    head = f"zeros({list(value.shape)}, {value.dtype})"  # pyright: ignore[reportUnknownArgumentType]
    if not len(places):
        return head
    shown = ", ".join(f"{list(map(int, place))}: {value[tuple(place)]}" for place in places[:4])
    return f"{head} with {shown}{f' and {len(places) - 4} more' if len(places) > 4 else ''}"
