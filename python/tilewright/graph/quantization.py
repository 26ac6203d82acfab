"""Quantisation of a trained model: operators in 8 bits, with scales from sample inputs, or weights alone in int4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from mlir import ir

from ..dtypes import as_dtype
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import is_listed, is_mapping, is_tuple
from ..ir.passes import run_passes
from ..messages.progress import progress
from ..runtime.arrays import is_of_torch
from ..target import Target
from .builder import Graph
from .compile import compile_graph
from .definitions import model_function

__all__ = ["quantize_graph", "quantize_weights"]

_OPERATORS = ("graph.matmul", "graph.conv")
_FLOATS = ("float16", "bfloat16", "float32")
_MOST = {"int8": 127.0, "float8_e4m3fn": 448.0}
_MOST_OF_FOUR, _ZERO_OF_FOUR = 7, 8


def quantize_graph(
    graph: Graph, samples: Sequence[Any], *, per_channel: bool = True, to: str = "int8",
    target: Target | str = "cpu",
) -> Graph:  # fmt: skip
    """The graph with matmuls and convolutions by weights computed in 8 bits.

    The model runs on the samples first. Operands are floats of 16 or 32 bits, and results keep their type.
    An operand is quantised with one scale: the largest magnitude that it had becomes 127, or 448 of a float. A weight
    has a scale for each output channel, or one where `per_channel` is false. Operators of other types, and of two
    operands that are computed, stay as they are.

    Parameters
    ----------
    graph
        What a `GraphBuilder` or an importer made. It stays as it is.
    samples
        The inputs of calls: each a tuple of arrays, in the order of the inputs, or a dict by their names.
    per_channel
        Whether weights have a scale for each output channel.
    to
        The type of the operands, "int8" or "float8_e4m3fn".
    target
        Where the model runs on the samples; they may lie on the processor.

    Raises
    ------
    CompileError
        Where a pass fails.
    TypeError, ValueError
        For no samples, for samples that the model does not take, and for another type.

    >>> from tilewright.graph import GraphBuilder, TensorType, compile_graph
    >>> w = np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4)
    >>> with GraphBuilder("small", [("x", TensorType((2, 3), "float32"))]) as b:
    ...     graph = b.finish([("y", b.op("matmul", b.inputs["x"], b.weight("w", w), acc="float32", to="float32"))])
    >>> x = np.ones((2, 3), "float32")
    >>> model = compile_graph(quantize_graph(graph, [(x,)]), "cpu")
    >>> bool(np.abs(model(x) - x @ w).max() < 0.02)
    True
    """
    if not isinstance(samples, Sequence) or isinstance(samples, (str, bytes)) or not len(samples):
        raise ValueError("expected samples, a list of one tuple or dict of inputs or more, got none")
    if to not in _MOST:
        raise ValueError(f"expected a type that operands are quantised to ({', '.join(_MOST)}), got {to!r}")
    graph = graph.clone()
    found = _magnitudes(graph, samples, target)
    with graph.module.context, ir.Location.unknown():
        f64 = ir.F64Type.get()
        for operation, magnitude in zip(_candidates(graph), found, strict=True):
            operation.attributes["graph.magnitude"] = ir.FloatAttr.get(f64, magnitude)
    channels, floats = ("true" if one else "false" for one in (per_channel, to != "int8"))
    pipeline = f"builtin.module(canonicalize,quantize-operators{{per-channel={channels} float8={floats}}})"
    run_passes(graph.module, pipeline, f"quantising {graph.name}", "graph")
    return replace(graph, weights=_weights(graph, to))


def quantize_weights(graph: Graph, *, group: int = 128) -> Graph:
    """The graph with the weights of matmuls in four bits an element. What is computed keeps its type.

    Along K, each `group` of elements has a scale in float32: the largest magnitude becomes 7. Two elements are in a
    byte. A matmul makes floats of them where it reads them. A weight whose K is no multiple of the group stays.

    Parameters
    ----------
    graph
        What a `GraphBuilder` or an importer made. It stays as it is.
    group
        How many elements have a scale together; even.

    Raises
    ------
    CompileError
        Where a pass fails.
    TypeError, ValueError
        For another group.

    >>> from tilewright.graph import GraphBuilder, TensorType, compile_graph
    >>> w = np.linspace(-1, 1, 32, dtype="float32").reshape(8, 4)
    >>> with GraphBuilder("small", [("x", TensorType((2, 8), "float32"))]) as b:
    ...     graph = b.finish([("y", b.op("matmul", b.inputs["x"], b.weight("w", w), acc="float32", to="float32"))])
    >>> x = np.ones((2, 8), "float32")
    >>> model = compile_graph(quantize_weights(graph, group=4), "cpu")
    >>> bool(np.abs(model(x) - x @ w).max() < 0.4), model.constants[model.groups[0].inputs[0]].dtype.name
    (True, 'uint8')
    """
    if isinstance(group, bool) or not isinstance(group, int):
        raise TypeError(f"expected group as an int, got {type(group).__name__}")
    if group < 2 or group % 2:
        raise ValueError(f"expected group to be an even number, 2 or more, got {group}")
    graph = graph.clone()
    pipeline = f"builtin.module(canonicalize,quantize-weights{{group={group}}})"
    run_passes(graph.module, pipeline, f"quantising {graph.name}", "graph")
    return replace(graph, weights=_weights(graph))


def _candidates(graph: Graph) -> list[ir.Operation]:
    """The operators that may be quantised."""
    block = model_function(graph.module, graph.name).regions[0].blocks[0]
    return [each.operation for each in block.operations if each.operation.name in _OPERATORS]


def _magnitudes(graph: Graph, samples: Sequence[Any], target: Target | str) -> list[float]:
    """The largest magnitude of the first operand of each candidate, over the samples."""
    copy = graph.clone()
    with graph.module.context:
        operands = [operation.operands[0] for operation in _candidates(copy)]
        function = model_function(copy.module, copy.name)
        block = function.regions[0].blocks[0]
        last = block.operations[len(block.operations) - 1].operation
        with ir.InsertionPoint(last), ir.Location.unknown():
            ir.Operation.create("func.return", operands=operands)
        last.erase()
        types: list[ir.Type] = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs  # pyright: ignore[reportUnknownVariableType]
        function.attributes["function_type"] = ir.TypeAttr.get(
            ir.FunctionType.get(types, [one.type for one in operands])
        )
        function.attributes["res_attrs"] = ir.ArrayAttr.get([
            ir.DictAttr.get({"graph.name": ir.StringAttr.get(f"operand{i}")}) for i in range(len(operands))
        ])  # fmt: skip
    if not operands:
        return []
    model = compile_graph(replace(copy, stored={}), target)
    found = [0.0] * len(operands)
    with progress(f"calibrating {graph.name}") as line:
        for number, sample in enumerate(samples):
            line.show(number, len(samples), "samples", "")
            made: Any = model(**sample) if is_mapping(sample) else model(*_as_tuple(sample))
            for i, result in enumerate(made if is_tuple(made) else (made,)):
                array = _array(result)
                if array.dtype.name in _FLOATS and array.size:
                    found[i] = max(found[i], float(np.abs(array.astype(np.float32)).max()))
    return found


def _array(result: Any) -> np.ndarray:
    if not is_of_torch(result):
        return np.asarray(result)
    from .torch_tensors import array_of

    return array_of(result.cpu())


def _as_tuple(sample: Any) -> tuple[Any, ...]:
    if not is_listed(sample):
        raise TypeError(f"expected each sample to be a tuple or a dict of inputs, got {type(sample).__name__}")
    return tuple(sample)


def _weights(graph: Graph, to: str = "int8") -> dict[str, np.ndarray]:
    """The weights that the model has now: integers and scales are made of those that they were."""
    made: dict[str, np.ndarray] = {}
    with graph.module.context:
        block = model_function(graph.module, graph.name).regions[0].blocks[0]
        for each in block.operations:
            operation = each.operation
            if operation.name != "graph.weight":
                continue
            name = ir.StringAttr(operation.attributes["name"]).value
            if "graph.quantized_from" not in operation.attributes:
                made[name] = graph.weights[name]
                continue
            source = graph.weights[ir.StringAttr(operation.attributes["graph.quantized_from"]).value]
            if name in graph.weights:
                raise ValueError(f"expected a model without a weight called {name!r}, which quantisation makes")
            axis = ir.IntegerAttr(operation.attributes["graph.scale_axis"]).value
            if "graph.group" in operation.attributes:
                integers, scale = _in_four_bits(source, axis, ir.IntegerAttr(operation.attributes["graph.group"]).value)
            else:
                integers, scale = _quantized(source, axis, to)
            is_scale = str(ir.RankedTensorType(operation.result.type).element_type) == "f32"
            made[name] = scale if is_scale else integers
    return made


def _quantized(array: np.ndarray, axis: int, to: str) -> tuple[np.ndarray, np.ndarray]:
    """An array in a type of 8 bits, and the scale of all, or of each place along an axis: the largest magnitude becomes
    the type's largest number."""
    array, others = array.astype(np.float32), tuple(d for d in range(array.ndim) if d != axis)
    most, largest = _MOST[to], np.abs(array).max(others, keepdims=True, initial=0.0)
    scale = np.where(largest > 0, largest / most, 1.0).astype(np.float32)
    real = array / scale if to.startswith("float") else np.rint(array / scale)
    numbers = np.clip(real, -most, most).astype(as_dtype(to))
    return numbers, scale.reshape(-1) if axis >= 0 else scale.reshape(())


def _in_four_bits(array: np.ndarray, axis: int, group: int) -> tuple[np.ndarray, np.ndarray]:
    """A matrix as pairs of integers in bytes, and the scales of its groups along an axis."""
    real = np.moveaxis(array.astype(np.float32), axis, -1)
    groups = real.reshape(real.shape[0], -1, group)
    largest = np.abs(groups).max(-1, keepdims=True, initial=0.0)
    scale = np.where(largest > 0, largest / _MOST_OF_FOUR, 1.0).astype(np.float32)
    integers = np.clip(np.rint(groups / scale), -_MOST_OF_FOUR, _MOST_OF_FOUR) + _ZERO_OF_FOUR
    pairs = integers.astype(np.uint8).reshape(real.shape[0], -1, 2)
    packed = pairs[..., 0] | pairs[..., 1] << 4
    back = [np.ascontiguousarray(np.moveaxis(one, -1, axis)) for one in (packed, scale[..., 0])]
    return back[0], back[1]
