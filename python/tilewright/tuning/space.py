"""Spaces of schedules: what can be chosen, and the schedule that a choice gives."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import misfit
from ..messages.location import user_source

__all__ = ["Choices", "Knobs", "Space", "key_of"]

Choices = Mapping[str, Any]
"""One point of a space: a value by the name of what is chosen. Values are what JSON has."""


def key_of(choices: Choices) -> str:
    """The choices as one text, the same for equal ones.

    >>> key_of({"warps": 4, "tile": (64, 32)})
    '{"tile": [64, 32], "warps": 4}'
    """
    import json

    return json.dumps(choices, sort_keys=True)


class Space(Protocol):
    """What `tune` searches. Rules make one for any program; `Knobs` is one written by hand."""

    def first(self) -> Choices:
        """Where the search begins: what is chosen without measuring."""
        ...

    def draft(self, count: int, rng: random.Random) -> list[Choices]:
        """Up to `count` different points, the most promising first, with `rng` for what is random."""
        ...

    def neighbours(self, choices: Choices, rng: random.Random) -> list[Choices]:
        """Points that differ from `choices` in a single choice, in random order, by `rng`."""
        ...

    def make(self, choices: Choices) -> tuple[Any, Sequence[Any]]:
        """The schedule and the arguments that the choices give. Raises TilewrightError where there is no schedule."""
        ...


class Knobs:
    """The space of a function that makes a schedule from keyword arguments.

    Parameters
    ----------
    make
        Called with a value for each knob; returns ``(schedule, args)`` as `tw.build` takes them, of the same program
        each time.
    where
        Of the knobs' values, whether they fit together. Points that do not are never made.
    estimate
        The seconds that a point is expected to take, to begin with the most promising ones.
    values
        The values of each knob, the first of which are where the search begins.

    Raises
    ------
    TypeError
        Where `make` is no function.
    ValueError
        Where a knob has no values, or the first ones do not fit together.

    >>> from tilewright import te
    >>> def scaled(factor):
    ...     A = te.placeholder((1024,), name="A")
    ...     B = te.compute((1024,), lambda i: A[i] * 2, name="B")
    ...     s = te.create_schedule(B.op)
    ...     outer, inner = s[B].split(B.op.axis[0], factor=factor)
    ...     s[B].vectorize(inner)
    ...     return s, [A, B]
    >>> space = Knobs(scaled, factor=(4, 8, 16))
    >>> space.first(), len(space)
    ({'factor': 4}, 3)
    """

    def __init__(
        self,
        make: Callable[..., tuple[Any, Sequence[Any]]],
        *,
        where: Callable[..., bool] | None = None,
        estimate: Callable[..., float] | None = None,
        **values: Sequence[Any],
    ) -> None:
        if not callable(make):
            raise TypeError(f"expected a function that makes a schedule, got {make!r}")
        for name, function in (("make", make), ("where", where), ("estimate", estimate)):
            if wrong := misfit(function, keywords=list(values)):
                raise TypeError(f"{user_source()}: Knobs: {name}: {wrong}")
        for name, each in values.items():
            if not isinstance(each, (list, tuple)) or not each:
                raise ValueError(f"knob {name}: expected a list or tuple of values, got {each!r}")
        self._make, self._where, self._estimate = make, where, estimate
        self.values: dict[str, tuple[Any, ...]] = {name: tuple(each) for name, each in values.items()}
        if not self._fits(self.first()):
            raise ValueError(f"expected the knobs' first values to fit together, got {self.first()}")

    def __len__(self) -> int:
        """How many points there are, those that do not fit included."""
        return math.prod(map(len, self.values.values()))

    def _fits(self, choices: Choices) -> bool:
        return self._where is None or bool(self._where(**choices))

    def first(self) -> Choices:
        """The first value of each knob."""
        return {name: each[0] for name, each in self.values.items()}

    def draft(self, count: int, rng: random.Random) -> list[Choices]:
        """Up to `count` points that fit together: by `estimate`, else in random order, by `rng`."""
        found: dict[str, Choices] = {}
        for choices in self._points(count, rng):
            if self._fits(choices):
                found.setdefault(key_of(choices), choices)
        points = list(found.values())
        if self._estimate is not None:
            estimate = self._estimate
            points.sort(key=lambda choices: estimate(**choices))
        return points[:count]

    def _points(self, count: int, rng: random.Random) -> Iterator[Choices]:
        """All points in random order where they are few, else many of them."""
        if len(self) <= 1 << 14:
            points = [dict(zip(self.values, values)) for values in itertools.product(*self.values.values())]
            rng.shuffle(points)
            yield from points
            return
        for _ in range(max(64 * count, 4096)):
            yield {name: rng.choice(each) for name, each in self.values.items()}

    def neighbours(self, choices: Choices, rng: random.Random) -> list[Choices]:
        """The points with another value for one knob than `choices`, in random order, by `rng`."""
        points = [
            {**choices, name: value} for name, each in self.values.items() for value in each if value != choices[name]
        ]
        rng.shuffle(points)
        return [one for one in points if self._fits(one)]

    def make(self, choices: Choices) -> tuple[Any, Sequence[Any]]:
        """What the function makes of the values `choices`. Raises TypeError where it returns something else."""
        made = self._make(**choices)
        if not isinstance(made, tuple) or len(made) != 2:
            raise TypeError(f"expected a pair (schedule, args) of {self._make.__name__}, got {type(made).__name__}")
        return made
