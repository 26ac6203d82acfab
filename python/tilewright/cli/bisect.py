"""`tilewright bisect FILE`: the stage and the pass that change what a program computes."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Callable
from typing import Any

from ..errors import TilewrightError
from .compile import existing_file, mlir_module, program_file, python_names, python_program
from .numbers import natural

__all__ = ["add"]

DESCRIPTION = """\
Runs the program of FILE at each of its stages on the same random inputs: te by NumPy, linalg and loops on this
machine's processor, gpu on the simulator, and for target cuda the cubin on a GPU where there is one. Names the first
stage whose result differs, then the first pass, and the smallest inputs that show it. The exit code is 1 where one
differs.

A Python file says its program as for `tilewright compile`. Passes of its own, as `tw.build` takes them, are its `after`
at module level. The numbers in --program are made smaller, too:

  tilewright bisect python/examples/02_tiled_gemm.py --program "mmult(64, 64, 64)"

An .onnx file is compared with ONNX's reference: with all passes on the graph, without each of them, and each group of
the model with its tensor expressions in float64.
"""


def _sized(expression: str, names: dict[str, Any]) -> tuple[Callable[..., Any], list[int]]:
    """An expression as a function of the integers in it."""
    tree = ast.parse(expression, "--program", "eval")
    numbers = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and type(node.value) is int]

    def make(*sizes: int) -> Any:
        for node, size in zip(numbers, sizes):
            node.value = size
        return eval(compile(tree, "--program", "eval"), names)  # the user's own expression

    return make, [int(str(node.value)) for node in numbers]


def _run(options: argparse.Namespace) -> int:
    from ..bisection import bisect

    path = existing_file(options)
    if path.suffix == ".onnx":
        return _run_model(str(path), options)
    path = program_file(options)
    more: dict[str, Any] = {"seed": options.seed}
    program: Any
    args: Any = None
    if path.suffix == ".py":
        names = python_names(path)
        program, args, name = python_program(path, names, options)
        more["after"] = names.get("after")
        if options.program is not None:
            make, sizes = _sized(options.program, names)
            if sizes and all(size > 0 for size in sizes):
                program, args, more["sizes"] = make, None, sizes
    else:
        program, name = mlir_module(path), options.name
    try:
        found = bisect(program, args, options.target, name, **more)
    except (TypeError, ValueError) as error:
        raise TilewrightError(f"{path}: {error}") from None
    print(found)
    return 1 if found else 0


def _run_model(path: str, options: argparse.Namespace) -> int:
    if options.program is not None or options.name is not None:
        raise TilewrightError(f"{path}: expected no --program and no --name with a model")
    from ..onnx.bisect import bisect_onnx

    found = bisect_onnx(path, options.target, options.seed)
    print(found)
    return 1 if found else 0


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:  # pyright: ignore[reportPrivateUsage]
    """Adds the command to the command line."""
    parser = commands.add_parser(
        "bisect",
        help="find the stage and the pass that change what a program computes",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="a Python file, an .mlir file of stage te, or an .onnx file")
    parser.add_argument("--target", default="sim", help='"sim", "cuda", "cuda -arch=sm_80" or "cpu" (default: sim)')
    parser.add_argument("--program", metavar="EXPRESSION", help="the pair (schedule, args) of a Python file")
    parser.add_argument("--name", help="the function's name")
    parser.add_argument("--seed", type=natural, default=0, help="seed of the random inputs (default: 0)")
    parser.set_defaults(run=_run)
