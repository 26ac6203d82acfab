"""Convolutions by Winograd's algorithm."""

from __future__ import annotations

from collections.abc import Callable

from ...errors import TilewrightValueError as ValueError
from ...te import (
    Expr,
    IterVar,
    Tensor,
    all,
    compute,
    if_then_else,
    indexdiv,
    indexmod,
    placeholder,
    reduce_axis,
    select,
    sum,
    thread_axis,
)
from ...te.schedule import Schedule, Stage, create_schedule
from ..matmuls.simt import fetch, multiply_tiles
from ..sizes import sizes

__all__ = ["conv2d_winograd"]


@sizes(batch=0, channels=0, size=1, filters=0)
def conv2d_winograd(
    batch: int, channels: int, size: int, filters: int, *, tile: tuple[int, int] | None = None, block_k: int = 8
) -> tuple[Schedule, list[Tensor]]:
    """Y = X * W in float32 for kernels of 3 x 3 and stride 1, with 4 multiplications where `conv2d` has 9.

    X is batch x channels x size x size, and W is filters x channels x 3 x 3. The images have a margin of one zero,
    which is never stored. Y is computed in tiles of 2 x 2 (F(2 x 2, 3 x 3): S. Winograd; A. Lavin and S. Gray, Fast
    Algorithms for Convolutional Neural Networks, CVPR 2016). One kernel transforms the filters and one the images, to 4
    x 4 elements for each tile. The third kernel computes 16 matmuls of these over the channels, scheduled like `sgemm`,
    with tiles of `tile` filters and tiles of Y. The fourth kernel transforms back. The transformed images and results
    are four times as large as X and Y, and go through memory. With few channels that costs more than it saves. Rounding
    errors are a few times those of `conv2d`.

    Raises
    ------
    ValueError
        Where a number of `tile` is no multiple of 8, or `block_k` does not divide `channels`.

    >>> import tilewright as tw
    >>> func = tw.build(*conv2d_winograd(1, 8, 8, 64, tile=(64, 64)), target="cuda -arch=sm_90a", name="conv2d")
    >>> func.ptx.count(".visible .entry")
    4
    """
    across = (size + 1) // 2
    spots = batch * across * across
    tile = tile or (64 if spots > 64 else 128, 64)
    if tile[0] % 8 or tile[1] % 8 or channels % block_k:
        raise ValueError(
            f"expected a tile of multiples of 8, and a block_k that divides the channels, got tile {tile} and "
            f"block_k {block_k} for {channels} channels"
        )
    rows, columns = -(-filters // tile[0]) * tile[0], -(-spots // tile[1]) * tile[1]
    X = placeholder((batch, channels, size, size), name="X")
    W = placeholder((filters, channels, 3, 3), name="W")

    def pixel(c: Expr, spot: Expr, i: Expr, j: Expr) -> Expr:
        y = indexmod(indexdiv(spot, across), across) * 2 + i - 1
        x = indexmod(spot, across) * 2 + j - 1
        inside = all(y >= 0, y < size, x >= 0, x < size, *([spot < spots] if columns != spots else []))
        return if_then_else(inside, X[indexdiv(spot, across * across), c, y, x], 0.0)

    def weight(f: Expr, *rest: Expr | int) -> Expr:
        return if_then_else(f < filters, W[(f, *rest)], 0.0) if rows != filters else W[(f, *rest)]

    # Each transform is one of the rows and one of the columns.
    Wr = compute((4, 3, channels, rows), lambda e, j, c, f: _filter(e, lambda i: weight(f, c, i, j)), name="Wr")
    U = compute((4, 4, channels, rows), lambda e, n, c, f: _filter(n, lambda j: Wr[e, j, c, f]), name="U")
    Xl = compute((4, 4, channels, columns), lambda i, j, c, p: pixel(c, p, i, j), name="Xl")
    Xr = compute((4, 4, channels, columns), lambda e, j, c, p: _image(e, lambda i: Xl[i, j, c, p]), name="Xr")
    V = compute((4, 4, channels, columns), lambda e, n, c, p: _image(n, lambda j: Xr[e, j, c, p]), name="V")
    c = reduce_axis((0, channels), "c")

    def accumulated(b: Expr, f: Expr, p: Expr) -> Expr:
        return sum(U[indexdiv(b, 4), indexmod(b, 4), c, f] * V[indexdiv(b, 4), indexmod(b, 4), c, p], axis=c)

    Ml = compute((16, rows, columns), accumulated, name="Ml")
    M = compute((16, rows, columns), lambda b, f, p: Ml[b, f, p] + 0.0, name="M")
    Mr = compute((2, 4, rows, columns), lambda y, n, f, p: _output(y, lambda e: M[e * 4 + n, f, p]), name="Mr")

    def output(n: Expr, f: Expr, y: Expr, x: Expr) -> Expr:
        p = (n * across + indexdiv(y, 2)) * across + indexdiv(x, 2)
        return _output(indexmod(x, 2), lambda j: Mr[indexmod(y, 2), j, f, p])

    Y = compute((batch, filters, size, size), output, name="Y")

    s = create_schedule(Y.op)
    Ws = s.cache_read(W, "shared", [Wr])
    Us, Vs = s.cache_read(U, "shared", [Ml]), s.cache_read(V, "shared", [Ml])

    # Filters are read along W's last axes and written along themselves.
    e, n, c, f = U.op.axis
    c_block, c = s[U].split(c, factor=8)
    f_block, f = s[U].split(f, factor=32)
    s[U].reorder(c_block, f_block, c, f, e, n)
    block = s[U].fuse(c_block, f_block)
    _per_thread(s, s[U], {"blockIdx.x": block, "threadIdx.y": c, "threadIdx.x": f}, (e, n), [Wr])
    s[Ws].compute_at(s[U], block)
    s[Ws].storage_align(s[Ws].op.axis[0], 2, 1)

    e, n, c, p = V.op.axis
    block, p = s[V].split(p, factor=128)
    s[V].reorder(c, block, p, e, n)
    _per_thread(s, s[V], {"blockIdx.x": block, "blockIdx.y": c, "threadIdx.x": p}, (e, n), [Xl, Xr])

    s[Ml].set_scope("local")
    multiply_tiles(s, M, Ml, (Us, Vs), tile, block_k, 8, is_whole=True)
    for shared in (Us, Vs):
        *rest, c, last = s[shared].op.axis
        last, four = s[shared].split(last, factor=4)
        fetch(s[shared], s[shared].fuse(*rest, c, last), [four], tile[0] // 8, tile[1] // 8)

    n, f, y, x = Y.op.axis
    y, i = s[Y].split(y, factor=2)
    x, j = s[Y].split(x, factor=2)
    s[Y].reorder(f, n, y, x, i, j)
    block, spot = s[Y].split(s[Y].fuse(n, y, x), factor=128)
    _per_thread(s, s[Y], {"blockIdx.x": block, "blockIdx.y": f, "threadIdx.x": spot}, (i, j), [Mr])
    return s, [X, W, Y]


def _per_thread(
    s: Schedule, stage: Stage, axes: dict[str, IterVar], small: tuple[IterVar, ...], locals_: list[Tensor]
) -> None:
    """Binds `axes`, the innermost last; a thread has the loops of `small` and of `locals_` to itself."""
    for tag, axis in axes.items():
        stage.bind(axis, thread_axis(tag))
    for axis in small:
        stage.unroll(axis)
    *_, innermost = axes.values()
    for tensor in locals_:
        s[tensor].set_scope("local")
        s[tensor].compute_at(stage, innermost)
        for axis in s[tensor].op.axis:
            s[tensor].unroll(axis)


def _choose(index: Expr, *values: Expr) -> Expr:
    """The value at `index`, which is a number once the loops are unrolled."""
    chosen = values[-1]
    for i in reversed(range(len(values) - 1)):
        chosen = select(index == i, values[i], chosen)
    return chosen


def _filter(e: Expr, g: Callable[[int], Expr]) -> Expr:
    return _choose(e, g(0), (g(0) + g(1) + g(2)) * 0.5, (g(0) - g(1) + g(2)) * 0.5, g(2))


def _image(e: Expr, d: Callable[[int], Expr]) -> Expr:
    return _choose(e, d(0) - d(2), d(1) + d(2), d(2) - d(1), d(1) - d(3))


def _output(e: Expr, m: Callable[[int], Expr]) -> Expr:
    return _choose(e, m(0) + m(1) + m(2), m(1) - m(2) - m(3))
