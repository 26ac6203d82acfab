"""What the stages of a schedule read of each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..tensor import Operation

if TYPE_CHECKING:
    from .group import Group
    from .stage import Stage

__all__ = ["StageGraph"]


class StageGraph:
    """The stages of a program, by what they compute, and what each of them reads.

    `stages` also has the operations that the schedule put in the place of others. `groups` is what
    `Schedule.create_group` has made.
    """

    __slots__ = ("groups", "reads", "stages")

    stages: dict[Operation, Stage]
    reads: dict[Operation, list[Operation]]
    groups: list[Group]

    def __init__(self, stages: Mapping[Operation, Stage]) -> None:
        self.stages = dict(stages)
        self.reads = {op: list(dict.fromkeys(tensor.op for tensor in op.input_tensors)) for op in stages}
        self.groups = []

    def reads_through(self, consumer: Operation, producer: Operation) -> bool:
        """True where `consumer` needs `producer`, also by way of other stages."""
        todo, seen = [consumer], set[int]()
        while todo:
            op = todo.pop()
            if id(op) in seen:
                continue
            seen.add(id(op))
            if producer in self.reads.get(op, ()):
                return True
            todo.extend(self.reads.get(op, ()))
        return False

    def readers(self, producer: Operation) -> list[Operation]:
        """The stages that read the tensors of `producer`."""
        return [op for op, reads in self.reads.items() if producer in reads]

    def may_follow(self, stage: Operation, other: Operation) -> bool:
        """Whether a stage reads another one, or something that the other one reads as well, through stages or not."""
        if self.reads_through(other, stage):
            return False
        return other in self.reads[stage] or any(self.reads_through(other, one.key) for one in self.producers(stage))

    def producers(self, consumer: Operation) -> list[Stage]:
        """The stages that `consumer` reads."""
        return [self.stages[op] for op in self.reads[consumer] if op in self.stages]

    def in_order(self, outputs: Iterable[Operation]) -> list[Stage]:
        """The stages, each after those that it reads, those that the schedule made among them."""
        done: dict[Operation, None] = {}

        def visit(op: Operation) -> None:
            if op in self.stages and op not in done:
                for read in self.reads[op]:
                    visit(read)
                done.setdefault(op)

        for op in outputs:
            visit(op)
        return [self.stages[op] for op in done]
