"""The gradient of attention by a mask of floats: gradients of scores, summed over what shares an element of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..instructions import wgmma
from ..target import current_gpu
from ..te import Expr, IterVar, Tensor, compute, reduce_axis, sum, thread_axis
from ..te.schedule import Schedule
from .attention_chains import Chain, Loop
from .attention_memory import has_producer

__all__ = ["chain_of_mask", "is_of_rows", "mask_of_sums", "mask_tile_for", "schedule_mask"]

_ROWS, _WARPGROUP = 64, 128  # rows and threads of a warpgroup
_WIDE_BYTES = 256  # of a row, of which more take smaller tiles
Load = Callable[[Tensor, Tensor, IterVar], None]


def is_of_rows(mask: Tensor) -> bool:
    """Whether all queries of a head have one row of the mask: a kernel then sums over queries."""
    rows = 1 if mask.ndim < 2 else mask.shape[-2]
    return isinstance(rows, int) and rows == 1


def mask_tile_for(mask: Tensor, width: int, wide: int, item: int) -> tuple[int, int]:
    """Rows and columns of the kernel: of keys and queries if a row is all queries', otherwise of queries and keys.

    `width` and `wide` are columns of keys and of values, of `item` bytes each.
    """
    is_wide = max(width, wide) * item > _WIDE_BYTES
    if is_of_rows(mask):
        return (_ROWS, _ROWS) if is_wide else (2 * _ROWS, _ROWS)
    return (_ROWS, _ROWS // 2) if is_wide else (2 * _ROWS, _ROWS)


def chain_of_mask(
    mask: Tensor, tile: tuple[int, int], held: list[Tensor], loaded: list[Tensor], products: list[Tensor],
    elements: list[Tensor],
) -> Chain:  # fmt: skip
    """Sums over queries for each key of each head. Of a mask with rows of its own sums over the heads that share it."""
    scores = elements[-1]
    *heads, rows, columns = scores.shape
    if is_of_rows(mask):
        r = reduce_axis((0, columns), name="r.mask")
        total = compute((*heads, rows), lambda *row: sum(scores(*row, r), axis=r), name="mask.sums")
        own: Any = compute((*heads, mask.shape[-1]), lambda *row: total(*row), name="mask.rows")
        return Chain([own], held, [Loop(total, r, loaded, products, elements, False)], tile)
    kept = [1] * (len(heads) + 2 - mask.ndim) + [*mask.shape[:-2]]
    shared = [extent if own == 1 else 1 for own, extent in zip(kept, heads, strict=True)]
    r = reduce_axis((0, math.prod(int(extent) for extent in shared)), name="heads")

    def element(*at: Expr) -> Expr:
        *outer, i, j = at
        places, rest = list[Any](), r
        for number in range(len(heads))[::-1]:
            own, extent = kept[number], shared[number]
            outer_place = outer[number - len(heads)] if len(heads) - number <= len(outer) else 0
            places.insert(0, rest % extent if own == 1 else outer_place)
            rest = rest // extent
        return sum(scores(*places, i, j), axis=r)

    total = compute((*mask.shape[:-2], rows, columns), element, name="mask.sums")
    made = compute(mask.shape, lambda *at: total(*at).astype(mask.dtype), name="dmask")
    return Chain([made], held, [Loop(total, r, loaded, products, elements, False)], tile, sums=r)


def mask_of_sums(sums: Tensor, mask: Tensor) -> Tensor:
    """The gradient by a mask whose rows are all queries', of sums for each key of each head."""
    kept = [1] * (sums.ndim + 1 - mask.ndim) + [*mask.shape]
    del kept[-2]
    shared = [
        (number, extent) for number, (own, extent) in enumerate(zip(kept, sums.shape, strict=True)) if own != extent
    ]
    axes = {number: reduce_axis((0, extent), name=f"m{number}") for number, extent in shared}

    def element(*at: Expr) -> Expr:
        own = [*at[:-2], at[-1]] if mask.ndim > 1 else list(at)
        places = [*[0] * (len(kept) - len(own)), *own]
        value = sums(*(axes.get(number, place) for number, place in enumerate(places)))
        return sum(value, axis=list(axes.values())) if axes else value

    total = compute(mask.shape, element, name="dmask.sum")
    return compute(mask.shape, lambda *at: total(*at).astype(mask.dtype), name="dmask")


def schedule_mask(s: Schedule, chain: Chain, load: Load, registers: tuple[int, int], stages: int) -> None:
    """A block for each tile of the mask, which sums over heads."""
    (result,), (rows, columns), (loop,) = chain.results, chain.tile, chain.loops
    total, r = loop.total, loop.axis
    *outer, i, j = s[result].op.axis
    block, i = s[result].split(i, factor=rows)
    warpgroup, i = s[result].split(i, factor=_ROWS)
    across, j = s[result].split(j, factor=columns)
    s[result].reorder(*outer, block, across, warpgroup, i, j)
    block = s[result].fuse(block, across)
    while len(outer) > 1:
        outer[-2:] = [s[result].fuse(*outer[-2:])]
    for axis in outer:
        s[result].bind(axis, thread_axis("blockIdx.y"))
    s[result].bind(block, thread_axis("blockIdx.x"))
    s[result].env_threads([thread_axis((0, _WARPGROUP), "threadIdx.x")])
    s[result].bind(warpgroup, thread_axis("threadIdx.y"))
    s[total].set_scope("local")
    s[total].compute_at(s[result], warpgroup)
    s[total].reorder(r, *s[total].op.axis)
    for local in (*loop.products, *loop.elements):
        s[local].set_scope("local")
        s[local].compute_at(s[total], r)
    for tensor in (*chain.held, *loop.loaded):
        load(tensor, total, r)
    for number, product in enumerate(loop.products):
        depth: Any = chain.held[number].shape[-1]
        of_scores = wgmma(chain.held[0].dtype, "float32", n=columns, k=depth, transpose_b=True)
        s[product].tensorize(s[product].op.axis[-2], of_scores)
    s[total].software_pipeline(r, stages)
    if has_producer(current_gpu(), chain.held[0].dtype):
        s[total].specialize(r, *registers)
