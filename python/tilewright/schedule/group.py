"""Stages that are placed together."""

from __future__ import annotations

from collections.abc import Sequence

from ..te.expr import IterVar
from .stage import Stage

__all__ = ["Group"]


class Group:
    """What `Schedule.create_group` makes: its primitives are those of all stages in it at once."""

    __slots__ = ("stages",)

    def __init__(self, stages: Sequence[Stage]) -> None:
        self.stages = tuple(stages)

    def __repr__(self) -> str:
        return f"group({', '.join(stage.name for stage in self.stages)})"

    def compute_at(self, parent: Stage, scope: IterVar) -> None:
        """`Stage.compute_at` of each stage that is not computed at a loop of another one of the group."""
        for stage in reversed(self.stages):
            if stage.attached_to is None or stage.attached_to not in self.stages:
                stage.compute_at(parent, scope)

    def compute_root(self) -> None:
        """`Stage.compute_root` of each stage that is not computed at a loop of another one of the group."""
        for stage in reversed(self.stages):
            if stage.attached_to is None or stage.attached_to not in self.stages:
                stage.compute_root()
