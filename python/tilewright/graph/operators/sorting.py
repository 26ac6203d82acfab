"""Sorting: the order of rows, by a merge sort: in sequence on a processor, and by all blocks of a GPU."""

from __future__ import annotations

from typing import Any

from ... import te, tir
from ...te import Expr, Tensor
from .common import elements, operator
from .sorting_on_processor import Element, best_on_processor, comparison, is_less, sorted_on_processor

__all__ = ["MOST_SORTED", "best_of_sorted", "order_of"]

_THREADS = 256
"""The threads of a block, which sorts and merges tiles."""

_FEW = 128
"""On a processor, so many of the best elements at most are found without a sort."""

_OWN = 8
"""So many elements of a tile each thread merges; half as many where elements have several columns."""

MOST_SORTED = 1 << 30
"""A row has so many elements at most where their number is symbolic. Places in longer rows have 64 bits."""

_WAYS = 8
"""Where the number of elements is symbolic, so many runs become one in a kernel."""

Buffers = tuple[Any, ...]
"""Memory for elements: for their places and, where there are some, for their keys."""


def order_of(x: Tensor, largest: bool, in_threads: bool) -> Tensor:
    """By row of `x`, [rows, n, columns], the places of its n in ascending order, int64 [rows, n].

    What is compared are the columns, the first that differs decides. Of equal ones the first place comes first. NaN is
    the largest. With `largest`, the order is descending.
    """
    rows, count, columns = x.shape
    statements = _in_threads if in_threads else sorted_on_processor
    return te.extern(
        (rows, count), [x], lambda ins, outs: statements(ins[0], outs[0], columns, largest), name="order", dtype="int64"
    )


