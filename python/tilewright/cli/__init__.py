"""The command line: `tilewright demo`, `compile`, `export`, `view`, `tune`, `bisect`, `cache` and `doctor`."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import warnings
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the process's exit code.

    Each command is a module beside this one. Its `add(subparsers)` sets `run`. The module is imported only to run the
    command or to describe it, so help needs neither MLIR nor a driver.
    """
    from ..errors import TilewrightError
    from ..messages.printable import printable_lines
    from . import bisect, cache, compile, demo, doctor, export, tune, view

    parser = argparse.ArgumentParser(
        prog="tilewright", description="Tensor expressions and schedules, compiled to kernels."
    )
    parser.add_argument("--version", action="version", version=f"tilewright {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in (demo, compile, export, view, tune, bisect, cache, doctor):
        module.add(commands)
    if sys.stdout is None:  # closed by whoever began the process
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    options = parser.parse_args(arguments)

    def warn(message: Warning | str, *where: object) -> None:
        print(f"tilewright {options.command}: warning: {message}", file=sys.stderr)

    try:
        with warnings.catch_warnings():
            warnings.showwarning = warn
            status = options.run(options)
        sys.stdout.flush()
        return status
    except TilewrightError as error:
        print(f"tilewright {options.command}: {printable_lines(str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        if arguments is None:
            _end_by_interrupt()
        return 128 + signal.SIGINT
    except BrokenPipeError:
        # Whoever reads has seen enough (`| head`). The interpreter must not find that out once more as it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:
        if error.filename is not None:
            raise  # not of the output
        print(f"tilewright {options.command}: the output cannot be written: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _version() -> str:
    from .. import __version__

    return __version__


def _end_by_interrupt() -> None:
    """Ends the process by the signal of Ctrl-C, so that a shell's script ends too.

    The interpreter would wait for threads and free all modules first, which takes longer than a tenth of a second.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
