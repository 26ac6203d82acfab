"""Pooling whose windows are at uneven distances, and its gradient, as functions of other operators."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

__all__ = ["decompositions"]

_aten: Any = torch.ops.aten


def _adaptive_max_pool(x: torch.Tensor, output_size: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest element of each window, and its place in the image."""
    rank = len(output_size)
    lead = x.dim() - rank
    place: Any = 0
    inside: Any = True
    index: list[Any] = [slice(None)] * lead
    for d, (size, count) in enumerate(zip(x.shape[lead:], output_size)):
        outputs = torch.arange(count, device=x.device)
        begin, end = outputs * size // count, ((outputs + 1) * size + count - 1) // count
        one = begin[:, None] + torch.arange(-(-size // count) + 1, device=x.device)
        # The windows' dimensions come first, then those within them.
        shape = [1] * (2 * rank)
        shape[d], shape[rank + d] = one.shape
        inside = (one < end[:, None]).reshape(shape) & inside
        one = one.clamp(max=size - 1).reshape(shape)
        index.append(one)
        place = place * size + one
    lowest = -math.inf if x.is_floating_point() else torch.iinfo(x.dtype).min
    windows = x[tuple(index)].masked_fill(~inside, lowest).flatten(lead + rank)
    best = windows.argmax(-1, keepdim=True)
    place = place.flatten(rank).expand(windows.shape)
    return windows.gather(-1, best).squeeze(-1), place.gather(-1, best).squeeze(-1)


def _pool_backward(rank: int) -> Callable[..., torch.Tensor]:
    """The gradient of pooling that took elements of images at known places."""

    def backward(grad: torch.Tensor, x: torch.Tensor, *rest: Any) -> torch.Tensor:
        lead, places = x.dim() - rank, rest[-1]
        flat = torch.zeros_like(x).flatten(lead)
        return flat.scatter_add(-1, places.flatten(lead), grad.flatten(lead)).reshape(x.shape)

    return backward


def _starts(size: int, window: int, count: int, samples: torch.Tensor) -> torch.Tensor:
    """Where the windows of a dimension begin, by random numbers from 0 to 1: the last window ends with the image."""
    numbers = torch.arange(count, device=samples.device)
    if count == 1:
        return (numbers + size - window).expand(*samples.shape, 1)
    step = (size - window) / (count - 1)
    samples = samples.unsqueeze(-1)
    found = ((numbers.to(samples.dtype) + samples) * step).to(torch.int64) - (samples * step).to(torch.int64)
    return torch.where(numbers == count - 1, size - window, found)


def _fractional_max_pool(rank: int) -> Callable[..., tuple[torch.Tensor, torch.Tensor]]:
    """The largest element of each window, and its place in the image. Windows begin elsewhere in each channel."""

    def pool(
        x: torch.Tensor, kernel_size: Sequence[int], output_size: Sequence[int], samples: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
        lead = x.shape[: x.dim() - rank]
        place: Any = 0
        for d, (size, window, count) in enumerate(zip(x.shape[x.dim() - rank :], kernel_size, output_size)):
            # The numbers of a channel are in the order of the dimensions, but of an image's the last comes first.
            number = rank - 1 - d if rank == 2 else d
            begin = _starts(size, window, count, samples[..., number].reshape(lead if x.dim() > rank else ()))
            one = begin.unsqueeze(-1) + torch.arange(window, device=x.device)
            shape = [1] * (2 * rank)
            shape[d], shape[rank + d] = count, window
            place = place * size + one.reshape(*begin.shape[:-1], *shape)
        index = place.flatten(len(lead) + rank)
        flat = x.flatten(len(lead))
        windows = flat.gather(-1, index.flatten(len(lead))).reshape(index.shape)
        best = windows.argmax(-1, keepdim=True)
        return windows.gather(-1, best).squeeze(-1), index.gather(-1, best).squeeze(-1)

    return pool


def _spread(grad: torch.Tensor, windows: Sequence[tuple[torch.Tensor, torch.Tensor, Any]], x: torch.Tensor
            ) -> torch.Tensor:  # fmt: skip
    """The gradient of means of windows. By dimension, where a window begins and ends, and how many elements it has."""
    lead = x.dim() - len(windows)
    for d, (begin, end, count) in enumerate(windows, lead):
        place = torch.arange(x.shape[d], device=x.device)
        inside = (place >= begin[:, None]) & (place < end[:, None])
        weights = torch.where(inside, 1 / count.to(torch.float64)[:, None], 0.0).to(grad.dtype)
        grad = (grad.movedim(d, -1) @ weights).movedim(-1, d)
    return grad


def _has_numbers(*extents: Any) -> bool:
    return all(isinstance(one, int) for one in extents)


def _adaptive_average_backward(rank: int) -> Callable[..., Any]:
    """The gradient of means of windows that have uneven distances, where an extent is a symbol."""

    def backward(grad: torch.Tensor, x: torch.Tensor) -> Any:
        sizes, counts = x.shape[-rank:], grad.shape[-rank:]
        if _has_numbers(*sizes, *counts):
            return NotImplemented
        windows: list[Any] = []
        for size, count in zip(sizes, counts):
            one = torch.arange(count, device=x.device)
            begin, end = one * size // count, ((one + 1) * size + count - 1) // count
            windows.append((begin, end, end - begin))
        return _spread(grad, windows, x)

    return backward


def _average_backward(rank: int) -> Callable[..., Any]:
    """The gradient of means of windows that have equal distances, where an extent is a symbol."""

    def backward(
        grad: torch.Tensor, x: torch.Tensor, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int],
        ceil_mode: bool, count_include_pad: bool, divisor: int | None,
    ) -> Any:  # fmt: skip
        del ceil_mode
        sizes, counts = x.shape[-rank:], grad.shape[-rank:]
        if _has_numbers(*sizes, *counts):
            return NotImplemented
        given = [list(one) * (rank if len(one) == 1 else 1) for one in (kernel, stride or kernel, padding)]
        windows: list[Any] = []
        for d, (size, count, reach, step, low) in enumerate(zip(sizes, counts, *given)):
            begin = torch.arange(count, device=x.device) * step - low
            end = begin + reach
            inside = end.clamp(max=size) - begin.clamp(min=0)
            number = end.clamp(max=size + low) - begin if count_include_pad else inside
            if divisor:
                number = torch.full_like(begin, 1 if d else divisor)
            windows.append((begin, end, number))
        return _spread(grad, windows, x)

    return backward


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    made: dict[Any, Any] = {_aten.max_pool3d_with_indices_backward.default: _pool_backward(3)}
    for rank in (2, 3):
        made[getattr(_aten, f"adaptive_max_pool{rank}d").default] = _adaptive_max_pool
        made[getattr(_aten, f"adaptive_max_pool{rank}d_backward").default] = _pool_backward(rank)
        made[getattr(_aten, f"fractional_max_pool{rank}d").default] = _fractional_max_pool(rank)
        made[getattr(_aten, f"fractional_max_pool{rank}d_backward").default] = _pool_backward(rank)
        made[getattr(_aten, f"_adaptive_avg_pool{rank}d_backward").default] = _adaptive_average_backward(rank)
        made[getattr(_aten, f"avg_pool{rank}d_backward").default] = _average_backward(rank)
    return made
