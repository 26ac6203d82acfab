"""Operators that stay in PyTorch, where `torch.compile` is asked for that; the others are compiled in parts."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

from ..errors import CompileError
from ..guards import is_listed
from .call import real_dtype
from .dtypes import dtype_name
from .importer import label_of, refusals

__all__ = ["compile_parts"]


def compile_parts(module: GraphModule, compile_part: Callable[[GraphModule], Callable[..., Any]]) -> Callable[..., Any]:
    """A function that runs a module whose refused operators stay in PyTorch. A warning names them, with their lines.

    Parameters
    ----------
    module
        A module of FX whose calls are ATen's. It is changed.
    compile_part
        Compiles a module without such operators; what it returns takes a list of arguments, and returns a list.
    """
    refused = _refused(module)
    if not refused:
        return compile_part(module)
    reasons = "\n".join(dict.fromkeys(refused.values()))
    warnings.warn(f"backend tilewright: these operators run in PyTorch:\n{reasons}", stacklevel=2)
    support = _Support(refused)
    parts = CapabilityBasedPartitioner(module, support, allows_single_node_partition=True).propose_partitions()
    with_results = [dict(part.nodes) for part in parts if any(_tensors(node) for node in part.nodes)]
    fuse_by_partitions(module, with_results, "part_", always_return_tuple=True)
    symbols = [node for node in module.graph.nodes if node.op == "placeholder" and _symbol(node) is not None]
    for node in module.graph.find_nodes(op="call_module"):
        part = cast(GraphModule, module.get_submodule(node.target))
        _pass_symbols(part, node, symbols)
        module.set_submodule(node.target, _Part(compile_part(part)))
    module.recompile()

    def call(given: list[Any]) -> list[Any]:
        return list(module(*given))

    call._boxed_call = True  # type: ignore[attr-defined]
    return call


class _Part(torch.nn.Module):
    """A compiled part, as a call of FX has it."""

    def __init__(self, compiled: Callable[[list[Any]], list[Any]]) -> None:
        super().__init__()
        self._compiled = compiled

    def forward(self, *given: Any) -> list[Any]:
        return self._compiled(list(given))


class _Support(OperatorSupportBase):
    """What is compiled: the calls that make tensors, but for those that are refused. PyTorch computes sizes."""

    def __init__(self, refused: Mapping[Node, str]) -> None:
        self._refused = refused

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        return node.op == "call_function" and bool(_tensors(node)) and _maker(node) not in self._refused


def _refused(module: GraphModule) -> dict[Node, str]:
    """The operators of a module that cannot be compiled, each with the reason. A refused operator hides what is refused
    behind it, so they are sought until there are no more."""
    refused = {node: reason for node in module.graph.nodes if (reason := _foreign(node))}
    while True:
        rest, origins = _without(module, refused)
        found = {origins[node]: reason for node, reason in refusals(rest).items()}
        if not found:
            return refused
        refused.update(found)


def _foreign(node: Node) -> str | None:
    """Why a call has operands or results of a type that no kernel has."""
    if node.op != "call_function" or node.target is operator.getitem:
        return None
    for one in (*node.all_input_nodes, node):
        for tensor in _tensors(one):
            try:
                dtype_name(real_dtype(tensor.dtype))
            except CompileError as error:
                return f"{label_of(node, str(node.target))}: {error}"
    return None


def _without(module: GraphModule, refused: Mapping[Node, str]) -> tuple[GraphModule, dict[Node, Node]]:
    """A module in which results of refused operators are inputs, and the node that each of its nodes is a copy of."""
    graph, copies = Graph(), dict[Node, Node]()
    given = [node for node in module.graph.nodes if node.op == "placeholder" or _maker(node) in refused]
    used = [node for node in given if any(_maker(user) not in refused for user in node.users)]
    for node in used:
        value = node.meta.get("val")
        if isinstance(value, (tuple, list)) or any(user.op == "output" for user in node.users if len(node.users) == 1):
            continue
        copies[node] = graph.placeholder(node.name)
        copies[node].meta = dict(node.meta)
    for node in module.graph.nodes:
        if node.op in ("call_function", "get_attr") and _maker(node) not in refused:
            copies[node] = graph.node_copy(node, copies.__getitem__)
    graph.output([made for node, made in copies.items() if isinstance(node.meta.get("val"), torch.Tensor)])
    return GraphModule(module, graph), {made: node for node, made in copies.items()}


def _maker(node: Node) -> Node:
    """The call whose result a node is, or is a part of."""
    while node.target is operator.getitem:
        node = cast(Node, node.args[0])
    return node


def _tensors(node: Node) -> list[torch.Tensor]:
    def walk(value: Any) -> Iterator[torch.Tensor]:
        if isinstance(value, torch.Tensor):
            yield value
        elif is_listed(value):
            for one in value:
                yield from walk(one)

    return list(walk(node.meta.get("val")))


def _expression(number: Any) -> Any:
    """The expression of sympy that a number is."""
    return cast(Any, number).node.expr if isinstance(number, (torch.SymInt, torch.SymFloat)) else None


def _symbol(node: Node) -> Any:
    """The symbol that a number among the inputs is."""
    found = _expression(node.meta.get("val"))
    return found if found is not None and found.is_Symbol else None


def _pass_symbols(part: GraphModule, call: Node, symbols: Sequence[Node]) -> None:
    """Gives a part the symbols of the module's inputs that its shapes have, and that are not among its own inputs."""
    numbers: list[Any] = [node.meta.get("val") for node in part.graph.nodes]
    numbers += [size for node in part.graph.nodes for tensor in _tensors(node) for size in tensor.shape]
    needed: set[Any] = set()
    for number in numbers:
        if (expression := _expression(number)) is not None:
            needed |= expression.free_symbols
    needed -= {_symbol(node) for node in part.graph.find_nodes(op="placeholder")}
    for node in symbols:
        if _symbol(node) in needed:
            with part.graph.inserting_before(next(iter(part.graph.nodes))):
                made = part.graph.placeholder(node.name)
            made.meta = dict(node.meta)
            call.args = (node, *call.args)
    part.recompile()
