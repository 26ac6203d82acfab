"""Attention in one kernel: two matmuls by warpgroups, and an online softmax between them."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..devices import current
from ..errors import TilewrightValueError as ValueError
from ..te import (
    Expr,
    Tensor,
    all,
    compute,
    const,
    create_schedule,
    exp2,
    if_then_else,
    log2,
    max,
    min,
    reduce_axis,
    select,
    sum,
)
from ..te.schedule import Schedule
from .attention_memory import shared_bytes_of
from .key_splits import KeySplits, Written, merged, schedule_merge
from .key_tiles import KeyTiles
from .scores import Dropout, in_window, of_place, score
from .softmax_kernel import LOG2_E, Stages, schedule_online_softmax, whole

__all__ = ["attention_of"]

_WIDTHS = 32
# Of a row that is masked away whole the maximum counts as this, so that its exponentials are 0. No score is less.
_LEAST = -1e30


def attention_of(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    mask: Tensor | None = None,
    *,
    scale: float | None = None,
    before: int | None = None,
    behind: int | None = None,
    offset: int = 0,
    softcap: float | None = None,
    tile: tuple[int, int] = (128, 128),
    stages: int = 2,
    registers: tuple[int, int] | None = None,
    blocks: int | None = None,
    is_direct: bool | None = None,
    key_splits: int | None = None,
    pages: Tensor | None = None,
    lengths: Tensor | None = None,
    slopes: Tensor | None = None,
    sinks: Tensor | None = None,
    dropout_p: float = 0.0,
    seed: Tensor | None = None,
    written: Written | None = None,
    is_listed: bool = False,
    with_logarithms: bool = False,
) -> tuple[Schedule, list[Tensor]]:
    """softmax(scale Q K^T) V of inputs with any strides that TMA can step over, … x heads x queries x width each.

    K and V may have fewer heads than Q, and extents of 1 before their last two. Rows, keys and widths need not divide
    the tiles: TMA fills in zeros, and scores of keys that are not there are masked away. Query i sees the keys from
    i + `offset` - `before` to i + `offset` + `behind`. A `mask` of bools is true where a key is seen; one of floats is
    added to the scores. A `softcap` c makes scores c tanh(score / c). A row that sees no key is 0.

    `blocks` is the number of blocks that compute all tiles in turn. Without it, each tile has a block. If `is_direct`,
    results go from registers to memory; otherwise by way of shared memory. By default they do if a block has no room
    for them beside what it loads.

    With `key_splits`, the keys are split among so many times as many blocks, for few queries. A second kernel merges
    what the splits come to. One query of several heads that share keys is one tile of these heads. One split of all
    keys is for that alone.

    With `pages`, K and V are pages x heads x page x width each. Row b of these numbers, sequences x pages of int32,
    says which pages have the keys and values of sequence b. `lengths` says how many keys each sequence has. Its last
    query then stands at its last key, and `offset` counts from there. `slopes` says for each head what a score grows by
    from one key to the next. `sinks` has for each head a score without a value. It only takes its share of the weights.
    Weights are dropped with the probability `dropout_p`; a number of int32, the `seed`, says which.

    If `is_listed`, two kernels list the tiles of keys of which a `mask` of bools, or that of `written`, leaves
    something. Only these are visited, and the mask is computed only for those that it cuts.

    If `with_logarithms`, there is a second result, of float32: for each query the logarithm, by 2, of its sum of
    exponentials. Of a query that sees no key, that is minus infinity. Results then go from registers to memory.

    With `written`, scores are those of a user's expressions. They are times `scale` if that is given.
    """
    rows, columns = tile
    extents: list[Any] = [*Q.shape[-2:], V.shape[-1]]
    dtype, (queries, width, wide) = Q.dtype, extents
    keys: Any = K.shape[-2] if pages is None else K.shape[-2] * pages.shape[1]
    if scale is None:
        scale = float(width**-0.5) if written is None else 1.0
    places = KeySplits.of(Q, K, V, columns, key_splits, pages, written)
    made = Stages(places.heads, whole(places.rows, rows), whole(places.keys, columns))
    heads, depth, results = made.heads, whole(width, _WIDTHS), whole(wide, _WIDTHS)
    shape, all_keys = (*heads, made.rows, made.keys), places.end(True, made.keys)
    # Exponentials are those of two: scores are multiplied once, by their unit and by this logarithm.
    unit = scale if softcap is None else softcap
    unit = 1.0 if unit <= 0 or (mask is not None and mask.dtype != "bool") else unit
    factor = unit * LOG2_E

    window = partial(in_window, before=before, behind=behind)
    listed = None
    if is_listed:
        own_mask = None if written is None else written.mask
        is_read = own_mask is not None or (mask is not None and mask.dtype == "bool")
        if not is_read or key_splits is not None or pages is not None or lengths is not None:
            raise ValueError("expected a mask of bools, and no key_splits, pages or lengths, to list the tiles of keys")
        if own_mask is not None:
            listed = KeyTiles.of(own_mask.heads, queries, keys, tile, own_mask.sees_key)
        elif mask is not None:
            listed = KeyTiles.of_mask(mask, len(heads), queries, keys, tile, partial(window, offset=offset))

    def filled(x: Tensor, extents: tuple[int, int], name: str) -> Tensor:
        """The tensor in whole tiles, with zeros where it has no element."""

        def element(*at: Expr) -> Expr:
            *outer, row, column = at
            if listed is not None and x is not Q:
                *outer, number = outer
                row = listed.key(outer, number * rows, row)
            value, place, bound = places.element(x, outer, row, column, of_keys=x is not Q)
            ends = [(place, bound, places.end(x is not Q, extents[0])), (column, x.shape[-1], extents[1])]
            there = [index < own for index, own, all_ in ends if own is not None and own < all_]
            return if_then_else(all(*there), value, const(0, x.dtype)) if there else value

        of_tile = [made.rows // rows] if listed is not None and x is not Q else []
        return compute((*heads, *of_tile, *extents), element, name=name)

    def read(x: Tensor, query: tuple[Expr, ...], row: Expr, column: Expr) -> Expr:
        of_tile = [query[-1] // rows] if listed is not None else []
        return x(*query[:-1], *of_tile, row, column).astype("float32")

    query = filled(Q, (made.rows, depth), "Q.shared")
    made.queries.append(query)

    # Whether keys behind the last are masked away by that alone.
    has_end = keys < all_keys if lengths is None else behind is None or behind + offset > 0

    def scored(name: str) -> Tensor:
        """Each reduction over the keys has its own, as its loop computes them."""
        d = reduce_axis((0, depth), name="d")
        key = filled(K, (made.keys, depth), f"K.{name}")
        raw = compute(
            shape,
            lambda *at: sum(query(*at[:-1], d).astype("float32") * read(key, at[:-1], at[-1], d), axis=d),
            name=name,
        )
        made.loaded.append((key, raw))
        made.scores.append(raw)

        def element(*at: Expr) -> Expr:
            *outer, i, j = at
            (head, query_), key_ = places.head(outer, i), places.key(outer, j)
            own = None
            if places.packed > 1 and (mask is not None or slopes is not None):
                head[-1] = min(head[-1], places.all_heads[-1] - 1)
            if listed is not None:
                key_ = listed.key(outer, i, j)
            ends = ((query_, queries, made.rows), (key_, keys, all_keys))
            there = [*head, *(min(place, most - 1) if most < all_ else place for place, most, all_ in ends)]
            if mask is not None:
                own = of_place(mask, *there)
            masked = None if listed is None or written is None else written.mask
            if masked is not None:
                own = masked.sees((*outer, i, key_), there)
            sides = (before, behind)
            if listed is not None and own is not None:
                # What is counted as whole no other condition cuts.
                seen = all(own, *window(query_, key_, offset=offset), *([key_ < keys] if has_end else []))
                own, sides = select(listed.is_whole(outer, i, j), True, seen), (None, None)
            end, first = keys, offset
            if lengths is not None:
                end = lengths(head[0])
                first = end + (offset - queries)
            if masked is not None and own is not None:
                value = masked.score(raw(*at), (*outer, i, key_), there, own)
            elif written is not None:
                value = written.score(raw(*at), at, there)
            else:
                value = score(
                    raw(*at), query_, key_, mask=own, scale=scale, before=sides[0], behind=sides[1], offset=first,
                    softcap=softcap, slope=None if slopes is None else slopes(head[-1]), in_registers=True, unit=unit,
                )  # fmt: skip
            if listed is not None:
                return select(listed.is_visited(outer, i, j), value, const(float("-inf"), "float32"))
            return select(key_ < end, value, const(float("-inf"), "float32")) if has_end else value

        is_masked = (
            scale != unit
            or softcap is not None
            or slopes is not None
            or written is not None
            or mask is not None
            or before is not None
            or behind is not None
            or has_end
        )
        made.masked.append(compute(shape, element, name=f"{name}.masked") if is_masked else None)
        last = made.masked[-1]
        return raw if last is None else last

    # Whether each row of a query sees a key: the last that it may see is there, and no other mask.
    sees = keys > 0 and written is None and mask is None and before is None and (behind is None or offset + behind >= 0)
    sees = sees and (behind is None or not places.is_split) and lengths is None

    def weight(S: Tensor, *at: Expr) -> Expr:
        largest = M(*at[:-1])
        return exp2(S(*at) * factor - (largest if sees else max(largest, _LEAST)) * factor)

    axes = [reduce_axis((0, made.keys), name=name) for name in ("jm", "jl", "jo")]
    of_maximum, of_sum, of_values = scored("SM"), scored("SL"), scored("SO")
    M = compute(shape[:-1], lambda *row: max(of_maximum(*row, axes[0]), axis=axes[0]), name="M")
    L = compute(shape[:-1], lambda *row: sum(weight(of_sum, *row, axes[1]), axis=axes[1]), name="L")
    dropout = Dropout.of(dropout_p, seed)

    def used(*at: Expr) -> Expr:
        *outer, i, j = at
        value = weight(of_values, *at)
        if dropout is not None:
            head, query_ = places.head(outer, i)
            value = dropout.of_weight(
                value, head, query_, places.key(outer, j), heads=places.all_heads, queries=queries
            )  # fmt: skip
        return value.astype(dtype)

    P = compute(shape, used, name="P")
    value = filled(V, (made.keys, results), "V.shared")
    W = compute(
        (*shape[:-1], results),
        lambda *at: sum(P(*at[:-1], axes[2]).astype("float32") * read(value, at[:-1], axes[2], at[-1]), axis=axes[2]),
        name="W",
    )
    made.loaded.append((value, W))

    def unit_of(*row: Expr) -> Expr:
        """The exponent, of two, of what the sum of a row is counted in."""
        return (M(*row) if sees else max(M(*row), _LEAST)) * factor

    def total_of(*row: Expr) -> Expr:
        if sinks is None or places.is_split:
            return L(*row)
        return L(*row) + exp2(sinks(row[-2]).astype("float32") * LOG2_E - unit_of(*row))

    def result(*at: Expr) -> Expr:
        total = total_of(*at[:-1])
        if not sees:
            total = select(total == 0.0, const(1, "float32"), total)
        value = W(*at) * (1 / total)
        return value if places.is_split else value.astype(dtype)

    if with_logarithms and places.is_split:
        raise ValueError(f"expected no key_splits beside the logarithms of sums, got {key_splits}")
    # What has two results stores both from registers.
    if with_logarithms or places.is_split:
        is_direct = True
    if is_direct is None:
        most = current().shared_bytes_per_block
        is_direct = results == wide and shared_bytes_of(tile, depth, results, stages, 2) > most
    if is_direct and not places.is_split and results != wide:
        raise ValueError(f"expected whole results of a multiple of {_WIDTHS} columns to store directly, got {wide}")
    stored = compute(W.shape, result, name="O.shared")
    last = compute(
        (*heads, places.rows, results if places.is_split else wide),
        lambda *at: result(*at) if is_direct else stored(*at),
        name="O.parts" if places.is_split else written.name if written is not None else "O",
    )
    logarithms = []
    if with_logarithms or places.is_split:
        logarithms = [compute(last.shape[:-1], lambda *row: unit_of(*row) + log2(total_of(*row)), name="logarithms")]
    O, merging = last, []  # noqa: E741
    if places.is_split:
        O, merging = merged(last, logarithms[0], places, queries, wide, dtype, sinks)  # noqa: E741
    given = [Q, K, V, *(one for one in (mask, pages, lengths, slopes, sinks, seed) if one is not None)]
    made_of = [O] if places.is_split else [O, *logarithms]
    s = create_schedule([one.op for one in made_of])
    schedule_online_softmax(
        s, made, (M, L, P, W, last if is_direct else stored, last), axes, tile, stages, registers, places.is_split,
        logarithms,
    )  # fmt: skip
    if listed is not None:
        listed.schedule(s)
    if blocks is not None:
        s[last].persistent(blocks)
    if merging:
        schedule_merge(s, O, merging)
    return s, [*given, *made_of]
