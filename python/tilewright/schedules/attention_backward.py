"""The gradients of attention by the warpgroups of sm_90a: a kernel of statistics, one of queries, one of keys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..dtypes import item_bytes
from ..errors import TilewrightValueError as ValueError
from ..instructions import wgmma
from ..target import current_gpu
from ..te import IterVar, Tensor, compute, create_schedule, thread_axis
from ..te.schedule import Schedule
from .attention_chains import Chain
from .attention_gradient_stages import Definition
from .attention_mask import is_of_rows, mask_of_sums, mask_tile_for, schedule_mask
from .attention_memory import has_producer
from .scores import Dropout
from .shared_heads import is_shared, of_heads, schedule_of_heads

__all__ = ["attention_gradients_of"]

_ROWS, _SPAN = 64, 128
_THREADS, _MANY_THREADS = 256, 1024  # of a block that sums products, and of one that sums over all queries
_VECTOR = 8  # elements that a thread reads at once, or rounds
_LEAST_LANES = 8  # that read neighbouring vectors
_TOGETHER = 3  # tiles of which the last is that of the gradients by values and by keys


def attention_gradients_of(
    head: Tensor,
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
    tiles: Sequence[tuple[int, int]] = ((128, 64), (128, 64), (128, 64)),
    stages: int = 2,
    result: Tensor | None = None,
    dropout_p: float = 0.0,
    seed: Tensor | None = None,
    logarithms: Tensor | None = None,
    lengths: Tensor | None = None,
    slopes: Tensor | None = None,
    sinks: Tensor | None = None,
    adds: bool = False,
    wanted: Sequence[str] = "QKV",
    is_listed: bool = False,
    registers: tuple[int, int] | None = None,
) -> tuple[Schedule, list[Tensor]]:
    """The gradients of softmax(scale Q K^T) V by Q, K and V, where `head` is that by the result.

    Three kernels compute each weight anew, and no matrix of scores is in memory. The first gives two numbers for each
    query: the logarithm of its sum of exponentials, and the sum of its weights times their gradients. The second
    multiplies the gradients of scores by K, the third multiplies weights by `head` and gradients of scores by Q. Each
    sum has one order, so the same arrays give the same gradients. `tiles` are rows and columns of the three. Of four
    tiles, the last is that of a kernel of its own for the gradients by K. Heads of keys and of values may then have
    different widths. Only the `wanted` gradients are computed. "MASK" is that by a mask of floats, and "SINKS" that by
    the sinks, in kernels of their own. A mask then has an element for each key.

    Weights and gradients of scores are rounded to the type of Q before they are multiplied. Keys and values may have
    fewer heads than Q. If the `result` is given, the second number comes of it alone. With the `logarithms` of the
    forward pass (`attention_of`), too, there is no first kernel.

    If it `adds`, there is no second kernel either: blocks of keys add their parts of the gradients by queries. These
    are five matmuls in place of seven. The order of the additions differs from run to run. Another kernel rounds. Parts
    go through shared memory, from which TMA adds them. The last tile then has as many queries as keys, or has as many
    keys as a head has columns.

    If `is_listed`, kernels list the tiles of which a `mask` of bools leaves something. The kernels of gradients visit
    only these.

    `registers` are those of a producer thread and of a consumer thread. With (24, 232) and tiles of 64 rows, an SM has
    two blocks if its memory has room for both.

    All options are those of `attention_of`. Heads whose width is no multiple of 32 take another kernel, which copies.

    Returns
    -------
    tuple
        The schedule, and `head`, Q, K and V, the mask, the seed, the result, the logarithms, lengths, slopes and sinks
        if they are given, and the wanted gradients.
    """
    scale = float(Q.shape[-1] ** -0.5) if scale is None else scale  # type: ignore[operator]
    dropout = Dropout.of(dropout_p, seed)
    made = Definition(
        head, Q, K, V, scale, before, behind, offset, dropout, mask, softcap, lengths, slopes, sinks, is_listed
    )  # fmt: skip
    if logarithms is not None and result is None:
        raise ValueError("expected the result beside the logarithms of its sums, got none")
    if is_listed and (mask is None or mask.dtype != "bool" or lengths is not None):
        raise ValueError("expected a mask of bools, and no lengths, to list the tiles of queries and keys")
    if "MASK" in wanted and (mask is None or mask.dtype == "bool" or mask.shape[-1] != K.shape[-2]):
        raise ValueError("expected a mask of floats, with an element for each key, to compute its gradient")
    of_keys = [one for one in "VK" if one in wanted]
    is_apart = len(tiles) > _TOGETHER
    needs_products = [*wanted] != ["V"]
    products = None if result is None or not needs_products else made.products(result)
    chains = [] if logarithms is not None else [made.statistics(tiles[0], result is None and needs_products)]
    numbers = [logarithms] if logarithms is not None else [*chains[0].results]
    numbers += [] if products is None else [products]
    shared = is_shared(made.heads, K, V)
    found = dict[str, Tensor]()
    if "Q" in wanted and not adds:
        chains.append(made.gradients(tiles[1], numbers, "Q", Q.dtype))
        (found["Q"],) = chains[-1].results
    for of in of_keys if is_apart else [of_keys] if of_keys else []:
        own = tiles[2 + (is_apart and of == "K")]
        chains.append(made.gradients(own, numbers, of, "float32" if shared else Q.dtype, adds=adds))
        found |= zip(of, chains[-1].results, strict=True)
    of_added = chains[-1] if of_keys else None
    added = of_added.added if of_added is not None else None
    if added is not None:
        sums = added.total
        found["Q"] = compute(sums.shape, lambda *at: (sums(*at) * scale).astype(Q.dtype), name="dQ")
    inputs, others = {"Q": Q, "K": K, "V": V}, list[Tensor]()
    for name, x in inputs.items():
        if name in found and [*found[name].shape] != [*x.shape]:
            found[name] = of_heads(found[name], x, f"d{name}")
            others.append(found[name])
    if mask is not None and "MASK" in wanted:
        width, wide = (int(x.shape[-1]) for x in (Q, V))
        own = mask_tile_for(mask, width, wide, item_bytes(Q.dtype))
        chains.append(made.gradients(own, numbers, ["MASK"], "float32"))
        (found["MASK"],) = chains[-1].results
        if is_of_rows(mask):
            found["MASK"] = mask_of_sums(found["MASK"], mask)
            others.append(found["MASK"])
    if "SINKS" in wanted:
        found["SINKS"] = made.of_sinks(numbers[0], numbers[1])
    gradients = [found[name] for name in (*inputs, "MASK", "SINKS") if name in found]
    ops = [*dict.fromkeys(one.op for one in gradients)]
    s = create_schedule(ops[::-1] if adds else ops)
    for chain in chains:
        _schedule(s, chain, stages, registers)
    for listed in made.lists.values():
        listed.schedule(s)
    if of_added is not None and added is not None:
        _schedule_added(s, of_added, stages, registers)
        _schedule_rounding(s, found["Q"])
    for one in others:
        schedule_of_heads(s, one)
    if products is not None:
        _schedule_products(s, products)
    if "SINKS" in found:
        _schedule_sinks(s, found["SINKS"])
    given = [one for one in (mask, seed, result, logarithms, lengths, slopes, sinks) if one is not None]
    return s, [head, Q, K, V, *given, *gradients]


def _schedule_products(s: Schedule, products: Tensor) -> None:
    """Some lanes of a warp for each row, which read vectors, where those divide it; or else a warp."""
    (column,) = products.op.reduce_axis
    width: Any = column.dom.extent if column.dom is not None else None
    vectors = width // _VECTOR if isinstance(width, int) and width % _VECTOR == 0 else 0
    lanes = min(vectors & -vectors, 32)
    row = s[products].op.axis[0]
    for axis in s[products].op.axis[1:]:
        row = s[products].fuse(row, axis)
    if lanes < _LEAST_LANES:
        lanes = 32
        _, lane = s[products].split(column, factor=lanes)
    else:
        lane, own = s[products].split(column, factor=width // lanes)
        s[products].unroll(own)
    block, warp = s[products].split(row, factor=_THREADS // lanes)
    s[products].bind(block, thread_axis("blockIdx.x"))
    s[products].bind(warp, thread_axis("threadIdx.y"))
    s[products].bind(lane, thread_axis("threadIdx.x"))


def _schedule_sinks(s: Schedule, gradient: Tensor) -> None:
    """A block for each head."""
    (head,) = s[gradient].op.axis
    _, thread = s[gradient].split(gradient.op.reduce_axis[0], factor=_MANY_THREADS)
    s[gradient].bind(head, thread_axis("blockIdx.x"))
    s[gradient].bind(thread, thread_axis("threadIdx.x"))


def _schedule(s: Schedule, chain: Chain, stages: int, registers: tuple[int, int] | None) -> None:
    result, (rows, columns) = chain.results[0], chain.tile
    registers = registers or _registers(rows)
    dtype = chain.held[0].dtype

    def load(tensor: Tensor, stage: Tensor, loop: IterVar) -> None:
        _load(s, tensor, stage, loop, chain, is_held=tensor in chain.held)

    if chain.sums is not None:
        schedule_mask(s, chain, load, registers, stages)
        return
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
            depth: Any = chain.held[loop.products.index(product)].shape[-1]
            of_scores = wgmma(dtype, "float32", n=columns, k=depth, transpose_b=True)
            s[product].tensorize(s[product].op.axis[-2], of_scores)
        if loop.is_product:
            sums: Any = total.shape[-1]
            s[total].tensorize(s[total].op.axis[-2], wgmma(dtype, "float32", n=sums, k=columns))
        s[total].software_pipeline(tiles, stages)
        if loop is not first:
            s[total].rolling_update(loop.axis, of=first.total)
        elif has_producer(current_gpu(), dtype):
            s[total].specialize(tiles, *registers)


def _load(s: Schedule, tensor: Tensor, stage: Tensor, loop: IterVar, chain: Chain, *, is_held: bool) -> None:
    # A warpgroup's columns of what is held are whole spans.
    columns: Any = _ROWS if is_held and chain.added is not None and chain.added.is_turned else tensor.shape[-1]
    s[tensor].set_scope("shared")
    s[tensor].compute_at(s[stage], loop)
    s[tensor].copy_by("tma", swizzle=math.gcd(columns * item_bytes(tensor.dtype), _SPAN))


def _schedule_added(s: Schedule, chain: Chain, stages: int, registers: tuple[int, int] | None) -> None:
    """In the loop over queries that sums gradients of keys and values: each warpgroup computes a part of the tile."""
    added = chain.added
    assert added is not None
    total, copied, part, shared = added.total, added.copied, added.part, added.elements[-1]
    rows, queries = chain.tile
    *outer, i, c = s[total].op.axis
    tiles, i = s[total].split(i, factor=queries)
    s[total].reorder(*outer, added.blocks, tiles, i, c)
    for axis, name in zip(outer[::-1], ("blockIdx.y", "blockIdx.z"), strict=False):
        s[total].bind(axis, thread_axis(name))
    s[total].bind(added.blocks, thread_axis("blockIdx.x"), reduce_add=True)
    s[total].env_threads([thread_axis((0, 128), "threadIdx.x")])
    s[total].copy_by("tma")
    for tensor in added.held:
        _load(s, tensor, total, added.blocks, chain, is_held=True)
    for tensor in added.loaded:
        _load(s, tensor, total, tiles, chain, is_held=False)

    def of_warpgroups(stage: Tensor, across: int) -> IterVar:
        s[stage].set_scope("shared")
        s[stage].compute_at(s[total], tiles)
        own, _ = s[stage].split(s[stage].op.axis[across], factor=_ROWS)
        s[stage].reorder(own, *s[stage].op.axis[:-2])
        s[stage].bind(own, thread_axis("threadIdx.y"))
        return own

    own = of_warpgroups(shared, -2)
    warpgroup = of_warpgroups(copied, -1 if added.is_turned else -2)
    depth: Any = chain.held[0].shape[-1]
    for local in (*added.products, *added.elements[:-1]):
        s[local].set_scope("local")
        s[local].compute_at(s[shared], own)
    for product in added.products:
        s[product].tensorize(
            s[product].op.axis[-2], wgmma(shared.dtype, "float32", n=queries, k=depth, transpose_b=True)
        )
    s[part].set_scope("local")
    s[part].compute_at(s[copied], warpgroup)
    by_keys = wgmma(shared.dtype, "float32", n=queries if added.is_turned else depth, k=rows, transpose_a=True)
    s[part].tensorize(s[part].op.axis[-2], by_keys)
    s[total].software_pipeline(tiles, stages)
    s[total].specialize(tiles, *(registers or _registers(rows)))
    s[total].rolling_update(added.blocks, of=chain.loops[0].total)


def _schedule_rounding(s: Schedule, rounded: Tensor) -> None:
    """Neighbouring threads round neighbouring vectors."""
    flat = s[rounded].op.axis[0]
    for axis in s[rounded].op.axis[1:]:
        flat = s[rounded].fuse(flat, axis)
    vector, lane = s[rounded].split(flat, factor=_VECTOR)
    block, thread = s[rounded].split(vector, factor=_THREADS)
    s[rounded].bind(block, thread_axis("blockIdx.x"))
    s[rounded].bind(thread, thread_axis("threadIdx.x"))
    s[rounded].vectorize(lane)


def _registers(rows: int) -> tuple[int, int]:
    """Of a producer thread and of a consumer thread."""
    return {1: (56, 240), 2: (24, 240), 3: (32, 160)}[rows // _ROWS]
