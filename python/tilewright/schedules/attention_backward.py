"""The gradients of attention by the warpgroups of sm_90a: a kernel of statistics, one of queries, one of keys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..dtypes import item_bytes
from ..errors import TilewrightValueError as ValueError
from ..instructions import wgmma
from ..te import (
    Expr,
    IterVar,
    Tensor,
    all,
    compute,
    const,
    create_schedule,
    exp2,
    if_then_else,
    log2,
    max,
    reduce_axis,
    select,
    sum,
    thread_axis,
)
from ..te.schedule import Schedule
from .scores import Dropout, heads_of, of_head, score
from .shared_heads import is_shared, of_heads, schedule_of_heads

__all__ = ["attention_gradients_of"]

_ROWS, _SPAN, _WIDTHS = 64, 128, 32
_LOG2_E = math.log2(math.e)
_LEAST = -1e30  # What the maximum of a row counts as that sees no key. No score is less.
_THREADS = 256  # of a block that sums products


def _whole(extent: int, factor: int) -> int:
    return -(-extent // factor) * factor


@dataclass(frozen=True, slots=True)
class _Loop:
    """One reduction over the other axis: the tiles that it loads, its matmuls, and the elements between."""

    total: Tensor
    axis: IterVar
    loaded: list[Tensor]
    products: list[Tensor]
    elements: list[Tensor]
    is_product: bool = True


@dataclass(frozen=True, slots=True)
class _Chain:
    """One kernel: matmuls of a block's rows with tiles of the other axis, and what is reduced of them."""

    results: list[Tensor]
    held: list[Tensor]  # tiles that are loaded once
    loops: list[_Loop]
    tile: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Definition:
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

    @property
    def heads(self) -> list[Any]:
        return heads_of(self.q, self.k, self.v)

    @property
    def extents(self) -> list[Any]:
        """Queries and keys."""
        return [self.q.shape[-2], self.k.shape[-2]]

    @property
    def depth(self) -> int:
        return _whole(self.q.shape[-1], _WIDTHS)  # type: ignore[arg-type]

    def filled(self, x: Tensor, extent: int, name: str) -> Tensor:
        """The tensor in whole tiles, with zeros where it has no element."""
        own, width, heads = x.shape[-2], x.shape[-1], self.heads

        def element(*at: Expr) -> Expr:
            *outer, row, column = at
            value = of_head(x, outer, row, column, heads=heads)
            ends = [(row, own, extent), (column, width, self.depth)]
            there = [index < last for index, last, whole in ends if last < whole]
            return if_then_else(all(*there), value, const(0, x.dtype)) if there else value

        return compute((*heads, extent, self.depth), element, name=name)

    def dot(self, a: Tensor, b: Tensor, name: str) -> Tensor:
        d = reduce_axis((0, self.depth), name="d")

        def element(*at: Expr) -> Expr:
            *outer, row, column = at
            return sum(a(*outer, row, d).astype("float32") * b(*outer, column, d).astype("float32"), axis=d)

        return compute((*self.heads, a.shape[-2], b.shape[-2]), element, name=name)

    def sees(self, i: Expr, j: Expr) -> list[Expr]:
        """The conditions under which a query sees a key."""
        seen = [] if self.behind is None else [j <= i + (self.offset + self.behind)]
        return seen if self.before is None else [*seen, j >= i + (self.offset - self.before)]

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

    def statistics(self, tile: tuple[int, int], with_products: bool) -> _Chain:
        """Of each query the logarithm, by 2, of its sum of exponentials, and the sum of weights times their gradients.

        The logarithm of a query that sees no key is infinity, so that its weights are 0.
        """
        rows, columns = tile
        (queries, keys), heads = self.extents, self.heads
        own, others = _whole(queries, rows), _whole(keys, columns)
        sides = (self.q, self.head) if with_products else (self.q,)
        held = [self.filled(x, own, f"{x.name}.held.s") for x in sides]
        factor = self.scale * _LOG2_E
        is_masked = others > keys or self.before is not None or self.behind is not None

        def scores(name: str) -> tuple[Tensor, Tensor, list[Tensor]]:
            key = self.filled(self.k, others, f"K.{name}")
            raw = self.dot(held[0], key, name)

            def masked(*at: Expr) -> Expr:
                *_, i, j = at
                value = score(
                    raw(*at), i, j, mask=None, scale=1.0, before=self.before, behind=self.behind, offset=self.offset,
                    softcap=None,
                )  # fmt: skip
                return select(j < keys, value, const(float("-inf"), "float32")) if others > keys else value

            return key, raw, [compute(raw.shape, masked, name=f"{name}.masked")] if is_masked else []

        jm, jl, jd = (reduce_axis((0, others), name=name) for name in ("jm", "jl", "jd"))
        (km, rm, mm), (kl, rl, ml) = (scores(name) for name in ("S.M", "S.L"))
        shape = (*heads, own)
        M = compute(shape, lambda *row: max([rm, *mm][-1](*row, jm), axis=jm), name="M")

        def weight(S: Tensor, *at: Expr) -> Expr:
            largest = max(M(*at[:-1]), _LEAST) if is_masked else M(*at[:-1])
            return exp2(S(*at) * factor - largest * factor)

        L = compute(shape, lambda *row: sum(weight([rl, *ml][-1], *row, jl), axis=jl), name="L")
        loops = [_Loop(M, jm, [km], [rm], mm, False), _Loop(L, jl, [kl], [rl], ml, False)]
        D = None
        if with_products:
            kd, rd, md = scores("S.D")
            value = self.filled(self.v, others, "V.S.D")
            dP = self.dot(held[1], value, "dP.S.D")

            def term(*at: Expr) -> Expr:
                *outer, i, j = at
                return weight([rd, *md][-1], *at) * self.used(dP(*at), outer, i, j)

            D = compute(shape, lambda *row: sum(term(*row, jd), axis=jd), name="D")
            loops.append(_Loop(D, jd, [kd, value], [rd, dP], md, False))

        def result(*row: Expr) -> Any:
            total, largest = L(*row), M(*row)
            none = total == 0.0
            some = select(none, const(1, "float32"), total) if is_masked else total
            logarithm = (max(largest, _LEAST) if is_masked else largest) * factor + log2(some)
            if is_masked:
                logarithm = select(none, const(float("inf"), "float32"), logarithm)
            return logarithm if D is None else (logarithm, D(*row) / some)

        made: Any = compute((*heads, queries), result, name="statistics")
        results = [made] if D is None else list(made)
        return _Chain(results, held, loops, tile)

    def gradients(self, tile: tuple[int, int], statistics: Sequence[Tensor], of_keys: bool, dtype: str) -> _Chain:
        """The gradients by queries, or those by values and by keys."""
        rows, columns = tile
        (queries, keys), heads = self.extents, self.heads
        name, logarithms, products = "k" if of_keys else "q", *statistics
        own, others = _whole(keys if of_keys else queries, rows), _whole(queries if of_keys else keys, columns)
        all_queries, all_keys = (others, own) if of_keys else (own, others)
        sides = ([self.q, self.head], [self.k, self.v])
        held = [self.filled(x, own, f"{x.name}.held.{name}") for x in sides[of_keys]]

        def of_query(x: Tensor, outer: Sequence[Expr], i: Expr) -> Expr:
            # Queries behind the last are zeros, and so is what their weights are multiplied by.
            value = x(*outer, i)
            return if_then_else(i < queries, value, const(0.0, "float32")) if queries < all_queries else value

        def loop(total: str, of_weights: bool) -> _Loop:
            """Sums of weights, or of gradients of scores, times rows of what is loaded."""
            stem = f"{name}.{total}"
            loaded = [self.filled(x, others, f"{x.name}.{stem}") for x in sides[not of_keys]]
            raw = self.dot(held[0], loaded[0], f"S.{stem}")
            ahead = None if of_weights else self.dot(held[1], loaded[1], f"dP.{stem}")

            def element(*at: Expr) -> Expr:
                *outer, row, column = at
                i, j = (column, row) if of_keys else (row, column)
                value = exp2(raw(*at) * (self.scale * _LOG2_E) - of_query(logarithms, outer, i))
                if ahead is None:
                    value = self.used(value, outer, i, j)
                else:
                    value = value * (self.used(ahead(*at), outer, i, j) - of_query(products, outer, i))
                end = [j < keys] if keys < all_keys and not of_keys else []
                for condition in (*self.sees(i, j), *end):
                    value = select(condition, value, const(0.0, "float32"))
                return value.astype(self.q.dtype)

            P = compute(raw.shape, element, name=f"{'P' if of_weights else 'dS'}.{stem}")
            r, other = reduce_axis((0, others), name=f"r.{stem}"), loaded[of_weights]

            def product(*at: Expr) -> Expr:
                *outer, row, column = at
                return sum(P(*outer, row, r).astype("float32") * other(*outer, r, column).astype("float32"), axis=r)

            made = compute((*heads, own, self.depth), product, name=f"{total}.{name}")
            return _Loop(made, r, loaded, [raw] if ahead is None else [raw, ahead], [P])

        loops = [loop("dV", True), loop("dK", False)] if of_keys else [loop("dQ", False)]
        totals = [one.total for one in loops]

        def result(*at: Expr) -> Any:
            # What is read first is computed first: the other loop follows it.
            values = [totals[0](*at), totals[1](*at) * self.scale] if of_keys else [totals[0](*at) * self.scale]
            given = tuple(value.astype(dtype) for value in values)
            return given if of_keys else given[0]

        shape = (*heads, keys if of_keys else queries, self.q.shape[-1])
        results: Any = compute(shape, result, name="dVK" if of_keys else "dQ")
        return _Chain(list(results) if of_keys else [results], held, loops, tile)


