"""`tilewright compile FILE --emit=STAGE`: one stage of a program, given as Python or as IR, or of a model."""

from __future__ import annotations

import argparse
import runpy
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CompileError, TilewrightError
from ..guards import is_listed, is_tuple
from .model import add_model_options

if TYPE_CHECKING:
    from ..compiler import Function
    from ..compiler.pipeline import Lowering

__all__ = [
    "add", "building", "existing_file", "mlir_module", "program_file", "python_names", "python_program", "python_value",
]  # fmt: skip

IR_STAGES = ("te", "schedule", "linalg", "loops", "gpu", "nvvm", "host")
BINARIES = ("ptx", "cubin", "sass")
SOURCES = {"cuda": "cuda", "host-cpp": "host"}
EMITTED = (*IR_STAGES, *BINARIES, *SOURCES)
MODEL_STAGES = ("graph", "groups")

DESCRIPTION = """\
Compiles FILE down to one stage and writes it.

A Python file says its program with two names at module level, `schedule` and `args` (and `name`, if the function is not
to be called main); or --program gives an expression over the file's names whose value is such a pair:

  tilewright compile python/examples/02_tiled_gemm.py --program "mmult(1024, 1024, 1024)" --emit=ptx

An .mlir file holds the IR of the stage that --from names, as an earlier --emit wrote it and you may have edited it.

An .onnx file is a whole model. It is compiled, and its inputs, outputs, groups and arena are listed; with --emit its IR
is written, of stage graph or groups:

  tilewright compile model.onnx --target=cpu --dynamic x:0=batch
"""


def existing_file(options: argparse.Namespace) -> Path:
    """The FILE of a command."""
    path = Path(options.file)
    if not path.is_file():
        raise TilewrightError(f"{path}: {'expected a file, got a folder' if path.is_dir() else 'no such file'}")
    return path


def program_file(options: argparse.Namespace) -> Path:
    """The FILE of a command: a Python file, or an .mlir file, for which there is no --program."""
    path = existing_file(options)
    if path.suffix not in (".py", ".mlir"):
        raise TilewrightError(f"{path}: expected a .py or an .mlir file")
    if path.suffix == ".mlir" and options.program is not None:
        raise TilewrightError("--program is for Python files")
    return path


def python_names(path: Path) -> dict[str, Any]:
    """What a Python file has at module level."""
    with _told_by(path):
        return runpy.run_path(str(path), run_name="__tilewright__")


def python_program(path: Path, names: dict[str, Any], options: argparse.Namespace) -> tuple[Any, Any, str | None]:
    """(schedule, args, name) of a Python file."""
    if options.program is None:
        if "schedule" not in names or "args" not in names:
            raise TilewrightError(
                f"{path}: expected `schedule` and `args` at module level, or --program with an expression for the pair"
            )
        return names["schedule"], names["args"], options.name or names.get("name")
    value = python_value(path, names, options.program)
    if not is_tuple(value) or len(value) != 2:
        raise TilewrightError(f"--program: expected a pair (schedule, args), got {type(value).__name__}")
    if not is_listed(value[1]):
        raise TilewrightError(f"--program: expected args as a list, got {type(value[1]).__name__}")
    return value[0], value[1], options.name


def python_value(path: Path, names: dict[str, Any], expression: str) -> Any:
    """The value of --program: the user's own expression over the names of the user's own file."""
    with _told_by(path, "--program"):
        return eval(compile(expression, "--program", "eval"), names)


@contextmanager
def _told_by(path: Path, what: str = "") -> Generator[None]:
    """Raises what the user's code raises as one error: its last line in the file (or of `what`), its class and text."""
    try:
        yield
    except TilewrightError:
        raise
    except SyntaxError as error:
        place = what or (str(path) if error.lineno is None else f"{error.filename}:{error.lineno}")
        raise TilewrightError(f"{place}: SyntaxError: {error.msg}") from None
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        place = f"{path}:{lines[-1]}" if lines else what or str(path)
        raise TilewrightError(f"{place}: {type(error).__name__}: {error}") from None


@contextmanager
def building(path: Path) -> Generator[None]:
    """In the `with` block the program of a file is built, after its own code has run. Errors name the file."""
    from ..messages.location import Source, at_source

    try:
        with at_source(Source(str(path), 0)):
            yield
    except (TypeError, ValueError) as error:
        raise TilewrightError(str(error) if str(error).startswith(f"{path}:") else f"{path}: {error}") from None


