"""What the commands that take an .onnx file share."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import TilewrightError

if TYPE_CHECKING:
    from ..graph import Graph, Model

__all__ = ["add_model_options", "compiled", "counted", "described", "graph_of"]


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that say how a model is compiled."""
    parser.add_argument(
        "--dynamic", action="append", default=[], metavar="INPUT:DIMENSION=EXTENT",
        help="what an extent of a model's input is: a name, which makes it symbolic, or a number (may be repeated)",
    )  # fmt: skip
    parser.add_argument(
        "--without", action="append", default=[], metavar="PASS", help="leave out this pass on the model"
    )


def _dynamic_shapes(texts: list[str]) -> dict[str, dict[int, str | int]]:
    """By input and dimension, what --dynamic says."""
    found: dict[str, dict[int, str | int]] = {}
    for text in texts:
        place, equals, extent = text.rpartition("=")
        name, colon, dimension = place.rpartition(":")
        is_number = extent.isascii() and extent.isdecimal()
        if not (equals and colon and dimension.isascii() and dimension.isdecimal()) or not (
            is_number or extent.isidentifier()
        ):
            raise TilewrightError(f"--dynamic: expected INPUT:DIMENSION=NAME or INPUT:DIMENSION=NUMBER, got {text!r}")
        found.setdefault(name, {})[int(dimension)] = int(extent) if is_number else extent
    return found


def graph_of(path: Path, options: argparse.Namespace) -> Graph:
    """The graph of an .onnx file."""
    if path.suffix != ".onnx":
        raise TilewrightError(f"{path}: expected an .onnx file")
    shapes = _dynamic_shapes(options.dynamic)
    from ..onnx import import_onnx

    try:
        return import_onnx(path, dynamic_shapes=shapes)
    except TilewrightError as error:
        text = str(error).replace("dynamic_shapes", "--dynamic")
        raise TilewrightError(text if text.startswith(f"{path}: ") else f"{path}: {text}") from None


def compiled(path: Path, options: argparse.Namespace) -> Model:
    """The model of an .onnx file, compiled for --target."""
    from ..graph import compile_graph

    graph = graph_of(path, options)
    try:
        return compile_graph(graph, options.target, options.without)
    except (TypeError, ValueError) as error:
        raise TilewrightError(f"{path}: {error}") from None


def counted(model: Model) -> str:
    """How many groups a model has."""
    return f"{len(model.groups)} group{'s' * (len(model.groups) != 1)}"


def described(model: Model) -> str:
    """What a model became: its inputs, outputs, groups and memory."""
    weights = sum(array.nbytes for array in model.constants.values())
    lines = [f"{model.name} for {model.target}: {counted(model)}, {weights} bytes of weights"]
    lines += [f"input {name}: {kind}" for name, kind in model.inputs]
    lines += [f"output {name}: {kind}" for name, kind in model.outputs]
    return "\n".join([*lines, *map(str, model.groups), str(model.plan)])
