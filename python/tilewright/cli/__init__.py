"""The command line: `tilewright demo`, `tilewright compile`, `tilewright cache`, `tilewright doctor`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the process's exit code.

    Each command is a module beside this one with `add(subparsers)`, which sets `run`, and is imported only to be run
    or described: asking for help needs neither MLIR nor a driver.
    """
    from ..errors import TilewrightError
    from ..text import printable_lines
    from . import cache, compile, demo, doctor

    parser = argparse.ArgumentParser(
        prog="tilewright", description="Tensor expressions and schedules, compiled to kernels."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in (demo, compile, cache, doctor):
        module.add(commands)
    options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except TilewrightError as error:
        print(f"tilewright {options.command}: {printable_lines(str(error))}", file=sys.stderr)
        return 1
