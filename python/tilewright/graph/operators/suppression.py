"""Non-maximum suppression: of boxes that overlap, the best stays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te, tir
from ...te import Expr, Tensor
from .common import Extent, operator
from .sorting import order_of

__all__ = ["MOST_KNOWN"]

_THREADS = 256
"""The threads of a block, which has the boxes of one class. It is a power of two."""

_MOST_OWN = 64
"""So many scores each thread keeps itself. Of more boxes, the scores that are left are in global memory."""

MOST_KNOWN = 1024
"""Where the number of boxes is symbolic, a result has as many places as `limit` says up to this, and then as boxes."""


_MOST_OVERLAPS = 1 << 26
"""The overlaps of all boxes with all others are computed at once where they have so many bytes at most, a bit each."""

_WORD = 64
"""The bits of a word of overlaps; so many boxes are selected from at a time."""


@operator
def suppress_boxes(
    edges: Tensor, scores: Tensor, least: Tensor, most: Tensor, *, limit: int, by_threads: bool
) -> Tensor:
    """By class, the places of the boxes that are selected, best first, and -1 behind them: int64, [batch, classes, …].

    Again and again, the best box of a class is selected, and those that overlap it are left out, `limit` times at most.
    `edges`, [batch, 4, boxes], has the two low edges of each box, and then the two high ones; `scores` is
    [batch, classes, boxes]. A score has to be above `least`, [1]. A box is left out where the intersection over the
    union is above `most`, [1].
    """
    batch, classes, count = scores.shape
    known = isinstance(count, int)
    places: Extent = min(limit, count) if known else limit if limit <= MOST_KNOWN else count
    statements = _in_threads if by_threads else _on_processor
    if by_threads and known and isinstance(batch, int) and isinstance(classes, int) and _WORD < count <= limit:
        if batch * classes * count * (count + _WORD) // 8 <= _MOST_OVERLAPS:
            return _of_all(edges, scores, least, most)
    found = te.extern(
        (batch * classes, places),
        [edges, scores, least, most],
        lambda ins, outs: statements(ins, outs[0], limit),
        name="boxes",
        dtype="int64",
    )
    return te.compute((batch, classes, places), lambda b, c, i: found(b * classes + c, i), name="suppress_boxes")


def _of_all(edges: Tensor, scores: Tensor, least: Tensor, most: Tensor) -> Tensor:
    """The same without a limit: with all overlaps at once, a bit for each, of the boxes in the order of their scores.

    One block a class then goes through the boxes, 64 at a time.
    """
    batch, classes, count = scores.shape
    rows, words = batch * classes, (count + _WORD - 1) // _WORD
    row = te.compute((rows, count, 1), lambda r, i, _: scores(r // classes, r % classes, i), name="row")
    order = order_of(row, True, True)
    ranked = te.compute((rows, 4, count), lambda r, d, i: edges(r // classes, d, order(r, i)), name="ranked")
    bit = te.reduce_axis((0, _WORD), name="bit")

    def word_of(r: Any, i: Any, w: Any) -> Expr:
        other = w * _WORD + bit
        is_out = _overlap(ranked, r, i, te.min(other, count - 1)) > most[0]
        one = te.left_shift(te.const(1, "int64"), bit.astype("int64"))
        return te.sum(te.select(te.all(other > i, other < count, is_out), one, te.const(0, "int64")), axis=bit)

    overlaps = te.compute((rows, count, words), word_of, name="overlaps")
    given = [order, scores, overlaps, least]
    found = te.extern((rows, count), given, lambda ins, outs: _in_order(ins, outs[0]), name="boxes", dtype="int64")
    return te.compute((batch, classes, count), lambda b, c, i: found(b * classes + c, i), name="suppress_boxes")


def _in_order(given: Sequence[Any], made: Any) -> Any:
    """A block for each class. One thread selects from 64 boxes, then all leave out what overlaps these."""
    ib = tir.ir_builder.create()
    order, scores, overlaps, least = map(ib.buffer_ptr, given)
    out = ib.buffer_ptr(made)
    _, classes, count = given[1].shape
    rows, _, words = given[2].shape
    none, zero, one = (te.const(n, "int64") for n in (-1, 0, 1))
    row, thread = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")

    def has(bits: Any, n: Any) -> Expr:
        return (te.right_shift(bits, n.astype("int64")) & one).equal(one)

    with ib.new_scope():
        ib.scope_attr(row, "thread_extent", rows)
        ib.scope_attr(thread, "thread_extent", _THREADS)
        out_bits = ib.allocate("int64", (words,), name="out_bits", scope="shared")
        own_bits = ib.allocate("int64", (_WORD,), name="own_bits", scope="shared")
        place = ib.allocate("int64", (_WORD,), name="place", scope="shared")
        selected = ib.allocate("int64", (1,), name="selected", scope="shared")
        number = ib.allocate("int32", (1,), name="number", scope="shared")
        bits = ib.allocate("int64", (2,), name="bits", scope="local")
        with ib.if_scope(thread.equal(0)):
            number[0] = 0
        with ib.for_range(0, (words + _THREADS - 1) // _THREADS, name="e") as e:
            own = e * _THREADS + thread
            with ib.if_scope(own < words):
                out_bits[own] = zero
        with ib.for_range(0, words, name="w") as w:
            with ib.if_scope(thread < _WORD):
                i = ib.let("i", te.min(w * _WORD + thread, count - 1))
                box = ib.let("box", order[row, i])
                score = ib.let("score", scores[row // classes, row % classes, box])
                # Only what is above the threshold may be selected; NaN, which is first in the order, is not.
                may_be = te.all(w * _WORD + thread < count, score > least[0], score > float("-inf"))
                place[thread] = te.select(may_be, box, none)
                own_bits[thread] = overlaps[row, i, w]
            with ib.if_scope(thread.equal(0)):
                bits[0], bits[1] = out_bits[w], zero
                with ib.for_range(0, _WORD, name="n") as n:
                    with ib.if_scope(te.all(place[n] >= zero, has(bits[0], n) ^ te.const(True, "bool"))):
                        out[row, number[0]] = place[n]
                        number[0] = number[0] + 1
                        bits[0] = bits[0] | own_bits[n]
                        bits[1] = bits[1] | te.left_shift(one, n.astype("int64"))
                selected[0] = bits[1]
            with ib.for_range(0, (words + _THREADS - 1) // _THREADS, name="e") as e:
                own = te.min(e * _THREADS + thread, words - 1)
                bits[0] = out_bits[own]
                with ib.for_range(0, _WORD, name="n") as n:
                    more = overlaps[row, te.min(w * _WORD + n, count - 1), own]
                    bits[0] = bits[0] | te.select(has(selected[0], n), more, zero)
                with ib.if_scope(e * _THREADS + thread < words):
                    out_bits[own] = bits[0]
        with ib.for_range(0, (count + _THREADS - 1) // _THREADS, name="e") as e:
            own = e * _THREADS + thread
            with ib.if_scope(te.all(own < count, own >= number[0])):
                out[row, own] = none
    return ib.get()


def _overlap(edges: Any, b: Any, one: Any, other: Any) -> Expr:
    """The intersection over the union of two boxes; 0 where they do not overlap."""

    def area_of(low: Sequence[Expr], high: Sequence[Expr]) -> Expr:
        return (high[0] - low[0]) * (high[1] - low[1])

    a, c = [edges[b, d, one] for d in range(4)], [edges[b, d, other] for d in range(4)]
    zero = te.const(0, edges.dtype)
    sides = [te.max(te.min(a[d + 2], c[d + 2]) - te.max(a[d], c[d]), zero) for d in range(2)]
    common = sides[0] * sides[1]
    union = area_of(a[:2], a[2:]) + area_of(c[:2], c[2:]) - common
    return te.select(common > zero, common / union, zero)


def _on_processor(given: Sequence[Any], made: Any, limit: int) -> Any:
    """The boxes of a class that are left are in a list, which becomes shorter with each one that is selected."""
    ib = tir.ir_builder.create()
    edges, scores, least, most = map(ib.buffer_ptr, given)
    out = ib.buffer_ptr(made)
    _, classes, count = given[1].shape
    rows, places = made.shape
    left = ib.allocate("int64", (count,), name="left", scope="global")
    at = ib.allocate("int64", (4,), name="at")
    length, kept, best, number = range(4)
    none = te.const(-1, "int64")

    def keep(b: Any, c: Any, box: Any) -> None:
        """Takes a box into the list of those that are left, and finds the first of the best ones."""
        left[at[kept]] = box
        at[kept] = at[kept] + 1
        is_better = scores[b, c, box] > scores[b, c, te.max(at[best], 0)]
        with ib.if_scope(te.any(at[best] < 0, is_better)):
            at[best] = box

    with ib.for_range(0, rows, name="row") as row:
        b, c = row // classes, row % classes
        with ib.for_range(0, places, name="i") as i:
            out[row, i] = none
        at[kept], at[best], at[number] = te.const(0, "int64"), none, te.const(0, "int64")
        with ib.for_range(0, count, name="box") as box, ib.if_scope(scores[b, c, box] > least[0]):
            keep(b, c, box.astype("int64"))
        with ib.while_loop(te.all(at[kept] > 0, at[number] < places, at[number] < limit)):
            selected = ib.let("selected", at[best])
            out[row, at[number]] = selected
            at[number] = at[number] + 1
            at[length], at[kept], at[best] = at[kept], te.const(0, "int64"), none
            with ib.for_range(0, at[length], name="i") as i:
                box = ib.let("box", left[i])
                is_out = te.any(box.equal(selected), _overlap(edges, b, selected, box) > most[0])
                with ib.if_scope(te.const(True, "bool") ^ is_out):
                    keep(b, c, box)
    return ib.get()


def _in_threads(given: Sequence[Any], made: Any, limit: int) -> Any:
    """A block for each class, of whose boxes each thread has every 256th."""
    ib = tir.ir_builder.create()
    edges, scores, least, most = map(ib.buffer_ptr, given)
    out = ib.buffer_ptr(made)
    _, classes, count = given[1].shape
    rows, places = made.shape
    steps = (count + (_THREADS - 1)) // _THREADS
    is_own = isinstance(steps, int) and steps <= _MOST_OWN
    none = te.const(float("-inf"), scores.dtype)
    extent = steps * _THREADS if isinstance(steps, int) else count + _THREADS
    rest = None if is_own else ib.allocate(scores.dtype, (rows, extent), name="left", scope="global")
    row, thread = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
    with ib.new_scope():
        ib.scope_attr(row, "thread_extent", rows)
        ib.scope_attr(thread, "thread_extent", _THREADS)
        b, c = row // classes, row % classes
        left = rest or ib.allocate(scores.dtype, (max(steps, 1),), name="left", scope="local")
        best = ib.allocate(scores.dtype, (1,), name="best", scope="local")
        place = ib.allocate("int32", (1,), name="place", scope="local")
        every_best = ib.allocate(scores.dtype, (_THREADS,), name="every_best", scope="shared")
        every_place = ib.allocate("int32", (_THREADS,), name="every_place", scope="shared")

        def at(e: Any) -> Any:
            return (row, e * _THREADS + thread) if rest else (e,)

        with ib.for_range(0, steps, name="e") as e:
            own = e * _THREADS + thread
            score = scores[b, c, te.min(own, count - 1)]
            left[at(e)] = te.select(te.all(own < count, score > least[0]), score, none)
        with ib.for_range(0, places if isinstance(places, int) else te.min(places, limit), name="i") as i:
            best[0], place[0] = none, 0
            with ib.for_range(0, steps, name="e") as e:
                score = ib.let("score", left[at(e)])
                with ib.if_scope(score > best[0]):
                    best[0], place[0] = score, e * _THREADS + thread
            every_best[thread], every_place[thread] = best[0], place[0]
            with ib.for_range(0, _THREADS.bit_length() - 1, name="step") as step:
                other = thread ^ te.left_shift(te.const(1, "int32"), step.astype("int32"))
                score, box = ib.let("score", every_best[other]), ib.let("box", every_place[other])
                is_better = ib.let("is_better", te.any(score > best[0], te.all(score.equal(best[0]), box < place[0])))
                best[0], place[0] = te.select(is_better, score, best[0]), te.select(is_better, box, place[0])
                every_best[thread], every_place[thread] = best[0], place[0]
            with ib.if_scope(thread.equal(0)):
                out[row, i] = te.select(best[0] > none, place[0].astype("int64"), te.const(-1, "int64"))
            with ib.for_range(0, steps, name="e") as e:
                own = e * _THREADS + thread
                is_out = te.any(own.equal(place[0]), _overlap(edges, b, place[0], te.min(own, count - 1)) > most[0])
                left[at(e)] = te.select(is_out, none, left[at(e)])
        if not isinstance(places, int):
            with ib.for_range(0, (places + (_THREADS - 1)) // _THREADS, name="e") as e:
                own = e * _THREADS + thread
                with ib.if_scope(te.all(own < places, own >= limit)):
                    out[row, own] = te.const(-1, "int64")
    return ib.get()
