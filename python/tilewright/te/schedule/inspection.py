"""What a stage tells of itself under the names that TVM's stages have: its axes, their relations, its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mlir import ir

from ...tvm_compat.missing_names import attributes_of
from ..expr import IterVar, Var
from ..scan_stages import ScanOp
from ..tensor import Operation
from .primitives import Primitive, primitives
from .relations import Fuse, IterVarAttr, Relation, Singleton, Split
from .stage_handles import StageHandles

if TYPE_CHECKING:
    from .group import Group

__all__ = ["ATTACH_INLINE", "ATTACH_ROOT", "ATTACH_SCOPE", "Inspection"]

# TVM's numbers of where a stage is computed.
ATTACH_ROOT, ATTACH_INLINE, ATTACH_SCOPE = 1, 2, 4

_KINDS = {"unroll": IterVar.Unrolled, "vectorize": IterVar.Vectorized, "parallel": IterVar.Parallelized}


class Inspection(StageHandles):
    """All of it is read from the primitives of the schedule so far; nothing of it can be assigned."""

    __slots__ = ()

    if not TYPE_CHECKING:
        __getattr__ = attributes_of("te.Stage", "'Stage' object")

    @property
    def origin_op(self) -> Operation:
        """The operation that the user gave; `op` is what `cache_write` and `rfactor` left of it."""
        return self.key

    @property
    def leaf_iter_vars(self) -> list[IterVar]:
        """The loops of the stage, from the outside in."""
        return self._loops()[0]

    @property
    def all_iter_vars(self) -> list[IterVar]:
        """The axes of the operation and all that was made of them."""
        return list({id(axis): axis for axis in (*self._own_axes(), *self.axis_handles)}.values())

    @property
    def relations(self) -> list[Relation]:
        """What was split and fused, in order: `te.schedule.Split`, `Fuse` and `Singleton`."""
        return self._loops()[1]

    @property
    def iter_var_attrs(self) -> dict[IterVar, IterVarAttr]:
        """What axes were bound to or marked as; those of which nothing was said are not in it."""
        found: dict[IterVar, IterVarAttr] = {}
        for primitive, axis in self._of_axes():
            if primitive.name in ("split", "tile", "fuse", "reorder") or primitive.operands[:1] == (self.made_handle,):
                if primitive.name not in ("storage_align", "prefetch"):
                    continue
            attr = found.setdefault(axis, IterVarAttr(axis.iter_type))
            options = primitive.options
            if primitive.name == "bind":
                attr.iter_type, attr.bind_thread = IterVar.ThreadIndex, self._thread(axis, primitive)
            elif primitive.name in _KINDS:
                attr.iter_type = _KINDS[primitive.name]
            elif primitive.name == "tensorize":
                attr.iter_type, attr.tensor_intrin = IterVar.Tensorized, options["name"]
            elif primitive.name == "storage_align":
                attr.dim_align_factor, attr.dim_align_offset = options["factor"], options["offset"]
            elif primitive.name == "prefetch":
                attr.prefetch_data.append(options["tensor"])
                attr.prefetch_offset.append(options["offset"])
            elif primitive.name == "auto_unroll":
                attr.pragma_keys.append("auto_unroll_max_step")
                attr.pragma_values.append(next(iter(options.values())))
            else:
                attr.pragma_keys.append(primitive.name)
                attr.pragma_values.append(None)
        return found

    @property
    def attach_type(self) -> int:
        """Where the stage is computed, by TVM's number: 1 at the root, 2 inline, 4 in a loop of `attach_stage`."""
        place = self._place()
        return ATTACH_ROOT if place is None else ATTACH_INLINE if len(place.operands) == 1 else ATTACH_SCOPE

    @property
    def attach_stage(self) -> StageHandles | None:
        """The stage in whose loop this one is computed."""
        place = self._place()
        if place is None or len(place.operands) == 1:
            return None
        handles = ((one.made_handle, one) for one in self.schedule.stages)  # a handle is only compared with another
        return next((one for handle, one in handles if handle is not None and handle == place.operands[1]), None)

    @property
    def attach_ivar(self) -> IterVar | None:
        """The loop of `attach_stage` that this one is computed in."""
        place, stage = self._place(), self.attach_stage
        if place is None or stage is None:
            return None
        return next((axis for axis, value in stage.axis_handles.items() if value == place.operands[2]), None)

    @property
    def group(self) -> Group | None:
        """The smallest group of `Schedule.create_group` that the stage is in."""
        from .group import smallest

        return smallest(group for group in self.schedule.groups if self in group.stages)

    @property
    def is_scheduled(self) -> bool:
        """Whether a primitive changed its loops or its place."""
        return bool(self.relations or self.iter_var_attrs or self.attach_type != ATTACH_ROOT)

    def _own_axes(self) -> tuple[IterVar, ...]:
        return tuple(self.op.axis) + tuple(self.op.reduce_axis)

    def _primitives(self) -> Iterator[Primitive]:
        return primitives(self.schedule.operation)

    def _of_axes(self) -> Iterator[tuple[Primitive, IterVar]]:
        """The primitives that take axes of this stage, with each such axis."""
        axes = {value: axis for axis, value in self.axis_handles.items()}
        for primitive in self._primitives():
            for value in primitive.operands:
                if value in axes:
                    yield primitive, axes[value]

    def _thread(self, axis: IterVar, primitive: Primitive) -> IterVar:
        if axis in self._threads:
            return self._threads[axis]
        tag = primitive.options["thread"]
        return IterVar(tag, None, "thread", axis.source, tag=tag)

    def _place(self) -> Primitive | None:
        """The primitive that says where the stage is computed: the last; None at the root."""
        found = None
        for primitive in self._primitives() if self.made_handle is not None else ():
            if primitive.operands[:1] == (self.made_handle,):
                if primitive.name in ("compute_at", "compute_inline", "reverse_compute_at", "reverse_compute_inline"):
                    found = primitive
                elif primitive.name == "compute_root":
                    found = None
        if found is not None and found.name == "reverse_compute_inline":
            return None  # what it read is inside of it
        return found

    def _loops(self) -> tuple[list[IterVar], list[Relation]]:
        """The loops that there are, and what they came of."""
        loops, found = list(self._own_axes()), list[Relation]()
        if isinstance(self.op, ScanOp):
            loops = list(self.op.axis)
        axes: dict[ir.Value, IterVar] = {value: axis for axis, value in self.axis_handles.items()}

        def split(
            parent: IterVar, outer: IterVar, inner: IterVar, factor: int | Var | None, nparts: int | Var | None
        ) -> None:
            found.append(Split(parent, outer, inner, factor, nparts))
            place = _position(loops, parent)
            loops[place : place + 1] = [outer, inner]

        def reorder(order: list[IterVar]) -> None:
            places = sorted(_position(loops, axis) for axis in order)
            for place, axis in zip(places, order):
                loops[place] = axis

        for primitive in self._primitives() if axes else ():
            taken = [axes[value] for value in primitive.operands if value in axes]
            made = [axes[value] for value in primitive.results if value in axes]
            options = primitive.options
            if primitive.name == "split" and taken and made:
                symbols = self.schedule.symbols
                factor, nparts = (
                    symbols.get(options.get(f"{name}_symbol", ""), options.get(name)) for name in ("factor", "nparts")
                )
                split(taken[0], made[0], made[1], factor, nparts)
            elif primitive.name == "tile" and taken and made:
                split(taken[0], made[0], made[2], options["x_factor"], None)
                split(taken[1], made[1], made[3], options["y_factor"], None)
                reorder(made)
            elif primitive.name == "singleton" and made:
                found.append(Singleton(made[0]))
                loops.insert(0, made[0])
            elif primitive.name == "fuse" and made:
                # In whichever order they were given, the nest says which of them is the outer one.
                found.extend(self._fused(sorted(taken, key=lambda axis: _position(loops, axis)), made[0]))
                place = min(_position(loops, axis) for axis in taken)
                loops[:] = [axis for axis in loops if not any(axis is one for one in taken)]
                loops.insert(place, made[0])
            elif primitive.name == "reorder" and taken:
                reorder(taken)
        return loops, found

    def _fused(self, taken: list[IterVar], made: IterVar) -> list[Relation]:
        """TVM fuses two at a time."""
        found: list[Relation] = []
        outer = taken[0]
        for count, inner in enumerate(taken[1:], start=2):
            is_last = count == len(taken)
            name = ".".join(axis.name for axis in taken[:count]) + ".fused"
            fused = made if is_last else IterVar(name, None, made.kind, made.source)
            found.append(Fuse(outer, inner, fused))
            outer = fused
        return found


def _position(loops: list[IterVar], axis: IterVar) -> int:
    return next(place for place, one in enumerate(loops) if one is axis)
