"""MLIR's errors as Tilewright's."""

from __future__ import annotations

from ..errors import CompileError, ScheduleError
from ..ir.diagnostics import MLIRError, diagnostics_of

__all__ = ["compile_error"]


def compile_error(doing: str, stage: str, error: MLIRError, *, schedule: bool = False) -> CompileError:
    """The error for MLIR's `error`, met while `doing` something on the way to `stage`.

    With `schedule`, or where it is about a primitive, it is a ScheduleError: what the user wrote that cannot be is a
    schedule.
    """
    from ..schedule.steps import CALLS_OF_SCHEDULE, CALLS_OF_STAGE

    found = diagnostics_of(error.error_diagnostics)
    schedule |= bool(found) and found[0].message.partition(":")[0] in (*CALLS_OF_SCHEDULE, *CALLS_OF_STAGE)
    text = "\n".join(map(str, found)) or str(error)
    kind = ScheduleError if schedule else CompileError
    return kind(f"{text}\n({doing})", stage=stage, diagnostics=found)
