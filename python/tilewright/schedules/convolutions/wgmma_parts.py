"""How a convolution in whole tiles is scheduled on warpgroups of sm_90a, with operands that TMA loads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from ...dtypes import item_bytes
from ...target import current_gpu
from ...te import IterVar, Tensor, thread_axis
from ...te.intrinsic import TensorIntrin
from ...te.schedule import Schedule, Stage
from ..matmuls.warpgroup_tiles import load_ahead, registers_of
from .wgmma_operands import ALIGNED, GRANULE
from .wgmma_tiles import MAX_STAGES, SPANS, columns_at_once, shared_bytes, slot_bytes

__all__ = ["Tiling", "of_warpgroup", "panel_of", "tile_by_wgmma", "write_pixels"]

_WARP, _THREADS = 32, 256


@dataclass(frozen=True, slots=True)
class Tiling:
    """How blocks and warpgroups share a convolution: what `conv2d_wgmma` says of its options of these names."""

    tile: tuple[int, int, int, int]
    block_k: int  # the channels of a K tile
    span: int  # their bytes
    over: int  # rows of the kernel that a step serves
    dilation: int  # of rows
    stages: int | None = None
    consumers: int = 1
    cluster: tuple[int, int] = (1, 1)
    blocks: int | None = 0
    group: int = 8
    along_k: bool = True  # the channels of a filter lie together, not the filters


def of_warpgroup(tile: tuple[int, int, int, int]) -> tuple[int, int, int] | None:
    """The images, rows and columns that each warpgroup has of a tile. None of one that warpgroups cannot share."""
    images, rows, columns, width = tile
    pixels = images * rows * columns
    warpgroups = pixels // 64
    if warpgroups == 0 or pixels % 64 or width % 8 or width > 256:
        return None
    if images % warpgroups == 0:
        return images // warpgroups, rows, columns
    return (images, rows // warpgroups, columns) if images == 1 and rows % warpgroups == 0 else None


def panel_of(filters: int, width: int, dtype: str) -> int:
    """How many bytes wide the panels are in which TMA stores results of a tile so wide; 0 where it cannot.

    It stores rows of which it can step over each.
    """
    made = item_bytes(dtype)
    panel = gcd(width * made, SPANS[-1])
    return panel if filters * made % ALIGNED == 0 and panel >= SPANS[0] else 0


def tile_by_wgmma(
    s: Schedule,
    tiled: Tensor,
    stored: Tensor | None,
    P: Tensor,
    operands: Sequence[Tensor],
    instruction: TensorIntrin,
    how: Tiling,
) -> None:
    """Schedules a convolution in whole tiles. `P` accumulates it of the `operands`, the images' and the filters' stage.
    `tiled` stores the results, from `stored` in shared memory where TMA does.
    """
    tile, made = how.tile, item_bytes(tiled.dtype)
    by, bx, inner = _tile_blocks(s[tiled], tile)
    slot = slot_bytes(tile, how.over, how.dilation, how.span)
    pixels, width = tile[0] * tile[1] * tile[2] * how.consumers, tile[3]
    bytes_stored = 0
    if stored is not None:
        # All columns at once where that leaves room for the tiles of three steps.
        at_once = columns_at_once(pixels, width, made, slot)
        s[stored].set_scope("shared")
        s[stored].compute_at(s[tiled], bx)
        s[tiled].copy_by("tma", swizzle=gcd(width * made, SPANS[-1]), columns=at_once)
        bytes_stored = pixels * at_once * made
        inner = s[stored].op.axis[-4:]
    ends = tiled if stored is None else stored
    warpgroups = tile[0] * tile[1] * tile[2] // 64
    warpgroup = _share_pixels(s[ends], inner, warpgroups, by_images=tile[0] % warpgroups == 0)
    s[P].set_scope("local")
    s[P].compute_at(s[ends], warpgroup)
    stages = how.stages or max(2, min((shared_bytes() - bytes_stored) // slot, MAX_STAGES))
    of_filters = how.span if how.along_k else gcd(width * item_bytes(operands[1].dtype), SPANS[-1])
    ko = _accumulate(s, P, operands, instruction, how.block_k, (how.span, of_filters), stages)
    s[P].specialize(ko, *registers_of(warpgroups * how.consumers), consumers=how.consumers)
    for axis, number in zip((by, bx), how.cluster, strict=True):
        if number > 1:
            s[tiled].cluster(axis, number)
    if how.blocks is not None:
        s[tiled].persistent(how.blocks or current_gpu().sms, raster="grouped", group=how.group)


def _tile_blocks(stage: Stage, tile: Sequence[int]) -> tuple[IterVar, IterVar, Sequence[IterVar]]:
    """Binds tiles of images, rows, columns and filters to blocks: the axes of the grid, and the loops of a tile."""
    outer, inner = list[IterVar](), list[IterVar]()
    *some, n, y, x, f = stage.op.axis
    for axis, extent in zip((n, y, x, f), tile, strict=True):
        block, rest = stage.split(axis, factor=extent)
        outer.append(block)
        inner.append(rest)
    stage.reorder(*some, *outer, *inner)
    by, bx = stage.fuse(*outer[:3]), outer[3]
    for axis, tag in zip((*some, by, bx), ("blockIdx.z", "blockIdx.y", "blockIdx.x")[-2 - len(some) :], strict=True):
        stage.bind(axis, thread_axis(tag))
    stage.env_threads([thread_axis((0, 128), "threadIdx.x")])
    return by, bx, inner


def _share_pixels(stage: Stage, inner: Sequence[IterVar], warpgroups: int, *, by_images: bool) -> IterVar:
    """Each warpgroup has images of a tile, or rows of its image; the loop over warpgroups."""
    n, y, x, f = inner
    warpgroup, rest = stage.split(n if by_images else y, nparts=warpgroups)
    stage.reorder(warpgroup, *((rest, y) if by_images else (n, rest)), x, f)
    stage.bind(warpgroup, thread_axis("threadIdx.y"))
    return warpgroup


def _accumulate(
    s: Schedule, P: Tensor, operands: Sequence[Tensor], instruction: TensorIntrin, block_k: int, spans: Sequence[int],
    stages: int,
) -> IterVar:  # fmt: skip
    """Warpgroups multiply K tiles of the operands. The loop over K tiles."""
    *_, n, y, x, f = s[P].op.axis
    r, *places, c = s[P].op.reduce_axis
    co, ci = s[P].split(c, factor=block_k)
    s[P].reorder(*places, co, r, n, y, x, f, ci)
    ko = s[P].fuse(*places, co)
    s[P].tensorize(n, instruction)
    load_ahead(s, P, ko, operands, spans, stages)
    return ko


def write_pixels(stage: Stage, lanes: int) -> None:
    """A kernel of its own, in which neighbouring threads have neighbouring pixels of a row, all elements of each."""
    *outer, e = stage.op.axis
    pixel, c = stage.split(e, factor=min(lanes, GRANULE))
    pixels = -(-int(str(stage.op.shape[-1])) // min(lanes, GRANULE))
    part, thread = stage.split(pixel, factor=min(_THREADS, -(-pixels // _WARP) * _WARP))
    # Elements whose place is a sum of axes are stored at once.
    stage.bind(stage.fuse(*outer), thread_axis("blockIdx.x"))
    stage.bind(part, thread_axis("blockIdx.y"))
    stage.bind(thread, thread_axis("threadIdx.x"))
    stage.unroll(c)
