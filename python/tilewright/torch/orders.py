"""Tensors that lie in memory in another order than their dimensions have: they are taken and returned as they lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._guards import TracingContext
from torch.fx import GraphModule, Node

from .views import source_of

__all__ = ["Kept", "kept_nodes", "order_of", "take_strides", "tell_strides"]

Kept = dict[Node, "Sequence[int] | None"]
"""By node that the backward pass alone reads, in which order of its dimensions it is row-major. None until it is known,
and for views of inputs."""


def order_of(value: torch.Tensor) -> tuple[int, ...] | None:
    """The order of the dimensions in which a tensor is row-major, such as that of a transposed matrix.

    None for one that is row-major itself, for one that no order makes so, where extents are symbolic, and for complex
    numbers.

    >>> order_of(torch.empty(3, 4).t())
    (1, 0)
    """
    numbers: list[Any] = [*value.shape, *value.stride()]
    if value.is_complex() or not all(isinstance(one, int) for one in numbers) or value.is_contiguous():
        return None
    order = sorted(range(value.dim()), key=lambda d: -value.stride(d))
    return tuple(order) if value.permute(order).is_contiguous() else None


def kept_nodes(module: GraphModule) -> Kept:
    """What a forward pass keeps for its backward pass alone, while AOTAutograd compiles the first one.

    Tensors whose extents are symbolic, and complex ones, are not among these.
    """
    meta = _metadata()
    if meta is None or meta.num_symints_saved_for_bw is None:
        return {}
    (last,) = module.graph.find_nodes(op="output")
    returned: Sequence[Any] = last.args[0][_tokens() :]
    saved: slice[int, int, int] = meta.tensors_saved_for_backwards_slice
    kept = [*range(len(returned))][saved]
    others = {one for place, one in enumerate(returned) if place not in kept}

    def is_plain(one: Any) -> bool:
        value = one.meta.get("val") if isinstance(one, Node) else None
        if not isinstance(value, torch.Tensor) or value.is_complex():
            return False
        return all(isinstance(extent, int) for extent in value.shape)

    return {one: None for one in (returned[place] for place in kept) if is_plain(one) and one not in others}


def take_strides(module: GraphModule, example_inputs: Sequence[Any]) -> None:
    """Gives the inputs of a backward pass the strides of what the forward pass keeps. AOTAutograd passes these beside
    the module, whose nodes have PyTorch's strides.

    Parameters
    ----------
    module
        The backward pass.
    example_inputs
        A value for each of its inputs.
    """
    for node, example in zip(module.graph.find_nodes(op="placeholder"), example_inputs):
        value = node.meta.get("val")
        if isinstance(example, torch.Tensor) and isinstance(value, torch.Tensor):
            strides: list[Any] = [*example.stride(), *value.stride()]
            if all(isinstance(one, int) for one in strides) and example.stride() != value.stride():
                node.meta["val"] = example


def _metadata() -> Any:
    """What AOTAutograd knows of the pass that it compiles; None outside of it."""
    context = TracingContext.try_get()
    return None if context is None else context.fw_metadata


def _tokens() -> int:
    """How many outputs of a forward pass are tokens of side effects, which AOTAutograd does not count. They are the
    first ones."""
    meta = _metadata()
    return 0 if meta is None else len(meta.tokens)


def tell_strides(returned: Sequence[Any], kept: Kept) -> None:
    """Tells AOTAutograd how what a forward pass returns lies in memory, by which it compiles the backward pass.

    Parameters
    ----------
    returned
        The nodes that the forward pass returns.
    kept
        What the backward pass alone reads, with its orders.
    """
    context = TracingContext.try_get()
    if context is None or context.output_strides is None or context.output_strides:
        return
    orders = {source_of(one): order for one, order in kept.items() if order is not None}
    for one in returned[_tokens() :]:
        order = orders.get(source_of(one))
        if order is None:
            context.output_strides.append(None)
            continue
        shape, strides, step = one.meta["val"].shape, [0] * one.meta["val"].dim(), 1
        for d in reversed(order):
            strides[d] = step
            step *= max(shape[d], 1)
        context.output_strides.append(tuple(strides))
