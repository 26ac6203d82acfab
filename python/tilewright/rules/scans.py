"""Recurrences, and statements with loops of their own."""

from __future__ import annotations

from ..devices import MOST_BLOCKS_YZ
from ..te import IterVar, thread_axis
from ..te.scan_stages import ScanOp
from ..te.schedule import Schedule
from ..te.tensor import Operation
from .context import Context, choice
from .facts import Kind, accesses_of, is_static, size_of
from .groups import Group
from .plan import Decision

__all__ = ["Statements"]


class Statements:
    """A recurrence has a thread for each of its independent elements; statements of `te.extern` are as they are."""

    name = "recurrence"

    def decide(self, context: Context, group: Group) -> Decision | None:
        kind = group.root.kind
        if kind == Kind.EXTERN:
            return Decision("statements", group.names, "te.extern has loops of its own")
        if kind != Kind.SCAN:
            return None
        why = "each element along the first axis needs those before it"
        assert isinstance(group.root.op, ScanOp)
        if _reads_others(group):
            apart, together = _axes_of(group.root.op)
            named = f" along {', '.join(axis.name for axis in together)}" if apart else ""
            block = f"a block for each {', '.join(axis.name for axis in apart)}" if apart else "one block"
            why += f", and others of the step before{named}: the threads of {block}, which wait for each other, "
            why += "have them all"
        # States that are scanned together are in one kernel: what one has as threads, the others have.
        numbers = (64,) if len(group.root.op.scans) > 1 else (32, 64, 128)
        return Decision(
            self.name,
            group.names,
            why,
            (choice("threads", 64, numbers),),
        )

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        if group.root.kind == Kind.EXTERN:
            return
        stage = s[group.root.op.output(0)]
        assert isinstance(group.root.op, ScanOp)
        apart, together = _axes_of(group.root.op) if _reads_others(group) else ([], stage.op.axis[1:])
        for axis, tag in zip(apart, ("blockIdx.x", "blockIdx.y")):
            stage.bind(axis, thread_axis(tag))
        rest = together[0] if apart else stage.fuse(*together)
        block, thread = stage.split(rest, factor=decision["threads"])
        if not _reads_others(group):
            stage.bind(block, thread_axis("blockIdx.x"))
        stage.bind(thread, thread_axis("threadIdx.x"))


def _axes_of(scan: ScanOp) -> tuple[list[IterVar], list[IterVar]]:
    """Of a scan all whose axes but one are such that each step reads its own of them alone: those, up to two, which
    blocks have, and that one. Of others none, and all."""
    axes = list(scan.axis[1:])
    apart = [axis for place, axis in enumerate(axes, 1) if len(scan.scans) == 1 and _is_apart(scan, place)]
    apart.sort(key=lambda axis: -size_of([axis]))
    if not 0 < len(apart) == len(axes) - 1 <= 2 or not is_static(apart[1:]) or size_of(apart[1:]) > MOST_BLOCKS_YZ:
        return [], axes
    return apart, [axis for axis in axes if not any(axis is one for one in apart)]


def _is_apart(scan: ScanOp, place: int) -> bool:
    """Whether the steps of a scan read the state, and each other, at the same index of an axis alone."""
    places: dict[Operation, int] = {scan: place}
    todo: list[Operation] = [scan]
    while todo:
        op = todo.pop()
        axis = op.axis[places[op]]
        for access in accesses_of(op):
            read = access.tensor.op
            if scan.state is not None and read is scan.state.op:
                if access.axes[place] is not axis:
                    return False
            elif read in scan.inner:
                at = [number for number, one in enumerate(access.axes) if one is axis]
                if len(at) != 1 or places.setdefault(read, at[0]) != at[0]:
                    return False
                if read not in todo:
                    todo.append(read)
    return True


def _reads_others(group: Group) -> bool:
    """Whether a step, or a stage in it, may read any element of the step before."""
    return isinstance(group.root.op, ScanOp) and group.root.op.state is not None
