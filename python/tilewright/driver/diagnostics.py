"""MLIR's diagnostics as Tilewright's errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import CompileError, Diagnostic, ScheduleError

__all__ = ["compile_error", "describe", "diagnostics_of"]


def describe(location: Any) -> str:
    """`file:line` of the user's program inside an MLIR location, or "" where it holds none."""
    if location.is_a_file():
        return f"{location.filename}:{location.start_line}"
    if location.is_a_name():
        return describe(location.child_loc)
    if location.is_a_callsite():
        return describe(location.callee) or describe(location.caller)
    if location.is_a_fused():
        return next(filter(None, map(describe, location.locations)), "")
    return ""


def diagnostics_of(infos: Sequence[Any]) -> tuple[Diagnostic, ...]:
    """The diagnostics that an MLIRError carries."""
    return tuple(
        Diagnostic(info.severity.name.lower(), info.message, describe(info.location), diagnostics_of(info.notes))
        for info in infos
    )


def compile_error(doing: str, stage: str, error: Any, *, schedule: bool = False) -> CompileError:
    """The error for MLIR's `error`, met while `doing` something on the way to `stage`.

    With `schedule` it is a ScheduleError: what the user wrote that cannot be is a schedule.
    """
    found = diagnostics_of(error.error_diagnostics)
    text = "\n".join(map(str, found)) or str(error)
    kind = ScheduleError if schedule else CompileError
    return kind(f"{text}\n({doing})", stage=stage, diagnostics=found)
