"""Attention by the warpgroups of sm_90a: two matmuls in one kernel, and an online softmax between them."""

from __future__ import annotations

from math import gcd, log2

from ..dtypes import item_bytes
from ..errors import TilewrightValueError as ValueError
from ..instructions import wgmma
from ..te import (
    Expr,
    IterVar,
    Tensor,
    compute,
    create_schedule,
    exp2,
    if_then_else,
    max,
    placeholder,
    reduce_axis,
    sum,
    thread_axis,
)
from ..te.schedule import Schedule

__all__ = ["attention_wgmma"]

_ROWS, _SPAN, _MAX_COLUMNS = 64, 128, 256


def attention_wgmma(
    batch: int,
    queries: int,
    keys: int,
    width: int,
    dtype: str = "bfloat16",
    *,
    scale: float | None = None,
    causal: bool = False,
    tile: tuple[int, int] = (128, 128),
    stages: int = 2,
    registers: tuple[int, int] | None = None,
) -> tuple[Schedule, list[Tensor]]:
    """O = softmax(scale Q K^T) V by ``wgmma``: Q and O are batch x queries x width, K and V batch x keys x width.

    Each of `batch` is one head of one sequence. `scale` is 1 / sqrt(width) unless given. With `causal`, query i sees
    the keys up to i + keys - queries; tiles of keys that no query of a block sees are not visited.

    A thread block computes the rows of `tile` of O, and each consumer warpgroup 64 of them. It loads these rows of
    Q once, and goes through K and V by as many rows as `tile` has columns, of which `stages` tiles are in shared
    memory. The maximum, the sum of exponentials and the weighted values of a row are three reductions over the
    keys. The last two follow the first (`rolling_update`), so all are computed in one loop. The exponentials go
    from the accumulator of the first matmul to the second, as its first operand, in registers. They are rounded to
    `dtype` between; those below 2^-126 count as 0. Where a thread has the registers, the second matmul is one
    iteration behind the first, and under way while the next exponentials are computed.

    `registers` are those of a producer thread and of a consumer thread.

    Raises
    ------
    ValueError
        Where there is no instruction of this type; where `tile` does not divide the queries and the keys, or is no
        multiple of 64 x 64 with at most 256 columns; where `width` is no multiple of 32 up to 256.

    >>> import numpy as np
    >>> import tilewright as tw
    >>> s, tensors = attention_wgmma(2, 128, 128, 64, "float16", tile=(64, 64))
    >>> attention = tw.build(s, tensors, target="sim", name="attention")
    >>> q, k, v = (np.random.default_rng(0).standard_normal((3, 2, 128, 64))).astype("float16")
    >>> o = np.empty_like(q)
    >>> attention(q, k, v, o)
    >>> weights = np.exp(q.astype("float64") @ k.astype("float64").transpose(0, 2, 1) / 8)
    >>> exact = weights @ v / weights.sum(2, keepdims=True)
    >>> bool(np.abs(o - exact).max() < 2e-3)
    True
    """
    if dtype not in ("float16", "bfloat16"):
        raise ValueError(f"expected float16 or bfloat16, whose products a second one takes from registers, got {dtype}")
    rows, columns = tile
    if rows % _ROWS or columns % _ROWS or rows < _ROWS or not _ROWS <= columns <= _MAX_COLUMNS:
        raise ValueError(f"expected a tile of multiples of 64 rows and columns, up to 256 columns, got {tile}")
    if queries % rows or keys % columns:
        raise ValueError(f"expected a tile that divides the {queries} queries and {keys} keys, got {tile}")
    if width % 32 or not 32 <= width <= _MAX_COLUMNS:
        raise ValueError(f"expected a width of a multiple of 32 up to 256, got {width}")
    if causal and keys < queries:
        raise ValueError(f"expected at least as many keys as queries of a causal attention, got {keys} and {queries}")
    # Exponentials are those of two, with one multiplication.
    factor = (width**-0.5 if scale is None else scale) * log2(2.718281828459045)
    if factor <= 0:
        raise ValueError(f"expected a positive scale, got {scale}")

    Q = placeholder((batch, queries, width), dtype, name="Q")
    K = placeholder((batch, keys, width), dtype, name="K")
    V = placeholder((batch, keys, width), dtype, name="V")
    scores: list[Tensor] = []
    masked: list[Tensor] = []

    def score(name: str) -> Tensor:
        """Each reduction over the keys has its own, as its loop computes them."""
        d = reduce_axis((0, width), name="d")
        wide = compute(
            (batch, queries, keys),
            lambda b, i, j: sum(Q[b, i, d].astype("float32") * K[b, j, d].astype("float32"), axis=d),
            name=name,
        )
        scores.append(wide)
        if causal:
            wide = compute(
                wide.shape,
                lambda b, i, j: if_then_else(j <= i + (keys - queries), scores[-1][b, i, j], float("-inf")),
                name=f"{name}.masked",
            )
            masked.append(wide)
        return wide

    def weight(S: Tensor, b: Expr, i: Expr, j: Expr) -> Expr:
        return exp2(S[b, i, j] * factor - M[b, i] * factor)

    axes = [reduce_axis((0, keys), name=name) for name in ("jm", "jl", "jo")]
    of_maximum, of_sum, of_values = score("SM"), score("SL"), score("SO")
    M = compute((batch, queries), lambda b, i: max(of_maximum[b, i, axes[0]], axis=axes[0]), name="M")
    L = compute((batch, queries), lambda b, i: sum(weight(of_sum, b, i, axes[1]), axis=axes[1]), name="L")
    P = compute(of_values.shape, lambda b, i, j: weight(of_values, b, i, j).astype(dtype), name="P")
    W = compute(
        (batch, queries, width),
        lambda b, i, d: sum(P[b, i, axes[2]].astype("float32") * V[b, axes[2], d].astype("float32"), axis=axes[2]),
        name="W",
    )
    O = compute(W.shape, lambda b, i, d: (W[b, i, d] * (1 / L[b, i])).astype(dtype), name="O")  # noqa: E741

    s = create_schedule(O.op)
    _schedule(s, (Q, K, V), (M, L, P, W, O), axes, scores, masked, width, tile, stages, registers)
    return s, [Q, K, V, O]


