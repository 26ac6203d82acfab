"""How a matmul in whole tiles is scheduled on warpgroups of sm_90a, with operands that TMA loads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod, sqrt
from typing import Any

from ...dtypes import item_bytes
from ...target import current_gpu
from ...te import IterVar, Tensor, thread_axis
from ...te.expr import Var
from ...te.intrinsic import TensorIntrin
from ...te.schedule import Schedule, Stage
from ...te.tensor import Extent
from ..extents import divisor_of

__all__ = ["ALIGNED", "LEAST_SPAN", "SPAN", "Tiling", "load_ahead", "no_more", "registers_of", "tile_by_wgmma"]

# What rows of tensors are multiples of for TMA; how wide a row of a shared buffer's panel is, and at least.
ALIGNED, SPAN, LEAST_SPAN = 16, 128, 32
# Of a block's shared memory barriers take so many bytes; so many stages are enough, and so many the most.
_BARRIERS, _ENOUGH, _MAX_STAGES = 1024, 4, 8
_MANY, _LINE = 16, 128
# Of a tile with more columns the matmul of a K tile takes longer than to store a part of the result.
_NARROW = 192
_OTHER_REGISTERS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiling:
    """How blocks and warpgroups share a matmul: what `matmul_wgmma` says of its options of these names."""

    tile: tuple[int, int]
    stages: int | None = None  # of K tiles in shared memory
    columns: int | None = None  # of a tile that are stored at a time
    cluster: tuple[int, int] | None = None  # rows and columns of tiles
    blocks: int | None = 0  # that are persistent: 0 of as many as SMs, None of none
    group: int | None = None  # rows of tiles
    raster: str = "grouped"
    stream_k: bool = False
    narrower: int = 0  # columns
    serpentine_k: bool = False
    specialize: bool = True
    consumers: int = 1  # sets of warpgroups
    registers: tuple[int, int] | None = None  # of a thread that copies, and of one that multiplies
    deferred: bool | None = None
    swap_ab: bool = False


def tile_by_wgmma(
    s: Schedule,
    tiled: Tensor,
    P: Tensor,
    operands: Sequence[Tensor],
    instruction: TensorIntrin,
    how: Tiling,
    *,
    sources: Sequence[Tensor],
    extents: Sequence[Extent],
    transposed: tuple[bool, bool],
    has_whole_tile: bool,
    is_promoted: bool = False,
    joined: Sequence[Sequence[int]] = (),
) -> None:
    """Schedules a matmul in whole tiles.

    `P` accumulates along its one reduction axis, and `tiled` stores the result. `operands` are A and B as stages of
    their own, each made of one of `sources`. The last two axes of each are its rows and columns. Their numbers are the
    first two of `extents`; the third is the number of such matmuls. `has_whole_tile` if at least one tile of the result
    is whole, and `is_promoted` if the accumulators of the tensor cores are added to others. Where axes of the matmul
    are several of `tiled`, `joined` has the places of each in `tiled`, in order.
    """
    device = current_gpu()
    shared_limit = device.shared_bytes_per_block - _BARRIERS
    tile, swap_ab = how.tile, how.swap_ab
    m, n = tile[::-1] if swap_ab else tile
    blocks = device.sms if how.blocks == 0 else how.blocks
    warpgroups, block_k = m // 64, SPAN // item_bytes(operands[0].dtype)
    made, transpose_a, transpose_b = item_bytes(tiled.dtype), *transposed
    # Tiles that are whole somewhere are stored by way of shared memory, in panels that divide them. TMA stores rows of
    # multiples of 16 bytes.
    span = gcd(tile[1] * made, SPAN)
    rows_of = extents[1] if joined else tiled.shape[-1]  # which may be longer than the result's
    copier = "tma" if divisor_of(rows_of) * made % ALIGNED == 0 else "threads"
    # Threads store 8 bits where the tile's rows are columns of C, and other rows of tiles of several widths.
    is_copied = span >= LEAST_SPAN and has_whole_tile and not (made == 1 and swap_ab)
    is_copied = is_copied and (copier == "tma" or not how.narrower)
    stored = tiled
    if is_copied:
        _axes(s[tiled], joined)  # which are then those of the stage in shared memory
        stored = s.cache_write(tiled, "shared")
    down, along, inner, (i, j) = _share_tiles(s, tiled, tile, swap_ab, joined)
    registers = how.registers or registers_of(warpgroups * how.consumers)
    deferred = how.deferred
    if deferred is None:
        # A thread has an element of every two columns: the sum, of this tile, and C, of the one before.
        held = n * (item_bytes(P.dtype) + made) // 8 + _OTHER_REGISTERS
        tiles = _count(extents, (*tile, 1))
        takes_several = blocks is not None and (tiles is None or tiles > blocks)
        is_fast = n > _NARROW and how.specialize and how.consumers == 1 and not is_promoted
        deferred = takes_several and is_fast and held <= registers[1]
    sets = m * n * how.consumers  # elements of C that are on their way
    shared = 0
    if is_copied:
        s[stored].compute_at(s[tiled], inner)
        i, j = s[stored].op.axis[-2:]
        columns = how.columns
        if columns is None:
            columns = _columns_at_once(
                n, span // made, copier, shared_limit - _ENOUGH * (m + n) * SPAN, sets // n * made
            )
        shared = sets // n * columns * made
        s[tiled].copy_by(copier, swizzle=span, columns=columns, deferred=deferred)
    warpgroup, of_warpgroup = s[stored].split(j if swap_ab else i, factor=64)
    if swap_ab:
        s[stored].reorder(warpgroup, i, of_warpgroup)
    s[stored].bind(warpgroup, thread_axis("threadIdx.y"))
    s[P].set_scope("local")
    s[P].compute_at(s[stored], warpgroup)
    # Where an operand's rows are rows or columns of the tile, panels are what divides them.
    goes_along = transpose_a, not transpose_b
    spans = [
        gcd(of * item_bytes(operands[0].dtype), SPAN) if goes else SPAN
        for of, goes in zip(tile, goes_along, strict=True)
    ]
    stages = how.stages or max(2, min((shared_limit - shared) // ((m + n) * SPAN), _MAX_STAGES))
    ko = _accumulate(s, P, operands, instruction, block_k, spans, stages)
    if how.specialize:
        s[P].specialize(ko, *registers, consumers=how.consumers)
    cluster = how.cluster or _cluster_of(sources, extents, tile)
    for axis, size in zip((down, along), cluster, strict=True):
        if size > 1:
            s[tiled].cluster(axis, size)
    if blocks is not None:
        clusters = _count(extents, (tile[0] * cluster[0], tile[1] * cluster[1], 1))
        if not how.stream_k and not how.narrower and clusters is not None:
            # As few as need as many waves: blocks without a tile in the last wave only take power.
            waves = -(-clusters // max(1, blocks // prod(cluster)))
            blocks = -(-clusters // waves) * prod(cluster)
        # What runs at once is as high as it is wide, so that it reads the least.
        group = how.group or max(1, round(sqrt(blocks * n / m)))
        if how.raster == "hilbert":
            group = 1 << (group.bit_length() - 1)
        order: dict[str, Any] = {"stream_k": how.stream_k, "narrower": how.narrower, "serpentine_k": how.serpentine_k}
        s[tiled].persistent(blocks, raster=how.raster, group=group, **order)


def _columns_at_once(n: int, most: int, copier: str, left: int, column: int) -> int:
    """The columns of n that are in shared memory at a time, in panels of at most `most`.

    It is all columns, if as much of operands is on its way as hides memory: if they fit in the bytes that are `left`.
    Else TMA stores one of at most two panels while the other is written to. Threads store as much of a row as fits.
    """
    # A part has at least sixteen: of an odd number of eights all are stored at once.
    if n * column <= left or n % 16:
        return n
    panel = gcd(n, most)
    few = panel * (2 - n // panel % 2)
    wider = [some for some in range(few, n, panel) if n % some == 0 and some * column <= left]
    return max([few, *wider]) if copier == "threads" else few


def _axes(stage: Stage, joined: Sequence[Sequence[int]]) -> list[IterVar]:
    """The axes of the stage as the matmul has them."""
    axes = list(stage.op.axis)
    return [stage.fuse(*(axes[place] for place in some)) if len(some) > 1 else axes[some[0]] for some in joined] or axes


def _share_tiles(
    s: Schedule, tiled: Tensor, tile: tuple[int, int], swap_ab: bool, joined: Sequence[Sequence[int]]
) -> tuple[IterVar, IterVar, IterVar, tuple[IterVar, IterVar]]:
    """A block has a tile. The loops over tiles down and along, the inner one of them, and those within a tile."""
    *outer, i, j = _axes(s[tiled], joined)
    if len(outer) > 1:
        outer = [s[tiled].fuse(*outer)]
    down, i = s[tiled].split(i, factor=tile[0])
    along, j = s[tiled].split(j, factor=tile[1])
    by, bx = (along, down) if swap_ab else (down, along)
    s[tiled].reorder(*outer, by, bx, i, j)
    for axis, tag in zip((*outer, by, bx), ("blockIdx.z", "blockIdx.y", "blockIdx.x")[-2 - len(outer) :], strict=True):
        s[tiled].bind(axis, thread_axis(tag))
    s[tiled].env_threads([thread_axis((0, 128), "threadIdx.x")])
    return down, along, bx, (i, j)


def _accumulate(
    s: Schedule, P: Tensor, operands: Sequence[Tensor], instruction: TensorIntrin, block_k: int, spans: Sequence[int],
    stages: int,
) -> IterVar:  # fmt: skip
    """Warpgroups multiply K tiles of the operands. The loop over K tiles."""
    *_, i, j = s[P].op.axis
    ko, ki = s[P].split(s[P].op.reduce_axis[0], factor=block_k)
    s[P].reorder(ko, i, j, ki)
    s[P].tensorize(i, instruction)
    load_ahead(s, P, ko, operands, spans, stages)
    return ko


def load_ahead(
    s: Schedule, P: Tensor, ko: IterVar, operands: Sequence[Tensor], spans: Sequence[int], stages: int
) -> None:
    """TMA loads the operands' tiles to shared memory, in panels as wide as `spans`, `stages` - 1 iterations ahead."""
    for stage, span in zip(operands, spans, strict=True):
        s[stage].set_scope("shared")
        s[stage].compute_at(s[P], ko)
        s[stage].copy_by("tma", swizzle=span)
    s[P].software_pipeline(ko, stages)


