"""Kernels with reductions: of rows and of columns, chains of them, tuples of them, and what is made of the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ..te import Tensor, thread_axis
from ..te.expr import IterVar
from ..te.schedule import Schedule, Stage
from ..te.tensor import Operation
from .context import Context, choice, power_of_two
from .elementwise import inline
from .facts import Kind, StageFacts, extent_of, is_static, size_of
from .groups import Group
from .lanes import (
    IN_FLIGHT,
    columns_of,
    kept_by,
    lane_of,
    lanes_of,
    moves_neighbours,
    read_together,
    rows_to_keep,
    streamed,
)
from .plan import Decision

__all__ = ["ALONG_COLUMNS", "ALONG_ROWS", "Reductions", "shape_of"]

ALONG_ROWS, ALONG_COLUMNS = "threads along the reduction", "threads along the results"
# Elements of a row that a thread reads at once, where it has not all of them.
_AT_ONCE = 8
# Elements of a column that are worth a thread, whose sums others have to add up.
_LEAST = 16
# Elements of a column that are worth a thread, which keeps them for what is made of several sums.
_LEAST_OF_ROW = 4
# Elements of a column that a thread keeps in its registers.
_KEPT_OF_THREAD = 64


@dataclass(frozen=True, slots=True)
class Shape:
    """How many results there are, how many elements each is of, and which of the two lie together in memory."""

    rows: int
    columns: int
    is_along_rows: bool


def shape_of(group: Group) -> Shape | None:
    """None of a group without reductions."""
    root = group.root
    reductions = [stage for stage in (root, *group.reductions) if stage.kind == Kind.REDUCTION]
    if not reductions or any(stage.is_empty for stage in reductions):
        return None
    votes = {True: 0, False: 0}
    for stage in reductions:
        for access in stage.accesses:
            if access.tensor.op in [one.op for one in group.stages]:
                continue
            inner = access.innermost
            size = prod(map(extent_of, access.tensor.shape))
            if inner is not None:
                # Windows move along the results.
                last = access.indices[-1]
                is_window = last is not None and any(last.of(axis) for axis in stage.spatial)
                votes[not is_window and any(inner is axis for axis in stage.reduced)] += size
    if group.rows is None:
        rows = root.size
    else:
        rows = size_of([root.spatial[place] for place in group.rows.root_rows])
    return Shape(rows, size_of(reductions[0].reduced), votes[True] >= votes[False])


def turns_at_once(stage: Stage, turn: IterVar, turns: int, lanes: int) -> tuple[IterVar, IterVar]:
    """The loop over turns, each of several, and the loop in it: what these read is on its way before the first is
    added."""
    several = min(_AT_ONCE, 2 * _AT_ONCE // lanes, power_of_two(turns))
    if several < 2:
        return turn, turn
    outer, some = stage.split(turn, factor=several)
    stage.unroll(some)
    return outer, some


class Reductions:
    """Threads share each row where its elements lie together; else each has a row, and several share it where rows are
    few. What is made of the results is computed in the same kernel."""

    name = "reduction"

    def decide(self, context: Context, group: Group) -> Decision | None:
        shape = shape_of(group)
        if shape is None or not group.is_plain_anchor:
            return None
        rows, columns, lanes = max(1, shape.rows), shape.columns, 1
        stages = [stage for stage in (group.root, *group.reductions) if stage.kind == Kind.REDUCTION]
        has_shared_columns = all(is_static(stage.reduced) for stage in stages)
        if columns <= 4 or not has_shared_columns and len(stages) > 1:
            along, threads, of_block = ALONG_COLUMNS, 1, power_of_two(max(32, rows // 64), 128)
        elif shape.is_along_rows:
            along, lanes = ALONG_ROWS, lanes_of(group)
            threads = self._threads_of_row(context, rows, columns, lanes)
            of_block = max(1, min(256 // threads, power_of_two(rows)))
            if 32 <= threads < 256 and columns >= 128 * lanes and not is_static(group.root.spatial):
                # Of few rows a block for each is faster, and no row has to be compared with their number.
                threads, of_block = 128, 1
        else:
            along = ALONG_COLUMNS
            of_block = 32 if rows >= 32 else power_of_two(max(1, 2 * rows - 1), 32)
            blocks = -(-rows // of_block)
            wanted = context.threads // (blocks * of_block)
            least = _LEAST if len(stages) == 1 else _LEAST_OF_ROW
            threads = power_of_two(max(1, min(wanted, columns // least)), 1024 // max(32, of_block))
            if threads == 1:
                # An SM has at most 32 blocks, which are half of its warps where each is one.
                of_block = power_of_two(max(of_block, rows // 64), 128)
        why = f"{rows} results of {columns} elements each, " + (
            "whose elements lie together" if shape.is_along_rows else "which lie together themselves"
        )
        if len(stages) > 1 or group.rows is not None and group.rows.root_columns:
            why += "; all of a row is computed where its reductions are"
        return Decision(
            self.name,
            group.names,
            why,
            (
                choice("along", along, (ALONG_ROWS, ALONG_COLUMNS)),
                choice(
                    "threads", threads, [one for one in (1, 8, 16, 32, 64, 128, 256, 512, 1024) if one <= 2 * columns]
                ),
                choice("rows", of_block, [one for one in (1, 2, 4, 8, 16, 32, 64, 128) if one * threads <= 1024]),
                choice("lanes", lanes, [one for one in (1, 2, 4, 8, 16) if one <= lanes]),
            ),
        )

    def _threads_of_row(self, context: Context, rows: int, columns: int, lanes: int) -> int:
        """A warp for rows of up to 1024, and more for longer ones, for few of them most; less for short ones."""
        if columns < 32 * lanes:
            return power_of_two(columns // lanes)
        threads = 32
        while threads < 512 and columns > 1024 and columns > 16 * threads:
            threads *= 2
        while threads < 1024 and rows * threads < context.threads and columns >= 8 * threads:
            threads *= 2
        if kept_by(threads) < columns <= kept_by(1024):
            threads = 1024
        return threads

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        along_rows = decision["along"] == ALONG_ROWS
        threads, of_block = decision["threads"], decision["rows"]
        lanes = decision["lanes"] if along_rows else 1
        if threads * of_block > 1024:
            of_block = max(1, 1024 // threads)
        root = group.root
        reductions: dict[Operation, StageFacts] = {stage.op: stage for stage in group.reductions}
        if root.kind == Kind.REDUCTION:
            # The root's own reduction becomes a stage, so that the root is what stores the results.
            outputs = [root.op.output(place) for place in range(root.op.num_outputs)]
            made = s.cache_write(outputs if len(outputs) > 1 else outputs[0], "local")
            first: Tensor = made[0] if isinstance(made, (list, tuple)) else made
            reductions[first.op] = root
        fits = size_of(next(iter(reductions.values())).reduced) <= kept_by(threads)
        columns_kept = self._columns_to_keep(s, group, reductions) if not along_rows and threads == 1 else []
        rows_kept, vectors = self._stage_reads(s, group, reductions, fits, lanes) if along_rows else ([], {})
        # Of an odd number of elements, rows begin anywhere: they are moved one by one, but kept all the same.
        is_kept = fits and (lanes > 1 or bool(rows_kept))
        # What a thread keeps of a column it has stored one by one.
        is_apart = along_rows or columns_kept or group.kept
        together = {} if is_apart else self._read_together(s, group, reductions, threads)
        inline(s, group)
        stage = s[root.op.output(0)]
        axes = list(stage.op.axis)
        rows = group.rows
        column_places = rows.root_columns if rows else ()
        row_axes = [axis for place, axis in enumerate(axes) if place not in column_places]
        columns = [axes[place] for place in column_places]
        if columns:
            stage.reorder(*row_axes, *columns)
        block, row = stage.split(stage.fuse(*row_axes), factor=of_block)
        stage.bind(block, thread_axis("blockIdx.x"))
        stage.bind(row, thread_axis("threadIdx.y" if along_rows else "threadIdx.x"))
        tag = "threadIdx.x" if along_rows else "threadIdx.y"
        for tensor in rows_kept:
            own = s[tensor]
            own.compute_at(stage, row)
            self._divide(own, [own.op.axis[-1]], threads, tag, lanes, is_unrolled=True)
        for tensor in columns_kept:
            s[tensor].compute_at(stage, row)
            for axis in s[tensor].op.axis:
                s[tensor].unroll(axis)
        for one in group.kept:
            own = s[one.op]
            own.set_scope("local")
            own.compute_at(stage, row)
            labels = rows.labels[one.op] if rows else ()
            own_columns = [own.op.axis[labels.index(label)] for label in self._column_labels(group)]
            others = [axis for axis in own.op.axis if not any(axis is column for column in own_columns)]
            own.reorder(*others, *own_columns)
            self._divide(own, own_columns, threads, tag, lanes, is_unrolled=is_kept)
        for op in reductions:
            own = s[op.output(0)]
            own.set_scope("local")
            own.compute_at(stage, row)
            reduced = list(own.op.reduce_axis)
            if op in together:
                (axis,) = reduced
                own.loop_partition(
                    read_together(s, own, *own.split(axis, factor=threads * IN_FLIGHT), together[op], tag)
                )
                continue
            turn = self._divide(own, reduced, threads, tag, lanes, is_unrolled=is_kept and op not in vectors)
            if columns_kept:
                own.unroll(turn)
            if along_rows and threads > 1 and not is_kept and is_static(reductions[op].reduced):
                turns = size_of(reductions[op].reduced) // (threads * lanes)
                outer, turn = turns_at_once(own, turn, turns, lanes)
                own.loop_partition(outer)
            for tensor in vectors.get(op, ()):
                s[tensor].compute_at(own, turn)
                s[tensor].vectorize(s[tensor].op.axis[-1])
        if columns:
            turn = self._divide(stage, columns, threads, tag, lanes, is_unrolled=is_kept)
            if columns_kept:
                stage.unroll(turn)

    def _columns_to_keep(self, s: Schedule, group: Group, reductions: Mapping[Operation, StageFacts]) -> list[Tensor]:
        """Of columns that a thread has alone, and that are read more than once: what they read, in registers."""
        names, kept = {facts.op: op for op, facts in reductions.items()}, rows_to_keep(group)
        if size_of(next(iter(reductions.values())).reduced) * len(kept) > _KEPT_OF_THREAD:
            return []
        return [
            s.cache_read(tensor, "local", [names.get(reader.op, reader.op).output(0) for reader in readers])
            for tensor, readers in kept
        ]

    def _read_together(
        self, s: Schedule, group: Group, reductions: Mapping[Operation, StageFacts], threads: int
    ) -> dict[Operation, list[Tensor]]:
        """Of reductions of columns what they read, in registers."""
        return {
            op: [s.cache_read(tensor, "local", [op.output(0)]) for tensor in some]
            for op, facts in reductions.items()
            if size_of(facts.reduced) >= 2 * IN_FLIGHT * threads and (some := columns_of(group, facts))
        }

    def _stage_reads(
        self, s: Schedule, group: Group, reductions: Mapping[Operation, StageFacts], fits: bool, lanes: int
    ) -> tuple[list[Tensor], dict[Operation, list[Tensor]]]:
        """Rows that are read more than once, in registers; of what is read otherwise, by a reduction, vectors."""
        kept: list[Tensor] = []
        vectors: dict[Operation, list[Tensor]] = {}
        names = {facts.op: op for op, facts in reductions.items()}
        if fits and moves_neighbours(group):
            for tensor, readers in rows_to_keep(group):
                ops = [names.get(reader.op, reader.op).output(0) for reader in readers]
                kept.append(s.cache_read(tensor, "local", ops))
        if not kept and lanes > 1:
            for op, facts in reductions.items():
                some = streamed(group, facts)
                if some:
                    vectors[op] = [s.cache_read(tensor, "local", [op.output(0)]) for tensor in some]
        return kept, vectors

    def _column_labels(self, group: Group) -> tuple[int, ...]:
        assert group.rows is not None
        if group.rows.root_columns:
            return group.rows.root_columns
        first = len(group.root.spatial)
        return tuple(range(first, first + len(group.rows.columns)))

    def _divide(
        self,
        stage: Stage,
        axes: Sequence[IterVar],
        threads: int,
        tag: str,
        lanes: int = 1,
        *,
        is_unrolled: bool = False,
    ) -> IterVar:
        """Threads take `lanes` neighbours each in turn; the axis that counts turns."""
        axis, lane = lane_of(stage, axes, lanes)
        turn = thread = axis
        if threads > 1:
            turn, thread = stage.split(axis, factor=threads * lanes if lane is None else threads)
        if lanes > 1 and lane is None:
            thread, lane = stage.split(thread, factor=lanes)
        if threads > 1:
            stage.bind(thread, thread_axis(tag))
            if is_unrolled:
                stage.unroll(turn)
        if lane is not None and stage.op.reduce_axis:
            stage.unroll(lane)
        elif lane is not None:
            stage.vectorize(lane)
        return turn if threads > 1 else thread
