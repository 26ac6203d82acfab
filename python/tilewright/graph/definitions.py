"""Puts beside a model the functions of te that define its operators."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mlir import ir

from .. import te
from ..errors import TilewrightKeyError as KeyError
from ..messages.location import Source, at_source
from ..te import Tensor, Var
from ..te.emit import emit_function
from .operators import OPERATORS
from .types import from_ir, value_of

__all__ = ["attribute_names", "attributes_of", "define", "label_of", "model_function", "operators_in", "symbols_apart"]

_NAME = re.compile(r"[^\W\d]\w*", re.ASCII)


def model_function(module: ir.Module, name: str) -> ir.Operation:
    """The function of a model."""
    for operation in module.body:
        found = operation.operation
        if found.name == "func.func" and ir.StringAttr(found.attributes["sym_name"]).value == name:
            return found
    raise KeyError(name)


def operators_in(block: ir.Block) -> Iterator[ir.Operation]:
    """The operators of a block, in their order; groups, constants and weights are none."""
    for operation in block.operations:
        found = operation.operation
        if found.name.startswith("graph.") and found.name.removeprefix("graph.") in OPERATORS:
            yield found


def attributes_of(operation: ir.Operation, symbols: Mapping[str, Var]) -> dict[str, Any]:
    """The keyword arguments of an operator, without those that have their default."""
    return {key: value_of(operation.attributes[key], symbols) for key in attribute_names(operation)}


def attribute_names(operation: ir.Operation) -> list[str]:
    """The attributes that an operator has, of those that its function takes."""
    known = OPERATORS[operation.name.removeprefix("graph.")].attributes
    return [name for name in known if name in operation.attributes]


def label_of(operation: ir.Operation) -> str:
    """The node that an operator came from, as errors name it; the operator itself where it came from none."""
    location = operation.location
    return location.name_str if location.is_a_name() else operation.name


def tensors_of(
    operation: ir.Operation, operands: list[Tensor], symbols: Mapping[str, Var], by_threads: bool = False
) -> tuple[Tensor, ...]:  # fmt: skip
    """The results of an operator as tensor expressions, for a processor or `by_threads`."""
    with at_source(Source(label_of(operation), 0)):
        operator = OPERATORS[operation.name.removeprefix("graph.")]
        return operator(*operands, by_threads=by_threads, **attributes_of(operation, symbols))


def symbols_apart(
    arguments: Sequence[Tensor], operations: Iterable[ir.Operation], symbols: Mapping[str, Var]
) -> list[Var]:  # fmt: skip
    """The symbols of operators that are no extent of an argument alone, as of `n * m`: these are arguments, too."""
    alone = {extent.name for tensor in arguments for extent in tensor.shape if isinstance(extent, Var)}
    texts = [str(extent) for tensor in arguments for extent in tensor.shape if not isinstance(extent, int)]
    for operation in operations:
        texts += [str(value.type) for value in (*operation.operands, *operation.results)]
        texts.append(str(operation.attributes))
    used = {name for text in texts for name in _NAME.findall(text)}
    return [symbol for name, symbol in symbols.items() if name in used and name not in alone]


def define(module: ir.Module, name: str, symbols: Mapping[str, Var]) -> None:
    """Gives each operator of the model the function of te that defines it; equal operators have one."""
    known: dict[str, str] = {}
    function = model_function(module, name)
    with module.context, ir.Location.unknown(), ir.InsertionPoint(module.body):
        for operation in operators_in(function.regions[0].blocks[0]):
            types = [str(operand.type) for operand in operation.operands]
            key = f"{operation.name} {operation.attributes} {types} {[str(r.type) for r in operation.results]}"
            if key not in known:
                known[key] = f"{operation.name.removeprefix('graph.')}_{len(known)}"
                _emit(operation, known[key], symbols)
            operation.attributes["graph.definition"] = ir.FlatSymbolRefAttr.get(known[key])


def _emit(operation: ir.Operation, name: str, symbols: Mapping[str, Var]) -> None:
    with at_source(Source(label_of(operation), 0)):
        kinds = [from_ir(operand.type, symbols) for operand in operation.operands]
        operands = [te.placeholder(kind.shape, kind.dtype, name=f"x{i}") for i, kind in enumerate(kinds)]
        results = tensors_of(operation, operands, symbols)
        arguments = [*operands, *results]
        emit_function(list(results), [*arguments, *symbols_apart(arguments, [operation], symbols)], name)
