"""Places in sorted sequences, as functions of other operators of PyTorch."""

from __future__ import annotations

from typing import Any

import torch
from torch import _refs  # pyright: ignore[reportPrivateUsage]

__all__ = ["decompositions"]

_aten: Any = torch.ops.aten


def _searchsorted(
    ordered: torch.Tensor, x: torch.Tensor, *, out_int32: bool = False, right: bool = False, side: str | None = None,
    sorter: torch.Tensor | None = None,
) -> torch.Tensor:  # fmt: skip
    """How many elements are before: all are compared. NaN is behind all of them."""
    if sorter is not None:
        ordered = ordered.gather(-1, sorter)
    rows = ordered[(None,) * x.dim()] if ordered.dim() == 1 else ordered.unsqueeze(-2)
    one = x.unsqueeze(-1)
    behind = rows > one if right or side == "right" else rows >= one
    return behind.logical_not().sum(-1, dtype=torch.int32 if out_int32 else torch.int64)


def _bucketize(
    x: torch.Tensor, boundaries: torch.Tensor, *, out_int32: bool = False, right: bool = False
) -> torch.Tensor:  # fmt: skip
    """PyTorch's own decomposition halves the boundaries, whose number it needs. Of one element it would be a number."""
    count: Any = boundaries.shape[0]
    if isinstance(count, int) and count and x.dim():
        return _refs.bucketize(x, boundaries, out_int32=out_int32, right=right)
    return _searchsorted(boundaries, x, out_int32=out_int32, right=right)


def _number(value: Any, like: torch.Tensor) -> torch.Tensor:
    """A tensor of a number, which widens no type of its kind."""
    return torch.full((), value, dtype=torch.result_type(like, value), device=like.device)


def _searchsorted_number(ordered: torch.Tensor, value: Any, **options: Any) -> torch.Tensor:
    return _searchsorted(ordered, _number(value, ordered), **options)


def _bucketize_number(value: Any, boundaries: torch.Tensor, **options: Any) -> torch.Tensor:
    return _bucketize(_number(value, boundaries), boundaries, **options)


def _repeat_interleave(repeats: torch.Tensor, *, output_size: Any = None) -> Any:
    if output_size is None:
        return NotImplemented
    places = torch.arange(output_size, device=repeats.device)
    return _searchsorted(repeats.cumsum(0), places, right=True, out_int32=repeats.dtype == torch.int32)


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    return {
        _aten.searchsorted.Tensor: _searchsorted, _aten.searchsorted.Scalar: _searchsorted_number,
        _aten.bucketize.Tensor: _bucketize, _aten.bucketize.Scalar: _bucketize_number,
        _aten.repeat_interleave.Tensor: _repeat_interleave,
    }  # fmt: skip
