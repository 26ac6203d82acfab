"""Attention of ONNX Runtime: Attention, QAttention and MultiHeadAttention, with masks and past keys and values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....graph import Value
from ....graph.numbers import number_of
from ....graph.operators.common import Extent
from ...node import Node, contrib
from ..contractions import matmul
from ..parts import part
from .linear import integer_matmul

__all__ = ["attended", "heads_of", "joined", "positions"]


def heads_of(node: Node, x: Value, heads: int) -> Value:
    """Rows of all heads, batch x rows x width, as batch x heads x rows x width of one."""
    width = x.shape[-1]
    if not isinstance(width, int) or width % heads:
        raise node.error(f"expected a width that {heads} heads share evenly, got {width}")
    split = node.reshape(x, [*x.shape[:2], heads, width // heads])
    return node.op_("transpose", split, permutation=[0, 2, 1, 3])


def joined(node: Node, x: Value) -> Value:
    """The opposite of `heads_of`."""
    batch, heads, rows, width = x.shape
    return node.reshape(node.op_("transpose", x, permutation=[0, 2, 1, 3]), [batch, rows, heads * width])


def positions(node: Node, extent: Extent, axis: int, rank: int, start: Extent = 0) -> Value:
    """The numbers from a start on along one of so many dimensions, as int64."""
    shape: list[Extent] = [1] * rank
    shape[axis] = extent
    made = node.op_("iota", shape=shape, axis=axis, to="int64")
    return made if isinstance(start, int) and start == 0 else node.op_("add", made, number_of(node.builder, start))


@dataclass
class _Mask:
    """What is added to the scores."""

    node: Node
    dtype: str
    added: Value | None = None

    def add(self, value: Value) -> None:
        value = self.node.cast(value, self.dtype)
        self.added = value if self.added is None else self.node.op_("add", self.added, value)

    def hide(self, seen: Value) -> None:
        """Adds `mask_filter_value` where a condition is false."""
        node = self.node
        least = float(np.finfo(np.float16).min) if self.dtype == "float16" else -np.inf
        hidden = max(node.attr("mask_filter_value", -10000.0), least)
        self.add(node.op_("where", seen, node.constant(0, self.dtype), node.constant(hidden, self.dtype)))

    def by_lengths(self, lengths: Value, batch: Extent, queries: Extent, keys: Extent) -> None:
        """Hides keys: by the number of keys, its first and last key, or a mask of 0 and 1 in two to four dimensions."""
        node = self.node
        if lengths.rank == 1:
            place = positions(node, keys, 3, 4)
            if str(lengths.shape[0]) == str(batch):
                self.hide(node.op_("less", place, self._column(lengths, batch)))
                return
            if not isinstance(lengths.shape[0], int) or not isinstance(batch, int) or lengths.shape[0] != 2 * batch:
                raise node.error(
                    f"expected a mask with a number or two for each of {batch} batches, got {lengths.shape[0]} numbers"
                )
            ends, starts = (self._column(part(node, lengths, 0, first, batch), batch) for first in (0, batch))
            inside = node.op_("and", node.op_("less", place, ends), node.op_("greater_equal", place, starts))
            self.hide(inside)
            return
        if lengths.rank == 4:  # of the most rows, of which the last queries and the first keys are these
            first = positions(node, queries, 0, 1, keys - queries)  # type: ignore[operator]
            lengths = node.op_("gather", part(node, lengths, 3, 0, keys), first, axis=2)
        else:
            shape = [lengths.shape[0], 1, *([1] if lengths.rank == 2 else []), *lengths.shape[1:]]
            lengths = node.reshape(lengths, shape)
        self.hide(node.op_("not_equal", lengths, node.constant(0, lengths)))

    def _column(self, lengths: Value, batch: Extent) -> Value:
        return self.node.reshape(self.node.cast(lengths, "int64"), [batch, 1, 1, 1])


def attended(
    node: Node, q: Value, k: Value, v: Value, mask: Value | None, scale: float | None = None, **options: Any
) -> Value:  # fmt: skip
    """Attention of heads as one operator of the graph; a scale of 0 is the usual one."""
    width = q.shape[-1]
    if not isinstance(width, int):
        raise node.error(f"expected heads whose width is known, got {width}")
    given = {"before": -1, "behind": -1, "offset": 0, "softcap": 0.0, **options}
    return node.op_("attention", q, k, v, *([] if mask is None else [mask]), scale=scale or width**-0.5, **given)


def _hides_later(node: Node, mask: _Mask, queries: Extent, past: Extent, keys: Extent) -> int:
    """Queries see no later key: how many keys behind its place each sees, or -1, and the mask has it."""
    if not node.attr("unidirectional", 0):
        return -1
    if isinstance(past, int) and past == 0:
        return 0
    place = positions(node, queries, 2, 4, past)
    seen = node.op_("less_equal", positions(node, keys, 3, 4), place)
    # No key that is hidden has a weight, however large the score.
    mask.add(node.op_("where", seen, node.constant(0, mask.dtype), node.constant(-np.inf, mask.dtype)))
    return -1


def _self_attention(node: Node, qkv: Value, mask_position: int, past_position: int, bias_position: int) -> list[Any]:
    """Attention of queries, keys and values that lie one behind the other in the last dimension."""
    heads, width = node.attr("num_heads"), qkv.shape[-1]
    if node.attr("do_rotary", 0) or node.attr("past_present_share_buffer", 0):
        raise node.error("expected attention without do_rotary and past_present_share_buffer, got one")
    if not isinstance(width, int):
        raise node.error(f"expected weights whose width is known, got {width}")
    sizes = node.attr("qkv_hidden_sizes") or [width // 3] * 3
    starts = [0, sizes[0], sizes[0] + sizes[1]]
    q, k, v = (heads_of(node, part(node, qkv, 2, start, size), heads) for start, size in zip(starts, sizes))
    past: Extent = 0
    if node.has(past_position):
        both = node.tensor(past_position)
        past = both.shape[3]
        before = [node.reshape(part(node, both, 0, i, 1), both.shape[1:]) for i in range(2)]
        k, v = (node.op_("concat", one, new, axis=2) for one, new in zip(before, (k, v)))
    batch, _, queries, _ = q.shape
    mask, keys = _Mask(node, q.dtype), k.shape[2]
    if node.has(mask_position):
        mask.by_lengths(node.tensor(mask_position), batch, queries, keys)
    if bias_position and node.has(bias_position):
        mask.add(node.tensor(bias_position))
    behind = _hides_later(node, mask, queries, past, keys)
    y = joined(node, attended(node, q, k, v, mask.added, node.attr("scale"), behind=behind))
    if not node.has_output(1):
        return [y]
    return [y, node.op_("concat", *(node.reshape(one, [1, *one.shape]) for one in (k, v)), axis=0)]


@contrib("Attention")
def _attention(node: Node) -> list[Any]:
    qkv = matmul(node, node.tensor(0), node.tensor(1))
    if node.has(2):
        qkv = node.op_("add", qkv, node.tensor(2))
    return _self_attention(node, qkv, mask_position=3, past_position=4, bias_position=5)


@contrib("QAttention")
def _quantized_attention(node: Node) -> list[Any]:
    qkv = integer_matmul(node, (0, 3, 6), (1, 4, 7), bias=2)
    return _self_attention(node, qkv, mask_position=5, past_position=8, bias_position=0)


def _unpacked(node: Node, x: Value, count: int) -> list[Value]:
    """Batch x rows x heads x count x width as so many of batch x heads x rows x width."""
    moved = node.op_("transpose", x, permutation=[3, 0, 2, 1, 4])
    return [node.reshape(part(node, moved, 0, i, 1), moved.shape[1:]) for i in range(count)]


def _biased(node: Node, x: Value, start: Extent, size: Extent) -> Value:
    """A projection with its part of the bias, which all three have together."""
    return node.op_("add", x, part(node, node.tensor(3), 0, start, size)) if node.has(3) else x


@contrib("MultiHeadAttention")
def _multi_head_attention(node: Node) -> list[Any]:
    heads, query = node.attr("num_heads"), node.tensor(0)
    if node.has(9) or node.has(8) or node.has_output(3):
        raise node.error("expected attention without past_sequence_length, cache_indirection and an output qk")
    if query.rank == 5:
        q, k, v = _unpacked(node, query, 3)
        if node.has(3):
            width = heads * query.shape[-1]
            q, k, v = (
                node.op_("add", one, node.reshape(part(node, node.tensor(3), 0, i * width, width),
                                                  [1, heads, 1, query.shape[-1]]))
                for i, one in enumerate((q, k, v))
            )  # fmt: skip
    else:
        width = query.shape[-1]
        q = heads_of(node, _biased(node, query, 0, width), heads)
        key = node.tensor(1)
        if key.rank == 5:
            k, v = _unpacked(node, key, 2)
        elif key.rank == 4:
            k, v = key, node.tensor(2)
        else:
            value = node.tensor(2)
            k = heads_of(node, _biased(node, key, width, width), heads)
            v = heads_of(node, _biased(node, value, 2 * width, value.shape[-1]), heads)  # type: ignore[operator]
    past: Extent = 0
    if node.has(6):
        past = node.tensor(6).shape[2]
        k, v = (node.op_("concat", node.tensor(i), one, axis=2) for i, one in ((6, k), (7, v)))
    batch, _, queries, _ = q.shape
    mask, keys = _Mask(node, q.dtype), k.shape[2]
    if node.has(4):
        mask.by_lengths(node.tensor(4), batch, queries, keys)
    if node.has(5):
        mask.add(node.tensor(5))
    behind = _hides_later(node, mask, queries, past, keys)
    y = joined(node, attended(node, q, k, v, mask.added, node.attr("scale"), behind=behind))
    return [y, *([k, v] if node.has_output(1) or node.has_output(2) else [])]
