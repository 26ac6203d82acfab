"""Kernels without reductions: elementwise chains, broadcasts, gathers, concatenations and transposes."""

from __future__ import annotations

from math import prod

from ..te import Tensor, thread_axis
from ..te.expr import IterVar, Read
from ..te.schedule import Schedule
from ..te.tensor import ComputeOp
from .context import Context, choice, item_bytes, power_of_two
from .facts import Access, Kind, StageFacts, extent_of, is_static
from .groups import Group
from .lanes import lane_of
from .plan import Decision

__all__ = ["Elementwise", "Fallback", "Transposed", "inline", "spread"]

_THREADS = (64, 128, 256, 512)
# The bytes that a thread moves at once.
_BYTES = 16


def inline(s: Schedule, group: Group, but: Tensor | None = None) -> None:
    """Computes what the group says in the place of its reads, `but` one."""
    for stage in group.inlined:
        if but is None or stage.op is not but.op:
            s[stage.op].compute_inline()


def spread(s: Schedule, tensor: Tensor, threads: int, lanes: int = 1, turns: int = 1) -> None:
    """All elements in the order of memory, `lanes` neighbours a thread, `turns` times a block's width apart."""
    stage = s[tensor]
    lane = None
    if is_static(stage.op.axis):
        axis = stage.fuse(*stage.op.axis)
        if lanes > 1:
            axis, lane = stage.split(axis, factor=lanes)
    else:
        # Of a quotient by a symbol nobody knows that neighbours are neighbours.
        axis, lane = lane_of(stage, stage.op.axis, lanes)
    axis, thread = stage.split(axis, factor=threads)
    if turns > 1:
        axis, turn = stage.split(axis, factor=turns)
        stage.unroll(turn)
    stage.bind(axis, thread_axis("blockIdx.x"))
    stage.bind(thread, thread_axis("threadIdx.x"))
    if lane is not None:
        stage.vectorize(lane)


class Elementwise:
    """Neighbouring threads have neighbouring elements, in vectors where rows are multiples of vectors."""

    name = "elementwise"

    def decide(self, context: Context, group: Group) -> Decision | None:
        root = group.root
        if root.kind != Kind.MAP or group.reductions or group.kept or group.anchor:
            return None
        lanes = _lanes(context, root, group)
        size = max(1, root.size)
        threads = 256 if size >= 256 * context.threads // 64 else power_of_two(max(32, size // 64), 128)
        why = f"{size} elements, none of which needs another"
        if lanes > 1:
            why += f"; rows are multiples of {lanes} elements"
        return Decision(
            self.name,
            group.names,
            why,
            (
                choice("threads", threads, _THREADS),
                choice("lanes", lanes, [one for one in (1, 2, 4, 8, 16) if one <= max(lanes, 1)]),
                choice("turns", 1, (1, 2, 4) if root.is_static else ()),
            ),
        )

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        inline(s, group)
        spread(s, group.root.op.output(0), decision["threads"], decision["lanes"], decision["turns"])


