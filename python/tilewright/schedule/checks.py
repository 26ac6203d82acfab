"""Checks of what a user gives to a primitive."""

from __future__ import annotations

from typing import SupportsIndex

from ..errors import TilewrightTypeError as TypeError
from ..source import Source

__all__ = ["boolean", "integer"]


def integer(value: object, what: str, name: str, source: Source, default: int | None = None) -> int | None:
    """An integer that the user gave, or None where it may be left out."""
    if value is None and default is None:
        return None
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise TypeError(f"{source}: {what}: expected an integer as {name}, got {value!r}")
    return value.__index__()


def boolean(value: object, what: str, name: str, source: Source) -> bool:
    """A bool that the user gave: nothing else that is true or false."""
    if not isinstance(value, bool):
        raise TypeError(f"{source}: {what}: expected {name} to be a bool, got {value!r}")
    return value
