"""The gradients of attention: the weights are computed anew from the logarithms of their sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import te
from ...schedules.scores import Dropout, heads_of, of_head, score
from ...te import Expr, Tensor
from .attention import mask_and_seed
from .common import OPERATORS, Operator, accumulator, at, sums_in

__all__ = ["GRADIENTS", "gradients_by_stages"]

GRADIENTS = ("q", "k", "v", "mask", "sinks")
"""The arrays that may have gradients, in their order."""


def gradients_by_stages(
    head: Tensor, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, *, scale: float | None,
    before: int | None, behind: int | None, offset: int, softcap: float | None, dropout_p: float = 0.0,
    seed: Tensor | None = None, result: Tensor | None = None, logarithms: Tensor | None = None,
    lengths: Tensor | None = None, slopes: Tensor | None = None, sinks: Tensor | None = None, acc: str = "",
) -> dict[str, Tensor]:  # fmt: skip
    """The gradients as stages: the weights P of a softmax, and dS = P (dP - sum of P dP) of its scores. Matmuls are
    accumulated in `acc`, by default the `accumulator` of the type."""
    (acc, notes), heads = sums_in(acc or accumulator(q.dtype)), heads_of(q, k, v)
    extents: list[Any] = [*q.shape[-2:], k.shape[-2], v.shape[-1]]
    queries, width, keys, wide = extents
    factor = scale if scale is not None else width**-0.5 if width else 0.0
    shape = [*heads, queries, keys]

    def dot(name: str, a: Tensor, b: Tensor, extent: int) -> Tensor:
        """Of each query's row of `a` and each key's row of `b`."""
        axis = te.reduce_axis((0, extent), name="d")

        def element(*places: Any) -> Expr:
            *outer, i, j = places
            first, second = of_head(a, outer, i, axis, heads=heads), of_head(b, outer, j, axis, heads=heads)
            return te.sum(first.astype(acc) * second.astype(acc), axis=axis)

        return te.compute(shape, element, name=name, attrs=notes)

    raw, dP = dot("QK", q, k, width), dot("dP", head, v, wide)
    dropout = Dropout.of(dropout_p, seed)

    def used(value: Expr, places: Sequence[Any]) -> Expr:
        """A weight that dropout leaves, or its gradient."""
        *outer, i, j = places
        return value if dropout is None else dropout.of_weight(value, outer, i, j, heads=heads, queries=queries)

    def masked(*places: Any) -> Expr:
        own = None if mask is None else at(mask, list(places), shape)
        *outer, i, j = places
        first = offset if lengths is None else lengths(outer[0]) + (offset - queries)
        value = score(
            raw(*places), i, j, mask=own, scale=factor, before=before, behind=behind, offset=first, softcap=softcap,
            slope=None if slopes is None else slopes(outer[-1]),
        )  # fmt: skip
        if lengths is None:
            return value
        return te.select(j < lengths(outer[0]), value, te.const(float("-inf"), acc))

    S = te.compute(shape, masked, name="S")
    P, share = _weights(S, logarithms, sinks)
    if result is None:

        def multiplied(*places: Any) -> Expr:
            return P(*places) * used(dP(*places), places)

        D = _over_keys("D", te.sum, multiplied, shape)
    else:
        c = te.reduce_axis((0, wide), name="c")
        D = te.compute(
            shape[:-1], lambda *row: te.sum(head(*row, c).astype(acc) * result(*row, c).astype(acc), axis=c), name="D"
        )
    dS = te.compute(shape, lambda *at: P(*at) * (used(dP(*at), at) - D(*at[:-1])), name="dS")

    def slope(*places: Any) -> Expr:
        """Of a score, before what is added to it, by the dot product."""
        if softcap is None:
            return te.const(factor, acc)
        bent = te.tanh(raw(*places) * (factor / softcap))
        return (1.0 - bent * bent) * factor

    # Operands of matmuls are rounded to the type, as in the forward direction.
    weights = te.compute(shape, lambda *at: used(P(*at), at).astype(q.dtype), name="P.rounded")
    scores = te.compute(shape, lambda *at: (dS(*at) * slope(*at)).astype(q.dtype), name="dS.rounded")

    def of_rows(name: str, a: Tensor, b: Tensor, extent: int, columns: int, *, transposed: bool) -> Tensor:
        """a @ b, or its transpose @ b, with a row for each query or key of each head."""
        axis = te.reduce_axis((0, extent), name="r")

        def element(*places: Any) -> Expr:
            *outer, i, c = places
            first = a(*outer, axis, i) if transposed else a(*outer, i, axis)
            return te.sum(first.astype(acc) * of_head(b, outer, axis, c, heads=heads).astype(acc), axis=axis)

        return te.compute([*heads, keys if transposed else queries, columns], element, name=name, attrs=notes)

    made = {
        "q": _of_input(of_rows("dQ.heads", scores, k, keys, width, transposed=False), q, "dQ"),
        "k": _of_input(of_rows("dK.heads", scores, q, queries, width, transposed=True), k, "dK"),
        "v": _of_input(of_rows("dV.heads", weights, head, queries, wide, transposed=True), v, "dV"),
    }
    if mask is not None and mask.dtype != "bool":
        made["mask"] = _of_input(dS, mask, "dmask")
    if sinks is not None:
        # A sink's share of the weights has no value, so that it only takes from others.
        axes = [te.reduce_axis((0, extent), name=f"r{d}") for d, extent in enumerate((*heads[:-1], queries))]

        def taken_by(h: Any) -> Expr:
            row = (*axes[:-1], h, axes[-1])
            return te.sum(share(*row) * (0.0 - D(*row)), axis=axes)

        taken = te.compute(sinks.shape, taken_by, name="dsinks.sum")
        made["sinks"] = te.compute(sinks.shape, lambda h: taken(h).astype(sinks.dtype), name="dsinks")
    return made


def _over_keys(name: str, reducer: Any, element: Any, shape: Sequence[Any]) -> Tensor:
    """A number for each query: its elements of such a shape reduced over the keys, which are the last axis."""
    axis = te.reduce_axis((0, shape[-1]), name="j")
    return te.compute(shape[:-1], lambda *row: reducer(element(*row, axis), axis=axis), name=name)


def _weights(S: Tensor, logarithms: Tensor | None, sinks: Tensor | None) -> tuple[Tensor, Callable[..., Expr]]:
    """The softmax of scores over the keys, whose sums may be known; 0 where a query sees no key. And what share of a
    row's weights its sink has."""
    acc, shape = S.dtype, S.shape
    none = te.const(0.0, acc)

    def sink(row: Sequence[Any]) -> Expr:
        assert sinks is not None
        return sinks(row[-2]).astype(acc)

    if logarithms is None:
        M = _over_keys("M", te.max, S, shape)
        lowest = te.const(float(np.finfo(acc).min), acc)

        def largest(row: Sequence[Any]) -> Expr:
            return te.max(M(*row), lowest if sinks is None else sink(row))

        E = te.compute(shape, lambda *at: te.exp(S(*at) - largest(at[:-1])), name="E")
        L = _over_keys("L", te.sum, E, shape)

        def total_of(row: Sequence[Any]) -> Expr:
            return L(*row) if sinks is None else L(*row) + te.exp(sink(row) - largest(row))

        def weight(*places: Any) -> Expr:
            total = total_of(places[:-1])
            return te.select(total == none, none, E(*places) / total)

        def share(*row: Any) -> Expr:
            return te.exp(sink(row) - largest(row)) / total_of(row)
    else:

        def weight(*places: Any) -> Expr:
            known = logarithms(*places[:-1])
            value = te.exp2(S(*places) * math.log2(math.e) - known)
            return te.select(known == te.const(float("-inf"), acc), none, value)

        def share(*row: Any) -> Expr:
            return te.exp2(sink(row) * math.log2(math.e) - logarithms(*row))

    return te.compute(shape, weight, name="P"), share


