"""Special functions that PyTorch does not decompose, as functions of others. All are computed in float64."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import torch

__all__ = ["decompositions", "in_doubles", "modified_bessel", "quotient"]

_aten: Any = torch.ops.aten

_LANCZOS = (
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
)  # fmt: skip
"""The coefficients of Lanczos' approximation of the gamma function, for g = 7."""

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
"""Bernoulli's numbers of even index, from 2."""

_SHIFT = 10
"""How far an argument is moved up, to where asymptotic series have converged."""

_ERFC_TERMS = 50
"""Of the continued fraction of erfc: from 2 on, it has all digits of float64."""

# Wichura's algorithm AS 241 for the quantiles of the normal distribution: numerators and denominators of quotients.
_CENTER = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
     1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
     5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0),
)  # fmt: skip
_NEAR = (
    (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258,
     3.64784832476320460504, 5.76949722146069140550, 4.63033784615654529590, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
     6.89767334985100004550e-1, 1.67638483018380384940, 2.05319162663775882187, 1.0),
)  # fmt: skip
_FAR = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
     2.96560571828504891230e-1, 1.78482653991729133580, 5.46378491116411436990, 6.65790464350110377720),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
     1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0),
)  # fmt: skip


def in_doubles(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A function of tensors that is computed in float64; its result has the type that the tensors have together."""

    @wraps(function)
    def of(*given: Any) -> torch.Tensor:
        dtype = torch.get_default_dtype()
        floats = [one.dtype for one in given if isinstance(one, torch.Tensor) and one.is_floating_point()]
        for position, one in enumerate(floats):
            dtype = one if not position else torch.promote_types(dtype, one)
        wide = [one.to(torch.float64) if isinstance(one, torch.Tensor) else one for one in given]
        return function(*wide).to(dtype)

    return of


def _polynomial(coefficients: Sequence[float], x: torch.Tensor) -> Any:
    """A polynomial, its highest coefficient first."""
    total: Any = coefficients[0]
    for one in coefficients[1:]:
        total = total * x + one
    return total


def quotient(parts: tuple[Sequence[float], Sequence[float]], x: torch.Tensor) -> Any:
    """The quotient of two polynomials."""
    return _polynomial(parts[0], x) / _polynomial(parts[1], x)


def _normal_quantile(from_half: torch.Tensor, tail: torch.Tensor) -> torch.Tensor:
    """The quantile of the normal distribution at a probability, by its distance from 0.5 and from the nearer end."""
    center = from_half * quotient(_CENTER, 0.180625 - from_half * from_half)
    r = torch.sqrt(-torch.log(tail))
    outer = torch.where(r <= 5, quotient(_NEAR, r - 1.6), quotient(_FAR, r - 5))
    found = torch.where(from_half.abs() <= 0.425, center, outer * from_half.sign())
    found = torch.where(tail == 0, from_half.sign() * math.inf, found)
    return torch.where(tail < 0, math.nan, found)


@in_doubles
def _erfinv(x: torch.Tensor) -> torch.Tensor:
    return _normal_quantile(x / 2, (1 - x.abs()) / 2) * math.sqrt(0.5)


@in_doubles
def _ndtri(p: torch.Tensor) -> torch.Tensor:
    return _normal_quantile(p - 0.5, torch.minimum(p, 1 - p))


def _scaled_erfc(x: torch.Tensor) -> torch.Tensor:
    """exp(x * x) * erfc(x) of numbers from 2 on, by Laplace's continued fraction."""
    rest: Any = 0.0
    for i in range(_ERFC_TERMS, 0, -1):
        rest = i / 2 / (x + rest)
    return 1 / ((x + rest) * math.sqrt(math.pi))


@in_doubles
def _erfc(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x < 2, 1 - torch.erf(x), _scaled_erfc(x.clamp(min=2)) * torch.exp(-x * x))


@in_doubles
def _erfcx(x: torch.Tensor) -> torch.Tensor:
    square = torch.exp(x * x)
    return torch.where(x < 2, square * (1 - torch.erf(x)), _scaled_erfc(x.clamp(min=2)))


@in_doubles
def _log_ndtr(x: torch.Tensor) -> torch.Tensor:
    t = x * math.sqrt(0.5)
    return torch.where(x < -1, torch.log(_erfcx(-t) / 2) - t * t, torch.log1p(-_erfc(t) / 2))


def _log_of_gamma(x: torch.Tensor) -> torch.Tensor:
    """Of numbers of 0.5 and more."""
    total: Any = _LANCZOS[0]
    for i, one in enumerate(_LANCZOS[1:]):
        total = total + one / (x + i)
    t = x + 6.5
    found = math.log(2 * math.pi) / 2 + (x - 0.5) * torch.log(t) - t + torch.log(total)
    return torch.where(x == math.inf, math.inf, found)


@in_doubles
def _lgamma(x: torch.Tensor) -> torch.Tensor:
    reflected = x < 0.5
    found = _log_of_gamma(torch.where(reflected, 1 - x, x))
    sine = torch.sin(math.pi * (x - torch.floor(x)))
    found = torch.where(reflected, math.log(math.pi) - torch.log(sine) - found, found)
    return torch.where(x == -math.inf, math.inf, found)


@in_doubles
def _digamma(x: torch.Tensor) -> torch.Tensor:
    negative = x < 0
    up = torch.where(negative, 1 - x, x)
    z = up + _SHIFT
    found = torch.log(z) - 0.5 / z
    for i, one in enumerate(_BERNOULLI, 1):
        found = found - one / (2 * i) * z ** (-2 * i)
    for i in range(_SHIFT):
        found = found - 1 / (up + i)
    fraction = x - torch.floor(x)
    found = torch.where(negative, found - math.pi / torch.tan(math.pi * fraction), found)
    return torch.where(negative & (fraction == 0), math.nan, found)


def _hurwitz_zeta(s: Any, q: torch.Tensor) -> torch.Tensor:
    """The sum of the powers -s of q, q + 1 and so on, by Euler and Maclaurin; of positive q."""
    z = q + _SHIFT
    last = z**-s
    total = last * z / (s - 1) + last / 2
    for i in range(_SHIFT):
        total = total + (q + i) ** -s
    factor, power = s, last / z
    for i, one in enumerate(_BERNOULLI, 1):
        total = total + one / math.factorial(2 * i) * factor * power
        factor, power = factor * (s + 2 * i - 1) * (s + 2 * i), power / (z * z)
    return total


def _zeta_of_any(s: Any, q: torch.Tensor, sign: Any) -> torch.Tensor:
    """The same sum, where `s` is a whole number if `q` is negative. The terms of negative numbers are those of positive
    ones times `sign`, -1 to the power s."""
    negative = q < 0
    fraction = q - torch.floor(q)
    below = _hurwitz_zeta(s, torch.where(negative, 1 - fraction, 1)) - _hurwitz_zeta(s, torch.where(negative, 1 - q, 1))
    found = _hurwitz_zeta(s, torch.where(negative, fraction, q))
    return found + torch.where(negative, below * sign, 0)


@in_doubles
def _zeta(s: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    found = _zeta_of_any(s, q, 1 - 2 * (s % 2))
    found = torch.where((q < 0) & (q != torch.floor(q)) & (s != torch.floor(s)), math.nan, found)
    is_pole = (q <= 0) & (q == torch.floor(q))
    return torch.where(s < 1, math.nan, torch.where((s == 1) | is_pole, math.inf, found))


def _polygamma(n: int, x: torch.Tensor) -> torch.Tensor:
    if n == 0:
        return _digamma(x)
    found = in_doubles(_zeta_of_any)(n + 1, x, (-1) ** (n + 1))
    return torch.where(x == math.inf, 0.0, found) * ((-1) ** (n + 1) * math.factorial(n))


def modified_bessel(order: int, x: torch.Tensor, scaled: bool = False) -> torch.Tensor:
    """A modified Bessel function of the first kind: the mean of exp(x cos t) cos(order t), or its series for large x.

    The mean of a periodic function at equal distances has as many digits as numbers have.
    """
    size, points = x.abs(), 32
    inner: Any = (1 + (-1) ** order * torch.exp(-2 * size)) / (2 * points)
    for i in range(1, points):
        angle = math.pi * i / points
        inner = inner + math.cos(order * angle) / points * torch.exp(size * (math.cos(angle) - 1))
    term: Any = 1.0
    outer: Any = 1.0
    for i in range(1, 16):
        term = term * ((2 * i - 1) ** 2 - 4 * order * order) / (i * 8 * size)
        outer = outer + term
    found = torch.where(size < 30, inner, outer / torch.sqrt(2 * math.pi * size))
    found = found if scaled else found * torch.exp(size)
    return found * x.sign() if order % 2 else found


def _bessel(order: int, scaled: bool) -> Callable[..., torch.Tensor]:
    def bessel(x: torch.Tensor) -> torch.Tensor:
        return modified_bessel(order, x, scaled)

    return in_doubles(bessel)


@in_doubles
def _hypot(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    larger, smaller = torch.maximum(a.abs(), b.abs()), torch.minimum(a.abs(), b.abs())
    ratio = smaller / larger
    return torch.where((larger == 0) | torch.isinf(larger), larger, larger * torch.sqrt(1 + ratio * ratio))


def _signbit(x: torch.Tensor) -> torch.Tensor:
    integers = {2: torch.int16, 4: torch.int32, 8: torch.int64}
    return x.view(integers[x.dtype.itemsize]) < 0 if x.is_floating_point() else x < 0


def _copysign(a: torch.Tensor, b: Any) -> torch.Tensor:
    dtype = torch.result_type(a, b)
    dtype = dtype if dtype.is_floating_point else torch.get_default_dtype()
    size = a.to(dtype).abs()
    if isinstance(b, torch.Tensor):
        return torch.where(_signbit(b), -size, size)
    return -size if math.copysign(1, b) < 0 else size


def _beside_nan(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A function of two numbers; of a number and NaN it is the number."""

    def of(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        dtype = torch.result_type(a, b)
        a, b = a.to(dtype), b.to(dtype)
        return torch.where(a.isnan(), b, torch.where(b.isnan(), a, function(a, b)))

    return of


def _angle(x: torch.Tensor) -> torch.Tensor:
    if x.is_complex():
        real, imaginary = torch.view_as_real(x).unbind(-1)
        return torch.atan2(imaginary, real)
    x = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    turned = torch.where(x < 0, torch.full_like(x, math.pi), 0)
    return torch.where(x.isnan(), x, turned)


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    return {
        _aten.erfinv.default: _erfinv, _aten.special_ndtri.default: _ndtri, _aten.erfc.default: _erfc,
        _aten.special_log_ndtr.default: _log_ndtr,
        _aten.special_erfcx.default: _erfcx, _aten.lgamma.default: _lgamma, _aten.digamma.default: _digamma,
        _aten.special_zeta.default: _zeta, _aten.polygamma.default: _polygamma, _aten.i0.default: _bessel(0, False),
        _aten.special_i0e.default: _bessel(0, True), _aten.special_i1.default: _bessel(1, False),
        _aten.special_i1e.default: _bessel(1, True), _aten.special_modified_bessel_i0.default: _bessel(0, False),
        _aten.special_modified_bessel_i1.default: _bessel(1, False), _aten.hypot.default: _hypot,
        _aten.signbit.default: _signbit, _aten.copysign.Tensor: _copysign,
        _aten.copysign.Scalar: _copysign, _aten.fmax.default: _beside_nan(torch.maximum),
        _aten.fmin.default: _beside_nan(torch.minimum), _aten.angle.default: _angle,
    }  # fmt: skip
