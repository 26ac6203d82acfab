"""What `Stage.set_store_predicate` takes: which threads of an index are to store."""

from __future__ import annotations

from ...errors import TilewrightValueError as ValueError
from ...messages.location import Source
from ..expr import Call, Const, Expr, IterVar

__all__ = ["storing_threads"]

Range = tuple[int, int | None]

_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq"}


def storing_threads(predicate: object, source: Source) -> dict[str, Range]:
    """Of each thread index that `predicate` names, the first thread that it lets store and the one after the last."""
    found: dict[str, Range] = {}
    for thread, (low, high) in _ranges(predicate, source):
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


def _ranges(predicate: object, source: Source) -> list[tuple[str, Range]]:
    """The ranges that a comparison gives, or several by te.all."""
    if isinstance(predicate, Call) and predicate.op == "and":
        return [one for arg in predicate.args for one in _ranges(arg, source)]
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
    text = str(predicate) if isinstance(predicate, Expr) else repr(predicate)
    raise ValueError(
        f"{source}: set_store_predicate: expected comparisons of thread indices with numbers, such as "
        f'te.thread_axis("threadIdx.x").equal(0), got {text}'
    )
