"""Running sums of rows that a block holds in shared memory."""

from __future__ import annotations

from math import prod
from typing import Any

from ..te import Expr, Tensor, compute, if_then_else, indexdiv, indexmod, reduce_axis, sum, thread_axis
from ..te import all as all_of
from ..te.schedule import Schedule, create_schedule

__all__ = ["LONGEST", "running_sums_of_rows"]

# Elements of a thread, and threads whose sums are added up before those of others are.
_OF_THREAD, _OF_GROUP = 16, 16
LONGEST = 4096
"""The longest row that it takes."""


def running_sums_of_rows(
    X: Tensor, acc: str, dtype: str, *, exclusive: bool = False, reverse: bool = False
) -> tuple[Schedule, list[Tensor]]:
    """The sums of the elements up to each along the last axis, of rows of up to `LONGEST` elements.

    A thread adds up 16 neighbours of a row, and what groups of 16 threads before it have, and the threads of its group.
    Then it runs through its neighbours again. Rows come from memory and go there once, neighbours by neighbouring
    threads.

    >>> import tilewright as tw
    >>> from tilewright import te
    >>> X = te.placeholder((64, 615), "float16", name="X")
    >>> func = tw.build(*running_sums_of_rows(X, "float32", "float16"), target="cuda -arch=sm_90a", name="cumsum")
    >>> len(func.launch_config().launches)
    1
    """
    *some, extent = X.shape
    assert isinstance(extent, int) and extent <= LONGEST
    groups = -(-extent // (_OF_THREAD * _OF_GROUP))
    threads = groups * _OF_GROUP

    def staged(*at: Any) -> Expr:
        *row, t, c = at
        place = t * _OF_THREAD + c
        value = X(*row, extent - 1 - place if reverse else place).astype(acc)
        return value if threads * _OF_THREAD == extent else if_then_else(all_of(place < extent), value, 0)

    Xs = compute((*some, threads, _OF_THREAD), staged, name="rows")
    c, u, g = reduce_axis((0, _OF_THREAD), "c"), reduce_axis((0, _OF_GROUP), "u"), reduce_axis((0, groups), "g")
    v = reduce_axis((0, _OF_GROUP), "v")
    totals = compute((*some, threads), lambda *at: sum(Xs(*at, c), axis=c), name="totals")
    of_group = compute(
        (*some, groups), lambda *at: sum(totals(*at[:-1], at[-1] * _OF_GROUP + u), axis=u), name="of_group"
    )
    before = compute(
        (*some, threads),
        lambda *at: sum(if_then_else(g < indexdiv(at[-1], _OF_GROUP), of_group(*at[:-1], g), 0), axis=g),
        name="before",
    )
    near = compute(
        (*some, threads),
        lambda *at: sum(
            if_then_else(
                v < indexmod(at[-1], _OF_GROUP),
                totals(*at[:-1], indexdiv(at[-1], _OF_GROUP) * _OF_GROUP + v), 0
            ),
            axis=v,
        ),
        name="near",
    )  # fmt: skip

    def running(*at: Any) -> Expr:
        *row, t, place = at
        value = before(*row, t) + near(*row, t)
        for other in range(_OF_THREAD):
            is_before = other < place if exclusive else other <= place
            value = value + if_then_else(is_before, Xs(*row, t, other), 0)
        return value

    R = compute((*some, threads, _OF_THREAD), running, name="running")

    def stored(*at: Any) -> Expr:
        place = extent - 1 - at[-1] if reverse else at[-1]
        return R(*at[:-1], indexdiv(place, _OF_THREAD), indexmod(place, _OF_THREAD)).astype(dtype)

    Y = compute(X.shape, stored, name="Y")
    s = create_schedule(Y.op)
    mine = s.cache_read(Xs, "local", [R])
    rows = prod(size for size in some if isinstance(size, int))
    of_block = max(1, min(128 // threads, rows)) if len(some) == 1 else 1
    *outer, i = s[Y].op.axis
    block, y = s[Y].split(s[Y].fuse(*outer) if len(outer) > 1 else outer[0], factor=of_block)
    turn, x = s[Y].split(i, factor=threads)
    s[Y].unroll(turn)
    for axis, tag in ((block, "blockIdx.x"), (y, "threadIdx.y"), (x, "threadIdx.x")):
        s[Y].bind(axis, thread_axis(tag))
    for tensor in (Xs, totals, of_group, R):
        own = s[tensor]
        own.set_scope("shared")
        own.compute_at(s[Y], block)
        *outer, last = own.op.axis
        if tensor in (Xs, R):
            # A thread's neighbours begin at another bank than those of the thread beside it.
            own.storage_align(outer[-1], 16, 1)
            thread = outer.pop()
        else:
            thread = last
        y = own.fuse(*outer) if len(outer) > 1 else outer[0]
        own.bind(y, thread_axis("threadIdx.y"))
        if tensor is Xs:
            turn, thread = own.split(own.fuse(thread, last), factor=threads)
            own.unroll(turn)
        elif tensor is R:
            own.unroll(last)
        if tensor is not Xs:
            _, thread = own.split(thread, factor=threads)
        own.bind(thread, thread_axis("threadIdx.x"))
        if tensor is R:
            for part in (before, near, mine):
                s[part].set_scope("local")
                s[part].compute_at(own, thread)
            s[mine].unroll(s[mine].op.axis[-1])
    return s, [X, Y]
