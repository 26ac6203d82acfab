"""Functions of complex numbers, as functions of their real and imaginary parts. All are computed in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

from .special_functions import in_doubles

__all__ = ["decompositions"]

_aten: Any = torch.ops.aten
_Function = Callable[[torch.Tensor], torch.Tensor]


def _of_complex(function: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    """A function of one complex tensor, computed in complex128. One of a real tensor is left as it is."""

    @wraps(function)
    def of(x: Any, *rest: Any) -> Any:
        if not isinstance(x, torch.Tensor) or not x.is_complex():
            return NotImplemented
        return function(x.to(torch.complex128), *rest).to(x.dtype)

    return of


def _parts(z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return z.real, z.imag


def _turned(function: _Function) -> _Function:
    """f(i z) / i, which is sin of sinh, tan of tanh, and so on."""

    def of(z: torch.Tensor) -> torch.Tensor:
        x, y = _parts(z)
        made = function(torch.complex(-y, x))
        return torch.complex(made.imag, -made.real)

    return of


def _sinh(z: torch.Tensor) -> torch.Tensor:
    x, y = _parts(z)
    return torch.complex(x.sinh() * y.cos(), x.cosh() * y.sin())


def _cosh(z: torch.Tensor) -> torch.Tensor:
    x, y = _parts(z)
    return torch.complex(x.cosh() * y.cos(), x.sinh() * y.sin())


def _cos(z: torch.Tensor) -> torch.Tensor:
    x, y = _parts(z)
    return torch.complex(x.cos() * y.cosh(), -x.sin() * y.sinh())


def _tanh(z: torch.Tensor) -> torch.Tensor:
    """By powers of exp(-2 |x|), which do not overflow; near 0 the real part is by expm1."""
    x, y = _parts(z)
    power = torch.exp(-2 * x.abs())
    difference = -torch.expm1(-2 * x.abs()) * x.sign()
    sine, cosine = torch.sin(y), torch.cos(y)
    # |1 + exp(-2 |x|) exp(2 i y)| squared, as a sum of what is not negative
    divisor = (1 - power) * (1 - power) + 4 * power * cosine * cosine
    return torch.complex(difference * (1 + power) / divisor, 4 * power * sine * cosine / divisor)


def _roots(z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.sqrt(1 - z), torch.sqrt(1 + z)


def _asin(z: torch.Tensor) -> torch.Tensor:
    """As Kahan has it."""
    below, above = _roots(z)
    return torch.complex(torch.atan2(z.real, (below * above).real), torch.asinh((below.conj() * above).imag))


def _acos(z: torch.Tensor) -> torch.Tensor:
    below, above = _roots(z)
    return torch.complex(2 * torch.atan2(below.real, above.real), torch.asinh((above.conj() * below).imag))


def _acosh(z: torch.Tensor) -> torch.Tensor:
    below, above = torch.sqrt(z - 1), torch.sqrt(z + 1)
    return torch.complex(torch.asinh((below.conj() * above).real), 2 * torch.atan2(below.imag, above.real))


def _atanh(z: torch.Tensor) -> torch.Tensor:
    x, y = _parts(z)
    real = torch.log1p(4 * x / ((1 - x) * (1 - x) + y * y)) / 4
    return torch.complex(real, torch.atan2(2 * y, (1 - x) * (1 + x) - y * y) / 2)


def _log1p(z: torch.Tensor) -> torch.Tensor:
    x, y = _parts(z)
    near = torch.log1p(x * (2 + x) + y * y) / 2
    return torch.complex(torch.where(z.abs() < 0.5, near, (z + 1).abs().log()), torch.atan2(y, 1 + x))


def _expm1(z: torch.Tensor) -> torch.Tensor:
    x, y = _parts(z)
    half = torch.sin(y / 2)
    return torch.complex(torch.expm1(x) * torch.cos(y) - 2 * half * half, torch.exp(x) * torch.sin(y))


def _log(base: float) -> _Function:
    def of(z: torch.Tensor) -> torch.Tensor:
        return torch.log(z) / math.log(base)

    return of


def _exp2(z: torch.Tensor) -> torch.Tensor:
    return torch.exp(z * math.log(2))


def _sigmoid(z: torch.Tensor) -> torch.Tensor:
    return 1 / (1 + torch.exp(-z))


def _rsqrt(z: torch.Tensor) -> torch.Tensor:
    return 1 / torch.sqrt(z)


def _power(a: Any, b: Any) -> Any:
    """exp(b log a). Of a small whole number it is a product; a power of 0 is 0, but for the power 0."""
    tensors = [one for one in (a, b) if isinstance(one, torch.Tensor)]
    dtype = torch.result_type(a, b)
    if not dtype.is_complex:
        return NotImplemented
    if isinstance(b, (int, float)) and abs(b) <= 4 and b == int(b):
        base, total = a.to(dtype), torch.ones_like(a, dtype=dtype)
        for _ in range(abs(int(b))):
            total = total * base
        return 1 / total if b < 0 else total
    first, second = (
        one.to(torch.complex128)
        if isinstance(one, torch.Tensor)
        else torch.full((), complex(one), dtype=torch.complex128, device=tensors[0].device)
        for one in (a, b)
    )
    zero = torch.zeros((), dtype=torch.complex128, device=tensors[0].device)
    found = torch.exp(second * torch.log(first))
    found = torch.where((first == 0) & (second.real > 0), zero, found)
    return torch.where(second == 0, zero + 1, found).to(dtype)


def _product(x: torch.Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The product of a dimension, or of all elements: of both halves, and so on."""
    x = x if dtype is None else x.to(dtype)
    if not x.is_complex():
        return NotImplemented
    x, dim = (x.flatten(), 0) if dim is None else (x, dim)
    x = x.movedim(dim, -1) if x.dim() else x.reshape(1)
    while (count := x.shape[-1]) > 1:
        half = count // 2
        pairs = x[..., :half] * x[..., half : 2 * half]
        x = torch.cat([pairs, x[..., 2 * half :]], -1)
    x = x if x.shape[-1] else torch.ones_like(x.sum(-1, keepdim=True))
    return x.movedim(-1, dim) if keepdim else x.squeeze(-1)


