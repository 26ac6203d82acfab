"""How far something is that takes more than a second, in one line of a terminal."""

from __future__ import annotations

import sys
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

__all__ = ["Progress", "progress"]

_SILENT_SECONDS, _BETWEEN_SECONDS, _WIDTH = 1.0, 0.1, 24


class Progress:
    """A line of standard error that says how far something is, from its second second on.

    Nothing is written where standard error is no terminal, or where what this is a part of has a line. `end` takes the
    line away.
    """

    __slots__ = ("__weakref__", "_begin", "_doing", "_is_shown", "_last", "_on")

    _line: ClassVar[weakref.ref[Progress] | None] = None  # the one that the terminal has

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._on = (
            sys.stderr is not None and sys.stderr.isatty() and (Progress._line is None or Progress._line() is None)
        )
        if self._on:
            Progress._line = weakref.ref(self)
        self._begin = time.monotonic()
        self._last = self._begin
        self._is_shown = False

    def show(self, done: int, count: int, unit: str, now: str = "") -> None:
        """`done` of `count` things are done, and `now` is at hand."""
        if not self._on:
            return
        moment = time.monotonic()
        if moment - self._begin < _SILENT_SECONDS or moment - self._last < _BETWEEN_SECONDS:
            return
        self._last, self._is_shown = moment, True
        sys.stderr.write("\r\x1b[2K" + line_of(self._doing, done, count, unit, moment - self._begin, now))
        sys.stderr.flush()

    def end(self) -> None:
        """Takes the line away, if there is one."""
        if self._is_shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
            self._is_shown = False
        if self._on:
            self._on, Progress._line = False, None


def line_of(doing: str, done: int, count: int, unit: str, seconds: float, now: str = "") -> str:
    """
    >>> line_of("simulating", 32, 128, "blocks", 65.2)
    'simulating ██████                   32 of 128 blocks, 1:05'
    >>> line_of("compiling", 0, 2, "kernels", 2.0, "mmult")
    'compiling                          0 of 2 kernels, 0:02, mmult'
    """
    filled = _WIDTH * done // max(count, 1)
    minutes, rest = divmod(int(seconds), 60)
    bar = ("█" * filled).ljust(_WIDTH)
    return f"{doing} {bar} {done} of {count} {unit}, {minutes}:{rest:02}" + (f", {now}" if now else "")


@contextmanager
def progress(doing: str) -> Iterator[Progress]:
    """A line that is there as long as the block.

    >>> with progress("compiling") as line:
    ...     line.show(1, 3, "kernels", "mmult")      # nothing here: it takes less than a second
    """
    line = Progress(doing)
    try:
        yield line
    finally:
        line.end()
