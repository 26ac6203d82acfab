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
    if os.path.getsize(path) == 0:  # which protobuf takes for a model without anything
        raise CompileError(f"{path}: expected an ONNX model, got an empty file", stage="graph")
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
    dtype = _stored_type(tensor, what)
    folder = os.path.realpath(os.path.dirname(os.path.abspath(path)))
    file = folder if "\0" in location else os.path.realpath(os.path.join(folder, location))
    is_inside = os.path.commonpath([folder, file]) == folder
    if not location or "\0" in location or os.path.isabs(location) or not is_inside:
        raise CompileError(f"{what}: expected a file in the model's folder, got {location!r}", stage="graph")
    if not os.path.isfile(file):
        raise CompileError(f"{what}: expected a file {location!r} in the model's folder, got none", stage="graph")
    shape = tuple(tensor.dims)
    size = -(-elements * _PACKED.get(tensor.data_type, 8 * dtype.itemsize) // 8)
    offset, length = (_bytes(entries, key, default) for key, default in (("offset", 0), ("length", size)))
    if offset < 0 or length < size or offset + size > os.path.getsize(file):
        of = f" of {entries['length'][:40]}" if "length" in entries else ""
        raise CompileError(
            f"{what}: expected {size} bytes at {entries.get('offset', '0')[:40]}{of} in {location!r}, got a file of "
            f"{os.path.getsize(file)}",
            stage="graph",
        )
    if not size:
        if any(extent >= 1 << 31 for extent in shape):
            raise CompileError(f"{what}: expected extents below 2^31, got {list(shape)}", stage="graph")
        return np.empty(shape, dtype)
    if tensor.data_type not in _PACKED and dtype != np.bool_:
        return np.memmap(file, dtype, "r", offset, shape)
    stored = np.fromfile(file, np.uint8, size, offset=offset)
    if dtype == np.bool_:
        return (stored != 0).reshape(shape)
    inside = onnx.TensorProto(data_type=tensor.data_type, dims=shape, raw_data=stored.tobytes())
    return numpy_helper.to_array(inside)


_PACKED = {
    getattr(onnx.TensorProto, name): bits
    for name, bits in (("INT4", 4), ("UINT4", 4), ("FLOAT4E2M1", 4), ("INT2", 2), ("UINT2", 2))
    if hasattr(onnx.TensorProto, name)
}
"""Types with several elements a byte, and the bits of each."""


def _stored_type(tensor: onnx.TensorProto, what: str) -> np.dtype:
    """The type of the elements in an external file, which are numbers.

    Strings would be objects of Python to NumPy, whose addresses a file must not say.
    """
    name = {number: name for name, number in onnx.TensorProto.DataType.items()}.get(tensor.data_type)
    known = name is not None and name not in ("UNDEFINED", "STRING")
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type) if known else np.dtype(object)
    if dtype.hasobject:
        told = name or tensor.data_type
        raise CompileError(f"{what}: expected numbers in an external file, got elements of type {told}", stage="graph")
    return dtype


def _bytes(entries: dict[str, str], key: str, default: int) -> int:
    """A number of bytes that an external tensor says; -1 where it is none."""
    written = entries.get(key)
    if written is None:
        return default
    return int(written) if written.isdecimal() and len(written) < 20 else -1


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
