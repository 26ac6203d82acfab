"""Outputs of a graph that need no computing: inputs, which a forward pass keeps for the gradients, and equal ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

__all__ = ["with_outputs_once"]

_Compiled = Callable[[list[Any]], list[Any]]


def with_outputs_once(module: GraphModule, compile_module: Callable[[GraphModule], _Compiled]) -> _Compiled:
    """What `compile_module` makes of a module that returns each tensor once and no input.

    The function returned gives inputs back as they are. The same tensor stands for outputs that are equal.

    Parameters
    ----------
    module
        A module of FX whose calls are ATen's, without side effects. Its outputs are changed.
    compile_module
        Compiles a module; what it returns takes a list of arguments, and returns a list.
    """
    inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
    (last,) = (node for node in module.graph.nodes if node.op == "output")
    returned: Sequence[Any] = last.args[0]
    made: list[Any] = []
    from_input: list[int | None] = []
    places: list[int] = []
    for one in returned:
        source = _source(one)
        if source in inputs:
            from_input.append(inputs.index(source))
            places.append(-1)
            continue
        from_input.append(None)
        known = [place for place, other in enumerate(made) if isinstance(source, Node) and _source(other) is source]
        places.append(known[0] if known else len(made))
        made += [] if known else [one]
    if len(made) == len(returned):
        return compile_module(module)
    last.args = (tuple(made),)
    module.recompile()
    compiled = compile_module(module)

    def call(given: list[Any]) -> list[Any]:
        results = compiled([*given])
        return [results[place] if i is None else given[i] for place, i in zip(places, from_input)]

    call._boxed_call = True  # type: ignore[attr-defined]
    return call


def _source(value: Any) -> Any:
    """The node that a chain of nodes that detach begins with."""
    while isinstance(value, Node) and value.target is torch.ops.aten.detach.default:
        value = value.args[0]
    return value
