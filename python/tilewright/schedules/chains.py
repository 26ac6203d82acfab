"""Matmuls whose sums are used at once by the warpgroups that have them: gated layers, and losses over a vocabulary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..dtypes import item_bytes
from ..errors import TilewrightValueError as ValueError
from ..instructions import wgmma
from ..te import (
    Expr,
    IterVar,
    Tensor,
    compute,
    const,
    create_schedule,
    exp,
    log,
    max,
    placeholder,
    reduce_axis,
    select,
    thread_axis,
)
from ..te import sum as total_of
from ..te.schedule import Schedule
from .sizes import sizes

__all__ = ["cross_entropy_wgmma", "gated_matmul_wgmma"]

_ROWS, _SPAN, _THREADS = 64, 128, 128


@sizes(rows=0, hidden=0, width=0)
def gated_matmul_wgmma(
    rows: int, hidden: int, width: int, dtype: str = "bfloat16", *, tile: tuple[int, int] = (128, 128), stages: int = 4
) -> tuple[Schedule, list[Tensor]]:
    """H = silu(X G^T) * (X U^T) by ``wgmma``: X is rows x width, G and U are hidden x width.

    All have the type `dtype`. Both matmuls are one loop over the width, in which each tile of X is loaded once
    (`rolling_update`). The accumulators stay in registers; H is computed from them, and stored through shared memory.

    Raises
    ------
    ValueError
        Where the tile, or a step of 128 bytes, does not divide an extent.

    >>> import numpy as np
    >>> import tilewright as tw
    >>> s, tensors = gated_matmul_wgmma(64, 64, 128, "float16", tile=(64, 64), stages=2)
    >>> layer = tw.build(s, tensors, target="sim", name="layer")
    >>> x, g, u = (np.random.default_rng(0).standard_normal((3, 64, 128)) / 8).astype("float16")
    >>> h = np.empty((64, 64), "float16")
    >>> layer(x, g, u, h)
    >>> gate, up = (x.astype("float64") @ w.T.astype("float64") for w in (g, u))
    >>> bool(np.abs(h - gate / (1 + np.exp(-gate)) * up).max() < 2e-3)
    True
    """
    step = _step_of(dtype, (rows, hidden, width), tile)
    X, G, U = (
        placeholder((extent, width), dtype, name=name) for name, extent in (("X", rows), ("G", hidden), ("U", hidden))
    )
    gate, up = (_product(X, weights, name) for weights, name in ((G, "gate"), (U, "up")))

    def element(i: Expr, j: Expr) -> Expr:
        return (gate(i, j) / (1.0 + exp(-gate(i, j))) * up(i, j)).astype(dtype)

    stored = compute((rows, hidden), element, name="H.shared")
    H = compute(stored.shape, lambda *at: stored(*at), name="H")
    s = create_schedule(H.op)
    block, columns = _blocks(s, H, tile)
    _copied(s, H, tile[1])
    s[stored].set_scope("shared")
    s[stored].compute_at(s[H], block)
    warpgroup = _warpgroups(s, stored)
    for sums, weights in ((gate, G), (up, U)):
        steps = _summed(s, sums, stored, warpgroup, (X, weights), columns, step, stages)
        if sums is gate:
            s[gate].specialize(steps, *_registers(tile[0]))
        else:
            s[up].rolling_update(up.op.reduce_axis[0], of=gate)
    return s, [X, G, U, H]


@sizes(rows=0, vocabulary=0, width=0)
def cross_entropy_wgmma(
    rows: int, vocabulary: int, width: int, dtype: str = "bfloat16", *, tile: tuple[int, int] = (128, 256),
    stages: int = 4,
) -> tuple[Schedule, list[Tensor]]:  # fmt: skip
    """log sum_j exp(X E^T)_j less the logit of target T, for each row, by ``wgmma``: no logit is stored.

    X is rows x width and E is vocabulary x width, of type `dtype`. T has a number below `vocabulary` for each row. Of
    each tile of logits a row's maximum, its sum of exponentials and its target's logit go to memory. A second kernel
    merges them.

    Raises
    ------
    ValueError
        Where the tile, or a step of 128 bytes, does not divide an extent.

    >>> import numpy as np
    >>> import tilewright as tw
    >>> s, tensors = cross_entropy_wgmma(64, 128, 64, "float16", tile=(64, 64), stages=2)
    >>> loss = tw.build(s, tensors, target="sim", name="loss")
    >>> rng = np.random.default_rng(0)
    >>> x, e = (rng.standard_normal((n, 64)).astype("float16") for n in (64, 128))
    >>> t, out = rng.integers(0, 128, 64).astype("int32"), np.empty(64, "float32")
    >>> loss(x, e, t, out)
    >>> logits = x.astype("float64") @ e.T.astype("float64")
    >>> exact = np.log(np.exp(logits).sum(1)) - logits[np.arange(64), t]
    >>> bool(np.abs(out - exact).max() < 1e-4)
    True
    """
    step = _step_of(dtype, (rows, vocabulary, width), tile)
    X = placeholder((rows, width), dtype, name="X")
    E = placeholder((vocabulary, width), dtype, name="E")
    T = placeholder((rows,), "int32", name="T")
    logits = _product(X, E, "logits")
    columns, parts = tile[1], vocabulary // tile[1]
    jm, jl, jt = (reduce_axis((0, columns), name=name) for name in ("jm", "jl", "jt"))
    shape = (parts, rows)
    M = compute(shape, lambda p, i: max(logits(i, p * columns + jm), axis=jm), name="M")
    L = compute(shape, lambda p, i: total_of(exp(logits(i, p * columns + jl) - M(p, i)), axis=jl), name="L")
    C = compute(
        shape,
        lambda p, i: total_of(
            select(T(i) == p * columns + jt, logits(i, p * columns + jt), const(0.0, "float32")), axis=jt
        ),
        name="C",
    )
    made: Any = compute(shape, lambda *at: (M(*at), L(*at), C(*at)), name="parts")
    most, sums, targets = made
    pm, pl, pc = (reduce_axis((0, parts), name=name) for name in ("pm", "pl", "pc"))
    largest = compute((rows,), lambda i: max(most(pm, i), axis=pm), name="largest")
    total = compute((rows,), lambda i: total_of(sums(pl, i) * exp(most(pl, i) - largest(i)), axis=pl), name="total")
    target = compute((rows,), lambda i: total_of(targets(pc, i), axis=pc), name="target")
    loss = compute((rows,), lambda i: largest(i) + log(total(i)) - target(i), name="loss")
    s = create_schedule(loss.op)
    part, i = s[most].op.axis
    block, i = s[most].split(i, factor=tile[0])
    warpgroup, i = s[most].split(i, factor=_ROWS)
    s[most].reorder(part, block, warpgroup, i)
    s[most].bind(part, thread_axis("blockIdx.y"))
    s[most].bind(block, thread_axis("blockIdx.x"))
    s[most].env_threads([thread_axis((0, 128), "threadIdx.x")])
    s[most].bind(warpgroup, thread_axis("threadIdx.y"))
    for stage in (M, L, C):
        s[stage].set_scope("local")
        s[stage].compute_at(s[most], warpgroup)
    steps = _summed(s, logits, most, warpgroup, (X, E), columns, step, stages)
    s[logits].specialize(steps, *_registers(tile[0]))
    row, thread = s[loss].split(loss.op.axis[0], factor=_THREADS)
    s[loss].bind(row, thread_axis("blockIdx.x"))
    s[loss].bind(thread, thread_axis("threadIdx.x"))
    for stage in (largest, total, target):
        s[stage].set_scope("local")
        s[stage].compute_at(s[loss], thread)
    return s, [X, E, T, loss]


def _step_of(dtype: str, extents: Sequence[int], tile: tuple[int, int]) -> int:
    step = _SPAN // item_bytes(dtype)
    if any(extent % factor for extent, factor in zip(extents, (*tile, step), strict=True)):
        raise ValueError(f"expected extents that tiles of {(*tile, step)} divide, got {tuple(extents)}")
    return step


def _registers(rows: int) -> tuple[int, int]:
    return {1: (56, 240), 2: (24, 240), 3: (32, 160)}[rows // _ROWS]


def _product(x: Tensor, y: Tensor, name: str) -> Tensor:
    """X Y^T."""
    k = reduce_axis((0, x.shape[1]), name="k")
    return compute(
        (x.shape[0], y.shape[0]),
        lambda i, j: total_of(x(i, k).astype("float32") * y(j, k).astype("float32"), axis=k),
        name=name,
    )


def _copied(s: Schedule, stage: Tensor, columns: int) -> None:
    s[stage].copy_by("tma", swizzle=math.gcd(columns * item_bytes(stage.dtype), _SPAN))


def _blocks(s: Schedule, result: Tensor, tile: tuple[int, int]) -> tuple[IterVar, int]:
    """The loop of blocks, one for each tile; those of one column of tiles follow one another."""
    i, j = s[result].op.axis
    row, i = s[result].split(i, factor=tile[0])
    column, j = s[result].split(j, factor=tile[1])
    s[result].reorder(column, row, i, j)
    s[result].bind(column, thread_axis("blockIdx.y"))
    s[result].bind(row, thread_axis("blockIdx.x"))
    s[result].env_threads([thread_axis((0, 128), "threadIdx.x")])
    return row, tile[1]


def _warpgroups(s: Schedule, stage: Tensor) -> IterVar:
    warpgroup, _ = s[stage].split(s[stage].op.axis[0], factor=_ROWS)
    s[stage].bind(warpgroup, thread_axis("threadIdx.y"))
    return warpgroup


def _summed(
    s: Schedule, sums: Tensor, at: Tensor, loop: IterVar, operands: Sequence[Tensor], columns: int, step: int,
    stages: int,
) -> IterVar:  # fmt: skip
    """The loop over K tiles of a matmul whose accumulator is in registers."""
    s[sums].set_scope("local")
    s[sums].compute_at(s[at], loop)
    steps, k = s[sums].split(sums.op.reduce_axis[0], factor=step)
    s[sums].reorder(steps, *s[sums].op.axis, k)
    dtype = operands[0].dtype
    for operand in operands:
        loaded = s.cache_read(operand, "shared", [sums])
        s[loaded].compute_at(s[sums], steps)
        _copied(s, loaded, step)
    s[sums].tensorize(s[sums].op.axis[0], wgmma(dtype, "float32", n=columns, k=step, transpose_b=True))
    s[sums].software_pipeline(steps, stages)
    return steps
