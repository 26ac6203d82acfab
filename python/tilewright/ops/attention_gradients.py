"""The gradients of attention: of queries, keys and values, and of a mask that is added to the scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import te
from ..errors import TilewrightValueError as ValueError
from ..graph.operators.common import accumulator, at
from ..rules import auto_schedule
from ..schedules.attention_backward import attention_gradients_of
from ..schedules.attention_choice import gradient_tiles_for, is_for_tma, lists_tiles
from ..schedules.scores import Dropout, heads_of, of_head, score
from ..target import Target, current_gpu
from ..te import Expr, Tensor
from ..te.alignment import ALIGNMENT
from .attention import check_attention, check_dropout, check_heads, options_of, result_shape
from .by_rules import given
from .documents import check_documents, mask_of_documents, masked_by
from .layouts import operand_of, strided_operator
from .operator import Operand, Scheduled
from .strides import row_major

__all__ = ["attention_gradients"]

_SHARED_QUERIES = 64  # of a tile whose gradients of scores are operand A of another matmul
_GRADIENTS = ("q", "k", "v", "mask", "sinks")
_LOADED = ("head", "q", "k", "v", "result")
_HALVES = ("float16", "bfloat16")
_ALL = 3  # gradients of one kernel
_ADDED_WIDTHS = (128,)  # columns of heads for which it is faster, whatever the mask
_NARROW = 64
"""Columns of heads for which it is faster where there is no window, cap, mask of an array or dropout. But for five
matmuls without a mask, two blocks then share an SM: one computes while the other waits. On an H200, 16 Ki tokens take
0.91 of the time with seven matmuls and a causal mask, and 0.82 of it with five."""
_SHARING = {"registers": (24, 232), "stages": 3}


def _as_loaded(arrays: dict[str, Any]) -> dict[str, Any]:
    """Copies of what TMA does not load as it lies: it loads the rows of 16-bit types from any multiple of 16 bytes."""

    def made(name: str, array: Any) -> Any:
        laid = operand_of(array, name)
        if name in _LOADED and laid.dtype in _HALVES and laid.strides is not None and laid.align >= ALIGNMENT:
            return array if is_for_tma(laid.shape, laid.strides) else row_major(array)
        return row_major(array)

    return {name: made(name, array) for name, array in arrays.items()}


@strided_operator(None, _as_loaded)
def attention_gradients(
    head: Operand,
    q: Operand,
    k: Operand,
    v: Operand,
    mask: Operand | None = None,
    seed: Operand | None = None,
    result: Operand | None = None,
    logarithms: Operand | None = None,
    lengths: Operand | None = None,
    slopes: Operand | None = None,
    sinks: Operand | None = None,
    documents: Operand | None = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window: tuple[int | None, int | None] | None = None,
    softcap: float | None = None,
    offset: int = 0,
    dropout_p: float = 0.0,
    deterministic: bool = True,
    wanted: Sequence[str] | None = None,
    target: Target | None = None,
) -> Scheduled:
    """The gradients of `attention` by q, k and v, in their shapes, and by a mask of floats and by sinks if there are.

    `head` is the gradient by the result, of its shape and type. The other arguments, `mask`, `seed`, `lengths`,
    `slopes`, `sinks`, `documents`, `is_causal`, `scale`, `enable_gqa`, `window`, `softcap`, `offset` and `dropout_p`,
    are those of `attention`. Arrays of 16-bit types are read by their strides, if all but the last are multiples of 16
    bytes. Others are copied where they are not row-major; the gradients are row-major. `wanted` names the arrays whose
    gradients are computed: all, or some of "q", "k", "v", "mask" and "sinks". Those are returned in this order.

    The weights are computed anew. Sums are of float32 for 16-bit types, in one order: the same arrays give
    the same gradients. On sm_90a, kernels of tensor cores compute 16-bit types. Heads have multiples of 8 columns, up
    to 256. The kernels store no scores, and need fewer matmuls if the `result` of `attention` is given. With both
    results of `attention_with_logarithms` there is one kernel less. Where there is enough to compute, tiles of which a
    bool mask leaves nothing are not visited, as `attention` has it.

    The gradient by a mask has a kernel of its own, which multiplies twice more. It stores sums for each element of the
    mask alone. Of a mask that all queries of a head share, it stores sums for each key of each head. `wanted` leaves
    this gradient out where the mask is not learned. Everything else is scheduled by rules. So are masks that have one
    element for all keys. There the gradient by a mask takes 10 or 12 bytes of memory for each query and key of a head.

    If they need not be `deterministic`, one kernel may have five matmuls in place of seven. Blocks add their parts of
    the gradients by q, by TMA and in any order. So it is for heads of 128 without a mask, if both results are given and
    all three gradients are wanted. So it is for heads of 64 that have no window, soft cap or dropout either.

    Raises
    ------
    TypeError, ValueError
        As `attention`; for a head, a result or logarithms of another shape or type; for logarithms without a
        result; and for names of no gradients.

    >>> import numpy as np
    >>> q, k, v, head = np.random.default_rng(0).standard_normal((4, 2, 5, 8)).astype("float32")
    >>> dq, dk, dv = attention_gradients(head, q, k, v, is_causal=True)
    >>> bool((abs(dq[:, 0]) < 1e-6).all())  # the first query sees one key, whatever it is
    True
    """
    check_attention(q, k, v, mask, enable_gqa, lengths=lengths)
    check_heads(q, slopes=slopes, sinks=sinks)
    expected = result_shape(q, k, v), q.dtype
    if (head.shape, head.dtype) != expected:
        raise ValueError(
            f"attention_gradients: expected a head of {expected[1]} and shape {expected[0]}, got {head.dtype} and "
            f"{head.shape}"
        )
    options = options_of(is_causal=is_causal, scale=scale, window=window, softcap=softcap, offset=offset)
    check_dropout(dropout_p, seed)
    check_documents(documents, q, k, mask=mask, lengths=lengths)
    names = _names(wanted, mask, sinks)
    if result is not None and (result.shape, result.dtype) != expected:
        raise ValueError(
            f"attention_gradients: expected a result of {expected[1]} and shape {expected[0]}, got {result.dtype} and "
            f"{result.shape}"
        )
    _check_logarithms(logarithms, result, expected)
    operands = {"head": head, "Q": q, "K": k, "V": v, "mask": mask, "seed": seed, "result": result}
    operands |= {"logarithms": logarithms, "lengths": lengths, "slopes": slopes, "sinks": sinks}
    operands["documents"] = documents
    named = {name: given(one, name) for name, one in operands.items() if one is not None}
    inputs = list(named.values())
    if documents is not None:
        mask, named["mask"] = masked_by(documents), mask_of_documents(named.pop("documents"))
    dropped: dict[str, Any] = {"dropout_p": dropout_p, "seed": named.pop("seed", None)}
    known = {name: named.pop(name, None) for name in ("result", "logarithms", "lengths", "slopes", "sinks")}
    options["softcap"] = softcap
    is_cut = softcap is not None or options["before"] is not None
    is_read = any(one is not None for one in (mask, lengths, slopes))
    tiles = None
    # Kernels sum the gradient by a mask for each key.
    is_summed = mask is None or "mask" not in names or mask.shape[-1] == k.shape[-2]
    if (target is None or target.kind != "cpu") and is_summed:
        tiles = gradient_tiles_for(q, k, v, expected[0], current_gpu(), is_cut=is_cut, reads=is_read)
    if tiles is not None:
        is_added = not deterministic and logarithms is not None and names[:_ALL] == [*_GRADIENTS[:_ALL]]
        is_added = is_added and mask is None and len(tiles) == _ALL
        is_narrow = q.shape[-1] == v.shape[-1] == _NARROW and mask is None and len(tiles) == _ALL
        is_narrow = is_narrow and not (is_cut or is_read or dropout_p)
        is_added = is_added and (is_narrow or q.shape[-1] in _ADDED_WIDTHS)
        is_shared = is_narrow and not (is_added and options["behind"] is None)
        if is_shared:
            tiles = (tiles[0], tiles[1] if is_added else (_NARROW, _NARROW), (_NARROW, _NARROW))
        elif is_added:
            # A block's warpgroups part the columns of what they add, or else its queries.
            rows = tiles[2][0]
            tiles = (*tiles[:2], (rows, _SHARED_QUERIES if rows == q.shape[-1] else rows))
        is_listed = False
        if mask is not None and lengths is None:
            is_listed = lists_tiles(mask, expected[0], k.shape[-2], {"tile": tiles[1]})
        s, made = attention_gradients_of(
            *named.values(), scale=scale, tiles=tiles, adds=is_added, wanted=[name.upper() for name in names],
            is_listed=is_listed, **known, **options, **dropped, **(_SHARING if is_shared else {}),
        )  # fmt: skip
        if documents is not None:
            s[named["mask"]].compute_inline()
        return s, [*inputs, *made[-len(names) :]]
    outputs = _defined(*named.values(), scale=scale, **known, **options, **dropped)
    outputs = [outputs[name] for name in names]
    return auto_schedule(outputs, target), [*inputs, *outputs]


def _names(wanted: Sequence[str] | None, mask: Operand | None, sinks: Operand | None) -> list[str]:
    """The arrays whose gradients are wanted, in order."""
    others = {"mask": mask is not None and mask.dtype != "bool", "sinks": sinks is not None}
    there = [name for name in _GRADIENTS if others.get(name, True)]
    names = there if wanted is None else [name for name in there if name in wanted]
    if not names or wanted is not None and not set(wanted) <= set(names):
        raise ValueError(f"attention_gradients: expected wanted of one or more of {', '.join(there)}, got {wanted}")
    return names


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
    result: Tensor | None, logarithms: Tensor | None, lengths: Tensor | None, slopes: Tensor | None,
    sinks: Tensor | None,
) -> dict[str, Tensor]:  # fmt: skip
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

        return te.compute([*heads, keys if transposed else queries, columns], element, name=name)

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
