"""MLIR's diagnostics as a user reads them: the user's line, without the names of internal ops."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import Diagnostic
from ..messages.printable import printable, printable_lines

if TYPE_CHECKING:

    class MLIRError(Exception):
        """The bindings' own error, which their type stubs leave out."""

        error_diagnostics: list[Any]
else:
    from mlir.ir import MLIRError

__all__ = ["MLIRError", "describe", "diagnostics_of"]

_TEXT = "<IR text>"  # what was parsed from a string, which MLIR calls "-"
_OP = re.compile(r"^'(?:te|schedule)\.([\w.]+)' op ")


def describe(location: Any) -> str:
    """`file:line` inside an MLIR location (`file`, of a file as a whole), or "" where it holds none."""
    if location.is_a_file():
        # A file's own module, when it is not written out, is at line 0.
        file = _TEXT if location.filename == "-" else printable(location.filename)
        return f"{file}:{location.start_line}" if location.start_line else file
    if location.is_a_name():
        return describe(location.child_loc)
    if location.is_a_callsite():
        return describe(location.callee) or describe(location.caller)
    if location.is_a_fused():
        parts: list[Any] = location.locations
        return next((text for text in map(describe, parts) if text), "")
    return ""


def diagnostics_of(infos: Sequence[Any]) -> tuple[Diagnostic, ...]:
    """The diagnostics that an MLIRError carries; what MLIR adds of its own ("see current operation") left out.

    "'schedule.split' op expected a factor" reads "split: expected a factor".
    """
    return tuple(
        Diagnostic(
            info.severity.name.lower(),
            printable_lines(_OP.sub(lambda match: f"{match[1]}: ", info.message)),
            describe(info.location),
            diagnostics_of(info.notes),
        )
        for info in infos
        if not info.message.startswith("see current operation")
    )
