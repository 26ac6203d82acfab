"""Operators whose results lie at places that data decide, and fake quantisation, as functions of others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

__all__ = ["decompositions"]

_aten: Any = torch.ops.aten


def _nonzero_static(x: torch.Tensor, *, size: int, fill_value: int = -1) -> torch.Tensor:
    """The places of the first `size` elements that are not 0; each is scattered to its number among these."""
    found = (x != 0).flatten()
    numbers = found.cumsum(0) - 1
    # What is none of these goes to a row behind the last, which is cut off.
    rows = torch.where(found & (numbers < size), numbers, size)
    flat = torch.arange(x.numel(), device=x.device)
    places = torch.zeros(size + 1, dtype=torch.int64, device=x.device).scatter(0, rows, flat)[:size]
    columns: list[torch.Tensor] = []
    for extent in reversed(x.shape):
        columns.append(places % extent)
        places = places // extent
    if not columns:
        return torch.empty(size, 0, dtype=torch.int64, device=x.device)
    is_there = torch.arange(size, device=x.device) < found.sum()
    return torch.where(is_there[:, None], torch.stack(columns[::-1], 1), fill_value)


def _put(x: torch.Tensor, index: torch.Tensor, source: torch.Tensor, accumulate: bool = False) -> torch.Tensor:
    return x.flatten().index_put((index.flatten(),), source.flatten(), accumulate).reshape(x.shape)


def _index_reduce(
    x: torch.Tensor, dim: int, index: torch.Tensor, source: torch.Tensor, reduce: str, *, include_self: bool = True
) -> torch.Tensor:  # fmt: skip
    if not x.dim():
        return _index_reduce(x[None], 0, index, source.reshape(1), reduce, include_self=include_self)[0]
    along = [1] * source.dim()
    along[dim] = index.shape[0]
    places = index.to(torch.int64).reshape(along).expand(source.shape)
    return x.scatter_reduce(dim, places, source, reduce, include_self=include_self)


_REDUCED = {"add": "sum", "multiply": "prod"}


def _scatter(x: torch.Tensor, dim: int, index: torch.Tensor, source: Any, *, reduce: str) -> torch.Tensor:
    """The former name of `scatter_reduce`, whose source may be a number."""
    if not isinstance(source, torch.Tensor):
        source = torch.full(index.shape, source, dtype=x.dtype, device=x.device)
    return x.scatter_reduce(dim, index, source, _REDUCED[reduce])


def _masked_scatter_backward(grad: torch.Tensor, mask: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """The elements of the gradient where the mask is, one after the other, and behind these 0."""
    found = mask.expand(grad.shape).flatten()
    count = math.prod(sizes)
    # What is masked goes to an element behind the last, which is cut off.
    places = torch.where(found, found.cumsum(0) - 1, count).clamp(max=count)
    return grad.new_zeros(count + 1).scatter(0, places, grad.flatten())[:count].reshape(tuple(sizes))


def _fake_quantized(x: torch.Tensor, scale: Any, zero: Any, low: int, high: int) -> tuple[torch.Tensor, torch.Tensor]:
    """What quantising and dequantising leaves of numbers, and which of them are in the range."""
    steps = torch.round(x * (1 / scale)) + zero
    made = (steps.clamp(low, high) - zero) * scale
    return made.to(x.dtype), (steps >= low) & (steps <= high)


def _fake_quantized_if_enabled(
    x: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor, enabled: torch.Tensor, low: int, high: int
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    made, inside = _fake_quantized(x, scale, zero, low, high)
    return torch.where(enabled != 0, made, x), inside | (enabled == 0)


def _fake_quantized_channels(
    x: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor, axis: int, low: int, high: int
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    shape = [-1 if d == axis else 1 for d in range(x.dim())]
    return _fake_quantized(x, scale.reshape(shape), zero.reshape(shape), low, high)


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    return {
        _aten.nonzero_static.default: _nonzero_static, _aten.put.default: _put,
        _aten.index_reduce.default: _index_reduce, _aten.scatter.reduce: _scatter,
        _aten.scatter.value_reduce: _scatter, _aten.masked_scatter_backward.default: _masked_scatter_backward,
        _aten.fake_quantize_per_tensor_affine_cachemask.default: _fake_quantized,
        _aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default: _fake_quantized_if_enabled,
        _aten.fake_quantize_per_channel_affine_cachemask.default: _fake_quantized_channels,
    }  # fmt: skip
