"""Reflections of matrices of many rows on a GPU: those of a panel are one product, after Schreiber and Van Loan.

The panel's vectors are the columns of V, with ones on the diagonal. A panel's product with C is C - V W. The columns of
W are solved for: on the right is V' C, on the left are a triangle of V' V and the scales.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import te
from ...te import Expr
from .blocks import Blocks
from .matrices import reflector

__all__ = ["reflect", "reflections"]


def reflections(m: Blocks, x: Any, factors: Any, scales: Any) -> None:
    """As `factors.reflections`."""
    ib, rows, columns, width = m.ib, m.rows, m.columns, m.width
    count = min(rows, columns)
    with m.each_matrix() as b:
        dots = ib.allocate(m.dtype, (width,), name="dots", scope="shared")
        head = ib.allocate(m.dtype, (1,), name="head", scope="shared")
        of_panel = ib.allocate(m.dtype, (width,), name="of_panel", scope="shared")
        gram = m.held_matrix(width, width, "gram")
        with m.once():
            head[0] = m.zero()
        with m.places((0, rows), (0, columns)) as (i, j):
            factors[b, i, j] = x[b, i, j]
        with m.panels(count) as (first, end):
            panel = m.loaded(
                first, lambda i, j: te.select(j < columns, factors[b, i, te.min(j, columns - 1)], m.zero())
            )
            with ib.for_range(0, width, name="step") as step:

                def visit(add: Any, now: Any = first + step, panel: Any = panel) -> None:
                    for row, own in panel.rows:
                        with ib.if_scope(te.all(row > now, row < rows)):
                            wide = own[0].astype("float64")
                            add(wide * wide)

                now = first + step
                for row, own in panel.rows[:1]:
                    with ib.if_scope(te.all(row.equal(now), row < rows)):
                        head[0] = own[0]
                below = m.total_of(visit)
                leading = ib.let("leading", head[0].astype("float64"))
                moved, apart, scale = reflector(ib, leading, below, m.dtype)
                with m.once():
                    of_panel[step] = scale
                vectors, values = list[Expr](), list[Expr]()
                for row, own in panel.rows:
                    element = (own[0].astype("float64") / apart).astype(m.dtype)
                    unit = te.select(row.equal(now), te.const(1, m.dtype), m.zero())
                    vectors.append(ib.let("vector", te.select(te.all(row > now, row < rows), element, unit)))
                for u in range(width):
                    value = vectors[0] * panel.rows[0][1][u]
                    for vector, (_, own) in zip(vectors[1:], panel.rows[1:]):
                        value = value + vector * own[u]
                    values.append(value)
                m.dots(values, dots)
                for vector, (row, own) in zip(vectors, panel.rows):
                    stays = te.select(row > now, vector, te.select(row.equal(now), moved.astype(m.dtype), own[0]))
                    multiple = ib.let("multiple", scale * vector)
                    panel.step(own, lambda u: te.select(step + u < width, dots[u], m.zero()), multiple, stays)
                # Behind the panel's last column there are those that are done, which are the vectors before this one.
                with m.each(0, width) as k:
                    gram[step, k] = dots[te.min(k + width - step, width - 1)]
            with m.each(0, width) as k, ib.if_scope(first + k < count):
                scales[b, first + k] = of_panel[k]
            for row, own in panel.rows:
                with ib.if_scope(row < rows):
                    for u in range(width):
                        with ib.if_scope(first + u < columns):
                            factors[b, row, first + u] = own[u]
            vector = _vectors(m, factors, b, first, count)
            _reflect_columns(m, factors, b, vector, (first, rows), (end, columns), of_panel, gram, transposed=True)


def reflect(m: Blocks, factors: Any, scales: Any, x: Any, made: Any, transposed: bool) -> None:
    """As `factors.reflect`."""
    ib, rows, width = m.ib, m.rows, m.width
    count = scales.buffer.shape[1]
    with m.each_part() as (b, left, right):
        of_panel = ib.allocate(m.dtype, (width,), name="of_panel", scope="shared")
        gram = m.held_matrix(width, width, "gram")
        with m.places((0, rows), (left, right)) as (i, j):
            made[b, i, j] = x[b, i, j]
        with m.panels(count, last_first=not transposed) as (first, _):
            vector = _vectors(m, factors, b, first, count)
            with m.each(0, width) as k:
                of_panel[k] = te.select(first + k < count, scales[b, te.min(first + k, count - 1)], m.zero())
            own = m.held_matrix(width, m.wide, "of_vectors")
            with m.tiles((first, rows), (0, width)) as (_, first_column):
                m.multiply_transposed(own, vector, vector, (first, rows), first_column, width)
                with m.places((0, width), (0, m.wide)) as (k, j), ib.if_scope(first_column + j < width):
                    gram[k, first_column + j] = own[k, j]
            _reflect_columns(m, made, b, vector, (first, rows), (left, right), of_panel, gram, transposed=transposed)


def _vectors(m: Blocks, factors: Any, b: Any, first: Any, count: int) -> Callable[[Any, Any], Expr]:
    """An element of V by its row in the matrix and its column in the panel."""

    def vector(i: Any, k: Any) -> Expr:
        element = factors[b, te.min(i, m.rows - 1), te.min(first + k, count - 1)]
        is_one = te.all(i.equal(first + k), first + k < count)
        is_below = te.all(i > first + k, i < m.rows, first + k < count)
        return te.select(is_below, element, te.select(is_one, te.const(1, m.dtype), m.zero()))

    return vector


def _reflect_columns(
    m: Blocks, c: Any, b: Any, vector: Callable[[Any, Any], Expr], rows: tuple[Any, Any], columns: tuple[Any, Any],
    scales: Any, gram: Any, *, transposed: bool,
) -> None:  # fmt: skip
    """Reflects columns by the reflections of a panel, the last one first unless they are `transposed`."""
    ib, width = m.ib, m.width
    product = m.held_matrix(width, m.wide, "product")
    known = ib.allocate(m.dtype, (width,), name="known", scope="local")
    with m.tiles(rows, columns) as (_, first_column):
        right = columns[1]
        m.multiply_transposed(product, vector, lambda i, j: c[b, i, j], rows, first_column, right)
        with m.each(0, m.wide) as j:
            with m.unrolled(0, width) as u:
                known[u] = product[u, j]
            for step in range(width) if transposed else reversed(range(width)):
                known[step] = known[step] * scales[step]
                left = (step + 1, width) if transposed else (0, step)
                if left[0] < left[1]:
                    with m.unrolled(*left) as u:
                        known[u] = known[u] - gram[u, step] * known[step]
            with m.unrolled(0, width) as u:
                product[u, j] = known[u]
        m.subtract_rows(lambda i, j: (b, i, j), c, vector, product, rows, (first_column, right))