def _in_threads(given: Any, made: Any, columns: Any, largest: bool) -> Any:
    """A merge sort by all blocks: each sorts a tile of a row, then each kernel merges runs of 1, 2, 4, … tiles by twos.

    A row of one tile needs one kernel. Where the number of elements is symbolic, so is the number of runs. There are
    kernels for all that it may have, each of which makes one run of eight, and those without work are not launched.
    """
    merges = _Merges(given, made, columns, largest)
    ib, tile, (rows, count) = merges.ib, merges.tile, made.shape
    tiles = (count + (tile - 1)) // tile
    known = isinstance(count, int)
    most = count if known else getattr(count, "maximum", None) or MOST_SORTED
    levels = _levels(most, tile)
    runs = [merges.buffers(f"run{n}_", "global", rows, count) if levels > n else () for n in range(2)]

    def threads(blocks: Any) -> tuple[Any, Any]:
        block, thread = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
        ib.scope_attr(block, "thread_extent", blocks)
        ib.scope_attr(thread, "thread_extent", merges.threads)
        return block, thread

    with ib.new_scope():
        block, thread = threads(rows * tiles)
        merges.sort_tile(block // tiles, block % tiles * tile, thread, runs[0])
    for level in range(levels if known else 0):
        with ib.new_scope():
            block, thread = threads(rows * tiles)
            to = runs[(level + 1) % 2]
            merges.merge_tile(runs[level % 2], tile << level, block // tiles, block % tiles * tile, thread, to)
    width, turn = tile, 0
    while not known and width < most:
        parts = (count + (merges.threads - 1)) // merges.threads
        with ib.new_scope():
            block, thread = threads(rows * te.select(count > width, parts, 0))
            place = block % parts * merges.threads + thread
            ways = min(_WAYS, -(-most // width))
            with ib.if_scope(place < count):
                merges.place_element(runs[turn % 2], width, ways, block // parts, place, runs[(turn + 1) % 2])
        width, turn = width * ways, turn + 1
    return ib.get()


def _levels(count: int, width: int) -> int:
    """How often runs of `width` elements are merged by twos until there is one of `count`."""
    return max(-(-count // width) - 1, 0).bit_length()


class _Merges:
    """The steps of a merge sort by threads, each of which has `own` elements of a tile, one after another."""

    def __init__(self, given: Any, made: Any, columns: Any, largest: bool) -> None:
        self.ib = tir.ir_builder.create()
        self.x, self.order = self.ib.buffer_ptr(given), self.ib.buffer_ptr(made)
        self.columns, self.largest, self.has_keys = columns, largest, columns == 1
        self.count = count = made.shape[1]
        self.own, self.threads, self.dtype = _OWN if self.has_keys else _OWN // 2, _THREADS, "int32"
        if isinstance(count, int):
            extent = max(1 << max(count - 1, 0).bit_length(), 32)
            self.own = min(self.own, extent // 32)
            self.threads = min(self.threads, extent // self.own)
            self.dtype = "int32" if count <= MOST_SORTED else "int64"
        self.tile = self.own * self.threads

    def let(self, name: str, value: Any) -> Any:
        return self.ib.let(name, value.astype(self.dtype)) if isinstance(value, Expr) else value

    def buffers(self, prefix: str, scope: str, *shape: Any) -> Buffers:
        types = {"places": self.dtype, "keys": self.x.dtype}
        return tuple(
            self.ib.allocate(types[name], shape, name=prefix + name, scope=scope)
            for name in (types if self.has_keys else ["places"])
        )

    def read(self, buffers: Buffers, *at: Any) -> Element:
        return tuple(self.ib.let("element", buffer[at]) for buffer in buffers)

    def choose(self, condition: Any, one: Element, other: Element) -> Element:
        return tuple(self.ib.let("chosen", te.select(condition, a, b)) for a, b in zip(one, other))

    def precedes(self, row: Any, a: Element, b: Element) -> Expr:
        """Whether an element is strictly before another."""
        if self.has_keys:
            return self.ib.let("precedes", is_less(a[1], b[1], self.largest))
        return self.ib.let("precedes", comparison(self.x, self.columns, self.largest)(self.ib, row, a[0], b[0]))

    def sort_tile(self, row: Any, first: Any, thread: Any, to: Buffers) -> None:
        """Sorts the tile of a row from `first` on."""
        row, first = self.let("row", row), self.let("first", first)
        length = self.let("length", te.min(self.count - first, self.tile))
        shared = self.buffers("", "shared", self.tile)
        begin = thread * self.own
        elements: list[Element] = []
        for v in range(self.own):
            place = self.let("place", first + te.min(begin + v, length - 1))
            elements.append((place, self.ib.let("key", self.x[row, place, 0])) if self.has_keys else (place,))
        # Neighbours that are in the wrong order are exchanged, the even ones and the odd ones by turns.
        for step in range(self.own):
            for v in range(step % 2, self.own - 1, 2):
                a, b = elements[v], elements[v + 1]
                precedes = self.precedes(row, b, a)
                swaps = self.ib.let("swaps", te.all(precedes, begin + (v + 1) < length))
                elements[v], elements[v + 1] = self.choose(swaps, b, a), self.choose(swaps, a, b)
        self.hold(shared, elements, thread)
        with self.ib.for_range(0, self.threads.bit_length() - 1, name="level") as level:
            half = self.let("half", te.left_shift(te.const(self.own, "int32"), level.astype("int32")))
            begin = self.let("begin", te.min(thread * self.own // (half * 2) * (half * 2), length))
            middle, end = (self.let("bound", te.min(begin + half * n, length)) for n in (1, 2))
            self.hold(shared, self.merged(shared, row, begin, middle, end, thread * self.own - begin), thread)
        self.store(shared, row, first, length, thread, to, self.tile)

    def merge_tile(self, runs: Buffers, half: Any, row: Any, first: Any, thread: Any, to: Buffers) -> None:
        """Makes the tile of a row from `first` on of runs of `half` elements, which are merged by twos."""
        ib = self.ib
        row, first = self.let("row", row), self.let("first", first)
        length = self.let("length", te.min(self.count - first, self.tile))
        begin = self.let("begin", first // (half * 2) * (half * 2))
        middle, end = (self.let("bound", te.min(begin + half * n, self.count)) for n in (1, 2))
        shared = self.buffers("", "shared", self.tile)
        splits = ib.allocate(self.dtype, (2,), name="splits", scope="shared")
        with ib.if_scope(thread < 2):
            number = self.let("number", te.min(first - begin + thread * self.tile, end - begin))
            splits[thread] = self.split(runs, (row,), row, begin, middle, end, number)
        split = ib.let("split", splits[0])
        of_first = ib.let("of_first", splits[1] - split)
        with ib.for_range(0, self.own, name="v") as v:
            place = v * self.threads + thread
            with ib.if_scope(place < length):
                a, b = begin + split + place, middle + (first - begin - split) + (place - of_first)
                source = self.let("source", te.select(place < of_first, a, b))
                for held, value in zip(shared, self.read(runs, row, source)):
                    held[place] = value
        self.hold(shared, self.merged(shared, row, 0, of_first, length, thread * self.own), thread)
        self.store(shared, row, first, length, thread, to, half * 2)

    def place_element(self, runs: Buffers, width: int, ways: int, row: Any, place: Any, to: Buffers) -> None:
        """Puts the element at a place of runs of `width` elements where it is when so many of them are one run.

        It comes behind the elements of runs before its own that are not after it, and behind those of runs after its
        own that are before it.
        """
        ib, span = self.ib, width * ways
        row, place = self.let("row", row), self.let("place", place)
        mine = self.read(runs, row, place)
        begin = self.let("begin", place // span * span) if span <= MOST_SORTED else 0
        own = self.let("own", (place - begin) // width)
        bounds = ib.allocate(self.dtype, (2,), name="bounds", scope="local")
        rank = ib.allocate(self.dtype, (1,), name="rank", scope="local")
        rank[0] = place - begin - own * width
        with ib.for_range(0, ways, name="way") as way:
            other = self.let("other", begin + way * width)
            with ib.if_scope(te.all(te.any(way < own, way > own), other < self.count)):
                bounds[0] = te.const(0, self.dtype)
                bounds[1] = te.min(self.count - other, width).astype(self.dtype)
                with ib.while_loop(bounds[0] < bounds[1]):
                    half = ib.let("half", te.right_shift(bounds[0] + bounds[1], te.const(1, self.dtype)))
                    theirs = self.read(runs, row, other + half)
                    after, before = self.precedes(row, mine, theirs), self.precedes(row, theirs, mine)
                    with ib.if_scope(te.select(way < own, te.select(after, 0, 1), te.select(before, 1, 0)).equal(1)):
                        bounds[0] = half + 1
                    with ib.else_scope():
                        bounds[1] = half
                rank[0] = rank[0] + bounds[0]
        self.put(mine, row, self.let("target", begin + rank[0]), to, span)

    def split(
        self, runs: Buffers, at: tuple[Any, ...], row: Any, begin: Any, middle: Any, end: Any, number: Any
    ) -> Any:
        """How many of the first `number` elements of [begin, middle) and [middle, end), merged, are of the first."""
        ib = self.ib
        bounds = ib.allocate(self.dtype, (2,), name="bounds", scope="local")
        bounds[0] = te.max(number - (end - middle), 0).astype(self.dtype)
        bounds[1] = te.min(number, middle - begin).astype(self.dtype)
        with ib.while_loop(bounds[0] < bounds[1]):
            half = ib.let("half", te.right_shift(bounds[0] + bounds[1], te.const(1, self.dtype)))
            a, b = self.read(runs, *at, begin + half), self.read(runs, *at, middle + number - 1 - half)
            with ib.if_scope(self.precedes(row, b, a)):
                bounds[1] = half
            with ib.else_scope():
                bounds[0] = half + 1
        return ib.let("split", bounds[0])

    def merged(self, shared: Buffers, row: Any, begin: Any, middle: Any, end: Any, first: Any) -> list[Element]:
        """The elements from `first` on, as many as a thread has, of [begin, middle) and [middle, end), merged."""
        ib = self.ib
        first = self.let("first", te.min(first, end - begin))
        split = self.split(shared, (), row, begin, middle, end, first)
        a, b, last = ib.let("a", begin + split), ib.let("b", middle + first - split), te.max(end - 1, 0)
        left, right = self.read(shared, te.min(a, last)), self.read(shared, te.min(b, last))
        elements: list[Element] = []
        for v in range(self.own):
            precedes = self.precedes(row, right, left)
            takes_right = ib.let("takes_right", te.all(b < end, te.any(a >= middle, precedes)))
            elements.append(self.choose(takes_right, right, left))
            if v + 1 < self.own:
                a, b = ib.let("a", te.select(takes_right, a, a + 1)), ib.let("b", te.select(takes_right, b + 1, b))
                following = self.read(shared, te.min(te.select(takes_right, b, a), last))
                left, right = self.choose(takes_right, left, following), self.choose(takes_right, following, right)
        return elements

    def hold(self, shared: Buffers, elements: list[Element], thread: Any) -> None:
        for v, element in enumerate(elements):
            for held, value in zip(shared, element):
                held[thread * self.own + v] = value

    def store(self, shared: Buffers, row: Any, first: Any, length: Any, thread: Any, to: Buffers, width: Any) -> None:
        """Stores a tile of a run of `width` elements: in the result where that is all of the row."""
        ib = self.ib

        with ib.for_range(0, self.own, name="v") as v:
            own = v * self.threads + thread
            element, place = self.read(shared, own), self.let("place", first + own)
            with ib.if_scope(own < length):
                self.put(element, row, place, to, width)

    def put(self, element: Element, row: Any, place: Any, to: Buffers, width: int) -> None:
        """Puts an element in its place of a run of `width` elements: in the result where that is all of the row."""
        ib, is_known = self.ib, isinstance(self.count, int)
        goes_on = self.count > width if is_known or width < MOST_SORTED else False

        def to_result() -> None:
            self.order[row, place] = element[0].astype("int64")

        def to_run() -> None:
            for run, value in zip(to, element):
                run[row, place] = value

        if isinstance(goes_on, bool):
            return to_run() if goes_on else to_result()
        with ib.if_scope(goes_on):
            to_run()
        with ib.else_scope():
            to_result()
        return None


def best_of_sorted(x: Tensor, k: Any, axis: int, largest: bool, in_threads: bool) -> tuple[Tensor, Tensor]:
    """The k best elements along an axis, and where they are, of all that are sorted, or of a row's best so far."""
    count = x.shape[axis]
    others = [extent for d, extent in enumerate(x.shape) if d != axis]

    def element(r: Any, i: Any, _: Any) -> Expr:
        places: list[Any] = []
        for extent in reversed(others):
            places.append(r % extent)
            r = r // extent
        places = places[::-1]
        return x(*places[:axis], i, *places[axis:])

    row = te.compute((elements(others), count, 1), element, name="row")
    is_few = not in_threads and isinstance(k, int) and 0 < k <= _FEW
    if is_few:
        order = te.extern(
            (elements(others), k), [row], lambda ins, outs: best_on_processor(ins[0], outs[0], largest), name="best",
            dtype="int64",
        )  # fmt: skip
    else:
        order = order_of(row, largest, in_threads)

    def position_of(*i: Any) -> Expr:
        number: Any = 0
        for extent, place in zip(others, (*i[:axis], *i[axis + 1 :])):
            number = number * extent + place
        found = order(number, i[axis])
        is_there = isinstance(count, int) or k is count or is_few
        return found if is_there else te.if_then_else(i[axis] < count, found, te.const(0, "int64"))

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
