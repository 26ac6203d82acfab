"""What the rules decided, as data: a tuner enumerates it and changes it, and `Schedule.explain` tells it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import TilewrightValueError as ValueError
from ..guards import is_listed

__all__ = ["Choice", "Decision", "Plan"]


@dataclass(frozen=True, slots=True)
class Choice:
    """A setting of a rule: its name, its value, and the values that the rule allows in this place.

    >>> from tilewright import rules
    >>> print(rules.choice("rows", 4, (2, 4, 8)))
    rows=4
    """

    name: str
    value: Any
    alternatives: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.name}={self.value!r}"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a rule decided for one kernel, or for one stage.

    `stages` are the stages that it schedules. The stage that stores the result is the first. `why` names the properties
    of the program and of the target that led to the rule.

    >>> from tilewright import rules
    >>> one = rules.Decision("rows", ("B",), "short rows", (rules.choice("rows", 4, (2, 4, 8)),))
    >>> print(one.with_(rows=8))
    rows: B: short rows (rows=8)
    """

    rule: str
    stages: tuple[str, ...]
    why: str
    choices: tuple[Choice, ...] = ()
    seconds: float | None = None
    """What a model estimates, to compare rules with; None where there is no model."""
    rules: tuple[str, ...] = ()
    """The rules that are for these stages: `auto_schedule` takes another with ``settings={stage: {"rule": name}}``."""

    def __getitem__(self, name: str) -> Any:
        """The value of a setting."""
        return next(choice.value for choice in self.choices if choice.name == name)

    @property
    def settings(self) -> dict[str, Any]:
        """The values of the settings, by their names."""
        return {choice.name: choice.value for choice in self.choices}

    def with_(self, **settings: Any) -> Decision:
        """The same rule with other `settings`, values by their names.

        Raises
        ------
        ValueError
            For a setting that the rule does not have, and a value that it does not allow.
        """
        known = {choice.name: choice for choice in self.choices}
        settings = {name: without_lists(value) for name, value in settings.items()}
        for name, value in settings.items():
            if name not in known:
                raise ValueError(
                    f"rule '{self.rule}' of {', '.join(self.stages)}: expected a setting of "
                    f"{', '.join(known) or 'none'}, got {name!r}"
                )
            if value not in known[name].alternatives:
                values = ", ".join(map(repr, known[name].alternatives))
                raise ValueError(
                    f"rule '{self.rule}' of {', '.join(self.stages)}: expected {name} of {values}, got {value!r}"
                )
        chosen = tuple(replace(one, value=settings.get(one.name, one.value)) for one in self.choices)
        return replace(self, choices=chosen)

    def neighbours(self) -> Iterator[Decision]:
        """The decisions that differ in one setting."""
        for choice in self.choices:
            for value in choice.alternatives:
                if value != choice.value:
                    yield self.with_(**{choice.name: value})

    def __str__(self) -> str:
        settings = ", ".join(map(str, self.choices))
        return f"{self.rule}: {', '.join(self.stages)}: {self.why}" + (f" ({settings})" if settings else "")


@dataclass(frozen=True, slots=True)
class Plan:
    """The decisions for a program, in the order of its kernels, and the target that they are for.

    >>> from tilewright import rules
    >>> one = rules.Decision("rows", ("B",), "short rows", (rules.choice("rows", 4, (2, 4)),))
    >>> plan = rules.Plan("sim", "", (one,))
    >>> print(plan.with_({"B": {"rows": 2}}))
    scheduled by rules for sim
      rows: B: short rows (rows=2)
    """

    target: str
    device: str
    decisions: tuple[Decision, ...]
    extents: str = ""
    """The values of a symbolic extent that it is for, where that is a class of them."""

    def __iter__(self) -> Iterator[Decision]:
        return iter(self.decisions)

    def of(self, stage: str) -> Decision:
        """The decision that schedules a stage.

        Raises
        ------
        ValueError
            Where there is none.
        """
        for decision in self.decisions:
            if stage in decision.stages:
                return decision
        known = ", ".join(name for decision in self.decisions for name in decision.stages)
        raise ValueError(f"expected a stage of {known}, got {stage!r}")

    def with_(self, settings: Mapping[str, Mapping[str, Any]]) -> Plan:
        """The plan with other settings, by the name of a stage that a decision schedules. Raises ValueError for a stage
        that is not in the plan.
        """
        decisions: Sequence[Decision] = self.decisions
        for stage, values in settings.items():
            changed = self.of(stage)
            decisions = [one.with_(**values) if one is changed else one for one in decisions]
        return replace(self, decisions=tuple(decisions))

    def neighbours(self) -> Iterator[Plan]:
        """The plans that differ in one setting of one decision."""
        for place, decision in enumerate(self.decisions):
            for other in decision.neighbours():
                yield replace(self, decisions=(*self.decisions[:place], other, *self.decisions[place + 1 :]))

    def __str__(self) -> str:
        where = ", ".join(filter(None, (self.target, self.device, self.extents)))
        return "\n".join([f"scheduled by rules for {where}", *(f"  {one}" for one in self.decisions)])


def without_lists(value: Any) -> Any:
    """A value of JSON, which has lists where settings have tuples."""
    return tuple(map(without_lists, value)) if is_listed(value) else value
