"""Sorting of rows on a processor, in sequence: statements, and what compares elements for a GPU's as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import te, tir
from ...te import Expr

__all__ = ["Element", "best_on_processor", "comparison", "is_less", "sorted_on_processor"]

_RUN = 16
"""On a processor, so many elements are sorted by insertion; the number of places that a run has at first."""

Element = tuple[Any, ...]
"""An element's place in the row and, where it has one column, its key."""

Precedes = Callable[[Any, Any, Any, Any], Expr]
"""Whether one place of a row comes before another: of the builder, the row and the two places."""


def is_less(a: Any, b: Any, largest: bool) -> Expr:
    """Whether `a` is less than `b`, or with `largest` more; NaN is more than all numbers, and like another NaN."""
    low, high = (b, a) if largest else (a, b)
    return te.any(low < high, te.all(te.isnan(high), low.equal(low))) if "float" in low.dtype else low < high


def comparison(x: Any, columns: Any, largest: bool) -> Precedes:
    """Whether the place `a` of a row is strictly before the place `b`, by the elements alone."""

    def less(r: Any, a: Any, b: Any, c: Any) -> Expr:
        return is_less(x[r, a, c], x[r, b, c], largest)

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


def sorted_on_processor(given: Any, made: Any, columns: Any, largest: bool) -> Any:
    """Sorts runs by insertion, and merges them. Both are stable, so equal elements stay in the order of their places.

    Threads share the rows. Elements of one column are moved with their places.
    """
    ib = tir.ir_builder.create()
    x, order = ib.buffer_ptr(given), ib.buffer_ptr(made)
    rows, count = made.shape
    precedes = comparison(x, columns, largest)
    has_keys = columns == 1
    begin, middle, end, left, right, target, side, width = range(8)
    with ib.for_range(0, rows, name="r", kind="parallel") as r:
        # Elements move from one half to the other, and back.
        places = ib.allocate("int64", (2, count), name="places", scope="global")
        parts = [places]
        if has_keys:
            parts.append(ib.allocate(x.dtype, (2, count), name="keys", scope="global"))
        at = ib.allocate("int64", (8,), name="at")

        def read(half: Any, i: Any) -> Element:
            return tuple(ib.let("element", one[half, i]) for one in parts)

        def write(half: Any, i: Any, element: Element) -> None:
            for one, value in zip(parts, element):
                one[half, i] = value

        def is_before(a: Element, b: Element) -> Any:
            return is_less(a[1], b[1], largest) if has_keys else precedes(ib, r, a[0], b[0])

        at[begin] = te.const(0, "int64")
        with ib.while_loop(at[begin] < count):
            at[end] = te.min(at[begin] + _RUN, count)
            at[right] = at[begin]
            with ib.while_loop(at[right] < at[end]):
                place = ib.let("place", at[right])
                mine: Element = (place, ib.let("key", x[r, place, 0])) if has_keys else (place,)
                at[target], at[left] = at[right], te.const(1, "int64")
                with ib.while_loop(te.all(at[target] > at[begin], at[left] > 0)):
                    other = read(0, at[target] - 1)
                    with ib.if_scope(is_before(mine, other)):
                        write(0, at[target], other)
                        at[target] = at[target] - 1
                    with ib.else_scope():
                        at[left] = te.const(0, "int64")
                write(0, at[target], mine)
                at[right] = at[right] + 1
            at[begin] = at[end]
        at[side], at[width] = te.const(0, "int64"), te.const(_RUN, "int64")
        with ib.while_loop(at[width] < count):
            at[begin] = te.const(0, "int64")
            with ib.while_loop(at[begin] < count):
                at[middle] = te.min(at[begin] + at[width], count)
                at[end] = te.min(at[middle] + at[width], count)
                at[left], at[right], at[target] = at[begin], at[middle], at[begin]
                with ib.while_loop(at[target] < at[end]):
                    a = read(at[side], te.min(at[left], at[middle] - 1))
                    b = read(at[side], te.min(at[right], at[end] - 1))
                    swaps = is_before(b, a)
                    takes_right = ib.let(
                        "takes_right", te.any(at[left] >= at[middle], te.all(at[right] < at[end], swaps))
                    )
                    write(1 - at[side], at[target], tuple(te.select(takes_right, n, m) for m, n in zip(a, b)))
                    at[right] = at[right] + takes_right.astype("int64")
                    at[target] = at[target] + 1
                    at[left] = at[begin] + at[middle] + (at[target] - at[begin]) - at[right]
                at[begin] = at[end]
            at[side], at[width] = 1 - at[side], at[width] * 2
        with ib.for_range(0, count, name="i") as i:
            order[r, i] = places[at[side], i]
    return ib.get()


def best_on_processor(given: Any, made: Any, largest: bool) -> Any:
    """Of each row the places of its best elements, in order. Each element that is better than the last one so far moves
    to its place among them. Threads share the rows."""
    ib = tir.ir_builder.create()
    x, best = ib.buffer_ptr(given), ib.buffer_ptr(made)
    rows, k = made.shape
    count = given.shape[1]
    with ib.for_range(0, rows, name="r", kind="parallel") as r:
        keys = ib.allocate(x.dtype, (k,), name="keys")
        at = ib.allocate("int64", (2,), name="at")
        found, target = range(2)
        with ib.for_range(0, k, name="i") as i:
            best[r, i] = te.const(0, "int64")
            keys[i] = te.const(0, x.dtype)
        at[found] = te.const(0, "int64")
        with ib.for_range(0, count, name="i") as i:
            mine = ib.let("mine", x[r, i, 0])
            with ib.if_scope(te.any(at[found] < k, is_less(mine, keys[k - 1], largest))):
                at[target] = te.min(at[found], k - 1)
                at[found] = te.min(at[found] + 1, k)
                with ib.while_loop(te.all(at[target] > 0, is_less(mine, keys[te.max(at[target] - 1, 0)], largest))):
                    keys[at[target]] = keys[at[target] - 1]
                    best[r, at[target]] = best[r, at[target] - 1]
                    at[target] = at[target] - 1
                keys[at[target]] = mine
                best[r, at[target]] = i.astype("int64")
    return ib.get()
