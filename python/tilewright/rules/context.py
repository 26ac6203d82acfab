"""What rules go by: the target, and what their kernels may use of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ..devices import GPU
from ..dtypes import dtype_of
from ..target import Target
from ..te.schedule import Schedule
from ..te.tensor import Operation, Tensor
from .convolutions import InTiles
from .facts import Program
from .groups import Group
from .plan import Choice, Decision

__all__ = ["Context", "Rule", "TiledConvolution", "choice", "power_of_two", "item_bytes"]


@dataclass(frozen=True, slots=True)
class TiledConvolution:
    """What was decided of a convolution, its stages in whole tiles, and the results that TMA stores, if it does."""

    decision: Decision
    stages: InTiles
    stored: Tensor | None


@dataclass(frozen=True, slots=True)
class Context:
    """What a rule knows of the program and the target, in `Rule.decide`. `gpu` is None on a processor."""

    target: Target
    gpu: GPU | None
    program: Program
    threads: int
    """How many threads keep the device busy."""
    tiles: Mapping[Operation, TiledConvolution] = field(default_factory=dict[Operation, "TiledConvolution"])
    """The convolutions that are in whole tiles, by the stages of their sums."""


class Rule(Protocol):
    """A way to schedule a group of stages, for `tw.auto_schedule`'s `rules`.

    >>> import tilewright as tw
    >>> from tilewright import te
    >>> class Serial:
    ...     name = "serial"
    ...     def decide(self, context, group):
    ...         return Decision(self.name, group.names, "any stage")
    ...     def apply(self, context, s, group, decision):
    ...         pass
    >>> A = te.placeholder((8,), name="A")
    >>> B = te.compute((8,), lambda i: A[i] * 2, name="B")
    >>> print(tw.auto_schedule(B, "cpu", rules=[Serial()]).explain())
    scheduled by rules for cpu
      serial: B: any stage
    """

    name: str

    def decide(self, context: Context, group: Group) -> Decision | None:
        """What it would make of the `group`; None where it is not for such a group. `context` has the target."""
        ...

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        """Schedules the `group` by the primitives of `s`, as its own `decision` of `decide` in this `context` says."""
        ...


def choice(name: str, value: object, alternatives: Sequence[object] = ()) -> Choice:
    """A setting of this `name`; its `value` is always among the `alternatives`.

    >>> from tilewright import rules
    >>> rules.choice("rows", 3, (2, 4)).alternatives
    (2, 4, 3)
    """
    values = tuple(dict.fromkeys((*alternatives, value)))
    return Choice(name, value, values)


def power_of_two(limit: float, most: int = 1 << 30) -> int:
    """The largest power of two up to `limit`, from 1 to `most`."""
    return min(most, 1 << max(1, int(limit)).bit_length() - 1)


def item_bytes(tensor: Tensor) -> int:
    """The bytes of an element in memory."""
    return max(1, dtype_of(tensor.dtype).bits // 8)