def _of_input(gradient: Tensor, x: Tensor, name: str) -> Tensor:
    """The gradient by an input: summed where an element of the input is read by several heads, rows or columns."""
    skipped = gradient.ndim - x.ndim
    lead: Sequence[Any] = gradient.shape[:skipped]
    axes = [te.reduce_axis((0, extent), name=f"b{d}") for d, extent in enumerate(lead)]
    shared: dict[int, tuple[Any, int]] = {}  # by dimension of x: the axis of what shares an element, and how much does
    for d, own in enumerate(x.shape):
        extent: Any = gradient.shape[d + skipped]
        if isinstance(own, int) and own != extent and own > 0:
            shared[d] = (te.reduce_axis((0, extent // own), name=f"g{d}"), extent // own)
    over = [*axes, *(axis for axis, _ in shared.values())]

    def element(*places: Any) -> Expr:
        own = [p if d not in shared else p * shared[d][1] + shared[d][0] for d, p in enumerate(places)]
        value = gradient(*axes, *own)
        return te.sum(value, axis=over) if over else value.astype(x.dtype)

    made = te.compute(x.shape, element, name=f"{name}.sum" if over else name)
    return te.compute(x.shape, lambda *places: made(*places).astype(x.dtype), name=name) if over else made


def _of_graph(
    head: Tensor, q: Tensor, k: Tensor, v: Tensor, result: Tensor, logarithms: Tensor, *others: Tensor, scale: float,
    before: int, behind: int, offset: int, softcap: float, wanted: Sequence[int], deterministic: bool,
    dropout_p: float = 0.0, acc: str = "",
) -> list[Tensor]:  # fmt: skip
    """The operator of the graph dialect, whose attributes are numbers: -1 and 0 stand for what is not bounded."""
    del deterministic  # stages always are
    mask, seed = mask_and_seed(others, dropout_p)
    made = gradients_by_stages(
        head, q, k, v, mask, scale=scale, before=None if before < 0 else before, behind=None if behind < 0 else behind,
        offset=offset, softcap=softcap or None, dropout_p=dropout_p, seed=seed, result=result, logarithms=logarithms,
        acc=acc,
    )  # fmt: skip
    return [made[GRADIENTS[number]] for number in wanted]


OPERATORS["attention_gradients"] = Operator(
    "attention_gradients", _of_graph,
    ("scale", "before", "behind", "offset", "softcap", "wanted", "deterministic", "acc", "dropout_p"),
)  # fmt: skip
