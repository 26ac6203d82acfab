"""Contractions and convolutions without tensor cores: tiles in shared memory, and tiles of those in registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from ..te import Tensor, thread_axis
from ..te.expr import IterVar
from ..te.schedule import Schedule, Stage
from .context import Context, choice, item_bytes, power_of_two
from .contraction import Contraction, contraction_of
from .elementwise import inline
from .facts import Access, extent_of, is_static, length_of
from .groups import Group
from .plan import Decision

__all__ = ["TiledContraction", "anchored", "attached", "extents_of"]

# What a thread fetches of a step at most on its way by registers.
_FETCHED = 32
# The largest window that a step has whole, and the fewest neighbours that a block has of a longer axis.
_WINDOW, _NEIGHBOURS = 9, 8
_TILES = ((128, 128), (64, 64), (32, 64), (16, 64), (64, 32), (32, 32), (16, 16))


def extents_of(axes: Sequence[IterVar]) -> list[int]:
    return [extent_of(axis.dom.extent) for axis in axes if axis.dom]


def attached(s: Schedule, group: Group) -> tuple[Stage, Tensor]:
    """The stage that stores a contraction's results, and the tensor of its sums, which that stage reads."""
    inline(s, group)
    root, anchor = group.root, group.anchor
    assert anchor is not None
    if anchor is root:
        sums = s.cache_write(root.op.output(0), "local")
        return s[root.op.output(0)], sums
    sums = anchor.op.output(0)
    s[sums].set_scope("local")
    return s[root.op.output(0)], sums


def anchored(stage: Stage, group: Group) -> list[IterVar]:
    """The axes of the stage that stores a contraction's results, as the contraction has them."""
    axes = [[stage.op.axis[place] for place in some] for some in group.anchor_axes]
    in_order = [axis for some in axes for axis in some]
    if in_order != list(stage.op.axis):
        stage.reorder(*in_order)
    return [some[0] if len(some) == 1 else stage.fuse(*some) for some in axes]


