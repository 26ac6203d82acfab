"""Embeddings of bounded norm, bags of embeddings and their gradients, as functions of other operators."""

from __future__ import annotations

import math
from typing import Any

import torch

__all__ = ["decompositions"]

_aten: Any = torch.ops.aten


def _bag_of(offsets: torch.Tensor, bags: Any, count: Any) -> torch.Tensor:
    """By index, of `count`, its bag: the last one that starts at it or before it."""
    places = torch.arange(count, device=offsets.device)
    return (offsets[:bags] <= places[:, None]).sum(-1) - 1


def _embedding_bag(
    weight: torch.Tensor, indices: torch.Tensor, offsets: torch.Tensor, scaled: bool = False, mode: int = 0,
    sparse: bool = False, factors: torch.Tensor | None = None, include_last_offset: bool = False, padding: int = -1,
) -> Any:  # fmt: skip
    """The largest elements of rows; sums and means have a converter."""
    del scaled, sparse, factors
    if mode != 2:
        return NotImplemented
    bags = offsets.shape[0] - int(include_last_offset)
    bag = _bag_of(offsets, bags, indices.shape[0])
    inside = (torch.arange(bags, device=bag.device)[:, None] == bag) & (indices != padding)
    values, places = torch.where(inside.unsqueeze(-1), weight[indices], -math.inf).max(1)
    sizes = inside.sum(-1)
    filled = (sizes > 0).unsqueeze(-1)
    largest = torch.where(filled, indices[places], 0)
    own, starts = indices.dtype, offsets.dtype
    return torch.where(filled, values, 0.0), bag.to(own), sizes.to(starts), largest.to(starts)


def _embedding_bag_backward(
    grad: torch.Tensor, indices: torch.Tensor, offsets: torch.Tensor, bags: torch.Tensor, sizes: torch.Tensor,
    largest: torch.Tensor, rows: Any, scaled: bool, mode: int, sparse: bool, factors: torch.Tensor | None,
    padding: int = -1,
) -> Any:  # fmt: skip
    """The gradient of sums, means or the largest elements of rows."""
    del bags
    if scaled or sparse:
        return NotImplemented
    if mode == 2:
        return grad.new_zeros(rows, grad.shape[1]).scatter_add(0, largest, grad * (sizes > 0).unsqueeze(-1))
    bag = _bag_of(offsets, grad.shape[0], indices.shape[0])
    used = (indices != padding).to(grad.dtype)
    each = grad.index_select(0, bag) * used.unsqueeze(-1)
    if mode == 1:
        counts = grad.new_zeros(grad.shape[0]).index_add(0, bag, used).clamp(min=1)
        each = each / counts.index_select(0, bag).unsqueeze(-1)
    if factors is not None:
        each = each * factors.unsqueeze(-1)
    return grad.new_zeros(rows, grad.shape[1]).index_add(0, indices, each)


def _per_sample_weights_backward(
    grad: torch.Tensor, weight: torch.Tensor, indices: torch.Tensor, offsets: torch.Tensor, bags: torch.Tensor,
    mode: int, padding: int = -1,
) -> torch.Tensor:  # fmt: skip
    """The gradient by what each row of a sum is multiplied by."""
    del mode
    bag = bags if bags.numel() == indices.numel() else _bag_of(offsets, grad.shape[0], indices.shape[0])
    each = (grad.index_select(0, bag) * weight.index_select(0, indices)).sum(-1)
    return torch.where(indices == padding, 0.0, each).to(grad.dtype)


_LEAST = 1e-7
"""What PyTorch adds to a norm before it divides by it."""


def _renorm(weight: torch.Tensor, indices: torch.Tensor, max_norm: float, norm_type: float) -> torch.Tensor:
    """Rows that are read and whose norm is above a bound, multiplied so that they have it. An index that comes twice
    writes the same row twice."""
    places = indices.flatten()
    rows = weight.index_select(0, places)
    wide = rows.to(torch.promote_types(rows.dtype, torch.float32))
    norms = _aten.linalg_vector_norm.default(wide, norm_type, [-1], True)
    factors = torch.where(norms > max_norm, max_norm / (norms + _LEAST), 1.0)
    return weight.index_put((places,), (rows * factors).to(weight.dtype))


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    return {
        _aten._embedding_bag.default: _embedding_bag, _aten._embedding_bag_forward_only.default: _embedding_bag,
        _aten._embedding_bag_backward.default: _embedding_bag_backward,
        _aten._embedding_bag_per_sample_weights_backward.default: _per_sample_weights_backward,
        _aten.embedding_renorm.default: _renorm,
    }  # fmt: skip
