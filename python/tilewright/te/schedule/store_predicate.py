"""What `Stage.set_store_predicate` takes: which threads of an index are to store."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...errors import TilewrightValueError as ValueError
from ...messages.location import Source
from ..arithmetic import whole
from ..expr import Call, Const, Expr, IterVar
from ..linear import linear_of
from .bounds import whole_extent
from .relations import Split

if TYPE_CHECKING:
    from .stage import Stage

__all__ = ["storing_threads"]

Range = tuple[int, int | None]

_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq"}


def storing_threads(predicate: object, stage: Stage, source: Source) -> dict[str, Range]:
    """Of each thread index that `predicate` names, the first thread that it lets store and the one after the last."""
    found: dict[str, Range] = {}
    for thread, (low, high) in _ranges(predicate, stage, source):
        first, end = found.get(thread, (0, None))
        ends = [one for one in (high, end) if one is not None]
        found[thread] = (max(first, low), min(ends) if ends else None)
    for thread, (first, end) in found.items():
        if end is not None and end <= first:
            raise ValueError(
                f"{source}: set_store_predicate: expected threads that there are, got none of {thread} for which "
                f"{predicate}: nothing would be stored"
            )
    return found


def _ranges(predicate: object, stage: Stage, source: Source) -> list[tuple[str, Range]]:
    """The ranges that a comparison gives, or several by te.all."""
    if isinstance(predicate, Call) and predicate.op == "and":
        return [one for arg in predicate.args for one in _ranges(arg, stage, source)]
    if isinstance(predicate, Call) and predicate.op in _MIRRORED:
        thread, number, op = *predicate.args, predicate.op
        if isinstance(thread, Const):
            thread, number, op = number, thread, _MIRRORED[op]
        if isinstance(thread, IterVar) and thread.kind == "thread" and isinstance(number, Const):
            value = int(number.value)
            ranges = {
                "eq": (value, value + 1),
                "lt": (0, value),
                "le": (0, value + 1),
                "gt": (value + 1, None),
                "ge": (value, None),
            }
            return [(thread.tag, ranges[op])]
    if isinstance(predicate, Call) and predicate.op == "lt" and _is_end(predicate, stage):
        return []
    text = str(predicate) if isinstance(predicate, Expr) else repr(predicate)
    raise ValueError(
        f"{source}: set_store_predicate: expected comparisons of thread indices with numbers, such as "
        f'te.thread_axis("threadIdx.x").equal(0), got {text}'
    )


def _is_end(comparison: Call, stage: Stage) -> bool:
    """Whether it says what the loops say anyway: the index of an axis, as block and thread indices make it, is less
    than its extent.
    """
    index, end = linear_of(comparison.args[0]), whole(comparison.args[1])
    if index is None or stage.attach_stage is not None:
        return False
    asked = Counter[str]()
    for axis, factor in index.terms.values():
        asked[axis.tag] += factor
    if index.constant or not all(tag.startswith(("blockIdx.", "threadIdx.")) for tag in asked):
        return False
    extents = [whole_extent(axis, stage) for axis, made in _indices(stage).items() if made == asked]
    return any(_is_at_most(extent, end) for extent in extents)


def _is_at_most(extent: object, end: object) -> bool:
    if isinstance(extent, int) and isinstance(end, int):
        return extent <= end
    return isinstance(extent, Expr) and isinstance(end, Expr) and str(extent) == str(end)


def _indices(stage: Stage) -> dict[IterVar, Counter[str]]:
    """Of axes whose loops are all bound, how often each block or thread index counts in their index."""
    attrs = stage.iter_var_attrs
    threads = {axis: attrs[axis].bind_thread for axis in stage.leaf_iter_vars if axis in attrs}
    found = {axis: Counter({thread.tag: 1}) for axis, thread in threads.items() if thread is not None}
    for one in reversed(stage.relations):
        if isinstance(one, Split) and one.outer in found and one.inner in found:
            step = whole_extent(one.inner, stage)
            if isinstance(step, int):
                found[one.parent] = Counter({tag: count * step for tag, count in found[one.outer].items()})
                found[one.parent] += found[one.inner]
    return found
