"""PyTorch's fused operators of encoder layers, which its modules call in inference, as the operators they fuse."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F

__all__ = ["decompositions"]

_ROWS, _KEYS = 0, 1
"""Kinds of masks: of rows and columns, of batches and keys; another is of batches, heads, rows and columns."""


def _masked(scores: torch.Tensor, mask: torch.Tensor | None, kind: int | None) -> torch.Tensor:
    """Scores of which a mask leaves some out: those where it is true, or a number other than 0."""
    if mask is None:
        return scores
    out = mask.to(torch.bool)
    if kind == _KEYS:
        out = out[:, None, None, :]
    elif kind == _ROWS and out.dim() == 2:
        out = out[None, None]
    return scores.masked_fill(out, -math.inf)


def _attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, embed_dim: int, num_head: int,
    qkv_weight: torch.Tensor, qkv_bias: torch.Tensor, proj_weight: torch.Tensor, proj_bias: torch.Tensor,
    mask: torch.Tensor | None = None, need_weights: bool = True, average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    split: Any = torch.split  # has no types
    parts = zip((query, key, value), split(qkv_weight, embed_dim), split(qkv_bias, embed_dim))
    linear: Any = F.linear  # nor has what unflatten returns
    heads: Any = [linear(x, w, b).unflatten(-1, (num_head, -1)).transpose(1, 2) for x, w, b in parts]
    q, k, v = heads
    scores = (q * (embed_dim // num_head) ** -0.5) @ k.transpose(-2, -1)
    weights = torch.softmax(_masked(scores, mask, mask_type), -1)
    made = F.linear((weights @ v).transpose(1, 2).flatten(2), proj_weight, proj_bias)
    if not need_weights:
        return made, made.new_empty(0)
    return made, weights.mean(1) if average_attn_weights else weights


def _layer(
    src: torch.Tensor, embed_dim: int, num_heads: int, qkv_weight: torch.Tensor, qkv_bias: torch.Tensor,
    proj_weight: torch.Tensor, proj_bias: torch.Tensor, use_gelu: bool, norm_first: bool, eps: float,
    norm_weight_1: torch.Tensor, norm_bias_1: torch.Tensor, norm_weight_2: torch.Tensor, norm_bias_2: torch.Tensor,
    ffn_weight_1: torch.Tensor, ffn_bias_1: torch.Tensor, ffn_weight_2: torch.Tensor, ffn_bias_2: torch.Tensor,
    mask: torch.Tensor | None = None, mask_type: int | None = None,
) -> torch.Tensor:  # fmt: skip
    def attend(x: torch.Tensor) -> torch.Tensor:
        own = qkv_weight, qkv_bias, proj_weight, proj_bias
        return _attention(x, x, x, embed_dim, num_heads, *own, mask, False, mask_type=mask_type)[0]

    def feed(x: torch.Tensor) -> torch.Tensor:
        wide = F.linear(x, ffn_weight_1, ffn_bias_1)
        return F.linear(F.gelu(wide) if use_gelu else F.relu(wide), ffn_weight_2, ffn_bias_2)

    def norms(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, (embed_dim,), weight, bias, eps)

    first, second = (norm_weight_1, norm_bias_1), (norm_weight_2, norm_bias_2)
    if norm_first:
        x = src + attend(norms(src, *first))
        return x + feed(norms(x, *second))
    x = norms(src + attend(src), *first)
    return norms(x + feed(x), *second)


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    return {
        torch.ops.aten._transformer_encoder_layer_fwd.default: _layer,
        torch.ops.aten._native_multi_head_attention.default: _attention,
    }
