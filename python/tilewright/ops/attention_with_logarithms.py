"""Attention for training: beside the result, what the gradients need of each query."""

from __future__ import annotations

from typing import Any

from ..devices import current
from ..graph.operators.attention import attention_and_logarithms
from ..rules import auto_schedule
from ..schedules.attention_choice import logarithm_tiles_for
from ..schedules.online_softmax import attention_of
from ..target import Target
from .attention import check_attention, check_dropout, options_of, result_shape
from .by_rules import given
from .operator import Operand, Scheduled, operator

__all__ = ["attention_with_logarithms"]


@operator
def attention_with_logarithms(
    q: Operand,
    k: Operand,
    v: Operand,
    mask: Operand | None = None,
    seed: Operand | None = None,
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
    """The result of `attention`, and for each query the logarithm, by 2, of its sum of exponentials.

    With both, `attention_gradients` computes each weight by one exponential. The logarithms are heads x queries, of
    float32 for 16-bit types. That of a query that sees no key is minus infinity. The arguments `mask`, `seed`,
    `is_causal`, `scale`, `enable_gqa`, `window`, `softcap`, `offset` and `dropout_p`, and the errors, are those of
    `attention`; arrays are row-major.

    >>> import numpy as np
    >>> q, k, v = np.random.default_rng(0).standard_normal((3, 2, 5, 8)).astype("float32")
    >>> o, logarithms = attention_with_logarithms(q, k, v)
    >>> scores = q @ k.transpose(0, 2, 1) / 8**0.5
    >>> bool((abs(np.log2(np.exp(scores).sum(-1)) - logarithms) < 1e-5).all())
    True
    """
    check_attention(q, k, v, mask, enable_gqa)
    check_dropout(dropout_p, seed)
    operands = {"Q": q, "K": k, "V": v, "mask": mask, "seed": seed}
    named = {name: given(one, name) for name, one in operands.items() if one is not None}
    tensors, masked = (named["Q"], named["K"], named["V"]), named.get("mask")
    options: dict[str, Any] = {
        **options_of(is_causal=is_causal, scale=scale, window=window, softcap=softcap, offset=offset),
        "softcap": softcap, "scale": scale, "seed": named.get("seed"), "dropout_p": dropout_p,
    }  # fmt: skip
    tiles = None
    if target is None or target.kind != "cpu":
        is_diagonal = is_causal and window is None and offset == 0
        tiles = logarithm_tiles_for(q, k, v, result_shape(q, k, v), current(), is_causal=is_diagonal)
    if tiles is not None:
        return attention_of(*tensors, masked, **options, **tiles, with_logarithms=True)
    outputs = attention_and_logarithms(*tensors, masked, **options)
    return auto_schedule(outputs, target), [*named.values(), *outputs]
