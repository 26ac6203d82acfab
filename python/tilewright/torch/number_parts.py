"""Rounding to decimals, the bits of floats, and divisors of integers, as functions of other operators."""

from __future__ import annotations

import math
from typing import Any

import torch

__all__ = ["decompositions"]

_aten: Any = torch.ops.aten

_BITS = {torch.float32: (torch.int32, 23, 127), torch.float64: (torch.int64, 52, 1023)}
"""By type: the integers of its width, the bits of its fraction, and what is added to its exponent."""
_SIXTEEN = (torch.bfloat16, torch.float16)


def _round_to(x: torch.Tensor, *, decimals: int) -> torch.Tensor:
    if not x.is_floating_point() or decimals == 0:
        return torch.round(x)
    factor = 10.0 ** abs(decimals)
    return torch.round(x * factor) / factor if decimals > 0 else torch.round(x / factor) * factor


def _frexp(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    if x.dtype in _SIXTEEN:
        mantissa, exponent = _frexp(x.float())
        return mantissa.to(x.dtype), exponent
    integer, fraction, bias = _BITS[x.dtype]
    most = (2 * bias + 1) << fraction
    raised = float(2 ** (fraction + 2))  # numbers without an exponent get one
    is_small = x.abs() < torch.finfo(x.dtype).tiny
    bits = torch.where(is_small, x * raised, x).view(integer)
    exponent = (bits & most) >> fraction
    exponent = exponent - (bias - 1) - torch.where(is_small, fraction + 2, 0)
    mantissa = (bits & ~most | ((bias - 1) << fraction)).view(x.dtype)
    is_itself = (x == 0) | ~(x.abs() < math.inf)
    return torch.where(is_itself, x, mantissa), torch.where(is_itself, 0, exponent).to(torch.int32)


def _nextafter(x: torch.Tensor, to: torch.Tensor) -> torch.Tensor:
    integer = torch.int16 if x.dtype in _SIXTEEN else _BITS[x.dtype][0]
    broadcast: Any = torch.broadcast_tensors  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    x, to = broadcast(x, to)
    bits = x.contiguous().view(integer)
    moved = (bits + torch.where((to > x) == (x > 0), 1, -1).to(integer)).view(x.dtype)
    least = torch.ones((), dtype=integer, device=x.device).view(x.dtype)
    moved = torch.where(x == 0, torch.where(to > 0, least, -least), moved)
    return torch.where((x != x) | (to != to), math.nan, torch.where(x == to, to, moved))


def _greatest_divisor(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Euclid's algorithm: as many steps as two neighbours among Fibonacci's numbers of this width need."""
    dtype = torch.result_type(a, b)
    bits = dtype.itemsize * 8 - dtype.is_signed
    a, b = a.to(dtype), b.to(dtype)
    if dtype.is_signed:
        a, b = a.abs(), b.abs()
    a, b = torch.maximum(a, b), torch.minimum(a, b)
    for _ in range(math.ceil(bits * math.log(2) / math.log((1 + math.sqrt(5)) / 2)) // 2 + 1):
        # The remainder by 0 is the number itself.
        a = a - b * torch.div(a, b.clamp(min=1), rounding_mode="trunc")
        b = b - a * torch.div(b, a.clamp(min=1), rounding_mode="trunc")
    return a + b


def _least_multiple(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    dtype = torch.result_type(a, b)
    wide = torch.promote_types(dtype, torch.int32)
    a, b = a.to(wide), b.to(wide)
    divisor = _greatest_divisor(a, b)
    return (torch.div(a, torch.where(divisor == 0, 1, divisor), rounding_mode="trunc") * b).abs().to(dtype)


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    return {
        _aten.round.decimals: _round_to, _aten.frexp.Tensor: _frexp, _aten.nextafter.default: _nextafter,
        _aten.gcd.default: _greatest_divisor, _aten.lcm.default: _least_multiple,
    }  # fmt: skip
