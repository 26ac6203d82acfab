"""MLIR's diagnostics as a user reads them: the user's line, without the names of internal ops."""

from __future__ import annotations

import re

from mlir import ir

from ..errors import Diagnostic

__all__ = ["diagnostics_of", "location_text"]

_OP = re.compile(r"^'(?:\w+)\.([\w.]+)' op ")


def location_text(location: ir.Location) -> str:
    """``file.py:14`` of a location, through the names and call stacks around it; empty where there is none."""
    if location.is_a_name():
        return location_text(location.child_loc)
    if location.is_a_file():
        return f"{location.filename}:{location.start_line}"
    if location.is_a_callsite():
        return location_text(location.callee) or location_text(location.caller)
    if location.is_a_fused():
        return next((text for text in map(location_text, location.locations) if text), "")
    return ""


def _diagnostic(info: ir.DiagnosticInfo, severity: str) -> Diagnostic:
    # "'schedule.split' op expected" reads "split: expected"; what MLIR adds about its own op is left out.
    message = _OP.sub(lambda match: f"{match[1]}: ", info.message)
    notes = tuple(_diagnostic(note, "note") for note in info.notes if not note.message.startswith("see current operation"))
    return Diagnostic(severity, message, location_text(info.location), notes)


def diagnostics_of(error: ir.MLIRError) -> tuple[Diagnostic, ...]:
    """The errors that MLIR reported, with their notes."""
    return tuple(_diagnostic(info, "error") for info in error.error_diagnostics)
