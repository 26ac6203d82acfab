"""Passes, whose errors become Tilewright's."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mlir import ir
from mlir.passmanager import PassManager

from ..errors import CompileError, ScheduleError
from ..native.capsule import capsule_pointer
from ..native.library import library
from ..native.signals import INTERRUPT_CHECK, checks_for_interrupts, in_main_interpreter
from .diagnostics import MLIRError, diagnostics_of
from .schedule_calls import CALLS_OF_SCHEDULE, CALLS_OF_STAGE

__all__ = ["compile_error", "run_passes"]


def compile_error(doing: str, stage: str, error: MLIRError, *, schedule: bool = False) -> CompileError:
    """The error for MLIR's `error`, met while `doing` something on the way to `stage`.

    With `schedule`, or where it is about a primitive, it is a ScheduleError: what the user wrote that cannot be is a
    schedule.
    """
    found = diagnostics_of(error.error_diagnostics)
    schedule |= bool(found) and found[0].message.partition(":")[0] in (*CALLS_OF_SCHEDULE, *CALLS_OF_STAGE)
    text = "\n".join(map(str, found)) or str(error)
    kind = ScheduleError if schedule else CompileError
    return kind(f"{text}\n({doing})", stage=stage, diagnostics=found)


@contextmanager
def interruptible(context: ir.Context) -> Iterator[None]:
    """Inside, a signal whose handler raises ends the passes that run in `context` after the one at hand. What was
    raised is raised at the end: the module is not what it should be. Signals are the main thread's."""
    if threading.current_thread() is not threading.main_thread() or not in_main_interpreter():
        yield
        return
    watch = library().tilewrightWatchPasses
    watch.argtypes, watch.restype = (ctypes.c_void_p, ctypes.c_void_p), None
    raised: list[BaseException] = []
    checks = checks_for_interrupts(raised)
    next(checks)
    check = INTERRUPT_CHECK(checks.__next__)
    pointer = capsule_pointer(context._CAPIPtr)
    watch(pointer, ctypes.cast(check, ctypes.c_void_p))
    try:
        yield
    finally:
        watch(pointer, None)
        if raised:
            raise raised[0] from None


def run_passes(
    module: ir.Module,
    pipeline: str,
    doing: str,
    stage: str,
    *,
    schedule: bool = False,
    prepare: Callable[[PassManager], None] | None = None,
) -> None:
    """Runs a pass pipeline on `module` in place, after `prepare` was called with its pass manager.

    An error of MLIR becomes a CompileError. If a signal's handler raises, the pipeline ends after the current pass.
    """
    with module.context:
        try:
            manager = PassManager.parse(pipeline)
        except ValueError as error:
            raise CompileError(f"{error}\n({doing})", stage=stage) from None
        if prepare is not None:
            prepare(manager)
        try:
            with interruptible(module.context):
                manager.run(module.operation)
        except MLIRError as error:
            raise compile_error(doing, stage, error, schedule=schedule) from None
