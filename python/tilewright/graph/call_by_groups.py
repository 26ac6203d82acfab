"""A call of a model, one group at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from mlir import ir

from ..messages.progress import Progress
from ..runtime.device import cpu, cuda
from ..runtime.stream import Stream
from ..runtime.timing import time_evaluator
from ..runtime.timing_graph import time_in_turn
from ..target import Target
from .checks import GroupTime, Profile, Verification, checked, work_of_group
from .extent_values import shape_of
from .groups import Group
from .library_run import launched
from .memory import Memory
from .views import Parts

if TYPE_CHECKING:
    from .plan import Plan

__all__ = ["CallByGroups"]


class CallByGroups:
    """A call that runs one group after the other, for what is to be known of each, by libraries where the model does.

    `values` are the tensors that it begins with, by their values in the IR, and `extents` are those of the inputs.
    """

    def __init__(
        self, groups: Sequence[Group], memory: Memory, plan: Plan, parts: Parts, counts: Mapping[str, ir.Value],
        values: Mapping[ir.Value, Any], extents: Mapping[str, int],
    ) -> None:  # fmt: skip
        self._groups, self._memory, self._parts, self._counts = groups, memory, parts, counts
        self._values = dict(values)
        self.extents: dict[str, int] = dict(extents)
        self._arena = memory.arena(plan.arena_bytes)

    def run(self, line: Progress) -> Iterator[tuple[Group, tuple[Any, ...], Callable[[], object]]]:
        """Runs the groups; each is told with the arguments that it had, and with what runs it again."""
        for number, group in enumerate(self._groups):
            line.show(number, len(self._groups), "groups", group.name)
            arguments = self._arguments(group)
            yield group, arguments, launched(group, arguments)

    def verify(self, line: Progress) -> Verification:
        """Compares each group with its tensor expressions in float64."""
        checks: list[Any] = []
        for group, _, _ in self.run(line):
            arrays = [_on_host(self._tensor(one)) for one in (*group.inputs, *group.results)]
            laid = group.viewed(arrays, lambda array, view: view.of(array))
            count = len(group.inputs)
            checks.append(checked(group, laid[:count], laid[count:], self.extents))
        return Verification(tuple(checks))

    def profile(self, line: Progress, target: Target, stream: Stream, repeat: int) -> Profile:
        """The time of each group."""
        gpu = target.device if target.kind == "cuda" else None
        device = cuda(0) if gpu is not None else cpu()
        times, calls = list[Any](), list[tuple[Group, tuple[Any, ...]]]()
        launches: list[Callable[[], object]] = []
        for group, arguments, launch in self.run(line):
            calls.append((group, arguments))
            launches.append(launch)
            if gpu is None:
                evaluator = time_evaluator(group.function, device, repeat=repeat, warmup=1, flush_l2=False)
                times.append(evaluator(*arguments))
        if gpu is not None:
            times = time_in_turn(launches, device, stream, repeat)
        found: list[GroupTime] = []
        for (group, arguments), timing in zip(calls, times):
            size = sum(one.nbytes for one in arguments[: len(group.tensors)])
            least = size / gpu.bandwidth if gpu is not None else 0.0
            found.append(GroupTime(group, timing.median, size, work_of_group(group, arguments), least))
        return Profile(tuple(found))

    def _read_counts(self) -> None:
        """Adds the numbers that data decide to the extents of the call, as far as they have been computed."""
        for name, value in self._counts.items():
            if name not in self.extents and self._parts.root_of(value) in self._values:
                self.extents[name] = int(_on_host(self._tensor(value)).reshape(()))

    def _arguments(self, group: Group) -> tuple[Any, ...]:
        """The arguments of a group, when those before have run."""
        self._read_counts()
        results: list[Any] = []
        for value, kind, offset in zip(group.results, group.types, group.offsets):
            shape = shape_of(kind.shape, self.extents)
            if offset >= 0:
                self._values[value] = self._memory.part(self._arena, offset, shape, kind.dtype)
            else:
                self._values[value] = self._memory.empty(shape, kind.dtype)
            results.append(self._values[value])
        numbers = (self.extents[symbol.name] for symbol in group.symbols)
        given = [*map(self._tensor, group.inputs), *results]
        return (*group.viewed(given, self._memory.view), *numbers)

    def _tensor(self, value: ir.Value) -> Any:
        """The tensor of a value, which may be part of another one."""
        if value not in self._parts:
            return self._values[value]
        part = self._parts[value]
        return self._memory.block(self._tensor(part.of), part.begin, shape_of(part.type.shape, self.extents))


def _on_host(value: Any) -> np.ndarray:
    found: Any = value
    return found if isinstance(value, np.ndarray) else found.numpy()
