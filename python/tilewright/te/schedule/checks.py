"""Checks of what a user gives to a primitive."""

from __future__ import annotations

from ...errors import Diagnostic, ScheduleError
from ...errors import TilewrightTypeError as TypeError
from ...errors import TilewrightValueError as ValueError
from ...guards import integer_of
from ...messages.location import Source
from ..arithmetic import whole
from ..fragments import FRAGMENT_SCOPES

__all__ = ["SCOPES", "boolean", "checked_scope", "integer", "schedule_error"]

SCOPES = ("global", "shared", "local", "warp")
_MOST = 2**31 - 1


def integer(value: object, what: str, name: str, source: Source, default: int | None = None) -> int | None:
    """An integer that the user gave, or None where it may be left out.

    Extents have 63 bits, and no number of a primitive means anything near that: 31 bits are enough for all.
    """
    if value is None and default is None:
        return None
    value = whole(value)
    number = integer_of(value)
    if number is None:
        raise TypeError(f"{source}: {what}: expected an integer as {name}, got {value!r}")
    if not -_MOST <= number <= _MOST:
        bound = f"at most {_MOST}" if number > 0 else f"at least {-_MOST}"
        raise ValueError(f"{source}: {what}: expected {name} of {bound}, got {number}")
    return number


def boolean(value: object, what: str, name: str, source: Source) -> bool:
    """A bool that the user gave: nothing else that is true or false."""
    if not isinstance(value, bool):
        raise TypeError(f"{source}: {what}: expected {name} to be a bool, got {value!r}")
    return value


def checked_scope(what: str, scope: object, source: Source) -> str:
    """The memory that a scope names.

    All shared memory is sized at the launch, so ``"shared.dyn"`` is ``"shared"``. A fragment (``"wmma.matrix_a"``) is
    local to the lanes of a warp, which have it together where an instruction computes with it.
    """
    if isinstance(scope, str) and scope == "shared.dyn":
        return "shared"
    known = (*SCOPES, *FRAGMENT_SCOPES)
    if not isinstance(scope, str) or scope not in known:
        raise ValueError(f"{source}: {what}: expected one of {', '.join(known)} as scope, got {scope!r}")
    return scope


def schedule_error(source: Source, message: str) -> ScheduleError:
    """An error about the primitive at the user's line."""
    diagnostic = Diagnostic("error", message, str(source))
    return ScheduleError(str(diagnostic), "schedule", (diagnostic,))
