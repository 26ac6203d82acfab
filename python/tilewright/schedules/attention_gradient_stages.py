"""The stages of the gradients of attention: what each kernel computes, of queries or of keys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from ..te import (
    Expr,
    Tensor,
    all,
    compute,
    const,
    exp2,
    if_then_else,
    max,
    min,
    reduce_axis,
    select,
    sum,
)
from .attention_chains import Added, Chain, Loop
from .attention_mask import chain_of_mask, is_of_rows
from .extents import may_be_less
from .key_tiles import KeyTiles
from .scores import Dropout, heads_of, if_any, in_window, logarithm_of, of_head, of_place, score, tanh_in_registers
from .softmax_kernel import LOG2_E, whole

__all__ = ["Definition"]

Listed: TypeAlias = tuple[tuple[int, int], bool]  # a tile, and whether its rows are keys
_WIDTHS = 32
_LEAST = -1e30  # What the maximum of a row counts as that sees no key. No score is less.


@dataclass(frozen=True, slots=True)
class Definition:
    """What all kernels compute of: rows are queries, or else keys."""

    head: Tensor
    q: Tensor
    k: Tensor
    v: Tensor
    scale: float
    before: int | None
    behind: int | None
    offset: int
    dropout: Dropout | None
    mask: Tensor | None = None
    softcap: float | None = None
    lengths: Tensor | None = None
    slopes: Tensor | None = None
    sinks: Tensor | None = None
    is_listed: bool = False  # only tiles are visited that a mask of bools leaves something of
    lists: dict[Listed, KeyTiles] = field(default_factory=dict[Listed, KeyTiles])

    @property
    def heads(self) -> list[Any]:
        return heads_of(self.q, self.k, self.v)

    @property
    def extents(self) -> list[Any]:
        """Queries and keys."""
        return [self.q.shape[-2], self.k.shape[-2]]

    @property
    def unit(self) -> float:
        """What scores are counted in where their maximum is found: a positive factor."""
        unit = self.scale if self.softcap is None else self.softcap
        return 1.0 if unit <= 0 or self.adds_mask else unit

    @property
    def is_masked(self) -> bool:
        """Whether a query may see no key."""
        return any(one is not None for one in (self.before, self.behind, self.mask, self.lengths))

    @property
    def adds_mask(self) -> bool:
        return self.mask is not None and self.mask.dtype != "bool"

    def filled(self, x: Tensor, extent: int, name: str, listed: KeyTiles | None = None) -> Tensor:
        """The tensor in whole tiles, with zeros where it has no element: for each tile of the other axis those that are
        listed."""
        width: Any = x.shape[-1]
        own, depth, heads = x.shape[-2], whole(width, _WIDTHS), self.heads
        of_tile = [] if listed is None else [listed.lists.shape[-2]]

        def element(*at: Expr) -> Expr:
            *outer, row, column = at
            if listed is not None:
                *outer, number = outer
                row = listed.key(outer, number * listed.tile[0], row)
            value = of_head(x, outer, row, column, heads=heads)
            ends = [(row, own, extent), (column, width, depth)]
            there = [index < last for index, last, whole in ends if may_be_less(last, whole)]
            return if_then_else(all(*there), value, const(0, x.dtype)) if there else value

        return compute((*heads, *of_tile, extent, depth), element, name=name)

    def listed(self, tile: tuple[int, int], *, of_keys: bool) -> KeyTiles | None:
        """The tiles of keys for each of queries, or those of queries for each of keys, of which a mask leaves some."""
        mask, (queries, keys) = self.mask, self.extents
        if not self.is_listed or mask is None:
            return None
        if (tile, of_keys) not in self.lists:
            window = partial(in_window, before=self.before, behind=self.behind, offset=self.offset)
            made = KeyTiles.of_mask(mask, len(self.heads), queries, keys, tile, window, is_turned=of_keys)
            self.lists[tile, of_keys] = made
        return self.lists[tile, of_keys]

    def dot(self, a: Tensor, b: Tensor, name: str, listed: KeyTiles | None = None) -> Tensor:
        d = reduce_axis((0, a.shape[-1]), name="d")

        def element(*at: Expr) -> Expr:
            *outer, row, column = at
            of_tile = [row // listed.tile[0]] if listed is not None else []
            return sum(a(*outer, row, d).astype("float32") * b(*outer, *of_tile, column, d).astype("float32"), axis=d)

        return compute((*self.heads, a.shape[-2], b.shape[-2]), element, name=name)

    def first(self, outer: Sequence[Expr]) -> int | Expr:
        """The place of the first query among the keys."""
        if self.lengths is None:
            return self.offset
        return self.lengths(outer[0]) + (self.offset - self.extents[0])

    def sees(self, outer: Sequence[Expr], i: Expr, j: Expr) -> list[Expr]:
        """The conditions under which a query sees a key by their places."""
        window = in_window(i, j, before=self.before, behind=self.behind, offset=self.first(outer))
        return window if self.lengths is None else [*window, j < self.lengths(outer[0])]

    def mask_at(self, outer: Sequence[Expr], i: Expr, j: Expr, all_queries: int, all_keys: int) -> Expr | None:
        """The mask's element. Behind the last query or key it is that of the last."""
        if self.mask is None:
            return None
        places = zip((i, j), self.extents, (all_queries, all_keys), strict=True)
        there = [min(at, own - 1) if may_be_less(own, all_) else at for at, own, all_ in places]
        return if_any(of_place(self.mask, *outer, *there), *self.extents)

    def used(self, value: Expr, outer: Sequence[Expr], i: Expr, j: Expr) -> Expr:
        """A weight that dropout leaves, or its gradient."""
        if self.dropout is None:
            return value
        return self.dropout.of_weight(value, outer, i, j, heads=self.heads, queries=self.extents[0])

    def products(self, result: Tensor) -> Tensor:
        """The sum of each query's weights times their gradients, which is that of the result times its gradient."""
        c = reduce_axis((0, result.shape[-1]), name="c")

        def element(*row: Expr) -> Expr:
            return sum(self.head(*row, c).astype("float32") * result(*row, c).astype("float32"), axis=c)

        return compute(result.shape[:-1], element, name="products")

    def of_sinks(self, logarithms: Tensor, products: Tensor) -> Tensor:
        """The gradient by the sinks: a sink's share of the weights has no value, so that it only takes from others."""
        sinks = self.sinks
        assert sinks is not None
        *lead, heads, queries = logarithms.shape
        r = reduce_axis((0, math.prod(int(extent) for extent in (*lead, queries))), name="r")
        places, left = [r % queries], r // queries
        for extent in lead[::-1]:
            places, left = [left % extent, *places], left // extent

        def element(head: Expr) -> Expr:
            at = (*places[:-1], head, places[-1])
            share = exp2(sinks(head) * LOG2_E - logarithms(*at))
            return sum(share * (0.0 - products(*at)), axis=r)

        return compute((heads,), element, name="dsinks")

    def statistics(self, tile: tuple[int, int], with_products: bool) -> Chain:
        """Of each query the logarithm, by 2, of its sum of exponentials, and the sum of weights times their gradients.

        The logarithm of a query that sees no key is infinity, so that its weights are 0.
        """
        rows, columns = tile
        (queries, keys), heads = self.extents, self.heads
        own, others = whole(queries, rows), whole(keys, columns)
        sides = (self.q, self.head) if with_products else (self.q,)
        held = [self.filled(x, own, f"{x.name}.held.s") for x in sides]
        factor = self.unit * LOG2_E
        is_masked = may_be_less(keys, others) or self.is_masked
        is_changed = is_masked or self.softcap is not None or self.slopes is not None or self.scale != self.unit

        def scores(name: str) -> tuple[Tensor, Tensor, list[Tensor]]:
            key = self.filled(self.k, others, f"K.{name}")
            raw = self.dot(held[0], key, name)

            def masked(*at: Expr) -> Expr:
                *outer, i, j = at
                value = score(
                    raw(*at), i, j, mask=self.mask_at(outer, i, j, own, others), scale=self.scale, before=self.before,
                    behind=self.behind, offset=self.first(outer), softcap=self.softcap,
                    slope=None if self.slopes is None else self.slopes(outer[-1]), in_registers=True, unit=self.unit,
                )  # fmt: skip
                if self.lengths is not None:
                    return select(j < self.lengths(outer[0]), value, const(float("-inf"), "float32"))
                has_end = may_be_less(keys, others)
                return select(j < keys, value, const(float("-inf"), "float32")) if has_end else value

            return key, raw, [compute(raw.shape, masked, name=f"{name}.masked")] if is_changed else []

        jm, jl, jd = (reduce_axis((0, others), name=name) for name in ("jm", "jl", "jd"))
        (km, rm, mm), (kl, rl, ml) = (scores(name) for name in ("S.M", "S.L"))
        shape = (*heads, own)
        M = compute(shape, lambda *row: max([rm, *mm][-1](*row, jm), axis=jm), name="M")

        def weight(S: Tensor, *at: Expr) -> Expr:
            largest = max(M(*at[:-1]), _LEAST) if is_masked else M(*at[:-1])
            return exp2(S(*at) * factor - largest * factor)

        L = compute(shape, lambda *row: sum(weight([rl, *ml][-1], *row, jl), axis=jl), name="L")
        loops = [Loop(M, jm, [km], [rm], mm, False), Loop(L, jl, [kl], [rl], ml, False)]
        D = None
        if with_products:
            kd, rd, md = scores("S.D")
            value = self.filled(self.v, others, "V.S.D")
            dP = self.dot(held[1], value, "dP.S.D")

            def term(*at: Expr) -> Expr:
                *outer, i, j = at
                return weight([rd, *md][-1], *at) * self.used(dP(*at), outer, i, j)

            D = compute(shape, lambda *row: sum(term(*row, jd), axis=jd), name="D")
            loops.append(Loop(D, jd, [kd, value], [rd, dP], md, False))

        def result(*row: Expr) -> Any:
            total, largest = L(*row), M(*row)
            none = total == 0.0
            some = select(none, const(1, "float32"), total) if is_masked else total
            unit = (max(largest, _LEAST) if is_masked else largest) * factor
            sink = None if self.sinks is None else self.sinks(row[-2])
            logarithm = logarithm_of(unit, some, sink)
            if is_masked:
                logarithm = select(none, const(float("inf"), "float32"), logarithm)
            if D is None:
                return logarithm
            # Weights are less by the share of the sink.
            return logarithm, D(*row) * (1 / some if sink is None else exp2(unit - logarithm))

        made: Any = compute((*heads, queries), result, name="statistics")
        results = [made] if D is None else list(made)
        return Chain(results, held, loops, tile)

    def gradients(
        self, tile: tuple[int, int], statistics: Sequence[Tensor], of: Sequence[str], dtype: str, *, adds: bool = False
    ) -> Chain:
        """The gradients `of` "Q", "MASK", or those of "V", of "K", or of both; if it `adds`, those by queries too."""
        rows, columns = tile
        (queries, keys), heads = self.extents, self.heads
        is_of_mask = "MASK" in of
        of_keys = "Q" not in of and (self.mask is None or not is_of_mask or is_of_rows(self.mask))
        name, logarithms = "".join(of).lower(), statistics[0]
        own, others = whole(keys if of_keys else queries, rows), whole(queries if of_keys else keys, columns)
        all_queries, all_keys = (others, own) if of_keys else (own, others)
        sides = ([self.q, self.head], [self.k, self.v])
        listed = self.listed(tile, of_keys=of_keys)
        # Weights alone need no values.
        held = [self.filled(x, own, f"{x.name}.held.{name}") for x in sides[of_keys][: 1 if [*of] == ["V"] else 2]]

        def of_query(x: Tensor, outer: Sequence[Expr], i: Expr, behind: float) -> Expr:
            value, has_end = x(*outer, i), may_be_less(queries, all_queries)
            return if_then_else(i < queries, value, const(behind, "float32")) if has_end else value

        def exponent(outer: Sequence[Expr], i: Expr, j: Expr, raw: Expr) -> tuple[Expr, Expr | None]:
            """Of two, of a weight; and the tanh of a softcap."""
            bent, value = None, raw * (self.scale * LOG2_E)
            if self.softcap is not None:
                bent = tanh_in_registers(raw, self.scale / self.softcap)
                value = bent * (self.softcap * LOG2_E)
            # Behind the last query weights are 0.
            if self.slopes is not None:
                away = (j - (i + self.first(outer))).astype("float32")
                value = value + self.slopes(outer[-1]) * LOG2_E * away
            known = of_query(logarithms, outer, i, float("inf"))
            own = self.mask_at(outer, i, j, all_queries, all_keys)
            if own is not None and self.adds_mask:
                value = value + own.astype("float32") * LOG2_E
                # Of a query that sees no key a score less the logarithm is none.
                known = select(known == const(float("-inf"), "float32"), const(float("inf"), "float32"), known)
            return value - known, bent

        def elements(stem: str, held: list[Tensor], of_weights: bool) -> tuple[list[Tensor], ...]:
            """Weights, or gradients of scores: what is loaded, which matmuls they are of, and they, which come last."""
            loaded = [self.filled(x, others, f"{x.name}.{stem}", listed) for x in sides[not of_keys]]
            raw = self.dot(held[0], loaded[0], f"S.{stem}", listed)
            ahead = None if of_weights else self.dot(held[1], loaded[1], f"dP.{stem}", listed)

            def masked(value: Expr, at: Sequence[Expr], i: Expr, j: Expr) -> Expr:
                # Rows behind the last key are not stored, but what is added to those of queries counts them.
                *outer, row, place = at
                end = [j < keys] if may_be_less(keys, all_keys) and (adds or not of_keys) else []
                own = None if self.adds_mask else self.mask_at(outer, i, j, all_queries, all_keys)
                conditions = [*([] if own is None else [own]), *self.sees(outer, i, j), *end]
                if listed is not None:
                    is_seen = select(listed.is_whole(outer, row, place), True, all(*conditions))
                    conditions = [is_seen, listed.is_visited(outer, row, place)]
                for condition in conditions:
                    value = select(condition, value, const(0.0, "float32"))
                return value

            def weight(*at: Expr) -> Expr:
                *outer, j, i = at
                return masked(exp2(exponent(outer, i, j, raw(*at))[0]), at, i, j)

            # Both loops of a kernel that adds have the same weights, which one rounds and the other multiplies.
            known = [compute(raw.shape, weight, name=f"W.{stem}")] if adds else []

            def element(*at: Expr) -> Expr:
                *outer, row, column = at
                place = column if listed is None else listed.key(outer, row, column)
                i, j = (place, row) if of_keys else (row, place)
                power, bent = exponent(outer, i, j, raw(*at))
                value = known[0](*at) if known else exp2(power)
                if ahead is None:
                    value = self.used(value, outer, i, j)
                else:
                    value = value * (self.used(ahead(*at), outer, i, j) - of_query(statistics[1], outer, i, 0.0))
                    value = value if bent is None or is_of_mask else value * (1.0 - bent * bent)
                # A gradient by a masked score may be none.
                value = value if known and ahead is None else masked(value, at, i, j)
                return value if is_of_mask else value.astype(self.q.dtype)

            made = compute(raw.shape, element, name=f"{'P' if of_weights else 'dS'}.{stem}")
            return loaded, [raw] if ahead is None else [raw, ahead], [*known, made]

        def loop(total: str, of_weights: bool) -> Loop:
            """Sums of weights, or of gradients of scores, times rows of what is loaded."""
            stem = f"{name}.{total}"
            loaded, products_, of_scores = elements(stem, held, of_weights)
            r, other = reduce_axis((0, others), name=f"r.{stem}"), loaded[of_weights]

            def product(*at: Expr) -> Expr:
                *outer, row, column = at
                P, of_tile = of_scores[-1], [row // rows] if listed is not None else []
                return sum(
                    P(*outer, row, r).astype("float32") * other(*outer, *of_tile, r, column).astype("float32"), axis=r
                )

            made = compute((*heads, own, other.shape[-1]), product, name=f"{total}.{name}")
            return Loop(made, r, loaded, products_, of_scores)

        if is_of_mask and self.mask is not None:
            return chain_of_mask(self.mask, tile, held, *elements("sums", held, of_weights=False))
        # What is read first is computed first: the other loop follows it.
        loops = [loop(f"d{one}", one == "V") for one in of]

        def result(*at: Expr) -> Any:
            values = [one.total(*at) if x == "V" else one.total(*at) * self.scale for x, one in zip(of, loops)]
            given = [value.astype(dtype) for value in values]
            return tuple(given) if len(given) > 1 else given[0]

        columns_of: Any = (self.v if "V" in of else self.q).shape[-1]
        results: Any = compute(
            (*heads, keys if of_keys else queries, whole(columns_of, _WIDTHS)), result, name=f"d{''.join(of)}"
        )
        made = list(results) if len(of) > 1 else [results]
        if not adds:
            return Chain(made, held, loops, tile)
        kept = [self.filled(x, own, f"{x.name}.held.d") for x in sides[of_keys]]
        added = self._added(tile, own, others, kept, *elements("d", kept, of_weights=False))
        return Chain(made, held, loops, tile, added)

    def _added(
        self, tile: tuple[int, int], own: int, others: int, kept: list[Tensor], loaded: list[Tensor],
        products: list[Tensor], elements: list[Tensor],
    ) -> Added:  # fmt: skip
        """The gradients by queries of blocks that each have a tile's rows of keys: what `gradients` of keys adds."""
        rows, columns = tile
        queries, _ = self.extents
        depth: Any = kept[0].shape[-1]
        blocks, inner = reduce_axis((0, own // rows), name="blocks"), reduce_axis((0, rows), name="keys")
        # Each warpgroup sums 64 of the tile's queries, or else of their columns. These are then the rows of its sums.
        is_turned = columns != rows and depth == rows

        def part(*at: Expr) -> Expr:
            *outer, block, first, second = at
            key, (row, column) = block * rows + inner, (second, first) if is_turned else (first, second)
            terms = [elements[-1](*outer, key, row).astype("float32"), kept[0](*outer, key, column).astype("float32")]
            a, b = terms[::-1] if is_turned else terms
            return sum(a * b, axis=inner)

        shape = (depth, others) if is_turned else (others, depth)
        parts = compute((*self.heads, own // rows, *shape), part, name="dQ.part")

        def stored(*at: Expr) -> Expr:
            *outer, row, column = at
            return parts(*outer, column, row) if is_turned else parts(*at)

        copied = compute((*self.heads, own // rows, others, depth), stored, name="dQ.copied")

        def all_parts(*at: Expr) -> Expr:
            *outer, row, column = at
            return sum(copied(*outer, blocks, row, column), axis=blocks)

        total = compute((*self.heads, queries, self.q.shape[-1]), all_parts, name="dQ.sums")
        return Added(total, blocks, copied, parts, elements, kept, loaded, products, is_turned)
