"""How kernels of reductions read rows: neighbours at once, in vectors, and once where rows fit registers."""

from __future__ import annotations

from collections.abc import Sequence

from ..te import Tensor, thread_axis
from ..te.expr import IterVar
from ..te.schedule import Schedule, Stage
from ..te.tensor import PlaceholderOp
from .context import item_bytes
from .facts import Access, Kind, StageFacts, extent_of, is_static, size_of
from .groups import Group

__all__ = [
    "IN_FLIGHT",
    "columns_of",
    "kept_by",
    "lane_of",
    "lanes_of",
    "moves_neighbours",
    "read_together",
    "rows_to_keep",
    "streamed",
]

# The bytes that a thread moves at once.
_BYTES = 16
_KEPT, _KEPT_OF_MANY = 64, 40
IN_FLIGHT = 8
"""Elements of a column that a thread reads at once."""


def kept_by(threads: int) -> int:
    """The longest row that so many threads keep in their registers, of which a thread of 1024 has 64.

    >>> kept_by(512), kept_by(1024)
    (32768, 40960)
    """
    return (_KEPT if threads <= 512 else _KEPT_OF_MANY) * threads


def _column_of(group: Group, stage: StageFacts) -> int | None:
    """The place of the innermost column among the stage's axes, reduced ones last; None where there is none."""
    if stage.kind == Kind.REDUCTION:
        return len(stage.spatial) + len(stage.reduced) - 1
    if group.rows is None:
        return None
    rows = group.rows
    label = rows.root_columns[-1] if rows.root_columns else len(group.root.spatial) + len(rows.columns) - 1
    labels = group.rows.labels.get(stage.op)
    return labels.index(label) if labels is not None and label in labels else None


def _members(group: Group) -> list[StageFacts]:
    return [*group.stages, *group.inlined]


def _column_reads(group: Group, stage: StageFacts) -> list[tuple[Access, bool]]:
    """What the stage reads that differs along the column, and of each whether neighbours there are neighbours in
    memory."""
    place = _column_of(group, stage)
    if place is None:
        return []
    column = (*stage.spatial, *stage.reduced)[place]
    found: list[tuple[Access, bool]] = []
    for access in stage.accesses:
        if access.depends_on(column):
            found.append((access, _is_plain(access, column)))
    return found


def _is_plain(access: Access, column: IterVar) -> bool:
    """Whether neighbours along the column, which no other index depends on, are neighbours in memory."""
    others = access.indices[:-1]
    is_alone = all(index is not None and not index.of(column) for index in others)
    return is_alone and bool(access.axes) and access.axes[-1] is column


def _read_through(group: Group, stage: StageFacts, column: IterVar) -> list[tuple[Access, bool]] | None:
    """What a stage reads of memory along one of its axes, by way of the maps that are computed in the place of reads.
    None where such a map is read in another way than along one of its own axes."""
    inlined = {one.op: one for one in group.inlined}
    found: list[tuple[Access, bool]] = []
    for access in stage.accesses:
        if not access.depends_on(column):
            continue
        through = inlined.get(access.tensor.op)
        if through is None:
            found.append((access, _is_plain(access, column)))
            continue
        alike = all(one.axes == access.axes for one in stage.reads_of(through.op))
        if not alike or None in access.axes or sum(axis is column for axis in access.axes) != 1:
            return None
        place = next(place for place, axis in enumerate(access.axes) if axis is column)
        further = _read_through(group, through, through.spatial[place])
        if further is None:
            return None
        found += further
    return list({id(access): (access, is_plain) for access, is_plain in found}.values())


def lanes_of(group: Group) -> int:
    """How many neighbours of a row a thread takes at once.

    It is as many as 16 bytes hold of the widest type that is moved along rows, if that divides the innermost of the
    columns. It is 1 if a stage reads in another order.
    """
    moved = _moved(group)
    if not moved:
        return 1
    innermost = next(stage.reduced[-1] for stage in (group.root, *group.reductions) if stage.kind == Kind.REDUCTION)
    columns = size_of([innermost])
    lanes = _BYTES // max(map(item_bytes, moved))
    while lanes > 1 and columns % lanes:
        lanes //= 2
    return max(1, lanes)


def moves_neighbours(group: Group) -> bool:
    """Whether all that is moved along rows is moved in the order of memory, so that a thread can keep its part."""
    return bool(_moved(group))


def _moved(group: Group) -> list[Tensor]:
    """What is moved along rows, in the order of memory; nothing if a stage reads in another order."""
    stages = [stage for stage in (group.root, *group.reductions) if stage.kind == Kind.REDUCTION]
    if any(not is_static(stage.reduced) for stage in stages):
        return []
    own = {stage.op for stage in _members(group)}
    moved: list[Tensor] = []
    if group.rows is None and group.root.kind == Kind.REDUCTION:
        reads = _read_through(group, group.root, group.root.reduced[-1])
        if reads is None or not all(is_plain for _, is_plain in reads):
            return []
        moved = [access.tensor for access, _ in reads]
    for stage in _members(group):
        if group.rows is None or stage.kind == Kind.MAP and _column_of(group, stage) is None:
            continue
        for access, is_plain in _column_reads(group, stage):
            if access.tensor.op in own:
                continue
            if not is_plain:
                return []
            moved.append(access.tensor)
    if group.root.kind == Kind.MAP and group.rows is not None and group.rows.root_columns:
        if group.rows.root_columns[-1] != len(group.root.spatial) - 1:
            return []
        moved.append(group.root.op.output(0))
    return moved


