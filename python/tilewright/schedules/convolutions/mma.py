"""Convolutions by tensor cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import gcd, sqrt

from ...dtypes import item_bytes, stored_as
from ...errors import TilewrightValueError as ValueError
from ...instructions import MMA_SYNC, mma_sync
from ...target import current_gpu
from ...te import Expr, IterVar, Tensor, compute, if_then_else, indexdiv, indexmod, reduce_axis, sum, thread_axis
from ...te import all as all_of
from ...te.schedule import Schedule, create_schedule
from ..matmuls.mma import COPY, accumulate, fetch, hold
from ..sizes import sizes
from ..workspaces import add_up, copy
from .definition import Convolution

__all__ = ["conv2d_mma"]

# What kernels reach of the published rates of tensor cores and of the memory's bandwidth (of parts, which are in the
# second cache). Fitted to measurements on an H200.
_OF_MMA, _OF_BANDWIDTH = 0.71, 1.04
_TILES = (((128, 128), (2, 2), 3), ((128, 64), (2, 2), 4), ((64, 64), (2, 2), 4))


@sizes(batch=1, channels=0, size=1, filters=1, kernel=1)
def conv2d_mma(
    batch: int,
    channels: int,
    size: int,
    filters: int,
    kernel: int,
    in_dtype: str = "float16",
    out_dtype: str | None = None,
    *,
    stride: int = 1,
    epilogue: Callable[..., Expr] | None = None,
    operands: Sequence[Tensor] = (),
    tile: tuple[int, int] | None = None,
    warps: tuple[int, int] = (2, 2),
    stages: int | None = None,
    split_k: int | None = None,
) -> tuple[Schedule, list[Tensor]]:
    """Y = X * W by ``mma.sync``, channels last, with a float32 accumulator.

    X is batch x size x size x channels. W is filters x kernel x kernel x channels. Y is batch x out x out x filters.
    Each has type `in_dtype`, and Y `out_dtype` if that is given. Windows are `stride` apart. `stages` and `operands`
    are those of `matmul_mma`.

    The images have a margin of kernel // 2 zeros. The convolution is an implicit GEMM of pixels and filters, scheduled
    like `matmul_mma`. A block of `warps` computes a `tile` of pixels and filters. A K tile is up to 128 bytes of the
    channels at one place of the kernel. ``cp.async`` loads each K tile of X when it is needed, and writes zeros for the
    margin. If the channels are not a multiple of 16 bytes, a first kernel copies the images to a workspace. The
    workspace has their margin, and 4 or 8 elements per pixel. A K tile is then a row of the kernel, whose elements are
    contiguous.

    Where there are too few tiles for a GPU, `split_k` blocks share the K loop of each tile, and another kernel adds
    their results. `epilogue` is a function of the accumulator and of n, y, x and the filter, as in `matmul_mma`.

    Raises
    ------
    ValueError
        Where there is no instruction of these types with a float32 accumulator; where `tile` is no multiple of `warps`
        times 16 x 8, or the K tiles none of `split_k`.

    >>> import tilewright as tw
    >>> func = tw.build(*conv2d_mma(1, 64, 8, 64, 3), target="cuda -arch=sm_90a", name="conv2d")
    >>> "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" in func.ptx and "cp.async.cg" in func.ptx
    True
    """
    mma = mma_sync(in_dtype, "float32", transpose_b=True)
    dtype = stored_as(in_dtype)
    what = Convolution(batch, channels, size, filters, kernel, stride, dtype=dtype)
    taps = _Taps.of(what, COPY // item_bytes(in_dtype))
    steps, instruction_k = taps.count * taps.share // taps.block_k, MMA_SYNC[in_dtype, "float32"]
    if tile is None:
        tile, warps, stages, split_k = _choose(what.pixels, filters, steps, taps.block_k, split_k, stages)
    split_k, stages = split_k or 1, stages or 4
    if tile[0] % (16 * warps[0]) or tile[1] % (8 * warps[1]) or steps % split_k or taps.block_k % instruction_k:
        raise ValueError(
            f"expected a tile of multiples of {16 * warps[0]} x {8 * warps[1]}, which {warps[0]} x {warps[1]} warps "
            f"share, and a split_k that divides the {steps} K tiles, got a tile of {tile} and a split_k of {split_k}"
        )
    rows, columns = -(-what.pixels // tile[0]) * tile[0], -(-filters // tile[1]) * tile[1]
    X, W = what.placeholders()
    copied, window, weight = (_rows_of_the_kernel if taps.is_row else _places_of_the_kernel)(
        what, taps, X, W, rows, columns
    )
    As = compute((rows, taps.count, taps.share), window, name="As")
    Bs = compute((columns, taps.count, taps.share), weight, name="Bs")
    Cl, tiled, total, Y = _results(what, taps, As, Bs, steps, split_k, epilogue, out_dtype or dtype)
    s = create_schedule(Y.op)
    for stage in copied:
        copy(s[stage])
    if split_k > 1:
        add_up(s, Y, total)
    thread = _share_tiles(s, tiled, tile, warps, split_k)

    s[Cl].set_scope("local")
    s[Cl].compute_at(s[tiled], thread)
    ko, ki = s[Cl].op.reduce_axis
    ki = accumulate(s[Cl], ko, ki, mma, instruction_k)
    for stage, width in zip((As, Bs), taps.widths, strict=True):
        hold(s, stage, Cl, ko, ki)
        # As many rows as reach all banks lie side by side.
        s[stage].transform_layout(_rows_of_a_tap(8 * taps.granule // taps.block_k, taps.block_k))
        s[stage].swizzle(taps.granule)
        fetch(s[stage], width, warps)
    s[Cl].software_pipeline(ko, stages, use_async=True)
    return s, [X, W, *operands, Y]


@dataclass(frozen=True, slots=True)
class _Taps:
    """What is summed over: taps are places of the kernel with their channels, or rows of it with all their places'."""

    what: Convolution
    granule: int  # elements of a copy
    lanes: int  # elements of a pixel
    is_row: bool

    @classmethod
    def of(cls, what: Convolution, granule: int) -> _Taps:
        channels = what.channels
        if channels % granule == 0:
            return cls(what, granule, channels, is_row=False)
        lanes = next(width for width in (4, 8, 16, 32) if width >= channels or width == granule)
        return cls(what, granule, lanes if lanes >= channels else -(-channels // granule) * granule, is_row=True)

    @property
    def count(self) -> int:
        return self.what.kernel if self.is_row else self.what.kernel**2

    @property
    def length(self) -> int:
        return self.what.kernel * self.lanes if self.is_row else self.what.channels

    @property
    def block_k(self) -> int:
        return next((width for width in (2 * self.granule, 4 * self.granule) if width >= self.length), 8 * self.granule)

    @property
    def share(self) -> int:
        """Its elements in whole K tiles."""
        return -(-self.length // self.block_k) * self.block_k

    @property
    def widths(self) -> tuple[int, int]:
        """Of copies of X and W: pixels begin at multiples of their channels, or of their lanes times the stride, and
        rows at those of granules."""
        if self.is_row:
            return gcd(self.granule, self.what.stride * self.lanes), self.granule
        width = gcd(self.granule, self.what.channels)
        return width, width


_Element = Callable[[Expr, Expr, Expr], Expr]
_Operands = tuple[list[Tensor], _Element, _Element]  # workspaces, and elements of operands A and B


def _rows_of_the_kernel(what: Convolution, taps: _Taps, X: Tensor, W: Tensor, rows: int, columns: int) -> _Operands:
    """A tap is a row of the kernel: its elements lie together in workspaces of the images and of the filters."""
    size, kernel, channels, stride, out = what.size, what.kernel, what.channels, what.stride, what.out
    margin, lanes, granule, share = what.margin, taps.lanes, taps.granule, taps.share
    across = -(-max((size + 2 * margin) * lanes, (out - 1) * stride * lanes + share) // granule) * granule

    def framed(n: Expr, y: Expr, e: Expr) -> Expr:
        x, c = indexdiv(e, lanes) - margin, indexmod(e, lanes)
        inside = all_of(y >= margin, y < size + margin, x >= 0, x < size, c < channels)
        return if_then_else(inside, X[n, y - margin, x, c], 0)

    def row(f: Expr, r: Expr, e: Expr) -> Expr:
        rx, c = indexdiv(e, lanes), indexmod(e, lanes)
        return if_then_else(all_of(f < what.filters, rx < kernel, c < channels), W[f, r, rx, c], 0)

    Xp = compute((what.batch, size + 2 * margin, across), framed, name="Xp")
    Wp = compute((columns, kernel, share), row, name="Wp")

    def row_of_pixels(p: Expr, r: Expr, e: Expr) -> Expr:
        y, x = indexmod(indexdiv(p, out), out) * stride, indexmod(p, out) * stride
        value = Xp[indexdiv(p, out * out), y + r, x * lanes + e]
        return if_then_else(p < what.pixels, value, 0) if rows != what.pixels else value

    return [Xp, Wp], row_of_pixels, lambda f, r, e: Wp[f, r, e]


def _places_of_the_kernel(what: Convolution, taps: _Taps, X: Tensor, W: Tensor, rows: int, columns: int) -> _Operands:
    """A tap is a place of the kernel: copies read its channels from the images, and write zeros for the margin."""
    size, kernel, channels, stride, out = what.size, what.kernel, what.channels, what.stride, what.out
    margin, pixels = what.margin, what.pixels

    def window_of_pixels(p: Expr, t: Expr, c: Expr) -> Expr:
        y = indexmod(indexdiv(p, out), out) * stride + indexdiv(t, kernel) - margin
        x = indexmod(p, out) * stride + indexmod(t, kernel) - margin
        inside = [y >= 0, y < size, x >= 0, x < size] if margin else []
        inside += ([p < pixels] if rows != pixels else []) + ([c < channels] if taps.share != channels else [])
        value = X[indexdiv(p, out * out), y, x, c]
        return if_then_else(all_of(*inside), value, 0) if inside else value

    def channels_of_filter(f: Expr, t: Expr, c: Expr) -> Expr:
        inside = ([f < what.filters] if columns != what.filters else []) + (
            [c < channels] if taps.share != channels else []
        )
        value = W[f, indexdiv(t, kernel), indexmod(t, kernel), c]
        return if_then_else(all_of(*inside), value, 0) if inside else value

    return [], window_of_pixels, channels_of_filter


def _results(
    what: Convolution, taps: _Taps, As: Tensor, Bs: Tensor, steps: int, split_k: int,
    epilogue: Callable[..., Expr] | None, dtype: str,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """The accumulators, what tiles of them are stored to, the sums of all parts, and Y."""
    rows, columns, out = As.shape[0], Bs.shape[0], what.out
    q, c = reduce_axis((0, steps // split_k), "q"), reduce_axis((0, taps.block_k), "c")

    def accumulated(first: Expr | int, p: Expr, f: Expr) -> Expr:
        at = indexmod(first + q, taps.count), indexdiv(first + q, taps.count) * taps.block_k + c
        return sum(As[(p, *at)].astype("float32") * Bs[(f, *at)].astype("float32"), axis=[q, c])

    def result(value: Expr, *at: Expr) -> Expr:
        return (epilogue(value, *at) if epilogue else value).astype(dtype)

    shape, part = (what.batch, out, out, what.filters), reduce_axis((0, split_k), "part")
    if split_k == 1:
        Cl = compute((rows, columns), lambda p, f: accumulated(0, p, f), name="Cl")
        Y = compute(shape, lambda n, y, x, f: result(Cl[(n * out + y) * out + x, f], n, y, x, f), name="Y")
        return Cl, Y, Y, Y
    Cl = compute((split_k, rows, columns), lambda at, p, f: accumulated(at * (steps // split_k), p, f), name="Cl")
    tiled = compute((split_k, rows, columns), lambda at, p, f: Cl[at, p, f], name="P")
    total = compute(shape, lambda n, y, x, f: sum(tiled[part, (n * out + y) * out + x, f], axis=part), name="total")
    return Cl, tiled, total, compute(shape, lambda *at: result(total[at], *at), name="Y")


def _share_tiles(
    s: Schedule, tiled: Tensor, tile: tuple[int, int], warps: tuple[int, int], split_k: int
) -> IterVar:  # fmt: skip
    """A block has a tile, and each of its warps a part of it. The loop of warps."""
    *outer, f = s[tiled].op.axis
    p = outer.pop() if split_k > 1 else s[tiled].fuse(*outer)
    by, i = s[tiled].split(p, factor=tile[0])
    bx, j = s[tiled].split(f, factor=tile[1])
    wy, i = s[tiled].split(i, nparts=warps[0])
    wx, j = s[tiled].split(j, nparts=warps[1])
    bz = outer if split_k > 1 else []
    s[tiled].reorder(*bz, by, bx, wy, wx, i, j)
    tags = ("blockIdx.z",) * len(bz) + ("blockIdx.x", "blockIdx.y", "threadIdx.z", "threadIdx.y")
    for axis, tag in zip((*bz, by, bx, wy, wx), tags, strict=True):
        s[tiled].bind(axis, thread_axis(tag))
    return wx


def _rows_of_a_tap(beside: int, block_k: int) -> Callable[..., list[Expr]]:
    def place(row: Expr, tap: Expr, element: Expr) -> list[Expr]:
        return [tap, indexdiv(row, beside), indexmod(row, beside) * block_k + element]

    return place


def _choose(
    pixels: int, filters: int, steps: int, block_k: int, split_k: int | None, stages: int | None
) -> tuple[tuple[int, int], tuple[int, int], int, int]:
    """The tile, its warps, the depth and the parts that keep the SM with the most to do for the least time:
    square tiles of warps have the most to do for what they read, and few warps wait."""
    device = current_gpu()

    def seconds(tile: tuple[int, int], warps: tuple[int, int], split_k: int) -> float:
        blocks = -(-pixels // tile[0]) * -(-filters // tile[1]) * split_k
        of_one = -(-blocks // device.sms)
        warp = tile[0] // warps[0], tile[1] // warps[1]
        rate = _OF_MMA * device.sm_peak("mma", "float16") * min(1.0, of_one / 2) ** 0.35
        rate *= min(1.0, sqrt(warp[0] * warp[1] / (warp[0] + warp[1]) / 32))
        adding = 2.2e-6 + 8 * split_k * pixels * filters / (_OF_BANDWIDTH * device.bandwidth) if split_k > 1 else 0.0
        return of_one * 2 * tile[0] * tile[1] * (steps / split_k + 4) * block_k / rate + adding

    found = [
        (tile, warps, stages or deep, count)
        for tile, warps, deep in _TILES
        for count in ([split_k] if split_k else [count for count in range(1, 17) if steps % count == 0])
        if steps // count >= 8 or count == (split_k or 1)
    ]
    return min(found, key=lambda one: seconds(one[0], one[1], one[3]))
