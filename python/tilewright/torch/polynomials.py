"""Orthogonal polynomials, as functions of other operators: by recurrence where the degree is a number.

Chebyshev polynomials of degrees in a tensor are computed by angles. Other polynomials of such degrees stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from .call import refused

__all__ = ["decompositions"]

_aten: Any = torch.ops.aten

_Step = Callable[[int, torch.Tensor, Any, Any], Any]
_MOST = 128
"""The largest degree for which the recurrence becomes operators. Angles serve Chebyshev polynomials of higher ones."""
_BY_ANGLES = 12
"""From this degree on, angles have fewer operators than the recurrence."""


def _result_type(x: Any, n: Any) -> torch.dtype:
    """The type of the result, as PyTorch promotes a tensor and a number, or two tensors."""
    dtype = torch.result_type(x, n)
    return dtype if dtype.is_floating_point else torch.get_default_dtype()


def _computed(x: Any, n: Any, function: Callable[[Any, Any], torch.Tensor]) -> torch.Tensor:
    """A function of points and degrees in float64, the degrees rounded to 0, and 0 where they are negative."""
    dtype = _result_type(x, n)
    points = x.to(torch.float64) if isinstance(x, torch.Tensor) else x
    degrees = n.to(torch.float64).trunc() if isinstance(n, torch.Tensor) else math.trunc(n)
    return function(points, degrees).to(dtype)


def _recurrent(x: torch.Tensor, n: int, first: Any, step: _Step) -> torch.Tensor:
    """The polynomial of degree n: of degree 0 it is 1, of degree 1 `first`; `step` makes the next one of two."""
    if n < 1:
        return torch.full_like(x, float(n == 0))
    before, found = torch.ones_like(x), first
    for k in range(1, n):
        before, found = found, step(k, x, found, before)
    return found


def _hermite_step(k: int, x: torch.Tensor, q: Any, p: Any) -> Any:
    return 2 * x * q - 2 * k * p


def _probabilists_step(k: int, x: torch.Tensor, q: Any, p: Any) -> Any:
    return x * q - k * p


def _laguerre_step(k: int, x: torch.Tensor, q: Any, p: Any) -> Any:
    return ((2 * k + 1 - x) * q - k * p) / (k + 1)


def _legendre_step(k: int, x: torch.Tensor, q: Any, p: Any) -> Any:
    return ((2 * k + 1) * x * q - k * p) / (k + 1)


_Polynomial = tuple[Callable[[torch.Tensor], Any], _Step]
_OF_NUMBERS: dict[str, _Polynomial] = {
    "hermite_polynomial_h": (lambda x: 2 * x, _hermite_step),
    "hermite_polynomial_he": (lambda x: x, _probabilists_step),
    "laguerre_polynomial_l": (lambda x: 1 - x, _laguerre_step),
    "legendre_polynomial_p": (lambda x: x, _legendre_step),
}


for _name in _OF_NUMBERS:
    refused[f"special_{_name}.default"] = "expected a degree that is a number, got one in a tensor"
    refused[f"special_{_name}.n_scalar"] = f"expected a degree of at most {_MOST}"


def _of_number(name: str) -> Callable[[torch.Tensor, Any], Any]:
    first, step = _OF_NUMBERS[name]

    def polynomial(x: torch.Tensor, n: Any) -> Any:
        if n > _MOST:
            return NotImplemented
        return _computed(x, n, lambda x, n: _recurrent(x, n, first(x), step))

    return polynomial


_FIRST: dict[str, Callable[[torch.Tensor], Any]] = {
    "t": lambda x: x, "u": lambda x: 2 * x, "v": lambda x: 2 * x - 1, "w": lambda x: 2 * x + 1,
}  # fmt: skip


def _sign(n: Any) -> Any:
    """-1 to the power n."""
    return 1 - 2 * (n % 2)


def _by_angles(kind: str, x: Any, n: Any) -> torch.Tensor:
    """Chebyshev polynomials by the angle of a point, which is imaginary outside -1 to 1. At the ends it is 0.

    Points left of 0 are mirrored, so that cosh and sinh are of an angle of the larger point.
    """
    points = x if isinstance(x, torch.Tensor) else torch.full_like(n, x)
    size = points.abs()
    sign = torch.where(points < 0, _sign(n), 1.0)
    mirrored = {"v": "w", "w": "v"}.get(kind, kind)
    inner, outer = torch.acos(size.clamp(max=1)), torch.acosh(size.clamp(min=1))

    def of(kind: str) -> torch.Tensor:
        at_end = {"t": 1.0, "u": n + 1.0, "v": 1.0, "w": 2.0 * n + 1}[kind]
        if kind == "t":
            return torch.where(size <= 1, torch.cos(n * inner), torch.cosh(n * outer))
        times, part = (n + 1, 1.0) if kind == "u" else (n + 0.5, 0.5)
        if kind == "v":
            inside, outside = torch.cos(times * inner) / torch.cos(part * inner), torch.cosh(times * outer)
            return torch.where(size <= 1, inside, outside / torch.cosh(part * outer))
        below, above = torch.sin(part * inner), torch.sinh(part * outer)
        inside = torch.sin(times * inner) / torch.where(below == 0, 1.0, below)
        outside = torch.sinh(times * outer) / torch.where(above == 0, 1.0, above)
        return torch.where(size == 1, at_end, torch.where(size < 1, inside, outside))

    found = of(kind) if mirrored == kind else torch.where(points < 0, of(mirrored), of(kind))
    return torch.where(n < 0, 0.0, found * sign) if isinstance(n, torch.Tensor) else found * sign


def _chebyshev(kind: str, shifted: bool) -> Callable[[Any, Any], torch.Tensor]:
    def at(x: Any, n: Any) -> torch.Tensor:
        points = 2 * x - 1 if shifted else x
        if not isinstance(n, torch.Tensor) and n < _BY_ANGLES:
            return _recurrent(points, n, _FIRST[kind](points), lambda k, x, q, p: 2 * x * q - p)
        return _by_angles(kind, points, n)

    return lambda x, n: _computed(x, n, at)


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    made: dict[Any, Any] = {}
    for name in _OF_NUMBERS:
        made[getattr(_aten, f"special_{name}").n_scalar] = _of_number(name)
    for shifted in (False, True):
        for kind in "tuvw":
            packet = getattr(_aten, f"special_{'shifted_' if shifted else ''}chebyshev_polynomial_{kind}")
            made.update(dict.fromkeys((packet.default, packet.n_scalar, packet.x_scalar), _chebyshev(kind, shifted)))
    return made
