"""`isinstance` of containers, after which a type checker knows that anything may be in them; numbers and functions."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex, TypeGuard

__all__ = ["integer_of", "is_list", "is_listed", "is_mapping", "is_sequence", "is_tuple", "misfit", "parameters_of"]


def integer_of(value: object) -> int | None:
    """The int that a value is, of Python or of a library; None where it is none, as a bool or a float.

    >>> integer_of(4), integer_of(True), integer_of(4.0)
    (4, None, None)
    """
    if type(value) is int:  # as nearly all are: the protocol takes twenty times longer to ask
        return value
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        return None
    try:
        return value.__index__()
    except TypeError:  # an array has __index__, which refuses if it is not one integer
        return None


def parameters_of(function: object) -> list[inspect.Parameter] | None:
    """The parameters that a function says it has; None for what is no function, or says nothing, such as `int`."""
    try:
        return list(inspect.signature(function).parameters.values()) if callable(function) else None
    except (TypeError, ValueError):
        return None


def misfit(function: object, *names: str, keywords: Sequence[str] = ()) -> str | None:
    """What to say of a function that does not take arguments of these `names`, and these `keywords`. None where it
    does, or where it says nothing of its parameters.

    >>> misfit(lambda x: x, "lhs", "rhs")
    'expected a function of 2 arguments (lhs, rhs), got one of (x)'
    >>> misfit(max, "lhs", "rhs") is None
    True
    """
    parameters = parameters_of(function)
    if parameters is None:
        return None
    try:
        inspect.Signature(parameters).bind(*names, **dict.fromkeys(keywords))
    except TypeError:
        given, got = ", ".join([*names, *keywords]), ", ".join(map(str, parameters))
        count = len(names) + len(keywords)
        return f"expected a function of {count} argument{'' if count == 1 else 's'} ({given}), got one of ({got})"
    return None


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
