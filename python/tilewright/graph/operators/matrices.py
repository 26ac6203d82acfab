"""Loops over the elements of matrices, for statements that a processor and the threads of a block both run."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from ... import te, tir
from ...dtypes import dtype_of
from ...rules.context import power_of_two
from ...te import Expr

__all__ = ["LANES", "Matrices", "epsilon_of", "reflect_columns", "reflector", "square"]

_MOST_THREADS = 512
LANES = 32
"""No more threads are along columns."""

_AT_ONCE = 8
"""What so many threads have found is combined before the next barrier."""

_OWN = (2, 4)
"""So many rows and columns of values a thread has at a time."""


class Matrices:
    """Statements for each matrix of a batch: in sequence, or in a block of threads for each matrix.

    Every statement is as if a barrier stood before the next one. Threads take the same part of the rows and the
    columns in each loop. So the elements of a matrix that a loop over `places` changes stay with one thread.
    """

    def __init__(
        self, buffers: list[Any], rows: int, columns: int, by_threads: bool, threads: int | None = None
    ) -> None:  # fmt: skip
        self.ib: Any = tir.ir_builder.create()
        self.buffers: list[Any] = [self.ib.buffer_ptr(one) for one in buffers]
        self._batch = buffers[0].shape[0]
        self.by_threads: bool = by_threads
        # There are no more threads along rows or columns than these. A loop of one iteration would be a condition, and
        # conditions that follow each other become one, in which no barrier has a place.
        self._across = min(power_of_two(columns), LANES)
        wanted = threads or max(LANES, min(_MOST_THREADS, power_of_two(rows * columns) // 4))
        self._down = max(1, min(wanted // self._across, power_of_two(rows)))
        self._count = self._across * self._down

    @contextmanager
    def each_matrix(self, parts: int = 1) -> Generator[Any]:
        """The number of the matrix; where `parts` blocks of threads have one, that of the block."""
        ib = self.ib
        if not self.by_threads:
            with ib.for_range(0, self._batch, name="matrix") as matrix:
                yield matrix
            return
        matrix, y, x = (te.thread_axis(tag) for tag in ("blockIdx.x", "threadIdx.y", "threadIdx.x"))
        with ib.new_scope():
            for axis, extent in ((matrix, self._batch * parts), (y, self._down), (x, self._across)):
                ib.scope_attr(axis, "thread_extent", extent)
            self._x, self._y = x, y
            self._thread = y * self._across + x
            yield matrix

    def held(self, dtype: str, count: int, name: str) -> Any:
        """Elements that all threads of a matrix share."""
        return self.ib.allocate(dtype, (max(count, 1),), name=name, scope="shared" if self.by_threads else "")

    @contextmanager
    def once(self) -> Generator[None]:
        """What one thread does."""
        if not self.by_threads:
            yield
            return
        with self.ib.if_scope(te.all(self._y.equal(0), self._x.equal(0))):
            yield

    @contextmanager
    def each(self, begin: Any, end: int) -> Generator[Any]:
        """A number from `begin` to `end`."""
        with self._each(begin, end, self._count if self.by_threads else 1, "i") as i:
            yield i

    @contextmanager
    def places(self, rows: tuple[Any, Any], columns: tuple[Any, Any]) -> Generator[tuple[Any, Any]]:
        """A row and a column of those between two bounds each."""
        down, across = (self._down, self._across) if self.by_threads else (1, 1)
        with self._each(*rows, down, "row") as i, self._each(*columns, across, "column") as j:
            yield i, j

    @contextmanager
    def _each(self, begin: Any, end: Any, step: int, name: str) -> Generator[Any]:
        """Each thread's own numbers are a `step` apart."""
        ib = self.ib
        if not self.by_threads:
            with ib.for_range(begin, end, name=name) as i:
                yield i
            return
        own = {"i": self._thread, "row": self._y, "column": self._x}[name]
        with ib.for_range(begin // step, (end + (step - 1)) // step, name=name) as turn:
            i = turn * step + own
            with ib.if_scope(te.all(i >= begin, i < end)):
                yield i

    def replace(
        self, rows: int, columns: int, value: Callable[[Any, Any], Expr], target: Any,
        place: Callable[[Any, Any], tuple[Any, ...]], dtype: str,
    ) -> None:  # fmt: skip
        """Stores a value for each row and column at its `place` of a buffer that the values are not of.

        Threads have several values at a time, so that they wait for memory once for all of these.
        """
        if not self.by_threads:
            with self.places((0, rows), (0, columns)) as (i, j):
                target[place(i, j)] = value(i, j)
            return
        ib, down, across = self.ib, self._down, self._across
        high, wide = min(_OWN[0], -(-rows // down)), min(_OWN[1], -(-columns // across))
        with ib.for_range(0, -(-rows // (high * down)), name="row") as row_turn:
            with ib.for_range(0, -(-columns // (wide * across)), name="column") as column_turn:
                values: list[tuple[Any, Any, Any]] = []
                for r in range(high):
                    for c in range(wide):
                        i = (row_turn * high + r) * down + self._y
                        j = (column_turn * wide + c) * across + self._x
                        values.append((i, j, ib.let("value", value(te.min(i, rows - 1), te.min(j, columns - 1)))))
                for i, j, one in values:
                    with ib.if_scope(te.all(i < rows, j < columns)):
                        target[place(i, j)] = one

    def total(self, begin: Any, end: int, value: Callable[[Any], Expr], dtype: str = "float64") -> Expr:
        """The sum of the value of each number."""

        def visit(add: Callable[[Expr], None]) -> None:
            with self.each(begin, end) as i:
                add(value(i))

        return self.total_of(visit, dtype)

    def total_of(self, visit: Callable[[Callable[[Expr], None]], None], dtype: str = "float64") -> Expr:
        """The sum of what each thread adds: `visit` is called with the function that adds."""

        def combine(best: Any, other: Any) -> None:
            best[0][0] = best[0][0] + other[0][0]

        def visit_own(best: Any) -> None:
            visit(lambda value: combine(best, [[value.astype(dtype)]]))

        return self._combined([(dtype, te.const(0, dtype))], visit_own, combine)[0]

    def largest(self, begin: Any, end: int, value: Callable[[Any], Expr], dtype: str) -> Expr:
        """The number whose value is the largest; of equal ones the first."""

        def visit(take: Callable[[Expr, Any], None]) -> None:
            with self.each(begin, end) as i:
                take(value(i), i)

        return self.largest_of(begin, visit, dtype)

    def largest_of(self, begin: Any, visit: Callable[[Callable[[Expr, Any], None]], None], dtype: str) -> Expr:
        """The number of the largest of the values, none below 0, that threads take; of equal ones the smallest number.

        `visit` is called with the function that takes a value and its number. Without values it is `begin`.
        """
        ib = self.ib

        def combine(best: Any, other: Any) -> None:
            size, place = ib.let("size", other[0][0]), ib.let("place", other[1][0])
            is_first = te.all(size.equal(best[0][0]), place < best[1][0])
            # NaN is the largest, so that it stays in the result.
            is_nan = te.all(te.isnan(size), best[0][0] >= te.const(-1, dtype))
            with ib.if_scope(te.any(size > best[0][0], is_first, is_nan)):
                best[0][0], best[1][0] = size, place

        def visit_own(best: Any) -> None:
            visit(lambda size, place: combine(best, [[size], [place]]))

        first = [(dtype, te.const(-1, dtype)), ("int32", begin)]
        return self._combined(first, visit_own, combine)[1]

    def _combined(
        self, first: list[tuple[str, Any]], visit: Callable[[Any], None], combine: Callable[..., None]
    ) -> list[Expr]:  # fmt: skip
        """What comes of all numbers: of each thread's own, and then of all threads' by eights."""
        ib = self.ib
        best = [ib.allocate(dtype, (1,), name="best", scope="local" if self.by_threads else "") for dtype, _ in first]
        for one, (_, value) in zip(best, first):
            one[0] = value
        visit(best)
        if not self.by_threads:
            return [ib.let("found", one[0]) for one in best]
        every = [ib.allocate(dtype, (self._count,), name="every", scope="shared") for dtype, _ in first]
        for held, one in zip(every, best):
            held[self._thread] = one[0]
        span = 1
        while span < self._count:
            others = [self._thread ^ te.const(n * span, "int32") for n in range(1, min(_AT_ONCE, self._count // span))]
            found = [[[ib.let("other", held[away])] for held in every] for away in others]
            for other in found:
                combine(best, other)
            for held, one in zip(every, best):
                held[self._thread] = one[0]
            span *= _AT_ONCE
        return [ib.let("found", held[0]) for held in every]


def reflector(ib: Any, leading: Any, below: Any, dtype: str) -> tuple[Any, Any, Any]:
    """The reflection of a column that leaves nothing below its `leading` element; `below` is the sum of squares there.

    It has the new leading element and what the others are divided by, in float64, and the scale in `dtype`.
    """
    norm = ib.let("norm", te.sqrt(leading * leading + below))
    is_done = ib.let("is_done", below.equal(0.0))
    moved = ib.let("moved", te.select(is_done, leading, te.select(leading < 0.0, norm, -norm)))
    apart = ib.let("apart", te.select(is_done, te.const(1, "float64"), leading - moved))
    quotient = te.select(is_done, te.const(0, "float64"), (moved - leading) / moved)
    return moved, apart, ib.let("scale", quotient.astype(dtype))


def reflect_columns(m: Matrices, x: Any, b: Any, step: Any, first: Any, scale: Any, vector: Any, sums: Any) -> None:
    """Reflects the columns from `first` on by a vector, whose element `step` is 1."""
    _, rows, columns = x.buffer.shape
    with m.each(first, columns) as j:
        sums[j] = x[b, step, j]
    with m.ib.for_range(step + 1, rows, name="i") as i, m.each(first, columns) as j:
        sums[j] = sums[j] + vector[i] * x[b, i, j]
    with m.each(first, columns) as j:
        x[b, step, j] = x[b, step, j] - scale * sums[j]
    with m.places((step + 1, rows), (first, columns)) as (i, j):
        x[b, i, j] = x[b, i, j] - scale * vector[i] * sums[j]


def square(element: Any) -> Any:
    """In float64."""
    wide = element.astype("float64")
    return wide * wide


def epsilon_of(dtype: str) -> float:
    """The distance from 1 to the next number."""
    return {"float32": 2.0**-23, "float64": 2.0**-52}[dtype_of(dtype).name]
