"""Signals while compiled code runs: what a handler raises is kept until the call has ended."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import NoReturn

from ..messages.progress import Progress
from ..native.library import library

__all__ = ["raise_interrupt", "watch_for_interrupts"]

_INTERRUPT_CHECK = ctypes.CFUNCTYPE(ctypes.c_int32)
_raised: BaseException | None = None
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


def _checks_for_interrupts() -> Iterator[int]:
    """For each check, whether a handler of a signal has raised something, which is kept until `raise_interrupt`.

    The interpreter may run handlers as soon as it is entered: a function would not be in its `try` yet, this is.
    """
    global _raised
    found = 0
    while True:
        try:
            yield found
            ctypes.pythonapi.PyErr_CheckSignals()
            found = 0
            _show_blocks()
        except GeneratorExit:
            raise
        except BaseException as error:
            _raised, found = error, 1


def watch_for_interrupts(loaded: ctypes.CDLL) -> None:
    """Lets the simulator ask for signals. Only the main interpreter gets them."""
    api = ctypes.pythonapi
    current, main = api.PyInterpreterState_Get, api.PyInterpreterState_Main
    current.restype = main.restype = ctypes.c_void_p
    if current() == main():
        checks = _checks_for_interrupts()
        next(checks)
        check = _INTERRUPT_CHECK(checks.__next__)
        _kept.append(check)
        loaded.tilewrightSimSetInterruptCheck(check)


def raise_interrupt() -> NoReturn:
    """Raises what the handler of the signal that ended a launch has raised: KeyboardInterrupt after Ctrl-C."""
    global _raised
    error, _raised = _raised, None
    raise KeyboardInterrupt if error is None else error
