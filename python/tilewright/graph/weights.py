"""The weights of a model as the passes on its graph have left them: some are made of others."""

from __future__ import annotations

import numpy as np
from mlir import ir

from .. import te
from ..errors import TilewrightKeyError as KeyError
from ..te import Tensor
from ..te.interpret import interpret
from .builder import Graph
from .definitions import tensors_of
from .groups import constant_tensor
from .types import from_ir

__all__ = ["weight_of"]


def weight_of(operation: ir.Operation, graph: Graph) -> np.ndarray:
    """The elements of a `graph.weight`: as the model has them, several one behind the other, or computed by NumPy."""
    attributes = operation.attributes
    name = ir.StringAttr(attributes["name"]).value
    if "graph.folded" in attributes:
        return _computed(name, graph)
    if "graph.joined" in attributes:
        parts = [graph.weights[ir.StringAttr(one).value] for one in ir.ArrayAttr(attributes["graph.joined"])]
        return np.concatenate(parts, ir.IntegerAttr(attributes["graph.joined_axis"]).value)
    return graph.weights[name]


def _computed(name: str, graph: Graph) -> np.ndarray:
    """What the function of that name in the module `graph.weights` returns."""
    tensors: dict[ir.Value, Tensor] = {}
    given: dict[Tensor, np.ndarray] = {}
    for one in _function(name, graph).regions[0].blocks[0].operations:
        operation = one.operation
        if operation.name == "func.return":
            (result,) = interpret([tensors[operation.operands[0]]], given, {})
            return np.asarray(result)
        if operation.name == "graph.weight":
            kind = from_ir(operation.result.type, graph.symbols)
            tensors[operation.result] = made = te.placeholder(kind.shape, kind.dtype, name=f"w{len(given)}")
            given[made] = weight_of(operation, graph)
        elif operation.name == "graph.constant":
            tensors[operation.result] = constant_tensor(operation, graph.symbols)
        else:
            operands = [tensors[operand] for operand in operation.operands]
            (tensors[operation.result],) = tensors_of(operation, operands, graph.symbols)
    raise AssertionError("a function without a return")


def _function(name: str, graph: Graph) -> ir.Operation:
    for one in graph.module.body:
        module = one.operation
        if module.name == "builtin.module" and ir.StringAttr(module.attributes["sym_name"]).value == "graph.weights":
            for function in module.regions[0].blocks[0].operations:
                if ir.StringAttr(function.operation.attributes["sym_name"]).value == name:
                    return function.operation
    raise KeyError(name)
