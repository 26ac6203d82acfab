"""`isinstance` of containers, after which a type checker knows that anything may be in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

__all__ = ["is_list", "is_listed", "is_mapping", "is_sequence", "is_tuple"]


def is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    """Whether a value is a tuple.

    >>> is_tuple((1, "a")), is_tuple([1])
    (True, False)
    """
    return isinstance(value, tuple)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether a value is a list."""
    return isinstance(value, list)


def is_listed(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """Whether a value is a list or a tuple."""
    return isinstance(value, (list, tuple))


def is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether a value is a sequence, such as a list, a range or a string."""
    return isinstance(value, Sequence)


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Whether a value is a mapping, such as a dict."""
    return isinstance(value, Mapping)
