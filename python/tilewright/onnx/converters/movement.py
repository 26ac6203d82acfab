"""Operators that move elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...graph import Value
from ...graph.operators.extents import normal
from ...graph.operators.extents import quotient as divided
from ..node import Node, converter
from .parts import part_of, quotient


def _product(extents: Sequence[Any]) -> Any:
    total: Any = 1
    for extent in extents:
        total = extent if isinstance(total, int) and total == 1 else total * extent
    return total


@converter("Reshape")
def _reshape(node: Node) -> Value:
    x = node.tensor(0)
    wanted = node.integers(1, "shape")
    if not node.attr("allowzero", 0):
        wanted = [x.shape[d] if isinstance(one, int) and one == 0 else one for d, one in enumerate(wanted)]
    unknown = [d for d, one in enumerate(wanted) if isinstance(one, int) and one == -1]
    if len(unknown) > 1:
        raise node.error(f"expected one extent of -1 at most, got {wanted}")
    if unknown:
        d = unknown[0]
        above, below = _product(x.shape), _product([*wanted[:d], *wanted[d + 1 :]])
        wanted[d] = 0 if isinstance(below, int) and not below else divided(above, below)
    return node.reshape(x, wanted)


@converter("Flatten")
def _flatten(node: Node) -> Value:
    x = node.tensor(0)
    axis = node.attr("axis", 1)
    axis = axis + x.rank if axis < 0 else axis
    return node.reshape(x, [_product(x.shape[:axis]), _product(x.shape[axis:])])


@converter("Squeeze")
def _squeeze(node: Node) -> Value:
    x = node.tensor(0)
    axes = node.integers(1, "axes")
    if axes is None:
        axes = [d for d, extent in enumerate(x.shape) if isinstance(extent, int) and extent == 1]
    axes = node.axes(axes, x.rank)
    return node.reshape(x, [extent for d, extent in enumerate(x.shape) if d not in axes])


@converter("Unsqueeze")
def _unsqueeze(node: Node) -> Value:
    x = node.tensor(0)
    axes = node.integers(1, "axes")
    rank = x.rank + len(axes)
    axes = node.axes(axes, rank)
    extents = iter(x.shape)
    return node.reshape(x, [1 if d in axes else next(extents) for d in range(rank)])


@converter("Transpose")
def _transpose(node: Node) -> Value:
    x = node.tensor(0)
    return node.op_("transpose", x, permutation=list(node.attr("perm", range(x.rank)[::-1])))


@converter("Concat")
def _concat(node: Node) -> Value:
    inputs = node.tensors()
    return node.op_("concat", *inputs, axis=node.axis(node.attr("axis", 1), inputs[0].rank))


@converter("Expand")
def _expand(node: Node) -> Value:
    return node.op_("expand", node.tensor(0), shape=node.integers(1))


@converter("Tile")
def _tile(node: Node) -> Value:
    x, repeats = node.tensor(0), node.integers(1)
    if all(isinstance(one, int) for one in repeats):
        return node.op_("tile", x, repeats=repeats)
    wide = [one for pair in zip(repeats, x.shape) for one in pair]
    apart = node.reshape(x, [one for extent in x.shape for one in (1, extent)])
    return node.reshape(node.op_("expand", apart, shape=wide), [normal(a * b) for a, b in zip(repeats, x.shape)])


def sliced(node: Node, x: Value, bounds: dict[int, tuple[Any, Any, int]]) -> Value:
    """`x` from a start to an end in steps along some axes, as NumPy has it."""
    starts: list[Any] = [0] * x.rank
    steps, sizes = [1] * x.rank, list(x.shape)
    for axis, (start, end, step) in bounds.items():
        extent = x.shape[axis]
        if not isinstance(extent, int) or not isinstance(start, int) or not isinstance(end, int):
            starts[axis], sizes[axis] = part_of(node, axis, extent, start, end, int(step))
            steps[axis] = int(step)
            continue
        first, last, each = slice(int(start), int(end), int(step)).indices(extent)
        if step < 0 and end < -extent:
            last = -1
        starts[axis], steps[axis] = first, each
        sizes[axis] = len(range(first, last, each))
        if sizes[axis] == 0:
            starts[axis] = 0
    return node.op_("slice", x, starts=starts, steps=steps, sizes=sizes)


@converter("Slice")
def _slice(node: Node) -> Value:
    x = node.tensor(0)
    if node.version < 10:
        starts, ends = node.attr("starts"), node.attr("ends")
        axes, steps = node.attr("axes"), None
    else:
        starts, ends = node.integers(1), node.integers(2)
        axes, steps = node.integers(3), node.integers(4)
    axes = list(range(len(starts))) if axes is None else [node.axis(axis, x.rank) for axis in axes]
    steps = steps or [1] * len(starts)
    return sliced(node, x, {axis: bound for axis, *bound in zip(axes, starts, ends, steps)})  # type: ignore[misc]


@converter("Split")
def _split(node: Node) -> list[Value]:
    x = node.tensor(0)
    axis = node.axis(node.attr("axis", 0), x.rank)
    sizes = node.integers(1, "split") if node.has(1) or "split" in node.attributes else None
    extent = x.shape[axis]
    if sizes is None:
        count = node.attr("num_outputs", len(node.proto.output))
        if not isinstance(extent, int):
            part: Any = quotient(extent, count)
            ends = [part * (i + 1) for i in range(count - 1)] + [extent]
            return [sliced(node, x, {axis: (begin, end, 1)}) for begin, end in zip([0, *ends], ends)]
        each = math.ceil(extent / count)
        sizes = [max(min(each, extent - i * each), 0) for i in range(count)]
    results, begin = list[Value](), 0
    for size in sizes:
        results.append(sliced(node, x, {axis: (begin, begin + size, 1)}))
        begin += size
    return results


@converter("Pad")
def _pad(node: Node) -> Value:
    x = node.tensor(0)
    amounts = node.integers(1, "pads")
    if amounts is None:
        amounts = node.attr("paddings")
    value = node.tensor(2) if node.has(2) else node.constant(node.attr("value", 0), x)
    axes = [node.axis(a, x.rank) for a in node.integers(3)] if node.has(3) else list(range(x.rank))
    before, after = [0] * x.rank, [0] * x.rank
    for i, axis in enumerate(axes):
        before[axis], after[axis] = amounts[i], amounts[i + len(axes)]
    mode = node.attr("mode", "constant")
    return node.op_("pad", x, node.reshape(value, []), before=before, after=after, mode=mode)


@converter("DepthToSpace")
def _depth_to_space(node: Node) -> Value:
    x = node.tensor(0)
    n, c, h, w = x.shape
    b = node.attr("blocksize")
    if node.attr("mode", "DCR") == "DCR":
        parts = node.op_("transpose", node.reshape(x, [n, b, b, c // (b * b), h, w]), permutation=[0, 3, 4, 1, 5, 2])
    else:
        parts = node.op_("transpose", node.reshape(x, [n, c // (b * b), b, b, h, w]), permutation=[0, 1, 4, 2, 5, 3])
    return node.reshape(parts, [n, c // (b * b), h * b, w * b])


@converter("SpaceToDepth")
def _space_to_depth(node: Node) -> Value:
    x = node.tensor(0)
    n, c, h, w = x.shape
    b = node.attr("blocksize")
    parts = node.reshape(x, [n, c, h // b, b, w // b, b])
    if node.attr("mode", "DCR") == "DCR":
        parts = node.op_("transpose", parts, permutation=[0, 3, 5, 1, 2, 4])
    else:
        parts = node.op_("transpose", parts, permutation=[0, 1, 3, 5, 2, 4])
    return node.reshape(parts, [n, c * b * b, h // b, w // b])
