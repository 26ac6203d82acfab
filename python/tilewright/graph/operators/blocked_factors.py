"""Triangular factors of matrices of many rows on a GPU, by panels."""

from __future__ import annotations

from typing import Any

from ... import te
from .blocks import Blocks

__all__ = ["cholesky", "lu", "solve_triangular"]


def cholesky(m: Blocks, x: Any, lower: Any) -> None:
    """As `factors.cholesky`."""
    ib, rows, width = m.ib, m.rows, m.width
    with m.each_matrix() as b:
        column = ib.allocate(m.dtype, (width,), name="column", scope="shared")
        with m.places((0, rows), (0, rows)) as (i, j):
            lower[b, i, j] = te.select(j <= i, x[b, i, j], m.zero())
        with m.panels(rows) as (first, end):
            panel = m.loaded(first, lambda i, j: te.select(j < rows, lower[b, i, te.min(j, rows - 1)], m.zero()))
            with ib.for_range(0, width, name="step") as step:
                for row, own in panel.rows[:1]:
                    # It begins with the pivot, and ends with 0 for the columns that are done, which do not change.
                    with ib.if_scope(row < end):
                        place = (row - first + width - step) % width
                        column[place] = te.select(row >= first + step, own[0], m.zero())
                # A panel's columns behind the last one are 0.
                pivot = ib.let("pivot", te.select(first + step < rows, te.sqrt(column[0]), te.const(1, m.dtype)))
                for row, own in panel.rows:
                    with ib.if_scope(row < rows):
                        is_below, is_pivot = row > first + step, row.equal(first + step)
                        quotient = ib.let("quotient", own[0] / pivot)
                        multiple = ib.let("multiple", te.select(is_below, quotient / pivot, m.zero()))
                        stays = te.select(is_below, quotient, te.select(is_pivot, pivot, own[0]))
                        panel.step(own, lambda u: column[u], multiple, stays)
            for row, own in panel.rows:
                with ib.if_scope(row < rows):
                    for u in range(width):
                        with ib.if_scope(first + u <= row):
                            lower[b, row, first + u] = own[u]
            rest = (end, rows)
            m.subtract_product(
                lambda i, j: (b, i, j), lower, lambda i, k: lower[b, i, first + k], lambda k, j: lower[b, j, first + k],
                rest, rest, lower=True,
            )  # fmt: skip
        with m.places((0, rows), (0, rows)) as (i, j), ib.if_scope(j > i):
            lower[b, i, j] = m.zero()


def lu(m: Blocks, x: Any, factors: Any, pivots: Any) -> None:
    """As `factors.lu`. In a panel rows stay where they are, and each knows its place; it is stored there."""
    ib, rows, columns, width = m.ib, m.rows, m.columns, m.width
    count = min(rows, columns)
    with m.each_matrix() as b:
        pivot_row = ib.allocate(m.dtype, (width,), name="pivot_row", scope="shared")
        top = m.held_matrix(width, width + 4, "top")
        comes_from = ib.allocate("int32", (width,), name="comes_from", scope="shared")
        goes_to = ib.allocate("int32", (width,), name="goes_to", scope="shared")
        with m.each(0, width) as i:
            pivot_row[i] = m.zero()
        with m.places((0, rows), (0, columns)) as (i, j):
            factors[b, i, j] = x[b, i, j]
        with m.panels(count) as (first, end):
            panel = m.loaded(
                first, lambda i, j: te.select(j < columns, factors[b, i, te.min(j, columns - 1)], m.zero())
            )
            places = [ib.allocate("int32", (1,), name="place", scope="local") for _ in panel.rows]
            for place, (row, _) in zip(places, panel.rows):
                place[0] = row.astype("int32")
            with ib.for_range(0, width, name="step") as step:
                now = ib.let("now", (first + step).astype("int32"))
                is_step = ib.let("is_step", now < count)

                def visit(take: Any, now: Any = now, is_step: Any = is_step) -> None:
                    for place, (row, own) in zip(places, panel.rows):
                        with ib.if_scope(te.all(is_step, row < rows, place[0] >= now)):
                            take(te.abs(own[0]), place[0])

                pivot = m.largest_of(now, visit, m.dtype)
                with m.once(), ib.if_scope(is_step):
                    pivots[b, now] = pivot
                for place, (row, own) in zip(places, panel.rows):
                    is_pivot = ib.let("is_pivot", te.all(is_step, row < rows, place[0].equal(pivot)))
                    with ib.if_scope(is_pivot):
                        for u in range(width):
                            pivot_row[u] = te.select(step + u < width, own[u], m.zero())
                    place[0] = te.select(
                        is_pivot, now, te.select(te.all(is_step, place[0].equal(now)), pivot, place[0])
                    )
                largest = ib.let("largest", pivot_row[0])
                for place, (row, own) in zip(places, panel.rows):
                    with ib.if_scope(row < rows):
                        is_below = te.all(is_step, place[0] > now)
                        below = ib.let("below", own[0])
                        quotient = te.select(largest.equal(m.zero()), below, below / largest)
                        multiple = ib.let("multiple", te.select(is_below, quotient, m.zero()))
                        stays = te.select(is_below, multiple, below)
                        panel.step(own, lambda u: pivot_row[u], multiple, stays)
            for place, (row, own) in zip(places, panel.rows):
                with ib.if_scope(row < rows):
                    for u in range(width):
                        with ib.if_scope(first + u < columns):
                            factors[b, place[0], first + u] = own[u]
                    with ib.if_scope(place[0] < end):
                        comes_from[place[0] - first] = row
                        for u in range(width):
                            top[place[0] - first, u] = own[u]
                    with ib.if_scope(row < end):
                        goes_to[row - first] = place[0]
            _exchange_and_solve(m, factors, b, first, end, comes_from, goes_to, top)
            m.subtract_product(
                lambda i, j: (b, i, j), factors, lambda i, k: factors[b, i, first + k],
                lambda k, j: factors[b, first + k, j], (end, rows), (end, columns),
            )  # fmt: skip


