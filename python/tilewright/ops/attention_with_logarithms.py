"""Attention for training: beside the result, what the gradients need of each query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..graph.operators.attention import attention_and_logarithms
from ..graph.operators.common import accumulator
from ..rules import auto_schedule
from ..schedules.attention_choice import lists_tiles, logarithm_tiles_for
from ..schedules.online_softmax import attention_of
from ..target import Target, current_gpu
from ..te import strided
from .attention import check_attention, check_dropout, check_heads, once, options_of, result_shape
from .by_rules import given
from .documents import check_documents, mask_of_documents, masked_by
from .layouts import strided_operator
from .operator import Operand, Scheduled

__all__ = ["attention_with_logarithms"]


def _shape_of(
    q: Operand, k: Operand, v: Operand, mask: Operand | None = None, seed: Operand | None = None, **others: Operand
) -> tuple[int, ...]:  # fmt: skip
    return result_shape(q, k, v, mask, seed=seed, **others)


def _beside(q: Operand, k: Operand, v: Operand, **others: Operand) -> tuple[Operand, ...]:
    return (Operand(_shape_of(q, k, v, **others)[:-1], accumulator(q.dtype)),)


@strided_operator(_shape_of, once, _beside)
def attention_with_logarithms(
    q: Operand,
    k: Operand,
    v: Operand,
    mask: Operand | None = None,
    seed: Operand | None = None,
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
    strides: Sequence[int] | None = None,
    target: Target | None = None,
) -> Scheduled:
    """The result of `attention`, and for each query the logarithm, by 2, of its sum of exponentials.

    With both, `attention_gradients` computes each weight by one exponential. The logarithms are heads x queries, of
    float32 for 16-bit types. That of a query that sees no key is minus infinity. With sinks it is the logarithm of the
    sum with the sink's exponential. The arguments `mask`, `seed`, `lengths`, `slopes`, `sinks`, `documents`,
    `is_causal`, `scale`, `enable_gqa`, `window`, `softcap`, `offset`, `dropout_p` and `strides`, and the errors, are
    those of `attention`. So are the arrays that are read without a copy.

    >>> import numpy as np
    >>> q, k, v = np.random.default_rng(0).standard_normal((3, 2, 5, 8)).astype("float32")
    >>> o, logarithms = attention_with_logarithms(q, k, v)
    >>> scores = q @ k.transpose(0, 2, 1) / 8**0.5
    >>> bool((abs(np.log2(np.exp(scores).sum(-1)) - logarithms) < 1e-5).all())
    True
    """
    check_attention(q, k, v, mask, enable_gqa, lengths=lengths)
    check_heads(q, slopes=slopes, sinks=sinks)
    check_dropout(dropout_p, seed)
    check_documents(documents, q, k, mask=mask, lengths=lengths)
    operands = {"Q": q, "K": k, "V": v, "mask": mask, "seed": seed}
    operands |= {"lengths": lengths, "slopes": slopes, "sinks": sinks, "documents": documents}
    named = {name: given(one, name) for name, one in operands.items() if one is not None}
    inputs = [*named.values()]
    if documents is not None:
        mask, named["mask"] = masked_by(documents), mask_of_documents(named["documents"])
    tensors, masked = (named["Q"], named["K"], named["V"]), named.get("mask")
    options: dict[str, Any] = {
        **options_of(is_causal=is_causal, scale=scale, window=window, softcap=softcap, offset=offset),
        "softcap": softcap, "scale": scale, "dropout_p": dropout_p,
        **{name: named.get(name) for name in ("seed", "lengths", "slopes", "sinks")},
    }  # fmt: skip
    tiles = None
    if target is None or target.kind != "cpu":
        is_diagonal = is_causal and window is None and offset == 0 and lengths is None
        tiles = logarithm_tiles_for(q, k, v, result_shape(q, k, v), strides, current_gpu(), is_causal=is_diagonal)
        if tiles is not None and mask is not None and lengths is None:
            tiles["is_listed"] = lists_tiles(mask, result_shape(q, k, v), k.shape[-2], tiles)
    if tiles is not None:
        s, (*_, result, logarithms) = attention_of(*tensors, masked, **options, **tiles, with_logarithms=True)
        if documents is not None:
            s[named["mask"]].compute_inline()
    else:
        result, logarithms = attention_and_logarithms(*tensors, masked, **options)
        s = auto_schedule([result, logarithms], target)
    laid: Any = result if strides is None else strided(result, strides)
    return s, [*inputs, laid, logarithms]
