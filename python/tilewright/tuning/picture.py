"""The file of a search's picture."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import TilewrightError, TilewrightValueError

__all__ = ["checked_picture"]


def checked_picture(path: str | os.PathLike[str]) -> Path:
    """The path, where matplotlib is installed and draws files of this kind.

    Raises
    ------
    TilewrightError
        Without matplotlib.
    ValueError
        Where the suffix says no kind of picture.
    """
    try:
        from matplotlib.figure import Figure  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise TilewrightError("expected matplotlib, which draws the search: pip install matplotlib") from None
    made = Path(path)
    kinds = sorted(Figure().canvas.get_supported_filetypes())
    if made.suffix and made.suffix[1:].lower() not in kinds:
        raise TilewrightValueError(f"expected a picture's file ({', '.join(kinds)}), got {os.fspath(path)!r}")
    return made
