"""Convolutions by the warpgroups of sm_90a, which asynchronous copies feed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...errors import TilewrightValueError as ValueError
from ...instructions import wgmma
from ...te import Expr, Tensor, compute, if_then_else, reduce_axis, sum
from ...te import all as all_of
from ...te.schedule import Schedule, create_schedule
from ..sizes import sizes
from ..workspaces import add_up, copy
from .definition import Convolution, Windows
from .wgmma_operands import KTiles, operands_of
from .wgmma_parts import Tiling, of_warpgroup, panel_of, tile_by_wgmma, write_pixels
from .wgmma_tiles import Problem, choose, rows_of_a_step

__all__ = ["conv2d_wgmma", "takes_parts"]

_DTYPES = ("float16", "bfloat16")
_MADE = ("float16", "bfloat16", "float32")


@sizes(batch=0, channels=0, size=0, filters=0, kernel=1)
def conv2d_wgmma(
    batch: int,
    channels: int,
    size: int,
    filters: int,
    kernel: int,
    in_dtype: str = "float16",
    out_dtype: str | None = None,
    *,
    stride: int = 1,
    dilation: int = 1,
    epilogue: Callable[..., Expr] | None = None,
    operands: Sequence[Tensor] = (),
    tile: tuple[int, int, int, int] | None = None,
    split_k: int | None = None,
    share_rows: bool | None = None,
    stages: int | None = None,
    consumers: int = 1,
    cluster: tuple[int, int] = (1, 1),
    blocks: int | None = 0,
    group: int = 8,
) -> tuple[Schedule, list[Tensor]]:
    """Y = X * W by ``wgmma``, channels last, with a float32 accumulator.

    X is batch x size x size x channels. W is filters x kernel x kernel x channels. Y is batch x out x out x filters.
    Each has type `in_dtype`, and Y `out_dtype` if that is given.

    The images have a margin of kernel // 2 times the dilation zeros. A block computes a `tile` of images, rows, columns
    and filters, and each warpgroup 64 pixels of it. A K tile is up to 128 bytes of the channels. The pixels that one
    place of the kernel reads are a box of X. TMA loads this box for the next `stages - 1` K tiles, with zeros outside
    of the image. With `share_rows`, a TMA load serves several rows of the kernel, whose boxes overlap. With a stride of
    1 it serves all rows, which loads a third of X for three rows. With a stride of 2 it serves every second row.
    Warpgroups then have pixels of one image, in rows of multiples of 8.

    With two `consumers`, a block has two sets of consumer warpgroups, which alternate (ping-pong): one multiplies while
    the other stores.

    Where there are too few tiles for a GPU, `split_k` blocks share the channels of each tile, and another kernel adds
    their results. A `cluster` has as many tiles of pixels and of filters; its blocks multicast the loads that they have
    in common. As many blocks as the device has SMs, or `blocks`, are persistent (None: a block for each tile). They
    take tiles in groups of `group` rows of tiles.

    If the channels are fewer than 16 bytes, a first kernel copies the images to a workspace. The workspace has the
    margin, and as many elements per pixel as a TMA step needs. A K tile is then a row of the kernel, whose elements are
    contiguous, and TMA loads overlapping boxes of it. The same is done for 8 and 24 channels with kernels of five
    or more, if such K tiles have fewer elements in all.

    `epilogue` is a function of the accumulator and of n, y, x and the filter. It may read `operands`, the arguments
    between W and Y. It is computed in registers.

    Raises
    ------
    ValueError
        Where the types are not float16 or bfloat16; where `tile` has no multiple of 64 pixels or of 8 filters that
        warpgroups can share, or `split_k` does not divide the steps of the channels; where rows cannot be shared.

    >>> import tilewright as tw
    >>> func = tw.build(*conv2d_wgmma(1, 64, 16, 64, 3), target="cuda -arch=sm_90a", name="conv2d")
    >>> "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16" in func.ptx
    True
    """
    out_dtype = out_dtype or in_dtype
    if in_dtype not in _DTYPES or out_dtype not in _MADE:
        raise ValueError(
            f"expected images of {' or '.join(_DTYPES)} and results of {', '.join(_MADE)}, got {in_dtype} and "
            f"{out_dtype}"
        )
    what = Convolution(batch, channels, size, filters, kernel, stride, dilation, in_dtype)
    k_tiles = KTiles.of(what.windows)
    if tile is None:
        tile, split_k, share_rows = choose(
            Problem.of(what.windows, k_tiles.count, k_tiles.span, is_narrow=k_tiles.is_row),
            split_k,
            share_rows,
        )
    split_k = split_k or 1
    shared_by = _share_of(tile, k_tiles, split_k)
    can_share = kernel > stride and 1 in (stride, dilation) and tile[2] % 8 == 0 and shared_by[0] == 1
    if share_rows is None:
        share_rows = can_share
    elif share_rows and not can_share:
        raise ValueError(
            "expected a kernel larger than the stride, without dilation unless that is 1, and tiles with rows of "
            "multiples of 8 pixels, of one image for each warpgroup, to share rows, got a kernel of "
            f"{kernel} with stride {stride} and dilation {dilation}, and a tile of {tile}"
        )
    # What tiles have past the edges is computed, and not stored.
    shape = (batch, what.out, what.out, filters)
    whole = tuple(-(-extent // one) * one for extent, one in zip(shape, tile, strict=True))
    phases, over = rows_of_a_step(kernel, stride, share_rows)
    operand = operands_of(what, k_tiles, whole, phases, over, k_tiles.length // split_k)

    def value(accumulated: Expr, *at: Expr) -> Expr:
        return (epilogue(accumulated, *at) if epilogue else accumulated).astype(out_dtype)

    # TMA stores rows of which it can step over each.
    made = out_dtype if split_k == 1 else "float32"
    is_copied = panel_of(filters, tile[3], made) > 0
    results = _results(operand.accumulated, value, shape, whole, split_k, is_copied, has_operands=bool(operands))
    tiled, stored, P = results.tiled, results.stored, results.P

    s = create_schedule(results.Y.op)
    for one in operand.copied:
        write_pixels(s[one], k_tiles.lanes) if k_tiles.is_row else copy(s[one])
    if results.total is not None:
        add_up(s, results.Y, results.total)
    tile_by_wgmma(
        s, tiled, stored, P, (operand.As, operand.Bs),
        wgmma(in_dtype, "float32", n=tile[3], k=k_tiles.block_k, rows=shared_by, transpose_b=True),
        Tiling(tile, k_tiles.block_k, k_tiles.span, over, dilation, stages, consumers, cluster, blocks, group),
    )  # fmt: skip
    return s, [operand.X, operand.W, *operands, results.Y]


def takes_parts(what: Windows) -> bool:
    """Whether blocks share the channels of a tile in the fastest tiling by the model."""
    k_tiles = KTiles.of(what)
    _, split_k, _ = choose(Problem.of(what, k_tiles.count, k_tiles.span, is_narrow=k_tiles.is_row), None, None)
    return split_k > 1


def _share_of(tile: tuple[int, int, int, int], k_tiles: KTiles, split_k: int) -> tuple[int, int, int]:
    """The images, rows and columns that each warpgroup has of a tile. ValueError where a tile cannot be computed."""
    shared_by = of_warpgroup(tile)
    if shared_by is None or k_tiles.count % split_k or (k_tiles.is_row and split_k > 1):
        raise ValueError(
            "expected a tile of whole images, or of rows of one, that warpgroups share, 64 pixels each, and of a "
            f"multiple of 8 filters up to 256, and a split_k that divides {k_tiles.count} K tiles of the channels, "
            f"got a tile of {tile} and a split_k of {split_k}"
        )
    return shared_by


@dataclass(frozen=True, slots=True)
class _Results:
    """The stages from the accumulator to Y."""

    P: Tensor
    stored: Tensor | None  # in shared memory, where TMA stores them
    tiled: Tensor  # what the blocks of tiles store
    total: Tensor | None  # of the parts of the channels
    Y: Tensor


def _results(
    accumulated: Callable[[Sequence[Expr], Expr | int], Expr], value: Callable[..., Expr],
    shape: Sequence[int], whole: Sequence[int], split_k: int, is_copied: bool, *, has_operands: bool,
) -> _Results:  # fmt: skip
    if split_k > 1:

        def of_part(part: Expr, *at: Expr) -> Expr:
            return accumulated(at, part)

        P = compute((split_k, *whole), of_part, name="P")
        stored = compute((split_k, *whole), lambda *at: P[at], name="made") if is_copied else None
        tiled = compute((split_k, *shape), lambda *at: P[at] if stored is None else stored[at], name="parts")
        part = reduce_axis((0, split_k), "part")
        total = compute(shape, lambda *at: sum(tiled[(part, *at)], axis=part), name="total")
        return _Results(P, stored, tiled, total, compute(shape, lambda *at: value(total[at], *at), name="Y"))
    P = compute(whole, lambda *at: accumulated(at, 0), name="P")

    def inside(*at: Expr) -> Expr:
        # Operands have no elements past the edges.
        ends = [index < end for index, end, reached in zip(at, shape, whole, strict=True) if end != reached]
        made = value(P[at], *at)
        return if_then_else(all_of(*ends), made, 0) if has_operands and ends else made

    stored = compute(whole, inside, name="made") if is_copied else None
    Y = compute(shape, lambda *at: stored[at] if stored is not None else value(P[at], *at), name="Y")
    return _Results(P, stored, Y, None, Y)
