"""The time that a schedule of a matmul takes, estimated: for an order of choices, not for a figure.

What a choice does is counted (`counted`): steps, tiles, bytes and waves. `seconds` makes a time of the counts and of
the numbers in `cost_model.json`. `bench/fit_matmul_model.py` fits these to what candidates took on a GPU and writes the
file. Counts of many choices are columns, so that a fit takes all of them at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from math import ceil, gcd, inf, log2
from pathlib import Path
from typing import Any

import numpy as np

from ...devices import GPU
from ...target import current_gpu
from .problem import Choice, Problem, blocks_at_once, columns_across, one_more_tile

__all__ = ["NUMBERS", "counted", "estimate", "estimates", "numbers", "seconds"]

NUMBERS = Path(__file__).with_name("cost_model.json")
# Bytes: what TMA and 16-byte copies need rows to be multiples of, a sector and a line of the cache, a step of wgmma.
_ALIGNED, _SECTOR, _LINE, _SPAN = 16, 32, 128, 128
_GRAIN = 8  # columns of an instruction
# Times as long as TMA threads take to store a tile: of rows of whole lines, or not.
_BY_THREADS = {True: 3, False: 12}
_FEW = 48  # loads that a thread has under way

Counts = Mapping[str, Any]


@cache
def numbers() -> Mapping[str, float]:
    """The fitted numbers by name: shares of published rates, seconds, and powers."""
    return json.loads(NUMBERS.read_text())["numbers"]


def estimate(problem: Problem, choice: Choice, device: GPU | None = None) -> float:
    """Seconds that a choice may take. Good for an order of choices, not for a figure."""
    return estimates(problem, [choice], device)[0]


def estimates(problem: Problem, choices: Iterable[Choice], device: GPU | None = None) -> list[float]:
    """The `estimate` of each choice."""
    device = device or current_gpu()
    choices = list(choices)
    found = [inf] * len(choices)
    for schedule in ("matmul_wgmma", "matmul_mma"):
        places = [place for place, choice in enumerate(choices) if choice.schedule == schedule]
        if places:
            rows = [counted(problem, choices[place], device) for place in places]
            columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
            for place, value in zip(places, seconds(schedule, columns, numbers()).tolist(), strict=True):
                found[place] = value
    return found


def counted(problem: Problem, choice: Choice, device: GPU) -> dict[str, float]:
    """What a choice of `matmul_wgmma` or `matmul_mma` does, in numbers that do not depend on fitted ones."""
    return (_of_warpgroups if choice.schedule == "matmul_wgmma" else _of_warps)(problem, choice, device)


def seconds(schedule: str, counts: Counts, of: Mapping[str, float]) -> Any:
    """The time of what was counted, of one choice or of columns of many."""
    return (_by_warpgroups if schedule == "matmul_wgmma" else _by_warps)(counts, of)


def _at_once(power: float, *parts: Any) -> Any:
    """What parts take that run beside each other: a little more than the longest."""
    return sum(part**power for part in parts) ** (1 / power)


def _of_operands(problem: Problem, pads: tuple[bool, bool], turns: tuple[bool, bool]) -> dict[str, float]:
    """Bytes of the operands and of C, and of the copies that are made first."""
    item, batch = problem.item_bytes, problem.batch
    sizes = [batch * one * problem.K * item for one in (problem.M, problem.N)]
    padded = [size for size, pads_it, turns_it in zip(sizes, pads, turns) if pads_it and not turns_it]
    turned = [size for size, turns_it in zip(sizes, turns) if turns_it]
    return {
        "moved": sum(sizes) + batch * problem.M * problem.N * _made(problem),
        "sizes": sum(sizes),
        "padded": sum(padded),
        "turned": sum(turned),
        "copies": len(padded) + len(turned),
    }


def _made(problem: Problem) -> int:
    return 4 if problem.dtype in ("int8", "tf32") else 2


def _of_device(device: GPU) -> dict[str, float]:
    return {"bandwidth": device.bandwidth, "l2_bandwidth": device.l2_bandwidth, "sms": device.sms}


def _of_warpgroups(problem: Problem, choice: Choice, device: GPU) -> dict[str, float]:
    options = choice.options
    (rows, columns), split_k = options["tile"], options.get("split_k", 1)
    down, along = options.get("cluster", (1, 1))
    block_k = _SPAN // problem.item_bytes
    steps = ceil(problem.K / (split_k * block_k))
    swap_ab = bool(options.get("swap_ab"))
    m, n, turned = *((columns, rows) if swap_ab else (rows, columns)), problem.turned(swap_ab)
    # A cluster is whole, also where C ends within it.
    tiles = problem.tiles((rows * down, columns * along)) * down * along * split_k
    stream_k = bool(options.get("stream_k")) and tiles % device.sms != 0
    most = device.sms if stream_k else options.get("blocks") or device.sms
    at_most = most // (down * along) * down * along
    if stream_k:
        # Each has as many steps; the last to be done with a tile reads what others have of it.
        at_work = min(options.get("blocks") or device.sms, ceil(tiles * steps / 4))
        waves = longest = tiles / at_work
        shared = tiles - max(0, tiles // at_work - 1) * at_work if at_work % tiles else 0
    else:
        at_work, shared = min(tiles, at_most), 0
        waves = longest = ceil(tiles / at_most)
        if ceil(tiles / waves) > blocks_at_once(device, down * along):
            waves = longest = 2 * waves  # blocks that have no room wait until others have done all their tiles
        if less := options.get("narrower"):
            # What has the most takes a tile in each turn, and wide ones as long as there are some.
            across, over = one_more_tile(problem, options)
            longer = min(tiles // across, -tiles % device.sms)
            narrow = longer * over // less
            wide = ceil((tiles + longer - narrow) / device.sms)
            longest = waves - (waves - wide) * less / columns_across(problem, options)[1]
    made = 4 if split_k > 1 else _made(problem)
    pads = (not problem.is_aligned[0], not problem.is_aligned[1])
    by_threads = split_k == 1 and problem.N * made % _ALIGNED != 0
    return {
        # A step's matmul at the published rate.
        "step": 2.0 * rows * columns * block_k * problem.item_bytes / 2 / device.sm_peak("wgmma", "float16"),
        "n": n,
        "is_one": m <= 64,
        "promotes": problem.dtype.startswith("float8"),
        "steps": steps,
        "tiles": tiles,
        "at_work": at_work,
        "waves": waves,
        "longest": longest,
        "received": (rows + columns) * _SPAN,
        **_asked(problem, device, (rows, columns), block_k, pads, turned, (along, down), _SPAN, 0 if swap_ab else 1),
        "stored": rows * columns * made * (_BY_THREADS[columns * made % _LINE == 0] if by_threads else 1),
        "clustered": log2(down * along),
        "streamed": stream_k,
        "exchanged": 4.0 * rows * columns * (1 + max(1.0, at_work / tiles)) if stream_k else 0.0,
        "apart": shared / at_work,
        "parts": (split_k + 1) * problem.M * problem.N * 4 if split_k > 1 else 0,
        "is_split": split_k > 1,
        "is_dependent": bool(options.get("dependent")),
        **_of_operands(problem, pads, turned),
        **_of_device(device),
    }


def _asked(
    problem: Problem,
    device: GPU,
    tile: tuple[int, int],
    block_k: int,
    pads: tuple[bool, bool],
    turns: tuple[bool, bool],
    shared_by: tuple[int, int] = (1, 1),
    widest: int | None = None,
    columns_of: int | None = None,
) -> dict[str, float]:
    """What a step asks of the second cache: pieces of rows, of at most `widest` bytes, their bytes, the lines that they
    touch and the sectors that they touch besides; how often one line is asked for at once, and how many pieces are
    shorter. TMA is also asked for rows of a tile that are outside of the matrix. `columns_of` is the operand that has
    the columns of the instruction. Blocks of a cluster share an operand."""
    item, extents = problem.item_bytes, (problem.M, problem.N)
    found: dict[str, float] = dict.fromkeys(("rows", "bytes", "lines", "sectors", "hot", "short", "outside"), 0.0)
    for place, (size, sharing) in enumerate(zip(tile, shared_by, strict=True)):
        # An operand that is copied first lies in whole tiles, and along k if it is turned.
        is_across, is_copied = problem.lies_across[place] and not turns[place], pads[place] or turns[place]
        if not (is_across or is_copied):
            # The columns of the instruction are no more than there are.
            whole = min(size, _GRAIN * ceil(extents[place] / _GRAIN)) if place == columns_of else size
            found["outside"] += (whole - extents[place] / ceil(extents[place] / size)) / sharing
        size = min(size, extents[place])
        length, rows = (size, block_k) if is_across else (block_k, size)
        span = gcd(tile[place] * item, widest) if widest and is_across else length * item
        pieces = rows * max(1, length * item / span) / sharing
        row = (tile[place] * item if is_across else _SPAN) if is_copied else problem.row_lengths[place] * item
        apart = gcd(row, _LINE)
        # Blocks beside each other read the same rows of A, those above each other the same of B.
        readers = min(device.sms, ceil(extents[1 - place] / tile[1 - place])) / sharing
        found["hot"] = max(found["hot"], readers * max(1.0, _LINE / row))
        found["short"] += pieces * (span < _LINE)
        found["rows"] += pieces
        found["bytes"] += rows * length * item / sharing
        found["lines"] += pieces * (1 + max(0, min(span, length * item) - apart) / _LINE)
        found["sectors"] += pieces * max(0, _SECTOR - apart) / _SECTOR
    return found


def _by_warpgroups(f: Counts, of: Mapping[str, float]) -> Any:
    memory, cache_rate = of["of_memory"] * f["bandwidth"], of["of_cache"] * f["l2_bandwidth"]
    # Narrow instructions wait for operand A.
    multiplying = f["step"] / of["of_wgmma"] * np.maximum(1.0, 0.5 + of["narrow"] / f["n"])
    multiplying = multiplying * (1 + of["promoting"] * f["promotes"]) * (1 + of["alone"] * f["is_one"])
    copying = f["received"] / of["receiving"]
    asking = of["row"] * f["rows"] + of["line"] * f["lines"] + of["sector"] * f["sectors"] + of["short"] * f["short"]
    asking = asking + of["outside"] * f["outside"]
    caching = f["at_work"] * (f["bytes"] + _SECTOR * f["sectors"]) / cache_rate
    step = _at_once(of["wg_overlap"], multiplying, copying, asking, caching, of["hot"] * f["hot"]) * (
        1 + of["clustering"] * f["clustered"]
    )
    storing = of["storing"] + f["stored"] / of["stored_a_second"]
    multiplying = f["longest"] * f["steps"] * step + f["waves"] * storing
    multiplying = multiplying + f["streamed"] * of["sharing"] + f["exchanged"] / of["exchanging"]
    multiplying = multiplying + of["apart"] * f["apart"] * f["steps"] * step
    moving = f["moved"] / memory * (1 + of["streaming"] * (f["apart"] > 0))
    total = _at_once(of["overlap"], multiplying, moving) + of["wg_start"] + of["cluster_start"] * f["clustered"]
    return total + _beside(f, of, memory, cache_rate, of["wg_adding"])


def _beside(f: Counts, of: Mapping[str, float], memory: Any, cache_rate: Any, adding: float) -> Any:
    """The kernels before and after the matmul's own. One that adds parts starts earlier if it is dependent."""
    adding = adding * f["is_split"] * (1 - of["earlier"] * f["is_dependent"])
    copying = 2 * f["padded"] / (of["padding"] * memory) + 2 * f["turned"] / (of["turning"] * memory)
    return copying + of["launch"] * f["copies"] + f["parts"] / (of["adding"] * cache_rate) + adding