def _running_product(x: torch.Tensor, dim: int, *, dtype: Any = None) -> Any:
    """The products of the first elements: each is multiplied by the one 1, 2, 4 and so on before it."""
    x = x if dtype is None else x.to(dtype)
    if not x.is_complex():
        return NotImplemented
    if not x.dim():
        return x.clone()
    x, step = x.movedim(dim, -1), 1
    while step < x.shape[-1]:
        x = torch.cat([x[..., :step], x[..., step:] * x[..., :-step]], -1)
        step *= 2
    return x.movedim(-1, dim)


def _scaled(total: torch.Tensor, x: torch.Tensor, beta: Any, alpha: Any) -> Any:
    if not total.is_complex():
        return NotImplemented
    total = total if alpha == 1 else total * alpha
    return total if beta == 0 else total + (x if beta == 1 else x * beta)


def _addmm(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return _scaled(a @ b, x, beta, alpha) if x.is_complex() else NotImplemented


def _vdot(a: torch.Tensor, b: torch.Tensor) -> Any:
    return (a.conj() * b).sum() if a.is_complex() else NotImplemented


@in_doubles
def _exp2_of_real(x: torch.Tensor) -> torch.Tensor:
    return torch.pow(2.0, x)


def _exp2_of_any(x: torch.Tensor) -> torch.Tensor:
    return _of_complex(_exp2)(x) if x.is_complex() else _exp2_of_real(x)


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    functions: dict[str, _Function] = {
        "sinh": _sinh, "cosh": _cosh, "cos": _cos, "tanh": _tanh, "asin": _asin, "acos": _acos, "acosh": _acosh,
        "atanh": _atanh, "log1p": _log1p, "expm1": _expm1, "log2": _log(2), "log10": _log(10), "sigmoid": _sigmoid,
        "rsqrt": _rsqrt, "sin": _turned(_sinh), "tan": _turned(_tanh), "asinh": _turned(_asin),
        "atan": _turned(_atanh),
    }  # fmt: skip
    made: dict[Any, Any] = {getattr(_aten, name).default: _of_complex(one) for name, one in functions.items()}
    return made | {
        _aten.exp2.default: _exp2_of_any, _aten.pow.Tensor_Tensor: _power, _aten.pow.Tensor_Scalar: _power,
        _aten.pow.Scalar: _power, _aten.prod.default: _product, _aten.prod.dim_int: _product,
        _aten.cumprod.default: _running_product, _aten.addmm.default: _addmm, _aten.baddbmm.default: _addmm,
        _aten.vdot.default: _vdot,
    }  # fmt: skip