def _sources(group: Group, stage: StageFacts, seen: set[int] | None = None) -> set[Tensor]:
    """The tensors of memory that a stage reads along the column, by way of what is computed in the place of reads."""
    inlined = {one.op: one for one in group.inlined}
    found: set[Tensor] = set()
    for access, _ in _column_reads(group, stage):
        through = inlined.get(access.tensor.op)
        if through is not None:
            found |= _sources(group, through)
        elif isinstance(access.tensor.op, PlaceholderOp) or access.tensor.op not in {one.op for one in group.stages}:
            found.add(access.tensor)
    return found


def rows_to_keep(group: Group) -> list[tuple[Tensor, list[StageFacts]]]:
    """The tensors of which a row is read more than once, in all rows and columns, and the stages that name them."""
    if group.rows is None or len(group.rows.columns) != 1:
        return []
    computed = [stage for stage in group.stages if stage.kind in (Kind.MAP, Kind.REDUCTION)]
    found: list[tuple[Tensor, list[StageFacts]]] = []
    counted: dict[Tensor, int] = {}
    for stage in computed:
        for tensor in _sources(group, stage):
            counted[tensor] = counted.get(tensor, 0) + 1
    rank = len(group.rows.root_rows) + 1
    for tensor, count in counted.items():
        names = [stage for stage in _members(group) if stage.reads_of(tensor.op)]
        accesses = [access for stage in names for access in stage.reads_of(tensor.op)]
        is_whole = all(len([axis for axis in access.axes if axis is not None]) == rank for access in accesses)
        is_copied = tensor.op.num_outputs == 1  # what is of several tensors, no primitive copies
        if is_copied and count > 1 and tensor.ndim == rank and is_whole and len(accesses) == len(names):
            found.append((tensor, names))
    return found


def streamed(group: Group, stage: StageFacts) -> list[Tensor]:
    """What a reduction reads along its rows, and stages in registers of a thread, a vector at once."""
    own = {one.op for one in (*group.kept, *group.reductions)}
    if group.rows is None:
        # Maps in between are computed in the registers, of what they read in vectors.
        direct = [access for access in stage.accesses if access.depends_on(stage.reduced[-1])]
        some = dict.fromkeys(access.tensor for access in direct if access.tensor.op.num_outputs == 1)
        # Of a tensor that is read at several places a box of both would be copied.
        read = [*direct, *(access for one in some for access in stage.reads_of(one.op))]
        alike = all(access.axes == direct[0].axes for access in read)
        return [one for one in some if alike and extent_of(one.shape[-1]) > 1]
    reads: Sequence[tuple[Access, bool]] = _column_reads(group, stage)
    # Of a tensor that is read with steps, as by a dilated window, what is between would be copied.
    places = [access.tensor for access, is_plain in reads if is_plain and access.tensor.op.num_outputs == 1]
    tensors = dict.fromkeys(tensor for tensor in places if tensor.op not in own)
    # Of a tensor that is read at several places a box of both would be copied.
    return [one for one in tensors if extent_of(one.shape[-1]) > 1 and len(stage.reads_of(one.op)) == 1]


def columns_of(group: Group, stage: StageFacts) -> list[Tensor]:
    """What a reduction reads down columns, if it reads all of that so: a thread can have several elements at once."""
    if len(stage.reduced) != 1 or not is_static(stage.reduced):
        return []
    own = {one.op for one in (*group.kept, *group.reductions)}
    column, found = stage.reduced[0], list[Tensor]()
    for access in stage.accesses:
        if not access.depends_on(column):
            continue
        is_plain = [axis is column for axis in access.axes].count(True) == 1 and access.innermost is not column
        is_alone = sum(index is None or bool(index.of(column)) for index in access.indices) == 1
        if not (is_plain and is_alone) or access.tensor.op in own or access.tensor.op.num_outputs > 1:
            return []
        if len(stage.reads_of(access.tensor.op)) > 1:
            return []
        found.append(access.tensor)
    return found


def lane_of(stage: Stage, axes: Sequence[IterVar], lanes: int) -> tuple[IterVar, IterVar | None]:
    """Axes as one, and the axis of `lanes` neighbours along the innermost of them, where these are several."""
    if len(axes) == 1 or lanes == 1:
        return (stage.fuse(*axes) if len(axes) > 1 else axes[0]), None
    last, lane = stage.split(axes[-1], factor=lanes)
    return stage.fuse(*axes[:-1], last), lane


def read_together(
    s: Schedule, stage: Stage, turn: IterVar, rest: IterVar, reads: Sequence[Tensor], tag: str, at_once: int = IN_FLIGHT
) -> IterVar:
    """A reduction reads the elements of a turn to registers before it adds the first: all are on their way at once.

    Each has a condition on the column, and a load behind such a condition would wait for the sum before. Threads of
    `tag` share the turn, whose axis is the result.
    """
    thread, rest = stage.split(rest, factor=at_once)
    stage.bind(thread, thread_axis(tag))
    stage.unroll(rest)
    for read in reads:
        s[read].compute_at(stage, turn)
        for axis in s[read].op.axis:
            s[read].unroll(axis)
    return turn