class TiledContraction:
    """A block computes a tile of the results, a thread a tile of that in registers; steps along K go by way of shared
    memory. Windows of convolutions are read as they are: no matrix of them is made."""

    name = "tiles in shared memory"

    def decide(self, context: Context, group: Group) -> Decision | None:
        found = contraction_of(group.anchor) if group.anchor is not None else None
        if found is None or context.gpu is None:
            return None
        blocks = context.gpu.sms
        fitting = [tile for tile in _TILES if tile[0] < 2 * found.M and tile[1] < 2 * found.N] or [(16, 16)]
        full = [one for one in fitting if -(-found.M // one[0]) * -(-found.N // one[1]) * found.B >= blocks]
        tile = full[0] if full else fitting[-1]
        # Blocks of less than two warps leave an SM idle.
        threads = 8 if tile == (128, 128) else 4 if tile[0] * tile[1] >= 2048 else 2
        step = 16 if self._bytes(found, tile, 16) <= context.gpu.shared_bytes_per_block // 4 else 8
        why = (
            f"{found.M} rows, {found.N} columns, K {found.K}"
            + (f", {found.B} of them" if found.B > 1 else "")
            + (
                f"; no tensor core multiplies {found.a.tensor.dtype} so"
                if found.stage.is_static
                else "; tensor cores would need a constant number of rows"
                if is_static(found.stage.reduced)
                else "; tensor cores would need operands whose columns a constant counts"
            )
        )
        return Decision(
            self.name,
            group.names,
            why,
            (
                choice("tile", tile, fitting),
                choice("thread_tile", threads, (2, 4, 8)),
                choice("block_k", step, (4, 8, 16)),
            ),
        )

    def _bytes(self, found: Contraction, tile: tuple[int, int], step: int) -> int:
        """What a step of both operands takes at least; windows take more."""
        a, b = item_bytes(found.a.tensor), item_bytes(found.b.tensor)
        return step * (tile[0] * a + tile[1] * b)

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        anchor = group.anchor
        found = contraction_of(anchor) if anchor is not None else None
        assert found is not None and anchor is not None
        stage, sums = attached(s, group)
        axes = {id(axis): own for axis, own in zip(anchor.spatial, anchored(stage, group))}
        places = {id(axis): some for axis, some in zip(anchor.spatial, group.anchor_axes)}
        rows, columns, others = (
            [axes[id(axis)] for axis in sorted(some, key=lambda axis: places[id(axis)])]
            for some in (found.m, found.n, found.batch)
        )
        by, ty, ri, rows_of_block = self._split(stage, rows, decision["tile"][0], decision["thread_tile"])
        bx, tx, rj, columns_of_block = self._split(stage, columns, decision["tile"][1], decision["thread_tile"])
        stage.reorder(*others, *by, *bx, *ty, *tx, *ri, *rj)
        stage.bind(stage.fuse(*others, *by, *bx), thread_axis("blockIdx.x"))
        y, x = stage.fuse(*ty), stage.fuse(*tx)
        stage.bind(y, thread_axis("threadIdx.y"))
        stage.bind(x, thread_axis("threadIdx.x"))

        own = s[sums]
        own.compute_at(stage, x)
        reduced = list(own.op.reduce_axis)
        extents = extents_of(found.k)
        windows = self._windows(found)
        longest = max(
            (place for place in range(len(reduced)) if place not in windows), key=lambda place: extents[place]
        )
        of_step = self._of_step(decision, extents[longest], prod(extents[place] for place in windows))
        ko, ki = own.split(reduced[longest], factor=of_step)
        outer = [axis for place, axis in enumerate(reduced) if place != longest and place not in windows]
        inner = [ki, *(reduced[place] for place in windows)]
        own.reorder(*outer, ko, *inner, *own.op.axis)
        step = own.fuse(*outer, ko) if outer else ko
        for axis in (*inner, *own.op.axis):
            own.unroll(axis)
        within = {id(found.k[longest]): min(of_step, extents[longest])}
        within |= {id(found.k[place]): extents[place] for place in windows}
        for some, size in ((found.m, decision["tile"][0]), (found.n, decision["tile"][1])):
            within |= {id(axis): of_block for axis, of_block in zip(some, self._of_block(some, size))}
        elements = [self._box(access, within) for access in (found.a, found.b)]
        threads = rows_of_block * columns_of_block
        stored = sum(item_bytes(access.tensor) * count for access, count in zip((found.a, found.b), elements))
        is_small = sum(elements) <= _FETCHED * threads
        limit = context.gpu.shared_bytes_per_block if context.gpu else 0
        operands = {stage.op: stage.op.output(0) for stage in group.operands}
        for access in (found.a, found.b):
            tensor = access.tensor
            if tensor.op in operands:
                shared = tensor
                s[shared].set_scope("shared")
            else:
                shared = s.cache_read(tensor, "shared", [sums])
            local = s.cache_read(shared, "local", [sums])
            s[shared].compute_at(own, step)
            s[local].compute_at(own, inner[-1])
            self._fetch(s[shared], rows_of_block, columns_of_block, is_small)
        if found.K > of_step * prod(extents[place] for place in windows) and is_small and 2 * stored <= limit // 2:
            # All loads of the next step are on their way while this one is multiplied.
            own.software_pipeline(step, stages=2)

    def _windows(self, found: Contraction) -> list[int]:
        """The reduced axes along which a small window moves: all of it is of one step, which has its elements once."""
        places: list[int] = []
        for place, axis in enumerate(found.k):
            moved = [index for access in (found.a, found.b) for index in access.indices if index and index.of(axis)]
            if any(len(index.terms) > 1 for index in moved):
                places.append(place)
        size = prod(extents_of([found.k[place] for place in places]))
        return places if places and len(places) < len(found.k) and size <= _WINDOW else []

    def _of_step(self, decision: Decision, extent: int, window: int) -> int:
        """How many of the longest axis a step has. Large tiles of a thread are unrolled less often."""
        block_k = decision["block_k"]
        unrolled = block_k if decision["thread_tile"] == 8 else 2 * block_k
        wanted = block_k if window == 1 else max(1, unrolled // window)
        return min(power_of_two(wanted), power_of_two(2 * extent - 1))

    def _of_block(self, axes: Sequence[IterVar], tile: int) -> list[int]:
        """How many of each axis a block has: `tile` elements, the innermost axes first."""
        found: list[int] = []
        for axis in reversed(axes):
            extent = length_of(axis)
            of_block = min(tile, power_of_two(2 * extent - 1))
            # With further axes to fill the tile, neighbours are fewer where that leaves less of a block without work.
            sizes = [size for size in (of_block, of_block // 2, of_block // 4) if size >= _NEIGHBOURS]
            if len(axes) - len(found) > 1 and sizes:
                of_block = min(sizes, key=lambda size: -(-extent // size) * size * (1.0 + 0.04 * sizes.index(size)))
            found.insert(0, of_block)
            tile = max(1, tile // of_block)
        return found

    def _box(self, access: Access, within: Mapping[int, int]) -> int:
        """The elements that a step reads of an operand, where it has so many of each axis, and one of the others."""
        terms = [index.terms.items() if index is not None else () for index in access.indices]
        return prod(1 + sum(abs(count) * (within.get(key, 1) - 1) for key, (_, count) in some) for some in terms)

    def _split(
        self, stage: Stage, axes: list[IterVar], tile: int, of_thread: int
    ) -> tuple[list[IterVar], list[IterVar], list[IterVar], int]:
        """Axes in blocks, threads and elements of a thread: `tile` elements a block, the innermost axes first."""
        blocks, threads, inner, count = list[IterVar](), list[IterVar](), list[IterVar](), 1
        for axis, of_block in reversed(list(zip(axes, self._of_block(axes, tile)))):
            of_one = min(of_thread, of_block)
            of_thread = max(1, of_thread // of_one)
            block, rest = stage.split(axis, factor=of_block)
            thread, element = stage.split(rest, factor=of_one)
            count *= of_block // of_one
            blocks.insert(0, block)
            threads.insert(0, thread)
            inner.insert(0, element)
        return blocks, threads, inner, count

    def _fetch(self, stage: Stage, threads_y: int, threads_x: int, is_unrolled: bool) -> None:
        """All threads of the block compute the stage, in turns."""
        fused = stage.fuse(*stage.op.axis)
        fused, x = stage.split(fused, factor=threads_x)
        turn, y = stage.split(fused, factor=threads_y)
        if is_unrolled:
            stage.unroll(turn)
        stage.bind(y, thread_axis("threadIdx.y"))
        stage.bind(x, thread_axis("threadIdx.x"))
