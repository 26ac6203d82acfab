"""The gradients of attention: of queries, keys and values, and of a mask that is added to the scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import te
from ..devices import current
from ..errors import TilewrightValueError as ValueError
from ..graph.operators.common import accumulator, at
from ..rules import auto_schedule
from ..schedules.attention_backward import attention_gradients_of
from ..schedules.attention_choice import gradient_tiles_for
from ..schedules.scores import Dropout, heads_of, of_head, score
from ..target import Target
from ..te import Expr, Tensor
from .attention import check_attention, check_dropout, options_of, result_shape
from .by_rules import given
from .operator import Operand, Scheduled, operator

__all__ = ["attention_gradients"]


@operator
def attention_gradients(
    head: Operand,
    q: Operand,
    k: Operand,
    v: Operand,
    mask: Operand | None = None,
    seed: Operand | None = None,
    result: Operand | None = None,
    logarithms: Operand | None = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window: tuple[int | None, int | None] | None = None,
    softcap: float | None = None,
    offset: int = 0,
    dropout_p: float = 0.0,
    target: Target | None = None,
) -> Scheduled:
    """The gradients of `attention` by q, k and v, in their shapes, and by a mask of floats where there is one.

    `head` is the gradient by the result, of its shape and type. The other arguments, `mask`, `seed`, `is_causal`,
    `scale`, `enable_gqa`, `window`, `softcap`, `offset` and `dropout_p`, are those of `attention`; arrays are
    row-major. The weights are computed anew. Sums are of float32 for 16-bit types, in one order: the same arrays give
    the same gradients. On sm_90a, three kernels of tensor cores compute 16-bit types with heads of multiples of 32 up
    to 128, without a mask or a softcap. They store no scores, and need fewer matmuls if the `result` of `attention` is
    given. With both results of `attention_with_logarithms` there is one kernel less. Everything else is scheduled by
    rules.

    Raises
    ------
    TypeError, ValueError
        As `attention`; for a head, a result or logarithms of another shape or type; and for logarithms without a
        result.

    >>> import numpy as np
    >>> q, k, v, head = np.random.default_rng(0).standard_normal((4, 2, 5, 8)).astype("float32")
    >>> dq, dk, dv = attention_gradients(head, q, k, v, is_causal=True)
    >>> bool((abs(dq[:, 0]) < 1e-6).all())  # the first query sees one key, whatever it is
    True
    """
    check_attention(q, k, v, mask, enable_gqa)
    expected = result_shape(q, k, v), q.dtype
    if (head.shape, head.dtype) != expected:
        raise ValueError(
            f"attention_gradients: expected a head of {expected[1]} and shape {expected[0]}, got {head.dtype} and "
            f"{head.shape}"
        )
    options = options_of(is_causal=is_causal, scale=scale, window=window, softcap=softcap, offset=offset)
    check_dropout(dropout_p, seed)
    if result is not None and (result.shape, result.dtype) != expected:
        raise ValueError(
            f"attention_gradients: expected a result of {expected[1]} and shape {expected[0]}, got {result.dtype} and "
            f"{result.shape}"
        )
    _check_logarithms(logarithms, result, expected)
    operands = {"head": head, "Q": q, "K": k, "V": v, "mask": mask, "seed": seed, "result": result}
    operands["logarithms"] = logarithms
    named = {name: given(one, name) for name, one in operands.items() if one is not None}
    inputs = list(named.values())
    dropped: dict[str, Any] = {"dropout_p": dropout_p, "seed": named.pop("seed", None)}
    known = {name: named.pop(name, None) for name in ("result", "logarithms")}
    is_masked = options["before"] is not None or options["behind"] is not None
    tiles = None
    if (target is None or target.kind != "cpu") and mask is None and softcap is None and (scale is None or scale > 0):
        tiles = gradient_tiles_for(q, k, v, expected[0], current(), is_masked=is_masked)
    if tiles is not None:
        return attention_gradients_of(*named.values(), scale=scale, tiles=tiles, **known, **options, **dropped)
    outputs = _defined(*named.values(), scale=scale, softcap=softcap, **known, **options, **dropped)
    return auto_schedule(outputs, target), [*inputs, *outputs]


def _check_logarithms(logarithms: Operand | None, result: Operand | None, expected: tuple[Any, str]) -> None:
    if logarithms is None:
        return
    if result is None:
        raise ValueError("attention_gradients: expected the result beside the logarithms, got none")
    shape, dtype = tuple(expected[0][:-1]), accumulator(expected[1])
    if (logarithms.shape, logarithms.dtype) != (shape, dtype):
        raise ValueError(
            f"attention_gradients: expected logarithms of {dtype} and shape {shape}, got {logarithms.dtype} and "
            f"{logarithms.shape}"
        )


def _defined(
    head: Tensor, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, *, scale: float | None,
    before: int | None, behind: int | None, offset: int, softcap: float | None, dropout_p: float, seed: Tensor | None,
    result: Tensor | None, logarithms: Tensor | None,
) -> list[Tensor]:  # fmt: skip
    """The gradients as stages: the weights P of a softmax, and dS = P (dP - sum of P dP) of its scores."""
    acc, heads = accumulator(q.dtype), heads_of(q, k, v)
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

        return te.compute(shape, element, name=name)

    def over_keys(name: str, reducer: Any, element: Any) -> Tensor:
        axis = te.reduce_axis((0, keys), name="j")
        return te.compute(shape[:-1], lambda *row: reducer(element(*row, axis), axis=axis), name=name)

    raw, dP = dot("QK", q, k, width), dot("dP", head, v, wide)
    dropout = Dropout.of(dropout_p, seed)

    def used(value: Expr, places: Sequence[Any]) -> Expr:
        """A weight that dropout leaves, or its gradient."""
        *outer, i, j = places
        return value if dropout is None else dropout.of_weight(value, outer, i, j, heads=heads, queries=queries)

    def masked(*places: Any) -> Expr:
        own = None if mask is None else at(mask, list(places), shape)
        *_, i, j = places
        return score(
            raw(*places), i, j, mask=own, scale=factor, before=before, behind=behind, offset=offset, softcap=softcap
        )

    S = te.compute(shape, masked, name="S")
    none = te.const(0.0, acc)
    if logarithms is None:
        M = over_keys("M", te.max, S)
        lowest = te.const(float(np.finfo(acc).min), acc)
        E = te.compute(shape, lambda *at: te.exp(S(*at) - te.max(M(*at[:-1]), lowest)), name="E")
        L = over_keys("L", te.sum, E)

        def weight(*places: Any) -> Expr:
            total = L(*places[:-1])
            return te.select(total == none, none, E(*places) / total)
    else:

        def weight(*places: Any) -> Expr:
            known = logarithms(*places[:-1])
            value = te.exp2(S(*places) * math.log2(math.e) - known)
            return te.select(known == te.const(float("-inf"), acc), none, value)

    P = te.compute(shape, weight, name="P")
    if result is None:

        def product(*places: Any) -> Expr:
            return P(*places) * used(dP(*places), places)

        D = over_keys("D", te.sum, product)
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

        return te.compute([*heads, keys if transposed else queries, columns], element, name=name)

    made = [
        _of_input(of_rows("dQ.heads", scores, k, keys, width, transposed=False), q, "dQ"),
        _of_input(of_rows("dK.heads", scores, q, queries, width, transposed=True), k, "dK"),
        _of_input(of_rows("dV.heads", weights, head, queries, wide, transposed=True), v, "dV"),
    ]
    if mask is not None and mask.dtype != "bool":
        made.append(_of_input(dS, mask, "dmask"))
    return made


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
