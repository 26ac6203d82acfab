"""The space of the rules: what `tw.auto_schedule` chose for a program, and what it could have chosen."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import TilewrightError
from ..records import in_order, settings_of
from ..rules.plan import without_lists
from ..te.tensor import Tensor
from .space import Choices, key_of

if TYPE_CHECKING:
    from ..rules import Plan
    from ..target import Target

__all__ = ["RuleSpace"]

_RULE = "rule"


class RuleSpace:
    """The rules that are for each kernel of a program, and every setting of them, as one choice: ``"stage.setting"``.

    ``"stage.rule"`` is the rule itself, where there are several. The search begins with what the rules chose. `args`
    are the arguments of the program; without them the inputs, then the outputs.

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
        self._plans: dict[str, Plan | TilewrightError] = {}
        self._first = _point(self._plan({}))

    def _schedule(self, settings: Mapping[str, Mapping[str, Any]]) -> Any:
        from ..rules import auto_schedule

        return auto_schedule(self._outputs, self._target, settings=settings or None)

    def _plan(self, choices: Choices) -> Plan:
        """What the rules that a point names choose themselves. Raises TilewrightError where they make no schedule."""
        rules = {name: value for name, value in choices.items() if name.endswith(f".{_RULE}")}
        key = key_of(rules)
        if key not in self._plans:
            try:
                self._plans[key] = self._schedule(settings_of(rules)).plan
            except TilewrightError as error:
                self._plans[key] = error
        found = self._plans[key]
        if isinstance(found, TilewrightError):
            raise found
        return found

    def _alternatives(self, choices: Choices) -> dict[str, tuple[Any, ...]]:
        """The values of each choice beside the rules of a point, the one that the rules chose first."""
        found: dict[str, tuple[Any, ...]] = {}
        for decision in self._plan(choices):
            stage = decision.stages[0]
            if len(decision.rules) > 1:
                others = (rule for rule in decision.rules if rule != decision.rule)
                found[f"{stage}.{_RULE}"] = (decision.rule, *others)
            for choice in decision.choices:
                others = (value for value in choice.alternatives if value != choice.value)
                found[f"{stage}.{choice.name}"] = (choice.value, *others)
        return found

    def _with_rule(self, choices: Choices, name: str, rule: str) -> Choices:
        """A point with another rule for one kernel, which chooses its settings; other kernels stay as they are."""
        stage = name.rpartition(".")[0]
        kept = {one: value for one, value in choices.items() if one.rpartition(".")[0] != stage}
        return {**_point(self._plan({**kept, name: rule})), **kept}

    def _other_rules(self, choices: Choices) -> Iterator[Choices]:
        """The points with another rule for one kernel."""
        for name, values in self._alternatives(choices).items():
            if name.endswith(f".{_RULE}"):
                for rule in values:
                    if rule != choices[name]:
                        with contextlib.suppress(TilewrightError):
                            yield self._with_rule(choices, name, rule)

    def first(self) -> Choices:
        """What the rules chose."""
        return self._first

    def draft(self, count: int, rng: random.Random) -> list[Choices]:
        """Up to `count` points: what other rules choose, then points near the rules' own choice before those far from
        it.

        `rng` is for what is random."""
        bases = [self._first, *self._other_rules(self._first)]
        found: dict[str, Choices] = {key_of(one): one for one in bases[1:]}
        several = [{name: values for name, values in self._settings(base).items() if len(values) > 1} for base in bases]
        most = max(map(len, several))
        for changes in range(1, most + 1):
            for _ in range(4 * count):
                # Every other point has the rules' own choice of rules.
                which = 0 if rng.random() < 0.5 else rng.randrange(len(bases))
                names = rng.sample(sorted(several[which]), min(changes, len(several[which])))
                point = {**bases[which], **{name: rng.choice(several[which][name][1:]) for name in names}}
                if names:
                    found.setdefault(key_of(point), point)
                if len(found) >= count * changes // most:
                    break
        return list(found.values())[:count]

    def _settings(self, choices: Choices) -> dict[str, tuple[Any, ...]]:
        return {name: values for name, values in self._alternatives(choices).items() if not name.endswith(f".{_RULE}")}

    def neighbours(self, choices: Choices, rng: random.Random) -> list[Choices]:
        """The points that differ from `choices` in one setting or in one kernel's rule, in random order, by `rng`."""
        points: list[Choices] = [
            {**choices, name: value}
            for name, values in self._settings(choices).items()
            for value in values
            if value != without_lists(choices[name])
        ]
        points.extend(self._other_rules(choices))
        rng.shuffle(points)
        return points

    def make(self, choices: Choices) -> tuple[Any, Sequence[Any]]:
        """The schedule that the rules make with these choices, and the program's arguments."""
        return self._schedule(settings_of(choices)), self._args


def _point(plan: Plan) -> Choices:
    point: dict[str, Any] = {}
    for decision in plan:
        stage = decision.stages[0]
        if len(decision.rules) > 1:
            point[f"{stage}.{_RULE}"] = decision.rule
        point.update({f"{stage}.{choice.name}": choice.value for choice in decision.choices})
    return point
