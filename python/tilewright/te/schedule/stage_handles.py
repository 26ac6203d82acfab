"""What a stage of a schedule is: a computed or cached tensor and the handles of its axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...errors import TilewrightTypeError as TypeError
from ...messages.location import Source, user_source
from ..expr import Expr, IterVar
from ..extern_op import ExternOp
from ..hybrid import HybridOp
from ..program import axis_names
from ..scan_stages import ScanOp
from ..tensor import Operation, PlaceholderOp
from .checks import schedule_error
from .primitives import Loops, factored_axes, loops_of_stage, primitives

if TYPE_CHECKING:
    from mlir import ir

    from .schedule import Schedule

__all__ = ["Dom", "StageHandles"]

# What would run the iterations of an axis in another order.
_INDEPENDENT = ("split", "tile", "fuse", "bind", "vectorize", "parallel")

Dom = tuple[int, int | Expr] | None


class StageHandles:
    """A stage without its primitives.

    In the IR it has a handle, `made_handle` once there is one, and its axes have `axis_handles`.
    """

    __slots__ = ("_threads", "attached_to", "axis_handles", "key", "made_handle", "op", "schedule", "scope")

    schedule: Schedule
    key: Operation
    op: Operation
    scope: str
    made_handle: ir.Value | None

    def __init__(
        self, schedule: Schedule, op: Operation, handle: ir.Value | None = None, scope: str = "global"
    ) -> None:
        self.schedule, self.key, self.op, self.scope = schedule, op, op, scope
        self.made_handle = handle
        self.attached_to: StageHandles | None = None
        self.axis_handles: dict[IterVar, ir.Value] = {}
        self._threads: dict[IterVar, IterVar] = {}  # what axes were bound to

    @property
    def name(self) -> str:
        """The name of the stage, different from that of every other."""
        return self.schedule.names[self.key]

    @property
    def is_output(self) -> bool:
        return self.key in self.schedule.outputs

    def __repr__(self) -> str:
        return f"stage({self.name})"

    @property
    def handle(self) -> ir.Value:
        """The stage's handle in the IR, made when it is first needed."""
        from . import handles

        if isinstance(self.op, ExternOp):
            what = "script" if isinstance(self.op, HybridOp) else "extern"
            raise schedule_error(
                user_source(),
                f"expected a stage with loops of its own, got the {what} '{self.name}', whose statements say how it is "
                "computed",
            )
        if isinstance(self.op, PlaceholderOp):
            raise schedule_error(
                user_source(),
                f"expected a stage that is computed, got the input '{self.name}', which lies as the caller's array "
                "does: give the te.placeholder that shape, or copy it by cache_read",
            )
        if self.made_handle is None:
            self.made_handle = self.schedule.apply(handles.stage, self.op.source, self.name)
        return self.made_handle

    def has_axis(self, axis: IterVar) -> bool:
        """True for the axes of the operation and for the loops that were made of them."""
        return axis in self.axis_handles or any(axis is own for own in self.op.axis + self.op.reduce_axis)

    def _check_whole(self, what: str, source: Source) -> None:
        """A scan is computed whole, in a loop nest of its own."""
        if isinstance(self.op, ScanOp):
            raise schedule_error(
                source, f"{what}: expected a stage of which a part can be computed, got the scan '{self.name}'"
            )

    def forget_unused_axes(self) -> None:
        """Takes back axis handles that no primitive used, so that others can take their place."""
        from .handles import erase_unused

        if self.axis_handles and erase_unused(list(self.axis_handles.values())):
            self.axis_handles = {}

    def factored_axes(self, axis: IterVar) -> tuple[IterVar, ...]:
        """The axes that a stage reduces over once `axis` is factored out of this one."""
        self._check_numbers()
        axes = {value: own for own, value in self.axis_handles.items()}
        roots = [self.axis_handles[own] for own in self.op.reduce_axis]
        return tuple(axes[value] for value in factored_axes(self.schedule.operation, self.axis_handles[axis], roots))

    def _check_numbers(self) -> None:
        """What makes stages of a stage's loops wants to know how many iterations they have."""
        axes = {value: own for own, value in self.axis_handles.items()}
        for primitive in primitives(self.schedule.operation):
            name = primitive.options.get("factor_symbol", primitive.options.get("nparts_symbol"))
            if name is not None and primitive.operands[0] in axes:
                raise schedule_error(
                    user_source(),
                    f"expected the loops of stage '{self.name}' to be split by numbers here, got "
                    f"'{axes[primitive.operands[0]].name}' split by '{name}': split it afterwards",
                )

    def loops(self) -> Loops:
        """What the primitives made of the axes. There must be handles of these."""
        self._check_numbers()
        roots = {
            self.axis_handles[own]: own.dom[1] for own in self.op.axis + self.op.reduce_axis if own.dom is not None
        }
        return loops_of_stage(self.schedule.operation, self.handle, roots)

    def spatial_loops(self) -> list[IterVar] | None:
        """The loops of the spatial axes in their order, with their extents; None where they are still the axes."""
        if not self.axis_handles:
            return None
        axes, loops = {value: own for own, value in self.axis_handles.items()}, self.loops()
        found = [(axes[value], loops.extents[value]) for value in loops.loops if axes[value].kind != "reduce"]
        if len(found) == len(self.op.axis) and all(loop is own for (loop, _), own in zip(found, self.op.axis)):
            return None
        return [IterVar(loop.name, (0, extent), "spatial", loop.source) for loop, extent in found]

    def spatial_leaves(self) -> list[IterVar]:
        """The loops of the spatial axes in their order."""
        axes = {value: own for own, value in self.axis_handles.items()}
        return [axes[value] for value in self.loops().loops if axes[value].kind != "reduce"]

    def loops_at(self, values: Mapping[IterVar, Expr]) -> list[Expr]:
        """The values of the spatial loops where the axes have these."""
        known = self.loops().loops_at({self.axis_handles[axis]: value for axis, value in values.items()})
        return [known[self.axis_handles[leaf]] for leaf in self.spatial_leaves()]

    def axes_at(self, values: Mapping[IterVar, Expr]) -> dict[IterVar, Expr]:
        """The values of the axes where the loops have these."""
        if not self.axis_handles:
            return dict(values)
        known = self.loops().axes_at({self.axis_handles[loop]: value for loop, value in values.items()})
        return {
            own: known[self.axis_handles[own]]
            for own in self.op.axis + self.op.reduce_axis
            if self.axis_handles[own] in known
        }

    def replace_op(self, op: Operation) -> None:
        """The stage computes its tensor in another way, with axes of its own."""
        self.op, self.axis_handles = op, {}

    def axis_handle(self, axis: IterVar, what: str, source: Source) -> ir.Value:
        """The handle of one of this stage's axes."""
        if not isinstance(axis, IterVar):
            raise TypeError(f"{source}: {what}: expected an axis of stage '{self.name}', got {axis!r}")
        if not self.has_axis(axis):
            owner = self.schedule.stage_of_axis(axis)
            mine = ", ".join(own.name for own in self.op.axis + self.op.reduce_axis) or "none"
            whose = f"of stage '{owner.name}'" if owner is not None else "of no stage of this schedule"
            raise schedule_error(
                source, f"{what}: expected an axis of stage '{self.name}' ({mine}), got '{axis.name}' {whose}"
            )
        if isinstance(self.op, ScanOp) and axis is self.op.scan_axis and what in _INDEPENDENT:
            raise schedule_error(
                source,
                f"{what}: expected an axis whose iterations are independent, got '{axis.name}', the scan axis of stage "
                f"'{self.name}'",
            )
        self._name_axes()
        return self.axis_handles[axis]

    def _name_axes(self) -> None:
        """Sees to it that there are handles of the stage's axes."""
        from . import handles

        if self.axis_handles:
            return
        names, spatial = axis_names(self.op), len(self.op.axis)
        for build, own, own_names in (
            (handles.axes, self.op.axis, names[:spatial]),
            (handles.reduce_axes, self.op.reduce_axis, names[spatial:]),
        ):
            if own:
                results = self.schedule.apply(build, self.op.source, self.handle, own_names)
                self.axis_handles.update(zip(own, results if len(own) > 1 else [results]))

    def _made(
        self, values: list[ir.Value], names: list[str], kind: str, source: Source, doms: list[Dom]
    ) -> list[IterVar]:
        made = [IterVar(name, dom, kind, source) for name, dom in zip(names, doms)]
        self.axis_handles.update(zip(made, values))
        return made
