"""What `Stage.set_store_predicate` takes: that a thread is the first of its index."""

from __future__ import annotations

from ..errors import TilewrightValueError as ValueError
from ..source import Source
from ..te.expr import Call, Const, Expr, IterVar

__all__ = ["first_threads"]


def first_threads(predicate: object, source: Source) -> list[str]:
    """The thread indices that `predicate` says to be 0: an equality, or several by te.all."""
    if isinstance(predicate, Call) and predicate.op == "and":
        return [thread for arg in predicate.args for thread in first_threads(arg, source)]
    if isinstance(predicate, Call) and predicate.op == "eq":
        thread, number = predicate.args
        if isinstance(thread, Const):
            thread, number = number, thread
        if isinstance(thread, IterVar) and thread.kind == "thread" and isinstance(number, Const) and number.value == 0:
            return [thread.tag]
    text = str(predicate) if isinstance(predicate, Expr) else repr(predicate)
    raise ValueError(
        f"{source}: set_store_predicate: expected a thread index that is 0, such as "
        f'te.thread_axis("threadIdx.x").equal(0), got {text}: any other would leave elements out'
    )
