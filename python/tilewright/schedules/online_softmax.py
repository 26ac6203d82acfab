"""Attention in one kernel: two matmuls by warpgroups, and an online softmax between them."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..dtypes import item_bytes
from ..errors import TilewrightValueError as ValueError
from ..target import current_gpu
from ..te import Expr, Tensor, compute, create_schedule
from ..te.schedule import Schedule
from .attention_memory import shared_bytes_of
from .attention_stages import WIDTHS, Attention
from .key_splits import KeySplits, Written, merged, schedule_merge
from .key_tiles import KeyTiles
from .scores import Dropout, in_window
from .shared_heads import schedule_of_heads
from .softmax_kernel import Stages, schedule_online_softmax, whole

__all__ = ["attention_of"]


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
    exponentials. Of a query that sees no key, that is minus infinity. Results then go from registers to memory, in
    whole multiples of 32 columns, of which another kernel copies those that are there.

    With `written`, scores are those of a user's expressions. They are times `scale` if that is given.
    """
    extents: list[Any] = [*Q.shape[-2:], V.shape[-1]]
    queries, width, wide = extents
    places = KeySplits.of(Q, K, V, tile[1], key_splits, pages, written)
    listed = None
    if is_listed:
        if key_splits is not None or pages is not None or lengths is not None:
            raise ValueError(_CANNOT_LIST)
        listed = _listed(K, queries, mask, written, places, tile, before, behind, offset)
    if scale is None:
        scale = float(width**-0.5) if written is None else 1.0
    of = Attention(
        Q=Q, K=K, V=V, mask=mask, lengths=lengths, slopes=slopes, sinks=sinks, written=written,
        scale=scale, before=before, behind=behind, offset=offset, softcap=softcap, rows=tile[0],
        places=places, listed=listed, dropout=Dropout.of(dropout_p, seed),
        made=Stages(places.heads, whole(places.rows, tile[0]), whole(places.keys, tile[1])),
    )  # fmt: skip
    M, L, P, W = of.softmax()
    if with_logarithms and places.is_split:
        raise ValueError(f"expected no key_splits beside the logarithms of sums, got {key_splits}")
    # What has two results stores both from registers.
    gpu = current_gpu()
    has_tma = "tma" in gpu.features
    if with_logarithms or places.is_split or not has_tma:
        is_direct = True
    if is_direct is None:
        most = gpu.shared_bytes_per_block
        through = shared_bytes_of(tile, of.depth, of.results, stages, is_stored=True, item=item_bytes(Q.dtype))
        is_direct = of.results == wide and through > most
    is_filled = (with_logarithms or not (has_tma or places.is_split)) and of.results != wide
    if is_direct and not (places.is_split or is_filled) and of.results != wide:
        raise ValueError(f"expected whole results of a multiple of {WIDTHS} columns to store directly, got {wide}")
    stored = compute(W.shape, of.result, name="O.shared")
    own_name = "O" if written is None else written.name
    whole_shape = (*of.made.heads, places.rows, of.results if places.is_split or is_filled else wide)
    order = tuple(range(len(whole_shape))) if written is None else written.order

    def result(*at: Expr) -> Expr:
        own = [at[order.index(axis)] for axis in range(len(order))]
        return of.result(*own) if is_direct else stored(*own)

    last = compute(
        [whole_shape[axis] for axis in order], result,
        name="O.parts" if places.is_split else "O.filled" if is_filled else own_name,
    )  # fmt: skip
    logarithms = []
    if with_logarithms or places.is_split:
        logarithms = [compute(last.shape[:-1], of.logarithm, name="logarithms")]
    O, merging = last, []  # noqa: E741
    if is_filled:
        O = compute((*of.made.heads, queries, wide), lambda *at: last(*at), name=own_name)  # noqa: E741
    if places.is_split:
        O, merging = merged(last, logarithms[0], places, queries, wide, Q.dtype, sinks)  # noqa: E741
    given = [Q, K, V, *(one for one in (mask, pages, lengths, slopes, sinks, seed) if one is not None)]
    made_of = [O] if places.is_split else [O, *logarithms]
    s = create_schedule([one.op for one in made_of])
    schedule_online_softmax(
        s, of.made, (M, L, P, W, last if is_direct else stored, last), of.axes, tile, stages, registers,
        places.is_split, logarithms, order, (of.is_transposed(K), of.is_transposed(V)),
    )  # fmt: skip
    if is_filled:
        schedule_of_heads(s, O)
    if listed is not None:
        listed.schedule(s)
    if blocks is not None:
        s[last].persistent(blocks)
    if merging:
        schedule_merge(s, O, merging)
    return s, [*given, *made_of]


_CANNOT_LIST = "expected a mask of bools, and no key_splits, pages or lengths, to list the tiles of keys"


def _listed(
    K: Tensor, queries: Any, mask: Tensor | None, written: Written | None, places: KeySplits, tile: tuple[int, int],
    before: int | None, behind: int | None, offset: int,
) -> KeyTiles:  # fmt: skip
    """The tiles of keys of which a mask of bools leaves something."""
    own_mask, keys = None if written is None else written.mask, K.shape[-2]
    if own_mask is not None:
        return KeyTiles.of(own_mask.heads, queries, keys, tile, own_mask.sees_key)
    if mask is None or mask.dtype != "bool":
        raise ValueError(_CANNOT_LIST)
    window = partial(in_window, before=before, behind=behind, offset=offset)
    return KeyTiles.of_mask(mask, len(places.heads), queries, keys, tile, window)
