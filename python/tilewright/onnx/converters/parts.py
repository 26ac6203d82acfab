"""Parts of tensors. Which one Slice takes where an extent, or the part's start or end, is symbolic."""

from __future__ import annotations

from typing import Any

from ... import te
from ...graph import Value
from ...graph.operators.extents import Extent, difference, normal
from ...te import Expr, Var
from ...te.intervals import Intervals
from ..node import Node

__all__ = ["as_last", "of_last", "part", "part_of", "quotient"]

_FAR = 2**31 - 1  # what models write for an end that is as far as there are elements


def part(node: Node, x: Value, axis: int, start: Extent, size: Extent) -> Value:
    """Some elements along an axis."""
    starts, sizes = [0] * x.rank, list(x.shape)
    starts[axis], sizes[axis] = start, size  # type: ignore[call-overload]
    return node.op_("slice", x, starts=starts, steps=[1] * x.rank, sizes=sizes)


def of_last(node: Node, x: Value, number: int) -> Value:
    """The elements with a number in the last dimension, which is left out."""
    return node.reshape(part(node, x, x.rank - 1, number, 1), x.shape[:-1])


def as_last(node: Node, *parts: Value) -> Value:
    """Tensors as the elements of one more dimension, the last one."""
    return node.op_("concat", *(node.reshape(one, [*one.shape, 1]) for one in parts), axis=parts[0].rank)


def part_of(node: Node, axis: int, extent: Extent, start: Any, end: Any, step: int) -> tuple[Extent, Extent]:
    """The first place of a part and how many elements it has, as NumPy has them.

    A symbolic start or end counts from the beginning, and so does an extent less a number. Of an extent
    that is a symbol, calls with fewer elements than the ends leave out are refused. So are those without the only
    element that is taken. Where an end is a symbol and the extent a number, larger values of the symbol are refused.
    """
    if step < 0:
        if not _is_whole_reversed(extent, start, end):
            raise node.error(f"dimension {axis} of extent {extent}: expected all of it in steps of {step}")
        return extent - 1, quotient(extent, -step)
    first = _first(node, axis, extent, start)
    is_one = isinstance(first, int) and isinstance(end, int) and end == first + 1
    if is_one and _require(node, extent, end):
        return first, 1
    behind = _behind(node, axis, extent, end)
    count, left_out = difference(behind, first), difference(extent, behind)
    if count is not None:
        return first, quotient(max(count, 0), step)
    size: Any = behind if isinstance(first, int) and first == 0 else behind - first
    if isinstance(first, int) and left_out is not None:
        if first + left_out and not _require(node, extent, first + left_out):
            size = _not_negative(node, size)
    elif not (isinstance(first, int) and first == 0):
        size = _not_negative(node, size)
    return first, quotient(size, step)


def _not_negative(node: Node, size: Any) -> Extent:
    """A number of elements, 0 where it would be negative: that it is not is known where a tensor has it."""
    size = normal(size)
    return size if isinstance(size, int) or node.builder.is_extent(size) else te.max(size, 0)


def _require(node: Node, extent: Extent, least: int) -> bool:
    """Whether an extent is a symbol, which has at least so many elements from here on."""
    if not isinstance(extent, Var) or extent.name in node.builder.counts:
        return False
    node.builder.require(extent, least=least)
    return True


def quotient(count: Any, step: int) -> Extent:
    """How many steps it takes to a number or an extent."""
    return count if step == 1 else (count + (step - 1)) // step


def _is_whole_reversed(extent: Extent, start: Any, end: Any) -> bool:
    begins = isinstance(start, int) and (start == -1 or start >= _FAR) or difference(extent, start) == 1
    return begins and isinstance(end, int) and end <= -_FAR


def _first(node: Node, axis: int, extent: Extent, start: Any) -> Extent:
    from_end = -start if isinstance(start, int) and start < 0 else difference(extent, start)
    if isinstance(start, int) and start >= 0:
        return start
    if from_end is not None and from_end > 0:
        if isinstance(extent, int):
            return max(extent - from_end, 0)
        return extent - from_end if _require(node, extent, from_end) else te.max(extent - from_end, 0)
    return _counted(node, axis, extent, start, "start")


def _behind(node: Node, axis: int, extent: Extent, end: Any) -> Extent:
    if isinstance(end, int) and end >= _FAR:
        return extent
    before = -end if isinstance(end, int) and end < 0 else difference(extent, end)
    if before is not None:
        return extent - before if before > 0 else extent
    if isinstance(end, Expr):
        _counted(node, axis, extent, end, "end")
    if isinstance(end, Var) and isinstance(extent, int) and end.name not in node.builder.counts:
        node.builder.require(end, most=extent)
        return end
    return te.min(end, extent)


def _counted(node: Node, axis: int, extent: Extent, value: Any, what: str) -> Expr:
    if Intervals().of(value)[0] < 0:
        raise node.error(f"dimension {axis} of extent {extent}: expected a {what} that is not negative, got {value}")
    return value
