"""The incomplete gamma functions, as functions of other operators, in float64.

A series has the lower one of small arguments. All others are integrals, which the tanh-sinh rule computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from .special_functions import in_doubles

__all__ = ["decompositions"]

_aten: Any = torch.ops.aten
_prims: Any = torch.ops.prims

_LARGE = 20.0
"""Below this a, a series has the lower function where x is small."""
_TERMS = 64
"""Of the series: enough up to x of `_LARGE` + 1."""
_NEAR = 6.0
"""From this x on, or from a + 1 on, the upper function is computed."""
_TAIL = 90.0
"""So far behind x, the integrand of the upper function is nothing beside its largest value."""
_POINTS, _STEP = 48, 0.067
"""Of the rule: the points on each side of the middle, and their distance before they are mapped."""


def _front(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """x to the a times exp(-x), over the gamma function of a."""
    return torch.exp(a * torch.log(x) - x - torch.lgamma(a))


def _series(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The lower function: a sum of positive terms, each x / (a + n) times the one before."""
    places = torch.arange(1, _TERMS, dtype=torch.float64, device=x.device)
    terms = (x.unsqueeze(-1) / (a.unsqueeze(-1) + places)).cumprod(-1)
    return _front(a, x) * (1 + terms.sum(-1)) / a


def _rule(begin: torch.Tensor, end: torch.Tensor, height: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """The integral of a function."""
    steps = torch.arange(-_POINTS, _POINTS + 1, dtype=torch.float64, device=begin.device) * _STEP
    bent = torch.sinh(steps) * (math.pi / 2)
    weights = torch.cosh(steps) / torch.cosh(bent).square() * (_STEP * math.pi / 4)
    points = begin.unsqueeze(-1) + (end - begin).unsqueeze(-1) * ((torch.tanh(bent) + 1) / 2)
    return (height(points) * weights).sum(-1) * (end - begin)


def _tail(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The upper function, of an x behind the integrand's peak."""
    power, begin = (a - 1).unsqueeze(-1), x.unsqueeze(-1)
    return _front(a, x) / x * _rule(x, x + _TAIL, lambda t: torch.exp(begin - t + power * torch.log(t / begin)))


def _around_peak(a: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both functions, of the integral from x to where the integrand has vanished on x's side of its peak."""
    peak = a - 1
    width, is_above, top = torch.sqrt(peak), x > peak, peak.unsqueeze(-1)
    end = torch.where(
        is_above, torch.maximum(peak + 17 * width, x + 10 * width), torch.minimum(peak - 10 * width, x - 8 * width)
    ).clamp(min=0)
    total = _rule(x, end, lambda t: torch.exp(top - t + top * torch.log(t / top))).abs()
    part = total * torch.exp(peak * torch.log(peak) - peak - torch.lgamma(a))
    return torch.where(is_above, 1 - part, part), torch.where(is_above, part, 1 - part)


def _incomplete(is_upper: bool) -> Callable[..., torch.Tensor]:
    """The function of a and x: of the integral from 0 to x of t to the a - 1 times exp(-t), or of the rest."""

    @in_doubles
    def function(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        broadcast: Any = torch.broadcast_tensors  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        a, x = broadcast(a, x)
        is_large, is_far = a >= _LARGE, x >= torch.clamp(a + 1, min=_NEAR)
        # Each way has ordinary arguments where another one is taken.
        small = torch.where(is_large | (a <= 0), 1.0, a)
        near = torch.where(is_far | (x <= 0) | is_large, 1.0, x)
        far = torch.where(is_far & (x < math.inf) & ~is_large, x, 2 * _LARGE)
        large = torch.where(is_large & (a < math.inf), a, 2 * _LARGE)
        around = torch.where(is_large & (x < math.inf), x, 2 * _LARGE).clamp(min=0)
        series, rest, (lower, upper) = _series(small, near), _tail(small, far), _around_peak(large, around)
        if is_upper:
            made = torch.where(is_large, upper, torch.where(is_far, rest, 1 - series))
        else:
            made = torch.where(is_large, lower, torch.where(is_far, 1 - rest, series))
        at_zero, at_end = (1.0, 0.0) if is_upper else (0.0, 1.0)
        made = torch.where((x == 0) | (a == math.inf), at_zero, made)
        made = torch.where(((a == 0) & (x > 0)) | ((x == math.inf) & (a < math.inf)), at_end, made)
        both = ((a == 0) & (x == 0)) | ((a == math.inf) & (x == math.inf))
        return torch.where((a < 0) | (x < 0) | both | (a != a) | (x != x), math.nan, made)

    return function


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    lower, upper = _incomplete(False), _incomplete(True)
    return {
        _aten.igamma.default: lower, _aten.igammac.default: upper,
        _prims.igamma.default: lower, _prims.igammac.default: upper,
    }  # fmt: skip
