"""Outputs of a graph that are views of its inputs: they are made of these, as PyTorch makes them.

Where extents are symbolic, PyTorch reads the strides of such outputs, and takes its own view of the input.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, cast

import sympy  # pyright: ignore[reportMissingTypeStubs]
import torch
from torch.fx import Node

from ..guards import is_listed

__all__ = ["View", "sizes_of", "source_of", "symbols_of", "view_of"]

_aten: Any = torch.ops.aten
_VIEWS: frozenset[Any] = frozenset(
    {
        _aten.slice.Tensor, _aten.select.int, _aten.permute.default, _aten.transpose.int, _aten.t.default,
        _aten.view.default, _aten.expand.default, _aten.squeeze.default, _aten.squeeze.dim, _aten.squeeze.dims,
        _aten.unsqueeze.default, _aten.diagonal.default, _aten.unfold.default, _aten.alias.default,
        _aten.detach.default, _aten.split.Tensor, _aten.split_with_sizes.default, _aten.unbind.int,
    }
)  # fmt: skip
# An intermediate result has no other strides than those of its shape, where PyTorch's may be transposed.
_RUN = {_aten.view.default: _aten.reshape.default}


@dataclass(frozen=True)
class View:
    """A view of an input: which input, and the calls that make it."""

    input: Node
    calls: tuple[Node, ...]

    def of(self, x: torch.Tensor, sizes: Mapping[Any, Any]) -> torch.Tensor:
        """The view of a tensor, by the values of symbols."""
        made: Any = x.detach()
        for node in self.calls:
            _, *others = [_number(one, sizes) for one in node.args]
            named = {key: _number(one, sizes) for key, one in node.kwargs.items()}
            target: Any = node.target
            made = made[others[0]] if target is operator.getitem else _RUN.get(target, target)(made, *others, **named)
        return made


def view_of(node: Any, inputs: Mapping[Node, int], symbols: Set[Any], is_kept: bool = False) -> View | None:
    """The view of an input that an output is, None for another output.

    It is None too where PyTorch makes the view itself, unless the output is kept for the backward pass. And it is where
    more than the symbols of the inputs decides which view it is.
    """
    calls: list[Node] = []
    while isinstance(node, Node) and node not in inputs:
        if node.op != "call_function" or not (node.target in _VIEWS or node.target is operator.getitem):
            return None
        calls.insert(0, node)
        node = node.args[0]
    if not isinstance(node, Node) or not calls:
        return None
    if not is_kept and not any(_expressions([one.args, one.kwargs, one.meta.get("val")]) for one in calls):
        return None  # PyTorch makes the same view itself
    used = [_expressions([one.args[1:], one.kwargs]) for one in calls]
    if not all(expression.free_symbols <= symbols for some in used for expression in some):
        return None
    return View(node, tuple(calls))


def source_of(value: Any) -> Any:
    """The node that a chain of nodes that detach begins with."""
    while isinstance(value, Node) and value.target is _aten.detach.default:
        value = value.args[0]
    return value


def _expressions(value: Any) -> list[Any]:
    """The expressions of sympy among numbers, shapes and arguments."""
    if isinstance(value, Node):
        value = value.meta.get("val")
        return [] if isinstance(value, torch.Tensor) else _expressions(value)
    if isinstance(value, torch.SymInt):
        return [] if value.node.expr.is_number else [value.node.expr]
    if isinstance(value, torch.Tensor):
        return _expressions(tuple(value.shape))
    if isinstance(value, Mapping):
        return _expressions(list(value.values()))  # pyright: ignore[reportUnknownArgumentType]
    found: list[Any] = []
    if is_listed(value):
        for one in value:
            found += _expressions(one)
    return found


def _number(value: Any, sizes: Mapping[Any, Any]) -> Any:
    """An argument of a call, in which numbers stand for symbols."""
    number: Any = value.meta.get("val") if isinstance(value, Node) else value
    if isinstance(number, torch.SymInt):
        expression: Any = cast(Any, number).node.expr
        return int(expression.xreplace(sizes))
    if is_listed(value):
        return [_number(one, sizes) for one in value]
    return number


def sizes_of(inputs: Sequence[Any], given: Sequence[Any]) -> dict[Any, int]:
    """The symbols of a graph, by what its inputs are when it is called."""
    found: dict[Any, Any] = {}
    for value, one in zip(inputs, given):
        pairs = zip(value.shape, one.shape) if isinstance(value, torch.Tensor) else [(value, one)]
        for size, number in pairs:
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
                found[size.node.expr] = sympy.Integer(number)
    return found


def symbols_of(inputs: Sequence[Any]) -> set[Any]:
    """The symbols that `sizes_of` finds."""
    numbers = [size for one in inputs for size in (one.shape if isinstance(one, torch.Tensor) else [one])]
    return {one.node.expr for one in numbers if isinstance(one, torch.SymInt) and one.node.expr.is_Symbol}
