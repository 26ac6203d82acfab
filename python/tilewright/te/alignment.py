"""How far the memory of arguments is aligned."""

from __future__ import annotations

from ..dtypes import DType
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import integer_of
from ..messages.location import Source

__all__ = ["ALIGNMENT", "checked_alignment"]

ALIGNMENT = 16  # bytes, of the memory of arguments of which nothing else is said


def checked_alignment(align: object, dtype: DType, what: str, source: Source) -> int:
    """An alignment of the user's in bytes: a power of two, an element's at the least."""
    number, least = integer_of(align), max(dtype.bits // 8, 1)
    if number is None:
        raise TypeError(f"{source}: {what}: align: expected an integer, got {align!r}")
    if number < least or number & (number - 1):
        raise ValueError(
            f"{source}: {what}: align: expected a power of two, at least {least}, the bytes of a {dtype}, got {number}"
        )
    return number
