"""Kernels for a processor: rows among threads, and vectors along what lies together."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..dtypes import dtype_of
from ..te import Tensor
from ..te.expr import Call, Expr, IterVar, Read
from ..te.linear import linear_of
from ..te.schedule import Schedule, Stage
from ..te.tensor import ComputeOp
from ..te.walks import parts
from .columns import ColumnsInParts, is_of_columns, moving_reads, only_reduction
from .context import Context, choice, power_of_two
from .contraction import contraction_of
from .elementwise import inline
from .facts import Kind, StageFacts, is_static, length_of
from .groups import Group
from .packed_tiles import PackedTiles, is_packed
from .plan import Decision
from .simt import attached

__all__ = ["CPU_RULES"]

# Iterations that are worth waking other threads, and bytes of a vector.
_WORTH, _VECTOR = 1 << 15, 64
# Of so few rows, those of so many elements are computed in parts.
_FEW, _LONG = 64, 1 << 16


def _is_small(context: Context) -> bool:
    return sum(stage.work for stage in context.program) < _WORTH


def _lanes(stage: StageFacts) -> int:
    """Elements of a vector of the widest type that a stage stores or reads along its last axis."""
    bits = [dtype_of(stage.op.output(place).dtype).bits for place in range(stage.op.num_outputs)]
    bits += [dtype_of(access.tensor.dtype).bits for access in stage.accesses]
    return max(1, 8 * _VECTOR // max(8, *bits))


def _is_the_compilers(context: Context) -> bool:
    """Whether the program has what the compiler's own loops are faster for, which it makes of a program whose loops are
    not scheduled: windows, contractions and sums whose results lie together, but matmuls; and maps alone, of what lies
    together as their results do.
    """
    if all(_is_of_neighbours(stage) for stage in context.program):
        return True
    for stage in context.program:
        found = contraction_of(stage)
        if found is not None and is_packed(found):
            continue
        if found is not None and found.b.innermost is not None and not found.b.is_along(found.k):
            return True
        if found is None and stage.kind == Kind.REDUCTION and stage.spatial and not is_of_columns(stage):
            if any(access.innermost is stage.spatial[-1] for access in moving_reads(stage)) or _has_windows(stage):
                return True
    return False


def _is_of_neighbours(stage: StageFacts) -> bool:
    """Whether it is a map of known extents whose neighbouring results are made of elements that lie together."""
    if stage.kind != Kind.MAP or not stage.spatial or not stage.is_static:
        return False
    last = stage.spatial[-1]
    return not any(access.depends_on(last) and access.innermost is not last for access in stage.accesses)


def _has_windows(stage: StageFacts) -> bool:
    """Whether neighbouring results are of windows, which lie side by side or overlap."""
    reduction, last = stage.op.reduction if isinstance(stage.op, ComputeOp) else None, stage.spatial[-1]
    for part in parts(reduction.exprs if reduction is not None else ()):
        if isinstance(part, Read) and part.indices and part.indices[-1] is not last:
            index = linear_of(part.indices[-1])
            if _adds(part.indices[-1], last) if index is None else index.of(last) and len(index.terms) > 1:
                return True
    return False


def _adds(index: Expr, axis: IterVar) -> bool:
    """Whether an axis is one of the numbers that are added up."""
    return (
        index is axis or isinstance(index, Call) and index.op == "add" and any(_adds(arg, axis) for arg in index.args)
    )


class AsItIs:
    """The compiler makes loops and vectors by itself: best for contractions, and for what is done before threads would
    be awake."""

    name = "as it is"

    def decide(self, context: Context, group: Group) -> Decision | None:
        if group.root.kind in (Kind.SCAN, Kind.EXTERN):
            return Decision(self.name, group.names, "its elements have an order, or loops of their own")
        if _is_the_compilers(context):
            why = "of maps alone, windows, contractions or sums of columns the compiler's own loops are faster"
            return Decision(self.name, group.names, why)
        if not _is_small(context):
            return None
        work = sum(stage.work for stage in context.program)
        return Decision(self.name, group.names, f"the program has {work} iterations, fewer than threads pay for")

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        for stage in group.inlined:
            # What a reduction reads several times lies together, without conditions, when it is stored.
            if stage.evaluations <= 2 * stage.size or all(reader.kind == Kind.MAP for reader in stage.readers):
                s[stage.op].compute_inline()


class ParallelMap:
    """Threads share the outer axes, vectors go along the last."""

    name = "parallel elementwise"

    def decide(self, context: Context, group: Group) -> Decision | None:
        root = group.root
        if root.kind != Kind.MAP or group.reductions or group.kept or group.anchor or not root.spatial:
            return None
        lanes = _lanes(root)
        row = length_of(root.spatial[-1])
        lanes = lanes if row >= lanes else 1
        return Decision(
            self.name,
            group.names,
            f"{root.size} elements, none of which needs another",
            (choice("lanes", lanes, [one for one in (1, 8, 16, 32) if one <= max(1, row)]),),
        )

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        inline(s, group)
        parallel_rows(s[group.root.op.output(0)], decision["lanes"])


def parallel_rows(stage: Stage, lanes: int) -> None:
    """Threads share all axes but the last, or pieces of the only one; vectors along the last."""
    *outer, last = stage.op.axis
    if not outer:
        block, last = stage.split(last, factor=max(4096, lanes))
        outer = [block]
    if lanes > 1:
        _, lane = stage.split(last, factor=lanes)
        stage.vectorize(lane)
    stage.parallel(stage.fuse(*outer) if len(outer) > 1 else outer[0])


def _part_of(extent: int, wanted: int, lanes: int) -> int:
    """How many of the numbers below an extent are a part: whole vectors, about the wanted number, of which the last
    part lacks few. Only what it lacks is read behind conditions.

    >>> _part_of(10_000_000, 12_649, 16), _part_of(100_003, 1264, 16)
    (13072, 1696)
    """
    near = range(max(1, wanted // 4 // lanes) * lanes, min(4 * wanted, extent) + 1, lanes)

    def cost(part: int) -> float:
        return -extent % part / part + abs(math.log2(part / wanted)) / 8

    return min(near, key=cost, default=extent)


def _several(lanes: int, extents: Sequence[int]) -> int:
    """The lanes of the vectors along the last of a reduction's axes: of several, where a row fills each many times, as
    the sum of a vector waits for that of the one before. It waits longest where the sums are in memory, after each loop
    along one of several axes."""
    if len(extents) > 1 and math.prod(extents) >= 4 * lanes:
        return 4 * lanes
    length = extents[-1]
    return next((n * lanes for n in (4, 2) if length >= 32 * n * lanes), lanes if length >= lanes else 1)


class ReductionInParts:
    """A few long rows: threads share their parts, and then there is one sum of the parts.

    A sum of n numbers one after the other is off by up to n roundings. Of a part, each lane adds as many numbers as
    there are parts, which keeps both sums short.
    """

    name = "reduction in parts"

    def decide(self, context: Context, group: Group) -> Decision | None:
        found = only_reduction(group)
        if found is None or found.op.num_outputs > 1 or not is_static([*found.spatial, *found.reduced]):
            return None
        first, *rest = (length_of(axis) for axis in found.reduced)
        inner = math.prod(rest)
        is_along = all(access.innermost in (found.reduced[-1], None) for access in moving_reads(found))
        if found.size > _FEW or first * inner < _LONG or not is_along:
            return None
        lanes = _lanes(found)
        # Of several axes the outermost one counts the parts.
        wanted = max(1, math.isqrt(first * inner * lanes) // inner) if rest else math.isqrt(first * lanes)
        part = _part_of(first, wanted, 1 if rest else lanes)
        return Decision(
            self.name,
            group.names,
            f"{found.size} results of {first * inner} elements each",
            (
                choice("part", part, (_part_of(first, 4 * part, 1 if rest else lanes),)),
                choice("lanes", _several(lanes, (part, *rest)), (1, lanes, 2 * lanes, 4 * lanes)),
            ),
        )

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        inline(s, group)
        reduction = only_reduction(group)
        assert reduction is not None
        whole = reduction.op.output(0)
        outer = s[whole].op.reduce_axis[0]
        if decision["part"] > 1:
            outer, _ = s[whole].split(outer, factor=decision["part"])
        of_parts = s.rfactor(whole, outer)
        stage = s[of_parts]
        # What was split comes last.
        place = -2 if len(stage.op.reduce_axis) > 1 and decision["part"] > 1 else -1
        partial = in_lanes(s, of_parts, decision["lanes"], place) if decision["lanes"] > 1 else []
        # Not as one axis with the rows: of a quotient it is not known which parts are whole.
        axes = list(stage.op.axis)
        stage.parallel(axes[0])
        for one in partial:
            s[one].compute_at(stage, axes[-1])


def in_lanes(s: Schedule, tensor: Tensor, lanes: int, place: int = -1) -> list[Tensor]:
    """Sums of every so many elements along the reduction's axis at a place, side by side in a vector, then four sums of
    these."""
    made: list[Tensor] = []
    for count in (lanes, 4):
        if made and lanes < 4 * count:
            break
        turn, lane = s[tensor].split(s[tensor].op.reduce_axis[place if not made else -1], factor=count)
        partial = s.rfactor(tensor, lane)
        made.append(partial)
        own = s[partial]
        first, *rest = own.op.axis
        turns = [axis for axis in own.op.reduce_axis if axis.name == turn.name]
        own.reorder(*rest, *(axis for axis in own.op.reduce_axis if axis not in turns), *turns, first)
        for axis in turns:
            if count == lanes:
                own.loop_partition(axis)  # vectors without conditions, but for the last
            else:
                own.unroll(axis)
        own.vectorize(first)
    return made


class ParallelRows:
    """Threads share the rows; of a row the reductions come first, then what is made of them."""

    name = "parallel reduction"

    def decide(self, context: Context, group: Group) -> Decision | None:
        root = group.root
        stages = [stage for stage in (root, *group.reductions) if stage.kind == Kind.REDUCTION]
        if not stages or group.anchor is not None or not root.spatial or root.is_empty:
            return None
        rows = group.rows
        columns = rows.root_columns if rows else ()
        if len(columns) == len(root.spatial):
            return None
        lanes = _lanes(stages[0])
        can_factor = all(stage.op.num_outputs == 1 and is_static(stage.reduced) for stage in stages)
        along = all(any(access.innermost is stage.reduced[-1] for access in stage.accesses) for stage in stages)
        fit = 1
        if can_factor and along:
            fit = min(_several(lanes, [length_of(axis) for axis in stage.reduced]) for stage in stages)
        values = (1, lanes, 2 * lanes, 4 * lanes) if can_factor else (1,)
        return Decision(
            self.name,
            group.names,
            f"{root.size} results" + (", whose elements lie together" if along else ""),
            (choice("lanes", fit, values),),
        )

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        lanes = decision["lanes"]
        inline(s, group)
        root = group.root
        reductions = [stage.op.output(0) for stage in group.reductions]
        if root.kind == Kind.REDUCTION:
            outputs = [root.op.output(place) for place in range(root.op.num_outputs)]
            made = s.cache_write(outputs if len(outputs) > 1 else outputs[0], "local")
            reductions.append(made[0] if isinstance(made, (list, tuple)) else made)
        stage = s[root.op.output(0)]
        rows = group.rows
        places = rows.root_columns if rows else ()
        axes = list(stage.op.axis)
        columns = [axes[place] for place in places]
        outer = [axis for place, axis in enumerate(axes) if place not in places]
        if columns:
            stage.reorder(*outer, *columns)
        row = stage.fuse(*outer) if len(outer) > 1 else outer[0]
        stage.parallel(row)
        for one in group.kept:
            s[one.op].compute_at(stage, row)
        for tensor in reductions:
            if lanes > 1:
                for partial in in_lanes(s, tensor, lanes):
                    s[partial].compute_at(stage, row)
            s[tensor].compute_at(stage, row)


class ParallelTiles:
    """Threads share tiles of the results, whose sums stay in vector registers."""

    name = "tiles in vector registers"

    def decide(self, context: Context, group: Group) -> Decision | None:
        anchor = group.anchor
        found = contraction_of(anchor) if anchor is not None else None
        if found is None:
            return None
        return Decision(
            self.name,
            group.names,
            f"{found.M} rows, {found.N} columns, K {found.K}",
            (choice("rows", 4, (1, 2, 4, 8)), choice("columns", 32, (16, 32, 64))),
        )

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        anchor = group.anchor
        found = contraction_of(anchor) if anchor is not None else None
        assert found is not None and anchor is not None
        stage, sums = attached(s, group)
        for operand in group.operands:
            parallel_rows(s[operand.op.output(0)], 1)
        axes = list(stage.op.axis)
        places = {id(axis): group.anchor_axes[i][0] for i, axis in enumerate(anchor.spatial)}
        row, column = (axes[max(places[id(axis)] for axis in some)] for some in (found.m, found.n))
        others = [axis for axis in axes if axis is not row and axis is not column]
        io, ii = stage.split(row, factor=self._tile(row, decision["rows"]))
        jo, ji = stage.split(column, factor=self._tile(column, decision["columns"]))
        stage.reorder(*others, io, jo, ii, ji)
        tile = stage.fuse(*others, io, jo)
        stage.parallel(tile)
        own = s[sums]
        own.compute_at(stage, tile)
        by_id = {id(axis): place for place, axis in enumerate(anchor.spatial)}
        i = own.op.axis[by_id[id(max(found.m, key=lambda axis: places[id(axis)]))]]
        j = own.op.axis[by_id[id(max(found.n, key=lambda axis: places[id(axis)]))]]
        own.reorder(*own.op.reduce_axis, i, j)
        own.unroll(i)
        own.vectorize(j)

    def _tile(self, axis: IterVar, most: int) -> int:
        extent = length_of(axis)
        return min(most, power_of_two(extent))


class Serial:
    """One thread, loops as they are."""

    name = "serial"

    def decide(self, context: Context, group: Group) -> Decision | None:
        return Decision(self.name, group.names, "there is nothing that threads could share")

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        inline(s, group)


CPU_RULES = (
    AsItIs(),
    PackedTiles(),
    ParallelTiles(),
    ReductionInParts(),
    ColumnsInParts(),
    ParallelRows(),
    ParallelMap(),
    Serial(),
)
