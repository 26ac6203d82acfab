"""Sizes that are equal: numbers that the same data decide, and sizes of operands that PyTorch does not compare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from ..guards import is_listed
from .extents import is_decided_by_data

__all__ = ["guard_sizes", "unite_counts"]

_aten: Any = torch.ops.aten


_PUT = (_aten.index_put.default, _aten._unsafe_index_put.default)


def guard_sizes(module: GraphModule) -> None:
    """Has TorchDynamo check at each call the symbolic sizes that an operator expects to be equal to others.

    PyTorch does so itself, but for what `index_put` writes.

    Parameters
    ----------
    module
        A module of FX whose calls are ATen's, which TorchDynamo traces.
    """
    for node in module.graph.nodes:
        if node.op != "call_function" or node.target not in _PUT:
            continue
        x, indices, values = (map_arg(one, lambda given: given.meta["val"]) for one in node.args[:3])
        rows: list[Any] = []
        for one in indices:
            rows += list(one.shape) if one is not None and one.dtype not in (torch.bool, torch.uint8) else []
        first = next(d for d, one in enumerate(indices) if one is not None)
        if len(indices) != first + 1 or not rows:
            continue  # of several indices, or of a mask
        for own, wanted in zip(reversed(values.shape), reversed([*x.shape[:first], *rows, *x.shape[first + 1 :]])):
            bool(own == 1 or own == wanted)  # PyTorch makes a guard of a comparison whose result is read


def unite_counts(module: GraphModule) -> None:
    """Has one symbol for numbers that PyTorch has several symbols for, where equal nodes make them.

    `x[x > 0]` and `y[x > 0]` have as many elements each, and so have two results of `masked_select` by one mask.

    Parameters
    ----------
    module
        A module of FX whose calls are ATen's, functions all of them.
    """
    numbers: dict[Node, str] = {}  # equal nodes have the same one
    kinds: dict[str, str] = {}
    counts: dict[str, list[Any]] = {}
    for node in module.graph.nodes:
        text = _text(node, numbers)
        numbers[node] = node.name if text is None else kinds.setdefault(text, node.name)
        own = _counts(node)
        if not own:
            continue
        mask = _mask(node) if len(own) == 1 else None
        before = counts.setdefault(numbers[node] if mask is None else f"set in {numbers[mask]}", own)
        for one, first in zip(own, before):
            _unite(one, first)


def _text(node: Node, numbers: dict[Node, str]) -> str | None:
    """What is the same for equal nodes; nothing for a node that none is equal to."""
    if node.op == "get_attr":
        return f"{node.op} {node.target}"
    tags = getattr(node.target, "tags", None)
    if node.op != "call_function" or tags is None or torch.Tag.nondeterministic_seeded in tags:
        return None
    given = map_arg((node.args, node.kwargs), lambda one: f"%{numbers[one]}")
    return f"{node.target} {given}"


def _counts(node: Node) -> list[Any]:
    """The extents and numbers of a node that data decide, and that none of its operands has."""
    known: set[Any] = {size.node.expr for one in node.all_input_nodes for size in _sizes(one.meta.get("val"))}
    return [size for size in _sizes(node.meta.get("val")) if size.node.expr not in known]


def _sizes(value: Any) -> Iterator[torch.SymInt]:
    if isinstance(value, torch.Tensor):
        for size in value.shape:
            yield from _sizes(size)
    elif isinstance(value, torch.SymInt):
        if is_decided_by_data(value.node.expr):
            yield value
    elif is_listed(value):
        for one in value:
            yield from _sizes(one)


def _mask(node: Node) -> Node | None:
    """The operand of a node that decides its one count: as many as it has set."""
    found: Any = None
    if node.target is _aten.nonzero.default:
        found = node.args[0]
    elif node.target is _aten.masked_select.default:
        x, mask = node.args[:2]
        # An element of a smaller mask counts for several.
        found = mask if _shape(x) == _shape(mask) else None
    elif node.target is _aten.index.Tensor:
        given: Any = node.args[1]
        masks = [one for one in given if one is not None and one.meta["val"].dtype in (torch.bool, torch.uint8)]
        found = masks[0] if len(masks) == 1 else None
    return found


def _shape(given: Any) -> str:
    return str(tuple(given.meta["val"].shape))


def _unite(one: Any, first: Any) -> None:
    """Has the symbol of a number be that of another one."""
    symbol, other = one.node.expr, first.node.expr
    if symbol != other and is_decided_by_data(other):
        one.node.shape_env._set_replacement(symbol, other, "the same data decide it")
