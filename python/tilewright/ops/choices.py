"""Which schedule a matrix product gets: what a tuning run found, or else the least by a model of what each would take.

The table is data: `matmul.json`, which `python bench/tune_matmul.py` writes. A product that is not in it gets what the
nearest one there has, as long as that is near; any other what `estimate` takes for the fastest of `candidates`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from math import ceil, inf, log2, sqrt
from pathlib import Path
from typing import Any

from ..devices import GPU, current
from ..errors import TilewrightValueError as ValueError
from ..schedules.matrices import item_bytes
from ..te.expr import Var
from ..te.tensor import Extent

__all__ = ["Choice", "Problem", "candidates", "choose", "choose_for_any", "estimate", "refinements", "table"]

TABLE = Path(__file__).with_name("matmul.json")
# How far from a product of the table another may be to get the same: so many factors of two, all extents together.
NEAR = 1.0


@dataclass(frozen=True, slots=True)
class Problem:
    """A product: `layout` is BLAS's, N for a factor as it is and T for a transposed one."""

    M: int
    N: int
    K: int
    dtype: str
    layout: str = "NN"
    batch: int = 1

    @property
    def item_bytes(self) -> int:
        return item_bytes(self.dtype)

    def tiles(self, tile: tuple[int, int]) -> int:
        """How many of so many rows and columns C has."""
        return ceil(self.M / tile[0]) * ceil(self.N / tile[1]) * self.batch

    @property
    def is_aligned(self) -> tuple[bool, bool]:
        """Whether the rows of the factors are multiples of 16 bytes, without which nothing fetches them whole."""
        columns = (self.M if self.layout[0] == "T" else self.K, self.K if self.layout[1] == "T" else self.N)
        return columns[0] * self.item_bytes % 16 == 0, columns[1] * self.item_bytes % 16 == 0

    @property
    def crosses_lines(self) -> tuple[bool, bool]:
        """Whether rows of the factors, as the copy engine finds them, begin within lines of the cache."""
        columns = (self.M if self.layout[0] == "T" else self.K, self.K if self.layout[1] == "T" else self.N)
        first, second = (
            is_aligned and of * self.item_bytes % 128 != 0 for of, is_aligned in zip(columns, self.is_aligned)
        )
        return first, second

    @property
    def kind(self) -> tuple[object, ...]:
        """What products must have in common to be near."""
        return self.dtype, self.layout, self.is_aligned, self.crosses_lines

    def distance(self, other: Problem) -> float:
        """How many factors of two lie between the extents."""
        pairs = ((self.M, other.M), (self.N, other.N), (self.K, other.K), (self.batch, other.batch))
        return sum(abs(log2(mine / theirs)) for mine, theirs in pairs)


@dataclass(frozen=True, slots=True)
class Choice:
    """A ready schedule by its name in `tilewright.schedules`, and its options."""

    schedule: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.schedule, *sorted(self.options)))


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
_PARTS = (1, 2, 4, 8, 16)
# Of `matmul_wgmma`, which finds the depth by itself; promoted sums take twice the registers.
_WARPGROUP_TILES = ((128, 256), (128, 192), (256, 128), (128, 128), (64, 256), (64, 128), (64, 64))
_PROMOTED_TILES = ((128, 192), (192, 128), (128, 128), (64, 128), (64, 64))
# Those of which two sets of warpgroups have sums at once, in turn.
_TURNS = ((128, 128), (64, 256), (64, 128))
# What is less than the rows of a warpgroup, or as many.
_FEW_ROWS = 64
# By how many columns some may be narrower than others, and of how many columns at least.
_NARROWER, _LEAST_WIDTH = (16, 8, 32), 128


def candidates(problem: Problem, device: GPU | None = None) -> Iterator[Choice]:
    """The choices for a product that fit a GPU, by default that of `devices.current`, and are worth a thought: no tile
    of more than twice the rows or columns there are."""
    device = device or current()
    if "wgmma" in device.features:
        yield from _by_warpgroups(problem, device)
    most = device.shared_bytes_per_block
    for tile, warps, depth, step_bytes in _TILES:
        step = step_bytes // problem.item_bytes
        if depth * sum(tile) * step_bytes > most:
            continue
        if any(size > 32 and size >= 2 * extent for size, extent in zip(tile, (problem.M, problem.N))):
            continue
        tiles = problem.tiles(tile)
        for parts in _PARTS:
            if parts > 1 and (tiles * parts > 4 * device.sms or problem.K < 4 * parts * step):
                continue
            options: dict[str, Any] = {"tile": tile, "warps": warps, "depth": depth}
            if step_bytes != 128:
                options["step"] = step
            if parts > 1:
                options["parts"] = parts
            if problem.M > 8 * tile[0]:
                options["group"] = 8
            yield Choice("matmul_mma", options)
            if not all(problem.is_aligned):
                # The smaller the other factor, the less a copy of this one pays.
                yield Choice("matmul_mma", options | {"pad": (False, False)})


