"""The schedules of a matmul that are worth a try, and what a tuning run tries beside the fastest of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

from ...devices import GPU, current
from .problem import Choice, Problem, blocks_at_once, columns_across, one_more_tile

__all__ = ["candidates", "equal_shares", "narrower_by", "refinements"]

# The space that is searched. Of `matmul_mma`: tiles with the warps that share them, depths, and steps in bytes. Tiles
# of few rows are for few rows of C, where they are all there is to do; longer steps read memory in longer pieces. Of
# two that take the same the first is taken.
_TILES = (
    ((16, 128), (1, 4), 4, 128),
    ((16, 128), (1, 4), 3, 256),
    ((16, 64), (1, 4), 6, 128),
    ((16, 64), (1, 4), 4, 256),
    ((16, 32), (1, 2), 8, 128),
    ((16, 32), (1, 2), 5, 256),
    ((16, 32), (1, 4), 8, 256),
    ((16, 32), (1, 2), 4, 512),
    ((16, 16), (1, 2), 8, 256),
    ((16, 16), (1, 2), 6, 512),
    ((128, 128), (2, 2), 3, 128),
    ((128, 256), (2, 4), 3, 128),
    ((256, 128), (4, 2), 3, 128),
    ((128, 64), (2, 2), 4, 128),
    ((64, 128), (2, 2), 4, 128),
    ((64, 64), (2, 2), 4, 128),
    ((64, 32), (2, 1), 5, 128),
    ((32, 128), (1, 4), 4, 128),
    ((32, 64), (1, 4), 5, 128),
    ((32, 32), (1, 2), 6, 128),
)
_SPLITS = (1, 2, 4, 8, 16)
# Of `matmul_wgmma`, which finds the depth by itself; promoted sums take twice the registers.
_WARPGROUP_TILES = ((128, 256), (128, 192), (256, 128), (128, 128), (64, 256), (64, 128), (64, 64))
_PROMOTED_TILES = ((128, 192), (192, 128), (128, 128), (64, 128), (64, 64))
# Those of which two sets of warpgroups have sums at once, in turn.
_TURNS = ((128, 128), (64, 256), (64, 128))
# Rows of C that may be columns of the instruction.
_FEW_ROWS = 256
# How many loads a thread has under way at most, where it copies single elements through registers.
_MOST_LOADS = 100
_FOUR = 4
# By how many columns some may be narrower than others, and of how many columns at least.
_NARROWER, _LEAST_WIDTH = (16, 8, 32), 128


def candidates(problem: Problem, device: GPU | None = None) -> Iterator[Choice]:
    """The choices for a matmul that fit a GPU, by default `devices.current`, without tiles that are much too large.

    A tile has at most twice the rows and columns of the matrix.
    """
    device = device or current()
    if "wgmma" in device.features:
        yield from _by_warpgroups(problem, device)
    most = device.shared_bytes_per_block
    for tile, warps, stages, step_bytes in (*_TILES, *_of_all_rows(problem, most)):
        block_k = step_bytes // problem.item_bytes
        if stages * sum(tile) * step_bytes > most:
            continue
        if any(size > 32 and size >= 2 * extent for size, extent in zip(tile, (problem.M, problem.N))):
            continue
        tiles = problem.tiles(tile)
        for split_k in _SPLITS:
            if split_k > 1 and (tiles * split_k > 4 * device.sms or problem.K < 4 * split_k * block_k):
                continue
            options: dict[str, Any] = {"tile": tile, "warps": warps, "stages": stages}
            if step_bytes != 128:
                options["block_k"] = block_k
            if split_k > 1:
                options["split_k"] = split_k
            if problem.M > 8 * tile[0]:
                options["group"] = 8
            yield Choice("matmul_mma", options)
            if not all(problem.is_aligned) and _fits_in_registers(problem, tile, warps, step_bytes):
                # The smaller the other factor, the less a copy of this one pays.
                yield Choice("matmul_mma", options | {"pad": (False, False)})
                if not any(problem.is_aligned):
                    yield Choice("matmul_mma", options | {"pad": (problem.M <= problem.N, problem.M > problem.N)})


def _of_all_rows(problem: Problem, most: int) -> Iterator[tuple[tuple[int, int], tuple[int, int], int, int]]:
    """Tiles of `matmul_mma` with as many rows as C, where these are few, so that B is read once. Two blocks fit on an
    SM. A transposed A that is not of 32 bits is swizzled along its rows, of which there are a power of two then."""
    grain = 16 if problem.M <= 128 else 32
    rows = grain * ceil(problem.M / grain)
    if problem.layout[0] == "T" and problem.item_bytes != 4 or not 32 < rows <= _FEW_ROWS:
        return
    for columns, step_bytes in ((128, 128), (64, 128), (128, 64)):
        tile, warps = (rows, columns), (grain // 16, 4)
        stages = min(6, most // 2 // (sum(tile) * step_bytes))
        if stages > 1 and tile not in [one[0] for one in _TILES]:
            yield tile, warps, stages, step_bytes


def _fits_in_registers(problem: Problem, tile: tuple[int, int], warps: tuple[int, int], step_bytes: int) -> bool:
    """Whether threads have few enough loads under way for rows that only single elements are copied of."""
    is_single = any(length * problem.item_bytes % 4 for length in problem.row_lengths)
    return not is_single or sum(tile) * step_bytes // problem.item_bytes <= _MOST_LOADS * 32 * warps[0] * warps[1]


def _by_warpgroups(problem: Problem, device: GPU) -> Iterator[Choice]:
    for tile in _warpgroup_tiles(problem, device):
        if any(size > 64 and size >= 2 * extent for size, extent in zip(tile, (problem.M, problem.N))):
            continue
        rows = ceil(problem.M / tile[0])
        tiles = problem.tiles(tile)
        steps = ceil(problem.K * problem.item_bytes / 128)
        # Where C has many tiles a cluster may share what they read.
        clusters = [(1, 1)]
        if rows > 1 and (tiles > device.sms or rows % 2 == 0):
            clusters.append((2, 1))
        if rows % 2 and ceil(problem.N / tile[1]) % 2 == 0:
            clusters.append((1, 2))
        # Four in a row ask for a quarter of B, or of A, each for whole groups of eight rows.
        most = blocks_at_once(device, _FOUR)
        for place, cluster in enumerate(((_FOUR, 1), (1, _FOUR))):
            many = (rows, ceil(problem.N / tile[1]))[place]
            if many % _FOUR == 0 and tile[0] * tile[1] >= 128 * 128 and tile[1 - place] % (8 * _FOUR) == 0:
                yield Choice("matmul_wgmma", {"tile": tile, "cluster": cluster, "blocks": min(most, tiles)})
        for cluster in clusters:
            yield Choice("matmul_wgmma", {"tile": tile, "cluster": cluster})
            if tiles % (device.sms // max(cluster)) and tiles * steps > 8 * max(cluster):
                yield Choice("matmul_wgmma", {"tile": tile, "cluster": cluster, "stream_k": True})
        if narrower := next(narrower_by(problem, {"tile": tile}, device), None):
            yield Choice("matmul_wgmma", {"tile": tile, "cluster": (1, 1), "narrower": narrower})
        # Where B's rows are columns of C, tiles that are narrower begin within lines of the cache; not so if in rows,
        # unless A's are those.
        swapped = {"tile": tile[::-1], "cluster": (1, 1), "swap_ab": True}
        if problem.layout[0] == "N" and (narrower := next(narrower_by(problem, swapped, device), None)):
            yield Choice("matmul_wgmma", swapped | {"narrower": narrower})
        if shares := equal_shares(tiles, steps, device):
            yield Choice("matmul_wgmma", {"tile": tile, "cluster": (1, 1), "stream_k": True, "blocks": shares * tiles})
        for split_k in _SPLITS[1:] if problem.batch == 1 else ():
            if tiles * split_k <= 2 * device.sms and steps >= 4 * split_k:
                yield Choice("matmul_wgmma", {"tile": tile, "cluster": (1, 1), "split_k": split_k})
                if rows % 2 == 0:
                    yield Choice("matmul_wgmma", {"tile": tile, "cluster": (2, 1), "split_k": split_k})
                elif ceil(problem.N / tile[1]) % 2 == 0:
                    yield Choice("matmul_wgmma", {"tile": tile, "cluster": (1, 2), "split_k": split_k})
    # Few rows, or a few parts of some more, are columns of the instruction, of which it may have few.
    for parts in (1, 2, 3):
        rows = 16 * ceil(problem.M / parts / 16)
        if rows > min(_FEW_ROWS, _widest(problem)) or parts > 1 and rows * parts >= 64 * ceil(problem.M / 64):
            continue
        for columns in (64, 128):
            tile = rows, columns
            tiles, steps = problem.tiles(tile), ceil(problem.K * problem.item_bytes / 128)
            for cluster in ((1, 1), (1, 2)) if ceil(problem.N / columns) % 2 == 0 and rows % 32 == 0 else ((1, 1),):
                swapped = {"tile": tile, "cluster": cluster, "swap_ab": True}
                yield Choice("matmul_wgmma", swapped)
                for split_k in _SPLITS[1:] if problem.batch == 1 else ():
                    if tiles * split_k <= 2 * device.sms and steps >= 4 * split_k:
                        yield Choice("matmul_wgmma", swapped | {"split_k": split_k})


def _widest(problem: Problem) -> int:
    """Columns of the instruction, of which a thread has the sums; promoted ones twice."""
    return 192 if problem.dtype.startswith("float8") else 256


def _warpgroup_tiles(problem: Problem, device: GPU) -> Iterator[tuple[int, int]]:
    """The tiles of `matmul_wgmma` for a matmul, and of those with few rows such as have just a tile for each of the
    SMs, or for half of them."""
    tiles = _PROMOTED_TILES if problem.dtype.startswith("float8") else _WARPGROUP_TILES
    yield from tiles
    for rows in (64, 128):
        for blocks in (device.sms, device.sms // 2):
            if not (along := blocks // (ceil(problem.M / rows) * problem.batch)):
                continue
            # Where B's rows are columns of C, of a multiple of 64 they are copied in the longest pieces.
            for grain in (16, 64) if problem.layout[1] == "N" and problem.item_bytes == 2 else (16,):
                columns = grain * ceil(problem.N / along / grain)
                if columns <= _widest(problem) and (rows, columns) not in tiles:
                    yield rows, columns


def narrower_by(problem: Problem, options: Mapping[str, Any], device: GPU) -> Iterator[int]:
    """By how many columns, or rows, some tiles can be narrower so that the last wave is full."""
    tiles, (_, width) = problem.tiles(options["tile"]), columns_across(problem, options)
    along, over = one_more_tile(problem, options)
    is_apt = (
        problem.batch == 1 and problem.N % 8 == 0 and width >= _LEAST_WIDTH and not problem.dtype.startswith("float8")
    )
    # Where a factor's rows are columns of the instruction, copies that begin within sectors of the cache take half as
    # long again.
    begins_within = problem.layout[0] == "T" if options.get("swap_ab") else problem.layout[1] == "N"
    grain = 32 // problem.item_bytes if begins_within else 16 if problem.dtype == "int8" else 8
    if is_apt and tiles > device.sms and tiles % device.sms:
        for less in _NARROWER:
            if less % grain == 0 and over % less == 0 and over // less <= along:
                yield less


def equal_shares(tiles: int, steps: int, device: GPU) -> int:
    """Into how many parts the work of each of so few tiles is divided, for as many blocks; 0 where it is not."""
    shares = min(device.sms // tiles, steps // 4)
    return shares if shares > 1 else 0


def refinements(problem: Problem, choice: Choice, device: GPU | None = None) -> Iterator[Choice]:
    """The variants that a tuning run tries for one of the fastest choices: other rasters, clusters and stages."""
    device = device or current()
    tile = choice.options["tile"]
    tiles = ceil(problem.M / tile[0]), ceil(problem.N / tile[1])
    more: list[dict[str, Any]] = []
    if "narrower" in choice.options:
        for less in narrower_by(problem, choice.options, device):
            more += [{"narrower": less}, {"narrower": less, "serpentine_k": True}]
        for order in (
            {"group": 4},
            {"group": 8},
            {"raster": "hilbert", "group": 8},
            {"raster": "hilbert", "group": 16},
        ):
            more += [order, order | {"serpentine_k": True}]
    elif choice.schedule == "matmul_wgmma":
        clusters = ((1, 1), (2, 1), (1, 2), (1, 4))
        more += [{"cluster": one} for one in clusters if not any(many % size for many, size in zip(tiles, one))]
        if tiles[0] * tiles[1] > device.sms:
            more += [{"cluster": (1, 1), "group": group} for group in (4, 16)]
            more += [{"cluster": (1, 1), "raster": "hilbert", "group": group} for group in (8, 16)]
            if "stream_k" not in choice.options:
                more.append({"cluster": (1, 1), "raster": "hilbert", "group": 16, "serpentine_k": True})
            if tuple(tile) in _TURNS and not choice.options.keys() & {"split_k", "stream_k"}:
                more += [{"consumers": 2}, {"consumers": 2, "cluster": (1, 1)}]
        more.append({"cluster": (1, 1), "blocks": None})
        # Small tiles have room for more steps under way than the schedule takes.
        stages = min(16, device.shared_bytes_per_block // (sum(tile) * 128) - 1)
        if stages > 8:
            more.append({"stages": stages})
        if problem.K * problem.item_bytes <= 4 * 128:
            # Blocks that have little to copy: several on an SM, of which one stores while others multiply.
            more.append({"cluster": (1, 1), "blocks": None, "specialize": False, "stages": 2})
    else:
        stages = choice.options["stages"]
        more += [{"stages": stages - 1}, {"stages": stages + 1}]
        if tiles[0] > 1:
            more += [{"group": group} for group in (4, 16)]
    if "griddepcontrol" in device.features and (choice.options.get("split_k", 1) > 1 or not all(problem.is_aligned)):
        more.append({"dependent": True})  # of several kernels
    for options in more:
        yield Choice(choice.schedule, {**choice.options, **options})
