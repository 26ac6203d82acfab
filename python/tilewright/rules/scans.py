"""Recurrences, and statements with loops of their own."""

from __future__ import annotations

from ..te import thread_axis
from ..te.scan_stages import ScanOp
from ..te.schedule import Schedule
from .context import Context, choice
from .facts import Kind
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
        if _reads_others(group):
            why += ", and others of the step before: the threads of one block, which wait for each other, have them all"
        assert isinstance(group.root.op, ScanOp)
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
        block, thread = stage.split(stage.fuse(*stage.op.axis[1:]), factor=decision["threads"])
        if not _reads_others(group):
            stage.bind(block, thread_axis("blockIdx.x"))
        stage.bind(thread, thread_axis("threadIdx.x"))


def _reads_others(group: Group) -> bool:
    """Whether a step, or a stage in it, may read any element of the step before."""
    return isinstance(group.root.op, ScanOp) and group.root.op.state is not None
