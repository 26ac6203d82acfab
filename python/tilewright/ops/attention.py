"""Attention: softmax of the scaled scores of queries and keys, times the values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..graph.operators.attention import attention as defined
from ..schedules.attention_choice import blocks_of_documents, lists_tiles, tiles_for
from ..schedules.online_softmax import attention_of
from ..target import Target, current_gpu
from ..te import strided
from .by_rules import FLOATS, by_rules, expect_floats, given
from .documents import check_documents, mask_of_documents, masked_by
from .layouts import strided_operator
from .operator import Operand, Scheduled
from .strides import without_repeats

__all__ = ["attention", "check_attention", "check_dropout", "check_heads", "once", "options_of", "result_shape"]


def _outer(q: Operand, k: Operand, v: Operand) -> tuple[int, ...]:
    """The extents before the last two of the result, of operands that fit."""
    if len(q.shape) == 2:
        return ()
    heads = [one.shape[-3] for one in (q, k, v)]
    lead = np.broadcast_shapes(*(one.shape[:-3] for one in (q, k, v)))
    return (*lead, 0 if 0 in heads else max(heads))


def result_shape(
    q: Operand,
    k: Operand,
    v: Operand,
    mask: Operand | None = None,
    pages: Operand | None = None,
    lengths: Operand | None = None,
    slopes: Operand | None = None,
    sinks: Operand | None = None,
    seed: Operand | None = None,
    documents: Operand | None = None,
) -> tuple[int, ...]:
    """The shape of the result, of operands that fit."""
    check_attention(q, k, v, mask, enable_gqa=True, pages=pages, lengths=lengths)
    check_documents(documents, q, k, mask=mask, pages=pages, lengths=lengths)
    check_heads(q, slopes=slopes, sinks=sinks)
    if pages is not None:
        return (*q.shape[:-1], v.shape[-1])
    return (*_outer(q, k, v), q.shape[-2], v.shape[-1])


def once(arrays: dict[str, Any]) -> dict[str, Any]:
    """Keys, values and a mask that repeat nothing for the heads of queries, as expanded arrays do; TMA has no strides
    of 0."""
    if "pages" in arrays:
        return arrays
    *outer, queries, _ = arrays["q"].shape
    made = {name: without_repeats(arrays[name], outer) for name in ("k", "v")}
    if "mask" in arrays and len(arrays["mask"].shape) == len(outer) + 2:
        made["mask"] = without_repeats(arrays["mask"], (*outer, queries))
    is_same = all(arrays[name] is one for name, one in made.items())
    return arrays if is_same else {**arrays, **made}


@strided_operator(result_shape, once)
def attention(
    q: Operand,
    k: Operand,
    v: Operand,
    mask: Operand | None = None,
    pages: Operand | None = None,
    lengths: Operand | None = None,
    slopes: Operand | None = None,
    sinks: Operand | None = None,
    seed: Operand | None = None,
    documents: Operand | None = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window: tuple[int | None, int | None] | None = None,
    softcap: float | None = None,
    offset: int = 0,
    dropout_p: float = 0.0,
    strides: Sequence[int] | None = None,
    target: Target | None = None,
) -> Scheduled:
    """softmax(scale * q @ k.T + mask) @ v, as torch's `scaled_dot_product_attention` has it.

    `q` is … x heads x queries x width, `k` is … x heads x keys x width, and `v` is … x heads x keys x columns. The
    result is … x heads x queries x columns. All have one float type. Leading extents are broadcast, and may be left
    out. An array whose last axis is dense is read without a copy. It may be an array of b s h d with swapped axes, or a
    slice of an array that holds queries, keys and values. A new result has the memory layout of `q`. 16-bit types are
    computed in float32; the weights are rounded to the type before they multiply `v`.

    Parameters
    ----------
    mask
        Broadcast to … x heads x queries x keys. A bool mask is false for keys that a query does not see. A float mask
        is added to the scaled scores.
    pages
        Of int32, sequences x pages: `k` and `v` are then pages x heads x page x width, as a cache has them, and `q` is
        sequences x heads x queries x width. Row b has the numbers of the pages with the keys and values of sequence b,
        in their order. Each number must be that of a page; a row has so many even if its sequence is shorter.
    lengths
        Of int32, one for each sequence: how many keys it has. Its last query stands at its last key, and `offset` is
        counted from there. Keys behind the last have no weight, but their values must be finite.
    slopes
        Of float32, one for each head of `q` (ALiBi): a score grows by so much from one key to the next, and stays what
        it is at key i + `offset`.
    sinks
        Of float32, one for each head of `q`: a score more, without a value, which takes its share of the weights.
    seed
        Of int32, one number without dimensions: which weights are dropped.
    documents
        Of int32, a number for each token, for all sequences or for each: … x keys. A query sees the keys of its own
        document, as if packed sequences were apart. No mask is in memory. There are as many queries as keys.
    is_causal
        Query i sees the keys up to i + `offset`.
    scale
        1 / sqrt(width) by default.
    enable_gqa
        `k` and `v` may have fewer heads than `q`. Each of their heads then serves equally many consecutive heads of
        `q`.
    window
        How many keys before and behind i + `offset` query i sees; None for all of one side.
    softcap
        c for scores of c * tanh(scale * q @ k.T / c).
    offset
        The position of the first query among the keys: 0 as in torch. Use keys - queries to put the last query at the
        last key.
    dropout_p
        The probability with which a weight is dropped. The others are divided by 1 - `dropout_p`. A hash of the seed
        and the place says which: the same arrays and seed give the same result.
    strides
        Of a result that is not row-major, in elements.

    Raises
    ------
    TypeError
        For operands that are not floats, or have different types.
    ValueError
        For extents that do not fit, and heads of `k` that do not divide those of `q`.

    Notes
    -----
    A query that sees no key gets zeros. The simulator finds numbers of pages that do not exist. From sm_80 on, one
    kernel (`schedules.attention_wgmma`) computes 16-bit types with heads of up to 256 and rows of multiples of 16
    bytes; pages divide its tiles of keys, or are multiples of them. It is not used if most of its tiles would be empty.
    It computes float32, too, where a block has room for its tiles: tensor cores multiply what is rounded to tf32 and
    what is left of it, which is no less exact than PyTorch's products.
    Where there is enough to compute, two kernels before it list the tiles of which a bool mask, or documents, leave
    something: no others are loaded and multiplied.
    Everything else is scheduled by rules.

    >>> import numpy as np
    >>> q, k, v = np.random.default_rng(0).standard_normal((3, 1, 2, 5, 8)).astype("float32")
    >>> attention(q, k, v, is_causal=True).shape
    (1, 2, 5, 8)
    >>> bool((attention(q, k, v, is_causal=True)[0, 0, 0] == v[0, 0, 0]).all())
    True
    >>> packed = np.zeros((1, 5, 3, 2, 8), "float16").transpose(2, 0, 3, 1, 4)  # of q, k and v, b h s d each
    >>> attention(*packed, window=(2, 0), softcap=30.0).shape
    (1, 2, 5, 8)
    """
    check_attention(q, k, v, mask, enable_gqa, pages, lengths)
    check_heads(q, slopes=slopes, sinks=sinks)
    check_dropout(dropout_p, seed)
    check_documents(documents, q, k, mask=mask, pages=pages, lengths=lengths)
    bounds = options_of(is_causal=is_causal, scale=scale, window=window, softcap=softcap, offset=offset)
    operands = {"Q": q, "K": k, "V": v, "mask": mask, "pages": pages, "lengths": lengths}
    operands |= {"slopes": slopes, "sinks": sinks, "seed": seed, "documents": documents}
    named = {name: given(one, name) for name, one in operands.items() if one is not None}
    inputs = list(named.values())
    options: dict[str, Any] = {**bounds, "softcap": softcap, "scale": scale}
    options |= {name: named.get(name) for name in ("pages", "lengths", "slopes", "sinks", "seed")}
    options["dropout_p"] = dropout_p
    if documents is not None:
        mask, named["mask"] = masked_by(documents), mask_of_documents(named["documents"])
    shape = result_shape(q, k, v, None, pages)
    on_gpu = target is None or target.kind != "cpu"
    tiles = None
    if on_gpu:
        is_diagonal = is_causal and window is None and offset == 0 and lengths is None
        tiles = tiles_for(q, k, v, shape, strides, current_gpu(), pages, is_causal=is_diagonal)
        if tiles is not None and mask is not None and pages is None and lengths is None:
            tiles["is_listed"] = lists_tiles(mask, shape, k.shape[-2], tiles)
            if documents is not None and tiles["is_listed"]:
                tiles |= blocks_of_documents(shape, k.shape[-2], tiles["tile"], current_gpu())
    if tiles is not None:
        s, tensors = attention_of(named["Q"], named["K"], named["V"], named.get("mask"), **options, **tiles)
        if documents is not None:
            s[named["mask"]].compute_inline()
    else:
        s, tensors = by_rules(inputs, defined(named["Q"], named["K"], named["V"], named.get("mask"), **options), target)
    result: Any = tensors[-1] if strides is None else strided(tensors[-1], strides)
    return s, [*inputs, result]


def options_of(
    *, is_causal: bool, scale: float | None, window: tuple[int | None, int | None] | None, softcap: float | None,
    offset: int,
) -> dict[str, Any]:  # fmt: skip
    """Which keys a query sees; raises ValueError for options that have no meaning."""
    if scale is not None and not math.isfinite(scale):
        raise ValueError(f"attention: expected a finite scale, got {scale}")
    if softcap is not None and not 0 < softcap < math.inf:
        raise ValueError(f"attention: expected a positive softcap, got {softcap}")
    if window is not None and (len(window) != 2 or any(side is not None and side < 0 for side in window)):
        raise ValueError(f"attention: expected a window of two numbers of at least 0, or None, got {window}")
    before, behind = window or (None, None)
    return {"before": before, "behind": 0 if is_causal else behind, "offset": offset}


def check_attention(
    q: Operand,
    k: Operand,
    v: Operand,
    mask: Operand | None,
    enable_gqa: bool,
    pages: Operand | None = None,
    lengths: Operand | None = None,
) -> None:
    expect_floats("attention", q=q, k=k, v=v)
    if not q.dtype == k.dtype == v.dtype:
        raise TypeError(f"attention: expected q, k and v of one type, got {q.dtype}, {k.dtype} and {v.dtype}")
    if mask is not None and mask.dtype not in ("bool", *FLOATS):
        raise TypeError(f"attention: expected a mask of bool, {', '.join(FLOATS)}, got {mask.dtype}")
    shapes = f"got shapes {q.shape}, {k.shape} and {v.shape}"
    if not 2 <= len(q.shape) == len(k.shape) == len(v.shape):
        raise ValueError(f"attention: expected q, k and v of one number of dimensions, at least 2, {shapes}")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"attention: expected q and k of one width, {shapes}")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"attention: expected as many keys as values, {shapes}")
    for name, one in (("pages", pages), ("lengths", lengths)):
        if one is not None and one.dtype != "int32":
            raise TypeError(f"attention: expected {name} of int32, got {one.dtype}")
    if lengths is not None and (len(q.shape) != 4 or lengths.shape != q.shape[:1]):
        raise ValueError(
            f"attention: expected q of 4 dimensions and a length for each of its sequences, got shapes {q.shape} and "
            f"{lengths.shape}"
        )
    if pages is not None:
        _check_pages(q, k, v, mask, pages)
        return
    *lead, heads = q.shape[:-2] or (1,)
    for one in (k, v):
        *others, own = one.shape[:-2] or (1,)
        fits = heads == own or 1 in (heads, own) or enable_gqa and own and not heads % own
        if not fits or any(1 not in (a, b) and a != b for a, b in zip(lead, others, strict=True)):
            more = "" if enable_gqa else " (enable_gqa=True is for heads of q that share one of k and v)"
            raise ValueError(f"attention: expected extents before the last two that fit{more}, {shapes}")
    _check_mask(mask, (*_outer(q, k, v), q.shape[-2], k.shape[-2]))


def check_dropout(p: float, seed: Operand | None) -> None:
    if not 0 <= p < 1:
        raise ValueError(f"attention: expected a dropout_p from 0 to less than 1, got {p}")
    if p and seed is None:
        raise ValueError(f"attention: expected a seed, which says what a dropout_p of {p} drops, got none")
    if seed is not None and (seed.dtype, seed.shape) != ("int32", ()):
        raise ValueError(f"attention: expected a seed of int32 and shape (), got {seed.dtype} and {seed.shape}")


def check_heads(q: Operand, **arrays: Operand | None) -> None:
    for name, one in arrays.items():
        if one is None:
            continue
        if one.dtype != "float32":
            raise TypeError(f"attention: expected {name} of float32, got {one.dtype}")
        if len(q.shape) < 3 or one.shape != q.shape[-3:-2]:
            raise ValueError(
                f"attention: expected q of at least 3 dimensions and a number for each of its heads as {name}, got "
                f"shapes {q.shape} and {one.shape}"
            )


def _check_pages(q: Operand, k: Operand, v: Operand, mask: Operand | None, pages: Operand) -> None:
    shapes = f"got shapes {q.shape}, {k.shape}, {v.shape} and pages {pages.shape}"
    if len(q.shape) != 4 or len(pages.shape) != 2 or pages.shape[0] != q.shape[0] or 0 in pages.shape:
        raise ValueError(
            "attention: expected q of sequences x heads x queries x width and pages of sequences x pages, at least one "
            f"each, {shapes}"
        )
    if k.shape[:3] != v.shape[:3] or 0 in k.shape[:3] or q.shape[1] % k.shape[1]:
        raise ValueError(
            f"attention: expected k and v of as many pages, heads that divide those of q, and keys of a page, {shapes}"
        )
    _check_mask(mask, (*q.shape[:-1], k.shape[-2] * pages.shape[1]))


def _check_mask(mask: Operand | None, whole: tuple[int, ...]) -> None:
    if mask is None:
        return
    if len(mask.shape) > len(whole) or any(a not in (1, b) for a, b in zip(mask.shape[::-1], whole[::-1])):
        raise ValueError(f"attention: expected a mask that is broadcast to {whole}, got shape {mask.shape}")
