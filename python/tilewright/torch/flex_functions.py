"""The functions of FlexAttention, as modules of FX: what they make of a score, and the window that a mask is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
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
        elif target in (_aten.mul.Tensor, _aten.clone.default) and _cap(node, score) is not None:
            found.cap = _cap(node, score)
            return found
        else:
            return None
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


def _needed(wanted: Sequence[Node], inputs_of: Callable[[Node], Sequence[Node]]) -> set[Node]:
    """The nodes that some are computed of, and these."""
    found: set[Node] = set()
    waiting = list(wanted)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += inputs_of(node)
    return found


def _computed(module: GraphModule, wanted: Sequence[Node], skipped: int) -> Callable[..., list[torch.Tensor]]:
    """A function that computes some nodes of a module, of its inputs but for the first `skipped`."""
    needed = _needed(wanted, lambda node: node.all_input_nodes)

    def call(*given: Any) -> list[torch.Tensor]:
        env: dict[Node, Any] = dict(zip(_inputs(module)[skipped:], given, strict=True))
        for node in module.graph.nodes:
            if node not in needed or node in env:
                continue
            if node.op == "get_attr":
                env[node] = getattr(module, str(node.target))
            else:
                args: Any = map_arg(node.args, env.__getitem__)
                kwargs: dict[str, Any] = {name: map_arg(one, env.__getitem__) for name, one in node.kwargs.items()}
                if "device" in kwargs:
                    kwargs["device"] = given[0].device
                env[node] = node.target(*args, **kwargs)
        return [env[one] for one in wanted]

    return call


def _places(module: GraphModule, wanted: Sequence[Node], skipped: int, extents: Sequence[Any]) -> list[Any]:
    """The extents along which some nodes of a module differ; 1 where they do not read that index."""
    inputs = _inputs(module)[skipped : skipped + _INDICES]
    read = _needed(wanted, lambda node: () if node.target in _FILLED else node.all_input_nodes)
    return [extent if one in read else 1 for one, extent in zip(inputs, extents)]


def everywhere(
    module: GraphModule, wanted: Node, skipped: int, extents: Sequence[Any], buffers: Sequence[Any], device: Any,
    first_row: int = 0,
) -> torch.Tensor:  # fmt: skip
    """A node of a module for each batch, head, query and key, without the dimensions that it does not differ along."""
    function = _vmap_for_bhqkv(
        lambda *given: _computed(module, [wanted], skipped)(*given)[0], prefix=(), suffix=(None,) * len(buffers)
    )
    places = [torch.arange(0, extent, device=device) for extent in _places(module, [wanted], skipped, extents)]
    places[2] = places[2] + first_row
    return function(*places, *buffers)


@dataclass(frozen=True)
class Window:
    """The keys from i + offset - before to i + offset + behind, for query i; None is for all on that side."""

    before: int | None
    behind: int | None
    offset: int


def window_of(module: GraphModule, wanted: Node, extents: Sequence[Any]) -> Window | None:
    """The window that a mask is, as evaluated for all queries and keys; None where it is none."""
    places = _places(module, [wanted], 0, extents)
    if any(not isinstance(one, int) for one in extents) or places[:2] != [1, 1]:
        return None
    queries, keys = extents[2:]
    if not 0 < queries * keys <= _MOST_EVALUATED:
        return None
    lows: set[int] = set()
    highs: set[int] = set()
    rows: list[tuple[int, int, int]] = []
    with unset_fake_temporarily():
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
            of_rows: Any = (begin.tolist(), end.tolist(), number.tolist())  # pyright: ignore[reportUnknownMemberType]
            rows += zip(*of_rows)
    for i, (begin, end, number) in enumerate(rows):
        if number and begin > 0:
            lows.add(begin - i)
        if number and end < keys - 1:
            highs.add(end - i)
    if len(lows) > 1 or len(highs) > 1:
        return None
    low, high = (next(iter(some), None) for some in (lows, highs))
    for i, (begin, end, number) in enumerate(rows):
        least = 0 if low is None else max(0, i + low)
        most = keys - 1 if high is None else min(keys - 1, i + high)
        if number != max(0, most - least + 1) or (number and (begin, end) != (least, most)):
            return None
    offset = high if high is not None else low or 0
    return Window(None if low is None else offset - low, None if high is None else 0, offset)
