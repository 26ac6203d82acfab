"""Signals while the simulator runs."""

from __future__ import annotations

import ctypes
from typing import NoReturn

from ..messages.progress import Progress
from ..native.library import library
from ..native.signals import INTERRUPT_CHECK, checks_for_interrupts, in_main_interpreter

__all__ = ["raise_interrupt", "watch_for_interrupts"]

_raised: list[BaseException] = []
_kept: list[object] = []  # what the library calls must not be freed


_line: Progress | None = None


def _show_blocks() -> None:
    """Shows how many blocks of the launch at hand are done, whenever the simulator asks."""
    global _line
    done, count = ctypes.c_uint64(), ctypes.c_uint64()
    library().tilewrightSimProgress(ctypes.byref(done), ctypes.byref(count))
    if done.value >= count.value:
        if _line is not None:
            _line.end()
        _line = None
        return
    if _line is None:
        _line = Progress("simulating")
    _line.show(done.value, count.value, "blocks")


def watch_for_interrupts(loaded: ctypes.CDLL) -> None:
    """Lets the simulator ask for signals. Only the main interpreter gets them."""
    if in_main_interpreter():
        checks = checks_for_interrupts(_raised, _show_blocks)
        next(checks)
        check = INTERRUPT_CHECK(checks.__next__)
        _kept.append(check)
        loaded.tilewrightSimSetInterruptCheck(check)


def raise_interrupt() -> NoReturn:
    """Raises what the handler of the signal that ended a launch has raised: KeyboardInterrupt after Ctrl-C."""
    error = _raised[-1] if _raised else KeyboardInterrupt()
    _raised.clear()
    raise error
