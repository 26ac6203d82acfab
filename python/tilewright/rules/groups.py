"""Which stages are computed where: in the place of their reads, in one kernel with others, or in a kernel alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from math import prod

from ..te.tensor import Operation
from .facts import Access, Kind, Program, StageFacts, extent_of, is_static
from .labels import Labels

__all__ = ["Group", "Rows", "groups_of"]

# A stage is computed in the place of its reads where that repeats it at most so many times, or adds so many additions
# to an element, and expressions stay below a limit.
_REPEATS, _FREE, _LONGEST = 2, 4, 400
# A stage of so many additions is computed in each of several kernels that read it.
_CHEAP = 12
# A reduction along so many elements is worth a kernel that divides it, where there are few rows.
_LONG_COLUMN = 512
# So many threads of a processor are busy with a row each.
_THREADS = 8
# Rows that the registers of a block hold.
_IN_REGISTERS = 40960


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that the reductions of a kernel have in common. Each result belongs to a row, and rows are along
    `columns`.

    `labels` maps each axis of each stage to an axis of the kernel's root or to a column, as a number. An axis of one
    element that is neither has a negative number.
    """

    labels: dict[Operation, tuple[int, ...]]
    columns: tuple[int, ...]
    """The extents along which is reduced."""
    root_columns: tuple[int, ...]
    """Which axes of the root are the columns; none where it has one element a row."""
    root_rows: tuple[int, ...]


@dataclass(slots=True, eq=False)
class Group:
    """The stages of one kernel, which a `Rule` decides about.

    The root stores the result. `reductions` and `kept` are computed in its loops.
    """

    root: StageFacts
    reductions: list[StageFacts] = field(default_factory=list[StageFacts])
    kept: list[StageFacts] = field(default_factory=list[StageFacts])
    inlined: list[StageFacts] = field(default_factory=list[StageFacts])
    rows: Rows | None = None
    anchor: StageFacts | None = None
    """The contraction, which may be the root itself."""
    anchor_axes: tuple[tuple[int, ...], ...] = ()
    """Which axis of the root each axis of the contraction is; several that count its elements in row-major order."""
    operands: list[StageFacts] = field(default_factory=list[StageFacts])
    """Maps that the contraction, or a reduction over windows, alone reads, computed where they are staged."""

    @property
    def is_plain_anchor(self) -> bool:
        """Whether there is no contraction, or nothing but one: what rules for other reductions may take, too."""
        return not self.operands and (self.anchor is None or self.anchor is self.root)

    @property
    def stages(self) -> list[StageFacts]:
        """All stages of the kernel, the root first."""
        some = [] if self.anchor is None or self.anchor is self.root else [self.anchor]
        return [self.root, *some, *self.reductions, *self.kept, *self.operands]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the stages, the root's first."""
        return tuple(stage.name for stage in (*self.stages, *self.inlined))

    def is_computed(self, operand: StageFacts) -> bool:
        """Whether an operand is made of what is computed in the place of its reads: it is then no copy of a tensor."""
        inside = {stage.op for stage in self.inlined}
        return any(access.tensor.op in inside for access in operand.accesses)

    def accesses(self) -> list[Access]:
        """What its stages read of memory: of all but its own."""
        own = {stage.op for stage in (*self.stages, *self.inlined)}
        some = [access for stage in (*self.stages, *self.inlined) for access in stage.accesses]
        return [access for access in some if access.tensor.op not in own]


def groups_of(
    program: Program,
    parallel: int,
    is_contraction: Iterable[Operation] = (),
    is_of_matrices: Collection[Operation] = (),
    is_staged: Callable[[Group, StageFacts], bool] = lambda group, stage: False,
    *,
    is_processor: bool = False,
) -> list[Group]:
    """The kernels of a program in the order of their execution. `parallel` is how many threads keep the device busy:
    with fewer rows, long reductions are kernels of their own. On a processor, each thread has a row. Rows and columns
    of those `is_of_matrices` may each be several axes of the kernel's root. A map that a group's reductions alone read
    is computed with them where `is_staged` says so."""
    taken: dict[Operation, Group] = {}
    anchors = set(is_contraction)
    _count_evaluations(program, anchors)
    groups: list[Group] = []
    for stage in program.backwards():
        if stage.op in taken or _join_several(stage, groups, taken, anchors):
            continue
        group = Group(stage)
        groups.append(group)
        taken[stage.op] = group
        if stage.kind in (Kind.SCAN, Kind.EXTERN):
            continue
        if stage.op in anchors:
            group.anchor, group.anchor_axes = stage, tuple((place,) for place in range(len(stage.spatial)))
        else:
            _join_anchor(program, group, taken, anchors, is_of_matrices)
        if group.anchor is None:
            _join_rows(program, group, taken, anchors, parallel, is_processor)
            for stage in program.backwards():
                if stage.op not in taken and can_inline(stage) and is_staged(group, stage):
                    group.operands.append(stage)
                    taken[stage.op] = group
        else:
            _join_operands(program, group, taken)
        _join_maps(program, group, taken, anchors)
    return groups[::-1]


