"""Sampling of images and volumes at the places of a grid, and its gradient, as functions of other operators."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import torch

__all__ = ["decompositions"]

_aten: Any = torch.ops.aten
_LINEAR, _NEAREST = 0, 1
_ZEROS, _BORDER, _REFLECTION = 0, 1, 2


def _place(c: torch.Tensor, size: Any, padding: int, align_corners: bool) -> tuple[torch.Tensor, Any]:
    """The place in a dimension that a coordinate from -1 to 1 names, and the derivative of it."""
    factor: Any = (size - 1) / 2 if align_corners else size / 2
    place = (c + 1) * factor - (0.0 if align_corners else 0.5)
    if padding == _REFLECTION:
        low, span = (0.0, size - 1) if align_corners else (-0.5, size)
        if span == 0:
            return torch.zeros_like(place), torch.zeros_like(place)
        away = place - low
        sign = torch.where(away < 0, -1.0, 1.0)
        away = away.abs()
        extra, is_even = away.fmod(span), (away / span).floor().fmod(2) == 0
        place = torch.where(is_even, extra, span - extra) + low
        factor = factor * torch.where(is_even, sign, -sign)
    if padding != _ZEROS:
        factor = torch.where((place > 0) & (place < size - 1), factor, 0.0)
        place = place.clamp(0, size - 1)
    return place, factor


class _Samples:
    """The elements around each place of a grid, of x as batch x channels x elements."""

    def __init__(self, x: torch.Tensor, grid: torch.Tensor, mode: int, padding: int, align_corners: bool) -> None:
        self.x, self.mode, self.sizes = x.flatten(2), mode, x.shape[2:]
        rank = len(self.sizes)
        # The last coordinate of a place is the first dimension's.
        found = [_place(grid[..., rank - 1 - d], self.sizes[d], padding, align_corners) for d in range(rank)]
        self.places, self.factors = [one[0] for one in found], [one[1] for one in found]

    def corners(self) -> Iterator[tuple[torch.Tensor, torch.Tensor, list[torch.Tensor], Sequence[int]]]:
        """By corner the index of its element, whether the image has it, the weights of the dimensions, and its side."""
        sides = (0, 1) if self.mode == _LINEAR else (0,)
        for side in itertools.product(sides, repeat=len(self.sizes)):
            index: Any = 0
            inside: Any = True
            weights: list[torch.Tensor] = []
            for place, size, offset in zip(self.places, self.sizes, side):
                if self.mode == _NEAREST:
                    one = place.round()
                    weights.append(torch.ones_like(place))
                else:
                    one = place.floor() + offset
                    weights.append(1 - (place - one).abs())
                inside = (one >= 0) & (one <= size - 1) & inside
                index = index * size + one.clamp(0, size - 1).to(torch.int64)
            yield index.flatten(1)[:, None].expand(-1, self.x.shape[1], -1), inside, weights, side


def _product(factors: Sequence[torch.Tensor]) -> torch.Tensor:
    result = factors[0]
    for one in factors[1:]:
        result = result * one
    return result


def _forward(x: torch.Tensor, grid: torch.Tensor, mode: int, padding: int, align_corners: bool) -> Any:
    if mode not in (_LINEAR, _NEAREST):
        return NotImplemented
    samples = _Samples(x, grid, mode, padding, align_corners)
    total: Any = 0
    for index, inside, weights, _ in samples.corners():
        weight = torch.where(inside, _product(weights), 0.0).flatten(1)[:, None]
        total = total + samples.x.gather(-1, index) * weight
    return total.reshape(*x.shape[:2], *grid.shape[1:-1])


def _backward(
    grad: torch.Tensor, x: torch.Tensor, grid: torch.Tensor, mode: int, padding: int, align_corners: bool,
    mask: Sequence[bool],
) -> Any:  # fmt: skip
    if mode not in (_LINEAR, _NEAREST):
        return NotImplemented
    samples = _Samples(x, grid, mode, padding, align_corners)
    flat = grad.flatten(2)
    of_x = torch.zeros_like(samples.x)
    of_places: list[Any] = [torch.zeros_like(one) for one in samples.places]
    for index, inside, weights, side in samples.corners():
        weight = torch.where(inside, _product(weights), 0.0).flatten(1)[:, None]
        of_x = of_x.scatter_add(-1, index, flat * weight)
        if mode == _LINEAR and mask[1]:
            slope = (flat * samples.x.gather(-1, index)).sum(1).reshape(inside.shape)
            slope = torch.where(inside, slope, 0.0)
            for d, one in enumerate(side):
                others = [*weights[:d], *weights[d + 1 :], torch.full_like(slope, 1.0 if one else -1.0)]
                of_places[d] = of_places[d] + slope * _product(others)
    of_grid = torch.stack([one * factor for one, factor in zip(of_places, samples.factors)][::-1], -1)
    return (of_x.reshape(x.shape) if mask[0] else None), of_grid


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    return {
        _aten.grid_sampler_3d.default: _forward, _aten.grid_sampler_2d_backward.default: _backward,
        _aten.grid_sampler_3d_backward.default: _backward,
    }  # fmt: skip