def _of_warps(problem: Problem, choice: Choice, device: GPU) -> dict[str, float]:
    options = choice.options
    (rows, columns), warps, stages = options["tile"], options["warps"], options["stages"]
    split_k, item = options.get("split_k", 1), problem.item_bytes
    block_k = options.get("block_k", _SPAN // item)
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
    pads = tuple(options.get("pad") or (not aligned for aligned in problem.is_aligned))
    # Bytes that are copied at once, where rows are no multiples of 16 bytes and not copied first.
    widths = [
        _ALIGNED if padded else gcd(_ALIGNED, length * item)
        for padded, length in zip(pads, problem.row_lengths, strict=True)
    ]
    pieces = sum(size * block_k * item / width for size, width in zip((rows, columns), widths, strict=True))
    by_registers = min(widths) < 4
    return {
        "step": 2.0 * at_once * rows * columns * block_k * item / 2 / device.sm_peak("mma", "float16"),
        "promotes": problem.dtype.startswith("float8"),
        "threads": at_once * threads,
        "at_once": at_once,
        "turns": of_one / at_once,
        "waves": ceil(of_one / fitting),
        "steps": steps,
        "blocks": blocks,
        "staged": stage_bytes,
        "under_way": min(blocks, device.sms * at_once) * (stages - 1) * stage_bytes,
        "of_one": of_one,
        "pieces": 0.0 if by_registers else pieces - stage_bytes / _ALIGNED,
        "loads": pieces if by_registers else 0.0,
        "by_registers": by_registers,
        # What a thread has on its way, of which few are cheap.
        "held": max(0.0, pieces / threads - _FEW) if by_registers else 0.0,
        **_asked(problem, device, (rows, columns), block_k, (pads[0], pads[1]), (False, False)),
        "parts": (split_k + 1) * problem.batch * problem.M * problem.N * 4 if split_k > 1 else 0,
        "is_split": split_k > 1,
        "is_dependent": bool(options.get("dependent")),
        **_of_operands(problem, (pads[0], pads[1]), (False, False)),
        **_of_device(device),
    }


def _by_warps(f: Counts, of: Mapping[str, float]) -> Any:
    memory, cache_rate = of["of_memory"] * f["bandwidth"], of["of_cache"] * f["l2_bandwidth"]
    # Few warps wait, and those of one block all at once.
    rate = of["of_mma"] * np.minimum(1.0, f["threads"] / 256) ** of["warps_alike"]
    rate = rate * (1 - of["waiting_alone"] * (f["at_once"] == 1)) / (1 + of["float8"] * f["promotes"])
    step = f["step"] / rate + of["mma_step"] + f["at_once"] * (f["pieces"] * of["piece"] + f["loads"] * of["load"])
    step = step * (1 + of["by_registers"] * f["by_registers"]) + of["held"] * f["at_once"] * f["threads"] * f["held"]
    multiplying = f["turns"] * f["steps"] * step
    caching = f["blocks"] * f["steps"] * (f["bytes"] + _SECTOR * f["sectors"]) / cache_rate
    moving = f["moved"] / np.minimum(memory, f["under_way"] / of["latency"])
    lines = of["mma_line"] * f["lines"] + of["mma_sector"] * f["sectors"]
    copying = f["of_one"] * f["steps"] * (f["staged"] / of["copying"] + lines)
    total = _at_once(of["mma_overlap"], multiplying, caching, moving, copying) + of["begin"]
    total = total + of["wave"] * f["waves"]
    return total + _beside(f, of, memory, cache_rate, of["mma_adding"])
