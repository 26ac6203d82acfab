"""Sampling of images and volumes at the places of a grid, and its gradient, as functions of other operators."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import torch

__all__ = ["decompositions"]

_aten: Any = torch.ops.aten
_LINEAR, _NEAREST, _CUBIC = 0, 1, 2
_ZEROS, _BORDER, _REFLECTION = 0, 1, 2


def _place(c: torch.Tensor, size: Any, align_corners: bool) -> tuple[torch.Tensor, Any]:
    """The place in a dimension that a coordinate from -1 to 1 names, and the derivative of it."""
    factor: Any = (size - 1) / 2 if align_corners else size / 2
    return (c + 1) * factor - (0.0 if align_corners else 0.5), factor


def _padded(place: torch.Tensor, factor: Any, size: Any, padding: int, align_corners: bool) -> tuple[torch.Tensor, Any]:
    """The place that a place outside the image stands for, and the derivative of it."""
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


def _cubic(t: torch.Tensor, offset: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The weight of the element at an offset from -1 to 2, and its derivative by t, which is from 0 to 1."""
    a, away = -0.75, t - offset if offset < 1 else offset - t
    sign = 1.0 if offset < 1 else -1.0
    if offset in (0, 1):
        return ((a + 2) * away - (a + 3)) * away * away + 1, (3 * (a + 2) * away - 2 * (a + 3)) * away * sign
    return ((a * away - 5 * a) * away + 8 * a) * away - 4 * a, ((3 * a * away - 10 * a) * away + 8 * a) * sign


class _Samples:
    """The elements around each place of a grid, of x as batch x channels x elements."""

    def __init__(self, x: torch.Tensor, grid: torch.Tensor, mode: int, padding: int, align_corners: bool) -> None:
        self.x, self.mode, self.sizes = x.flatten(2), mode, x.shape[2:]
        self._padding, self._align_corners = padding, align_corners
        rank = len(self.sizes)
        # The last coordinate of a place is the first dimension's.
        found = [_place(grid[..., rank - 1 - d], self.sizes[d], align_corners) for d in range(rank)]
        if mode != _CUBIC:
            found = [_padded(*one, size, padding, align_corners) for one, size in zip(found, self.sizes)]
        self.places, self.factors = [one[0] for one in found], [one[1] for one in found]

    def _side(self, place: torch.Tensor, size: Any, side: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Which element of a dimension it is, its weight, and the weight's derivative by the place."""
        if self.mode == _NEAREST:
            return place.round(), torch.ones_like(place), torch.zeros_like(place)
        if self.mode == _LINEAR:
            one = place.floor() + side
            return one, 1 - (place - one).abs(), torch.full_like(place, 1.0 if side else -1.0)
        first = place.floor()
        one, _ = _padded(first + side, 1.0, size, self._padding, self._align_corners)
        return one, *_cubic(place - first, side)

    def corners(self) -> Iterator[tuple[torch.Tensor, torch.Tensor, list[torch.Tensor], list[torch.Tensor]]]:
        """By corner the index of its element, whether the image has it, and by dimension the weight and its slope."""
        sides = {_LINEAR: (0, 1), _NEAREST: (0,), _CUBIC: (-1, 0, 1, 2)}[self.mode]
        for corner in itertools.product(sides, repeat=len(self.sizes)):
            index: Any = 0
            inside: Any = True
            weights: list[torch.Tensor] = []
            slopes: list[torch.Tensor] = []
            for place, size, side in zip(self.places, self.sizes, corner):
                one, weight, slope = self._side(place, size, side)
                weights.append(weight)
                slopes.append(slope)
                inside = (one >= 0) & (one <= size - 1) & inside
                index = index * size + one.clamp(0, size - 1).to(torch.int64)
            yield index.flatten(1)[:, None].expand(-1, self.x.shape[1], -1), inside, weights, slopes


def _product(factors: Sequence[torch.Tensor]) -> torch.Tensor:
    result = factors[0]
    for one in factors[1:]:
        result = result * one
    return result


def _forward(x: torch.Tensor, grid: torch.Tensor, mode: int, padding: int, align_corners: bool) -> Any:
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
    samples = _Samples(x, grid, mode, padding, align_corners)
    flat = grad.flatten(2)
    of_x = torch.zeros_like(samples.x)
    of_places: list[Any] = [torch.zeros_like(one) for one in samples.places]
    for index, inside, weights, slopes in samples.corners():
        weight = torch.where(inside, _product(weights), 0.0).flatten(1)[:, None]
        of_x = of_x.scatter_add(-1, index, flat * weight)
        if mode != _NEAREST and mask[1]:
            of_element = (flat * samples.x.gather(-1, index)).sum(1).reshape(inside.shape)
            of_element = torch.where(inside, of_element, 0.0)
            for d, slope in enumerate(slopes):
                of_places[d] = of_places[d] + of_element * _product([*weights[:d], *weights[d + 1 :], slope])
    of_grid = torch.stack([one * factor for one, factor in zip(of_places, samples.factors)][::-1], -1)
    return (of_x.reshape(x.shape) if mask[0] else None), of_grid


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    return {
        _aten.grid_sampler_3d.default: _forward, _aten.grid_sampler_2d_backward.default: _backward,
        _aten.grid_sampler_3d_backward.default: _backward,
    }  # fmt: skip
