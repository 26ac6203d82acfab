"""Passes, whose errors become Tilewright's."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir
from mlir.passmanager import PassManager

from ..errors import CompileError, ScheduleError
from .diagnostics import MLIRError, diagnostics_of
from .running import run_manager
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


def run_passes(
    module: ir.Module,
    pipeline: str,
    doing: str,
    stage: str,
    *,
    schedule: bool = False,
    prepare: Callable[[PassManager], None] | None = None,
    verifies_each: bool = True,
) -> None:
    """Runs a pass pipeline on `module` in place, after `prepare` was called with its pass manager.

    An error of MLIR becomes a CompileError. If a signal's handler raises, the waiting ends at once (`run_manager`).
    """
    with module.context:
        try:
            manager = PassManager.parse(pipeline)
        except ValueError as error:
            raise CompileError(f"{error}\n({doing})", stage=stage) from None
        if prepare is not None:
            prepare(manager)
        try:
            run_manager(manager, module.operation, verifies_each=verifies_each)
        except MLIRError as error:
            raise compile_error(doing, stage, error, schedule=schedule) from None