def _cluster_of(sources: Sequence[Tensor], extents: Sequence[Extent], tile: tuple[int, int]) -> tuple[int, int]:
    """What blocks share they wait for together. It pays where rows do not begin at lines of the cache, of which TMA
    then reads one more for each: of many tiles one more costs little."""
    rows = [_bytes_of_rows(operand) for operand in sources]
    straddles = any(row % ALIGNED == 0 and row % _LINE for row in rows)
    pairs = [straddles and _go_in_pairs(extent, size) for extent, size in zip(extents[:2], tile, strict=True)]
    return (2, 1) if pairs[0] else (1, 2) if pairs[1] else (1, 1)


def registers_of(consumers: int) -> tuple[int, int]:
    """The registers of a producer thread, and of a thread of one of so many consumer warpgroups."""
    copying = 40 if consumers < 3 else 24
    # All threads are launched with as many, a multiple of 8; what one that copies gives back the others take.
    each = min(256, current_gpu().sm.registers_per_sm // (128 * (consumers + 1)) // 8 * 8)
    return copying, min(240, (each + (each - copying) // consumers) // 8 * 8)


def no_more(size: int, extent: Extent, grain: int) -> int:
    """A tile's rows or columns, no more than there are at most, in whole grains."""
    most = extent.maximum if isinstance(extent, Var) else extent
    return min(size, -(-most // grain) * grain) if isinstance(most, int) else size


def _bytes_of_rows(operand: Tensor) -> int:
    """0 where that is not known."""
    columns = operand.shape[-1]
    return columns * item_bytes(operand.dtype) if isinstance(columns, int) else 0


def _go_in_pairs(extent: Extent, size: int) -> bool:
    """Whether tiles of so many rows or columns leave at most a small share of pairs half empty."""
    if isinstance(extent, int):
        tiles = -(-extent // size)
        return tiles % 2 == 0 or tiles > _MANY
    return isinstance(extent, Var) and -(-extent.minimum // size) > _MANY


def _count(extents: Sequence[Extent], sizes: Sequence[int]) -> int | None:
    """How many of such a size there are, where that is known."""
    count = 1
    for extent, size in zip(extents, sizes, strict=True):
        if not isinstance(extent, int):
            return None
        count *= -(-extent // size)
    return count