def _lanes(context: Context, root: StageFacts, group: Group) -> int:
    """Elements that a thread stores at once: as many as 16 bytes hold of the widest type that is moved along rows,
    where that divides rows and leaves work for all threads."""
    if not root.spatial or not is_static(root.spatial[-1:]) or root.is_empty:
        return 1
    last = root.spatial[-1]
    moved = [root.op.output(place) for place in range(root.op.num_outputs)]
    moved += [access.tensor for access in root.accesses if access.innermost is last]
    lanes = _BYTES // max(map(item_bytes, moved))
    row = extent_of(last.dom.extent) if last.dom else 1
    while lanes > 1 and (row % lanes or root.size < lanes * context.threads // 4):
        lanes //= 2
    return max(1, lanes)


class Transposed:
    """A tile goes through shared memory where a tensor is read along another axis than the result is stored along."""

    name = "transpose through shared memory"
    tile = 32

    def decide(self, context: Context, group: Group) -> Decision | None:
        root = group.root
        if (
            root.kind != Kind.MAP
            or group.reductions
            or group.anchor
            or len(root.spatial) < 2
            or root.op.num_outputs > 1
        ):
            return None
        if not is_static(root.spatial) or root.is_empty:
            return None
        found = self._across(root) or self._turned(group)
        if found is None:
            return None
        tensor, axis = found
        return Decision(
            self.name,
            group.names,
            f"{tensor.name} is read along {axis.name}, {root.name} is stored along {root.spatial[-1].name}",
            (choice("rows", 8, (4, 8, 16)),),
        )

    def _across(self, root: StageFacts) -> tuple[Tensor, IterVar] | None:
        """The tensor that is read across, and the axis that its neighbours are along."""
        last = root.spatial[-1]
        for access in root.accesses:
            axes = access.axes
            if self._lies_across(access, last) and access.tensor.op.num_outputs == 1:
                return access.tensor, axes[-1]  # type: ignore[return-value]
        return None

    def _lies_across(self, access: Access, last: IterVar) -> bool:
        """Whether elements are read at axes, each once, neighbours along another one than `last`."""
        axes = access.axes
        inner = axes[-1] if axes else None
        if inner is None or inner is last or None in axes or len(set(map(id, axes))) != len(axes):
            return False
        pair = [extent_of(axis.dom.extent) for axis in (inner, last) if axis.dom]
        return all(extent >= self.tile for extent in pair) and any(axis is last for axis in axes)

    def _turned(self, group: Group) -> tuple[Tensor, IterVar] | None:
        """A map that the root reads, which does nothing but read a tensor across, and the root's axis that the tensor's
        neighbours are along."""
        root = group.root
        for stage in group.inlined:
            op, reads = stage.op, root.reads_of(stage.op)
            if stage.readers != [root] or len(reads) != 1 or len(stage.accesses) != 1 or not stage.spatial:
                continue
            if not isinstance(op, ComputeOp) or not isinstance(op.body[0], Read):
                continue
            (inner,) = stage.accesses
            places = [id(axis) for axis in reads[0].axes if axis is not None]
            if places != [id(axis) for axis in root.spatial] or not self._lies_across(inner, stage.spatial[-1]):
                continue
            place = next(i for i, one in enumerate(stage.spatial) if one is inner.axes[-1])
            return op.output(0), root.spatial[place]
        return None

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        root = group.root
        across_root = self._across(root)
        found = across_root or self._turned(group)
        assert found is not None
        tensor, axis = found
        op = root.op
        if across_root is not None:
            inline(s, group)
            copy = s.cache_read(tensor, "shared", [op.output(0)])
        else:
            inline(s, group, but=tensor)
            copy = tensor
            s[copy].set_scope("shared")
        stage = s[op.output(0)]
        axes = list(stage.op.axis)
        place = next(i for i, one in enumerate(root.spatial) if one is axis)
        across, along = axes[place], axes[-1]
        outer = [one for i, one in enumerate(axes[:-1]) if i != place]
        ao, ai = stage.split(across, factor=self.tile)
        lo, li = stage.split(along, factor=self.tile)
        stage.reorder(*outer, ao, lo, ai, li)
        block = stage.fuse(*outer, ao, lo)
        stage.bind(block, thread_axis("blockIdx.x"))
        _, ty = stage.split(ai, factor=decision["rows"])
        stage.bind(ty, thread_axis("threadIdx.y"))
        stage.bind(li, thread_axis("threadIdx.x"))
        s[copy].compute_at(stage, block)
        own = s[copy]
        *rest, last = own.op.axis
        # Rows begin an odd number of words apart, so that threads that read or store down a column use all banks.
        if across_root is None:
            rest, last = [one for i, one in enumerate(own.op.axis) if i != place], own.op.axis[place]
            own.storage_align(own.op.axis[-2], 2, 1)
            own.reorder(*rest, last)
        elif rest:
            own.storage_align(rest[-1], 2, 1)
        slow = own.fuse(*rest) if rest else None
        if slow is not None:
            _, ty = own.split(slow, factor=decision["rows"])
            own.bind(ty, thread_axis("threadIdx.y"))
        _, tx = own.split(last, factor=self.tile)
        own.bind(tx, thread_axis("threadIdx.x"))


class Fallback:
    """A thread has an element, and computes all of it: right for every stage that has elements."""

    name = "an element a thread"

    def decide(self, context: Context, group: Group) -> Decision | None:
        root = group.root
        if root.kind in (Kind.SCAN, Kind.EXTERN) or group.reductions or not group.is_plain_anchor:
            return None
        threads = 128 if prod(map(extent_of, root.op.shape)) >= 128 else 32
        return Decision(
            self.name, group.names, "no other rule is for it", (choice("threads", threads, (32, 64, 128, 256)),)
        )

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        inline(s, group)
        spread(s, group.root.op.output(0), decision["threads"])
