"""Random numbers of distributions that PyTorch draws in loops, as functions of uniform and normal numbers."""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["decompositions"]

_aten: Any = torch.ops.aten
_ROUNDS = 12
"""How many numbers are drawn for one: each is rejected with a probability of less than 0.05."""


def _gamma(alpha: torch.Tensor, generator: Any = None) -> torch.Tensor:
    """Numbers of a gamma distribution, as Marsaglia and Tsang have it. A shape below 1 has a power as a factor."""
    del generator
    wide = alpha.to(torch.float64)
    is_small = wide < 1
    d = torch.where(is_small, wide + 1, wide) - 1 / 3
    shape = (_ROUNDS, *alpha.shape)
    x = torch.randn(shape, dtype=torch.float64, device=alpha.device)
    u = 1 - torch.rand(shape, dtype=torch.float64, device=alpha.device)
    root = 1 + x / torch.sqrt(9 * d)
    v = root * root * root
    logarithm = torch.log(v.clamp(min=torch.finfo(torch.float64).tiny))
    accepted = (v > 0) & (torch.log(u) < 0.5 * x * x + d - d * v + d * logarithm)
    first = accepted.to(torch.int64).argmax(0, keepdim=True)
    found = d * v.gather(0, first)[0].clamp(min=0)
    u = 1 - torch.rand(alpha.shape, dtype=torch.float64, device=alpha.device)
    found = torch.where(is_small, found * u ** (1 / wide), found)
    return found.to(alpha.dtype).clamp(min=torch.finfo(alpha.dtype).tiny)


def _dirichlet(alpha: torch.Tensor, generator: Any = None) -> torch.Tensor:
    numbers = _gamma(alpha, generator).to(torch.float64)
    return (numbers / numbers.sum(-1, keepdim=True)).to(alpha.dtype)


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    return {_aten._standard_gamma.default: _gamma, _aten._sample_dirichlet.default: _dirichlet}
