"""`tilewright export MODEL LIBRARY`: a whole model as a shared library, with its weights beside it."""

from __future__ import annotations

import argparse

from ..errors import CompileError, TilewrightError
from .compile import existing_file
from .model import add_model_options, compiled, counted

__all__ = ["add"]

DESCRIPTION = """\
Compiles the model of an .onnx file, and writes it as a shared library with one function of tvm-ffi's ABI. The weights
are written beside it, in a file of safetensors of the same name. The library needs libtvm_ffi, and nothing of this
package; `tw.load_model` and `tvm_ffi.load_module` load it.

  tilewright export model.onnx model.so --target=cpu --dynamic x:0=batch

A C compiler links it: the environment's CC, or cc, gcc or clang.
"""


def _run(options: argparse.Namespace) -> int:
    model = compiled(existing_file(options), options)
    try:
        model.export(options.library, options.name, mcpu=options.mcpu or None, architectures=options.architecture)
    except CompileError as error:
        for told in error.diagnostics:
            if told.message.startswith("mcpu: "):
                raise TilewrightError(f"--{told.message}") from None
        raise
    except OSError as error:
        raise TilewrightError(f"{options.library}: {error.strerror}") from None
    except (TypeError, ValueError) as error:
        raise TilewrightError(f"{options.library}: {error}") from None
    print(f"{options.library}: {counted(model)}, {model.plan.arena_bytes} bytes of arena, for {model.target}")
    return 0


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:  # pyright: ignore[reportPrivateUsage]
    """Adds the command to the command line."""
    parser = commands.add_parser(
        "export",
        help="write a model as a shared library",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="MODEL", help="an .onnx file")
    parser.add_argument("library", metavar="LIBRARY", help="the shared library that is written")
    parser.add_argument("--target", default="cuda", help='"cuda", "cuda -arch=sm_80" or "cpu" (default: cuda)')
    parser.add_argument("--name", default="model", help="the function's name (default: model)")
    parser.add_argument(
        "--mcpu", action="append", default=[], metavar="PROCESSOR",
        help='what the code of target cpu is made for: "x86-64-v3", "native" (may be repeated, for levels of x86-64)',
    )  # fmt: skip
    parser.add_argument(
        "--architecture", action="append", default=[], metavar="ARCH",
        help='a GPU that kernels are compiled for beside the target: "sm_80" (may be repeated)',
    )  # fmt: skip
    add_model_options(parser)
    parser.set_defaults(run=_run)
