"""Where the fuzzers' decisions come from: hypothesis, which shrinks them, or a seed, which a script can name."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Source(Protocol):
    """Gives an integer between two, both included."""

    def integer(self, low: int, high: int) -> int: ...


class Seeded:
    """Decisions that follow from a number."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        return self._random.randint(low, high)


class Choices:
    """What the generators ask."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def integer(self, low: int, high: int) -> int:
        return self._source.integer(int(low), int(high))

    def pick(self, options: Sequence[T]) -> T:
        """One of them; the first is the simplest."""
        return options[self.integer(0, len(options) - 1)] if len(options) > 1 else options[0]

    def chance(self, percent: int) -> bool:
        """True in so many cases of a hundred; false is simpler."""
        return self.integer(0, 99) >= 100 - percent

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in any order; the one given is the simplest."""
        rest, order = list(items), []
        while rest:
            order.append(rest.pop(self.integer(0, len(rest) - 1)))
        return order

    def some(self, items: Sequence[T], percent: int = 50) -> list[T]:
        """A part of the items, in their order."""
        return [item for item in items if self.chance(percent)]
