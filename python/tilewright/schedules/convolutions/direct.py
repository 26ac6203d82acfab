"""Convolutions without tensor cores whose blocks keep windows of images: each element of a window is read once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...target import current_gpu
from ...te import Expr, Tensor, all, compute, if_then_else, placeholder, reduce_axis, sum, thread_axis
from ...te.schedule import Schedule, Stage, create_schedule
from .definition import Convolution
from .filters import schedule_filters

__all__ = ["conv2d_direct", "is_direct"]

# Threads have so many neighbouring filters, and so many neighbouring pixels of a row.
_FILTERS, _PIXELS = 8, 8
_LEAST_THREADS, _MOST_THREADS, _MOST_FILTERS = 96, 256, 64
# What it takes to fetch a pixel with its margin, in multiplications of a thread.
_FETCHING = 12
# The smallest kernel whose rows are so many multiplications that what a thread reads for them is little, and what these
# may take in those that are needed: `conv2d` divides channels among blocks, where there are few.
_LEAST_KERNEL, _MOST = 5, 2.0


@dataclass(frozen=True, slots=True)
class _Tile:
    """Filters, rows and columns of a block."""

    filters: int
    rows: int
    columns: int

    @property
    def threads(self) -> tuple[int, int]:
        return self.columns // _PIXELS * self.rows, self.filters // _FILTERS


def is_direct(what: Convolution) -> bool:
    """Whether it is faster than to read the pixels of each place of the kernel from memory."""
    if what.kernel < _LEAST_KERNEL or what.stride != 1 or what.batch * what.filters * what.out == 0:
        return False
    return min(_cost(what, one) for one in _tiles(what)) <= _MOST


def conv2d_direct(what: Convolution) -> tuple[Schedule, list[Tensor]]:
    """`conv2d` of a kernel of at least 5 x 5 and stride 1.

    A step has one channel: a block's pixels with their margin, and the filters' elements, both in shared memory. For
    each row of the kernel a thread reads 8 pixels of a row and those beside them to registers. It multiplies them by 8
    filters. The first kernel reorders the filters, as that of `conv2d` does.

    >>> import tilewright as tw
    >>> func = tw.build(*conv2d_direct(Convolution(1, 2, 20, 24, 5, 1)), target="cuda -arch=sm_90a", name="conv2d")
    >>> func.ptx.count(".visible .entry")
    2
    """
    tile = min(_tiles(what), key=lambda one: _cost(what, one))
    size, out, kernel, margin = what.size, what.out, what.kernel, what.margin
    X = placeholder((what.batch, what.channels, size, size), name="X")
    W = placeholder((what.filters, what.channels, kernel, kernel), name="W")
    filters, rows, columns = _whole(what.filters, tile.filters), _whole(out, tile.rows), _whole(out, tile.columns)

    def weight(ry: Expr, rx: Expr, c: Expr, f: Expr) -> Expr:
        value = W[f, c, ry, rx]
        return value if filters == what.filters else if_then_else(f < what.filters, value, 0.0)

    def pixel(n: Expr, c: Expr, y: Expr, x: Expr) -> Expr:
        y, x = y - margin, x - margin
        return if_then_else(all(y >= 0, y < size, x >= 0, x < size), X[n, c, y, x], 0.0)

    A = compute((kernel, kernel, what.channels, filters), weight, name="A")
    P = compute((what.batch, what.channels, rows + kernel - 1, columns + kernel - 1), pixel, name="P")
    c = reduce_axis((0, what.channels), "c")
    ry, rx = reduce_axis((0, kernel), "ry"), reduce_axis((0, kernel), "rx")
    accumulator = compute(
        (what.batch, filters, rows, columns),
        lambda n, f, y, x: sum(A[ry, rx, c, f] * P[n, c, y + ry, x + rx], axis=[c, ry, rx]),
        name="accumulator",
    )
    Y = compute((what.batch, what.filters, out, out), lambda *at: accumulator[at], name="Y")

    s = create_schedule(Y.op)
    schedule_filters(s, W, A)
    As = s.cache_read(A, "shared", [accumulator])
    s[P].set_scope("shared")
    Al, Pl = s.cache_read(As, "local", [accumulator]), s.cache_read(P, "local", [accumulator])
    _share_tiles(s, Y, accumulator, tile)
    own = s[accumulator]
    c, ry, rx = own.op.reduce_axis
    own.reorder(c, ry, rx, *own.op.axis)
    for axis in (rx, *own.op.axis):
        own.unroll(axis)
    for tensor, axis in ((As, c), (P, c), (Pl, ry), (Al, rx)):
        s[tensor].compute_at(own, axis)
    if what.channels > 1:
        own.software_pipeline(c, stages=2)
    _fetch(s[As], 4, tile.threads)
    _fetch(s[P], 1, tile.threads)
    return s, [X, W, Y]


def _whole(extent: int, tile: int) -> int:
    return -(-extent // tile) * tile


def _tiles(what: Convolution) -> Iterator[_Tile]:
    widths = range(_FILTERS, min(_MOST_FILTERS, _whole(what.filters, _FILTERS)) + 1, _FILTERS)
    for filters in widths:
        for across in range(1, 17):
            for rows in range(1, 33):
                tile = _Tile(filters, rows, across * _PIXELS)
                threads = tile.threads[0] * tile.threads[1]
                if _LEAST_THREADS <= threads <= _MOST_THREADS:
                    yield tile


def _cost(what: Convolution, tile: _Tile) -> float:
    """What a multiplication takes, in those that are needed: what is beyond the edges, threads of warps that are not
    whole, pixels that blocks fetch twice, and SMs that have nothing to do."""
    across, along = tile.threads
    wholes = [(what.filters, tile.filters), (what.out, tile.rows), (what.out, tile.columns)]
    blocks, cost = what.batch, 1.0
    for extent, of_tile in wholes:
        cost *= _whole(extent, of_tile) / extent
        blocks *= -(-extent // of_tile)
    cost *= _whole(across * along, 32) / (across * along)
    fetched = (tile.rows + what.kernel - 1) * (tile.columns + what.kernel - 1) / (tile.rows * tile.columns)
    cost *= 1 + _FETCHING * fetched / (tile.filters * what.kernel**2)
    return cost * _whole(blocks, current_gpu().sms) / blocks


def _share_tiles(s: Schedule, Y: Tensor, accumulator: Tensor, tile: _Tile) -> None:
    """Blocks have tiles, and threads of these parts."""
    stage = s[Y]
    n, f, y, x = stage.op.axis
    block_f, f = stage.split(f, factor=tile.filters)
    block_y, y = stage.split(y, factor=tile.rows)
    block_x, x = stage.split(x, factor=tile.columns)
    thread_f, f = stage.split(f, factor=_FILTERS)
    thread_x, x = stage.split(x, factor=_PIXELS)
    stage.reorder(n, block_y, block_x, block_f, thread_f, y, thread_x, f, x)
    stage.bind(stage.fuse(n, block_y, block_x), thread_axis("blockIdx.x"))
    stage.bind(block_f, thread_axis("blockIdx.y"))
    stage.bind(thread_f, thread_axis("threadIdx.y"))
    thread = stage.fuse(y, thread_x)
    stage.bind(thread, thread_axis("threadIdx.x"))
    stage.unroll(f)
    stage.unroll(x)
    s[accumulator].set_scope("local")
    s[accumulator].compute_at(stage, thread)


def _fetch(stage: Stage, lanes: int, threads: tuple[int, int]) -> None:
    """All threads of the block fetch, `lanes` neighbours each."""
    *axes, last = stage.op.axis
    last, lane = stage.split(last, factor=lanes)
    turn, tx = stage.split(stage.fuse(*axes, last), factor=threads[0])
    turn, ty = stage.split(turn, factor=threads[1])
    stage.unroll(turn)
    stage.bind(ty, thread_axis("threadIdx.y"))
    stage.bind(tx, thread_axis("threadIdx.x"))
    stage.vectorize(lane)
