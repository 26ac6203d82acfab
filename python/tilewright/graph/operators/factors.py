"""Triangular factors of matrices, by statements: their size and the time to compile them do not grow with the matrix.

Whether a matrix is singular or not definite is not checked: its factors then have zeros, infinities and NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import te
from ...te import Tensor
from . import blocked_factors, blocked_reflections
from .blocks import Blocks
from .common import operator
from .matrices import Matrices, reflect_columns, reflector, square

__all__ = ["LEAST", "made_by"]

LEAST = 48
"""From so many rows and columns on, a GPU makes factors by panels."""

_BY_PANELS: dict[str, Callable[..., None]] = {
    one.__name__: one for one in (
        blocked_factors.cholesky, blocked_factors.lu, blocked_factors.solve_triangular, blocked_reflections.reflect,
        blocked_reflections.reflections,
    )
}  # fmt: skip


def made_by(
    function: Callable[..., None], results: Sequence[tuple[Sequence[Any], str]], given: Sequence[Tensor],
    by_threads: bool, **options: Any,
) -> Any:  # fmt: skip
    """The results, a shape and a type each, of a function that writes statements for the operands and the results."""
    shape: Any = given[-1].shape

    by_panels = _BY_PANELS.get(function.__name__.strip("_"))
    if not by_threads or min(map(int, given[0].shape[1:])) < LEAST:
        by_panels = None

    def statements(ins: list[Any], outs: list[Any]) -> Any:
        buffers = [*ins, *outs]
        if by_panels is not None:
            blocks = Blocks(buffers, shape[1], shape[2], given[-1].dtype, in_parts=len(given) > 1)
            by_panels(blocks, *blocks.buffers, **options)
            return blocks.ib.get()
        matrices = Matrices(buffers, shape[1], shape[2], by_threads)
        function(matrices, *matrices.buffers, **options)
        return matrices.ib.get()

    shapes, types = [list(shape) for shape, _ in results], [dtype for _, dtype in results]
    name = function.__name__.strip("_")
    return te.extern(shapes, list(given), statements, name=name, dtype=types)


@operator
def lu(x: Tensor, *, by_threads: bool) -> tuple[Tensor, Tensor]:
    """By matrix of [batch, rows, columns] its L below the diagonal and its U, and the row that each step exchanged.

    The pivots are int32, from 0 on. L has a unit diagonal.
    """
    batch, rows, columns = x.shape
    results = [(x.shape, x.dtype), ((batch, min(rows, columns)), "int32")]
    return made_by(_lu, results, [x], by_threads)


def _lu(m: Matrices, x: Any, factors: Any, pivots: Any) -> None:
    _, rows, columns = x.buffer.shape
    ib = m.ib
    with m.each_matrix() as b:
        row, column = m.held(x.dtype, columns, "row"), m.held(x.dtype, rows, "column")
        with m.places((0, rows), (0, columns)) as (i, j):
            factors[b, i, j] = x[b, i, j]
        with ib.for_range(0, min(rows, columns), name="step") as step:
            pivot = m.largest(step, rows, lambda i: te.abs(factors[b, i, step]), x.dtype)
            with m.once():
                pivots[b, step] = pivot
            with m.each(0, columns) as j:
                taken = ib.let("taken", factors[b, pivot, j])
                factors[b, pivot, j] = factors[b, step, j]
                factors[b, step, j] = taken
                row[j] = taken
            with m.each(step + 1, rows) as i:
                below = ib.let("below", factors[b, i, step])
                quotient = ib.let("quotient", te.select(row[step].equal(0.0), below, below / row[step]))
                factors[b, i, step] = quotient
                column[i] = quotient
            with m.places((step + 1, rows), (step + 1, columns)) as (i, j):
                factors[b, i, j] = factors[b, i, j] - column[i] * row[j]


@operator
def row_order(pivots: Tensor, *, rows: int, by_threads: bool) -> Tensor:
    """By batch the row, int32, that comes to each of so many places where each step exchanged its row with its pivot.

    `pivots` is [batch, steps], as `lu` makes them.
    """
    batch, count = pivots.shape[0], int(pivots.shape[1])

    def statements(ins: list[Any], outs: list[Any]) -> Any:
        m = Matrices([*ins, *outs], rows, 1, by_threads)
        of_step, order = m.buffers
        with m.each_matrix() as b:
            # One thread takes each of these after the other: from shared memory.
            places, exchanged = m.held("int32", rows, "places"), m.held("int32", count, "exchanged")
            with m.each(0, rows) as i:
                places[i] = i
            with m.each(0, count) as i:
                exchanged[i] = of_step[b, i]
            with m.once(), m.ib.for_range(0, count, name="step") as step:
                pivot = m.ib.let("pivot", exchanged[step])
                taken = m.ib.let("taken", places[pivot])
                places[pivot] = places[step]
                places[step] = taken
            with m.each(0, rows) as i:
                order[b, i] = places[i]
        return m.ib.get()

    return te.extern((batch, rows), [pivots], statements, name="row_order", dtype="int32")


@operator
def cholesky(x: Tensor, *, by_threads: bool) -> Tensor:
    """The lower triangle L of L times its transpose, of the lower half of each matrix of [batch, rows, rows]."""
    return made_by(_cholesky, [(x.shape, x.dtype)], [x], by_threads)


def _cholesky(m: Matrices, x: Any, lower: Any) -> None:
    _, rows, _ = x.buffer.shape
    ib = m.ib
    with m.each_matrix() as b:
        column = m.held(x.dtype, rows, "column")
        with m.places((0, rows), (0, rows)) as (i, j):
            lower[b, i, j] = te.select(j <= i, x[b, i, j], te.const(0, x.dtype))
        with ib.for_range(0, rows, name="step") as step:
            diagonal = ib.let("diagonal", te.sqrt(lower[b, step, step]))
            with m.each(step, rows) as i:
                quotient = ib.let("quotient", te.select(i.equal(step), diagonal, lower[b, i, step] / diagonal))
                lower[b, i, step] = quotient
                column[i] = quotient
            with m.places((step + 1, rows), (step + 1, rows)) as (i, j), ib.if_scope(j <= i):
                lower[b, i, j] = lower[b, i, j] - column[i] * column[j]


@operator
def solve_triangular(a: Tensor, b: Tensor, *, upper: bool, unit: bool, by_threads: bool) -> Tensor:
    """x of a x = b by matrix of a, [batch, rows, rows]; `b` is [batch, rows, columns].

    The half of `a` that is not its `upper` or lower one is not read; with `unit` its diagonal is not, either.
    """
    return made_by(_solve_triangular, [(b.shape, b.dtype)], [a, b], by_threads, upper=upper, unit=unit)


def _solve_triangular(m: Matrices, a: Any, right: Any, x: Any, upper: bool, unit: bool) -> None:
    _, rows, columns = right.buffer.shape
    ib = m.ib
    with m.each_matrix() as b:
        row = m.held(x.dtype, columns, "row")
        with m.places((0, rows), (0, columns)) as (i, j):
            x[b, i, j] = right[b, i, j]
        with ib.for_range(0, rows, name="n") as n:
            step = rows - 1 - n if upper else n
            with m.each(0, columns) as j:
                value = x[b, step, j] if unit else x[b, step, j] / a[b, step, step]
                known = ib.let("known", value)
                x[b, step, j] = known
                row[j] = known
            with m.places((0, step) if upper else (step + 1, rows), (0, columns)) as (i, j):
                x[b, i, j] = x[b, i, j] - a[b, i, step] * row[j]


@operator
def reflections(x: Tensor, *, by_threads: bool) -> tuple[Tensor, Tensor]:
    """By matrix of [batch, rows, columns] its R, with the vectors of Q's reflections below it, and their scales.

    They are as LAPACK's geqrf has them: the first element of each vector is 1, and is not stored.
    """
    batch, rows, columns = x.shape
    results = [(x.shape, x.dtype), ((batch, min(rows, columns)), x.dtype)]
    return made_by(_reflections, results, [x], by_threads)


def _reflections(m: Matrices, x: Any, factors: Any, scales: Any) -> None:
    _, rows, columns = x.buffer.shape
    ib = m.ib
    with m.each_matrix() as b:
        vector, sums = m.held(x.dtype, rows, "vector"), m.held(x.dtype, columns, "sums")
        with m.places((0, rows), (0, columns)) as (i, j):
            factors[b, i, j] = x[b, i, j]
        with ib.for_range(0, min(rows, columns), name="step") as step:
            below = m.total(step + 1, rows, lambda i: square(factors[b, i, step]))
            first = ib.let("first", factors[b, step, step].astype("float64"))
            moved, apart, scale = reflector(ib, first, below, x.dtype)
            with m.once():
                scales[b, step] = scale
                factors[b, step, step] = moved.astype(x.dtype)
            with m.each(step + 1, rows) as i:
                element = ib.let("element", (factors[b, i, step].astype("float64") / apart).astype(x.dtype))
                factors[b, i, step] = element
                vector[i] = element
            reflect_columns(m, factors, b, step, step + 1, scale, vector, sums)


@operator
def reflect(factors: Tensor, scales: Tensor, x: Tensor, *, transposed: bool, by_threads: bool) -> Tensor:
    """Q x of the reflections of Q: `factors` [batch, rows, …] and `scales`, as `reflections` makes them.

    `x` is [batch, rows, columns]; the matrix Q of all rows may be `transposed`.
    """
    return made_by(_reflect, [(x.shape, x.dtype)], [factors, scales, x], by_threads, transposed=transposed)


def _reflect(m: Matrices, factors: Any, scales: Any, x: Any, made: Any, transposed: bool) -> None:
    _, rows, columns = x.buffer.shape
    count = scales.buffer.shape[1]
    ib = m.ib
    with m.each_matrix() as b:
        vector, sums = m.held(x.dtype, rows, "vector"), m.held(x.dtype, columns, "sums")
        with m.places((0, rows), (0, columns)) as (i, j):
            made[b, i, j] = x[b, i, j]
        with ib.for_range(0, count, name="n") as n:
            step = n if transposed else count - 1 - n
            scale = ib.let("scale", scales[b, step])
            with m.each(step + 1, rows) as i:
                vector[i] = factors[b, i, step]
            reflect_columns(m, made, b, step, 0, scale, vector, sums)
