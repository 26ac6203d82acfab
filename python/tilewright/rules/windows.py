"""Kernels of windows that overlap: depthwise convolutions, pools and stencils."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ..dtypes import dtype_of
from ..te import Tensor, thread_axis
from ..te.expr import IterVar
from ..te.schedule import Schedule
from .context import Context, choice
from .elementwise import inline
from .facts import Kind, StageFacts, extent_of, is_static, size_of
from .groups import Group
from .plan import Decision

__all__ = ["Window", "Windows", "is_staged", "window_of"]

# The results that a thread has at most.
_LONGEST = 16
# Fewer results in a strip have no neighbours in the same thread.
_FEW = 4
# Blocks an SM, below which threads have fewer results.
_BLOCKS = 4
_THREADS = 128
# What is read by windows may cost so many additions an element: each is computed by several threads.
_CHEAP = 16


@dataclass(frozen=True, slots=True)
class Window:
    """A reduction over windows of `tensor`. Along the axis `strip` of the results they are `stride` apart, and have
    `taps` elements along the axis `along`, `dilation` apart."""

    tensor: Tensor
    strip: IterVar
    along: IterVar
    stride: int
    dilation: int

    @property
    def taps(self) -> int:
        return size_of([self.along])

    def loads(self, results: int) -> int:
        """The elements that so many neighbouring results read, along the strip."""
        return (results - 1) * self.stride + (self.taps - 1) * self.dilation + 1


def window_of(stage: StageFacts) -> Window | None:
    """The windows that a stage reduces; None where it does something else, or its windows do not overlap.

    Threads that are neighbours have neighbouring results along the last axis, so the strip is along another one where
    windows move along both.
    """
    if stage.kind != Kind.REDUCTION or not is_static(stage.reduced) or stage.is_empty or stage.op.num_outputs != 1:
        return None
    if not stage.accesses or not stage.spatial:
        return None
    read = max(stage.accesses, key=lambda access: prod(map(extent_of, access.tensor.shape)))
    if len(stage.reads_of(read.tensor.op)) != 1:
        return None
    spatial = {id(axis) for axis in stage.spatial}
    found: list[Window] = []
    for index in read.indices:
        if index is None:
            return None
        terms = [(axis, count) for axis, count in index.terms.values() if size_of([axis]) > 1]
        moved = [term for term in terms if id(term[0]) in spatial]
        taps = [term for term in terms if id(term[0]) not in spatial]
        if len(moved) > 1 or len(taps) > 1 or any(count < 1 for _, count in terms):
            return None
        if taps:
            if not moved:
                return None
            found.append(Window(read.tensor, moved[0][0], taps[0][0], moved[0][1], taps[0][1]))
    reduced = [axis for axis in stage.reduced if size_of([axis]) > 1]
    if len(found) != len(reduced) or {id(one.along) for one in found} != {id(axis) for axis in reduced}:
        return None
    overlapping = [one for one in found if one.loads(4) < 4 * one.taps and is_static([one.strip])]
    inner = [one for one in overlapping if one.strip is not stage.spatial[-1]]
    return (inner or overlapping or [None])[-1]


class Windows:
    """A thread has a strip of results, and reads what their windows share once, into registers."""

    name = "windows"

    def __init__(self, results: int = 0) -> None:
        """0 is for as many results a thread as read least, where all SMs have work."""
        self._results = results

    def decide(self, context: Context, group: Group) -> Decision | None:
        found = windowed(group)
        if found is None or context.gpu is None:
            return None
        stage, window = found
        extent = size_of([window.strip])

        def cost(results: int) -> float:
            """Loads of elements and of weights, over all strips."""
            return -(-extent // results) * (window.loads(results) + window.taps)

        enough = _BLOCKS * _THREADS * context.gpu.sms

        def of_thread(lanes: int) -> int:
            """As many results as read least, of each of so many neighbours, where all SMs have work."""
            fitting = range(1, min(_LONGEST // lanes, extent) + 1)
            busy = [one for one in fitting if stage.size // (extent * lanes) * -(-extent // one) >= enough] or [1]
            return min(busy, key=lambda one: (cost(one), one))

        lanes = widest = _lanes_of(group, window)
        if lanes > 1 and (self._results or of_thread(lanes)) < min(_FEW, extent):
            lanes = 1
        results = self._results or of_thread(lanes)
        if results == 1 and not group.operands:
            return None  # nothing is shared
        return Decision(
            self.name,
            group.names,
            f"windows of {size_of(stage.reduced)} elements overlap along {window.strip.name}: {results} results read "
            f"{window.loads(results)} elements for each of {size_of(stage.reduced) // window.taps}",
            (
                choice("results", results, [one for one in (1, 2, 4, 7, 8, 14, 16) if one <= extent]),
                choice("threads", _THREADS, (32, 64, 128, 256)),
                choice("lanes", lanes, [one for one in (1, 2) if one <= widest]),
            ),
        )

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        found = windowed(group)
        assert found is not None
        facts, window = found
        lanes = decision["lanes"]
        inline(s, group)
        root = group.root
        if facts is root:
            sums: Tensor = s.cache_write(root.op.output(0), "local")  # pyright: ignore[reportAssignmentType]
        else:
            sums = facts.op.output(0)
            s[sums].set_scope("local")
        stage, own = s[root.op.output(0)], s[sums]
        place = next(i for i, axis in enumerate(facts.spatial) if axis is window.strip)
        axes = list(stage.op.axis)
        outer, result = stage.split(axes[place], factor=decision["results"])
        beside, inner = axes[place + 1 :], [result]
        if lanes > 1:
            last, lane = stage.split(beside.pop(), factor=lanes)
            beside, inner = [*beside, last], [result, lane]
        stage.reorder(*axes[:place], outer, *beside, *inner)
        block, thread = stage.split(stage.fuse(*axes[:place], outer, *beside), factor=decision["threads"])
        stage.bind(block, thread_axis("blockIdx.x"))
        stage.bind(thread, thread_axis("threadIdx.x"))
        stage.unroll(result)
        if lanes > 1:
            stage.vectorize(inner[-1])

        own.compute_at(stage, thread)
        tap = next(i for i, axis in enumerate(facts.reduced) if axis is window.along)
        taps = own.op.reduce_axis[tap]
        others = [axis for axis in own.op.reduce_axis if axis is not taps]
        own.reorder(*others, *own.op.axis, taps)
        own.unroll(own.op.axis[place])
        own.unroll(taps)
        if lanes > 1:
            own.unroll(own.op.axis[-1])
        staged = [one.op.output(0) for one in group.operands]
        tensor = staged[0] if staged else s.cache_read(window.tensor, "local", [sums])
        s[tensor].set_scope("local")
        if others:
            s[tensor].compute_at(own, others[-1])
        else:
            s[tensor].compute_at(stage, thread)
        *some, last = s[tensor].op.axis
        for axis in some:
            s[tensor].unroll(axis)
        if lanes > 1:
            s[tensor].vectorize(last)
        else:
            s[tensor].unroll(last)


def _lanes_of(group: Group, window: Window) -> int:
    """How many neighbours a thread has along the last axis: 2 of 16 bits, of which few loads are on their way at once,
    if what windows read has neighbours there, too."""
    last = group.root.spatial[-1]
    stage = group.reductions[0] if group.reductions else group.root
    (read,) = stage.reads_of(window.tensor.op)
    is_along = bool(read.axes) and read.axes[-1] is stage.spatial[-1] and window.strip is not stage.spatial[-1]
    narrow = dtype_of(window.tensor.dtype).bits == 16 and dtype_of(group.root.op.dtype).bits == 16
    return 2 if is_along and narrow and is_static([last]) and size_of([last]) % 2 == 0 else 1


def is_staged(group: Group, stage: StageFacts) -> bool:
    """Whether `stage` is what the windows of a group read, padded or converted, and cheap to compute again."""
    if stage.cost > _CHEAP or group.operands or len(stage.readers) != 1:
        return False
    found = windowed(group)
    return found is not None and stage.readers == [found[0]] and found[1].tensor.op is stage.op


def windowed(group: Group) -> tuple[StageFacts, Window] | None:
    """The reduction over windows of a group that has no other, with results that its root reads element by element, or
    stores."""
    if group.anchor is not None or group.kept or len(group.operands) > 1:
        return None
    root = group.root
    if root.kind == Kind.REDUCTION:
        stage = root if not group.reductions else None
    elif len(group.reductions) != 1 or root.op.num_outputs != 1 or group.rows is None or group.rows.root_columns:
        stage = None
    else:
        (stage,) = group.reductions
        stage = stage if group.rows.labels[stage.op] == tuple(range(len(root.spatial))) else None
    window = window_of(stage) if stage is not None else None
    return None if stage is None or window is None else (stage, window)