def _by_warpgroups(problem: Problem, device: GPU) -> Iterator[Choice]:
    # Factors that are not of 16 bits must have k along their rows.
    if problem.item_bytes != 2 and problem.layout != "NT":
        return
    for tile in _warpgroup_tiles(problem, device):
        if any(size > 64 and size >= 2 * extent for size, extent in zip(tile, (problem.M, problem.N))):
            continue
        rows = ceil(problem.M / tile[0])
        tiles = problem.tiles(tile)
        steps = ceil(problem.K * problem.item_bytes / 128)
        # Where C has many tiles a cluster may share what they read.
        for cluster in ((1, 1), (2, 1)) if rows > 1 and tiles > device.sms else ((1, 1),):
            yield Choice("matmul_wgmma", {"tile": tile, "cluster": cluster})
            if tiles % (device.sms // cluster[0]) and tiles * steps > 8 * cluster[0]:
                yield Choice("matmul_wgmma", {"tile": tile, "cluster": cluster, "stream_k": True})
        if narrower := next(_narrower(problem, {"tile": tile}, device), None):
            yield Choice("matmul_wgmma", {"tile": tile, "cluster": (1, 1), "narrower": narrower})
        # Where B's rows are columns of C, tiles that are narrower begin within lines of the cache; not so if in rows,
        # unless A's are those.
        swapped = {"tile": tile[::-1], "cluster": (1, 1), "swap_ab": True}
        if problem.layout[0] == "N" and (narrower := next(_narrower(problem, swapped, device), None)):
            yield Choice("matmul_wgmma", swapped | {"narrower": narrower})
        if shares := _equal_shares(tiles, steps, device):
            yield Choice("matmul_wgmma", {"tile": tile, "cluster": (1, 1), "stream_k": True, "blocks": shares * tiles})
        for parts in _PARTS[1:] if problem.batch == 1 else ():
            if tiles * parts <= 2 * device.sms and steps >= 4 * parts:
                yield Choice("matmul_wgmma", {"tile": tile, "cluster": (1, 1), "parts": parts})
    if problem.M <= _FEW_ROWS:
        # Few rows are columns of the instruction, of which it may have few.
        for columns in (64, 128):
            tile = 16 * ceil(problem.M / 16), columns
            yield Choice("matmul_wgmma", {"tile": tile, "cluster": (1, 1), "swap_ab": True})


def _warpgroup_tiles(problem: Problem, device: GPU) -> Iterator[tuple[int, int]]:
    """The tiles of `matmul_wgmma` for a product, and of those with few rows such as have just a tile for each of the
    multiprocessors, or for half of them."""
    tiles = _PROMOTED_TILES if problem.dtype.startswith("float8") else _WARPGROUP_TILES
    yield from tiles
    for rows in (64, 128):
        for blocks in (device.sms, device.sms // 2):
            if not (along := blocks // (ceil(problem.M / rows) * problem.batch)):
                continue
            columns = 16 * ceil(problem.N / along / 16)
            if columns <= 256 and (rows, columns) not in tiles:
                yield rows, columns


def _across(problem: Problem, options: Mapping[str, Any]) -> tuple[int, int]:
    """How many columns of the instruction C has, and a tile of it: its own, or its rows."""
    side = 0 if options.get("swap_ab") else 1
    return (problem.M, problem.N)[side], options["tile"][side]


def _one_more(problem: Problem, options: Mapping[str, Any]) -> tuple[int, int]:
    """How many tiles C has across, and how many columns of the instruction too much with one more."""
    extent, width = _across(problem, options)
    along = ceil(extent / width)
    return along, (along + 1) * width - extent


def _narrower(problem: Problem, options: Mapping[str, Any], device: GPU) -> Iterator[int]:
    """By how many columns, or rows, some tiles can be narrower for all multiprocessors to have one in the last turn."""
    tiles, (_, width) = problem.tiles(options["tile"]), _across(problem, options)
    along, over = _one_more(problem, options)
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


def _equal_shares(tiles: int, steps: int, device: GPU) -> int:
    """Into how many parts the work of each of so few tiles is divided, for as many blocks; 0 where it is not."""
    shares = min(device.sms // tiles, steps // 4)
    return shares if shares > 1 else 0


def choose(problem: Problem, device: GPU | None = None) -> Choice:
    """What the table says for a GPU, by default that of `devices.current`, or the model."""
    device = device or current()
    alike = [entry for entry in table(device) if entry[0].kind == problem.kind]
    near = min(alike, key=lambda entry: problem.distance(entry[0]), default=None)
    if near is not None and problem.distance(near[0]) <= NEAR:
        return near[1] if near[0] == problem else _for_other_tiles(problem, near[1], device)
    return min(candidates(problem, device), key=lambda choice: estimate(problem, choice, device))


def choose_for_any(extents: Mapping[str, Extent], dtype: str, layout: str, device: GPU | None = None) -> Choice:
    """The choice for a product of `extents` M, N, K and batch, of which some may be symbolic: that for the greatest
    they can be, without what needs numbers when the program is compiled.

    Raises
    ------
    ValueError
        Where a symbolic extent has no greatest value.

    >>> from tilewright import te
    >>> from tilewright.devices import find
    >>> extents = {"M": te.var("tokens", max=8192), "N": 4096, "K": 4096, "batch": 1}
    >>> choose_for_any(extents, "bfloat16", "NT", find("H200")).schedule
    'matmul_wgmma'
    """
    M, N, K, batch = (_greatest(extents[name], name) for name in ("M", "N", "K", "batch"))
    choice = choose(Problem(M, N, K, dtype, layout, batch), device)
    if all(isinstance(extent, int) for extent in extents.values()):
        return choice
    needs_numbers = {"stream_k", "narrower", "raster"} | (
        set() if isinstance(extents["K"], int) else {"parts", "consumers"}
    )
    return Choice(choice.schedule, {name: value for name, value in choice.options.items() if name not in needs_numbers})


def _greatest(extent: Extent, name: str) -> int:
    if isinstance(extent, int):
        return extent
    if isinstance(extent, Var) and extent.maximum is not None:
        return extent.maximum
    raise ValueError(
        f"expected a greatest value of {name} to choose a schedule for, as te.var(..., max=4096) has, got {extent}"
    )


def _for_other_tiles(problem: Problem, choice: Choice, device: GPU) -> Choice:
    """The choice of a product that is near: how its last tiles are shared depends on how many there are."""
    options = {name: value for name, value in choice.options.items() if name not in ("stream_k", "narrower", "blocks")}
    shares = choice.schedule == "matmul_wgmma" and options.get("consumers", 1) == 1 and options.get("parts", 1) == 1
    if not shares or choice.options.get("blocks", 0) is None:
        return choice
    tiles, steps = problem.tiles(options["tile"]), ceil(problem.K * problem.item_bytes / 128)
    sharing = {name: value for name, value in options.items() if name != "serpentine_k"} | {"stream_k": True}
    variants = [Choice(choice.schedule, options), Choice(choice.schedule, sharing)]
    is_alone = options.get("cluster", (1, 1)) == (1, 1)
    if is_alone and (less := next(_narrower(problem, options, device), None)):
        variants.append(Choice(choice.schedule, options | {"narrower": less}))
    if is_alone and (equal := _equal_shares(tiles, steps, device)):
        variants.append(Choice(choice.schedule, sharing | {"blocks": equal * tiles}))
    return min(variants, key=lambda one: estimate(problem, one, device))


@cache
def table(device: GPU) -> tuple[tuple[Problem, Choice], ...]:
    """What a tuning run on this very GPU found: what was measured on another says nothing of it."""
    if not TABLE.exists():
        return ()
    run = json.loads(TABLE.read_text())["runs"].get(device.name, {})
    entries = run["entries"] if run.get("arch") == device.arch else []
    return tuple((Problem(**entry["problem"]), _choice(entry)) for entry in entries)


def _choice(entry: Mapping[str, Any]) -> Choice:
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in entry["options"].items()}
    return Choice(entry["schedule"], options)


def refinements(problem: Problem, choice: Choice, device: GPU | None = None) -> Iterator[Choice]:
    """What a tuning run tries beside a choice that is among the fastest: other orders of the tiles, other blocks that
    share what they read, other depths."""
    device = device or current()
    tile = choice.options["tile"]
    tiles = ceil(problem.M / tile[0]), ceil(problem.N / tile[1])
    more: list[dict[str, Any]] = []
    if "narrower" in choice.options:
        for less in _narrower(problem, choice.options, device):
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
            if tuple(tile) in _TURNS and not choice.options.keys() & {"parts", "stream_k"}:
                more += [{"consumers": 2}, {"consumers": 2, "cluster": (1, 1)}]
        more.append({"cluster": (1, 1), "blocks": None})
        # Small tiles have room for more steps under way than the schedule takes.
        depth = min(16, device.shared_bytes_per_block // (sum(tile) * 128) - 1)
        if depth > 8:
            more.append({"depth": depth})
        if problem.K * problem.item_bytes <= 4 * 128:
            # Blocks that have little to copy: several on a multiprocessor, of which one stores while others multiply.
            more.append({"cluster": (1, 1), "blocks": None, "specialize": False, "depth": 2})
    else:
        depth = choice.options["depth"]
        more += [{"depth": depth - 1}, {"depth": depth + 1}]
        if tiles[0] > 1:
            more += [{"group": group} for group in (4, 16)]
    if "griddepcontrol" in device.features and (choice.options.get("parts", 1) > 1 or not all(problem.is_aligned)):
        more.append({"dependent": True})  # of several kernels
    for options in more:
        yield Choice(choice.schedule, {**choice.options, **options})


# What kernels reach of the published rates of a GPU: of mma.sync on 16-bit types in warps of 64 x 64, of wgmma in tiles
# of 128 x 256, of the memory's bandwidth and of the second cache's. Fitted to measurements on an H200.
_OF_MMA, _OF_WGMMA = 0.71, 0.8405
_OF_MEMORY = 0.7917
_OF_CACHE = 0.7762
_LATENCY = 1e-6
_LAUNCH = 4.0e-6
_BEGIN = 2.4e-6  # a launch, the first copies and the last stores


def estimate(problem: Problem, choice: Choice, device: GPU | None = None) -> float:
    """Seconds that a choice may take: the longest of what multiplying, the cache and the memory take, and what
    kernels before and after cost. Good for an order of choices, not for a figure."""
    device = device or current()
    if choice.schedule == "matmul_wgmma":
        return _estimate_warpgroups(problem, choice, device)
    if choice.schedule != "matmul_mma":
        return inf
    options = choice.options
    (rows, columns), warps, depth = options["tile"], options["warps"], options["depth"]
    parts, item = options.get("parts", 1), problem.item_bytes
    step = options.get("step", 128 // item)
    steps = ceil(problem.K / (parts * step))
    blocks = problem.tiles((rows, columns)) * parts
    stage_bytes = (rows + columns) * step * item
    threads = 32 * warps[0] * warps[1]
    warp_rows, warp_columns = rows // warps[0], columns // warps[1]
    registers = warp_rows * warp_columns // 32 + (warp_rows + warp_columns) // 2 + 64
    of_shared, of_registers = depth * stage_bytes, threads * registers
    fitting = max(1, min(device.shared_bytes_per_block // of_shared, device.sm.registers_per_sm // of_registers))
    of_one = ceil(blocks / device.sms)
    at_once = min(of_one, fitting)

    # Square tiles of warps have the most to do for what they read; few warps wait, and those of one block all at once.
    memory, cache_rate = _OF_MEMORY * device.bandwidth, _OF_CACHE * device.l2_bandwidth
    rate = _OF_MMA * device.sm_peak("mma", "float16") * 2 / item
    rate *= min(1.0, sqrt(warp_rows * warp_columns / (warp_rows + warp_columns) / 32))
    rate *= min(1.0, at_once * threads / 256) ** 0.35 * (0.93 if at_once == 1 else 1.0)
    pads = options.get("pad") or tuple(not aligned for aligned in problem.is_aligned)
    if any(not aligned and not padded for aligned, padded in zip(problem.is_aligned, pads)):
        rate *= 0.25
    multiplying = of_one * steps * 2.0 * rows * columns * step / rate
    caching = blocks * steps * stage_bytes / cache_rate
    sizes = [problem.batch * one * problem.K * item for one in (problem.M, problem.N)]
    moved = sum(sizes) + problem.batch * problem.M * problem.N * 2
    under_way = min(blocks, device.sms * at_once) * (depth - 1) * stage_bytes
    moving = max(moved / memory, moved / under_way * _LATENCY)
    seconds = max(multiplying, caching, moving) + _BEGIN + 0.7e-6 * ceil(of_one / fitting)
    seconds += sum(_LAUNCH + 2 * size / memory for size, padded in zip(sizes, pads) if padded)
    if parts > 1:
        seconds += _LAUNCH + (parts + 1) * problem.batch * problem.M * problem.N * 4 / cache_rate
    return seconds


# With wgmma: how much less smaller tiles come to; what a launch, the first
# copies and the last stores take; what storing a tile takes while nothing is multiplied; what the copies of one
# multiprocessor bring; what a multiprocessor writes of a part of a tile, and reads again; what of the memory's rate is
# left where blocks are at different places of k, and how much longer their products take for the power that this costs.
_SMALLER = 0.03
_START = 5.4e-6
_STORING = 0.75e-6
_COPYING = 53e9
_EXCHANGING = 40e9
_STREAMED, _APART = 0.8, 0.15


def _estimate_warpgroups(problem: Problem, choice: Choice, device: GPU) -> float:
    options = choice.options
    (rows, columns), parts = options["tile"], options.get("parts", 1)
    step = 128 // problem.item_bytes
    steps = ceil(problem.K / (parts * step))
    tiles = problem.tiles((rows, columns)) * parts
    memory, cache_rate = _OF_MEMORY * device.bandwidth, _OF_CACHE * device.l2_bandwidth
    rate = _OF_WGMMA * device.sm_peak("wgmma", "float16") * 2 / problem.item_bytes
    rate *= min(1.0, (rows * columns / (128 * 256)) ** _SMALLER)
    of_step, storing = 2.0 * rows * columns * step / rate, _STORING * rows * columns / (128 * 256)
    at_work, of_memory = min(tiles, device.sms), 1.0
    if options.get("stream_k") and tiles % device.sms:
        # Each has as many steps; the last to be done with a tile reads what others have of it.
        at_work = min(options.get("blocks") or device.sms, ceil(tiles * steps / 4))
        others = max(1.0, at_work / tiles)
        multiplying = tiles * (steps * of_step + storing) / at_work
        multiplying += 4.0 * rows * columns * (1 + others) / _EXCHANGING
        if at_work % tiles:
            shared = tiles - max(0, tiles // at_work - 1) * at_work
            multiplying += _APART * shared * steps * of_step / at_work
            of_memory = _STREAMED
    else:
        turns = ceil(tiles / device.sms)
        multiplying = turns * (steps * of_step + storing)
        if less := options.get("narrower"):
            # What has the most takes a tile in each turn, and wide ones as long as there are some.
            along, over = _one_more(problem, options)
            longer = min(tiles // along, -tiles % device.sms)
            narrow = longer * over // less
            wide = ceil((tiles + longer - narrow) / device.sms)
            saved = (turns - wide) * less / _across(problem, options)[1]
            multiplying = (turns - saved) * steps * of_step + turns * storing
    # Blocks of a cluster share a factor; a row that begins within a line of the cache takes two for each step.
    (down, along), lines = (
        options.get("cluster", (1, 1)),
        [1 + crosses for crosses in problem.crosses_lines],
    )
    of_lines = rows / along * lines[0] + columns / down * lines[1]
    caching = tiles * steps * of_lines * 128 / cache_rate
    sizes = [problem.batch * one * problem.K * problem.item_bytes for one in (problem.M, problem.N)]
    moved = sum(sizes) + problem.batch * problem.M * problem.N * 2
    seconds = max(multiplying, caching, moved / (of_memory * memory), moved / (at_work * _COPYING)) + _START
    seconds += sum(_LAUNCH + 2 * size / memory for size, aligned in zip(sizes, problem.is_aligned) if not aligned)
    if parts > 1:
        seconds += _LAUNCH + (parts + 1) * problem.M * problem.N * 4 / cache_rate
    elif problem.N % 8:
        seconds += _LAUNCH + 4 * problem.batch * problem.M * problem.N / memory
    return seconds
