"""Random numbers of distributions that PyTorch draws in loops, as functions of uniform and normal numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

__all__ = ["decompositions"]

_aten: Any = torch.ops.aten
_ROUNDS = 12
"""How many numbers are drawn for one: each is rejected with a probability of less than 0.05, for counts of 0.2."""
_FEW = 10
"""From this mean on, counts are drawn by rejection. Below it, the sum of the first probabilities is compared."""
_COUNTS = 64
"""A count whose mean is `_FEW` or less is larger with a probability of less than 1e-25."""


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


def _few(logarithms: torch.Tensor) -> torch.Tensor:
    """Counts by the logarithms of the probabilities of the first ones, along the first dimension."""
    u = torch.rand(logarithms.shape[1:], dtype=torch.float64, device=logarithms.device)
    return (logarithms.exp().cumsum(0) < u).sum(0)


def _counts(like: torch.Tensor) -> torch.Tensor:
    """The first counts, along a dimension before those of a tensor."""
    return torch.arange(_COUNTS, dtype=torch.float64, device=like.device).reshape(-1, *[1] * like.dim())


def _transformed(
    a: torch.Tensor, b: torch.Tensor, shift: torch.Tensor, quick: torch.Tensor, scale: torch.Tensor,
    logarithm: Callable[[torch.Tensor], torch.Tensor],
) -> torch.Tensor:  # fmt: skip
    """Counts by transformed rejection, as Hörmann has it: `logarithm` is that of a count's probability, -inf outside,
    and `scale` is what the density of the proposals is multiplied by."""
    shape = (_ROUNDS, *a.shape)
    u = torch.rand(shape, dtype=torch.float64, device=a.device) - 0.5
    v = 1 - torch.rand(shape, dtype=torch.float64, device=a.device)
    rest = (0.5 - u.abs()).clamp(min=torch.finfo(torch.float64).tiny)
    k = torch.floor((2 * a / rest + b) * u + shift)
    accepted = torch.log(v * scale / (a / (rest * rest) + b)) <= logarithm(k)
    accepted = accepted | ((rest >= 0.07) & (v <= quick))
    return k.gather(0, accepted.to(torch.int64).argmax(0, keepdim=True))[0]


def _poisson(rate: torch.Tensor, generator: Any = None) -> torch.Tensor:
    """Numbers of a Poisson distribution."""
    del generator
    wide = rate.to(torch.float64)
    small, large = wide.clamp(min=torch.finfo(torch.float64).tiny, max=_FEW), wide.clamp(min=_FEW)

    def logarithm(k: torch.Tensor, mean: torch.Tensor) -> torch.Tensor:
        return k * mean.log() - mean - torch.lgamma(k + 1)

    b = 0.931 + 2.53 * large.sqrt()
    many = _transformed(
        0.02483 * b - 0.059, b, large + 0.43, 0.9277 - 3.6224 / (b - 2), 1.1239 + 1.1328 / (b - 3.4),
        lambda k: torch.where(k < 0, -torch.inf, logarithm(k.clamp(min=0), large)),
    )  # fmt: skip
    few = _few(logarithm(_counts(wide), small))
    return torch.where(wide < _FEW, few, many).to(rate.dtype)


def _binomial(count: torch.Tensor, prob: torch.Tensor, generator: Any = None) -> torch.Tensor:
    """Numbers of a binomial distribution: of the rarer outcome, and else the rest of them."""
    del generator
    p = prob.to(torch.float64).expand_as(count * prob)
    n = count.to(torch.float64).expand_as(p)
    rare = torch.minimum(p, 1 - p)
    is_few = n * rare < _FEW
    odds = rare.clamp(min=torch.finfo(torch.float64).tiny).log() - torch.log1p(-rare)

    def ways(k: torch.Tensor) -> torch.Tensor:
        inside = torch.minimum(k.clamp(min=0), n)
        return torch.where(k == inside, -torch.lgamma(inside + 1) - torch.lgamma(n - inside + 1), -torch.inf)

    spread = torch.where(is_few, _FEW, n * rare * (1 - rare)).sqrt()
    b = 1.15 + 2.53 * spread
    mode = torch.floor((n + 1) * rare)
    many = _transformed(
        0.0248 * b - 0.0873 + 0.01 * rare, b, n * rare + 0.5, 0.92 - 4.2 / b, (2.83 + 5.1 / b) * spread,
        lambda k: ways(k) - ways(mode) + (k - mode) * odds,
    )  # fmt: skip
    k = _counts(n)
    few = _few(torch.lgamma(n + 1) + ways(k) + k * odds + n * torch.log1p(-rare))
    found = torch.minimum(torch.where(is_few, few, many), n)
    return torch.where(p > 0.5, n - found, found).to(count.dtype)


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    return {
        _aten._standard_gamma.default: _gamma, _aten._sample_dirichlet.default: _dirichlet,
        _aten.poisson.default: _poisson, _aten.binomial.default: _binomial,
    }  # fmt: skip
