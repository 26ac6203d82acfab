"""The names that users give to tensors, axes and symbols."""

from __future__ import annotations

from ..errors import TilewrightTypeError
from ..messages.location import Source
from ..messages.printable import printable

__all__ = ["checked_name"]


def checked_name(name: object, what: str, source: Source) -> str:
    """A name that the user gave to a tensor, an axis or a symbol, as it is called from here on.

    Raises TypeError where it is no string.
    """
    if not isinstance(name, str):
        raise TilewrightTypeError(f"{source}: {what}: expected a string as name, got {name!r}")
    return printable(name)
