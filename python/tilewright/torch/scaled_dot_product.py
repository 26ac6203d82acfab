"""`scaled_dot_product_attention` of PyTorch, on any device: this package's operators, which have gradients.

PyTorch chooses among several operators, by the device and by its library, each with its own for the gradients.
"""

from __future__ import annotations

import math
from typing import Any

import torch

__all__ = ["attended", "decompositions", "gradients_of", "lying_as"]

_aten: Any = torch.ops.aten
_RANK = 4  # batches, heads, rows and columns


def attended(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> torch.Tensor:  # fmt: skip
    """`scaled_dot_product_attention` as the operators that are compiled to one kernel; as PyTorch's, where none is."""
    query, key, value = (_as_cast(one) for one in (query, key, value))
    attn_mask = None if attn_mask is None else _as_cast(attn_mask)
    if not 0 <= dropout_p < 1 or not _is_taken(query, key, value, enable_gqa):
        return _by_matmuls(
            query, key, value, attn_mask, dropout_p, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa
        )  # fmt: skip
    scale = int(query.shape[-1]) ** -0.5 if scale is None else scale
    missing = _RANK - query.dim()
    for _ in range(missing):
        query, key, value = query.unsqueeze(-3), key.unsqueeze(-3), value.unsqueeze(-3)
        attn_mask = attn_mask.unsqueeze(-3) if attn_mask is not None and attn_mask.dim() > 2 else attn_mask
    given = [one for one in (query, key, value, attn_mask) if one is not None]
    operands = query, key, value, attn_mask, is_causal, scale, enable_gqa
    if dropout_p:
        seed = torch.randint(2**31 - 1, (), dtype=torch.int32, device=query.device)
        operands += None, None, None, 0, dropout_p, seed
    if torch.is_grad_enabled() and any(one.requires_grad for one in given):
        made = torch.ops.tilewright.attention_with_logarithms(*operands)[0]
    else:
        made = torch.ops.tilewright.attention(*operands)
    made = lying_as(made, torch.empty_like(query))
    for _ in range(missing):
        made = made.squeeze(-3)
    return made


def _by_matmuls(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attn_mask: torch.Tensor | None, *given: float,
    **options: Any,
) -> torch.Tensor:  # fmt: skip
    """PyTorch's decomposition, whose mask is added."""
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        attn_mask = torch.where(attn_mask, 0.0, -math.inf).to(query.dtype)
    return _aten._scaled_dot_product_attention_math(query, key, value, attn_mask, *given, **options)[0]


def _as_cast(x: torch.Tensor) -> torch.Tensor:
    """A tensor as autocast gives it to PyTorch's own function."""
    if not x.is_floating_point() or x.dtype == torch.float64:
        return x
    kind = x.device.type
    return x.to(torch.get_autocast_dtype(kind)) if torch.is_autocast_enabled(kind) else x


def _is_taken(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, enable_gqa: bool) -> bool:
    """Whether operands have the ranks, extents and types of the operators."""
    rank = query.dim()
    if not (2 <= rank <= _RANK and rank == key.dim() == value.dim()) or not query.dtype == key.dtype == value.dtype:
        return False
    if not query.is_floating_point():
        return False
    has_groups = enable_gqa and rank > 2
    own = -3 if has_groups else -2
    same = query.shape[:own] == key.shape[:own] == value.shape[:own]
    return same and (not has_groups or key.shape[-3] == value.shape[-3])


def _attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, dropout_p: float = 0.0, is_causal: bool = False, *,
    attn_mask: torch.Tensor | None = None, scale: float | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """This package's operator of attention, which the graph has, too; its result lies in memory as the query does.

    Views of the result were traced so.

    The second result, which training needs, is the logarithm of the sum of each row's weights.
    """
    del dropout_p  # of this operator 0
    output, sums = torch.ops.tilewright.attention_with_logarithms(
        query, key, value, attn_mask, is_causal, scale, True
    )  # fmt: skip
    return lying_as(output, torch.empty_like(query)), sums * math.log(2)


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
    made = gradients_of(
        grad, query, key, value, out, sums / math.log(2), attn_mask, is_causal=is_causal, scale=scale
    )  # fmt: skip
    return made[0], made[1], made[2]


def gradients_of(
    head: torch.Tensor, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, out: torch.Tensor,
    logarithms: torch.Tensor, mask: torch.Tensor | None, *, is_causal: bool = False, scale: float | None = None,
    before: int | None = None, behind: int | None = None, softcap: float | None = None, offset: int = 0,
) -> list[torch.Tensor]:  # fmt: skip
    """The gradients by queries, keys and values; `logarithms` are of base 2."""
    options = is_causal, scale, True, before, behind, softcap, offset
    return torch.ops.tilewright.attention_gradients(
        [True, True, True], head, query, key, value, mask, *options, result=out, logarithms=logarithms
    )


def decompositions() -> dict[Any, Any]:
    """By operator what it becomes; where it is one call of the package's operator, that of exported programs, too."""
    return {
        _aten.scaled_dot_product_attention.default: attended,
        _aten._scaled_dot_product_flash_attention_for_cpu.default: _attention,
        _aten._scaled_dot_product_flash_attention_for_cpu_backward.default: _attention_backward,
    }
