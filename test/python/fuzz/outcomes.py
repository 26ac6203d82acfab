"""What becomes of a call with random arguments."""

from __future__ import annotations

from collections.abc import Callable

from kinds import kind_of


def outcome(call: Callable[..., object], args: list[object]) -> tuple[type[Exception], str] | None:
    """The kind and the text of the error that it raises, or None."""
    try:
        call(*args)
    except Exception as error:
        return kind_of(error), str(error)
    return None