def mlir_module(path: Path) -> Any:
    """The module of an .mlir file; its diagnostics name the file's lines."""
    from mlir import ir

    from ..ir import context
    from ..ir.diagnostics import MLIRError, diagnostics_of
    from ..ir.reading import check_readable

    check_readable(path.read_bytes(), str(path))
    with context():
        try:
            return ir.Module.parseFile(str(path))
        except MLIRError as error:
            found = diagnostics_of(error.error_diagnostics)
            raise CompileError("\n".join(map(str, found)) or str(error), diagnostics=found) from None


def _output(program: Lowering | Function, stage: str, *, locations: bool) -> str | bytes:
    if stage in IR_STAGES:
        return program.ir(stage, locations=locations)
    if locations:
        raise TilewrightError(f"--locations is for stages of the IR ({', '.join(IR_STAGES)}), got --emit={stage}")
    function: Any = program
    if stage in SOURCES:
        return function.source(SOURCES[stage])
    return function.sass() if stage == "sass" else getattr(function, stage)


def _run(options: argparse.Namespace) -> int:
    from ..compiler import build
    from ..compiler.entry_points import take_up

    path = existing_file(options)
    if path.suffix == ".onnx":
        return _run_model(path, options)
    program_file(options)
    if options.emit is None or options.emit in MODEL_STAGES:
        raise TilewrightError(f"{path}: expected --emit with one of {', '.join(EMITTED)}, got {options.emit or 'none'}")
    if options.dynamic or options.without:
        raise TilewrightError(f"{path}: --dynamic and --without are for .onnx files")
    target, start = options.target, options.start
    if path.suffix == ".py":
        if start is not None:
            raise TilewrightError("--from is for .mlir files: a Python program starts at te")
        program, args, name = python_program(path, python_names(path), options)
    else:
        program, args, name = mlir_module(path), None, options.name
    with building(path):
        # A stage of the IR is made without what comes after it: a program that breaks further down shows up to there.
        make = take_up if options.emit in IR_STAGES else build
        text = _output(make(program, args, target, name, start=start), options.emit, locations=options.locations)
    _write(text, options)
    return 0


def _run_model(path: Path, options: argparse.Namespace) -> int:
    """Compiles a model, and lists what it became; or writes its IR."""
    from .model import compiled, described, graph_of

    if options.program is not None or options.start is not None or options.name is not None or options.locations:
        raise TilewrightError(f"{path}: expected no --program, --from, --name and --locations with a model")
    if options.emit is not None and options.emit not in MODEL_STAGES:
        raise TilewrightError(f"{path}: expected --emit with one of {', '.join(MODEL_STAGES)}, got {options.emit}")
    if options.emit is None:
        _write(described(compiled(path, options)), options)
        return 0
    from ..graph import ir_of_graph

    _write(ir_of_graph(graph_of(path, options), options.without, options.target)[options.emit], options)
    return 0


def _write(text: str | bytes, options: argparse.Namespace) -> None:
    """Writes to -o's file, or to standard output."""
    if options.output is not None:
        out = Path(options.output)
        try:
            out.write_bytes(text) if isinstance(text, bytes) else out.write_text(text)
        except OSError as error:
            raise TilewrightError(f"{out}: {error.strerror}") from None
    elif isinstance(text, bytes):
        if sys.stdout.isatty():
            raise TilewrightError(f"{options.emit} is binary: say where to with -o")
        sys.stdout.buffer.write(text)
    else:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:  # pyright: ignore[reportPrivateUsage]
    """Adds the command to the command line."""
    parser = commands.add_parser(
        "compile",
        help="write one stage of a program",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="a Python, .mlir or .onnx file")
    parser.add_argument(
        "--emit", metavar="STAGE", choices=(*EMITTED, *MODEL_STAGES),
        help=f"{', '.join(EMITTED)}; of a model {' or '.join(MODEL_STAGES)}",
    )  # fmt: skip
    parser.add_argument("-o", dest="output", metavar="OUT", help="the file to write; standard output if left out")
    parser.add_argument(
        "--locations",
        action="store_true",
        help="keep the user's line on each op, so that a later run can name it",
    )
    parser.add_argument("--target", default="cuda", help='"cuda", "cuda -arch=sm_80", "sim" or "cpu" (default: cuda)')
    parser.add_argument(
        "--from", dest="start", metavar="STAGE", help="the stage that an .mlir file is at (default: te)"
    )
    parser.add_argument("--program", metavar="EXPRESSION", help="the pair (schedule, args) of a Python file")
    parser.add_argument("--name", help="the function's name")
    add_model_options(parser)
    parser.set_defaults(run=_run)
