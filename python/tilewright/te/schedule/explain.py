"""Where an axis of a schedule went."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlir import ir

from ...errors import CompileError, TilewrightTypeError, TilewrightValueError
from ...messages.location import Source
from ..expr import IterVar
from ..program import axis_names
from .nest import loop_extents, loops_of
from .primitives import Primitive, identifiers, primitives
from .steps import Reader

if TYPE_CHECKING:
    from .schedule import Schedule
    from .stage import Stage

__all__ = ["explain"]

# What a primitive did to a loop that stays one.
_MARKS = {
    "reorder": "reordered",
    "vectorize": "vectorized",
    "unroll": "unrolled",
    "storage_align": "its neighbours in the buffer set apart",
    "software_pipeline": "pipelined",
    "specialize": "its buffers filled by warps of their own",
    "cluster": "its blocks neighbours in clusters",
    "parallel": "distributed among the threads of a CPU",
    "loop_partition": "the iterations that need no predicates apart from the others",
    "auto_unroll": "the loops from here on unrolled where they are short",
    "rolling_update": "reduced in one loop with the reduction that it reads",
    "decompose_reduction": "the reduction's elements set to its identity before it",
}


def explain(schedule: Schedule, axis: IterVar, source: Source) -> str:
    """What became of `axis`, an outline of a line each. `source` is the line that asks."""
    if not isinstance(axis, IterVar):
        raise TilewrightTypeError(f"{source}: explain: expected an axis, got {axis!r}")
    stage = schedule.stage_of_axis(axis)
    if stage is None:
        known = ", ".join(f"'{one.name}'" for one in schedule.stages)
        raise TilewrightValueError(
            f"{source}: explain: expected an axis of this schedule's stages ({known}), got '{axis.name}'"
        )
    explanation = _Explanation(schedule, stage)
    title = f"axis {explanation.name(axis)} of stage {stage.name}, {_place(str(axis.source))}"
    return "\n".join([title, *(f"  {line}" for line in explanation.of(axis))])


def _place(location: str) -> str:
    """`file:line` without the folder."""
    return os.path.basename(location)


class _Explanation:
    """What the primitives of a schedule did to the axes of one stage."""

    def __init__(self, schedule: Schedule, stage: Stage) -> None:
        self._stage = stage
        self._primitives = list(primitives(schedule.operation))
        reader = Reader(identifiers(schedule.names.values()), ())
        for primitive in self._primitives:
            reader.step(primitive)
        self._names = reader.axis_names
        handles = ((one.made_handle, one.name) for one in schedule.stages)
        self._stages = {handle: name for handle, name in handles if handle is not None}
        try:
            self._extents = loop_extents(loops_of(schedule))
        except (CompileError, ValueError):  # what there is to say without loops is said all the same
            self._extents = None

    def name(self, axis: IterVar) -> str:
        """The axis's name in the IR, which is different from that of the stage's others."""
        value = self._stage.axis_handles.get(axis)
        if value is not None:
            return self._names[value]
        own = self._stage.op.axis + self._stage.op.reduce_axis
        return axis_names(self._stage.op)[next(position for position, one in enumerate(own) if one is axis)]

    def of(self, axis: IterVar) -> list[str]:
        """The outline."""
        value = self._stage.axis_handles.get(axis)
        return [self._loop(self.name(axis))] if value is None else self._of(value)

    def _of(self, value: ir.Value) -> list[str]:
        notes: list[str] = []
        for primitive in self._primitives:
            if value not in primitive.operands:
                continue
            if primitive.name in ("split", "tile", "fuse"):
                return [*notes, *self._transformed(value, primitive)]
            notes.append(f"{self._note(primitive)}, {_place(primitive.location)}")
        return [self._loop(self._names[value]), *notes]

    def _transformed(self, value: ir.Value, primitive: Primitive) -> list[str]:
        made: Sequence[ir.Value] = primitive.results
        if primitive.name == "fuse":
            others = [self._names[one] for one in primitive.operands if one != value]
            said = f"fused{' with ' if others else ''}{', '.join(others)} into {self._names[made[0]]}"
        else:
            factor = ", ".join(f"{name}={number}" for name, number in primitive.options.items())
            if primitive.name == "tile":
                first = value == primitive.operands[0]
                made = made[0::2] if first else made[1::2]
                factor = f"factor={primitive.options['x_factor' if first else 'y_factor']}"
            said = f"{primitive.name} into {self._names[made[0]]} and {self._names[made[1]]} by {factor}"
        lines = [f"{said}, {_place(primitive.location)}"]
        for one in made:
            first_line, *rest = self._of(one)
            lines += [f"{self._names[one]}: {first_line}", *(f"  {line}" for line in rest)]
        return lines

    def _note(self, primitive: Primitive) -> str:
        if primitive.name == "bind":
            how = ", whose blocks add their parts" if primitive.options.get("reduce_add") else ""
            return f"bound to {primitive.options['thread']}{how}"
        if primitive.name == "reverse_compute_at":
            return f"stage {self._stages.get(primitive.operands[0], '?')} is computed in it, after what it reads"
        if primitive.name == "compute_at":
            return f"stage {self._stages.get(primitive.operands[0], '?')} is computed in it"
        if primitive.name == "rfactor":
            return f"factored out, into stage {primitive.options['name']}"
        if primitive.name == "tensorize":
            return f"the loops from here on computed by intrinsic {primitive.options['name']}"
        if primitive.name == "prefetch":
            return f"{primitive.options['tensor']} fetched ahead for {primitive.options['offset']} iterations later"
        return _MARKS.get(primitive.name, primitive.name)

    def _loop(self, name: str) -> str:
        for primitive in self._primitives:
            if primitive.name == "compute_inline" and self._stages.get(primitive.operands[0]) == self._stage.name:
                return f"no loop: stage {self._stage.name} is computed where it is read, {_place(primitive.location)}"
        if self._extents is None:
            return "a loop, of a schedule that cannot be applied as it is"
        extent = self._extents.get(f"{self._stage.name}.{name}")
        if extent is None and any(one.name == "tensorize" for one in self._primitives):
            return "no loop: an intrinsic computes it, or one iteration is all that is needed"
        return "no loop: one iteration is all that is needed" if extent is None else f"a loop of {extent}"
