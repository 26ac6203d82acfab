"""`tilewright tune FILE`: a measured search for the schedule of a program."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..errors import TilewrightError
from .compile import existing_file, python_names, python_value
from .numbers import natural

__all__ = ["add"]

DESCRIPTION = """\
Searches for a fast schedule of FILE's program by measuring, and prints what was found.

A Python file says its program by a name at module level: `outputs`, the outputs of a te program, or `space`, a space of
schedules such as a tw.tuning.Knobs. Or --program gives an expression over the file's names for one of the two:

  tilewright tune matmul.py --program "matmul(1024)" --target cpu --trials 64 --database tuning.db

Each trial is a record in the database: a run that was stopped goes on where it was. Ctrl-C stops it.
"""


def _sizes(texts: list[str]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not value.isdecimal():
            raise TilewrightError(f"--size: expected NAME=NUMBER, got {text!r}")
        sizes[name] = int(value)
    return sizes


def _run(options: argparse.Namespace) -> int:
    from ..tuning import tune
    from ..tuning.picture import checked_picture

    path = existing_file(options)
    if path.suffix != ".py":
        raise TilewrightError(f"{path}: expected a .py file")
    for option, written in (("--plot", options.plot), ("--output", options.output)):
        if written is not None and not Path(written).absolute().parent.is_dir():
            raise TilewrightError(f"{option}: expected a file in a folder that exists, got {written}")
    if options.plot is not None:
        checked_picture(options.plot)
    names = python_names(path)
    program: Any
    if options.program is not None:
        program = python_value(path, names, options.program)
    elif "space" in names or "outputs" in names:
        program = names["space"] if "space" in names else names["outputs"]
    else:
        raise TilewrightError(f"{path}: expected `outputs` or `space` at module level, or --program with an expression")
    try:
        result = tune(
            program, options.target, options.trials, options.database, sizes=_sizes(options.size), seed=options.seed,
            workers=options.workers, seconds=options.seconds, device=options.device,
        )  # fmt: skip
    except (TypeError, ValueError) as error:
        raise TilewrightError(f"{path}: {error}") from None
    print(result.report())
    print(f"\n{result.schedule.trace()}")
    if options.plot is not None:
        result.plot(options.plot)
    if options.output is not None:
        result.schedule.trace().save(options.output)
    return 0


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:  # pyright: ignore[reportPrivateUsage]
    """Adds the command to the command line."""
    parser = commands.add_parser(
        "tune",
        help="search for a fast schedule by measuring",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="a Python file")
    parser.add_argument("--target", default="cuda", help='"cuda", "cuda -arch=sm_80" or "cpu" (default: cuda)')
    parser.add_argument("--program", metavar="EXPRESSION", help="the outputs of a program, or a space")
    parser.add_argument(
        "--trials", type=int, default=64, help="number of trials, including those of earlier runs (default: 64)"
    )
    parser.add_argument("--database", metavar="DB", help="the file of the records; it is created if it does not exist")
    parser.add_argument("--size", action="append", default=[], metavar="NAME=NUMBER", help="the value of a symbol")
    parser.add_argument("--seconds", type=float, help="start no trial after this many seconds")
    parser.add_argument("--workers", type=int, help="how many trials run at the same time")
    parser.add_argument("--device", type=int, default=0, help="the GPU's number (default: 0)")
    parser.add_argument("--seed", type=natural, default=0, help="seed of the inputs and of the search (default: 0)")
    parser.add_argument("--plot", metavar="PICTURE", help="draw the search into this file (needs matplotlib)")
    parser.add_argument("-o", "--output", metavar="TRACE", help="write the best schedule's trace as JSON")
    parser.set_defaults(run=_run)