def _count_evaluations(program: Program, anchors: set[Operation]) -> None:
    """How often an element of each stage would be computed if all maps were computed in the place of their reads."""
    for stage in program.backwards():
        count = 0
        for reader in stage.readers:
            if reader.kind in (Kind.SCAN, Kind.EXTERN):
                count += stage.size
                continue
            inside = reader.kind == Kind.MAP and not reader.is_output
            times = reader.evaluations if inside else reader.work
            count += times * max(1, len(reader.reads_of(stage.op)))
        stage.evaluations = count if not stage.is_output else max(count, stage.size)


def can_inline(stage: StageFacts) -> bool:
    """Whether it may be computed in the place of its reads at all."""
    return (
        stage.kind == Kind.MAP
        and not stage.is_output
        and not stage.is_stored
        and stage.op.num_outputs == 1
        and all(reader.kind in (Kind.MAP, Kind.REDUCTION) for reader in stage.readers)
    )


def _join_anchor(
    program: Program,
    group: Group,
    taken: dict[Operation, Group],
    anchors: set[Operation],
    is_of_matrices: Collection[Operation],
) -> None:
    """A contraction that the root reads element by element, and the maps between the two."""
    root = group.root
    if root.kind != Kind.MAP or root.op.num_outputs > 1 or not is_static(root.spatial[1:]):
        return
    found, between = Labels(root), list[StageFacts]()
    for stage in program.backwards():
        if stage.op in taken or stage.is_output or not stage.readers:
            continue
        if any(reader.op not in found.labels for reader in stage.readers):
            continue
        if stage.op in anchors:
            labels = found.labels_by_readers(stage)
            if labels is not None and len(labels) == len(root.spatial) and min(labels, default=0) >= 0:
                group.anchor, group.anchor_axes = stage, tuple((label,) for label in labels)
                break
            several = found.several_by_readers(stage) if stage.op in is_of_matrices else None
            if several is not None:
                group.anchor, group.anchor_axes = stage, several
                break
        elif can_inline(stage):
            found.add(stage)
            if stage.op in found.labels:
                between.append(stage)
    if group.anchor is None:
        return
    taken[group.anchor.op] = group
    needed = {group.anchor.op}
    for stage in reversed(between):  # those that the anchor is read by first
        if any(producer.op in needed for producer in program.producers(stage)):
            needed.add(stage.op)
            group.inlined.append(stage)
            taken[stage.op] = group
    group.inlined.reverse()


def _join_operands(program: Program, group: Group, taken: dict[Operation, Group]) -> None:
    """Maps that the contraction reads and nothing else does, where an element is computed about once a tile."""
    anchor = group.anchor
    assert anchor is not None
    for stage in program.producers(anchor):
        if stage.op not in taken and can_inline(stage) and stage.readers == [anchor] and stage.cost <= 32:
            group.operands.append(stage)
            taken[stage.op] = group


def _join_maps(program: Program, group: Group, taken: dict[Operation, Group], anchors: set[Operation]) -> None:
    """Maps that only this kernel reads, computed in the place of their reads where that is cheap."""
    members = {stage.op: stage.cost for stage in (*group.stages, *group.inlined)}
    for stage in program.backwards():
        if stage.op in taken or not can_inline(stage):
            continue
        if not stage.readers or any(reader.op not in members for reader in stage.readers):
            continue
        if group.anchor in stage.readers:
            continue
        repeats = stage.evaluations / max(1, stage.size)
        cost = stage.cost + max(members[reader.op] for reader in stage.readers)
        if (repeats <= _REPEATS or stage.cost <= _FREE or (repeats <= 16 and stage.cost <= 16)) and cost <= _LONGEST:
            group.inlined.append(stage)
            taken[stage.op] = group
            members[stage.op] = cost


