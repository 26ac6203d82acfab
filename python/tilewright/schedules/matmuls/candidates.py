"""The schedules of a matmul that are worth a try, and what a tuning run tries beside the fastest of them."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any

from ...devices import GPU
from ...target import current_gpu
from .problem import Choice, Problem
from .warpgroup_candidates import by_warpgroups, narrower_by, overlapped

__all__ = ["candidates", "refinements"]

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
# Rows of C that may be columns of the instruction.
_FEW_ROWS = 256
# How many loads a thread has under way at most, where it copies single elements through registers.
_MOST_LOADS = 100
# Tiles of which two sets of warpgroups have sums at once, in turn.
_TURNS = ((128, 128), (64, 256), (64, 128))


def candidates(problem: Problem, device: GPU | None = None) -> Iterator[Choice]:
    """The choices for a matmul that fit a GPU, by default `target.current_gpu`, without tiles that are much too large.

    A tile has at most twice the rows and columns of the matrix.
    """
    device = device or current_gpu()
    if "wgmma" in device.features:
        yield from by_warpgroups(problem, device)
    most = device.shared_bytes_per_block
    for tile, warps, stages, step_bytes in (*_TILES, *_of_all_rows(problem, most)):
        block_k = step_bytes // problem.item_bytes
        if stages * _bytes_of_a_step(problem, tile, step_bytes) > most:
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
                options |= {"split_k": split_k, **overlapped(device)}
            if problem.M > 8 * tile[0]:
                options["group"] = 8
            yield Choice("matmul_mma", options)
            if not all(problem.is_aligned) and _fits_in_registers(problem, tile, warps, step_bytes):
                # The smaller the other operand, the less a copy of this one pays.
                yield Choice("matmul_mma", options | {"pad": (False, False)})
                if not any(problem.is_aligned):
                    yield Choice("matmul_mma", options | {"pad": (problem.M <= problem.N, problem.M > problem.N)})


def _bytes_of_a_step(problem: Problem, tile: tuple[int, int], step_bytes: int) -> int:
    """The shared memory that `matmul_mma` takes for a step. Rows of 32 bits across k begin eight banks apart."""
    lengths = [
        size + (8 - size) % 32 if across and problem.item_bytes == 4 else size
        for size, across in zip(tile, problem.lies_across)
    ]
    return sum(lengths) * step_bytes


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


def refinements(problem: Problem, choice: Choice, device: GPU | None = None) -> Iterator[Choice]:
    """The variants that a tuning run tries for one of the fastest choices: other rasters, clusters and stages."""
    device = device or current_gpu()
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
