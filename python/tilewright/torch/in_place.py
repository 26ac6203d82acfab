"""Writes to parts of tensors that nothing reads afterwards, as functions: PyTorch does not always make these itself."""

from __future__ import annotations

import copy
from typing import Any, cast

import torch
from torch.export import ExportedProgram
from torch.fx import Graph, Node

__all__ = ["with_copies", "without_writes"]


def without_writes(program: ExportedProgram) -> ExportedProgram | None:
    """A program like `program` without the operators in place whose operand is the only tensor that is read afterwards
    of all that share its memory. None where there are none."""
    graph = copy.deepcopy(program.graph)
    if not [node for node in list(graph.nodes) if _replace(graph, node)]:
        return None
    return _with_graph(program, graph)


def with_copies(program: ExportedProgram) -> ExportedProgram | None:
    """A program like `program` whose loops read no tensor twice: PyTorch takes this for a write. None where none do."""
    graph = copy.deepcopy(program.graph)
    changed = False
    for node in list(graph.nodes):
        if node.target is not torch.ops.higher_order.while_loop:
            continue
        carried, more = node.args[2:]
        with graph.inserting_before(node):
            apart = [_copy(graph, one) if one in carried else one for one in more]
        changed |= apart != list(more)
        node.args = (*node.args[:3], tuple(apart))
    return _with_graph(program, graph) if changed else None


def _copy(graph: Graph, node: Node) -> Node:
    made = graph.call_function(torch.ops.aten.clone.default, (node,))
    made.meta = dict(node.meta)
    return made


def _with_graph(program: ExportedProgram, graph: Graph) -> ExportedProgram:
    return ExportedProgram(
        root=program.graph_module,
        graph=graph,
        graph_signature=program.graph_signature,
        state_dict=program.state_dict,
        range_constraints=cast(Any, program.range_constraints),
        module_call_graph=program.module_call_graph,
        example_inputs=program.example_inputs,
        constants=program.constants,
        verifiers=program.verifiers,
    )


def _replace(graph: Graph, node: Node) -> bool:
    functional = _functional(node)
    if functional is None:
        return False
    given: Any = node.args[0]
    position = {one: i for i, one in enumerate(graph.nodes)}
    shared = _sharing(given)
    if shared is None:
        return False
    after = {one: [user for user in one.users if position[user] > position[node]] for one in shared}
    if any(users for one, users in after.items() if one not in (given, node)):
        return False
    if any(user.op == "output" for user in after[given]):
        return False
    with graph.inserting_before(node):
        made = graph.call_function(functional, node.args, node.kwargs)
    made.meta = dict(node.meta)
    for user in after[given]:
        user.replace_input_with(given, made)
    name = node.name
    node.replace_all_uses_with(made)
    graph.erase_node(node)
    made.name = name
    return True


def _functional(node: Node) -> Any:
    """The operator without a write, whose result has the type of the first operand; None where there is none."""
    target: Any = node.target
    if not _is_overload(target) or not isinstance(node.args[0], Node):
        return None
    name = target._schema.name.split("::")[1]
    packet = getattr(torch.ops.aten, name[:-1], None) if name.endswith("_") and not name.endswith("__") else None
    value: Any = node.args[0].meta.get("val")
    tensors = [one.meta.get("val") for one in node.all_input_nodes]
    if packet is None or not all(isinstance(one, torch.Tensor) and one.dtype == value.dtype for one in tensors):
        return None
    return getattr(packet, target._overloadname, None)


def _is_overload(target: Any) -> bool:
    return isinstance(target, torch._ops.OpOverload)  # pyright: ignore[reportPrivateUsage]


def _sharing(node: Node) -> set[Node] | None:
    """The tensors that may share memory with one; None where an input or a weight may be among them."""
    found, waiting = set[Node](), [node]
    while waiting:
        one = waiting.pop()
        if one in found:
            continue
        if one.op != "call_function":
            return None
        found.add(one)
        waiting += _shared_operands(one)
        waiting += [user for user in one.users if user.op == "call_function" and one in _shared_operands(user)]
    return found


def _shared_operands(node: Node) -> list[Node]:
    """The operands whose memory a result may be: as the schema says, or because others compute the operator."""
    target: Any = node.target
    if not _is_overload(target):
        return node.all_input_nodes
    if any(one.alias_info is not None for one in target._schema.returns):
        pairs = zip(target._schema.arguments, node.args)
        return [given for one, given in pairs if one.alias_info is not None and isinstance(given, Node)]
    is_composite = target.has_kernel_for_dispatch_key(torch._C.DispatchKey.CompositeImplicitAutograd)  # pyright: ignore[reportPrivateUsage]
    is_fresh = not is_composite or target is torch.ops.aten.einsum.default and len(node.all_input_nodes) > 1
    return [] if is_fresh else node.all_input_nodes
