"""What operators of ATen without a converter become: PyTorch's own decompositions."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import torch
from torch._decomp import decomposition_table  # pyright: ignore[reportUnknownVariableType]

from . import (
    composites,
    encoder_layers,
    linear_algebra,
    lists,
    number_parts,
    resizing,
    sampling,
    scattering,
    special_functions,
)
from .call import CONVERTERS, refused

__all__ = ["lying_as", "aten_decompositions", "decompositions"]


def _short(op: Any) -> str:
    namespace, name = op._schema.name.split("::")
    return f"{name}.{op._overloadname}" if namespace == "aten" else f"{namespace}.{name}.{op._overloadname}"


def _scores(
    query: torch.Tensor, key: torch.Tensor, is_causal: bool, attn_mask: torch.Tensor | None, scale: float | None
) -> torch.Tensor:  # fmt: skip
    """The scores of attention, with their mask; the matmuls are those of PyTorch's decomposition."""
    factor = math.sqrt(query.shape[-1] ** -0.5 if scale is None else scale)
    if query.shape[1] != key.shape[1]:
        key = key.repeat_interleave(query.shape[1] // key.shape[1], 1)
    scores = (query * factor) @ (key.transpose(-2, -1) * factor)
    if is_causal:
        attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
    if attn_mask is None:
        return scores
    return scores.masked_fill(~attn_mask, -math.inf) if attn_mask.dtype == torch.bool else scores + attn_mask


def _attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, dropout_p: float = 0.0, is_causal: bool = False, *,
    attn_mask: torch.Tensor | None = None, scale: float | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """This package's operator of attention, which the graph has, too; its result lies in memory as the query does.

    Views of the result were traced so.

    The second result, which training needs, is the logarithm of the sum of each row's weights.
    """
    del dropout_p  # of this operator 0
    output = torch.ops.tilewright.attention(query, key, value, attn_mask, is_causal, scale, True)
    wide = torch.promote_types(query.dtype, torch.float32)
    sums = _scores(query, key, is_causal, attn_mask, scale).to(wide).logsumexp(-1)
    return lying_as(output, torch.empty_like(query)), sums


# Batches, heads, rows and columns as they may lie in memory; most models split rows into heads, which is the first.
_ORDERS = ((0, 2, 1, 3), (2, 0, 1, 3), (0, 1, 2, 3), (1, 0, 2, 3), (1, 2, 0, 3), (2, 1, 0, 3))


def lying_as(x: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """A tensor of four dimensions with its elements in the order in which those of another lie."""
    order = next((one for one in _ORDERS if like.permute(one).is_contiguous()), _ORDERS[0])
    return x.permute(order).contiguous().permute([order.index(d) for d in range(4)])


def _attention_backward(
    grad: torch.Tensor, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, out: torch.Tensor,
    sums: torch.Tensor, dropout_p: float, is_causal: bool, *, attn_mask: torch.Tensor | None = None,
    scale: float | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:  # fmt: skip
    """The gradients of attention: its weights are computed again from the sums."""
    del dropout_p  # of this operator 0
    wide = torch.promote_types(query.dtype, torch.float32)
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    groups = query.shape[1] // key.shape[1]

    def shared(x: torch.Tensor) -> torch.Tensor:
        return x if groups == 1 else x.repeat_interleave(groups, 1)

    def summed(x: torch.Tensor) -> torch.Tensor:
        return x if groups == 1 else x.unflatten(1, (key.shape[1], groups)).sum(2)  # pyright: ignore[reportUnknownVariableType]

    scores = _scores(query, key, is_causal, attn_mask, scale).to(wide)
    # A row that is masked away whole has the sum 0, and weights of 0.
    shift = sums.masked_fill(sums == -math.inf, 0.0).unsqueeze(-1)
    weights = (scores - shift).exp()
    grad, out, q, k, v = (one.to(wide) for one in (grad, out, query, shared(key), shared(value)))
    of_scores = weights * (grad @ v.transpose(-2, -1) - (grad * out).sum(-1, keepdim=True)) * factor
    made = of_scores @ k, summed(of_scores.transpose(-2, -1) @ q), summed(weights.transpose(-2, -1) @ grad)
    return tuple(one.to(like.dtype) for one, like in zip(made, (query, key, value)))  # type: ignore[return-value]


_PARTS = (
    encoder_layers, composites, linear_algebra, lists, number_parts, resizing, sampling, scattering, special_functions,
)  # fmt: skip


@cache
def aten_decompositions() -> dict[Any, Any]:
    """By operator without a converter, what PyTorch makes of it."""
    table = {  # pyright: ignore[reportUnknownVariableType]
        op: function
        for op, function in decomposition_table.items()  # pyright: ignore[reportUnknownVariableType]
        if isinstance(op, torch._ops.OpOverload) and _short(op) not in CONVERTERS and _short(op) not in refused  # pyright: ignore[reportPrivateUsage]
    }
    for part in _PARTS:
        table.update(part.decompositions())
    table[torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default] = _attention
    table[torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default] = _attention_backward
    return table  # pyright: ignore[reportUnknownVariableType]


def decompositions() -> Any:
    """The table for exported programs: with what operators that are functions of others become, too."""
    table = torch.export.default_decompositions()
    for op in list(table.keys()):  # pyright: ignore[reportUnknownArgumentType]
        if isinstance(op, torch._ops.OpOverload) and (_short(op) in CONVERTERS or _short(op) in refused):  # pyright: ignore[reportPrivateUsage]
            del table[op]
    for op, function in aten_decompositions().items():
        table[op] = function
    return table
