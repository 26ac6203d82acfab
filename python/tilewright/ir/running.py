"""Runs a pass manager so that Ctrl-C ends it, also within a pass."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

from mlir import ir
from mlir.passmanager import PassManager

from ..native.capsule import capsule_pointer
from ..native.interruptible import Work, interruptibly
from ..native.library import library
from .diagnostics import MLIRError

__all__ = ["run_manager"]

_left: dict[int, Work[bool]] = {}  # by context the passes that run in it though nobody waits for them
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_left.clear)  # a child has none of the threads


class _Handle(ctypes.Structure):
    _fields_ = (("pointer", ctypes.c_void_p),)


@cache
def _functions() -> tuple[Any, Any]:
    run = library().tilewrightRunPasses  # as a function of ctypes it lets other threads run meanwhile
    run.restype, run.argtypes = ctypes.c_bool, (_Handle, _Handle, ctypes.c_bool, ctypes.c_void_p)
    # Those that listen are Python's, so that its lock has to be held.
    say_again = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(("tilewrightSayAgain", library()))
    return run, say_again


# Whether all operations are verified after each pass, whatever `run_manager` is told. Tests set it.
always_verifies_each = False


def run_manager(manager: PassManager, operation: ir.Operation, *, verifies_each: bool = True) -> None:
    """Runs the passes on an operation, as `manager.run` does, which lets no signal through.

    The operation is verified after each pass, or else after the last one. Of an edge whose passes meet no error of a
    user, the verifier between the passes takes a third of the time.

    A signal whose handler raises ends the waiting for them: no further pass begins, and what one is at goes on alone.
    The operation is then not what it should be. The next run in its context waits until that one has ended.

    Raises MLIRError where a pass fails.
    """
    operation = operation.operation
    context = operation.context
    key = capsule_pointer(context._CAPIPtr)
    before = _left.get(key)
    if before is not None:
        before.wait()
        _left.pop(key, None)
    arguments = _Handle(capsule_pointer(manager._CAPIPtr)), _Handle(capsule_pointer(operation._CAPIPtr))
    over, said = ctypes.c_int32(0), ctypes.c_void_p()
    verifies_end = not (verifies_each or always_verifies_each)
    if verifies_end:
        manager.enable_verifier(False)
    run, say_again = _functions()

    def call() -> bool:
        with _watched(key, over):
            return run(*arguments, verifies_end, ctypes.addressof(said))

    def stop() -> None:
        over.value = 1

    def left(work: Work[bool]) -> None:
        work.kept = (manager, operation, context)
        _left[key] = work

    is_right = interruptibly(call, stop, left)
    with _errors(context) as errors:
        say_again(said)
    if not is_right:
        raise MLIRError("Failure while executing pass pipeline", errors)


@contextmanager
def _watched(context: int, over: ctypes.c_int32) -> Generator[None]:
    watch = library().tilewrightWatchPasses
    watch.argtypes, watch.restype = (ctypes.c_void_p, ctypes.c_void_p), None
    watch(context, ctypes.addressof(over))
    try:
        yield
    finally:
        watch(context, None)


@contextmanager
def _errors(context: ir.Context) -> Generator[list[ir.DiagnosticInfo]]:
    """The errors that are said in a context. What else is said goes to whoever listens besides."""
    found: list[ir.DiagnosticInfo] = []

    def take(diagnostic: ir.Diagnostic) -> bool:
        is_error = diagnostic.severity == ir.DiagnosticSeverity.ERROR
        if is_error:
            found.append(ir.DiagnosticInfo(diagnostic))
        return is_error

    handler: Any = context.attach_diagnostic_handler(take)
    try:
        yield found
    finally:
        handler.detach()
