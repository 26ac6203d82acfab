"""Few results of many elements, in two kernels: blocks reduce parts of each, and then the parts are reduced."""

from __future__ import annotations

from math import prod

from ..te import Tensor, thread_axis
from ..te.schedule import Schedule, Stage
from .context import Context, choice, item_bytes, power_of_two
from .elementwise import inline
from .facts import Kind, StageFacts, is_static
from .groups import Group
from .lanes import IN_FLIGHT, columns_of, lane_of, lanes_of, read_together, streamed
from .plan import Decision
from .reductions import shape_of, turns_at_once

__all__ = ["SplitReduction"]

# The threads of a block that reduces a part.
_THREADS = 256
# Rows that one block reduces in less time than it takes to start a second kernel.
_ONE_BLOCK = 65536
# Results that lie together, of which a block has parts; as many as there are, where they are few.
_BESIDE, _FEW = 64, 128
# Elements where a symbol counts them.
_TYPICAL = 4096
# Results of a block that combines parts, where they lie together.
_WIDE = 32


class SplitReduction:
    """Few results of many elements: blocks reduce parts of each, and a second kernel reduces the parts. What is made
    of the results is computed there."""

    name = "reduction in parts"

    def decide(self, context: Context, group: Group) -> Decision | None:
        stage = _reduction_of(group)
        if stage is None or not is_static(stage.spatial):
            return None
        shape, is_known = shape_of(group), is_static(stage.reduced)
        if shape is None or any(axis.dom is None or axis.dom.min for axis in stage.reduced):
            return None
        # Of results that lie together, a symbol may count the elements, such as the tokens of a batch.
        if not is_known and (shape.is_along_rows or len(stage.reduced) > 1):
            return None
        rows, columns = max(1, shape.rows), shape.columns if is_known else max(shape.columns, _TYPICAL)
        lanes = lanes_of(group) if shape.is_along_rows else 1
        if shape.is_along_rows:
            if columns <= _ONE_BLOCK or rows * 256 >= context.threads:
                return None
            # As many threads as all SMs have at once, twice where each moves one element at a time.
            waves = 2 if lanes == 1 else 1
            wanted = waves * context.threads // (_THREADS * rows)
            parts = power_of_two(min(max(1, wanted), columns // (4 * _THREADS)), 1024)
        else:
            if columns < 512 or rows * 16 >= context.threads:
                return None
            beside, above = _block(rows, columns)
            blocks = -(-rows // beside)
            # Two waves of blocks, of at least four turns each.
            wanted = 2 * context.threads // (beside * above * blocks)
            parts = prod(_shared(min(wanted, columns // (4 * above), 1024), rows >= _WIDE))
        if parts < 2:
            return None
        return Decision(
            self.name,
            group.names,
            f"{rows} results of {columns if is_known else 'any number of'} elements each are too few for the device's "
            f"{context.threads} threads",
            (
                choice("parts", parts, [one for one in (2, 4, 8, 16, 32, 64, 128, 256) if one <= columns // 256]),
                choice("lanes", lanes),
            ),
        )

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        inline(s, group)
        facts, shape = _reduction_of(group), shape_of(group)
        assert facts is not None and shape is not None
        outputs = [facts.op.output(place) for place in range(facts.op.num_outputs)]
        stage = s[outputs[0]]
        reduced = list(stage.op.reduce_axis)
        parts, lanes = decision["parts"], decision["lanes"]
        axis, lane = lane_of(stage, reduced, lanes)
        beside, above = (1, _THREADS) if shape.is_along_rows else _block(shape.rows, shape.columns)
        some = [] if shape.is_along_rows else columns_of(group, facts)
        each = (lanes if lane is None else 1) if shape.is_along_rows else _at_once(some)
        # Blocks take turns, so that the last turn alone may go beyond a row.
        _, part = stage.split(axis, factor=parts * above * each)
        part, _ = stage.split(part, factor=above * each)
        made = s.rfactor(outputs if len(outputs) > 1 else outputs[0], part)
        first: Tensor = made[0] if isinstance(made, (list, tuple)) else made
        if shape.is_along_rows:
            self._parts_of_rows(s, first, lanes, shape.columns // (parts * above), streamed(group, facts))
        else:
            self._bind_part(s[first], beside)
            turn, thread = s[first].op.reduce_axis
            reads = [s.cache_read(tensor, "local", [first]) for tensor in some]
            s[first].loop_partition(read_together(s, s[first], turn, thread, reads, "threadIdx.y", each))
        self._combine(s, group, facts, first, _shared(parts, not shape.is_along_rows and shape.rows >= _WIDE))

    def _parts_of_rows(self, s: Schedule, first: Tensor, lanes: int, of_thread: int, some: list[Tensor]) -> None:
        """A block has a part of a row."""
        reads = [s.cache_read(tensor, "local", [first]) for tensor in some] if lanes > 1 else []
        stage = s[first]
        self._bind_part(stage)
        turn, thread, *neighbours = stage.op.reduce_axis
        if lanes > 1 and not neighbours:
            thread, *neighbours = stage.split(thread, factor=lanes)
        stage.bind(thread, thread_axis("threadIdx.x"))
        for lane in neighbours:
            stage.unroll(lane)
        outer, turn = turns_at_once(stage, turn, of_thread // lanes, lanes)
        stage.loop_partition(outer)  # what is read without conditions is on its way at once
        for read in reads:
            s[read].compute_at(stage, turn)
            s[read].vectorize(s[read].op.axis[-1])

    def _bind_part(self, stage: Stage, beside: int = 1) -> None:
        """The parts are blocks of their own dimension: it is then known which of a row is beyond its end."""
        part, *axes = stage.op.axis
        stage.bind(part, thread_axis("blockIdx.y"))
        if not axes:
            return
        row = stage.fuse(*axes) if len(axes) > 1 else axes[0]
        if beside > 1:
            row, own = stage.split(row, factor=beside)
            stage.bind(own, thread_axis("threadIdx.x"))
        stage.bind(row, thread_axis("blockIdx.x"))

    def _combine(
        self, s: Schedule, group: Group, facts: StageFacts, first: Tensor, shared: tuple[int, int, int]
    ) -> None:
        """The kernel that reduces the parts, and computes what is made of the results."""
        _, at_once, along = shared
        outputs = [facts.op.output(place) for place in range(facts.op.num_outputs)]
        sums = outputs[0]
        if group.root is facts:
            made = s.cache_write(outputs if len(outputs) > 1 else sums, "local")
            sums = made[0] if isinstance(made, (list, tuple)) else made
        stage = s[group.root.op.output(0)]
        # The parts of one result lie apart, those of neighbouring results together.
        is_wide = at_once > 1
        block, row = stage.split(stage.fuse(*stage.op.axis), factor=_WIDE if is_wide else 1)
        stage.bind(block, thread_axis("blockIdx.x"))
        stage.bind(row, thread_axis("threadIdx.x" if is_wide else "threadIdx.y"))
        reads = [s.cache_read(first, "local", [sums])] if is_wide and first.op.num_outputs == 1 else []
        own = s[sums]
        own.set_scope("local")
        own.compute_at(stage, row)
        turn, part = own.split(own.op.reduce_axis[0], factor=along * at_once)
        if is_wide:
            own.loop_partition(read_together(s, own, turn, part, reads, "threadIdx.y", at_once))
        else:
            own.bind(part, thread_axis("threadIdx.x"))
            own.loop_partition(turn)


def _shared(parts: int, is_wide: bool) -> tuple[int, int, int]:
    """How the threads of a block share the parts, about so many: turns, how many a thread has in each, and threads."""
    if not is_wide:
        threads = power_of_two(max(32, parts), 256) if parts >= 256 else 32
        return -(-parts // threads), 1, threads
    threads = max(1, min(32, parts // 8))
    at_once = min(16, max(2, parts // threads))
    return max(1, parts // (threads * at_once)), at_once, threads


def _reduction_of(group: Group) -> StageFacts | None:
    """The reduction of a group that has one, which is the root, or which the root reads result by result."""
    if not group.is_plain_anchor or group.kept:
        return None
    if group.root.kind == Kind.REDUCTION:
        return group.root if not group.reductions else None
    is_of_results = group.rows is not None and not group.rows.root_columns
    return group.reductions[0] if is_of_results and len(group.reductions) == 1 else None


def _block(rows: int, columns: int) -> tuple[int, int]:
    """How many neighbouring results a block has, and how many threads each of them has there."""
    beside = rows if rows <= _FEW else _BESIDE
    return beside, power_of_two(max(1, _THREADS // beside), 64)


def _at_once(some: list[Tensor]) -> int:
    """How many elements of a column a thread reads at once."""
    return 2 * IN_FLIGHT if some and all(item_bytes(tensor) < 4 for tensor in some) else IN_FLIGHT
