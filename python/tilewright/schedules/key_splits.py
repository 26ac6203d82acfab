"""Attention of few queries: which block computes which split of the keys, and how the splits are merged."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..target import current_gpu
from ..te import Expr, Tensor, compute, exp2, max, reduce_axis, select, sum, thread_axis
from ..te.schedule import Schedule
from .scores import heads_of, of_head, of_page

# Parts that one thread merges, whose loads are under way together.
_MOST_UNROLLED = 64

__all__ = ["KeySplits", "Written", "WrittenMask", "merged", "schedule_merge"]


@dataclass(frozen=True, slots=True)
class Written:
    """Attention as a user's expressions have it.

    A place of a score is its heads, its query and its key. Tiles have places behind the last query or key, of which
    tensors have no element. There, reads have the place of the last.

    Operands are placeholders of … x heads x rows x width. `reads` has their elements, of the user's tensors. Those that
    are `transposed` have neighbouring rows side by side in memory.
    """

    name: str
    reads: dict[Tensor, Callable[..., Expr]]  # elements of each operand, for heads, a row and a column
    score: Callable[[Expr, Sequence[Any], Sequence[Any]], Expr]  # of a dot product, of its place and that of reads
    heads: tuple[Any, ...]  # numbers, or symbolic
    order: tuple[int, ...]  # of each axis of the result the number among heads, query and column
    transposed: frozenset[Tensor] = frozenset()
    mask: WrittenMask | None = None


@dataclass(frozen=True, slots=True)
class WrittenMask:
    """The conditions of a user's score, which are apart from it where tiles are listed."""

    sees: Callable[[Sequence[Any], Sequence[Any]], Expr]  # whether the query of a place sees its key
    score: Callable[[Expr, Sequence[Any], Sequence[Any], Expr], Expr]  # of a dot product, and whether it is seen
    heads: tuple[Any, ...]  # 1 for those that `sees` does not depend on

    def sees_key(self, head: Sequence[Any], query: Any, key: Any) -> Expr:
        """Whether a query sees a key, both of which are there."""
        return self.sees((*head, query, key), (*head, query, key))


