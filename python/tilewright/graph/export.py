"""A compiled model as one library: a function of tvm-ffi's ABI, and its weights in a file beside it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlir import ir
from mlir.passmanager import PassManager

from ..aot.library import PORTABLE, object_code, object_of, processors_of
from ..aot.linking import find_linker, link_library
from ..aot.weights import WeightFile, write_weights
from ..compiler.program_name import checked_name
from ..errors import TilewrightError
from ..ir import context
from ..ir.running import run_manager
from ..messages.progress import progress
from .export_tables import ModelTables

if TYPE_CHECKING:
    from ..compiler import Function
    from .model import Model

__all__ = ["export_model"]


def export_model(
    model: Model, path: str | os.PathLike[str], name: str = "model", *, mcpu: str | Sequence[str] | None = None,
    architectures: Sequence[str] = (), linker: str | None = None,
) -> None:  # fmt: skip
    """Writes a model as a library, and its weights beside that: what `Model.export` does."""
    checked_name(name)
    path = Path(path)
    if model.target.kind == "sim":
        raise TilewrightError(
            f"{model.name} is compiled for target sim, which runs in this process alone: compile it for cuda or cpu"
        )
    if not path.name:
        raise TilewrightError(f"expected the path of a library, got {os.fspath(path)!r}")
    if path.suffix == ".safetensors":
        raise TilewrightError(f"expected the path of a library, got {path.name!r}, which its weights are to have")
    processors, command = processors_of(mcpu), find_linker(linker)
    functions = _functions(model)
    on_cpu = model.target.kind == "cpu"
    tables = ModelTables(model, name)
    file = path.with_suffix(".safetensors")
    with tempfile.TemporaryDirectory() as folder, progress(f"exporting {path.name}") as line:
        objects: list[Path] = []
        for number, function in enumerate(functions):
            line.show(number, len(functions), "groups", function.entry_name)
            objects.append(Path(folder) / f"{function.entry_name}.o")
            objects[-1].write_bytes(object_of(function, processors, architectures))
        line.show(len(functions), len(functions), "groups", "linking")
        weights = write_weights(tables.weights, file) if tables.weights else None
        objects.append(Path(folder) / "model.o")
        mcpu_of_model = (processors or [PORTABLE])[:1] if on_cpu else [""]
        objects[-1].write_bytes(object_code(_module(tables, weights, file.name, on_cpu), mcpu_of_model, 2))
        shown = ["", "_load"] if not on_cpu else [""]
        symbols = [f"__tvm_ffi_{name}{each}" for each in shown]
        link_library(
            command, objects, path, Path(folder), [*symbols, f"__tvm_ffi__metadata_{name}", f"__tvm_ffi__doc_{name}"]
        )


def _functions(model: Model) -> list[Function]:
    """The compiled programs, each once."""
    by_key = {group.key: group.function for group in model.groups}
    return list(by_key.values())


def _module(tables: ModelTables, weights: WeightFile | None, file: str, on_cpu: bool) -> ir.Module:
    """The module of the function that tvm-ffi calls, with the model's tables."""
    with context():
        module = ir.Module.parse(tables.module_text(weights, file))
        target = "cpu" if on_cpu else "cuda"
        pipeline = f"builtin.module(convert-host-to-ffi{{target={target} export=true model=true}})"
        run_manager(PassManager.parse(pipeline), module.operation)
        return module