def attention_gradients_of(
    head: Tensor,
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    *,
    scale: float | None = None,
    before: int | None = None,
    behind: int | None = None,
    offset: int = 0,
    tiles: Sequence[tuple[int, int]] = ((128, 64), (128, 64), (128, 64)),
    stages: int = 2,
    result: Tensor | None = None,
    dropout_p: float = 0.0,
    seed: Tensor | None = None,
    logarithms: Tensor | None = None,
) -> tuple[Schedule, list[Tensor]]:
    """The gradients of softmax(scale Q K^T) V by Q, K and V, where `head` is that by the result.

    Three kernels compute each weight anew, and no matrix of scores is in memory. The first gives two numbers for each
    query: the logarithm of its sum of exponentials, and the sum of its weights times their gradients. The second
    multiplies the gradients of scores by K, the third multiplies weights by `head` and gradients of scores by Q. Each
    sum has one order, so the same arrays give the same gradients. `tiles` are rows and columns of the three.

    Weights and gradients of scores are rounded to the type of Q before they are multiplied. Keys and values may have
    fewer heads than Q. If the `result` is given, the second number comes of it alone. With the `logarithms` of the
    forward pass (`attention_of`), too, there is no first kernel.
    All options are those of `attention_of`; heads of keys and of values have one width, up to 128.

    Returns
    -------
    tuple
        The schedule, and `head`, Q, K and V, the seed, the result and the logarithms if they are given, and the three
        gradients.
    """
    scale = float(Q.shape[-1] ** -0.5) if scale is None else scale  # type: ignore[operator]
    made = _Definition(head, Q, K, V, scale, before, behind, offset, Dropout.of(dropout_p, seed))
    if logarithms is not None and result is None:
        raise ValueError("expected the result beside the logarithms of its sums, got none")
    products = None if result is None else made.products(result)
    chains = [] if logarithms is not None else [made.statistics(tiles[0], result is None)]
    numbers = [logarithms] if logarithms is not None else [*chains[0].results]
    numbers += [] if products is None else [products]
    shared = is_shared(made.heads, K, V)
    chains.append(made.gradients(tiles[1], numbers, False, Q.dtype))
    chains.append(made.gradients(tiles[2], numbers, True, "float32" if shared else Q.dtype))
    (dQ,), (dV, dK) = chains[-2].results, chains[-1].results
    summed = [of_heads(dK, K, "dK"), of_heads(dV, V, "dV")] if shared else [dK, dV]
    s = create_schedule([dQ.op, *dict.fromkeys(one.op for one in summed)])
    for chain in chains:
        _schedule(s, chain, stages)
    for one in summed if shared else []:
        schedule_of_heads(s, one)
    if products is not None:
        _schedule_products(s, products)
    return s, [head, Q, K, V, *(one for one in (seed, result, logarithms) if one is not None), dQ, *summed]


