"""Operators of PyTorch that resize images, as matmuls with the matrices of the weights, and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

__all__ = ["decompositions"]

_aten: Any = torch.ops.aten


def _cubic(distance: torch.Tensor, a: float) -> torch.Tensor:
    x = distance.abs()
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return torch.where(x < 1, near, torch.where(x < 2, far, 0.0))


def _linear(distance: torch.Tensor) -> torch.Tensor:
    return (1 - distance.abs()).clamp(min=0)


def _ratio(size: Any, count: Any, align_corners: bool, scale: float | None) -> Any:
    if align_corners:
        return (size - 1) / (count - 1) if count > 1 else 0.0
    return 1 / scale if scale is not None and scale > 0 else size / count


def _antialiased(size: Any, count: Any, kind: str, align_corners: bool, scale: float | None, like: Any) -> torch.Tensor:
    """By output and input, the weight: of inputs that a filter as wide as an output reaches."""
    ratio = _ratio(size, count, align_corners, scale)
    width = max(ratio, 1.0)
    support = (2.0 if kind == "cubic" else 1.0) * width
    wide = torch.promote_types(like.dtype, torch.float32)
    centers = ((torch.arange(count, device=like.device, dtype=wide) + 0.5) * ratio)[:, None]
    places = torch.arange(size, device=like.device, dtype=wide)
    begin = (centers - support + 0.5).trunc().clamp(min=0)
    end = (centers + support + 0.5).trunc().clamp(max=size)
    distance = (places - centers + 0.5) / width
    weights = _cubic(distance, -0.5) if kind == "cubic" else _linear(distance)
    weights = torch.where((places >= begin) & (places < end), weights, 0.0)
    return weights / weights.sum(-1, keepdim=True)


def _plain(size: Any, count: Any, kind: str, align_corners: bool, scale: float | None, like: Any) -> torch.Tensor:
    """By output and input, the weight: of neighbours, which are cut to the image."""
    ratio = _ratio(size, count, align_corners, scale)
    wide = torch.promote_types(like.dtype, torch.float32)
    outputs = torch.arange(count, device=like.device, dtype=wide)
    places = torch.arange(size, device=like.device, dtype=wide)
    if kind in ("nearest", "exact"):
        nearest = ((outputs + 0.5) * ratio if kind == "exact" else outputs * ratio).floor().clamp(max=size - 1)
        return (nearest[:, None] == places).to(wide)
    source = outputs * ratio if align_corners else (outputs + 0.5) * ratio - 0.5
    if kind == "linear":
        return _linear(source.clamp(0, size - 1)[:, None] - places)
    first, total = source.floor(), torch.zeros((), device=like.device, dtype=wide)
    for offset in (-1, 0, 1, 2):
        one = first + offset
        weight = _cubic(source - one, -0.75)[:, None]
        total = total + torch.where(one.clamp(0, size - 1)[:, None] == places, weight, 0.0)
    return total


def _along(x: torch.Tensor, matrix: torch.Tensor, dim: int) -> torch.Tensor:
    """Each row of a dimension multiplied by a matrix."""
    return (x.transpose(dim, -1) @ matrix).transpose(dim, -1)


def _antialiased_forward(kind: str) -> Callable[..., torch.Tensor]:
    def forward(x: torch.Tensor, output_size: Sequence[Any], align_corners: bool, *scales: Any) -> torch.Tensor:
        made = x.to(torch.promote_types(x.dtype, torch.float32))
        for i, dim in enumerate((-2, -1)):
            scale = scales[i] if scales else None
            weights = _antialiased(x.shape[dim], output_size[i], kind, align_corners, scale, x)
            made = _along(made, weights.mT, dim)
        return made.to(x.dtype)

    return forward


def _backward(kind: str, rank: int) -> Callable[..., torch.Tensor]:
    """The gradient of resizing: the matrices transposed. Sums of whole windows where each element was repeated."""
    weights_of = _antialiased if kind.startswith("antialiased") else _plain
    kind = kind.removeprefix("antialiased ")
    is_nearest = kind in ("nearest", "exact")

    def backward(
        grad: torch.Tensor, output_size: Sequence[Any], input_size: Sequence[Any], *rest: Any
    ) -> torch.Tensor:  # fmt: skip
        align_corners, scales = (False, rest) if is_nearest else (rest[0], rest[1:])
        made: Any = grad.to(torch.promote_types(grad.dtype, torch.float32))
        for i, dim in enumerate(range(-rank, 0)):
            size, count = input_size[2 + i], output_size[i]
            scale = scales[i] if scales else None
            whole = isinstance(size, int) and isinstance(count, int) and count % size == 0
            if is_nearest and whole and scale in (None, count // size):
                made = made.unflatten(dim, (size, count // size)).sum(dim)
            else:
                made = _along(made, weights_of(size, count, kind, align_corners, scale, grad), dim)
        return made.to(grad.dtype)

    return backward


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    made: dict[Any, Any] = {
        _aten._upsample_bilinear2d_aa.default: _antialiased_forward("linear"),
        _aten._upsample_bicubic2d_aa.default: _antialiased_forward("cubic"),
        _aten._upsample_bilinear2d_aa_backward.default: _backward("antialiased linear", 2),
        _aten._upsample_bicubic2d_aa_backward.default: _backward("antialiased cubic", 2),
        _aten.upsample_bicubic2d_backward.default: _backward("cubic", 2),
        _aten.upsample_linear1d_backward.default: _backward("linear", 1),
        _aten.upsample_bilinear2d_backward.default: _backward("linear", 2),
        _aten.upsample_trilinear3d_backward.default: _backward("linear", 3),
    }
    for rank in (1, 2, 3):
        made[getattr(_aten, f"upsample_nearest{rank}d_backward").default] = _backward("nearest", rank)
        made[getattr(_aten, f"_upsample_nearest_exact{rank}d_backward").default] = _backward("exact", rank)
    return made
