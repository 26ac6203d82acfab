"""How far the axes of a schedule go: TVM's ``te.schedule.InferBound``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import TilewrightTypeError as TypeError
from ...messages.location import user_source
from ..expr import Expr, IterVar
from ..extents import Range, as_extent
from ..extern_op import ExternOp
from ..program import axis_names
from .nest import loop_extents, loops_of
from .primitives import identifiers, primitives
from .relations import Fuse, Split
from .steps import Reader

if TYPE_CHECKING:
    from .schedule import Schedule
    from .stage import Stage

__all__ = ["InferBound", "whole_extent"]


def InferBound(sch: Schedule) -> dict[IterVar, Range]:  # noqa: N802 - TVM's name
    """The range of each axis: of the loops what they run over, of what they came of as much of it as is computed.

    A stage that is computed in a loop of another one computes what that loop's iteration needs. Stages that are
    inlined have the ranges that their definition says.

    >>> from tilewright import te
    >>> A = te.placeholder((64,), name="A")
    >>> B = te.compute((64,), lambda i: A[i] * 2, name="B")
    >>> C = te.compute((64,), lambda i: B[i] + 1, name="C")
    >>> s = te.create_schedule(C.op)
    >>> io, ii = s[C].split(C.op.axis[0], factor=16)
    >>> s[B].compute_at(s[C], io)
    >>> bounds = te.schedule.InferBound(s)
    >>> bounds[io], bounds[B.op.axis[0]].extent.value
    (Range(min=0, extent=4), 16)

    Raises
    ------
    CompileError
        Where the schedule cannot be applied.
    """
    from .schedule import Schedule

    if not isinstance(sch, Schedule):
        raise TypeError(f"{user_source()}: InferBound: expected a schedule, got {sch!r}")
    extents = loop_extents(loops_of(sch))
    reader = Reader(identifiers(sch.names.values()), ())
    for primitive in primitives(sch.operation):
        reader.step(primitive)
    bounds: dict[IterVar, Range] = {}
    for stage in sch.stages:
        if not isinstance(stage.op, ExternOp):
            _stage(stage, extents, reader.axis_names, bounds)
    return bounds


def _stage(stage: Stage, extents: dict[str, str], names: dict[Any, str], bounds: dict[IterVar, Range]) -> None:
    own = [*stage.op.axis, *stage.op.reduce_axis]
    called = dict(zip(map(id, own), axis_names(stage.op)))
    called.update((id(axis), names[value]) for axis, value in stage.axis_handles.items() if value in names)
    is_there = stage.attach_stage is not None or any(name.startswith(f"{stage.name}.") for name in extents)
    for axis in stage.leaf_iter_vars:
        text = extents.get(f"{stage.name}.{called[id(axis)]}")
        if text is not None and text.isdigit():
            bounds[axis] = Range(0, as_extent(int(text)))
        elif text is not None or not is_there:
            bounds[axis] = Range(0, whole_extent(axis, stage))
        else:
            bounds[axis] = Range(0, as_extent(1))  # one iteration makes no loop
    for relation in reversed(stage.relations):
        if isinstance(relation, Split) and relation.outer in bounds and relation.inner in bounds:
            bounds[relation.parent] = _joined(relation, bounds, stage)
    for axis in own:
        if axis not in bounds and axis.dom is not None:
            bounds[axis] = axis.dom


def whole_extent(axis: IterVar, stage: Stage) -> Any:
    """The extent of an axis where it is no number, as the extents of the axes that it came of make it."""
    if axis.dom is not None:
        return axis.dom.extent
    for relation in stage.relations:
        if isinstance(relation, Fuse) and relation.fused is axis:
            return whole_extent(relation.outer, stage) * whole_extent(relation.inner, stage)
        if isinstance(relation, Split) and (axis is relation.outer or axis is relation.inner):
            given = relation.nparts if axis is relation.outer else relation.factor
            other = relation.factor if axis is relation.outer else relation.nparts
            if given is not None or other is None:
                return given
            return (whole_extent(relation.parent, stage) + (other - 1)) // other
    return as_extent(1)


def _joined(split: Split, bounds: dict[IterVar, Range], stage: Stage) -> Range:
    whole: int | Expr = bounds[split.outer].extent * bounds[split.inner].extent
    asked = whole_extent(split.parent, stage)
    if not isinstance(whole, int):
        return Range(0, asked)
    return Range(0, as_extent(min(whole, asked) if isinstance(asked, int) else whole))
