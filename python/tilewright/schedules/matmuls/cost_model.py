"""The time that a schedule of a matmul takes, estimated: for an order of choices, not for a figure."""

from __future__ import annotations

from math import ceil, inf, sqrt

from ...devices import GPU, current
from .problem import Choice, Problem, columns_across, one_more_tile

__all__ = ["estimate"]

# Of the published rates of a GPU, what a part of a kernel reaches with nothing beside it: mma.sync on 16-bit types in
# warps of 64 x 64, wgmma in tiles of 128 x 256, the memory's bandwidth, the second cache's. These and the numbers below
# are fitted by `bench/fit_matmul_model.py` to what 1,751 candidates took on an H100 for 70 problems that a seed drew
# (`bench/results/h100-matmul-candidates.json`).
_OF_MMA, _OF_WGMMA = 0.526, 0.952
_OF_MEMORY = 0.95
_OF_CACHE = 0.817
_OVERLAP = 2.15  # the power by which what runs at once adds up: the greater, the better one part hides behind another
_OF_COPYING = 87.4e9  # bytes a second that the copies of one SM bring with cp.async
_FLOAT8 = 0.731  # of the rate of mma.sync, where 8-bit floats are multiplied
_TURNING = 0.932  # of the memory's bandwidth, where an operand is transposed
_LATENCY = 0.0647e-6
_STEP = 0.0458e-6  # what a step along K of a block takes at least
_WARPS_ALIKE = 0.492  # how the rate grows with the warps of an SM, as a power
_LAUNCH = 4.05e-6
_ADDING = 3.61e-6  # a second kernel, that adds up parts
_WAVE = 0.915e-6  # what each further block of an SM adds
_BEGIN = 5.16e-6  # a launch, the first copies and the last stores


