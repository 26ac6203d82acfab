"""Reductions of segments of a dimension and their gradients, as functions of other operators."""

from __future__ import annotations

import math
from typing import Any

import torch

__all__ = ["decompositions"]

_aten: Any = torch.ops.aten

_KINDS = {
    "sum": ("sum", 0.0), "mean": ("sum", 0.0), "prod": ("prod", 1.0), "max": ("amax", -math.inf),
    "min": ("amin", math.inf),
}  # fmt: skip
"""By reduction, the one of elements that are scattered, and the result of no elements."""


class _Segments:
    """Segments along a dimension, behind dimensions that have segments of their own."""

    def __init__(
        self, x: torch.Tensor, lengths: torch.Tensor | None, offsets: torch.Tensor | None, axis: int
    ) -> None:  # fmt: skip
        if lengths is None:
            assert offsets is not None  # PyTorch has checked it
            starts, ends = offsets[..., :-1], offsets[..., 1:]
            lengths = ends - starts
        else:
            ends = lengths.cumsum(-1)
            starts = ends - lengths
        self.axis, self.count = axis, lengths.shape[-1]
        self.lengths = self._beside(lengths, x)
        places = torch.arange(x.shape[axis], device=x.device)
        inside = (starts.unsqueeze(-2) <= places[:, None]) & (places[:, None] < ends.unsqueeze(-2))
        # What is in no segment goes to one behind the last, which is cut off.
        numbers = torch.where(inside, torch.arange(self.count, device=x.device), self.count).amin(-1)
        self.numbers = self._beside(numbers, x).expand(x.shape)

    def _beside(self, of_axis: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return of_axis.reshape(*of_axis.shape, *[1] * (x.dim() - of_axis.dim()))

    def reduced(self, x: torch.Tensor, kind: str, begin: float) -> torch.Tensor:
        """By segment what its elements and `begin` are together."""
        shape = [*x.shape]
        shape[self.axis] = self.count + 1
        base = torch.full(shape, begin, dtype=x.dtype, device=x.device)
        return base.scatter_reduce(self.axis, self.numbers, x, kind).narrow(self.axis, 0, self.count)

    def of_elements(self, of_segments: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """By element what its segment has, and 0 of what is in no segment."""
        shape = [*x.shape]
        shape[self.axis] = 1
        none = torch.zeros(shape, dtype=of_segments.dtype, device=x.device)
        return torch.cat([of_segments, none], self.axis).gather(self.axis, self.numbers)


def _segment_reduce(
    x: torch.Tensor, reduce: str, *, lengths: torch.Tensor | None = None, indices: torch.Tensor | None = None,
    offsets: torch.Tensor | None = None, axis: int = 0, unsafe: bool = False, initial: Any = None,
) -> torch.Tensor:  # fmt: skip
    """Whether the segments are as many elements as there are is not checked."""
    del indices, unsafe
    segments = _Segments(x, lengths, offsets, axis)
    kind, none = _KINDS[reduce]
    found = segments.reduced(x, kind, none if initial is None else float(initial))
    if reduce != "mean":
        return found
    sizes = segments.lengths
    mean = found / sizes.clamp(min=1).to(x.dtype)
    return torch.where(sizes == 0, math.nan if initial is None else float(initial), mean)


def _segment_reduce_backward(
    grad: torch.Tensor, found: torch.Tensor, x: torch.Tensor, reduce: str, *, lengths: torch.Tensor | None = None,
    offsets: torch.Tensor | None = None, axis: int = 0, initial: Any = None,
) -> torch.Tensor:  # fmt: skip
    """Of equal extremes each gets the same part. PyTorch on a processor gives each all of a negative gradient."""
    segments = _Segments(x, lengths, offsets, axis)
    if reduce == "mean":
        grad = grad / segments.lengths.clamp(min=1).to(grad.dtype)
    elif reduce == "prod":
        is_zero, is_missing = x == 0, x.isnan()
        is_ordinary = ~is_zero & ~is_missing
        begin = 1.0 if initial is None else float(initial)
        product = segments.of_elements(segments.reduced(torch.where(is_ordinary, x, 1.0), "prod", begin), x)

        def others(marked: torch.Tensor) -> torch.Tensor:
            """Whether another element of the segment is marked."""
            each = marked.to(x.dtype)
            return segments.of_elements(segments.reduced(each, "sum", 0.0), x) > each

        left = torch.where(is_ordinary, product / x, product)
        left = torch.where(others(is_missing), math.nan, torch.where(others(is_zero), 0.0, left))
        return segments.of_elements(grad, x) * left
    elif reduce in ("max", "min"):
        of_elements = segments.of_elements(found, x)
        is_extreme = (x == of_elements) | x.isnan()
        counts = segments.reduced(is_extreme.to(grad.dtype), "sum", 0.0)
        return torch.where(is_extreme, segments.of_elements(grad / counts.clamp(min=1), x), 0.0)
    return segments.of_elements(grad, x)


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    return {
        _aten.segment_reduce.default: _segment_reduce,
        _aten._segment_reduce_backward.default: _segment_reduce_backward,
    }
