"""How far something is that takes more than a second, in one line of a terminal."""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections.abc import Generator
from contextlib import contextmanager
from typing import ClassVar

__all__ = ["Progress", "progress"]

_SILENT_SECONDS, _BETWEEN_SECONDS, _TICK_SECONDS, _WIDTH = 1.0, 0.1, 0.5, 24


class Progress:
    """A line of standard error that says how far something is, from its second second on.

    A thread keeps the time of the line, also where one part takes long. Nothing is written where standard error is no
    terminal, or where what this is a part of has a line. `end` takes the line away.
    """

    __slots__ = ("__weakref__", "_at", "_begin", "_doing", "_ended", "_is_shown", "_last", "_lock", "_on", "_stream")

    _line: ClassVar[weakref.ref[Progress] | None] = None  # the one that the terminal has

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._stream = sys.stderr
        self._on = (
            self._stream is not None and self._stream.isatty() and (Progress._line is None or Progress._line() is None)
        )
        self._begin = time.monotonic()
        self._last = self._begin
        self._is_shown = False
        self._at: tuple[int, int, str, str] = (0, 0, "", "")
        self._lock = threading.Lock()
        self._ended = threading.Event()
        if self._on:
            Progress._line = weakref.ref(self)
            threading.Thread(target=_keep_time, args=(weakref.ref(self), self._ended), daemon=True).start()

    def show(self, done: int, count: int, unit: str, now: str = "") -> None:
        """`done` of `count` things are done, and `now` is at hand."""
        if self._on:
            self._at = (done, count, unit, now)
            self.write()

    def write(self) -> None:
        """Writes the line with the time that it is, if that is worth it."""
        moment = time.monotonic()
        if moment - self._begin < _SILENT_SECONDS or moment - self._last < _BETWEEN_SECONDS:
            return
        with self._lock:
            if not self._on:
                return
            self._last, self._is_shown = moment, True
            done, count, unit, now = self._at
            self._stream.write("\r\x1b[2K" + line_of(self._doing, done, count, unit, moment - self._begin, now))
            self._stream.flush()

    def end(self) -> None:
        """Takes the line away, if there is one."""
        self._ended.set()
        with self._lock:
            if self._is_shown:
                self._stream.write("\r\x1b[2K")
                self._stream.flush()
                self._is_shown = False
            if self._on:
                self._on, Progress._line = False, None


def _keep_time(line: weakref.ref[Progress], ended: threading.Event) -> None:
    """Writes the line again, until it ends or nobody has it any more."""
    seconds = _SILENT_SECONDS
    while not ended.wait(seconds):
        seconds = _TICK_SECONDS
        shown = line()
        if shown is None:
            return
        try:
            shown.write()
        except (OSError, ValueError):  # the terminal is gone
            return
        del shown


def line_of(doing: str, done: int, count: int, unit: str, seconds: float, now: str = "") -> str:
    """
    >>> line_of("simulating", 32, 128, "blocks", 65.2)
    'simulating ██████                   32 of 128 blocks, 1:05'
    >>> line_of("compiling", 0, 2, "kernels", 2.0, "mmult")
    'compiling                          0 of 2 kernels, 0:02, mmult'
    >>> line_of("reading the model", 0, 0, "", 3.0)
    'reading the model, 0:03'
    """
    filled = _WIDTH * done // max(count, 1)
    minutes, rest = divmod(int(seconds), 60)
    if not count:
        return f"{doing}, {minutes}:{rest:02}"
    bar = ("█" * filled).ljust(_WIDTH)
    return f"{doing} {bar} {done} of {count} {unit}, {minutes}:{rest:02}" + (f", {now}" if now else "")


@contextmanager
def progress(doing: str) -> Generator[Progress]:
    """A line that is there as long as the block.

    >>> with progress("compiling") as line:
    ...     line.show(1, 3, "kernels", "mmult")      # nothing here: it takes less than a second
    """
    line = Progress(doing)
    try:
        yield line
    finally:
        line.end()
