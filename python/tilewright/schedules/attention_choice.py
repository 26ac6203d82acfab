"""Whether attention is one kernel of warpgroups, and with which tiles: by what TMA and registers take, and by time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, Protocol

from ..devices import GPU, MOST_BLOCKS_YZ
from ..dtypes import item_bytes
from .attention_memory import BARRIERS, held_registers, other_registers, shared_bytes_of, takes

__all__ = [
    "Laid",
    "blocks_of_documents",
    "fp8_tiles_for",
    "gradient_tiles_for",
    "is_for_tma",
    "is_long",
    "lists_tiles",
    "logarithm_tiles_for",
    "multiplies_by",
    "tiles_by",
    "tiles_for",
]


class Laid(Protocol):
    """An array as a schedule sees it: `strides` are in elements, None of a row-major one; `align` bytes divide its
    address."""

    @property
    def shape(self) -> Sequence[int]: ...

    @property
    def dtype(self) -> str: ...

    @property
    def strides(self) -> Sequence[int] | None: ...

    @property
    def align(self) -> int: ...


_TILES = ((128, 128), (128, 64), (64, 128), (64, 64))
_LEAST_ROWS = 8  # of a box
_SHORT, _LONGEST_PACKED = 1024, 4096  # keys
_WIDE, _WIDER = 192, 80  # columns of a head, and keys of a tile
_PANEL, _MOST_SUMS, _LEAST_SUMMED = 32, 128, 64  # columns of gradients, and queries and keys that fill a tile
_WIDEST = 256  # columns of the widest sums
_ALIGNED = 16  # bytes: of addresses, and of all strides but the last
# The general road writes and reads scores of float32 and weights of 16 bits several times.
_BYTES_A_SCORE = 24
_BYTES_OF_PART = 8
# Of a GPU's memory, which scores of float32 and weights may take.
_SHARE_OF_MEMORY = 0.25
# What is reached of the peak by a block that has an SM for itself.
_EFFICIENCY = 0.5
# Of the peak of mma.sync, with so many keys of a tile, by as many warps of an SM or more; fewer reach a part of it. On
# an H200, from heads of 64, 128 and 256, of 16 Ki tokens. By bytes of an element; of float32 the peak is that of tf32.
_EFFICIENCIES = {2: {128: 0.6, 64: 0.52, 32: 0.4}, 4: {128: 0.58, 64: 0.59, 32: 0.55}}
_WARPS_OF_SM, _FEW_WARPS, _WARP_ROWS = 8, 0.72, 16
_OF_TF32, _OF_FMA = 0.6, 0.8  # of these peaks, which kernels reach that store scores
# Of wide heads, where a block has little shared memory.
_NARROW_TILES = ((128, 32), (64, 32))
# One SM that others leave alone reads as fast as so many that do not.
_BANDWIDTHS = 2
# From a load to its bytes, and from a block's begin to its first load and from its last to its end; seconds.
_LATENCY, _START = 1e-6, 2e-6
_MOST_STAGES, _MOST_WAVES = 4, 4
_MORE_KERNELS, _LAUNCH = 3, 3e-6  # seconds each
# Scores that take longer, with an element of a mask each, than to list which tiles the mask leaves something of.
_LISTED = 1 << 22


def multiplies_by(gpu: GPU | None, dtype: str) -> str | None:
    """The instruction of the warpgroups of attention's kernels, as `GPU.sm_peak` names it; None where there is none.

    >>> from tilewright.target import Target
    >>> [multiplies_by(Target("cuda", device=name).device, "bfloat16") for name in ("H200", "A100", "T4")]
    ['wgmma', 'mma', None]
    """
    if gpu is None or dtype not in ("float16", "bfloat16", "float32"):
        return None
    by_warps = "mma" if "mma.sync" in gpu.features else None
    return "wgmma" if "wgmma" in gpu.features and dtype != "float32" else by_warps


def tiles_by(instruction: str) -> tuple[tuple[int, int], ...]:
    """The rows and columns of tiles that are tried where this instruction multiplies."""
    return _TILES if instruction == "wgmma" else (*_TILES, *_NARROW_TILES)


def _peak(gpu: GPU, instruction: str, dtype: str) -> float:
    """Operations a second of an SM. A product of float32 is three of tf32."""
    return gpu.sm_peak(instruction, "tf32") / 3 if dtype == "float32" else gpu.sm_peak(instruction, dtype)


def _general_peak(gpu: GPU, *, tf32: bool) -> float:
    """Operations a second of the matmuls of float32 of other kernels."""
    if not tf32:
        return gpu.peak("fma", "float32") * _OF_FMA
    return max(gpu.peak(name, "tf32") for name in ("wgmma", "mma")) * _OF_TF32


def is_for_tma(laid: Laid) -> bool:
    """Whether TMA steps over an array's rows."""
    return _is_stepped(laid.shape, laid.strides, item_bytes(laid.dtype))


