"""The file of a search's picture."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import TilewrightError, TilewrightValueError

__all__ = ["checked_picture", "new_figure"]


def new_figure(**options: Any) -> Any:
    """A figure of matplotlib, which may not be installed: ImportError then."""
    return import_module("matplotlib.figure").Figure(**options)


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
        kinds = sorted(new_figure().canvas.get_supported_filetypes())
    except ImportError:
        raise TilewrightError("expected matplotlib, which draws the search: pip install matplotlib") from None
    made = Path(path)
    if made.suffix and made.suffix[1:].lower() not in kinds:
        raise TilewrightValueError(f"expected a picture's file ({', '.join(kinds)}), got {os.fspath(path)!r}")
    return made
