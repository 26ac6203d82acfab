"""The tiles of matmuls without tensor cores, by a model of their time."""

from __future__ import annotations

from ...devices import GPU
from ...target import current_gpu
from .problem import Problem

__all__ = ["Tiles", "fastest_tiles", "tiles_for"]

# Tiles with what a thread computes of them.
_TILES = (
    ((128, 128), 8), ((128, 64), 8), ((64, 128), 8), ((64, 64), 4), ((32, 128), 4), ((128, 32), 4), ((32, 64), 4),
    ((64, 32), 4), ((16, 128), 4), ((32, 32), 4), ((16, 64), 4), ((64, 64), 8), ((32, 128), 8), ((128, 32), 8),
)  # fmt: skip
# What threads of so many lanes reach of the published rate, whose clock a GPU may exceed, and memory of its own. What a
# K tile takes beside its multiplications, of which several blocks hide a part of each other's; the first loads and the
# last stores of a block; a kernel that adds up; a launch; an element that is fetched, and one that is stored across.
# Fitted to 87 matmuls of three seeds that an H100 measured (`bench/results/h100-random-*.json`): off by 5 %.
_RATES, _OF_MEMORY = {4: 0.986, 8: 1.077}, 0.79
_OF_STEP, _OF_BLOCK, _ADDING, _BEGIN = 0.108e-6, 3.14e-6, 4.52e-6, 2.19e-6
_OF_FETCHED, _OF_STORED = 0.093e-9, 0.0078e-9
# A K tile of more bytes, twice, leaves no shared memory for a second block. A thread of eight lanes has registers for
# so many elements that are on their way.
_STEP_BYTES, _FETCHED = 12288, 20


Tiles = tuple[tuple[int, int], int, int, int]
"""The rows and columns of a tile, what of each a thread has, the K tile, and the parts of K."""


def fastest_tiles(problem: Problem, block_k: int | None, lanes: int | None, split_k: int | None) -> Tiles:
    """The tiles with these options that take the least time by the model."""
    found = _fitting(problem, block_k, lanes, split_k)
    return found[0] if found else ((128, 128), lanes or 8, block_k or 8, split_k or 1)


def tiles_for(M: int, N: int, K: int, batch: int | None, device: GPU) -> dict[Tiles, float]:
    """The tiles that `sgemm` could take for a matmul, the fastest first, and the seconds that each takes by the model.

    >>> import tilewright as tw
    >>> gpu = tw.Target("cuda -device=H200").device
    >>> next(iter(tiles_for(4096, 4096, 4096, None, gpu)))[0]
    (128, 128)
    """
    problem = Problem(M, N, K, "float32", batch=batch or 1)
    return {one: _estimate(problem, device, *one) for one in _fitting(problem, None, None, None, device)}


def _fitting(
    problem: Problem, block_k: int | None, lanes: int | None, split_k: int | None, gpu: GPU | None = None
) -> list[Tiles]:
    """All that can be taken, the fastest by the model first."""
    device = gpu or current_gpu()
    options = [
        (tile, own, step, parts)
        for tile, own in _TILES
        if lanes in (None, own)
        and all(size <= 32 or size < 2 * extent for size, extent in zip(tile, (problem.M, problem.N)))
        for step in ((8, 16, 32) if block_k is None else (block_k,))
        if step in (8, block_k) or _fits(tile, own, step) and problem.K >= step
        for parts in ((1, 2, 4, 8, 16, 32, 64) if split_k is None else (split_k,))
        if parts in (1, split_k) or problem.K >= parts * max(64, 2 * step)
    ]
    return sorted(options, key=lambda one: _estimate(problem, device, *one))


def _fits(tile: tuple[int, int], lanes: int, block_k: int) -> bool:
    """Whether shared memory and registers have room for a K tile that is longer than the shortest."""
    elements = (tile[0] + tile[1]) * block_k
    return 4 * elements <= _STEP_BYTES and (lanes == 4 or elements * lanes**2 <= _FETCHED * tile[0] * tile[1])


def _estimate(problem: Problem, device: GPU, tile: tuple[int, int], lanes: int, block_k: int, split_k: int) -> float:
    blocks = problem.tiles(tile) * split_k
    threads = tile[0] * tile[1] // lanes**2
    registers = 128 if lanes == 8 else 80
    fitting = max(1, min(device.threads_per_sm, device.sm.registers_per_sm // registers) // threads)
    fitting = max(1, min(fitting, device.shared_bytes_per_block // (8 * (tile[0] + tile[1]) * block_k)))
    of_one = -(-blocks // device.sms)
    steps = -(-problem.K // (split_k * block_k))
    # What lies along k is stored across, of which K tiles of more than 8 go to the same banks.
    across = tile[0] * (problem.layout[0] == "N") + tile[1] * (problem.layout[1] == "T")
    storing = block_k * (_OF_FETCHED * (tile[0] + tile[1]) + _OF_STORED * across * max(1, block_k // 8))

    def turn(at_once: int) -> float:
        # A warp on each scheduler is what multiplies at the full rate at least.
        rate = _RATES[lanes] * device.sm_peak("fma", "float32") * min(1.0, at_once * threads / 128)
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
