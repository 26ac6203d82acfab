"""Attention."""

from __future__ import annotations

from ...graph import Value
from ..call import Call, converter


@converter("tilewright.attention.default")
def _attention(
    call: Call, q: Value, k: Value, v: Value, mask: Value | None, is_causal: bool, scale: float | None,
    enable_gqa: bool, before: int | None, behind: int | None, softcap: float | None, offset: int,
    dropout_p: float = 0.0, seed: Value | None = None, lengths: Value | None = None, slopes: Value | None = None,
    documents: Value | None = None, sinks: Value | None = None,
) -> Value:  # fmt: skip
    del enable_gqa  # heads that fit were checked when the call was traced
    if dropout_p:
        raise call.error(f"expected no dropout in a compiled model, got a dropout_p of {dropout_p}")
    arrays = {"lengths": lengths, "slopes": slopes, "documents": documents, "sinks": sinks}
    for name, one in arrays.items():
        if one is not None:
            raise call.error(f"expected attention without {name} in a compiled model")
    factor = call.number(q.shape[-1], "the width of attention") ** -0.5 if scale is None else scale
    behind = 0 if is_causal else behind
    return call.op(
        "attention", q, k, v, *([] if mask is None else [mask]), scale=float(factor),
        before=-1 if before is None else before, behind=-1 if behind is None else behind, offset=offset,
        softcap=float(softcap or 0),
    )  # fmt: skip
