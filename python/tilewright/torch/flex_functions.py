"""The functions of FlexAttention, as modules of FX: what they make of a score, and the window that a mask is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg
from torch.nn.attention.flex_attention import _vmap_for_bhqkv  # pyright: ignore[reportPrivateUsage]

__all__ = ["Score", "Window", "everywhere", "result_of", "score_of", "window_of"]

_aten = torch.ops.aten
# They read of their input the shape and the type alone.
_FILLED = (
    _aten.new_ones.default, _aten.new_zeros.default, _aten.new_full.default, _aten.ones_like.default,
    _aten.zeros_like.default, _aten.full_like.default,
)  # fmt: skip
_INDICES = 4  # the numbers of the batch, the head, the query and the key
_MOST_EVALUATED = 1 << 28
"""A mask of so many elements is evaluated when the model is compiled at most."""
_ROWS_AT_ONCE = 1 << 22
"""So many of its elements are evaluated at once."""


@dataclass
class Score:
    """What a function makes of a score: attention has a soft cap, then what is added, then what is masked away."""

    cap: float | None
    added: list[tuple[Node, int]]
    kept: list[Node]


def _inputs(module: GraphModule) -> list[Node]:
    return [one for one in module.graph.nodes if one.op == "placeholder"]


def result_of(module: GraphModule) -> Any:
    *_, last = module.graph.nodes
    return last.args[0]


def score_of(module: GraphModule) -> Score | None:
    """What a module computes of its first input, where that is what attention has; else None."""
    score = _inputs(module)[0]
    depending: set[Node] = {score}
    for one in module.graph.nodes:
        if any(each in depending for each in one.all_input_nodes):
            depending.add(one)
    found = Score(None, [], [])
    node: Any = result_of(module)
    while node is not score:
        if not isinstance(node, Node) or node not in depending:
            return None
        target: Any = node.target
        args: Any = node.args
        ours = [number for number, one in enumerate(args) if isinstance(one, Node) and one in depending]
        if len(ours) != 1 or node.kwargs:
            return None
        (place,) = ours
        if target in (_aten.add.Tensor, _aten.sub.Tensor) and isinstance(args[1 - place], Node):
            if target is _aten.sub.Tensor and place == 1:
                return None
            found.added.append((args[1 - place], 1 if target is _aten.add.Tensor else -1))
        elif target is _aten.where.self and place == 1 and _number(args[2]) == -math.inf:
            found.kept.append(args[0])
        else:
            found.cap = _cap(node, score)
            return None if found.cap is None else found
        node = args[place]
    return found


def _cap(node: Node, score: Node) -> float | None:
    """c, where a node is c * tanh(score / c)."""
    pair = [one for one in node.args if isinstance(one, Node)]
    factors = [_number(one) for one in node.args if not isinstance(one, Node) or _number(one) is not None]
    tanh = next((one for one in pair if one.target is _aten.tanh.default), None)
    if node.target is not _aten.mul.Tensor or tanh is None or len(factors) != 1 or factors[0] is None:
        return None
    inner: Any = tanh.args[0]
    if not isinstance(inner, Node) or score not in inner.args or len(inner.args) != 2:
        return None
    number = _number(inner.args[1 - inner.args.index(score)])
    is_quotient = inner.target is _aten.div.Tensor and inner.args[0] is score and number == factors[0]
    is_product = inner.target is _aten.mul.Tensor and number is not None and number * factors[0] == 1
    return factors[0] if is_quotient or is_product else None


def _number(one: Any) -> float | None:
    """A number, also as a constant of a module."""
    if isinstance(one, (int, float)) and not isinstance(one, bool):
        return float(one)
    if not isinstance(one, Node):
        return None
    if one.op == "get_attr":
        value: Any = getattr(one.graph.owning_module, str(one.target), None)
        if isinstance(value, torch.Tensor) and value.numel() == 1:
            with unset_fake_temporarily():
                return float(value)
    if one.target in (_aten.scalar_tensor.default, _aten.lift_fresh_copy.default, _aten._to_copy.default):
        return _number(one.args[0])
    if one.target is _aten.full.default and list(one.args[0]) == []:  # type: ignore[arg-type]
        return _number(one.args[1])
    return None


def _needed(wanted: Node, *, by_value: bool = False) -> set[Node]:
    """The nodes that one is computed of, and it; `by_value` those whose elements it depends on."""
    found: set[Node] = set()
    waiting = [wanted]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += () if by_value and node.target in _FILLED else node.all_input_nodes
    return found


def _places(module: GraphModule, wanted: Node, skipped: int, extents: Sequence[Any]) -> list[Any]:
    """The extents along which a node of a module differs; 1 where it does not read that index."""
    inputs = _inputs(module)[skipped : skipped + _INDICES]
    read = _needed(wanted, by_value=True)
    return [extent if one in read else 1 for one, extent in zip(inputs, extents)]


def everywhere(
    module: GraphModule, wanted: Node, skipped: int, extents: Sequence[Any], buffers: Sequence[Any], device: Any,
    first_row: int = 0,
) -> torch.Tensor:  # fmt: skip
    """A node of a module for each batch, head, query and key, without the dimensions that it does not differ along.

    It reads the inputs of the module behind the first `skipped`: these indices and `buffers`.
    """
    inputs, needed = _inputs(module)[skipped:], _needed(wanted)
    computed = [one for one in module.graph.nodes if one in needed and one not in inputs]

    def at_place(*given: Any) -> torch.Tensor:
        env: dict[Node, Any] = dict(zip(inputs, given, strict=True))
        for node in computed:
            if node.op == "get_attr":
                constant = getattr(module, str(node.target))
                env[node] = constant.to(device) if isinstance(constant, torch.Tensor) else constant
                continue
            args: Any = map_arg(node.args, env.__getitem__)
            kwargs: dict[str, Any] = {name: map_arg(one, env.__getitem__) for name, one in node.kwargs.items()}
            if "device" in kwargs:
                kwargs["device"] = device
            env[node] = node.target(*args, **kwargs)
        return env[wanted]

    places = [torch.arange(0, extent, device=device) for extent in _places(module, wanted, skipped, extents)]
    places[2] = places[2] + first_row
    return _vmap_for_bhqkv(at_place, prefix=(), suffix=(None,) * len(buffers))(*places, *buffers)


@dataclass(frozen=True)
class Window:
    """The keys from i + offset - before to i + offset + behind, for query i; None is for all on that side."""

    before: int | None
    behind: int | None
    offset: int


def window_of(module: GraphModule, wanted: Node, extents: Sequence[Any]) -> Window | None:
    """The window that a mask is, as evaluated for all queries and keys; None where it is none."""
    places = _places(module, wanted, 0, extents)
    if any(not isinstance(one, int) for one in extents) or places[:2] != [1, 1]:
        return None
    queries, keys = extents[2:]
    if not 0 < queries * keys <= _MOST_EVALUATED:
        return None
    with unset_fake_temporarily():
        rows: list[torch.Tensor] = []
        step = max(1, _ROWS_AT_ONCE // keys)
        for first in range(0, queries, step):
            count = min(step, queries - first)
            part = everywhere(module, wanted, 0, [1, 1, count, keys], (), "cpu", first)
            seen = part.expand(1, 1, count, keys)[0, 0]
            number = seen.sum(1)
            begin = seen.to(torch.int8).argmax(1)
            end = keys - 1 - seen.flip(1).to(torch.int8).argmax(1)
            if bool(((end - begin + 1 != number) & (number > 0)).any()):
                return None
            rows.append(torch.stack([begin, end, number]))
        begin, end, number = torch.cat(rows, 1).unbind()
        return _window_of_rows(begin, end, number, keys)


def _window_of_rows(begin: torch.Tensor, end: torch.Tensor, number: torch.Tensor, keys: int) -> Window | None:
    """The window whose rows have their first and last key there, and so many keys."""
    i, has_keys = torch.arange(len(number)), number > 0
    unique: Any = torch.unique  # pyright: ignore[reportUnknownVariableType]
    lows = [int(one) for one in unique((begin - i)[has_keys & (begin > 0)])]
    highs = [int(one) for one in unique((end - i)[has_keys & (end < keys - 1)])]
    if max(len(lows), len(highs)) > 1:
        return None
    low, high = (min(some, default=None) for some in (lows, highs))
    least = torch.zeros_like(i) if low is None else (i + low).clamp(min=0)
    most = torch.full_like(i, keys - 1) if high is None else (i + high).clamp(max=keys - 1)
    is_of_window = (number == (most - least + 1).clamp(min=0)) & (~has_keys | (begin == least) & (end == most))
    if not bool(is_of_window.all()):
        return None
    offset = high if high is not None else low or 0
    return Window(None if low is None else offset - low, None if high is None else 0, offset)