def _schedule(
    s: Schedule,
    inputs: tuple[Tensor, Tensor, Tensor],
    stages_of: tuple[Tensor, Tensor, Tensor, Tensor, Tensor],
    axes: list[IterVar],
    scores: list[Tensor],
    masked: list[Tensor],
    width: int,
    tile: tuple[int, int],
    stages: int,
    registers: tuple[int, int] | None,
) -> None:
    Q, K, V = inputs
    M, L, P, W, O = stages_of  # noqa: E741
    rows, columns = tile
    dtype = Q.dtype
    span = gcd(width * item_bytes(dtype), _SPAN)
    warpgroups = rows // _ROWS
    if registers is None:
        registers = {1: (56, 240), 2: (24, 240), 3: (32, 160)}.get(warpgroups, (24, 104))

    stored = s.cache_write(O, "shared")
    head, i, _ = s[O].op.axis
    block, i = s[O].split(i, factor=rows)
    s[O].bind(head, thread_axis("blockIdx.y"))
    s[O].bind(block, thread_axis("blockIdx.x"))
    s[O].env_threads([thread_axis((0, 128), "threadIdx.x")])
    s[O].copy_by("tma", swizzle=span)
    s[stored].compute_at(s[O], block)
    warpgroup, i = s[stored].split(s[stored].op.axis[1], factor=_ROWS)
    s[stored].reorder(warpgroup, s[stored].op.axis[0])
    s[stored].bind(warpgroup, thread_axis("threadIdx.y"))

    def load(tensor: Tensor, reader: Tensor | list[Tensor], at: Tensor, loop: IterVar) -> None:
        loaded = s.cache_read(tensor, "shared", reader)
        s[loaded].compute_at(s[at], loop)
        s[loaded].copy_by("tma", swizzle=span)

    load(Q, scores, O, block)
    by_keys = wgmma(dtype, "float32", n=columns, k=width, transpose_b=True)
    for number, (stage, axis) in enumerate(zip((M, L, W), axes, strict=True)):
        s[stage].set_scope("local")
        s[stage].compute_at(s[stored], warpgroup)
        outer, inner = s[stage].split(axis, factor=columns)
        s[stage].reorder(outer, *s[stage].op.axis, inner)
        S = scores[number]
        for made in (S, *masked[number : number + 1], *([P] if stage is W else [])):
            s[made].set_scope("local")
            s[made].compute_at(s[stage], outer)
        load(K, S, stage, outer)
        s[S].tensorize(s[S].op.axis[1], by_keys)
        if stage is W:
            load(V, W, W, outer)
            s[W].tensorize(s[W].op.axis[1], wgmma(dtype, "float32", n=width, k=columns))
        s[stage].software_pipeline(outer, stages)
        if stage is M:
            s[M].specialize(outer, *registers)
        else:
            s[stage].rolling_update(axis, of=M)
