"""FlexAttention of PyTorch: what a score and a mask become is read from their functions, and computed by attention.

A mask that is a window of keys becomes one, so that tiles outside of it are not visited. What is added to scores
becomes a mask of floats, and a soft cap stays one. So it is for the gradients, if none is by what a function reads.
Other functions of scores are computed with all scores in memory.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import cache, partial, reduce
from typing import Any

import torch
from torch._higher_order_ops.flex_attention import math_attention  # pyright: ignore[reportUnknownVariableType]
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.attention.flex_attention import _vmap_for_bhqkv  # pyright: ignore[reportPrivateUsage]
from torch.utils._pytree import tree_flatten, tree_unflatten

from .control import module_of
from .decompositions import aten_decompositions
from .flex_functions import Score, Window, everywhere, result_of, score_of, window_of
from .scaled_dot_product import gradients_of, lying_as

__all__ = ["expanded"]


def expanded(node: Node) -> tuple[GraphModule, list[Node], Any]:
    """What a call of FlexAttention, or of its gradients, becomes: a module of ATen's operators, and what it takes.

    The third is the structure of the results, which the module returns one after the other. One that nothing reads is
    None.
    """
    arguments: Any = node.args
    flat, spec = tree_flatten(arguments)
    taken: list[Node] = [one for one in flat if isinstance(one, Node) and isinstance(one.meta.get("val"), torch.Tensor)]
    taken = list(dict.fromkeys(taken))
    users: Any = node.users
    read: set[int] = {one.args[1] for one in users if one.target is operator.getitem}
    if node.target is torch.ops.higher_order.flex_attention:
        function = partial(_forward, window=_window_of_node(node), read=read)
    else:
        of_buffers = [one is not None and _OF_BUFFERS in read for one in node.meta["val"][_OF_BUFFERS]]
        function = partial(_backward, window=_window_of_node(node, _BACKWARD_MASK), of_buffers=of_buffers)

    def made(*tensors: torch.Tensor) -> list[Any]:
        values = dict(zip(taken, tensors, strict=True))
        given = [_given(one, values) for one in flat]
        results = function(*tree_unflatten(given, spec))
        return tree_flatten([one if number in read else None for number, one in enumerate(results)])[0]

    structure = tree_flatten([one if n in read else None for n, one in enumerate(node.meta["val"])])[1]
    fakes: list[Any] = [one.meta["val"] for one in taken]
    with fakes[0].fake_mode, torch.no_grad():
        module = make_fx(made, decomposition_table=_decompositions())(*fakes)
    module.graph.eliminate_dead_code()
    for one in module.graph.nodes:
        one.meta["stack_trace"] = node.meta.get("stack_trace")
    return module, taken, structure


def _scattered(shape: Sequence[int], indices: Sequence[torch.Tensor], values: torch.Tensor) -> torch.Tensor:
    """What the gradient by a tensor that is read at indices is."""
    broadcast: Any = torch.broadcast_shapes  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    extents = broadcast(*(one.shape for one in indices))
    zeros, places = values.new_zeros(tuple(shape)), tuple(one.long().expand(extents) for one in indices)
    return zeros.index_put(places, values.expand(extents), accumulate=True)


@cache
def _decompositions() -> dict[Any, Any]:
    return {**aten_decompositions(), torch.ops.flex_lib.zeros_and_scatter.default: _scattered}


def _given(one: Any, values: dict[Node, torch.Tensor]) -> Any:
    if not isinstance(one, Node):
        return one
    if one in values:
        return values[one]
    return module_of(one) if one.op == "get_attr" else one.meta["val"]


_FORWARD_MASK, _BACKWARD_MASK = 4, 9  # the places of a block mask among the arguments
_OF_BUFFERS = 3  # the place among the results of the gradients by what the function of scores reads
_BUFFERS = 4  # places from there to the tensors that the mask reads


def _window_of_node(node: Node, place: int = _FORWARD_MASK) -> Window | None:
    """The window that the mask of a call is; None where it is none, or reads tensors."""
    args: Any = node.args
    if len(args) > place + _BUFFERS and args[place + _BUFFERS]:
        return None
    module = module_of(args[place][-1])
    query, key = args[0].meta["val"], args[1].meta["val"]
    return window_of(module, result_of(module), [*query.shape[:3], key.shape[2]])


def _added(
    found: Score, query: torch.Tensor, key: torch.Tensor, score_mod: GraphModule, block_mask: Sequence[Any],
    score_buffers: Sequence[Any], mask_buffers: Sequence[Any], window: Window | None,
) -> torch.Tensor | None:  # fmt: skip
    """The mask of what functions of scores and masks say, beside a window: of bools, or of floats that are added."""
    extents = [query.shape[0], query.shape[1], query.shape[2], key.shape[2]]
    of_score = partial(
        everywhere, score_mod, skipped=1, extents=extents, buffers=score_buffers, device=query.device
    )  # fmt: skip
    kept = [of_score(wanted=one) for one in found.kept]
    if window is None:
        kept.append(everywhere(block_mask[-1], result_of(block_mask[-1]), 0, extents, mask_buffers, query.device))
    mask = reduce(torch.logical_and, kept) if kept else None
    if not found.added:
        return mask
    bias = reduce(operator.add, (of_score(wanted=one).to(torch.float32) * sign for one, sign in found.added))
    return bias if mask is None else torch.where(mask, bias, bias.new_full((), -math.inf))


def _bounds(window: Window | None) -> tuple[int | None, int | None, int]:
    """The keys before and behind a query that it sees, and the place of the first query."""
    return (None, None, 0) if window is None else (window.before, window.behind, window.offset)


def _forward(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, score_mod: GraphModule, block_mask: Sequence[Any],
    scale: float, kernel_options: dict[str, Any], score_buffers: Sequence[Any] = (), mask_buffers: Sequence[Any] = (),
    *, window: Window | None, read: set[int],
) -> tuple[torch.Tensor | None, ...]:  # fmt: skip
    """FlexAttention's results: the output, the logarithms of sums and the maxima, of base 2; None for what is not
    `read`."""
    found = score_of(score_mod)
    if found is None or not read <= {0, 1}:
        dense, *others = math_attention(
            query, key, value, score_mod, tuple(block_mask), scale, kernel_options, tuple(score_buffers),
            tuple(mask_buffers),
        )  # fmt: skip
        return lying_as(dense, query), *others
    mask = _added(found, query, key, score_mod, block_mask, score_buffers, mask_buffers, window)
    before, behind, offset = _bounds(window)
    key, value = (one.expand(query.shape[0], *one.shape[1:]) for one in (key, value))
    operands = query, key, value, mask, False, scale, True, before, behind, found.cap, offset
    if 1 in read:
        output, logarithms = torch.ops.tilewright.attention_with_logarithms(*operands)
        return lying_as(output, query), logarithms, None
    return lying_as(torch.ops.tilewright.attention(*operands), query), None, None


def _backward(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, out: torch.Tensor, logarithms: torch.Tensor,
    of_out: torch.Tensor | None, of_logarithms: torch.Tensor | None, score_mod: GraphModule, joint: GraphModule,
    block_mask: Sequence[Any], scale: float, kernel_options: dict[str, Any], score_buffers: Sequence[Any] = (),
    mask_buffers: Sequence[Any] = (), *, window: Window | None, of_buffers: Sequence[bool] = (),
) -> tuple[Any, ...]:  # fmt: skip
    """The gradients of FlexAttention by queries, keys, values and what the function of scores reads."""
    del kernel_options
    found = score_of(score_mod)
    if found is not None and of_out is not None and of_logarithms is None and not any(of_buffers):
        mask = _added(found, query, key, score_mod, block_mask, score_buffers, mask_buffers, window)
        before, behind, offset = _bounds(window)
        batches = query.shape[0]
        k, v = (one.expand(batches, *one.shape[1:]) for one in (key, value))
        made, *of_keys = gradients_of(
            of_out, query, k, v, out, logarithms, mask, scale=scale, before=before, behind=behind, softcap=found.cap,
            offset=offset,
        )  # fmt: skip
        pairs = zip(of_keys, (key, value), strict=True)
        of_keys = [one.sum(0, keepdim=True) if like.shape[0] < batches else one for one, like in pairs]
        return lying_as(made, query), lying_as(of_keys[0], key), lying_as(of_keys[1], value), (None,) * len(of_buffers)
    wide = torch.promote_types(query.dtype, torch.float32)
    batches, heads, shared = query.shape[0], query.shape[1], query.shape[1] // key.shape[1]
    q, k, v, out = (one.to(wide) for one in (query, key, value, out))
    k, v = (one.expand(batches, *one.shape[1:]).repeat_interleave(shared, 1) for one in (k, v))
    of_out = torch.zeros_like(out) if of_out is None else of_out.to(wide)
    extents = (batches, heads, query.shape[2], key.shape[2])
    places = [torch.arange(0, extent, device=query.device) for extent in extents]
    none = (None,) * len(score_buffers)
    changed_of = _vmap_for_bhqkv(score_mod, prefix=(0,), suffix=none)
    by_score = _vmap_for_bhqkv(joint, prefix=(0,), suffix=(0, *none), out_dims=[0, None, None, None, None, *none])
    visible = everywhere(block_mask[-1], result_of(block_mask[-1]), 0, extents, mask_buffers, query.device)
    scores = q @ k.transpose(-2, -1) * scale
    changed = changed_of(scores, *places, *score_buffers)
    # The logarithm of a row that sees nothing is minus infinity.
    shift = (logarithms * math.log(2)).unsqueeze(-1)
    weights = torch.where(visible & (changed > -math.inf), (changed - shift).exp(), 0.0).to(wide)
    of_weights = of_out @ v.transpose(-2, -1) - (out * of_out).sum(-1, keepdim=True)
    if of_logarithms is not None:
        of_weights = of_weights + of_logarithms.to(wide).unsqueeze(-1) / math.log(2)
    of_scores, _, _, _, _, *by_buffers = by_score(scores, *places, weights * of_weights, *score_buffers)
    of_scores = torch.where(visible, of_scores * scale, 0.0).to(wide)

    def summed(x: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
        x = x.reshape(x.shape[0], like.shape[1], shared, *x.shape[2:]).sum(2)
        x = x.sum(0, keepdim=True) if like.shape[0] < batches else x
        return lying_as(x.to(like.dtype), like)

    made = lying_as((of_scores @ k).to(query.dtype), query)
    by_key, by_value = of_scores.transpose(-2, -1) @ q, weights.transpose(-2, -1) @ of_out
    by_others = tuple(one if is_wanted else None for one, is_wanted in zip(by_buffers, of_buffers))
    return made, summed(by_key, key), summed(by_value, value), by_others
