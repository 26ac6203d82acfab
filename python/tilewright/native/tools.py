"""Programs of others that compile, link and disassemble."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from .interruptible import interruptibly

__all__ = ["run_tool"]


def run_tool(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Runs a program, which reads nothing, and returns what it said. Ctrl-C ends it at once.

    >>> run_tool(["echo", "done"]).stdout
    'done\\n'
    """
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        output, errors = interruptibly(process.communicate, process.kill)
    return subprocess.CompletedProcess(command, process.returncode, output, errors)
