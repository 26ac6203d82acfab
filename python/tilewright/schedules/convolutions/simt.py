"""Convolutions without tensor cores."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import TilewrightValueError as ValueError
from ...target import current_gpu
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
    sum,
    thread_axis,
)
from ...te.schedule import Schedule, create_schedule
from ..sizes import sizes
from .definition import Convolution
from .direct import conv2d_direct, is_direct
from .filters import schedule_filters
from .winograd import conv2d_winograd

__all__ = ["conv2d"]


@sizes(batch=0, channels=1, size=1, filters=0, kernel=1)
def conv2d(
    batch: int,
    channels: int,
    size: int,
    filters: int,
    kernel: int,
    *,
    stride: int = 1,
    tile: tuple[int, int] | None = None,
    block_k: int | None = None,
    split_k: int | None = None,
    winograd: bool | None = None,
) -> tuple[Schedule, list[Tensor]]:
    """Y = X * W in float32: X is batch x channels x size x size, W is filters x channels x kernel x kernel.

    The images have a margin of kernel // 2 zeros, which is never stored. The convolution is an implicit GEMM of filters
    and pixels, scheduled like `sgemm`. A thread block computes a `tile` of filters and pixels, and each thread 8 x 8 of
    them. A pixel is read from X when a K tile needs it. A K tile is `block_k` channels at one place of the kernel, or
    one row of the kernel if there are fewer channels. A first kernel reorders the filters, so that reads are
    contiguous. Where there are too few tiles for a GPU, `split_k` blocks share the channels of each tile, and a last
    kernel adds their results.

    Kernels of 5 x 5 and larger with stride 1 have another default if blocks fill the GPU's SMs. A block keeps the
    windows of its pixels in shared memory, one channel a step. `tile`, `block_k` or `split_k` ask for the other one.

    With `winograd` it is `conv2d_winograd`. The default is the faster one: Winograd for kernels of 3 x 3 and stride 1
    with many channels, filters and pixels.

    Raises
    ------
    ValueError
        Where a number of `tile` is no multiple of 8, or `split_k` does not divide `channels`; where `winograd` is given
        for another kernel or stride, or with `split_k`.

    >>> import tilewright as tw
    >>> func = tw.build(*conv2d(1, 8, 8, 64, 3), target="cuda -arch=sm_90a", name="conv2d")
    >>> ".reqntid 8, 8, 1" in func.ptx
    True
    """
    what = Convolution(batch, channels, size, filters, kernel, stride)
    pixels = what.pixels
    if winograd is None:
        # What it transforms goes through memory: with few channels or pixels that costs more than it saves.
        winograd = kernel == 3 and stride == 1 and split_k is None and min(channels, filters) >= 64 and pixels >= 128
    if winograd:
        if kernel != 3 or stride != 1 or split_k is not None:
            raise ValueError(
                f"expected a kernel of 3, a stride of 1 and no split_k for winograd, got kernel {kernel}, "
                f"stride {stride} and split_k {split_k}"
            )
        return conv2d_winograd(batch, channels, size, filters, tile=tile, block_k=block_k or 8)
    if tile is block_k is split_k is None and is_direct(what):
        return conv2d_direct(what)
    tile = tile or ((128, 128) if filters % 128 == 0 and pixels >= 1024 else (64, 64))
    block_k = block_k or (16 if tile == (128, 128) else 8)
    tiles = -(-filters // tile[0]) * -(-pixels // tile[1])
    parts = split_k or _split_k(channels, tiles, block_k, tile[0] * tile[1] // 64)
    if tile[0] % 8 or tile[1] % 8 or split_k and channels % split_k:
        raise ValueError(
            f"expected a tile of multiples of 8, and a split_k that divides the channels, got tile {tile} and "
            f"split_k {split_k} for {channels} channels"
        )
    share = -(-channels // parts)
    share = -(-share // block_k) * block_k if share >= block_k else share
    of = _Gemm(what, tile, share, -(-channels // share))
    X = placeholder((batch, channels, size, size), name="X")
    W = placeholder((filters, channels, kernel, kernel), name="W")
    A, B = of.operands(X, W)
    matmul, tiled, Y = of.results(A, B)

    s = create_schedule(Y.op)
    schedule_filters(s, W, A)
    As = s.cache_read(A, "shared", [matmul])
    s[B].set_scope("shared")
    Al, Bl = s.cache_read(As, "local", [matmul]), s.cache_read(B, "local", [matmul])
    thread = _share_tiles(s, of, tiled, Y)
    outer, inner = _accumulate(s, matmul, tiled, thread, of.share, block_k)
    for shared in (As, B):
        s[shared].compute_at(s[matmul], outer)
    for local in (Al, Bl):
        s[local].compute_at(s[matmul], inner)
    s[matmul].software_pipeline(outer, stages=2)
    _fetch(s, As, 1 if of.rows % 4 else 4, tile)
    _fetch(s, B, 1, tile)
    return s, [X, W, Y]


@dataclass(frozen=True)
class _Gemm:
    """The convolution as a matmul: operand A has the filters, B the pixels of each place of the kernel.

    Tiles and steps are whole: what is outside of the operands is zero, and multiplications need no conditions.
    """

    what: Convolution
    tile: tuple[int, int]
    share: int  # channels of each of `split_k`
    split_k: int

    @property
    def rows(self) -> int:
        return -(-self.what.filters // self.tile[0]) * self.tile[0]

    @property
    def columns(self) -> int:
        return -(-self.what.pixels // self.tile[1]) * self.tile[1]

    def operands(self, X: Tensor, W: Tensor) -> tuple[Tensor, Tensor]:
        size, channels, filters, kernel = self.what.size, self.what.channels, self.what.filters, self.what.kernel
        out, pixels, margin, stride = self.what.out, self.what.pixels, self.what.margin, self.what.stride
        rows, columns, padded = self.rows, self.columns, self.share * self.split_k

        def window(ry: Expr, rx: Expr, c: Expr, p: Expr) -> Expr:
            y = indexmod(indexdiv(p, out), out) * stride + ry - margin
            x = indexmod(p, out) * stride + rx - margin
            inside = [y >= 0, y < size, x >= 0, x < size]
            inside += ([p < pixels] if columns != pixels else []) + ([c < channels] if padded != channels else [])
            return if_then_else(all(*inside), X[indexdiv(p, out * out), c, y, x], 0.0)

        def filter_of(ry: Expr, rx: Expr, c: Expr, f: Expr) -> Expr:
            inside = ([f < filters] if rows != filters else []) + ([c < channels] if padded != channels else [])
            return if_then_else(all(*inside), W[f, c, ry, rx], 0.0) if inside else W[f, c, ry, rx]

        A = compute((kernel, kernel, padded, rows), filter_of, name="A")
        return A, compute((kernel, kernel, padded, columns), window, name="B")

    def results(self, A: Tensor, B: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The accumulators, what tiles of them are stored to, and Y."""
        batch, filters, kernel, out = self.what.batch, self.what.filters, self.what.kernel, self.what.out
        split_k, rows, columns = self.split_k, self.rows, self.columns
        ry, rx, c = reduce_axis((0, kernel), "ry"), reduce_axis((0, kernel), "rx"), reduce_axis((0, self.share), "c")

        def accumulated(part: Expr | int, f: Expr, p: Expr) -> Expr:
            return sum(A[ry, rx, part * self.share + c, f] * B[ry, rx, part * self.share + c, p], axis=[ry, rx, c])

        shape = (batch, filters, out, out)
        if split_k == 1:
            matmul = compute((rows, columns), lambda f, p: accumulated(0, f, p), name="accumulator")
            Y = compute(shape, lambda n, f, y, x: matmul[f, (n * out + y) * out + x], name="Y")
            return matmul, Y, Y
        part = reduce_axis((0, split_k), "part")
        matmul = compute((split_k, rows, columns), accumulated, name="accumulator")
        tiled = compute((split_k, filters, self.what.pixels), lambda part, f, p: matmul[part, f, p], name="part")
        Y = compute(shape, lambda n, f, y, x: sum(tiled[part, f, (n * out + y) * out + x], axis=part), name="Y")
        return matmul, tiled, Y


