"""`tilewright view FILE`: a program at every stage, side by side, or a model's groups, as one page."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ..errors import TilewrightError
from .compile import building, existing_file, mlir_module, program_file, python_names, python_program

__all__ = ["add"]

DESCRIPTION = """\
Compiles the program of FILE, and writes a page that shows its source, its loop nest, each stage of the IR, PTX, SASS
and C++ side by side. A click on a line lights up where it came from and what became of it. The page is one file, which
a browser opens without a network.

FILE says its program as for `tilewright compile`. Several --program compare their programs:

  tilewright view python/examples/02_tiled_gemm.py --program "mmult(256, 256, 256)" -o page.html

Of an .onnx file the page shows the groups of the model, each with its kernels, and the plan of the arena.
"""


def _run(options: argparse.Namespace) -> int:
    from ..backend.sass import find_disassembler
    from ..compiler import build
    from ..viewer import view, view_data

    path = existing_file(options)
    if path.suffix != ".onnx":
        path = program_file(options)
    if not options.json and options.output is None:
        raise TilewrightError("expected -o PAGE, the file to write, or --json")
    if path.suffix == ".onnx":
        return _run_model(path, options)
    functions: list[Any] = []
    programs = _programs(path, options)
    with building(path):
        for program, args, name in programs:
            functions.append(build(program, args, options.target, name, start=options.start))
        if not options.json:
            view(functions, options.output)
            _tell(options, find_disassembler())
            return 0
        text = json.dumps(view_data(functions))
    return _write(text, options)


def _run_model(path: Path, options: argparse.Namespace) -> int:
    from ..models import compile as compile_model

    for given, flag in ((options.program, "--program"), (options.name, "--name"), (options.start, "--from")):
        if given is not None:
            raise TilewrightError(f"{path}: expected no {flag} with a model")
    try:
        model = compile_model(path, target=options.target)
    except (TypeError, ValueError, ImportError) as error:
        raise TilewrightError(f"{path}: {error}") from None
    if options.json:
        return _write(json.dumps(model.view_data()), options)
    model.view(options.output)
    _tell(options)
    return 0


def _tell(options: argparse.Namespace, disassembler: Path | None = Path("nvdisasm")) -> None:
    """Says where the page is, and what it lacks without a disassembler. Standard output is the program's own."""
    lacking = ""
    if disassembler is None or disassembler.name != "nvdisasm":
        lacking = "; SASS is left out: pip install nvidia-cuda-nvdisasm brings its disassembler"
    print(f"{options.output}: open it in a browser{lacking}", file=sys.stderr)


def _write(text: str, options: argparse.Namespace) -> int:
    """Writes the data to the file that was asked for, or to standard output."""
    if options.output is None:
        sys.stdout.write(text + "\n")
        return 0
    try:
        Path(options.output).write_text(text)
    except OSError as error:
        raise TilewrightError(f"{options.output}: {error.strerror}") from None
    return 0


def _programs(path: Path, options: argparse.Namespace) -> list[tuple[Any, Any, str | None]]:
    """(program, args, name) of each program."""
    expressions = options.program or [None]
    if path.suffix == ".py":
        if options.start is not None:
            raise TilewrightError("--from is for .mlir files: a Python program starts at te")
        names = python_names(path)
        made: list[Any] = []
        for expression in expressions:
            options.program = expression
            made.append(python_program(path, names, options))
        return made
    return [(mlir_module(path), None, options.name)]


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:  # pyright: ignore[reportPrivateUsage]
    """Adds the command to the command line."""
    parser = commands.add_parser(
        "view",
        help="write a page that shows a program at every stage, or a model",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="a Python, .mlir or .onnx file")
    parser.add_argument("-o", dest="output", metavar="PAGE", help="the file to write: an HTML page, or JSON")
    parser.add_argument("--json", action="store_true", help="write what the page shows as data")
    parser.add_argument("--target", default="cuda", help='"cuda", "cuda -arch=sm_80", "sim" or "cpu" (default: cuda)')
    parser.add_argument(
        "--from", dest="start", metavar="STAGE", help="the stage that an .mlir file is at (default: te)"
    )
    parser.add_argument(
        "--program",
        metavar="EXPRESSION",
        action="append",
        help="the pair (schedule, args) of a Python file; given several times, the page compares the programs",
    )
    parser.add_argument("--name", help="the function's name")
    parser.set_defaults(run=_run)
