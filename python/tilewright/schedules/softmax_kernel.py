"""The kernel of two matmuls by warpgroups, with an online softmax between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..dtypes import item_bytes
from ..instructions import wgmma
from ..target import current_gpu
from ..te import IterVar, Tensor, thread_axis
from ..te.schedule import Schedule
from .attention_memory import has_producer

__all__ = ["LOG2_E", "Stages", "schedule_online_softmax", "whole"]

_ROWS, _SPAN = 64, 128
_GRID = 2  # axes of the grid beside that of the tiles of queries
LOG2_E = math.log2(2.718281828459045)


def whole(extent: Any, factor: int) -> Any:
    """The extent of whole tiles of `factor`; of a symbol an expression."""
    return (extent + (factor - 1)) // factor * factor


@dataclass
class Stages:
    """The stages of te, by what they are."""

    heads: list[int]
    rows: int  # whole tiles of queries
    keys: int  # whole tiles of keys
    # tiles of K or V, and who reads them
    loaded: list[tuple[Tensor, Tensor]] = field(default_factory=list[tuple[Tensor, Tensor]])
    scores: list[Tensor] = field(default_factory=list[Tensor])
    masked: list[Tensor | None] = field(default_factory=list[Tensor | None])
    queries: list[Tensor] = field(default_factory=list[Tensor])


def schedule_online_softmax(
    s: Schedule,
    made: Stages,
    stages_of: tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor],
    axes: list[IterVar],
    tile: tuple[int, int],
    stages: int,
    registers: tuple[int, int] | None,
    is_split: bool = False,
    beside: Sequence[Tensor] = (),
    order: Sequence[int] | None = None,
    transposed: tuple[bool, bool] = (False, False),
) -> None:
    """Three reductions over the keys become one loop in one kernel; weights of 8 bits are in the order of registers.

    `order` has of each axis of the result its number among heads, queries and columns. Rows of keys, or of values, may
    lie side by side in memory, `transposed`.
    """
    M, L, P, W, stored, O = stages_of  # noqa: E741
    rows, columns = tile
    dtype = made.queries[0].dtype
    widths: list[Any] = [made.queries[0].shape[-1], W.shape[-1]]
    depth, results = widths
    warpgroups = rows // _ROWS
    if registers is None:
        registers = {1: (56, 240), 2: (24, 240), 3: (32, 160)}.get(warpgroups, (24, 104))

    def copied(stage: Tensor, columns: Any) -> None:
        s[stage].copy_by("tma", swizzle=math.gcd(columns * item_bytes(stage.dtype), _SPAN))

    own = [*s[O].op.axis]
    *outer, i, c = own if order is None else [own[order.index(number)] for number in range(len(own))]
    is_static = [isinstance(axis.dom.extent, int) for axis in (*outer, i) if axis.dom is not None]
    block, i = s[O].split(i, factor=rows)
    if is_split:
        s[O].reorder(*outer, block, i, c)
        *outer, part = outer
        block = s[O].fuse(part, block)
    whole, c = s[O].split(c, factor=results)
    s[O].reorder(*outer, block, i, whole, c)
    if is_static[-1] and not all(is_static):
        # Any number of heads fits the first axis of the grid alone.
        for axis in outer[::-1]:
            block = s[O].fuse(axis, block)
        outer = []
    while len(outer) > _GRID:
        outer[-2:] = [s[O].fuse(*outer[-2:])]
    for axis, name in zip(outer[::-1], ("blockIdx.y", "blockIdx.z"), strict=False):
        s[O].bind(axis, thread_axis(name))
    s[O].bind(block, thread_axis("blockIdx.x"))
    s[O].env_threads([thread_axis((0, 128), "threadIdx.x")])
    if stored is O:
        warpgroup, i = s[O].split(i, factor=_ROWS)
        s[O].reorder(warpgroup, whole, i, c)
    else:
        copied(O, results)
        s[stored].set_scope("shared")
        s[stored].compute_at(s[O], block)
        warpgroup, _ = s[stored].split(s[stored].op.axis[-2], factor=_ROWS)
        s[stored].reorder(warpgroup, *s[stored].op.axis[:-2])
    s[stored].bind(warpgroup, thread_axis("threadIdx.y"))
    for one in beside:
        s[one].reverse_compute_at(s[stored], warpgroup)

    def load(loaded: Tensor, at: Tensor, loop: IterVar, width: Any) -> None:
        s[loaded].set_scope("shared")
        s[loaded].compute_at(s[at], loop)
        copied(loaded, width)

    is_packed = item_bytes(dtype) == 1
    load(made.queries[0], O, block, depth)
    by_keys = wgmma(dtype, "float32", n=columns, k=depth, transpose_b=not transposed[0])
    is_turned = is_packed or transposed[1]  # values, whose rows are what is summed over
    for number, (stage, axis) in enumerate(zip((M, L, W), axes, strict=True)):
        s[stage].set_scope("local")
        s[stage].compute_at(s[stored], warpgroup)
        outer_keys, inner = s[stage].split(axis, factor=columns)
        s[stage].reorder(outer_keys, *s[stage].op.axis, inner)
        S, masked = made.scores[number], made.masked[number]
        for local in (S, *([] if masked is None else [masked]), *([P] if stage is W else [])):
            s[local].set_scope("local")
            s[local].compute_at(s[stage], outer_keys)
        load(made.loaded[number][0], stage, outer_keys, columns if transposed[0] else depth)
        s[S].tensorize(s[S].op.axis[-2], by_keys)
        if stage is W:
            load(made.loaded[-1][0], W, outer_keys, columns if is_turned else results)
            if is_packed:
                _interleave(s, P)
            s[W].tensorize(s[W].op.axis[-2], wgmma(dtype, "float32", n=results, k=columns, transpose_b=is_turned))
        s[stage].software_pipeline(outer_keys, stages)
        if stage is not M:
            s[stage].rolling_update(axis, of=M)
        elif has_producer(current_gpu(), dtype):
            s[M].specialize(outer_keys, *registers)


def _interleave(s: Schedule, P: Tensor) -> None:
    """The digits of a place in the order of registers: 16 q + 4 t + 2 m + e."""
    *_, place = s[P].op.axis
    for factor in (16, 4, 2):
        _, place = s[P].split(place, factor=factor)