def _is_stepped(shape: Sequence[int], strides: Sequence[int] | None, item: int) -> bool:
    if strides is None:
        return shape[-1] * item % _ALIGNED == 0
    return strides[-1] == 1 and all(stride > 0 and stride * item % _ALIGNED == 0 for stride in strides[:-1])


def gradient_tiles_for(
    q: Laid, k: Laid, v: Laid, shape: Sequence[int], gpu: GPU | None, *, is_cut: bool, reads: bool = False
) -> tuple[tuple[int, int], ...] | None:
    """Rows and columns of the kernels of gradients, where the result has such a shape; None where there are none.

    Three are those of statistics, of the gradients by queries, and of those by values and by keys. Of four, the last is
    that of the gradients by keys alone. A cap, or a window that ends before a query, `is_cut`: it takes registers. What
    `reads` a mask, a length or a slope takes more. With a causal mask alone 64 columns spill nothing, and take 0.96 to
    0.99 of the time of 48 on an H200.

    >>> from tilewright.target import current_gpu
    >>> from tilewright.ops.operator import Operand
    >>> one = Operand((2, 16, 4096, 128), "bfloat16")
    >>> gradient_tiles_for(one, one, one, one.shape, current_gpu(), is_cut=False)
    ((128, 128), (128, 64), (128, 64))
    >>> gradient_tiles_for(one, one, one, one.shape, current_gpu(), is_cut=True)
    ((128, 128), (128, 64), (128, 48))
    >>> wide = Operand((2, 16, 4096, 192), "bfloat16")
    >>> gradient_tiles_for(wide, wide, one, one.shape, current_gpu(), is_cut=True)
    ((128, 64), (128, 64), (128, 64), (128, 64))
    >>> odd = Operand((2, 16, 4096, 36), "bfloat16")
    >>> gradient_tiles_for(odd, odd, odd, odd.shape, current_gpu(), is_cut=False) is None
    True
    """
    instruction = multiplies_by(gpu, q.dtype)
    if gpu is None or instruction is None:
        return None
    width, wide, queries, keys = q.shape[-1], v.shape[-1], q.shape[-2], k.shape[-2]
    if not 2 <= len(shape) <= 4 or 0 in shape or tuple(shape[:-2]) != tuple(q.shape[:-2]):
        return None
    if max(shape[:-2], default=1) > MOST_BLOCKS_YZ or any(one.align < _ALIGNED for one in (q, k, v)):
        return None
    widest = max(width, wide)
    steps = [own * item_bytes(q.dtype) for own in (width, wide)]
    if any(one % _ALIGNED for one in steps) or widest > _WIDEST or min(queries, keys) < _LEAST_SUMMED:
        return None
    is_narrow, is_apart = widest <= _MOST_SUMS // 2, width != wide or widest > _MOST_SUMS
    of_queries, of_keys = (128 if own > 64 else 64 for own in (queries, keys))
    if instruction == "mma":
        return _gradient_tiles_by_warps(width, wide, (of_queries, of_keys), gpu, item_bytes(q.dtype))
    if is_apart or (reads and not is_narrow):
        # What is loaded of two sides has to fit, too.
        columns = 64 if widest <= _WIDE else 48
        first = 128 if widest <= _MOST_SUMS else columns
        return (of_queries, first), (of_queries, columns), (of_keys, 64), (of_keys, columns)
    # A mask, and queries that tiles do not divide, take registers beside the sums of two gradients.
    columns = 64 if is_narrow or not (is_cut or queries % 64) else 48
    return (of_queries, 128), (of_queries, 128 if is_narrow else 64), (of_keys, columns)


def _gradient_tiles_by_warps(
    width: int, wide: int, rows: tuple[int, int], gpu: GPU, item: int
) -> tuple[tuple[int, int], ...] | None:
    """What `gradient_tiles_for` has for warps that multiply by mma.sync: they take more registers, as operands go
    through them."""
    bytes_of_row = item * (width + wide)
    is_narrow, is_apart = max(width, wide) <= _MOST_SUMS // 2, width != wide or max(width, wide) > _MOST_SUMS

    def tile(most_rows: int, most_columns: int) -> tuple[int, int] | None:
        for own, columns in itertools.product((most_rows, 64), (most_columns, 32)):
            if (own + 2 * columns) * bytes_of_row + BARRIERS <= gpu.shared_bytes_per_block:
                return own, columns
        return None

    first, by_queries = tile(rows[0], 64), tile(rows[0], 32 if is_apart else 64)
    by_keys = tile(rows[1], 64 if is_narrow else 32)
    if first is None or by_queries is None or by_keys is None:
        return None
    return (first, by_queries, by_keys, by_keys) if is_apart else (first, by_queries, by_keys)


