"""Outputs of a graph that need no computing: inputs, which a forward pass keeps, views of inputs, and equal ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from torch.fx import GraphModule, Node

from .views import View, sizes_of, source_of, symbols_of, view_of

__all__ = ["with_outputs_once"]

_Compiled = Callable[[list[Any]], list[Any]]


def with_outputs_once(
    module: GraphModule, compile_module: Callable[[GraphModule], _Compiled], kept: Collection[Node] = ()
) -> _Compiled:  # fmt: skip
    """What `compile_module` makes of a module that returns each tensor once and no input.

    The function returned gives inputs back as they are. It gives views of inputs as views where extents are symbolic,
    or where the backward pass alone reads them. The same tensor stands for outputs that are equal.

    Parameters
    ----------
    module
        A module of FX whose calls are ATen's, without side effects. Its outputs are changed.
    compile_module
        Compiles a module; what it returns takes a list of arguments, and returns a list.
    kept
        Outputs that the backward pass alone reads.
    """
    inputs = {node: number for number, node in enumerate(module.graph.find_nodes(op="placeholder"))}
    values = [node.meta.get("val") for node in inputs]
    symbols = symbols_of(values)
    (last,) = module.graph.find_nodes(op="output")
    returned: Sequence[Any] = last.args[0]
    made: list[Any] = []
    known: dict[Node, int] = {}  # by the source of what is made, its place there
    # Of each output: whether it is an input, its place, and the view of the input that it is.
    places: list[tuple[bool, int, View | None]] = []
    for one in returned:
        source = source_of(one)
        if isinstance(source, Node) and (view := view_of(one, inputs, symbols, one in kept)) is not None:
            places.append((True, inputs[view.input], view))
            continue
        if isinstance(source, Node) and (source in inputs or source in known):
            places.append((source in inputs, inputs[source] if source in inputs else known[source], None))
            continue
        if isinstance(source, Node):
            known[source] = len(made)
        places.append((False, len(made), None))
        made.append(one)
    if len(made) == len(returned):
        return compile_module(module)
    last.args = (tuple(made),)
    module.recompile()
    has_views = any(view is not None for _, _, view in places)
    compiled = compile_module(module)

    def call(given: list[Any]) -> list[Any]:
        kept = [*given]
        results = compiled([*given])
        sizes = sizes_of(values, kept) if has_views else {}
        return [
            (kept if is_input else results)[place] if view is None else view.of(kept[place], sizes)
            for is_input, place, view in places
        ]

    call._boxed_call = True  # type: ignore[attr-defined]
    return call