def _exchange_and_solve(
    m: Blocks, factors: Any, b: Any, first: Any, end: Any, comes_from: Any, goes_to: Any, top: Any
) -> None:
    """Exchanges the rows beside a panel as those of the panel were, and solves for those beside its triangle."""
    ib, rows, columns, width = m.ib, m.rows, m.columns, m.width
    came, was = (ib.allocate(m.dtype, (width,), name=name, scope="local") for name in ("came", "was"))
    with m.each(0, columns) as j, ib.if_scope(te.any(j < first, j >= end)):
        with m.unrolled(0, width) as u:
            row = te.min(first + u, rows - 1)
            came[u] = factors[b, comes_from[te.min(u, rows - 1 - first)], j]
            was[u] = factors[b, row, j]
        with m.unrolled(0, width) as u, ib.if_scope(first + u < rows), ib.if_scope(goes_to[u] >= end):
            factors[b, goes_to[u], j] = was[u]
        with ib.if_scope(j >= end):
            for step in range(width - 1):
                with m.unrolled(step + 1, width) as u:
                    came[u] = came[u] - top[u, step] * came[step]
        with m.unrolled(0, width) as u, ib.if_scope(first + u < rows):
            factors[b, first + u, j] = came[u]


def solve_triangular(m: Blocks, a: Any, given: Any, x: Any, upper: bool, unit: bool) -> None:
    """As `factors.solve_triangular`."""
    ib, rows, width = m.ib, m.rows, m.width
    steps = [*range(width)][:: -1 if upper else 1]
    with m.each_part() as (b, left, right):
        triangle = m.held_matrix(width, width + 4, "triangle")
        known = ib.allocate(m.dtype, (width,), name="known", scope="local")
        with m.places((0, rows), (left, right)) as (i, j):
            x[b, i, j] = given[b, i, j]
        with m.panels(rows, last_first=upper) as (first, end):
            with m.places((0, width), (0, width)) as (i, j):
                within = te.all(first + i < rows, first + j < rows, j >= i if upper else j <= i)
                element = a[b, te.min(first + i, rows - 1), te.min(first + j, rows - 1)]
                triangle[i, j] = te.if_then_else(within, element, te.const(1, m.dtype) * i.equal(j).astype(m.dtype))
            with m.each(left, right) as j:
                with m.unrolled(0, width) as u:
                    known[u] = te.select(first + u < rows, x[b, te.min(first + u, rows - 1), j], m.zero())
                for number, step in enumerate(steps):
                    if not unit:
                        known[step] = known[step] / triangle[step, step]
                    unknown = (0, step) if upper else (step + 1, width)
                    if number + 1 < width:
                        with m.unrolled(*unknown) as u:
                            known[u] = known[u] - triangle[u, step] * known[step]
                with m.unrolled(0, width) as u, ib.if_scope(first + u < rows):
                    x[b, first + u, j] = known[u]
            rest = (0, first) if upper else (end, rows)
            m.subtract_product(
                lambda i, j: (b, i, j), x, lambda i, k: a[b, i, te.min(first + k, rows - 1)],
                lambda k, j: te.select(first + k < rows, x[b, te.min(first + k, rows - 1), j], m.zero()),
                rest, (left, right),
            )  # fmt: skip
