"""Singular values by Jacobi's rotations: in each round, each row is in one pair of rows."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Protocol

from ... import te
from ...te import Expr, Tensor
from .common import operator
from .factors import made_by
from .matrices import Matrices, epsilon_of

__all__: list[str] = []

_MOST_SWEEPS = 40
"""So many times each pair of rows is rotated at most. About 10 are enough for hundreds of rows."""


@operator
def orthogonalize(x: Tensor, *, by_threads: bool) -> tuple[Tensor, Tensor]:
    """Orthogonal rows that matrices' rows become by rotations, and these: their product with `x` is the first result.

    `x` is [batch, rows, columns], the rotations are [batch, rows, rows]. The rows' norms are the singular values.
    """
    batch, rows, _ = x.shape
    return made_by(_orthogonalize, [(x.shape, x.dtype), ((batch, rows, rows), x.dtype)], [x], by_threads)


def _orthogonalize(m: Matrices, x: Any, made: Any, rotations: Any) -> None:
    _, rows, columns = x.buffer.shape
    ib, dtype, epsilon = m.ib, x.dtype, epsilon_of(x.dtype)
    turned = ib.allocate(dtype, x.buffer.shape, name="turned", scope="global")
    spare = ib.allocate(dtype, rotations.buffer.shape, name="spare", scope="global")
    with m.each_matrix() as b:
        with m.places((0, rows), (0, columns)) as (i, j):
            made[b, i, j] = x[b, i, j]
        with m.places((0, rows), (0, rows)) as (i, j):
            rotations[b, i, j] = te.select(i.equal(j), te.const(1, dtype), te.const(0, dtype))

        least = ib.let("least", (_squares(m, x, b) * epsilon**2).astype(dtype))

        def angle(i: Any, j: Any) -> tuple[Expr, Expr, Expr]:
            sums = ib.allocate(dtype, (3,), name="sums")
            for n in range(3):
                sums[n] = te.const(0, dtype)
            with ib.for_range(0, columns, name="k") as k:
                first, second = ib.let("first", made[b, i, k]), ib.let("second", made[b, j, k])
                sums[0] = sums[0] + first * first
                sums[1] = sums[1] + second * second
                sums[2] = sums[2] + first * second
            of_both = te.sqrt(sums[0]) * te.sqrt(sums[1])
            # Rows that are nothing but errors of rounding need not be orthogonal.
            is_large = te.abs(sums[2]) > te.max(of_both * (epsilon * columns**0.5), least)
            return is_large, sums[1] - sums[0], sums[2]

        with _sweeps(m, rows, dtype, angle) as turn:
            turn(columns, made, turned, lambda i, k: (b, i, k))
            turn(rows, rotations, spare, lambda i, k: (b, i, k))
            m.replace(rows, columns, lambda i, j: turned[b, i, j], made, lambda i, j: (b, i, j), dtype)
            m.replace(rows, rows, lambda i, j: spare[b, i, j], rotations, lambda i, j: (b, i, j), dtype)


def _squares(m: Matrices, x: Any, b: Any) -> Expr:
    """The sum of the squares of a matrix's elements."""
    _, rows, columns = x.buffer.shape

    def of_row(i: Any) -> Expr:
        total = m.ib.allocate("float64", (1,), name="sum_of_row")
        total[0] = te.const(0, "float64")
        with m.ib.for_range(0, columns, name="j") as j:
            element = m.ib.let("element", x[b, i, j].astype("float64"))
            total[0] = total[0] + element * element
        return total[0]

    return m.total(0, rows, of_row)


class _Turn(Protocol):
    """Turns elements of pairs of rows: their number, from one buffer to another, by their places."""

    def __call__(
        self, length: int, source: Any, target: Any, place: Callable[[Any, Any], tuple[Any, ...]]
    ) -> None: ...  # fmt: skip


@contextmanager
def _sweeps(
    m: Matrices, rows: int, dtype: str, angle: Callable[[Any, Any], tuple[Expr, Expr, Expr]]
) -> Generator[_Turn]:  # fmt: skip
    """Rounds, until no pair of rows has to be rotated: the place of a row in a round is as in a tournament.

    `angle` says of two rows whether they have to be, the difference of their squares, and their product. Gives what
    turns the elements of each pair of rows.
    """
    ib = m.ib
    around = rows - 1 + rows % 2  # the number of rounds; the row of this number, where there is one, stays in its place
    sines, half_tangents = m.held(dtype, rows, "sines"), m.held(dtype, rows, "half_tangents")
    partners, counts = m.held("int32", rows, "partners"), m.held("int32", rows, "counts")
    state = m.held("int32", 1, "state")
    one, zero = te.const(1, dtype), te.const(0, dtype)

    def turn(length: int, source: Any, target: Any, place: Callable[[Any, Any], tuple[Any, ...]]) -> None:
        def value(i: Any, c: Any) -> Expr:
            other_place = place(ib.let("partner", partners[i]), c)
            own, other = ib.let("own", source[place(i, c)]), ib.let("other", source[other_place])
            # Of small angles this is more exact than a sum with the cosine.
            return own - sines[i] * (other + half_tangents[i] * own)

        m.replace(rows, length, value, target, place, dtype)

    with m.once():
        state[0] = te.const(1, "int32")
    with ib.for_range(0, _MOST_SWEEPS, name="sweep"), ib.if_scope(state[0] > 0):
        with m.each(0, rows) as i:
            counts[i] = te.const(0, "int32")
        with ib.for_range(0, around, name="round") as round_:
            with m.each(0, rows) as i:
                opposite = (round_ * 2 + (around - i)) % around
                opposite = te.select(opposite.equal(i), around, opposite)
                partner = ib.let("partner", te.select(i.equal(around), round_, opposite))
                sines[i], half_tangents[i], partners[i] = zero, zero, i
                with ib.if_scope(partner < rows):
                    partners[i] = partner
                    first, second = ib.let("first", te.min(i, partner)), ib.let("second", te.max(i, partner))
                    is_large, difference, product = angle(first, second)
                    with ib.if_scope(te.any(product > zero, product < zero)):
                        ratio = ib.let("ratio", difference / (product + product))
                        root = te.abs(ratio) + te.sqrt(ratio * ratio + one)
                        sign = te.select((ratio < zero) ^ (i > partner), -one, one)
                        tangent = ib.let("tangent", sign / root)
                        cosine = ib.let("cosine", one / te.sqrt(tangent * tangent + one))
                        sines[i] = tangent * cosine
                        half_tangents[i] = tangent * cosine / (one + cosine)
                    counts[i] = counts[i] + te.select(is_large, 1, 0)
            yield turn
        found = m.total(0, rows, lambda i: counts[i], "int32")
        with m.once():
            state[0] = found
