"""Attention and its gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ...graph import Value
from ..call import Call, converter


def _options(
    call: Call, q: Value, is_causal: bool, scale: float | None, before: int | None, behind: int | None,
    softcap: float | None, offset: int, dropout_p: float, **arrays: Value | None,
) -> dict[str, Any]:  # fmt: skip
    """The attributes of an operator of the graph. What it does not have is refused."""
    for name, one in arrays.items():
        if one is not None:
            raise call.error(f"expected attention without {name} in a compiled model")
    factor = call.number(q.shape[-1], "the width of attention") ** -0.5 if scale is None else scale
    behind = 0 if is_causal else behind
    return {
        "scale": float(factor), "before": -1 if before is None else before, "behind": -1 if behind is None else behind,
        "offset": offset, "softcap": float(softcap or 0), **({"dropout_p": float(dropout_p)} if dropout_p else {}),
    }  # fmt: skip


def _others(mask: Value | None, dropout_p: float, seed: Value | None) -> list[Value]:
    """What stands behind the operands that attention always has."""
    return [one for one in (mask, seed if dropout_p else None) if one is not None]


@converter("tilewright.attention.default", "tilewright.attention_with_logarithms.default")
def _attention(
    call: Call, q: Value, k: Value, v: Value, mask: Value | None, is_causal: bool, scale: float | None,
    enable_gqa: bool, before: int | None, behind: int | None, softcap: float | None, offset: int,
    dropout_p: float = 0.0, seed: Value | None = None, lengths: Value | None = None, slopes: Value | None = None,
    documents: Value | None = None, sinks: Value | None = None,
) -> Any:  # fmt: skip
    del enable_gqa  # heads that fit were checked when the call was traced
    options = _options(
        call, q, is_causal, scale, before, behind, softcap, offset, dropout_p, lengths=lengths, slopes=slopes,
        documents=documents, sinks=sinks,
    )  # fmt: skip
    is_alone = call.target == "tilewright.attention.default"
    # The operator without logarithms has no dropout: models that do not train have none.
    name = "attention" if is_alone and not dropout_p else "attention_with_logarithms"
    made = call.builder.ops(name, q, k, v, *_others(mask, dropout_p, seed), **options)
    return made[0] if is_alone else made


@converter("tilewright.attention_gradients.default")
def _gradients(
    call: Call, wanted: Sequence[bool], head: Value, q: Value, k: Value, v: Value, mask: Value | None, is_causal: bool,
    scale: float | None, enable_gqa: bool, before: int | None, behind: int | None, softcap: float | None, offset: int,
    dropout_p: float, seed: Value | None, lengths: Value | None, slopes: Value | None, documents: Value | None,
    sinks: Value | None, result: Value | None, logarithms: Value | None,
) -> Any:  # fmt: skip
    del enable_gqa
    options = _options(
        call, q, is_causal, scale, before, behind, softcap, offset, dropout_p, lengths=lengths, slopes=slopes,
        documents=documents, sinks=sinks,
    )  # fmt: skip
    if result is None or logarithms is None:
        # A second pass gives both again.
        given = [q, k, v, *_others(mask, dropout_p, seed)]
        result, logarithms = call.builder.ops("attention_with_logarithms", *given, **options)
    return call.builder.ops(
        "attention_gradients", head, q, k, v, result, logarithms, *_others(mask, dropout_p, seed), **options,
        wanted=[number for number, is_wanted in enumerate(wanted) if is_wanted],
        deterministic=torch.are_deterministic_algorithms_enabled(),
    )  # fmt: skip