def _share_tiles(s: Schedule, of: _Gemm, tiled: Tensor, Y: Tensor) -> IterVar:
    """A block has a tile, and each of its threads 8 x 8 elements, in four parts. The loop along threadIdx.x."""
    if tiled is Y:
        n, f, y, x = s[Y].op.axis
        s[Y].reorder(f, n, y, x)
        p = s[Y].fuse(n, y, x)
    else:
        block, thread = s[Y].split(s[Y].fuse(*s[Y].op.axis), factor=128)
        s[Y].bind(block, thread_axis("blockIdx.x"))
        s[Y].bind(thread, thread_axis("threadIdx.x"))
        s[Y].unroll(s[Y].op.reduce_axis[0])
        bz, f, p = s[tiled].op.axis
        s[tiled].bind(bz, thread_axis("blockIdx.z"))
    by, f = s[tiled].split(f, factor=of.tile[0])
    bx, p = s[tiled].split(p, factor=of.tile[1])
    vy, f = s[tiled].split(f, nparts=2)
    vx, p = s[tiled].split(p, nparts=2)
    ty, f = s[tiled].split(f, nparts=of.tile[0] // 8)
    tx, p = s[tiled].split(p, nparts=of.tile[1] // 8)
    s[tiled].reorder(by, bx, vy, vx, ty, tx, f, p)
    for axis, tag in ((by, "blockIdx.y"), (bx, "blockIdx.x"), (vy, "vthread"), (vx, "vthread")):
        s[tiled].bind(axis, thread_axis(tag))
    s[tiled].bind(ty, thread_axis("threadIdx.y"))
    s[tiled].bind(tx, thread_axis("threadIdx.x"))
    s[tiled].unroll(f)
    s[tiled].unroll(p)
    return tx


def _accumulate(
    s: Schedule, matmul: Tensor, tiled: Tensor, thread: IterVar, share: int, block_k: int
) -> tuple[IterVar, IterVar]:
    """Each thread accumulates in registers. The loop over K tiles, and that within one."""
    s[matmul].set_scope("local")
    s[matmul].compute_at(s[tiled], thread)
    ry, rx, c = s[matmul].op.reduce_axis
    if share >= block_k:
        c, inner = s[matmul].split(c, factor=block_k)
        outer = s[matmul].fuse(ry, rx, c)
    else:
        s[matmul].reorder(ry, c, rx)
        outer, inner = s[matmul].fuse(ry, c), rx
    s[matmul].reorder(outer, inner, *s[matmul].op.axis)
    for axis in (inner, *s[matmul].op.axis):
        s[matmul].unroll(axis)
    return outer, inner


def _fetch(s: Schedule, shared: Tensor, lanes: int, tile: tuple[int, int]) -> None:
    """All threads of the block fetch: four neighbouring filters each, and single pixels, which have a margin."""
    *axes, last = s[shared].op.axis
    last, lane = s[shared].split(last, factor=lanes)
    turn, tx = s[shared].split(s[shared].fuse(*axes, last), factor=tile[1] // 8)
    turn, ty = s[shared].split(turn, factor=tile[0] // 8)
    s[shared].unroll(turn)
    s[shared].bind(ty, thread_axis("threadIdx.y"))
    s[shared].bind(tx, thread_axis("threadIdx.x"))
    s[shared].vectorize(lane)


def _split_k(channels: int, tiles: int, block_k: int, threads: int) -> int:
    """As few parts of the channels as make two blocks and eight warps for each SM of a GPU, each of at least a step."""
    split_k, wanted = 1, current_gpu().sms * max(2, 256 // threads)
    while split_k * tiles < wanted and channels // (2 * split_k) >= block_k:
        split_k *= 2
    return split_k