def fp8_tiles_for(q: Laid, k: Laid, v: Laid, gpu: GPU | None) -> dict[str, Any] | None:
    """The tile of queries and keys of a kernel for 8-bit floats; None where there is none.

    >>> from tilewright.target import current_gpu
    >>> from tilewright.ops.operator import Operand
    >>> for width in (72, 128, 256):
    ...     one = Operand((2, 16, 4096, width), "float8_e4m3fn")
    ...     print(fp8_tiles_for(one, one, one, current_gpu()))
    None
    {'tile': (128, 128), 'stages': 3}
    {'tile': (128, 64), 'stages': 2}
    """
    if gpu is None or "wgmma" not in gpu.features or any(one.align < _ALIGNED for one in (q, k, v)):
        return None
    width, wide, queries, keys = q.shape[-1], v.shape[-1], q.shape[-2], k.shape[-2]
    heads = q.shape[:-2]
    if not 1 <= len(heads) <= 2 or 0 in (*q.shape, *k.shape) or max(heads) > MOST_BLOCKS_YZ:
        return None
    widest = max(width, wide)
    if width % _PANEL or wide % _PANEL or widest > 2 * _MOST_SUMS or min(queries, keys) < _LEAST_SUMMED:
        return None
    columns, stages = (128, 3) if widest <= _MOST_SUMS else (64, 2)
    return {"tile": (128 if queries > 64 else 64, columns), "stages": stages}


def logarithm_tiles_for(
    q: Laid, k: Laid, v: Laid, shape: Sequence[int], strides: Sequence[int] | None, gpu: GPU | None, *, is_causal: bool,
    tf32: bool = False, compares: bool = True,
) -> dict[str, Any] | None:  # fmt: skip
    """What `tiles_for` has, without split keys, for a kernel that gives the logarithms of sums, too; else None.

    >>> from tilewright.target import current_gpu
    >>> from tilewright.ops.operator import Operand
    >>> one, odd = (Operand((2, 16, 4096, width), "bfloat16") for width in (128, 72))
    >>> logarithm_tiles_for(one, one, one, one.shape, None, current_gpu(), is_causal=False)
    {'tile': (128, 128)}
    >>> logarithm_tiles_for(odd, odd, odd, odd.shape, None, current_gpu(), is_causal=False)
    {'tile': (128, 128)}
    """
    tiles = tiles_for(q, k, v, shape, strides, gpu, is_causal=is_causal, tf32=tf32, compares=compares)
    return {"tile": tiles["tile"]} if tiles is not None and "key_splits" in tiles else tiles


def lists_tiles(mask: Laid, shape: Sequence[int], keys: int, tiles: dict[str, Any]) -> bool:
    """Whether the tiles are listed of which a mask leaves something, where the result has such a shape.

    >>> from tilewright.ops.operator import Operand
    >>> mask = Operand((4096, 4096), "bool")
    >>> lists_tiles(mask, (2, 16, 4096, 128), 4096, {"tile": (128, 128)})
    True
    >>> lists_tiles(mask, (2, 16, 4096, 128), 4096, {"tile": (64, 128), "key_splits": 4})
    False
    """
    return mask.dtype == "bool" and "key_splits" not in tiles and is_long(shape, keys, tiles["tile"])


def is_long(shape: Sequence[int], keys: int, tile: tuple[int, int]) -> bool:
    """Whether there is so much to compute that lists of tiles are worth their kernels.

    >>> is_long((2, 16, 4096, 128), 4096, (128, 128)), is_long((16, 64, 128), 4096, (64, 4096))
    (True, False)
    """
    return math.prod(shape[:-1]) * keys >= _LISTED and keys > tile[1]


def _staying(gpu: GPU, tiles: int) -> int:
    """How many blocks stay. Without a common factor with a head's tiles each block gets tiles of all lengths."""
    return next(blocks for blocks in range(gpu.sms, 0, -1) if math.gcd(blocks, tiles) == 1)


