"""Tensors that lie in memory in another order than their dimensions have: they are taken and returned as they lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch._guards import TracingContext
from torch.fx import GraphModule, Node

__all__ = ["kept_nodes", "order_of", "tell_strides"]


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


def kept_nodes(module: GraphModule) -> list[Node]:
    """What a forward pass keeps for its backward pass alone, while AOTAutograd compiles the first one.

    Tensors whose extents are symbolic, and complex ones, are not among these.
    """
    context = TracingContext.try_get()
    meta: Any = None if context is None else context.fw_metadata
    if meta is None or meta.num_symints_saved_for_bw is None:
        return []
    (last,) = module.graph.find_nodes(op="output")
    returned: Sequence[Any] = last.args[0][_tokens() :]
    kept = returned[meta.tensors_saved_for_backwards_slice]
    others = [one for one in returned if not any(one is each for each in kept)]

    def is_plain(one: Any) -> bool:
        value = one.meta.get("val") if isinstance(one, Node) else None
        if not isinstance(value, torch.Tensor) or value.is_complex():
            return False
        return all(isinstance(extent, int) for extent in value.shape)

    return [one for one in kept if is_plain(one) and not any(one is each for each in others)]


def _tokens() -> int:
    """How many outputs of a forward pass are tokens of side effects, which AOTAutograd does not count. They are the
    first ones."""
    context = TracingContext.try_get()
    meta: Any = None if context is None else context.fw_metadata
    return 0 if meta is None else len(meta.tokens)


def tell_strides(returned: Sequence[Any], orders: Mapping[Node, Sequence[int]]) -> None:
    """Tells AOTAutograd how what a forward pass returns lies in memory, by which it compiles the backward pass.

    Parameters
    ----------
    returned
        The nodes that the forward pass returns.
    orders
        By node, in which order of its dimensions it is row-major.
    """
    context = TracingContext.try_get()
    if context is None or context.output_strides is None or context.output_strides:
        return
    for one in returned[_tokens() :]:
        if one not in orders:
            context.output_strides.append(None)
            continue
        shape, strides, step = one.meta["val"].shape, [0] * one.meta["val"].dim(), 1
        for d in reversed(orders[one]):
            strides[d] = step
            step *= max(shape[d], 1)
        context.output_strides.append(tuple(strides))
