"""The command `tilewright` in this process. One of its own would import the package first, for 0.7 s of a processor."""

from __future__ import annotations

import contextlib
import io
import subprocess

from tilewright.cli import main

__all__ = ["tilewright"]


def tilewright(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs it, and gives its exit status, its output and its errors."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            status = main(list(arguments))
        except SystemExit as end:
            status = end.code
    assert isinstance(status, int)
    return subprocess.CompletedProcess(arguments, status, output.getvalue(), errors.getvalue())
