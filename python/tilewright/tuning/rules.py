"""The space of the rules: what `tw.auto_schedule` chose for a program, and what it could have chosen."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..te.tensor import Tensor
from .program import in_order
from .space import Choices, key_of

if TYPE_CHECKING:
    from ..rules import Plan
    from ..target import Target

__all__ = ["RuleSpace", "settings_of"]


class RuleSpace:
    """Every setting of every rule that scheduled a program, as one choice, ``"stage.setting"``.

    The search begins with what the rules chose. `args` are the arguments of the program; without them the inputs, then
    the outputs.

    >>> import tilewright as tw
    >>> from tilewright import te
    >>> A = te.placeholder((1024, 1024), name="A")
    >>> B = te.compute((1024, 1024), lambda i, j: A[i, j] * 2, name="B")
    >>> space = RuleSpace([B], tw.Target("cuda -device=H200"))
    >>> all(name.startswith("B.") for name in space.first())
    True
    """

    def __init__(self, outputs: Sequence[Tensor], target: Target, args: Sequence[Any] | None = None) -> None:
        self._outputs, self._target = tuple(outputs), target
        self._args = tuple(in_order(self._outputs) if args is None else args)
        plan = self._schedule({}).plan
        assert plan is not None
        self._plan: Plan = plan

    def _schedule(self, settings: Mapping[str, Mapping[str, Any]]) -> Any:
        from ..rules import auto_schedule

        return auto_schedule(self._outputs, self._target, settings=settings or None)

    def _alternatives(self) -> dict[str, tuple[Any, ...]]:
        """The values of each choice, the one that the rules chose first."""
        return {
            f"{decision.stages[0]}.{choice.name}": (
                choice.value,
                *(value for value in choice.alternatives if value != choice.value),
            )
            for decision in self._plan
            for choice in decision.choices
        }

    def first(self) -> Choices:
        return {name: values[0] for name, values in self._alternatives().items()}

    def draft(self, count: int, rng: random.Random) -> list[Choices]:
        """Points near the rules' own choice before those that are far from it."""
        alternatives = {name: values for name, values in self._alternatives().items() if len(values) > 1}
        first = self.first()
        found: dict[str, Choices] = {}
        for changes in range(1, len(alternatives) + 1):
            for _ in range(4 * count):
                names = rng.sample(sorted(alternatives), changes)
                point = {**first, **{name: rng.choice(alternatives[name][1:]) for name in names}}
                found.setdefault(key_of(point), point)
                if len(found) >= count * changes // len(alternatives):
                    break
        return list(found.values())[:count]

    def neighbours(self, choices: Choices, rng: random.Random) -> list[Choices]:
        points: list[Choices] = [
            {**choices, name: value}
            for name, values in self._alternatives().items()
            for value in values
            if _json(value) != _json(choices[name])
        ]
        rng.shuffle(points)
        return points

    def make(self, choices: Choices) -> tuple[Any, Sequence[Any]]:
        return self._schedule(settings_of(choices, self._plan)), self._args


def settings_of(choices: Choices, plan: Plan) -> dict[str, dict[str, Any]]:
    """A point of the space as `settings` of `tw.auto_schedule`. Raises ValueError for what the plan does not have."""
    settings: dict[str, dict[str, Any]] = {}
    for name, value in choices.items():
        stage, _, setting = name.rpartition(".")
        # A record has lists where the rules have tuples.
        known = next((one.alternatives for one in plan.of(stage).choices if one.name == setting), ())
        same = [one for one in known if _json(one) == _json(value)]
        settings.setdefault(stage, {})[setting] = same[0] if same else value
    plan.with_(settings)
    return settings


def _json(value: Any) -> Any:
    return list(map(_json, value)) if isinstance(value, (list, tuple)) else value
