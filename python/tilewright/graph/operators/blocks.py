"""Blocked factorisations on a GPU: a panel of columns in registers, then the rest of the matrix by tiles.

A block of threads has a matrix. In a panel each thread has whole rows. After each step the row's elements move by one
register, so that the next column is always the first: the loop over steps is not unrolled, and its indices are known.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ... import te
from ...rules.context import power_of_two
from ...te import Expr
from .matrices import Matrices

__all__ = ["Blocks"]

_MOST_THREADS, _LEAST_THREADS = 512, 128
_PANEL = 32
"""The most columns of a panel."""

_REGISTERS = 64
"""So many registers a thread has for its rows of a panel."""

_OWN_ROWS, _OWN_COLUMNS = 8, 4
"""A thread's elements of a tile."""

_TILE_ROWS = 256
"""A tile of few columns has no more rows than this."""


class Blocks(Matrices):
    """Statements of a block of threads for a matrix of many rows, which panels of `width` columns are made of."""

    def __init__(self, buffers: list[Any], rows: int, columns: int, dtype: str) -> None:
        threads = max(_LEAST_THREADS, min(_MOST_THREADS, power_of_two(rows)))
        super().__init__(buffers, rows, columns, True, threads)
        self.dtype, self.rows, self.columns = dtype, rows, columns
        self._turns = -(-rows // threads)
        words = 2 if dtype == "float64" else 1
        self.width = _PANEL
        while self.width > 4 and self._turns * self.width * words > _REGISTERS:
            self.width //= 2

    def zero(self) -> Expr:
        return te.const(0, self.dtype)

    def unrolled(self, begin: int, end: int) -> Any:
        return self.ib.for_range(begin, end, name="u", kind="unroll")

    @contextmanager
    def panels(self, count: int, *, last_first: bool = False) -> Generator[tuple[Any, Any]]:
        """The first column of each panel of `count` columns, and the first one behind it."""
        number = -(-count // self.width)
        with self.ib.for_range(0, number, name="panel") as panel:
            first = (number - 1 - panel if last_first else panel) * self.width
            yield first, first + self.width

    def loaded(self, first: Any, read: Callable[[Any, Any], Expr]) -> Panel:
        """The rows of a panel from `first` on in registers; `read` is asked for a row's element in a column of it."""
        ib, rows = self.ib, list[tuple[Any, Any]]()
        for turn in range(self._turns):
            row, own = (
                first + (turn * self._count + self._thread),
                ib.allocate(self.dtype, (self.width,), name="own", scope="local"),
            )
            rows.append((row, own))
            with self.unrolled(0, self.width) as u:
                own[u] = self.zero()
            with ib.if_scope(row < self.rows), self.unrolled(0, self.width) as u:
                own[u] = read(row, first + u)
        return Panel(self, rows)

    def held_matrix(self, rows: int, columns: int, name: str) -> Any:
        """A matrix that all threads share."""
        return self.ib.allocate(self.dtype, (rows, columns), name=name, scope="shared")

    def subtract_product(
        self, target: Callable[[Any, Any], tuple[Any, ...]], of: Any, a: Callable[[Any, Any], Expr],
        b: Callable[[Any, Any], Expr], rows: tuple[Any, Any], columns: tuple[Any, Any], *, lower: bool = False,
    ) -> None:  # fmt: skip
        """Subtracts from the elements `of[target(i, j)]` between bounds the sums over a panel of `a(i, k) * b(k, j)`.

        With `lower`, the rows and columns begin together, and tiles above the diagonal are left out.
        """
        ib, x, y, depth = self.ib, self._x, self._y, self.width
        own_columns = min(_OWN_COLUMNS, -(-self.columns // self._across))
        own_rows = max(1, min(_OWN_ROWS, _TILE_ROWS // self._down))
        high, wide = own_rows * self._down, own_columns * self._across
        # Vectors of rows are read; the 4 elements more keep writes apart.
        a_tile, b_tile = self.held_matrix(depth, high + 4, "a_tile"), self.held_matrix(depth, wide, "b_tile")
        sums = ib.allocate(self.dtype, (own_rows, own_columns), name="sums", scope="local")
        (top, bottom), (left, right) = rows, columns
        tiles = te.select(bottom > top, (right - left + (wide - 1)) // wide, 0)
        with ib.for_range(0, tiles, name="tile") as tile:
            first_column = left + tile * wide
            with self._part(depth * wide) as e:
                j = te.min(first_column + e % wide, right - 1)
                b_tile[e // wide, e % wide] = b(e // wide, j)
            skipped = tile * wide // high if lower else 0
            with ib.for_range(skipped, (bottom - top + (high - 1)) // high, name="down") as down:
                first_row = top + down * high

                def at(r: Any, c: Any, first_row: Any = first_row, first_column: Any = first_column) -> Any:
                    return first_row + y * own_rows + r, first_column + c * self._across + x

                with self.unrolled(0, own_rows) as r, self.unrolled(0, own_columns) as c:
                    i, j = at(r, c)
                    sums[r, c] = of[target(te.min(i, bottom - 1), te.min(j, right - 1))]
                with self._part(depth * high) as e:
                    i = te.min(first_row + e // depth, bottom - 1)
                    a_tile[e % depth, e // depth] = a(i, e % depth)
                with ib.for_range(0, depth // 4, name="k") as group, self.unrolled(0, 4) as u:
                    k = group * 4 + u
                    with self.unrolled(0, own_rows) as r, self.unrolled(0, own_columns) as c:
                        product = a_tile[k, y * own_rows + r] * b_tile[k, c * self._across + x]
                        sums[r, c] = sums[r, c] - product
                # Not in a loop: so it is known that no two threads store an element, and no barriers are needed.
                for r in range(own_rows):
                    for c in range(own_columns):
                        i, j = at(r, c)
                        with ib.if_scope(te.all(i < bottom, j < right)):
                            of[target(i, j)] = sums[r, c]

    @contextmanager
    def _part(self, count: int) -> Generator[Any]:
        """A thread's numbers of `count`, which neighbours take side by side."""
        threads = self._count
        with self.ib.for_range(0, -(-count // threads), name="part", kind="unroll") as part:
            e = part * threads + self._thread
            if count % threads == 0:
                yield e
            else:
                with self.ib.if_scope(e < count):
                    yield e


@dataclass(frozen=True)
class Panel:
    """Rows of a panel in registers."""

    blocks: Blocks
    rows: list[tuple[Any, Any]]
    """A thread's rows, of which the last ones may not be there, with their elements."""

    def step(self, own: Any, pivots: Any, multiple: Any, stays: Any) -> None:
        """Subtracts a multiple of the elements `pivots` from a row, and moves it on; `stays` is its last element."""
        width = self.blocks.width
        kept = self.blocks.ib.let("kept", stays)
        with self.blocks.unrolled(1, width) as u:
            own[u - 1] = own[u] - multiple * pivots(u)
        own[width - 1] = kept
