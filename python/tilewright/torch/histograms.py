"""Histograms whose range the elements have, or whose elements have weights, as functions of other operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

__all__ = ["decompositions"]

_aten: Any = torch.ops.aten


def _range(x: torch.Tensor, around: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The smallest and the largest element; of equal ones, a range around them."""
    low, high = x.amin(), x.amax()
    equal = low == high
    return torch.where(equal, low - around, low), torch.where(equal, high + around, high)


def _numbers(x: torch.Tensor, bins: int, low: Any, high: Any) -> torch.Tensor:
    """By element and bin, whether the bin has the element; the last one has the largest element."""
    places = torch.floor((x - low) * bins / (high - low)).clamp(max=bins - 1)
    inside = (x >= low) & (x <= high)
    return (places[:, None] == torch.arange(bins, device=x.device)) & inside[:, None]


def _histc(x: torch.Tensor, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    if min != max:
        return NotImplemented
    if not x.numel():
        return x.new_zeros(bins)
    wide = x.flatten().to(torch.float64)
    return _numbers(wide, bins, *_range(wide, 1.0)).sum(0).to(x.dtype)


def _histogram(
    x: torch.Tensor, bins: int = 100, *, range: Sequence[float] | None = None, weight: torch.Tensor | None = None,
    density: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The sums of the weights in each bin, and the edges."""
    wide = x.flatten().to(torch.float64)
    low, high = _range(wide, 0.5) if range is None else (torch.full_like(wide[:1].sum(), end) for end in range)
    edges = low + (high - low) * torch.arange(bins + 1, device=x.device) / bins
    edges = torch.where(torch.arange(bins + 1, device=x.device) == bins, high, edges).to(x.dtype)
    return _of_edges(x, edges, weight, density), edges


def _of_edges(x: torch.Tensor, edges: torch.Tensor, weight: torch.Tensor | None, density: bool) -> torch.Tensor:
    elements = x.flatten()[:, None]
    is_last = torch.arange(edges.shape[0] - 1, device=x.device) == edges.shape[0] - 2
    mine = (elements >= edges[:-1]) & ((elements < edges[1:]) | (is_last & (elements == edges[-1])))
    each = mine.to(x.dtype) if weight is None else torch.where(mine, weight.flatten()[:, None], 0)
    sums = each.sum(0)
    return sums / sums.sum() / (edges[1:] - edges[:-1]) if density else sums


def _histogram_of_edges(
    x: torch.Tensor, bins: torch.Tensor, *, weight: torch.Tensor | None = None, density: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    return _of_edges(x, bins, weight, density), bins.clone()


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    return {
        _aten.histc.default: _histc, _aten.histogram.bin_ct: _histogram,
        _aten.histogram.bins_tensor: _histogram_of_edges,
    }  # fmt: skip
