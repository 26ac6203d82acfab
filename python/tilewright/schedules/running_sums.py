"""Running sums of rows that a block holds in shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..te import Expr, IterVar, Tensor, compute, if_then_else, indexdiv, indexmod, reduce_axis, sum, thread_axis
from ..te import all as all_of
from ..te.schedule import Schedule, create_schedule

__all__ = ["LONGEST", "running_sums_of_rows"]

# Elements of a thread, and threads whose sums are added up before those of others are.
_OF_THREAD, _OF_GROUP = 16, 16
# The elements of a row that a block has at most.
_CHUNK = 4096
LONGEST = 4096 * _CHUNK
"""The longest row that it takes: a block adds up the sums of all chunks before its own."""


def running_sums_of_rows(
    X: Tensor, acc: str, dtype: str, *, exclusive: bool = False, reverse: bool = False
) -> tuple[Schedule, list[Tensor]]:
    """The sums of the elements up to each along the last axis, of rows of up to `LONGEST` elements.

    A thread adds up 16 neighbours of a row, and what groups of 16 threads before it have, and the threads of its group.
    Then it runs through its neighbours again. Rows come from memory and go there once, neighbours by neighbouring
    threads. Rows of more than 4096 elements are in chunks of a block each. A kernel before adds up each chunk, and a
    block those before its own.

    >>> import tilewright as tw
    >>> from tilewright import te
    >>> X = te.placeholder((64, 615), "float16", name="X")
    >>> func = tw.build(*running_sums_of_rows(X, "float32", "float16"), target="cuda -arch=sm_90a", name="cumsum")
    >>> len(func.launch_config().launches)
    1
    """
    *some, extent = X.shape
    assert isinstance(extent, int) and extent <= LONGEST
    groups = -(-min(extent, _CHUNK) // (_OF_THREAD * _OF_GROUP))
    threads = groups * _OF_GROUP
    size = threads * _OF_THREAD
    chunks = -(-extent // size)
    # Elements count from the end of the last chunk if the sums are from the end: a chunk of them is one of the result.
    missing = chunks * size - extent

    def element(row: Sequence[Any], place: Any) -> Expr:
        at = extent + missing - 1 - place if reverse else place
        value = X(*row, at).astype(acc)
        return value if not missing else if_then_else(all_of(at < extent), value, 0)

    def staged(*at: Any) -> Expr:
        *row, q, t, c = at
        return element(row, (q * threads + t) * _OF_THREAD + c)

    blocks = (*some, chunks)
    Xs = compute((*blocks, threads, _OF_THREAD), staged, name="rows")
    c, u, g = reduce_axis((0, _OF_THREAD), "c"), reduce_axis((0, _OF_GROUP), "u"), reduce_axis((0, groups), "g")
    v = reduce_axis((0, _OF_GROUP), "v")
    totals = compute((*blocks, threads), lambda *at: sum(Xs(*at, c), axis=c), name="totals")
    of_group = compute(
        (*blocks, groups), lambda *at: sum(totals(*at[:-1], at[-1] * _OF_GROUP + u), axis=u), name="of_group"
    )
    before = compute(
        (*blocks, threads),
        lambda *at: sum(if_then_else(g < indexdiv(at[-1], _OF_GROUP), of_group(*at[:-1], g), 0), axis=g),
        name="before",
    )
    near = compute(
        (*blocks, threads),
        lambda *at: sum(
            if_then_else(
                v < indexmod(at[-1], _OF_GROUP),
                totals(*at[:-1], indexdiv(at[-1], _OF_GROUP) * _OF_GROUP + v), 0
            ),
            axis=v,
        ),
        name="near",
    )  # fmt: skip
    k, p = reduce_axis((0, size), "k"), reduce_axis((0, chunks), "p")
    of_chunk = compute(blocks, lambda *at: sum(element(at[:-1], at[-1] * size + k), axis=k), name="of_chunk")
    base = compute(blocks, lambda *at: sum(if_then_else(p < at[-1], of_chunk(*at[:-1], p), 0), axis=p), name="base")

    def running(*at: Any) -> Expr:
        *block, t, place = at
        value = before(*block, t) + near(*block, t)
        if chunks > 1:
            value = value + base(*block)
        for other in range(_OF_THREAD):
            is_before = other < place if exclusive else other <= place
            value = value + if_then_else(is_before, Xs(*block, t, other), 0)
        return value

    R = compute((*blocks, threads, _OF_THREAD), running, name="running")

    def stored(*at: Any) -> Expr:
        q, place = indexdiv(at[-1], size), indexmod(at[-1], size)
        if reverse:
            q, place = chunks - 1 - q, size - 1 - place
        return R(*at[:-1], q, indexdiv(place, _OF_THREAD), indexmod(place, _OF_THREAD)).astype(dtype)

    Y = compute(X.shape, stored, name="Y")
    s = create_schedule(Y.op)
    mine = s.cache_read(Xs, "local", [R])
    rows = prod(size for size in some if isinstance(size, int))
    of_block = max(1, min(128 // threads, rows)) if len(some) == 1 and chunks == 1 else 1
    *outer, i = s[Y].op.axis
    q, i = s[Y].split(i, factor=size)
    block, y = s[Y].split(s[Y].fuse(*outer, q), factor=of_block)
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
    if chunks > 1:
        _add_chunks(s, Y, of_chunk, base, block, threads)
    return s, [X, Y]


def _add_chunks(s: Schedule, Y: Tensor, of_chunk: Tensor, base: Tensor, block: IterVar, threads: int) -> None:
    """A block adds up a chunk; later each block adds up those before its own."""
    own = s[of_chunk]
    *outer, q = own.op.axis
    if outer:
        own.bind(own.fuse(*outer), thread_axis("blockIdx.y"))
    own.bind(q, thread_axis("blockIdx.x"))
    turn, x = own.split(own.op.reduce_axis[0], factor=threads)
    own.unroll(turn)
    own.bind(x, thread_axis("threadIdx.x"))
    s[base].set_scope("local")
    s[base].compute_at(s[Y], block)
    _, x = s[base].split(s[base].op.reduce_axis[0], factor=threads)
    s[base].bind(x, thread_axis("threadIdx.x"))
