"""Sorting: the order of rows, by a merge sort on a processor, and by a bitonic network in the threads of a block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import te, tir
from ...te import Expr, Tensor
from .common import elements, operator

__all__ = ["best_of_sorted", "order_of"]

_THREADS = 512
"""The threads of a block that sort one row."""

_LEVELS = 30
"""A row has 2 ** 30 elements at most where their number is symbolic."""

Precedes = Callable[[Any, Any, Any, Any], Expr]
"""Whether one place of a row comes before another: of the builder, the row and the two places."""


def order_of(x: Tensor, largest: bool, in_threads: bool) -> Tensor:
    """By row of `x`, [rows, n, columns], the places of its n in ascending order, int64 [rows, n].

    What is compared are the columns, the first that differs decides. Of equal ones the first place comes first. NaN is
    the largest. With `largest`, the order is descending.
    """
    rows, count, columns = x.shape
    statements = _in_threads if in_threads else _on_processor
    return te.extern(
        (rows, count), [x], lambda ins, outs: statements(ins[0], outs[0], columns, largest), name="order", dtype="int64"
    )


def _comparison(x: Any, columns: Any, largest: bool) -> Precedes:
    """Whether the place `a` of a row is strictly before the place `b`, by the elements alone."""

    def less(r: Any, a: Any, b: Any, c: Any) -> Expr:
        low, high = (x[r, b, c], x[r, a, c]) if largest else (x[r, a, c], x[r, b, c])
        found = low < high
        return te.any(found, te.all(te.isnan(high), low.equal(low))) if "float" in x.dtype else found

    def precedes(ib: Any, r: Any, a: Any, b: Any) -> Expr:
        if columns == 1:
            return less(r, a, b, 0)
        # 0 as long as no column differs, then 1 where `a` is less and 2 where `b` is.
        state = ib.allocate("int32", (1,), name="state")
        state[0] = 0
        with ib.for_range(0, columns, name="c") as c, ib.if_scope(state[0].equal(0)):
            with ib.if_scope(less(r, a, b, c)):
                state[0] = 1
            with ib.else_scope(), ib.if_scope(less(r, b, a, c)):
                state[0] = 2
        return state[0].equal(1)

    return precedes


def _on_processor(given: Any, made: Any, columns: Any, largest: bool) -> Any:
    """Merges runs of 1, 2, 4, … places. A merge is stable, so equal elements stay in the order of their places."""
    ib = tir.ir_builder.create()
    x, order = ib.buffer_ptr(given), ib.buffer_ptr(made)
    rows, count = made.shape
    precedes = _comparison(x, columns, largest)
    merged = ib.allocate("int64", (count,), name="merged", scope="global")
    at = ib.allocate("int64", (6,), name="at")
    width, begin, middle, end, left, right = range(6)
    with ib.for_range(0, rows, name="r") as r:
        with ib.for_range(0, count, name="i") as i:
            order[r, i] = i.astype("int64")
        at[width] = te.const(1, "int64")
        with ib.while_loop(at[width] < count):
            at[begin] = te.const(0, "int64")
            with ib.while_loop(at[begin] < count):
                at[middle] = te.min(at[begin] + at[width], count)
                at[end] = te.min(at[middle] + at[width], count)
                at[left] = at[begin]
                at[right] = at[middle]
                with ib.while_loop(te.any(at[left] < at[middle], at[right] < at[end])):
                    target = ib.let("target", at[left] + at[right] - at[middle])
                    a = ib.let("a", order[r, te.min(at[left], at[middle] - 1)])
                    b = ib.let("b", order[r, te.min(at[right], at[end] - 1)])
                    swaps = precedes(ib, r, b, a)
                    takes_right = te.any(at[left] >= at[middle], te.all(at[right] < at[end], swaps))
                    with ib.if_scope(takes_right):
                        merged[target] = b
                        at[right] = at[right] + 1
                    with ib.else_scope():
                        merged[target] = a
                        at[left] = at[left] + 1
                at[begin] = at[end]
            with ib.for_range(0, count, name="i") as i:
                order[r, i] = merged[i]
            at[width] = at[width] * 2
    return ib.get()


def _in_threads(given: Any, made: Any, columns: Any, largest: bool) -> Any:
    """A block for each row. Of two places that a step compares, the lower one gets what comes first.

    The places are followed by such as there are no elements of, which come last: so each step has whole pairs.
    """
    ib = tir.ir_builder.create()
    x, order = ib.buffer_ptr(given), ib.buffer_ptr(made)
    rows, count = made.shape
    known = isinstance(count, int)
    levels = max(count - 1, 0).bit_length() if known else _LEVELS
    extent = max(1 << levels, 2 * _THREADS) if known else count * 2 + 2 * _THREADS
    places = ib.allocate("int64", (rows, extent), name="places", scope="global")
    block, thread = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
    with ib.new_scope():
        ib.scope_attr(block, "thread_extent", rows)
        ib.scope_attr(thread, "thread_extent", _THREADS)
        with ib.for_range(0, extent // _THREADS, name="e") as e:
            places[block, e * _THREADS + thread] = (e * _THREADS + thread).astype("int64")
        with ib.for_range(0, levels, name="level") as level:
            half = te.left_shift(te.const(1, "int64"), level.astype("int64"))
            pairs = (count + half * 2 - 1) // (half * 2) * half
            with ib.for_range(0, level + 1 if known else te.select(half < count, level + 1, 0), name="step") as step:
                distance = te.right_shift(half, step.astype("int64"))
                with ib.for_range(0, (pairs + (_THREADS - 1)) // _THREADS, name="e") as e:
                    pair = (e * _THREADS + thread).astype("int64")
                    inside = pair % distance
                    first = pair // distance * (distance * 2) + inside
                    second = te.select(step.equal(0), first + (distance - inside) * 2 - 1, first + distance)
                    a, b = ib.let("a", places[block, first]), ib.let("b", places[block, second])
                    swaps = ib.let("swaps", _swaps(ib, _comparison(x, columns, largest), block, a, b, count))
                    places[block, first] = te.select(swaps, b, a)
                    places[block, second] = te.select(swaps, a, b)
        with ib.for_range(0, (count + (_THREADS - 1)) // _THREADS, name="e") as e:
            own = ib.let("own", places[block, e * _THREADS + thread])
            with ib.if_scope(e * _THREADS + thread < count):
                order[block, e * _THREADS + thread] = own
    return ib.get()


def _swaps(ib: Any, precedes: Precedes, r: Any, a: Any, b: Any, count: Any) -> Expr:
    """Whether the place `b` comes before the place `a`, one of which may be behind the last element."""
    last = te.const(count - 1, "int64") if isinstance(count, int) else count.astype("int64") - 1
    read_a, read_b = te.min(a, last), te.min(b, last)
    is_after = precedes(ib, r, read_b, read_a)
    is_like = te.const(True, "bool") ^ precedes(ib, r, read_a, read_b)
    return te.select(a > last, b <= last, te.all(b <= last, te.any(is_after, te.all(is_like, b < a))))


def best_of_sorted(x: Tensor, k: Any, axis: int, largest: bool, in_threads: bool) -> tuple[Tensor, Tensor]:
    """The k best elements along an axis, and where they are, of all that are sorted."""
    count = x.shape[axis]
    others = [extent for d, extent in enumerate(x.shape) if d != axis]

    def element(r: Any, i: Any, _: Any) -> Expr:
        places: list[Any] = []
        for extent in reversed(others):
            places.append(r % extent)
            r = r // extent
        places = places[::-1]
        return x(*places[:axis], i, *places[axis:])

    order = order_of(te.compute((elements(others), count, 1), element, name="row"), largest, in_threads)

    def position_of(*i: Any) -> Expr:
        row: Any = 0
        for extent, place in zip(others, (*i[:axis], *i[axis + 1 :])):
            row = row * extent + place
        return order(row, i[axis])

    shape = [k if d == axis else extent for d, extent in enumerate(x.shape)]
    positions = te.compute(shape, position_of, name="positions")
    values = te.compute(shape, lambda *i: x(*i[:axis], positions(*i), *i[axis + 1 :]), name="values")
    return values, positions


@operator
def sort_rows(x: Tensor, *, by_threads: bool) -> Tensor:
    """The places of the rows of a matrix in ascending order; the first column in which rows differ decides.

    Of equal rows the first comes first. NaN is the largest, and one NaN is like another.
    """
    count, columns = x.shape
    row = te.compute((1, count, columns), lambda _, i, c: x(i, c), name="row")
    order = order_of(row, False, by_threads)
    return te.compute((count,), lambda i: order(0, i), name="sort_rows")
