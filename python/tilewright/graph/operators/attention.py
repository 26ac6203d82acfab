"""Attention: the softmax of scores, times values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import te
from ...te import Expr, Tensor
from .common import accumulator, at, broadcast_shapes, is_one

__all__ = ["attention", "heads_of", "score"]


def heads_of(q: Tensor, k: Tensor, v: Tensor) -> list[Any]:
    """The extents before the last two of the result: a head of `k` and `v` may serve several of `q`."""
    *lead, heads = q.shape[:-2] or (1,)
    others = [one.shape[:-3] for one in (k, v)]
    for one in (k, v):
        if one.ndim > 2 and is_one(heads):
            heads = one.shape[-3]
    return [*broadcast_shapes(lead, *others), heads] if q.ndim > 2 else []


def head_at(x: Tensor, outer: list[Any], *last: Any, shape: list[Any]) -> Expr:
    """An element of `x` of the head of the result whose place is `outer`, in heads of `shape`."""
    if not outer:
        return x(*last)
    own, heads = x.shape[-3], shape[-1]
    is_grouped = not is_one(own) and isinstance(own, int) and isinstance(heads, int) and 0 < own < heads
    head = outer[-1] // (heads // own) if is_grouped else outer[-1]
    whole = [*shape[:-1], own if is_grouped else heads, *x.shape[-2:]]
    return at(x, [*outer[:-1], head, *last], whole)


def score(
    raw: Expr, i: Expr, j: Expr, *, mask: Expr | None, scale: float, before: int | None, behind: int | None,
    offset: int, softcap: float | None,
) -> Expr:  # fmt: skip
    """The score of query i and key j from the sum of their elements' products; minus infinity where it is masked."""
    value = raw * scale
    if softcap is not None:
        value = te.tanh(value * (1.0 / softcap)) * softcap
    if mask is not None and mask.dtype != "bool":
        value = value + mask.astype(value.dtype)
    lowest = te.const(float("-inf"), value.dtype)
    if mask is not None and mask.dtype == "bool":
        value = te.select(mask, value, lowest)
    if behind is not None:
        value = te.select(j <= i + (offset + behind), value, lowest)
    if before is not None:
        value = te.select(j >= i + (offset - before), value, lowest)
    return value


def attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, *, scale: float | None, before: int | None,
    behind: int | None, offset: int, softcap: float | None,
) -> Tensor:  # fmt: skip
    """softmax(scale * q @ k.T + mask) @ v, heads x queries x width; zeros where a query sees no key."""
    acc, heads = accumulator(q.dtype), heads_of(q, k, v)
    queries, keys, width = q.shape[-2], k.shape[-2], q.shape[-1]
    if scale is None:
        scale = width**-0.5 if width else 0.0
    shape = [*heads, queries, keys]
    d, j = te.reduce_axis((0, width), name="d"), te.reduce_axis((0, keys), name="j")
    read: Callable[..., Expr] = lambda x, outer, *last: head_at(x, outer, *last, shape=heads).astype(acc)  # noqa: E731

    def dot(*places: Any) -> Expr:
        *outer, i, j = places
        return te.sum(read(q, outer, i, d) * read(k, outer, j, d), axis=d)

    raw = te.compute(shape, dot, name="QK")

    def masked(*places: Any) -> Expr:
        *_, i, j = places
        own = None if mask is None else at(mask, list(places), shape)
        return score(
            raw(*places), i, j, mask=own, scale=scale, before=before, behind=behind, offset=offset, softcap=softcap
        )

    S = te.compute(shape, masked, name="S")
    jm = te.reduce_axis((0, keys), name="jm")
    M = te.compute(shape[:-1], lambda *row: te.max(S(*row, jm), axis=jm), name="M")
    # Of a row that is masked away whole the maximum is minus infinity; its weights are 0.
    lowest = te.const(float(np.finfo(acc).min), acc)
    E = te.compute(shape, lambda *at: te.exp(S(*at) - te.max(M(*at[:-1]), lowest)), name="E")
    jl = te.reduce_axis((0, keys), name="jl")
    L = te.compute(shape[:-1], lambda *row: te.sum(E(*row, jl), axis=jl), name="L")
    P = E if acc == q.dtype else te.compute(shape, lambda *at: E(*at).astype(q.dtype), name="P")

    def weighted(*places: Any) -> Expr:
        *outer, i, c = places
        return te.sum(P(*outer, i, j).astype(acc) * read(v, outer, j, c), axis=j)

    W = te.compute([*heads, queries, v.shape[-1]], weighted, name="W")

    def element(*places: Any) -> Expr:
        total = L(*places[:-1])
        none = te.const(0.0, acc)
        return te.select(total == none, none, W(*places) / total).astype(q.dtype)

    return te.compute(W.shape, element, name="O")