def blocks_of_documents(shape: Sequence[int], keys: int, tile: tuple[int, int], gpu: GPU | None) -> dict[str, int]:
    """The option of how many blocks stay for packed documents, whose tiles have little to do each.

    Documents of 512 in 4096 tokens take 0.87 to 0.9 of the time on an H100 and on an H200. One document of 4096 takes
    1.1 of it, and one of 16384 takes 1.7: longer sequences have no blocks that stay.

    >>> from tilewright.target import current_gpu
    >>> for keys in (4096, 16384):
    ...     print(blocks_of_documents((4, 16, keys, 128), keys, (128, 128), current_gpu()))
    {'blocks': 131}
    {}
    """
    tiles = math.ceil(shape[-2] / tile[0])
    if gpu is None or keys > _LONGEST_PACKED or math.prod(shape[:-2]) * tiles <= gpu.sms:
        return {}
    return {"blocks": _staying(gpu, tiles)}


def _by_warps(tile: tuple[int, int], width: int, wide: int, stages: int, gpu: GPU, item: int) -> tuple[float, int]:
    """What blocks of so many rows and keys reach of the peak of mma.sync, and how many of them an SM has."""
    rows, columns = tile
    held = min(held_registers(columns, wide, item) + other_registers(item), gpu.registers_per_thread)
    threads = rows // _WARP_ROWS * gpu.warp_size
    each = shared_bytes_of(tile, width, wide, stages, is_stored=False, item=item) + gpu.sm.reserved_shared_bytes
    together = max(min(gpu.sm.shared_bytes_per_sm // each, gpu.sm.registers_per_sm // (held * threads)), 1)
    warps = together * rows // _WARP_ROWS
    return _EFFICIENCIES[item][columns] * (_FEW_WARPS if warps < _WARPS_OF_SM else 1), together


def _splits(blocks: int, tiles: int, packed: int, gpu: GPU) -> list[int]:
    """Among how many blocks the keys of a head may be split, so that the last wave is full."""
    most, least = math.ceil(tiles / 2), 1 if packed > 1 else 2  # One split serves packed heads alone.
    fills = {min(wave * gpu.sms // blocks, most) for wave in range(1, _MOST_WAVES + 1)}
    return sorted(splits for splits in fills | {least} if least <= splits <= max(least, most))


def tiles_for(
    q: Laid,
    k: Laid,
    v: Laid,
    shape: Sequence[int],
    strides: Sequence[int] | None,
    gpu: GPU | None,
    pages: Laid | None = None,
    *,
    is_causal: bool = False,
    may_split: bool = True,
    tf32: bool = False,
    compares: bool = True,
) -> dict[str, Any] | None:
    """The tile of queries and keys, where one kernel computes the result, of such a shape; None where it does not.

    Where there are few queries, the keys are split into `key_splits`, which a second kernel merges, if they
    `may_split`. If it `compares`, kernels that store scores may be chosen, by their time. Of float32 they multiply
    without tensor cores, or by them in `tf32` if they may. Blocks stay for short sequences with a causal mask, whose
    tiles have little to do each. On an H100, that is 9 % faster for 1024 keys, and slower for 4096.

    >>> from tilewright.target import current_gpu
    >>> from tilewright.ops.operator import Operand
    >>> one = Operand((2, 16, 4096, 128), "bfloat16")
    >>> tiles_for(one, one, one, one.shape, None, current_gpu())
    {'tile': (128, 128)}
    >>> short = Operand((16, 16, 1024, 128), "bfloat16")
    >>> tiles_for(short, short, short, short.shape, None, current_gpu(), is_causal=True)
    {'tile': (128, 128), 'blocks': 131}
    >>> tiles_for(Operand((1, 32, 1, 128), "float16"), *[Operand((1, 8, 8192, 128), "float16")] * 2, (1, 32, 1, 128),
    ...           None, current_gpu())
    {'tile': (64, 128), 'key_splits': 16, 'stages': 3}
    >>> tiles_for(Operand((16, 64, 1, 128), "float16"), *[Operand((16, 8, 8192, 128), "float16")] * 2,
    ...           (16, 64, 1, 128), None, current_gpu())
    {'tile': (64, 128), 'key_splits': 1, 'stages': 3}
    >>> large = Operand((2, 8, 4096, 256), "bfloat16")
    >>> tiles_for(large, large, large, large.shape, None, current_gpu())
    {'tile': (128, 80)}
    >>> odd = Operand((2, 16, 4096, 36), "bfloat16")
    >>> tiles_for(odd, odd, odd, odd.shape, None, current_gpu()) is None
    True
    >>> from tilewright.target import Target
    >>> tiles_for(one, one, one, one.shape, None, Target("cuda", device="RTX 4090").device)
    {'tile': (128, 64)}
    """
    instruction = multiplies_by(gpu, q.dtype)
    if gpu is None or instruction is None:
        return None
    if len(shape) > 4 or 0 in (*shape, *k.shape, *q.shape) or max(shape[:-2], default=1) > MOST_BLOCKS_YZ:
        return None
    item = item_bytes(q.dtype)
    if not all(is_for_tma(one) and one.align >= _ALIGNED for one in (q, k, v)) or not _is_stepped(shape, strides, item):
        return None
    queries, keys, width, wide = shape[-2], k.shape[-2], q.shape[-1], shape[-1]
    page = keys
    if pages is not None:
        keys *= pages.shape[1]
    heads = math.prod(shape[:-2])
    shared = max(one.shape[-3] for one in (k, v)) if len(shape) > 2 else 1
    packed = shape[-3] // shared if len(shape) > 2 and queries == 1 else 1
    of_sm = gpu.bandwidth / gpu.sms * _BANDWIDTHS
    key_seconds = heads // packed * keys * (width + wide) * item / gpu.bandwidth
    fitting: dict[tuple[int, int, int | None, int], float] = {}
    for (rows, columns), is_split in itertools.product(tiles_by(instruction), (False, True)[: 1 + may_split]):
        if rows >= queries + 64 or columns >= keys + 64:
            continue
        # Of a tile's keys TMA loads whole pages, of at least so many rows, or a part of one.
        if pages is not None and (page % _LEAST_ROWS or page % columns and columns % page):
            continue
        own_heads, own_rows = (heads // packed, max(queries, packed)) if is_split else (heads, queries)
        blocks = own_heads * math.ceil(own_rows / rows)
        deep = [
            stages
            for stages in (range(_MOST_STAGES, 1, -1) if is_split else (2,))
            if takes(
                (rows, columns), width, wide, gpu.shared_bytes_per_block, gpu.registers_per_thread, stages,
                is_split=is_split, item=item,
            )
        ]  # fmt: skip
        if not deep:
            continue
        # In each of so many waves every SM loads what its ring holds, again and again.
        rate = min(of_sm, deep[0] * columns * (width + wide) * item / _LATENCY)
        for splits in _splits(blocks, math.ceil(keys / columns), packed, gpu) if is_split else (None,):
            own_keys = math.ceil(keys / columns / (splits or 1)) * columns
            efficiency, together = _EFFICIENCY, 1
            if instruction == "mma":
                efficiency, together = _by_warps((rows, columns), width, wide, deep[0], gpu, item)
            work = 2.0 * rows * own_keys * (width + wide) / (_peak(gpu, instruction, q.dtype) * efficiency)
            waves = math.ceil(blocks * (splits or 1) / (gpu.sms * together))
            seconds = waves * together * max(work, own_keys * (width + wide) * item / rate)
            seconds = max(seconds, key_seconds) + waves * _START
            # Results of the splits, which the second kernel reads.
            merging = heads * queries * (splits or 0) * wide * _BYTES_OF_PART / gpu.bandwidth
            fitting[rows, columns, splits, deep[0]] = seconds + (_LAUNCH + merging if is_split else 0)
    if not fitting:
        return None
    best = min(fitting, key=lambda one: fitting[one])
    general = heads * queries * keys * _BYTES_A_SCORE / gpu.bandwidth + key_seconds
    if q.dtype == "float32":
        general += 2.0 * heads * queries * keys * (width + wide) / _general_peak(gpu, tf32=tf32)
    has_room = heads * queries * keys * (4 + item) < gpu.memory_bytes * _SHARE_OF_MEMORY
    if compares and fitting[best] > general + _MORE_KERNELS * _LAUNCH and has_room:
        return None
    rows, columns, splits, stages = best
    # Of wide heads a few more keys fit: 4 % faster on an H100.
    wider = (rows, _WIDER)
    memory = gpu.shared_bytes_per_block, gpu.registers_per_thread
    is_wider = not splits and pages is None and columns < _WIDER <= keys // 8
    if is_wider and takes(wider, width, wide, *memory, item=item):
        columns = _WIDER if width > _WIDE else columns
    if splits:
        return {"tile": (rows, columns), "key_splits": splits, "stages": stages}
    tiles = math.ceil(queries / rows)
    if not is_causal or max(queries, keys) > _SHORT or heads * tiles <= gpu.sms or instruction != "wgmma":
        return {"tile": (rows, columns)}
    return {"tile": (rows, columns), "blocks": _staying(gpu, tiles)}
