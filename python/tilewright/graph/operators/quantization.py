"""Quantisation: floats as integers with a scale and a zero, and back."""

from __future__ import annotations

from typing import Any

import ml_dtypes

from ... import te
from ...te import Expr, Tensor
from .common import is_one, operator

__all__ = ["dequantize", "quantize", "unpack"]


def _for_each(x: Tensor, given: Tensor, axis: int, block: int, place: Any) -> Expr:
    """The element of a scale or a zero that is for a place of `x`."""
    if all(map(is_one, given.shape)):
        return given(*[0] * given.ndim)
    if given.ndim == 1 and not block:
        return given(place[axis])
    return given(*[
        te.floordiv(index, block) if d == axis and block else 0 if is_one(given.shape[d]) else index
        for d, index in enumerate(place)
    ])  # fmt: skip


@operator
def quantize(x: Tensor, scale: Tensor, zero: Tensor, *, axis: int, block: int, to: str) -> Tensor:
    """round(x / scale) + zero, saturated, as integers of type `to`; a float8 is rounded as conversions round."""
    is_float = to.startswith("float")
    if is_float:
        most = float(ml_dtypes.finfo(to).max)  # pyright: ignore[reportUnknownArgumentType]
        least = -most
    else:
        limits = ml_dtypes.iinfo(to)
        least, most = float(int(limits.min)), float(int(limits.max))
    low, high = te.const(least, "float32"), te.const(most, "float32")

    def value(*i: Any) -> Expr:
        real = x(*i).astype("float32") / _for_each(x, scale, axis, block, i).astype("float32")
        whole = real if is_float else te.nearbyint(real)
        whole = whole + _for_each(x, zero, axis, block, i).astype("float32")
        return te.min(te.max(whole, low), high).astype(to)

    return te.compute(x.shape, value, name="quantize")


@operator
def dequantize(x: Tensor, scale: Tensor, zero: Tensor, *, axis: int, block: int, to: str) -> Tensor:
    """(x - zero) * scale, of integers, as floats of type `to`."""

    def value(*i: Any) -> Expr:
        real = x(*i).astype("float32") - _for_each(x, zero, axis, block, i).astype("float32")
        return (real * _for_each(x, scale, axis, block, i).astype("float32")).astype(to)

    return te.compute(x.shape, value, name="dequantize")


@operator
def unpack(x: Tensor, *, axis: int) -> Tensor:
    """The two elements of four bits of each byte along an axis, the low one first."""
    shape = [extent * 2 if d == axis else extent for d, extent in enumerate(x.shape)]

    def value(*i: Any) -> Expr:
        byte = x(*(index // 2 if d == axis else index for d, index in enumerate(i)))
        return te.if_then_else(i[axis] % 2 == 0, byte & te.const(15, x.dtype), byte >> te.const(4, x.dtype))

    return te.compute(shape, value, name="unpack")
