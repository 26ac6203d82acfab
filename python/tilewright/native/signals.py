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
    """For each check, 1 where a handler of a signal has raised something, which goes into `raised`, and 0 elsewhere.

    Where nothing was raised, `then` is called. The first step starts the generator, and checks nothing: the interpreter
    may run handlers as soon as it is entered, and a function would not be in its `try` yet, this is.
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