@dataclass(frozen=True, slots=True)
class KeySplits:
    """What one tile of rows is, and one of keys, where keys are split and heads are packed."""

    all_heads: list[Any]
    heads: list[Any]  # of the stages: the split of the keys is the last
    rows: Any  # queries, or heads that share keys
    keys: Any  # of a split
    is_split: bool
    packed: int  # heads of one query that are rows of one tile; 1 where rows are queries
    pages: Tensor | None  # of each sequence, the numbers of the pages that have its keys and values
    written: Written | None = None

    @classmethod
    def of(
        cls, q: Tensor, k: Tensor, v: Tensor, columns: int, key_splits: int | None, pages: Tensor | None = None,
        written: Written | None = None,
    ) -> KeySplits:  # fmt: skip
        extents: list[Any] = [*q.shape[-2:-1], *k.shape[-2:-1]]
        (queries, keys), step = extents, columns
        if written is not None:
            return cls([*written.heads], [*written.heads], queries, keys, False, 1, None, written)
        heads: list[Any] = heads_of(q, k, v) if pages is None else [*q.shape[:-2]]
        if pages is not None:
            step = math.lcm(columns, keys)
            keys *= pages.shape[1]
        if key_splits is None:
            return cls(heads, heads, queries, keys, False, 1, pages)
        shared = [one.shape[-3] for one in (k, v)] if heads else [1]
        packed = heads[-1] // builtins.max(shared) if heads and queries == 1 else 1
        own = -(-keys // (key_splits * step)) * step
        outer = [*heads[:-1], heads[-1] // packed] if heads else []
        return cls(heads, [*outer, -(-keys // own)], queries if packed == 1 else packed, own, True, packed, pages)

    def head(self, outer: Sequence[Any], row: Any) -> tuple[list[Any], Any]:
        """The head, and the query, of a row of a tile."""
        places = list(outer[:-1] if self.is_split else outer)
        if self.packed == 1:
            return places, row
        return [*places[:-1], places[-1] * self.packed + row], 0

    def key(self, outer: Sequence[Any], place: Any) -> Any:
        """The number of a key among all."""
        return outer[-1] * self.keys + place if self.is_split else place

    def end(self, of_keys: bool, extent: Any) -> Any:
        """One more than the last index of tiles of so many rows in all: of keys, or of what rows of queries read."""
        if of_keys:
            return self.heads[-1] * self.keys if self.is_split else extent
        return extent if self.packed == 1 else self.all_heads[-1] - self.packed + extent

    def element(
        self, x: Tensor, outer: Sequence[Any], row: Any, column: Any, *, of_keys: bool
    ) -> tuple[Expr, Any, Any]:
        """An element of keys and values or of queries, the index that says whether it is there, and its bound."""
        if self.written is not None:
            return self.written.reads[x](outer, row, column), row, x.shape[-2]
        if of_keys:
            place = self.key(outer, row)
            heads, _ = self.head(outer, 0)
            if self.pages is not None:
                value = of_page(x, self.pages, heads, place, column, heads=self.all_heads)
                return value, place, None
            return of_head(x, heads, place, column, heads=self.all_heads), place, x.shape[-2]
        heads, query = self.head(outer, row)
        value = of_head(x, heads, query, column, heads=self.all_heads)
        return (value, query, x.shape[-2]) if self.packed == 1 else (value, heads[-1], x.shape[-3])


def merged(
    partial: Tensor, logarithms: Tensor, splits: KeySplits, queries: Any, wide: int, dtype: str, sinks: Tensor | None
) -> tuple[Tensor, list[Tensor]]:
    """The result of what the splits come to, and the stages before it.

    A row of a split has its values, and the logarithm, by 2, of its sum of exponentials.
    """
    count = splits.heads[-1]

    def at(places: Sequence[Any], split: Any) -> list[Any]:
        *outer, row = places
        if splits.packed > 1:
            outer, row = [*outer[:-1], outer[-1] // splits.packed], outer[-1] % splits.packed
        return [*outer, split, row]

    shape = (*splits.all_heads, queries)
    axes = [reduce_axis((0, count), name=name) for name in ("pm", "pl", "po")]
    # Registers hold what one thread reads of all parts, so that all loads are under way before it computes.
    held = list[Tensor]()

    def logarithm(row: Sequence[Any], split: Any) -> Expr:
        return held[0](*row, split) if held else logarithms(*at(row, split))

    def value(place: Sequence[Any], split: Any) -> Expr:
        return held[1](*place, split) if held else partial(*at(place[:-1], split), place[-1])

    def finite(row: Sequence[Any]) -> Expr:
        """Of a row that sees no key the largest logarithm is minus infinity."""
        return max(M(*row), float(np.finfo("float32").min))

    if isinstance(count, int) and count <= _MOST_UNROLLED:
        of_rows = compute(
            (*shape, count), lambda *place: logarithms(*at(place[:-1], place[-1])), name="logarithms.held"
        )
        of_values = compute(
            (*shape, wide, count), lambda *place: partial(*at(place[:-2], place[-1]), place[-2]), name="values.held"
        )
        held += [of_rows, of_values]
    M = compute(shape, lambda *row: max(logarithm(row, axes[0]), axis=axes[0]), name="M.parts")
    if held:
        held.append(
            compute(
                (*shape, count),
                lambda *place: exp2(logarithm(place[:-1], place[-1]) - finite(place[:-1])),
                name="powers.parts",
            )
        )

    def power(row: Sequence[Any], split: Any) -> Expr:
        return held[2](*row, split) if held else exp2(logarithm(row, split) - finite(row))

    L = compute(shape, lambda *row: sum(power(row, axes[1]), axis=axes[1]), name="L.parts")
    W = compute(
        (*shape, wide),
        lambda *place: sum(power(place[:-1], axes[2]) * value(place, axes[2]), axis=axes[2]),
        name="W.parts",
    )

    def result(*place: Expr) -> Expr:
        total = L(*place[:-1])
        if sinks is not None:
            total = total + exp2(sinks(place[-3]).astype("float32") * math.log2(math.e) - finite(place[:-1]))
        return select(total == 0.0, 0.0, W(*place) / total).astype(dtype)

    return compute((*shape, wide), result, name="O"), [*held[:2], M, *held[2:], L, W]


def schedule_merge(s: Schedule, result: Tensor, stages: Sequence[Tensor]) -> None:
    """One block for each row, one thread for each value. Where the GPU can, it starts while the first one runs."""
    *rows, column = s[result].op.axis
    row = rows[0]
    for other in rows[1:]:
        row = s[result].fuse(row, other)
    s[result].bind(row, thread_axis("blockIdx.x"))
    s[result].bind(column, thread_axis("threadIdx.x"))
    for stage in stages:
        s[stage].set_scope("local")
        s[stage].compute_at(s[result], column)
        *_, part = (*stage.op.axis, *stage.op.reduce_axis)
        if part.dom is not None and isinstance(part.dom.extent, int) and part.dom.extent <= _MOST_UNROLLED:
            s[stage].unroll(part)
    s[result].launch_bounds(1)
    if "griddepcontrol" in current_gpu().features:
        s.launch(dependent=True)
