"""Blocked factorisations on a GPU: a panel of columns in registers, then the rest of the matrix by tiles.

A block of threads has a matrix. In a panel each thread has whole rows. After each step the row's elements move by one
register, so that the next column is always the first. So the loop over steps need not be unrolled.
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

__all__ = ["PANEL", "Blocks"]

_MOST_THREADS, _LEAST_THREADS = 512, 128
PANEL = 32
"""The most columns of a panel."""

_REGISTERS = 64
"""So many registers a thread has for its rows of a panel."""

_OWN_ROWS, _OWN_COLUMNS = 8, 4
"""A thread's elements of a tile."""

_CHUNK = 64
"""So many rows of the matrix are in shared memory at a time where sums are over rows."""

_PART = 64
"""So many columns a block has where each column is made of itself."""

_TILE_ROWS = 256
"""A tile of few columns has no more rows than this."""


class Blocks(Matrices):
    """Statements of a block of threads for a matrix of many rows, which panels of `width` columns are made of."""

    def __init__(self, buffers: list[Any], rows: int, columns: int, dtype: str, *, in_parts: bool) -> None:
        threads = max(_LEAST_THREADS, min(_MOST_THREADS, power_of_two(rows)))
        super().__init__(buffers, rows, columns, True, threads)
        self.dtype: str = dtype
        self.rows: int = rows
        self.columns: int = columns
        self._turns = -(-rows // threads)
        words = 2 if dtype == "float64" else 1
        self.width: int = PANEL // words
        while self.width > 4 and self._turns * self.width * words > _REGISTERS:
            self.width //= 2
        self._own_columns = min(_OWN_COLUMNS, -(-(_PART if in_parts else columns) // self._across))
        self._own_rows = max(1, min(_OWN_ROWS, _TILE_ROWS // self._down))
        self.wide: int = self._own_columns * self._across

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

    @contextmanager
    def each_part(self) -> Generator[tuple[Any, Any, Any]]:
        """The number of the matrix, and the columns of it, from a first one to a last one, that a block has."""
        parts = -(-self.columns // _PART)
        with self.each_matrix(parts) as block:
            left = block % parts * _PART
            one = (block // parts, left, te.min(left + _PART, self.columns))
            yield one if parts > 1 else (block, 0, self.columns)

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

        With `lower`, the rows and columns begin together, tiles above the diagonal are left out, and neighbours in
        memory are along k for both operands.
        """
        depth, wide, high = self.width, self.wide, self._own_rows * self._down
        b_tile = self.held_matrix(depth, wide + lower, "b_tile")
        right = columns[1]
        with self.tiles(rows, columns) as (tile, first_column):
            with self._part(depth * wide) as e:
                k, j = (e % depth, e // depth) if lower else (e // wide, e % wide)
                b_tile[k, j] = b(k, te.min(first_column + j, right - 1))
            skipped = tile * wide // high if lower else 0
            self.subtract_rows(target, of, a, b_tile, rows, (first_column, right), skipped)

    @contextmanager
    def tiles(self, rows: tuple[Any, Any], columns: tuple[Any, Any]) -> Generator[tuple[Any, Any]]:
        """The number of each tile of columns, and its first column; none where there are no rows."""
        (top, bottom), (left, right) = rows, columns
        tiles = te.select(bottom > top, (right - left + (self.wide - 1)) // self.wide, 0)
        with self.ib.for_range(0, tiles, name="tile") as tile:
            yield tile, left + tile * self.wide

    def subtract_rows(
        self, target: Callable[[Any, Any], tuple[Any, ...]], of: Any, a: Callable[[Any, Any], Expr], b_tile: Any,
        rows: tuple[Any, Any], columns: tuple[Any, Any], skipped: Any = 0,
    ) -> None:  # fmt: skip
        """As `subtract_product` for one tile of columns, whose `b` is there; `skipped` tiles of rows are left out."""
        ib, x, y, depth = self.ib, self._x, self._y, self.width
        own_rows, own_columns = self._own_rows, self._own_columns
        high = own_rows * self._down
        # Vectors of rows are read; the 4 elements more keep writes apart.
        a_tile = self.held_matrix(depth, high + 4, "a_tile")
        sums = ib.allocate(self.dtype, (own_rows, own_columns), name="sums", scope="local")
        (top, bottom), (first_column, right) = rows, columns
        with ib.for_range(skipped, (bottom - top + (high - 1)) // high, name="down") as down:
            first_row = top + down * high

            def at(r: Any, c: Any) -> Any:
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

    def multiply_transposed(
        self, product: Any, v: Callable[[Any, Any], Expr], c: Callable[[Any, Any], Expr], rows: tuple[Any, Any],
        first_column: Any, right: Any,
    ) -> None:  # fmt: skip
        """Sums `v(i, k) * c(i, j)` over rows, for all columns k of a panel and the columns j of a tile.

        `product`, in shared memory, has a row for each k. The rows are shared among threads; `v` is 0 in those that
        are not there.
        """
        ib, x, depth, wide = self.ib, self._x, self.width, self.wide
        own = min(_OWN_ROWS, depth)
        groups = depth // own
        splits = self._down // groups
        each = max(1, _CHUNK // splits)
        chunk = splits * each
        v_tile, c_tile = self.held_matrix(chunk, depth, "v_tile"), self.held_matrix(chunk, wide, "c_tile")
        sums = ib.allocate(self.dtype, (own, self._own_columns), name="sums", scope="local")
        so_far = ib.allocate(self.dtype, (own, self._own_columns), name="so_far", scope="local")
        group, split = self._y % groups, self._y // groups
        top, bottom = rows
        with self._part(depth * wide) as e:
            product[e // wide, e % wide] = self.zero()
        with self.unrolled(0, own) as k, self.unrolled(0, self._own_columns) as j:
            sums[k, j] = self.zero()
        with ib.for_range(0, (bottom - top + (chunk - 1)) // chunk, name="chunk") as number:
            begin = top + number * chunk
            with self._part(chunk * depth) as e:
                v_tile[e // depth, e % depth] = v(begin + e // depth, e % depth)
            with self._part(chunk * wide) as e:
                place = te.min(first_column + e % wide, right - 1)
                c_tile[e // wide, e % wide] = c(te.min(begin + e // wide, bottom - 1), place)
            with ib.for_range(0, each, name="i") as i:
                row = split * each + i
                with self.unrolled(0, own) as k, self.unrolled(0, self._own_columns) as j:
                    term = v_tile[row, group * own + k] * c_tile[row, j * self._across + x]
                    sums[k, j] = sums[k, j] + term
        with ib.for_range(0, splits, name="split") as now:
            with self.unrolled(0, own) as k, self.unrolled(0, self._own_columns) as j:
                so_far[k, j] = product[group * own + k, j * self._across + x]
            with ib.if_scope(split.equal(now)):
                for k in range(own):
                    for j in range(self._own_columns):
                        product[group * own + k, j * self._across + x] = so_far[k, j] + sums[k, j]

    def dots(self, values: list[Any], found: Any) -> None:
        """Sums over all threads: in `found`, which they share, one for each of a panel's columns, of their `values`."""
        ib, width, threads = self.ib, self.width, self._count
        parts, segments = self.held_matrix(threads, width + 1, "parts"), threads // width
        of_segments = self.held_matrix(segments, width, "of_segments")
        total = ib.allocate(self.dtype, (1,), name="total", scope="local")
        for u, value in enumerate(values):
            parts[self._thread, u] = value
        column, segment = self._thread % width, self._thread // width
        total[0] = self.zero()
        with self.unrolled(0, width) as n:
            total[0] = total[0] + parts[segment * width + n, column]
        of_segments[segment, column] = total[0]
        with ib.if_scope(self._thread < width):
            total[0] = self.zero()
            with self.unrolled(0, segments) as n:
                total[0] = total[0] + of_segments[n, self._thread]
            found[self._thread] = total[0]

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

    def step(self, own: Any, pivots: Callable[[Any], Expr], multiple: Any, stays: Any) -> None:
        """Subtracts a multiple of the elements `pivots` from a row, and moves it on; `stays` is its last element."""
        width = self.blocks.width
        kept = self.blocks.ib.let("kept", stays)
        with self.blocks.unrolled(1, width) as u:
            own[u - 1] = own[u] - multiple * pivots(u)
        own[width - 1] = kept
