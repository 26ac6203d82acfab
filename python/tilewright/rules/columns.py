"""Sums of columns on a processor: threads share parts of the rows, and neighbouring columns are one vector."""

from __future__ import annotations

import math

from ..dtypes import dtype_of
from ..te import Tensor
from ..te.schedule import Schedule
from .context import Context, choice
from .elementwise import inline
from .facts import Access, Kind, StageFacts, is_static, length_of
from .groups import Group
from .plan import Decision

__all__ = ["ColumnsInParts", "is_of_columns", "moving_reads", "only_reduction"]

# So many rows at least have parts, and so many elements are worth waking other threads.
_MANY, _WORTH = 512, 1 << 17
# Bytes of the sums that one loop over the rows adds to.
_TILE = 1024


def moving_reads(stage: StageFacts) -> list[Access]:
    """The reads of a reduction that move along with it: not those of one number a row."""

    def moves(access: Access) -> bool:
        terms = [index and [axis for axis, _ in index.terms.values()] for index in access.indices]
        return any(axes is None or any(axis in stage.reduced for axis in axes) for axes in terms)

    return [access for access in stage.accesses if moves(access)]


def is_of_columns(stage: StageFacts) -> bool:
    """Whether a reduction is of columns that are long enough for parts.

    Its results lie together, as what they are made of does. Nothing reads them but maps of one for each.
    """
    if stage.kind != Kind.REDUCTION or stage.op.num_outputs > 1 or not stage.spatial:
        return False
    if not is_static([*stage.spatial, *stage.reduced]) or stage.work < _WORTH:
        return False
    if math.prod(length_of(axis) for axis in stage.reduced) < _MANY or length_of(stage.reduced[0]) < 2:
        return False
    if any(access.innermost is not stage.spatial[-1] for access in moving_reads(stage)):
        return False
    if any(reader.kind != Kind.MAP or reader.size != stage.size for reader in stage.readers):
        return False
    return stage.is_output or len(stage.readers) == 1


def only_reduction(group: Group) -> StageFacts | None:
    """The root, or the only reduction that the root reads."""
    root = group.root
    if root.is_empty or group.kept or not group.is_plain_anchor:
        return None
    if root.kind == Kind.REDUCTION:
        return None if group.reductions else root
    return group.reductions[0] if len(group.reductions) == 1 and root.size == group.reductions[0].size else None


class ColumnsInParts:
    """Columns of many rows: threads share parts of the rows, and then there is one sum of the parts.

    A tile of neighbouring sums stays in the cache for all rows of a part. Each adds as many numbers as there are parts,
    which keeps both sums short, and so rounds little.
    """

    name = "columns in parts"

    def decide(self, context: Context, group: Group) -> Decision | None:
        found = only_reduction(group)
        if found is None or not is_of_columns(found) or len(found.spatial) != len(group.root.spatial):
            return None
        first, *rest = (length_of(axis) for axis in found.reduced)
        rows = first * math.prod(rest)
        wanted = max(1, math.isqrt(rows) // math.prod(rest))
        near = range(max(1, wanted // 2), min(first, 2 * wanted) + 1)
        part = min(near, key=lambda one: -first % one / one + abs(math.log2(one / wanted)) / 4)
        columns = length_of(found.spatial[-1])
        bits = max(8, dtype_of(found.op.output(0).dtype).bits)
        tile = min(8 * _TILE // bits, 1 << max(2, (columns - 1).bit_length()))
        return Decision(
            self.name,
            group.names,
            f"{found.size} results of {rows} elements each, whose neighbours lie together",
            (
                choice("part", part, [one for one in (2 * part, 4 * part) if one <= first]),
                choice("tile", tile, [one for one in (tile // 4, tile // 2) if one >= 4]),
            ),
        )

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        inline(s, group)
        reduction = only_reduction(group)
        assert reduction is not None
        whole, tile = reduction.op.output(0), decision["tile"]
        outer, _ = s[whole].split(s[whole].op.reduce_axis[0], factor=decision["part"])
        of_parts = s.rfactor(whole, outer)
        self._in_tiles(s, of_parts, s.cache_write(of_parts, "local"), tile)
        root = group.root.op.output(0)
        total = s.cache_write(whole, "local") if root is whole else whole
        s[total].set_scope("local")
        self._in_tiles(s, root, total, max(4, tile // 4))  # a tile of them is little work

    def _in_tiles(self, s: Schedule, of: Tensor, sums: Tensor, tile: int) -> None:
        """Threads share tiles of neighbouring results, whose sums are computed there one row after the other."""
        stage, own = s[of], s[sums]
        *others, last = stage.op.axis
        turn, lane = stage.split(last, factor=tile)
        stage.vectorize(lane)
        own.compute_at(stage, turn)
        *rows, column = own.op.axis
        own.reorder(*rows, *own.op.reduce_axis, column)
        own.vectorize(column)
        stage.parallel(stage.fuse(*others, turn) if others else turn)
