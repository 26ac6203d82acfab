"""Running sums, and other running results, of rows that a block holds in shared memory."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from .. import te
from ..te import Expr, IterVar, Tensor, compute, if_then_else, indexdiv, indexmod, reduce_axis, thread_axis
from ..te import all as all_of
from ..te.schedule import Schedule, create_schedule

__all__ = ["COMBINERS", "LONGEST", "SHORTEST", "running_results_of_rows", "running_sums_of_rows"]

# Elements of a thread, and threads whose sums are added up before those of others are.
_OF_THREAD, _OF_GROUP = 16, 16
# The elements of a row that a block has at most.
_CHUNK = 4096
LONGEST = 4096 * _CHUNK
"""The longest row that it takes: a block adds up the sums of all chunks before its own."""
SHORTEST = 17
"""The shortest row of which more than one thread has elements."""


@dataclass(frozen=True)
class _Combiner:
    """What makes one result of two: of elements, of all along an axis, and of none."""

    of: Callable[[Any, Any], Any]
    along: Callable[..., Expr]
    neutral: Callable[[str], Any]


COMBINERS: Mapping[str, _Combiner] = {
    "add": _Combiner(operator.add, te.sum, lambda dtype: te.const(0, dtype)),
    "mul": _Combiner(operator.mul, te.prod, lambda dtype: te.const(1, dtype)),
    "max": _Combiner(te.max, te.max, te.min_value),
    "min": _Combiner(te.min, te.min, te.max_value),
}
"""The combiners whose running results there are, by the op of te."""


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

    def element(*at: Any) -> Expr:
        return X(*at).astype(acc)

    def stored(value: Expr, *_: Any) -> Expr:
        return value.astype(dtype)

    s, Y = running_results_of_rows("add", X.shape, acc, element, stored, exclusive=exclusive, reverse=reverse)
    return s, [X, Y]


def running_results_of_rows(
    combiner: str,
    shape: Sequence[Any],
    acc: str,
    element: Callable[..., Expr],
    stored: Callable[..., Expr],
    *,
    exclusive: bool = False,
    reverse: bool = False,
    name: str = "Y",
) -> tuple[Schedule, Tensor]:
    """The same for any of the `COMBINERS`, of elements that are computed. `element` gets the indices of an element of
    the rows, and `stored` a result and its indices. The rows may be of a symbolic extent: they are in chunks then."""
    *some, extent = shape
    assert not isinstance(extent, int) or extent <= LONGEST
    of = _Rows(combiner, tuple(shape), element, acc, exclusive, reverse)
    made = of.stages()

    def at_place(*at: Any) -> Expr:
        q, place = indexdiv(at[-1], of.size), indexmod(at[-1], of.size)
        if reverse:
            q, place = of.chunks - 1 - q, of.size - 1 - place
        return stored(made.running(*at[:-1], q, indexdiv(place, _OF_THREAD), indexmod(place, _OF_THREAD)), *at)

    Y = compute(shape, at_place, name=name)
    s = create_schedule(Y.op)
    mine = s.cache_read(made.elements, "local", [made.running])
    rows = prod(size for size in some if isinstance(size, int))
    of_block = 1 if len(some) != 1 or of.has_chunks else max(1, min(128 // of.threads, rows))
    block = _share_rows(s, Y, of, of_block)
    _add_up_in_shared(s, Y, made, mine, block, of.threads)
    if of.has_chunks:
        _add_chunks(s, Y, made, block, of.threads)
    return s, Y


@dataclass(frozen=True)
class _Stages:
    """What the sums are made of: the elements, and sums of a thread, of a group, and of what is before."""

    elements: Tensor
    totals: Tensor
    of_group: Tensor
    before: Tensor  # of the groups before a thread's own
    near: Tensor  # of the threads before it in its group
    running: Tensor
    of_chunk: Tensor
    base: Tensor  # of the chunks before


@dataclass(frozen=True)
class _Rows:
    """The rows, in chunks of `threads` times 16 elements."""

    combiner: str
    shape: tuple[Any, ...]
    read: Callable[..., Expr]
    acc: str
    exclusive: bool
    reverse: bool

    @property
    def extent(self) -> Any:
        return self.shape[-1]

    @property
    def neutral(self) -> Any:
        return COMBINERS[self.combiner].neutral(self.acc)

    @property
    def groups(self) -> int:
        longest = min(self.extent, _CHUNK) if isinstance(self.extent, int) else _CHUNK
        return -(-longest // (_OF_THREAD * _OF_GROUP))

    @property
    def threads(self) -> int:
        return self.groups * _OF_GROUP

    @property
    def size(self) -> int:
        """Elements of a chunk."""
        return self.threads * _OF_THREAD

    @property
    def chunks(self) -> Any:
        return (self.extent + self.size - 1) // self.size

    @property
    def has_chunks(self) -> bool:
        """Whether a row may be more than one."""
        return not isinstance(self.chunks, int) or self.chunks > 1

    def element(self, row: Sequence[Any], place: Any) -> Expr:
        # Elements count from the end of the last chunk if the sums are from the end: a chunk of them is one of the
        # result.
        at = self.chunks * self.size - 1 - place if self.reverse else place
        value = self.read(*row, at)
        is_whole = isinstance(self.extent, int) and self.extent % self.size == 0
        return value if is_whole else if_then_else(all_of(at < self.extent), value, self.neutral)

    def stages(self) -> _Stages:
        threads, groups, size, chunks = self.threads, self.groups, self.size, self.chunks
        along, combined, neutral = COMBINERS[self.combiner].along, COMBINERS[self.combiner].of, self.neutral
        blocks = (*self.shape[:-1], chunks)
        Xs = compute(
            (*blocks, threads, _OF_THREAD),
            lambda *at: self.element(at[:-3], (at[-3] * threads + at[-2]) * _OF_THREAD + at[-1]),
            name="rows",
        )
        c, u, g = reduce_axis((0, _OF_THREAD), "c"), reduce_axis((0, _OF_GROUP), "u"), reduce_axis((0, groups), "g")
        v = reduce_axis((0, _OF_GROUP), "v")
        totals = compute((*blocks, threads), lambda *at: along(Xs(*at, c), axis=c), name="totals")
        of_group = compute(
            (*blocks, groups), lambda *at: along(totals(*at[:-1], at[-1] * _OF_GROUP + u), axis=u), name="of_group"
        )
        before = compute(
            (*blocks, threads),
            lambda *at: along(if_then_else(g < indexdiv(at[-1], _OF_GROUP), of_group(*at[:-1], g), neutral), axis=g),
            name="before",
        )
        near = compute(
            (*blocks, threads),
            lambda *at: along(
                if_then_else(
                    v < indexmod(at[-1], _OF_GROUP),
                    totals(*at[:-1], indexdiv(at[-1], _OF_GROUP) * _OF_GROUP + v), neutral
                ),
                axis=v,
            ),
            name="near",
        )  # fmt: skip
        k, p = reduce_axis((0, size), "k"), reduce_axis((0, chunks), "p")
        of_chunk = compute(blocks, lambda *at: along(self.element(at[:-1], at[-1] * size + k), axis=k), name="of_chunk")
        base = compute(
            blocks,
            lambda *at: along(if_then_else(p < at[-1], of_chunk(*at[:-1], p), neutral), axis=p),
            name="base",
        )

        def running(*at: Any) -> Expr:
            *block, t, place = at
            value = combined(before(*block, t), near(*block, t))
            if self.has_chunks:
                value = combined(value, base(*block))
            for other in range(_OF_THREAD):
                is_before = other < place if self.exclusive else other <= place
                value = combined(value, if_then_else(is_before, Xs(*block, t, other), neutral))
            return value

        R = compute((*blocks, threads, _OF_THREAD), running, name="running")
        return _Stages(Xs, totals, of_group, before, near, R, of_chunk, base)


def _share_rows(s: Schedule, Y: Tensor, of: _Rows, of_block: int) -> IterVar:
    """A block has a chunk of a row, or so many rows. The loop of blocks."""
    *outer, i = s[Y].op.axis
    q, i = s[Y].split(i, factor=of.size)
    block, y = s[Y].split(s[Y].fuse(*outer, q), factor=of_block)
    turn, x = s[Y].split(i, factor=of.threads)
    s[Y].unroll(turn)
    for axis, tag in ((block, "blockIdx.x"), (y, "threadIdx.y"), (x, "threadIdx.x")):
        s[Y].bind(axis, thread_axis(tag))
    return block


def _add_up_in_shared(
    s: Schedule, Y: Tensor, made: _Stages, mine: Tensor, block: IterVar, threads: int
) -> None:  # fmt: skip
    """The elements and their sums are in shared memory; what a thread adds to its own is in registers."""
    Xs, R = made.elements, made.running
    for tensor in (Xs, made.totals, made.of_group, R):
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
            for part in (made.before, made.near, mine):
                s[part].set_scope("local")
                s[part].compute_at(own, thread)
            s[mine].unroll(s[mine].op.axis[-1])


def _add_chunks(s: Schedule, Y: Tensor, made: _Stages, block: IterVar, threads: int) -> None:
    """A block adds up a chunk; later each block adds up those before its own."""
    own, base = s[made.of_chunk], made.base
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
