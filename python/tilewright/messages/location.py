"""Where in the user's program something was said: the first frame outside this package, whose demo is a user too."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Generator
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np

from .printable import printable

__all__ = ["Source", "at_source", "user_source"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_COMMANDS = os.path.join(_PACKAGE, "cli", "")
# Between a `with` statement and what it enters, and between `np.sum(x)` and the operators that NumPy calls.
_CONTEXTS = contextlib.__file__
_NUMPY = os.path.join(os.path.dirname(np.__file__), "")


class Source(NamedTuple):
    """A line of the user's program; prints as ``file.py:14``. Line 0 is of what has no lines, as a node of a model."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{printable(self.file)}:{self.line}" if self.line else printable(self.file)


# The line that is read where a program is read rather than run.
_read: ContextVar[Source | None] = ContextVar("read", default=None)


@contextlib.contextmanager
def at_source(source: Source) -> Generator[None]:
    """In the `with` block the user's program is at `source`, whatever calls."""
    token = _read.set(source)
    try:
        yield
    finally:
        _read.reset(token)


def user_source() -> Source:
    """The line that called into Tilewright: that of the innermost frame whose code is not the package's own."""
    if (source := _read.get()) is not None:
        return source
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while _is_own(frame.f_code.co_filename) and frame.f_back is not None:
        frame = frame.f_back
    return Source(frame.f_code.co_filename, frame.f_lineno)


@functools.lru_cache(4096)
def _is_own(file: str) -> bool:
    return file.startswith(_PACKAGE) and not file.startswith(_COMMANDS) or file == _CONTEXTS or file.startswith(_NUMPY)
