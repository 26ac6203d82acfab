"""Reads .onnx files and their constants, and refuses what is damaged or malicious before memory is used for it."""

from __future__ import annotations

import math
import os

import numpy as np
import onnx
from onnx import numpy_helper

from ..errors import CompileError
from ..errors import TilewrightValueError as ValueError

__all__ = ["array_of", "initializers_of", "load_model"]


def load_model(path: str) -> onnx.ModelProto:
    """The model in a file, without its external data."""
    if not os.path.isfile(path):
        raise ValueError(f"expected the path of an .onnx file, got {path!r}, which is none")
    try:
        return onnx.load_model(path, load_external_data=False)
    except Exception as error:
        raise CompileError(f"{path}: expected an ONNX model, got a file that is none: {error}", stage="graph") from None


def initializers_of(model: onnx.ModelProto, path: str | None) -> dict[str, np.ndarray]:
    """The constants of a model, those in external files too, which lie in the model's folder or below it."""
    arrays: dict[str, np.ndarray] = {}
    for tensor in model.graph.initializer:
        arrays[tensor.name] = array_of(tensor, path)
    for sparse in model.graph.sparse_initializer:
        raise CompileError(
            f"initializer {sparse.values.name!r}: expected a dense tensor, got a sparse one", stage="graph"
        )
    _check_order(model)
    return arrays


def array_of(tensor: onnx.TensorProto, path: str | None) -> np.ndarray:
    """The value of a tensor of a model, in the model or in a file beside it."""
    what = f"initializer {tensor.name!r}"
    if any(extent < 0 for extent in tensor.dims):
        raise CompileError(f"{what}: expected extents of at least 0, got {list(tensor.dims)}", stage="graph")
    elements = math.prod(tensor.dims)
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        return _external(tensor, elements, path, what)
    stored = max(
        len(tensor.raw_data), len(tensor.float_data), len(tensor.int32_data), len(tensor.int64_data),
        len(tensor.double_data), len(tensor.uint64_data), len(tensor.string_data),
    )  # fmt: skip
    # A byte has two numbers of 4 bits, or four of 2, at the most; a complex number is two.
    if elements > stored * 4 or elements and not stored:
        raise CompileError(
            f"{what}: expected data for {elements} elements of shape {list(tensor.dims)}, got {stored}", stage="graph"
        )
    try:
        return numpy_helper.to_array(tensor)
    except Exception as error:
        raise CompileError(f"{what}: expected a tensor, got damaged data: {error}", stage="graph") from None


def _external(tensor: onnx.TensorProto, elements: int, path: str | None, what: str) -> np.ndarray:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    if path is None:
        raise CompileError(
            f"{what}: expected its data in the model, got it in the file {location!r}: give the model's path",
            stage="graph",
        )
    folder = os.path.realpath(os.path.dirname(os.path.abspath(path)))
    file = os.path.realpath(os.path.join(folder, location))
    if not location or os.path.isabs(location) or os.path.commonpath([folder, file]) != folder:
        raise CompileError(f"{what}: expected a file in the model's folder, got {location!r}", stage="graph")
    if not os.path.isfile(file):
        raise CompileError(f"{what}: expected a file {location!r} in the model's folder, got none", stage="graph")
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
    written = entries.get("offset", "0")
    offset = int(written) if written.isdecimal() else -1
    size = elements * dtype.itemsize
    if offset < 0 or offset + size > os.path.getsize(file):
        raise CompileError(
            f"{what}: expected {size} bytes at {entries.get('offset', 0)} in {location!r}, got a file of "
            f"{os.path.getsize(file)}",
            stage="graph",
        )
    if not size:
        return np.empty(tuple(tensor.dims), dtype)
    return np.memmap(file, dtype, "r", offset, tuple(tensor.dims))


def _check_order(model: onnx.ModelProto) -> None:
    """Each value is made once, before it is used: a cycle is refused here."""
    known = {one.name for one in model.graph.input} | {one.name for one in model.graph.initializer}
    made = {out for node in model.graph.node for out in node.output if out}
    for position, node in enumerate(model.graph.node):
        label = f"node {node.name or next((o for o in node.output if o), str(position))!r} ({node.op_type})"
        for name in node.input:
            if name and name not in known:
                why = "which is made later or by itself" if name in made else "which nothing makes"
                raise CompileError(
                    f"{label}: expected a value that was made before, got {name!r}, {why}", stage="graph"
                )
        for name in node.output:
            if name and name in known:
                raise CompileError(
                    f"{label}: expected a new name for its result, got {name!r}, which is taken", stage="graph"
                )
            known.add(name)
    for one in model.graph.output:
        if one.name not in known:
            raise CompileError(f"output {one.name!r}: expected a value that a node makes, got none", stage="graph")
