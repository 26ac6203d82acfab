"""The tiles of matmuls without tensor cores, by a model of their time."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...devices import GPU
from ...target import current_gpu
from .problem import Problem

__all__ = ["Lanes", "Tiles", "fastest_tiles", "lanes_of", "tiles_for", "whole_steps"]

Lanes = int | tuple[int, int]
"""How many rows and columns of a tile a thread computes: multiples of four, one number if they are as many."""

# Tiles with what a thread computes of them.
_TILES: tuple[tuple[tuple[int, int], Lanes], ...] = (
    ((128, 128), 8), ((128, 64), 8), ((64, 128), 8), ((64, 64), 4), ((32, 128), 4), ((128, 32), 4), ((32, 64), 4),
    ((64, 32), 4), ((16, 128), 4), ((32, 32), 4), ((16, 64), 4), ((64, 64), 8), ((32, 128), 8), ((128, 32), 8),
)  # fmt: skip
# Those of the rules beside them; for rows or columns that are multiples of 24, of which the others leave a part without
# work, too.
_LARGE_TILES: tuple[tuple[tuple[int, int], Lanes], ...] = (((128, 128), (8, 16)),)
_OF_24 = 24
_TILES_OF_24: tuple[tuple[tuple[int, int], Lanes], ...] = (
    ((96, 128), (12, 8)), ((96, 64), (12, 8)), ((48, 128), (12, 8)), ((24, 128), (12, 4)),
    ((128, 96), (8, 12)), ((64, 96), (8, 12)), ((128, 48), (8, 12)), ((128, 24), (4, 12)),
)  # fmt: skip
# What threads of so many lanes reach of the published rate, whose clock a GPU may exceed, and memory of its own. What a
# K tile takes beside its multiplications, of which several blocks hide a part of each other's; the first loads and the
# last stores of a block; a kernel that adds up; a launch; an element that is fetched, and one that is stored across.
# Fitted to 87 matmuls of three seeds that an H100 measured (`bench/results/h100-random-*.json`): off by 5 %.
_RATES, _OF_MEMORY = {4: 0.986, 8: 1.077}, 0.79
_OF_STEP, _OF_BLOCK, _ADDING, _BEGIN = 0.108e-6, 3.14e-6, 4.52e-6, 2.19e-6
_OF_FETCHED, _OF_STORED = 0.093e-9, 0.0078e-9
# What is left of the rate where the rules store parts from the registers that they are summed in.
_OF_PARTS = 0.9
# A K tile of more bytes, twice, leaves no shared memory for a second block. A thread of eight lanes has registers for
# so many elements that are on their way.
_STEP_BYTES, _FETCHED = 12288, 20
# Steps along K of whole axes.
_SHORTEST, _LONGEST = 7, 32


Tiles = tuple[tuple[int, int], Lanes, int, int]
"""The rows and columns of a tile, what of each a thread has, the K tile, and the parts of K."""


def lanes_of(lanes: Lanes) -> tuple[int, int]:
    """The rows and columns that a thread computes.

    >>> lanes_of(8), lanes_of((12, 8))
    ((8, 8), (12, 8))
    """
    return (lanes, lanes) if isinstance(lanes, int) else lanes


def fastest_tiles(problem: Problem, block_k: int | None, lanes: int | None, split_k: int | None) -> Tiles:
    """The tiles with these options that take the least time by the model."""
    found = _fitting(problem, (block_k,) if block_k else None, lanes, split_k)
    return found[0] if found else ((128, 128), lanes or 8, block_k or 8, split_k or 1)


def tiles_for(M: int, N: int, K: int, batch: int | None, device: GPU, digits: Sequence[int] = ()) -> dict[Tiles, float]:
    """The tiles that `sgemm` could take for a matmul, the fastest first, and the seconds that each takes by the model.

    An element along K may be made of several axes, of extents `digits`. A step is then of whole axes where it can be:
    what is the same for all of a step is computed once.

    >>> import tilewright as tw
    >>> gpu = tw.Target("cuda -device=H200").device
    >>> next(iter(tiles_for(4096, 4096, 4096, None, gpu)))[0]
    (128, 128)
    """
    problem = Problem(M, N, K, "float32", batch=batch or 1)
    found = _fitting(problem, whole_steps(digits), None, None, device, is_rule=True)
    if digits:
        # Parts of windows cost more than they save once there are tiles for all SMs.
        found = [one for one in found if one[3] == 1 or problem.tiles(one[0]) < device.sms]
    return {one: _estimate(problem, device, *one, is_rule=True) for one in found}


def whole_steps(digits: Sequence[int]) -> tuple[int, ...] | None:
    """Numbers of elements along K, from 7 to 32, that are all of the last axes, or divide the next one, too. None if
    there are none, or but one axis.

    >>> whole_steps((3, 3, 32)), whole_steps((3, 3, 3)), whole_steps((3, 11, 11)), whole_steps((3, 5, 7))
    ((8, 16, 32), (9, 27), (11,), (7,))
    >>> whole_steps((17, 37)), whole_steps((1, 24))
    (None, None)
    """
    digits = [extent for extent in digits if extent > 1]
    if len(digits) < 2:
        return None
    found, size = set[int](), 1
    for extent in reversed(digits):
        found |= {size * times for times in range(1, extent + 1) if extent % times == 0}
        size *= extent
    return tuple(sorted(one for one in found if _SHORTEST <= one <= _LONGEST)) or None


def _fitting(
    problem: Problem, steps: Sequence[int] | None, lanes: int | None, split_k: int | None, gpu: GPU | None = None,
    *, is_rule: bool = False,
) -> list[Tiles]:  # fmt: skip
    """All that can be taken, the fastest by the model first."""
    device = gpu or current_gpu()
    shortest = steps[0] if steps and not is_rule else 8  # which all tiles have room for
    steps = steps or (8, 16, 32)
    steps = steps if shortest in steps else (*steps, shortest)
    tiles = list(_TILES)
    if is_rule:
        is_of_24 = any(extent % _OF_24 == 0 and extent % 64 for extent in (problem.M, problem.N))
        tiles += [*_LARGE_TILES, *(_TILES_OF_24 if is_of_24 else ())]
    options = [
        (tile, own, step, parts)
        for tile, own in tiles
        if lanes in (None, own)
        and all(size <= 32 or size < 2 * extent for size, extent in zip(tile, (problem.M, problem.N)))
        for step in steps
        if step == shortest or _fits(tile, own, step) and problem.K >= step
        for parts in ((1, 2, 4, 8, 16, 32, 64) if split_k is None else (split_k,))
        if parts in (1, split_k) or problem.K >= parts * max(64, 2 * step)
    ]
    return sorted(options, key=lambda one: _estimate(problem, device, *one, is_rule=is_rule))


def _fits(tile: tuple[int, int], lanes: Lanes, block_k: int) -> bool:
    """Whether shared memory and registers have room for a K tile that is longer than the shortest."""
    elements = (tile[0] + tile[1]) * block_k
    of_thread = prod(lanes_of(lanes))
    return 4 * elements <= _STEP_BYTES and (of_thread == 16 or elements * of_thread <= _FETCHED * tile[0] * tile[1])


def _estimate(
    problem: Problem, device: GPU, tile: tuple[int, int], lanes: Lanes, block_k: int, split_k: int,
    *, is_rule: bool = False,
) -> float:  # fmt: skip
    blocks = problem.tiles(tile) * split_k
    of_thread = prod(lanes_of(lanes))
    threads = tile[0] * tile[1] // of_thread
    registers = {16: 80, 48: 120, 64: 128}.get(of_thread, 255)
    fitting = max(1, min(device.threads_per_sm, device.sm.registers_per_sm // registers) // threads)
    fitting = max(1, min(fitting, device.shared_bytes_per_block // (8 * (tile[0] + tile[1]) * block_k)))
    of_one = -(-blocks // device.sms)
    steps = -(-problem.K // (split_k * block_k))
    # What lies along k is stored across, of which K tiles of more than 8 go to the same banks.
    across = tile[0] * (problem.layout[0] == "N") + tile[1] * (problem.layout[1] == "T")
    storing = block_k * (_OF_FETCHED * (tile[0] + tile[1]) + _OF_STORED * across * max(1, block_k // 8))

    reached = _RATES[4 if of_thread == 16 else 8]
    if is_rule and split_k > 1 and of_thread == 64:
        reached *= _OF_PARTS

    def turn(at_once: int) -> float:
        # A warp on each scheduler is what multiplies at the full rate at least.
        rate = reached * device.sm_peak("fma", "float32") * min(1.0, at_once * threads / 128)
        multiplying = 2.0 * tile[0] * tile[1] * block_k / rate
        return steps * (at_once * (multiplying + storing) + _OF_STEP / at_once) + _OF_BLOCK

    turns, rest = divmod(of_one, fitting)
    seconds = turns * turn(fitting) + (turn(rest) if rest else 0.0)
    fetched = 4.0 * (tile[0] + tile[1]) * steps * block_k * blocks
    seconds = max(seconds, fetched / (_OF_MEMORY * device.l2_bandwidth))
    results = 4.0 * problem.M * problem.N * problem.batch
    moved = 4.0 * (problem.M + problem.N) * problem.K * problem.batch + results
    seconds = max(seconds, moved / (_OF_MEMORY * device.bandwidth))
    if split_k > 1:
        # Parts that the L2 cache does not hold go to memory and come back.
        is_held = split_k * results <= device.l2_bytes / 2
        bandwidth = device.l2_bandwidth if is_held else _OF_MEMORY * device.bandwidth
        seconds += _ADDING + (2 * split_k + 1) * results / bandwidth
    return seconds + _BEGIN