def estimate(problem: Problem, choice: Choice, device: GPU | None = None) -> float:
    """Seconds that a choice may take: the longest of what multiplying, the cache and the memory take, and what
    kernels before and after cost. Good for an order of choices, not for a figure."""
    device = device or current()
    if choice.schedule == "matmul_wgmma":
        return _estimate_warpgroups(problem, choice, device)
    if choice.schedule != "matmul_mma":
        return inf
    options = choice.options
    (rows, columns), warps, stages = options["tile"], options["warps"], options["stages"]
    split_k, item = options.get("split_k", 1), problem.item_bytes
    block_k = options.get("block_k", 128 // item)
    steps = ceil(problem.K / (split_k * block_k))
    blocks = problem.tiles((rows, columns)) * split_k
    stage_bytes = (rows + columns) * block_k * item
    threads = 32 * warps[0] * warps[1]
    warp_rows, warp_columns = rows // warps[0], columns // warps[1]
    registers = warp_rows * warp_columns // 32 + (warp_rows + warp_columns) // 2 + 64
    of_shared, of_registers = stages * stage_bytes, threads * registers
    fitting = max(1, min(device.shared_bytes_per_block // of_shared, device.sm.registers_per_sm // of_registers))
    of_one = ceil(blocks / device.sms)
    at_once = min(of_one, fitting)

    # Square tiles of warps have the most to do for what they read; few warps wait, and those of one block all at once.
    memory, cache_rate = _OF_MEMORY * device.bandwidth, _OF_CACHE * device.l2_bandwidth
    rate = _OF_MMA * device.sm_peak("mma", "float16") * 2 / item
    rate *= _FLOAT8 if problem.dtype.startswith("float8") else 1.0
    rate *= min(1.0, sqrt(warp_rows * warp_columns / (warp_rows + warp_columns) / 32))
    rate *= min(1.0, at_once * threads / 256) ** _WARPS_ALIKE * (0.93 if at_once == 1 else 1.0)
    pads = options.get("pad") or tuple(not aligned for aligned in problem.is_aligned)
    if any(not aligned and not padded for aligned, padded in zip(problem.is_aligned, pads)):
        rate *= 0.25
    of_step = max(2.0 * at_once * rows * columns * block_k / rate, _STEP)
    multiplying = of_one / at_once * steps * of_step
    caching = blocks * steps * stage_bytes / cache_rate
    sizes = [problem.batch * one * problem.K * item for one in (problem.M, problem.N)]
    moved = sum(sizes) + problem.batch * problem.M * problem.N * 2
    under_way = min(blocks, device.sms * at_once) * (stages - 1) * stage_bytes
    moving = max(moved / memory, moved / under_way * _LATENCY)
    copying = of_one * steps * stage_bytes / _OF_COPYING
    seconds = _at_once(multiplying, caching, moving, copying) + _BEGIN + _WAVE * ceil(of_one / fitting)
    seconds += sum(_LAUNCH + 2 * size / memory for size, padded in zip(sizes, pads) if padded)
    if split_k > 1:
        seconds += _ADDING + (split_k + 1) * problem.batch * problem.M * problem.N * 4 / cache_rate
    return seconds


def _at_once(*parts: float) -> float:
    """What parts take that run beside each other: a little more than the longest."""
    longest = max(parts)
    return longest * sum((part / longest) ** _OVERLAP for part in parts) ** (1 / _OVERLAP)


# With wgmma: how much less smaller tiles come to; what a launch, the first
# copies and the last stores take; what storing a tile takes while nothing is multiplied; what the copies of one
# multiprocessor bring; what an SM writes of a part of a tile, and reads again; what of the memory's rate is
# left where blocks are at different places of k, and how much longer their products take for the power that this costs.
_SMALLER = 0.269
_START = 6.3e-6
_STORING = 2.85e-6
_COPYING = 277e9
_EXCHANGING = 86.7e9
_STREAMED, _APART = 0.812, 0.205
_WARPGROUP_STEP = 0.118e-6  # what a step along K takes at least
_ALONE = 0.964  # of the rate, where a block has one warpgroup that multiplies
_SHARING = 5.57e-6  # what tiles that blocks share take besides
_CLUSTERED = 0.808  # how long blocks of a cluster take, which read less
_BETWEEN = 4.57e-6  # a second kernel, that adds up parts


def _estimate_warpgroups(problem: Problem, choice: Choice, device: GPU) -> float:
    options = choice.options
    (rows, columns), split_k = options["tile"], options.get("split_k", 1)
    block_k = 128 // problem.item_bytes
    steps = ceil(problem.K / (split_k * block_k))
    tiles = problem.tiles((rows, columns)) * split_k
    memory, cache_rate = _OF_MEMORY * device.bandwidth, _OF_CACHE * device.l2_bandwidth
    rate = _OF_WGMMA * device.sm_peak("wgmma", "float16") * 2 / problem.item_bytes
    rate *= min(1.0, (rows * columns / (128 * 256)) ** _SMALLER)
    warpgroup_rows = columns if options.get("swap_ab") else rows
    rate *= _ALONE if warpgroup_rows <= 64 else 1.0
    of_step = max(2.0 * rows * columns * block_k / rate, _WARPGROUP_STEP)
    if options.get("cluster", (1, 1)) != (1, 1):
        of_step *= _CLUSTERED
    storing = _STORING * rows * columns / (128 * 256)
    at_work, of_memory = min(tiles, device.sms), 1.0
    if options.get("stream_k") and tiles % device.sms:
        # Each has as many steps; the last to be done with a tile reads what others have of it.
        at_work = min(options.get("blocks") or device.sms, ceil(tiles * steps / 4))
        others = max(1.0, at_work / tiles)
        multiplying = tiles * (steps * of_step + storing) / at_work
        multiplying += 4.0 * rows * columns * (1 + others) / _EXCHANGING + _SHARING
        if at_work % tiles:
            shared = tiles - max(0, tiles // at_work - 1) * at_work
            multiplying += _APART * shared * steps * of_step / at_work
            of_memory = _STREAMED
    else:
        waves = ceil(tiles / device.sms)
        multiplying = waves * (steps * of_step + storing)
        if less := options.get("narrower"):
            # What has the most takes a tile in each turn, and wide ones as long as there are some.
            along, over = one_more_tile(problem, options)
            longer = min(tiles // along, -tiles % device.sms)
            narrow = longer * over // less
            wide = ceil((tiles + longer - narrow) / device.sms)
            saved = (waves - wide) * less / columns_across(problem, options)[1]
            multiplying = (waves - saved) * steps * of_step + waves * storing
    # Blocks of a cluster share a factor; a row that begins within a line of the cache takes two for each step.
    (down, along), lines = (
        options.get("cluster", (1, 1)),
        [1 + (crosses and not turned) for crosses, turned in zip(problem.crosses_lines, problem.is_turned)],
    )
    of_lines = rows / along * lines[0] + columns / down * lines[1]
    caching = tiles * steps * of_lines * 128 / cache_rate
    sizes = [problem.batch * one * problem.K * problem.item_bytes for one in (problem.M, problem.N)]
    moved = sum(sizes) + problem.batch * problem.M * problem.N * 2
    moving, copying = moved / (of_memory * memory), tiles * steps * (rows + columns) * 128 / (at_work * _COPYING)
    seconds = _at_once(multiplying, caching, moving, copying) + _START
    for size, aligned, turned in zip(sizes, problem.is_aligned, problem.is_turned):
        if turned:
            seconds += _LAUNCH + 2 * size / (_TURNING * device.bandwidth)
        elif not aligned:
            seconds += _LAUNCH + 2 * size / memory
    if split_k > 1:
        seconds += _BETWEEN + (split_k + 1) * problem.M * problem.N * 4 / cache_rate
    elif problem.N % 8:
        seconds += _LAUNCH + 4 * problem.batch * problem.M * problem.N / memory
    return seconds
