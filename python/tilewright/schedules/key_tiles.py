"""Which tiles of keys each tile of queries visits, or the other way round: a list, of what a mask comes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..te import Expr, Tensor, all, compute, if_then_else, reduce_axis, select, sum, thread_axis
from ..te.schedule import Schedule
from .scores import of_place

__all__ = ["KeyTiles"]

_THREADS, _LISTED, _AT_ONCE = 256, 128, 32


@dataclass(frozen=True, slots=True)
class KeyTiles:
    """For each tile of queries the tiles of keys of which the mask leaves something, those that it cuts first.

    `lists` is … x tiles of queries x (tiles of keys + 2), of int32. It has the first key of each visited tile. Behind
    them is how many keys all visited tiles have, and how many those have that the mask cuts. If they are turned, each
    tile of keys has a list of tiles of queries.
    """

    lists: Tensor
    places: Tensor
    counts: Tensor
    tile: tuple[int, int]

    @classmethod
    def of(
        cls, heads: Sequence[Any], queries: Any, keys: Any, tile: tuple[int, int],
        sees: Callable[[Sequence[Expr], Expr, Expr], Expr], *, is_turned: bool = False,
    ) -> KeyTiles:  # fmt: skip
        """The tiles of a mask: `sees` says of some heads whether query i sees key j, both of which are there.

        If they are turned, `tile` has keys and queries.
        """
        rows, columns = tile
        extents = (keys, queries) if is_turned else (queries, keys)
        of_queries, of_keys = (-(-extent // own) for extent, own in zip(extents, tile, strict=True))
        each = reduce_axis((0, rows * columns), name="each")

        def seen(*at: Expr) -> Expr:
            *outer, t, u = at
            # Neighbours are keys, as a mask has them.
            first, second = (each % rows, each // rows) if is_turned else (each // columns, each % columns)
            row, column = t * rows + first, u * columns + second
            i, j = (column, row) if is_turned else (row, column)
            ends = [*([i < queries] if queries % (columns if is_turned else rows) else [])]
            ends += [j < keys] if keys % (rows if is_turned else columns) else []
            number = select(sees(outer, i, j), 1, 0)
            number = if_then_else(all(*ends), number, 0) if ends else number
            return sum(number, axis=each)

        counts = compute((*heads, of_queries, of_keys), seen, name="seen")
        w = reduce_axis((0, of_keys), name="w")

        def is_cut(count: Expr) -> Expr:
            return all(count > 0, count < rows * columns)

        def place(*at: Expr) -> Expr:
            *outer, u = at
            other, own = counts(*outer, w), counts(*outer, u)
            is_before = select(is_cut(own), all(is_cut(other), w < u), select(is_cut(other), True, w < u))
            return sum(select(all(other > 0, is_before), 1, 0), axis=w)

        places = compute((*heads, of_queries, of_keys), place, name="place")
        u = reduce_axis((0, of_keys), name="u")

        def element(*at: Expr) -> Expr:
            *outer, n = at
            count = counts(*outer, u)
            first = select(all(count > 0, places(*outer, u) == n), u * columns, 0)
            number = select(n == of_keys, select(count > 0, columns, 0), select(is_cut(count), columns, 0))
            return sum(select(n < of_keys, first, number), axis=u)

        lists = compute((*heads, of_queries, of_keys + 2), element, name="visited")
        return cls(lists, places, counts, tile)

    @classmethod
    def of_mask(
        cls, mask: Tensor, num_heads: int, queries: Any, keys: Any, tile: tuple[int, int],
        window: Callable[[Expr, Expr], list[Expr]], *, is_turned: bool = False,
    ) -> KeyTiles:  # fmt: skip
        """Those of a mask of bools, and of a window, where heads have so many dimensions."""
        heads = [1] * (num_heads + 2 - mask.ndim) + [*mask.shape[:-2]]
        return cls.of(
            heads, queries, keys, tile, lambda head, i, j: all(of_place(mask, *head, i, j), *window(i, j)),
            is_turned=is_turned,
        )  # fmt: skip

    def _at(self, outer: Sequence[Any], i: Any) -> list[Any]:
        heads = self.lists.shape[:-2]
        places = [0 if extent == 1 else place for place, extent in zip(outer, heads, strict=True)]
        return [*places, i // self.tile[0]]

    def key(self, outer: Sequence[Any], i: Any, place: Any) -> Any:
        """The key at a place of the list of query i."""
        return self.lists(*self._at(outer, i), place // self.tile[1]) + place % self.tile[1]

    def _first(self, place: Any) -> Any:
        """The first place of a tile: what is compared with it holds for the whole tile."""
        return place // self.tile[1] * self.tile[1]

    def is_visited(self, outer: Sequence[Any], i: Any, place: Any) -> Expr:
        return self._first(place) < self.lists(*self._at(outer, i), self.lists.shape[-1] - 2)

    def is_whole(self, outer: Sequence[Any], i: Any, place: Any) -> Expr:
        """Whether query i's tile sees all keys of the tile at this place."""
        return self._first(place) >= self.lists(*self._at(outer, i), self.lists.shape[-1] - 1)

    def schedule(self, s: Schedule) -> None:
        """A kernel that counts what each tile sees, a block for each; one that makes the lists, a block for each."""
        axes = s[self.counts].op.axis
        tile = axes[0]
        for axis in axes[1:]:
            tile = s[self.counts].fuse(tile, axis)
        # Of neighbours four are one load.
        outer, four = s[self.counts].split(self.counts.op.reduce_axis[0], factor=4)
        outer, thread = s[self.counts].split(outer, factor=_THREADS)
        s[self.counts].bind(tile, thread_axis("blockIdx.x"))
        s[self.counts].bind(thread, thread_axis("threadIdx.x"))
        s[self.counts].unroll(outer)
        s[self.counts].unroll(four)
        *outer, n = s[self.lists].op.axis
        block = outer[0]
        for axis in outer[1:]:
            block = s[self.lists].fuse(block, axis)
        _, lane = s[self.lists].split(n, factor=_LISTED)
        s[self.lists].bind(block, thread_axis("blockIdx.x"))
        s[self.lists].bind(lane, thread_axis("threadIdx.x"))
        s[self.places].set_scope("shared")
        s[self.places].compute_at(s[self.lists], block)
        _, lane = s[self.places].split(s[self.places].op.axis[-1], factor=_LISTED)
        s[self.places].bind(lane, thread_axis("threadIdx.x"))
        for stage in (self.places, self.lists):
            # Loads that are under way together.
            _, few = s[stage].split(stage.op.reduce_axis[0], factor=_AT_ONCE)
            s[stage].unroll(few)
        s.launch(dependent=True)