def _join_several(
    stage: StageFacts, groups: Collection[Group], taken: dict[Operation, Group], anchors: set[Operation]
) -> bool:
    """A map that several kernels read, computed in each of them: that costs less than memory for its elements where it
    is cheap, and made of one tensor of as many elements."""
    if not can_inline(stage) or not stage.readers or stage.cost > _CHEAP or stage.op.num_outputs > 1:
        return False
    if any(reader.op in anchors or reader.op not in taken for reader in stage.readers):
        return False
    # A reader that is itself computed in several kernels reads it in each.
    of_readers = [group for reader in stage.readers for group in groups if reader in (*group.stages, *group.inlined)]
    if stage.evaluations > len(of_readers) * stage.size or not is_static(stage.spatial):
        return False
    large = [access for access in stage.accesses if prod(map(extent_of, access.tensor.shape)) * 4 > stage.size]
    if len(large) > 1:
        return False
    several = list(dict.fromkeys(of_readers))
    if any(group.anchor is not None or group.kept for group in several):
        return False
    for group in several:
        group.inlined.append(stage)
    taken[stage.op] = several[0]
    return True


def _join_rows(
    program: Program, group: Group, taken: dict[Operation, Group], anchors: set[Operation], parallel: int,
    is_processor: bool,
) -> None:  # fmt: skip
    """Reductions of rows, and the maps between them, where all have the same rows and columns."""
    root = group.root
    found = Labels(root)
    if not found.is_possible:
        return
    for stage in program.backwards():
        if stage.op in taken or stage.op in anchors or stage.is_output or stage.kind in (Kind.SCAN, Kind.EXTERN):
            continue
        if not stage.readers or any(reader.op not in found.labels for reader in stage.readers):
            continue
        found.add(stage)
    reductions = [stage for stage in found.members if stage.kind == Kind.REDUCTION]
    if not reductions or found.columns is None:
        return
    rows = prod(extent_of(root.spatial[place].dom.extent) for place in found.rows)  # type: ignore[union-attr]
    along = prod(found.columns)
    is_split = rows * 2048 < parallel and along > _IN_REGISTERS or rows * 256 < parallel and along > 2 * _IN_REGISTERS
    if not found.root_columns and len(reductions) == 1 and not _lies_along(reductions[0]):
        # Neighbouring threads have neighbouring results: few are divided sooner.
        is_split = rows * 16 < parallel and along >= _LONG_COLUMN
    if is_processor:
        is_split = rows < _THREADS and along > _IN_REGISTERS and all(map(_lies_along, reductions))
    if is_split and (len(reductions) > 1 or found.root_columns or root.kind == Kind.REDUCTION):
        # Few long rows: each of the reductions is divided among blocks, which takes a kernel of its own. What is made
        # of the results of one alone is computed where its parts are combined.
        return
    group.rows = Rows(dict(found.labels), found.columns, found.root_columns, found.rows)
    for stage in found.members:
        if stage.kind == Kind.REDUCTION:
            group.reductions.append(stage)
            taken[stage.op] = group
    needed = {stage.op for stage in group.stages}
    for stage in found.members:  # readers first
        if stage.kind == Kind.MAP and all(
            reader.op in needed or reader in group.inlined or reader in group.kept for reader in stage.readers
        ):
            if not can_inline(stage):
                continue
            is_full = len([label for label in found.labels[stage.op] if label >= 0]) == len(found.rows) + len(
                found.columns
            )
            is_repeated = stage.cost > _FREE and stage.evaluations > stage.size
            # Of several columns a thread's part is no digit of the places.
            fits = along <= _IN_REGISTERS and len(found.columns) == 1
            if is_full and is_repeated and fits and is_static(stage.spatial):
                group.kept.append(stage)
            else:
                group.inlined.append(stage)
            taken[stage.op] = group


def _lies_along(stage: StageFacts) -> bool:
    """Whether what a reduction reads lies together along what is reduced."""
    largest = max(stage.accesses, key=lambda access: prod(map(extent_of, access.tensor.shape)), default=None)
    return largest is None or largest.innermost is None or any(largest.innermost is axis for axis in stage.reduced)