def _schedule_products(s: Schedule, products: Tensor) -> None:
    """A warp for each row."""
    row = s[products].op.axis[0]
    for axis in s[products].op.axis[1:]:
        row = s[products].fuse(row, axis)
    block, warp = s[products].split(row, factor=_THREADS // 32)
    _, lane = s[products].split(products.op.reduce_axis[0], factor=32)
    s[products].bind(block, thread_axis("blockIdx.x"))
    s[products].bind(warp, thread_axis("threadIdx.y"))
    s[products].bind(lane, thread_axis("threadIdx.x"))


def _schedule(s: Schedule, chain: _Chain, stages: int) -> None:
    result, (rows, columns) = chain.results[0], chain.tile
    dtype = chain.held[0].dtype
    depth: Any = chain.held[0].shape[-1]

    def load(tensor: Tensor, stage: Tensor, loop: IterVar) -> None:
        s[tensor].set_scope("shared")
        s[tensor].compute_at(s[stage], loop)
        s[tensor].copy_by("tma", swizzle=math.gcd(depth * item_bytes(tensor.dtype), _SPAN))

    first = chain.loops[0]
    heads = len(chain.held[0].shape) - 2
    outer, (i, *columns_of) = s[result].op.axis[:heads], s[result].op.axis[heads:]
    block, i = s[result].split(i, factor=rows)
    warpgroup, i = s[result].split(i, factor=_ROWS)
    s[result].reorder(*outer, block, warpgroup, i, *columns_of)
    for axis, name in zip(outer[::-1], ("blockIdx.y", "blockIdx.z"), strict=False):
        s[result].bind(axis, thread_axis(name))
    s[result].bind(block, thread_axis("blockIdx.x"))
    s[result].env_threads([thread_axis((0, 128), "threadIdx.x")])
    s[result].bind(warpgroup, thread_axis("threadIdx.y"))
    for tensor in chain.held:
        load(tensor, result, block)
    registers = {1: (56, 240), 2: (24, 240), 3: (32, 160)}[rows // _ROWS]
    of_scores = wgmma(dtype, "float32", n=columns, k=depth, transpose_b=True)
    for loop in chain.loops:
        total = loop.total
        s[total].set_scope("local")
        s[total].compute_at(s[result], warpgroup)
        tiles, inner = s[total].split(loop.axis, factor=columns)
        s[total].reorder(tiles, *s[total].op.axis, inner)
        for local in (*loop.products, *loop.elements):
            s[local].set_scope("local")
            s[local].compute_at(s[total], tiles)
        for tensor in loop.loaded:
            load(tensor, total, tiles)
        for product in loop.products:
            s[product].tensorize(s[product].op.axis[-2], of_scores)
        if loop.is_product:
            s[total].tensorize(s[total].op.axis[-2], wgmma(dtype, "float32", n=depth, k=columns))
        s[total].software_pipeline(tiles, stages)
        if loop is first:
            s[total].specialize(tiles, *registers)
        else:
            s[total].rolling_update(loop.axis, of=first.total)
