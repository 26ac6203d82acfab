"""Shapes as users give them: numbers and index expressions, of which the compiler can count the elements."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..dtypes import MOST, DType
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import integer_of, is_sequence
from ..messages.location import Source
from .arithmetic import whole
from .expr import Expr
from .extents import Array, IntExtent
from .tensor import Extent

__all__ = ["check_size", "checked_extents"]


def checked_extents(shape: object, what: str, source: Source) -> tuple[Extent, ...]:
    """A shape as numbers and index expressions."""
    if type(shape).__module__ == "numpy" and (tolist := getattr(shape, "tolist", None)) is not None:
        shape = tolist()  # also of an array of extents, which has an __index__ that refuses
    if isinstance(shape, (bool, Expr)) or integer_of(shape) is not None:
        shape = (shape,)
    if not is_sequence(shape):
        raise TypeError(f"{source}: {what}: expected a shape, got {shape!r}")
    extents: list[Extent] = []
    for position, extent in enumerate(shape):
        extent = whole(extent)
        if isinstance(extent, Expr):
            if not extent.is_index:
                raise TypeError(f"{source}: {what}: dimension {position}: expected an extent, got {extent}")
            extents.append(extent)
            continue
        number = integer_of(extent)
        if number is None:
            raise TypeError(f"{source}: {what}: dimension {position}: expected an integer or te.var, got {extent!r}")
        if number < 0:
            raise ValueError(f"{source}: {what}: dimension {position}: expected at least 0, got {number}")
        extents.append(IntExtent(number))
    return Array(extents)


def check_size(numbers: Sequence[Extent], kind: DType | None, what: str, source: Source) -> None:
    """What the compiler counts, elements, their bytes and iterations, it counts in 63 bits."""
    known = [number for number in numbers if isinstance(number, int)]
    size = math.prod(known) * (1 if kind is None else max(kind.bits // 8, 1))
    if size > MOST:
        counted = "iterations" if kind is None else f"bytes, elements of {kind}"
        shape = " x ".join(map(str, numbers))
        raise ValueError(f"{source}: {what}: expected at most 2^63 - 1 {counted}, got {shape}")
