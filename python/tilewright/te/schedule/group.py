"""Stages that are placed together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..expr import IterVar
from .stage import Stage

if TYPE_CHECKING:
    from .stage_handles import StageHandles

__all__ = ["Group", "smallest"]


def smallest(groups: Iterable[Group]) -> Group | None:
    """The group of the fewest stages, the first of those; None of none."""
    return min(groups, key=lambda group: len(group.stages), default=None)


class Group:
    """What `Schedule.create_group` makes: its primitives are those of all stages in it at once."""

    __slots__ = ("stages",)

    stages: tuple[Stage, ...]

    def __init__(self, stages: Sequence[Stage]) -> None:
        self.stages = tuple(stages)

    def __repr__(self) -> str:
        return f"group({', '.join(stage.name for stage in self.stages)})"

    @property
    def group(self) -> Group | None:
        """The smallest group that all of these stages are in: of the same stages, the later has the earlier."""
        own, groups = set(self.stages), self.stages[0].schedule.groups
        after = groups[groups.index(self) + 1 :]
        return smallest(one for one in groups if own < set(one.stages) or own == set(one.stages) and one in after)

    @property
    def num_child_stages(self) -> int:
        """How many stages and groups are in this group, without those that are in a group of it."""
        groups = self.stages[0].schedule.groups
        return sum(one.group is self for one in (*self.stages, *groups))

    @property
    def attach_stage(self) -> StageHandles | None:
        """The stage in whose loop the group is computed; None where it is computed at the root."""
        places = (stage.attach_stage for stage in reversed(self.stages))
        return next((place for place in places if place is not None and place not in self.stages), None)

    def compute_at(self, parent: Stage, scope: IterVar) -> None:
        """`Stage.compute_at` of each stage that is not computed at a loop of another one of the group.

        Requires: what `Stage.compute_at` does, of each of these stages.

        >>> from tilewright import te
        >>> A = te.placeholder((64,), name="A")
        >>> B = te.compute((64,), lambda i: A[i] * 2, name="B")
        >>> C = te.compute((64,), lambda i: B[i] + 1, name="C")
        >>> D = te.compute((64,), lambda i: C[i] * B[i], name="D")
        >>> s = te.create_schedule(D.op)
        >>> group = s.create_group(outputs=C, inputs=A)
        >>> io, ii = s[D].split(D.op.axis[0], factor=16)
        >>> print(s)
        B: global float32[64]
        for i in range(64):  # B
          B[i] = A[i] * 2.0
        C: global float32[64]
        for i in range(64):  # C
          C[i] = B[i] + 1.0
        for i.outer in range(4):  # D
          for i.inner in range(16):
            t0 = i.outer*16 + i.inner
            D[t0] = C[t0] * B[t0]
        >>> group.compute_at(s[D], io)
        >>> print(s)
        for i.outer in range(4):  # D
          B: local float32[16]
          for i in range(16):  # B
            B[i] = A[i.outer*16 + i] * 2.0
          C: local float32[16]
          for i in range(16):  # C
            C[i] = B[i] + 1.0
          for i.inner in range(16):
            D[i.outer*16 + i.inner] = C[i.inner] * B[i.inner]

        TVM: ``compute_at`` of a group; Halide: ``compute_at`` of each; Exo: ``fuse``; MLIR transform:
        ``structured.fuse_into_containing_op`` of each.
        """
        for stage in reversed(self.stages):
            if stage.attached_to is None or stage.attached_to not in self.stages:
                stage.compute_at(parent, scope)

    def compute_root(self) -> None:
        """`Stage.compute_root` of each stage that is not computed at a loop of another one of the group.

        Requires: nothing; it takes back an earlier `compute_at`.

        >>> from tilewright import te
        >>> A = te.placeholder((64,), name="A")
        >>> B = te.compute((64,), lambda i: A[i] * 2, name="B")
        >>> C = te.compute((64,), lambda i: B[i] + 1, name="C")
        >>> D = te.compute((64,), lambda i: C[i] * B[i], name="D")
        >>> s = te.create_schedule(D.op)
        >>> group = s.create_group(outputs=C, inputs=A)
        >>> group.compute_at(s[D], D.op.axis[0])
        >>> print(s)
        for i in range(64):  # D
          B: local float32[1]
          B[0] = A[i] * 2.0
          C: local float32[1]
          C[0] = B[0] + 1.0
          D[i] = C[0] * B[0]
        >>> group.compute_root()
        >>> print(s)
        B: global float32[64]
        for i in range(64):  # B
          B[i] = A[i] * 2.0
        C: global float32[64]
        for i in range(64):  # C
          C[i] = B[i] + 1.0
        for i in range(64):  # D
          D[i] = C[i] * B[i]

        TVM: ``compute_root`` of a group; Halide: ``compute_root`` of each; Exo: ``fission``; MLIR: what there is
        before any fusion.
        """
        for stage in reversed(self.stages):
            if stage.attached_to is None or stage.attached_to not in self.stages:
                stage.compute_root()
