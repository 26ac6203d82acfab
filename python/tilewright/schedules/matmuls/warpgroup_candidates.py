"""The schedules of a matmul by `wgmma` that are worth a try: tiles, and clusters of blocks that share loads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

from ...devices import GPU
from .problem import Choice, Problem, blocks_at_once, columns_across, one_more_tile

__all__ = ["by_warpgroups", "equal_shares", "narrower_by", "overlapped"]

# Rows of the instruction's tile, 64 for each warpgroup, with the most columns that there are registers for, and with
# the most where sums are promoted, which takes twice the registers. The matmul schedule finds the depth by itself.
_MOST_COLUMNS = {64: (256, 192), 128: (256, 192), 192: (192, 128), 256: (128, 64)}
_ROWS_OF_THREE = 192  # warpgroups; of four, threads have no registers left for an operand
_COLUMNS = (256, 192, 160, 128, 96, 64, 32, 16)
# In how many waves a GPU may compute all tiles, where their width is made for that.
_WAVES = (0.5, 1, 2, 3, 4)
# Clusters, in tiles of C down and along. Those of more than two blocks pay for tiles of at least so many elements.
_CLUSTERS = ((1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (1, 4), (4, 2), (2, 4))
_SPLITS = (1, 2, 4, 8, 16)
# A cluster computes at most so many times the tiles of C, and each block of it loads whole groups of so many rows.
_WASTE, _GROUP = 1.2, 8
# Of so many tiles for each SM, smaller ones are not worth a try.
_MANY_TILES = 24
# By how many columns some may be narrower than others, and of how many columns at least.
_NARROWER, _LEAST_WIDTH = (16, 8, 32), 128


def by_warpgroups(problem: Problem, device: GPU) -> Iterator[Choice]:
    """The choices of `matmul_wgmma`."""
    for tile, swap in _tiles(problem, device):
        options: dict[str, Any] = {"tile": tile} | ({"swap_ab": True} if swap else {})
        tiles, steps = problem.tiles(tile), ceil(problem.K * problem.item_bytes / 128)
        # What computes the last wave with all SMs needs no cluster, or one of two blocks.
        if narrower := next(narrower_by(problem, options, device), None):
            # Where B's rows are columns of C, tiles that are narrower begin within lines of the cache; not so if in
            # rows, unless A's are those.
            if not swap or problem.layout[0] == "N":
                yield Choice("matmul_wgmma", options | {"cluster": (1, 1), "narrower": narrower})
        if not swap and (shares := equal_shares(tiles, steps, device)):
            yield Choice("matmul_wgmma", options | {"cluster": (1, 1), "stream_k": True, "blocks": shares * tiles})
        for cluster in _clusters(problem, tile, swap):
            size = cluster[0] * cluster[1]
            at_once = {"blocks": blocks_at_once(device, size)} if size > 2 else {}
            yield Choice("matmul_wgmma", options | {"cluster": cluster} | at_once)
            if not swap and size <= 2 and tiles % (device.sms // size) and tiles * steps > 8 * size:
                yield Choice("matmul_wgmma", options | {"cluster": cluster, "stream_k": True})
            for split_k in _SPLITS[1:] if problem.batch == 1 else ():
                if tiles * split_k <= 2 * device.sms and steps >= 4 * split_k:
                    yield Choice(
                        "matmul_wgmma",
                        options | {"cluster": cluster, "split_k": split_k} | at_once | overlapped(device),
                    )


def _tiles(problem: Problem, device: GPU) -> Iterator[tuple[tuple[int, int], bool]]:
    """Tiles of C, and whether their columns are the instruction's rows."""
    promotes = problem.dtype.startswith("float8")
    for swap in (False, True):
        holds = problem.dtype == "tf32" and _go_across(problem, swap)[swap]
        down, along = (problem.N, problem.M) if swap else (problem.M, problem.N)
        # An operand of 16 bits whose rows go across is copied in panels of a line, or of half of one.
        goes_across = _go_across(problem, swap)[not swap]
        for rows, most in _MOST_COLUMNS.items():
            if rows > 64 and rows - 64 >= down:
                continue
            found: dict[int, None] = {}
            widest = most[promotes or (holds and rows > _ROWS_OF_THREE)]
            for columns in _widths(problem, device, (rows, widest), (down, along), 32 if goes_across else 16):
                found[columns] = None
            for columns in found:
                tile = (columns, rows) if swap else (rows, columns)
                if problem.tiles(tile) <= _MANY_TILES * device.sms or rows * columns >= 128 * 192:
                    yield tile, swap


def _widths(
    problem: Problem, device: GPU, tile: tuple[int, int], extents: tuple[int, int], grain: int
) -> Iterator[int]:
    """Columns of tiles of so many rows and at most so many columns: some usual ones, a second, third or the whole of
    what there is, and what gives each SM a tile, or each in several waves."""
    (rows, most), (down, along) = tile, extents
    whole = grain * ceil(along / grain)
    for columns in _COLUMNS:
        if columns <= most and columns < whole:
            yield columns
    many = ceil(down / rows) * problem.batch
    counts = [1, 2, 3, *(int(waves * device.sms) // many for waves in _WAVES)]
    for count in counts:
        if count and (columns := grain * ceil(along / count / grain)) <= most:
            yield columns


def _clusters(problem: Problem, tile: tuple[int, int], swap: bool) -> Iterator[tuple[int, int]]:
    # Of an operand whose rows go across, these are those along k of a step.
    across = _go_across(problem, swap)
    rows = [128 // problem.item_bytes if goes else part for goes, part in zip(across, tile)]
    if not across[not swap]:
        # The schedule makes the columns of the instruction no more than there are.
        extent = problem.M if swap else problem.N
        rows[not swap] = min(rows[not swap], _GROUP * ceil(extent / _GROUP))
    for cluster in _CLUSTERS:
        down, along = cluster
        # A cluster is whole, also where C ends within it.
        whole = problem.tiles((tile[0] * down, tile[1] * along)) * down * along
        shares = all(part % (_GROUP * size) == 0 for part, size in zip(rows, reversed(cluster)))
        if shares and whole <= _WASTE * problem.tiles(tile):
            yield cluster


def _go_across(problem: Problem, swap: bool) -> tuple[bool, bool]:
    """Whether the rows of the operands go across k in shared memory."""
    a, b = (across and not turns for across, turns in zip(problem.lies_across, problem.turned(swap)))
    return a, b


def overlapped(device: GPU) -> dict[str, Any]:
    """Options of several kernels, of which the next starts while one ends: the parts of `split_k` are added earlier."""
    return {"dependent": True} if "griddepcontrol" in device.features else {}


def narrower_by(problem: Problem, options: Mapping[str, Any], device: GPU) -> Iterator[int]:
    """By how many columns, or rows, some tiles can be narrower so that the last wave is full."""
    tiles, (_, width) = problem.tiles(options["tile"]), columns_across(problem, options)
    along, over = one_more_tile(problem, options)
    is_apt = (
        problem.batch == 1 and problem.N % 8 == 0 and width >= _LEAST_WIDTH and not problem.dtype.startswith("float8")
    )
    # Where an operand's rows are columns of the instruction, copies that begin within sectors of the cache take half as
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
