"""Attention: the softmax of scores, times values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar, cast

import numpy as np

from ... import te
from ...schedules.scores import Dropout, heads_of, logarithm_of, of_head, of_page, score
from ...te import Expr, Tensor
from .common import OPERATORS, Operator, accumulator, at, sums_in

__all__ = ["attention", "attention_and_logarithms", "mask_and_seed"]

T = TypeVar("T")


def attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, *, scale: float | None, before: int | None,
    behind: int | None, offset: int, softcap: float | None, pages: Tensor | None = None, lengths: Tensor | None = None,
    slopes: Tensor | None = None, sinks: Tensor | None = None, dropout_p: float = 0.0, seed: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """softmax(scale * q @ k.T + mask) @ v, heads x queries x width; zeros where a query sees no key."""
    return attention_and_logarithms(
        q, k, v, mask, scale=scale, before=before, behind=behind, offset=offset, softcap=softcap, pages=pages,
        lengths=lengths, slopes=slopes, sinks=sinks, dropout_p=dropout_p, seed=seed,
    )[0]  # fmt: skip


def attention_and_logarithms(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, *, scale: float | None, before: int | None,
    behind: int | None, offset: int, softcap: float | None, pages: Tensor | None = None, lengths: Tensor | None = None,
    slopes: Tensor | None = None, sinks: Tensor | None = None, dropout_p: float = 0.0, seed: Tensor | None = None,
    acc: str = "",
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The result, and for each query the logarithm, by 2, of its sum of exponentials. Matmuls are accumulated in `acc`,
    by default the `accumulator` of the type."""
    acc, notes = sums_in(acc or accumulator(q.dtype))
    heads = heads_of(q, k, v) if pages is None else list(q.shape[:-2])
    queries, keys, width = q.shape[-2], k.shape[-2], q.shape[-1]
    if pages is not None:
        keys = keys * pages.shape[-1]
    factor = scale if scale is not None else cast(int, width) ** -0.5 if width else 0.0
    shape = [*heads, queries, keys]
    d, j = te.reduce_axis((0, width), name="d"), te.reduce_axis((0, keys), name="j")

    def read(x: Tensor, outer: Sequence[Any], *last: Any) -> Expr:
        if pages is not None and x is not q:
            return of_page(x, pages, outer, *last, heads=heads).astype(acc)
        return of_head(x, outer, *last, heads=heads).astype(acc)

    def dot(*places: Any) -> Expr:
        *outer, i, j = places
        return te.sum(read(q, outer, i, d) * read(k, outer, j, d), axis=d)

    raw = te.compute(shape, dot, name="QK", attrs=notes)

    def masked(*places: Any) -> Expr:
        *outer, i, j = places
        own = None if mask is None else at(mask, list(places), shape)
        first = offset if lengths is None else lengths(outer[0]) + (offset - queries)
        value = score(
            raw(*places),
            i,
            j,
            mask=own,
            scale=factor,
            before=before,
            behind=behind,
            offset=first,
            softcap=softcap,
            slope=None if slopes is None else slopes(outer[-1]),
        )
        if lengths is None:
            return value
        return te.select(j < lengths(outer[0]), value, te.const(float("-inf"), value.dtype))

    S = te.compute(shape, masked, name="S")
    jm = te.reduce_axis((0, keys), name="jm")
    M = te.compute(shape[:-1], lambda *row: te.max(S(*row, jm), axis=jm), name="M")
    # Of a row that is masked away whole the maximum is minus infinity; its weights are 0.
    lowest = te.const(float(np.finfo(acc).min), acc)
    E = te.compute(shape, lambda *at: te.exp(S(*at) - te.max(M(*at[:-1]), lowest)), name="E")
    jl = te.reduce_axis((0, keys), name="jl")
    L = te.compute(shape[:-1], lambda *row: te.sum(E(*row, jl), axis=jl), name="L")
    dropout = Dropout.of(dropout_p, seed)

    def used(*places: Any) -> Expr:
        *outer, i, j = places
        value = E(*places)
        if dropout is not None:
            value = dropout.of_weight(value, outer, i, j, heads=heads, queries=queries)
        return value.astype(q.dtype)

    P = E if acc == q.dtype and dropout is None else te.compute(shape, used, name="P")

    def weighted(*places: Any) -> Expr:
        *outer, i, c = places
        return te.sum(P(*outer, i, j).astype(acc) * read(v, outer, j, c), axis=j)

    W = te.compute([*heads, queries, v.shape[-1]], weighted, name="W", attrs=notes)

    def total_of(*row: Any) -> Expr:
        if sinks is None:
            return L(*row)
        return L(*row) + te.exp(sinks(row[-2]).astype(acc) - te.max(M(*row), lowest))

    def element(*places: Any) -> Expr:
        total, none = total_of(*places[:-1]), te.const(0.0, acc)
        return te.select(total == none, none, W(*places) / total).astype(q.dtype)

    def logarithm(*row: Any) -> Expr:
        sink = None if sinks is None else sinks(row[-2])
        return logarithm_of(te.max(M(*row), lowest) * math.log2(math.e), L(*row), sink)

    return te.compute(W.shape, element, name="O"), te.compute(shape[:-1], logarithm, name="logarithms")


def _of_graph(
    q: Tensor, k: Tensor, v: Tensor, *others: Tensor, scale: float, before: int, behind: int, offset: int,
    softcap: float, dropout_p: float = 0.0, acc: str = "",
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The operators of the graph dialect, whose attributes are numbers: -1 and 0 stand for what is not bounded."""
    mask, seed = mask_and_seed(others, dropout_p)
    return attention_and_logarithms(
        q, k, v, mask, scale=scale, before=None if before < 0 else before, behind=None if behind < 0 else behind,
        offset=offset, softcap=softcap or None, dropout_p=dropout_p, seed=seed, acc=acc,
    )  # fmt: skip


def mask_and_seed(others: Sequence[T], dropout_p: float) -> tuple[T | None, T | None]:
    """What stands behind the other operands in the graph: a mask, and the seed of dropout."""
    masks = others[:-1] if dropout_p else others
    return masks[0] if masks else None, others[-1] if dropout_p else None


def _result_of_graph(*operands: Tensor, **attributes: Any) -> Tensor:
    return _of_graph(*operands, **attributes)[0]


_ATTRIBUTES = ("scale", "before", "behind", "offset", "softcap", "acc")
OPERATORS["attention"] = Operator("attention", _result_of_graph, _ATTRIBUTES)
OPERATORS["attention_with_logarithms"] = Operator(
    "attention_with_logarithms", _of_graph, (*_ATTRIBUTES, "dropout_p")
)  # fmt: skip
