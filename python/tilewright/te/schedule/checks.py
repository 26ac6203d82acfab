"""Checks of what a user gives to a primitive."""

from __future__ import annotations

from typing import SupportsIndex

from ...errors import TilewrightTypeError as TypeError
from ...errors import TilewrightValueError as ValueError
from ...messages.location import Source
from ..expr import whole

__all__ = ["boolean", "integer"]

_MOST = 2**31 - 1


def integer(value: object, what: str, name: str, source: Source, default: int | None = None) -> int | None:
    """An integer that the user gave, or None where it may be left out.

    Extents have 63 bits, and no number of a primitive means anything near that: 31 bits are enough for all.
    """
    if value is None and default is None:
        return None
    value = whole(value)
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise TypeError(f"{source}: {what}: expected an integer as {name}, got {value!r}")
    number = value.__index__()
    if not -_MOST <= number <= _MOST:
        bound = f"at most {_MOST}" if number > 0 else f"at least {-_MOST}"
        raise ValueError(f"{source}: {what}: expected {name} of {bound}, got {number}")
    return number


def boolean(value: object, what: str, name: str, source: Source) -> bool:
    """A bool that the user gave: nothing else that is true or false."""
    if not isinstance(value, bool):
        raise TypeError(f"{source}: {what}: expected {name} to be a bool, got {value!r}")
    return value
