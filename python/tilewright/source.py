"""Where in the user's program something was said: the first frame outside this package."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

__all__ = ["Source", "user_source"]

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Source(NamedTuple):
    """A line of the user's program; prints as ``file.py:14``."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def user_source() -> Source:
    """The line that called into Tilewright: that of the innermost frame whose code is not the package's own."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(_PACKAGE) and frame.f_back is not None:
        frame = frame.f_back
    return Source(frame.f_code.co_filename, frame.f_lineno)
