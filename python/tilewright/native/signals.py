"""Signals while compiled code runs: what a handler raises is kept until the call has ended."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator

__all__ = ["INTERRUPT_CHECK", "checks_for_interrupts", "in_main_interpreter"]

INTERRUPT_CHECK = ctypes.CFUNCTYPE(ctypes.c_int32)


def in_main_interpreter() -> bool:
    """Whether this is the interpreter that gets signals, and that a callback of ctypes enters."""
    api = ctypes.pythonapi
    current, main = api.PyInterpreterState_Get, api.PyInterpreterState_Main
    current.restype = main.restype = ctypes.c_void_p
    return current() == main()


def checks_for_interrupts(raised: list[BaseException], then: Callable[[], object] | None = None) -> Iterator[int]:
    """Yields for each check 1 if a signal's handler has raised, else 0. The exception goes into `raised`.

    If nothing was raised, `then` is called. The first step only starts the generator. The interpreter may run handlers
    as soon as a function is entered, before its `try`. A generator that was started is inside its `try` already.
    """
    found = 0
    while True:
        try:
            yield found
            ctypes.pythonapi.PyErr_CheckSignals()
            found = 0
            if then is not None:
                then()
        except GeneratorExit:
            raise
        except BaseException as error:
            raised.append(error)
            found = 1
