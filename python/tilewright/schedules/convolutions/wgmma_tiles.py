"""The tiles of convolutions by warpgroups: what fits, and what takes the least time by a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd, prod

from ...target import current_gpu
from .definition import Windows

__all__ = [
    "BYTES",
    "Candidate",
    "MAX_STAGES",
    "SPANS",
    "Problem",
    "choose",
    "columns_at_once",
    "rows_of_a_step",
    "shared_bytes",
    "slot_bytes",
    "timed",
]

BYTES = 2  # of an element that is multiplied
SPANS = (32, 64, 128)  # how wide a row of a shared buffer's panel may be, in bytes
# Of a block's shared memory barriers take so many bytes.
_BARRIERS, MAX_STAGES = 1024, 8
# Warpgroups store so many columns of a fragment at a time, and TMA so many of 16 bits at least.
_STORED_COLUMNS = _PANEL = 16


def rows_of_a_step(kernel: int, stride: int, share_rows: bool) -> tuple[int, int]:
    """The steps for each column of the kernel, and how many of its rows each has."""
    return (stride, -(-kernel // stride)) if share_rows else (kernel, 1)


def slot_bytes(tile: tuple[int, int, int, int], over: int, dilation: int, span: int) -> int:
    """What a step fetches."""
    images, rows, columns, width = tile
    return (images * (rows + (over - 1) * dilation) * columns + width * over) * span


def columns_at_once(pixels: int, width: int, made: int, slot: int) -> int:
    """Of what is stored by way of shared memory: all where that leaves room for the tiles of three steps."""
    panel = gcd(width, SPANS[-1] // made)
    parts = [one for one in (2 * panel, panel) if width % one == 0 and one % _STORED_COLUMNS == 0]
    some = [width, *parts]
    return next((one for one in some if shared_bytes() - pixels * one * made >= 3 * slot), some[-1])


@dataclass(frozen=True, slots=True)
class Problem:
    """What a tile is chosen for."""

    batch: int
    out: tuple[int, int]
    filters: int
    kernel: tuple[int, int]
    stride: int  # of rows, as the dilation
    dilation: int
    steps: int  # of the channels
    span: int  # the bytes of a step
    is_narrow: bool = False
    pitch: int = SPANS[-1]  # the bytes from one pixel to the next

    @classmethod
    def of(cls, what: Windows, steps: int, span: int, *, is_narrow: bool = False) -> Problem:
        return cls(
            what.batch, what.out, what.filters, what.kernel, what.strides[0], what.dilations[0], steps, span, is_narrow,
            what.channels * BYTES,
        )  # fmt: skip


Candidate = tuple[tuple[int, int, int, int], int, bool]
"""A tile of images, rows, columns and filters, the number of parts, and whether rows are shared."""


def choose(problem: Problem, split_k: int | None, share_rows: bool | None) -> Candidate:
    """What takes the least time by a model, which estimates what an SM multiplies and what it reads."""
    # Where nothing fits what is asked for, what is wrong with that is found of the first tile.
    first = (*_PIXELS[0], 64), split_k or 1, bool(share_rows)
    return min(_candidates(problem, split_k, share_rows), key=lambda one: _cycles(problem, *one), default=first)


def timed(problem: Problem, split_k: int | None = None) -> dict[Candidate, float]:
    """All that fit, in so many parts if that is given, with the seconds that each may take, the fastest first."""
    clock = current_gpu().clock_hz
    seconds = {one: _cycles(problem, *one) / clock for one in _candidates(problem, split_k, None)}
    return dict(sorted(seconds.items(), key=lambda one: one[1]))


# Of images, rows and columns.
_PIXELS = (
    *((1, 8, 8), (1, 4, 16), (1, 2, 32)),
    *((2, 8, 8), (1, 8, 16), (1, 16, 8), (1, 4, 32), (2, 4, 16), (4, 2, 16)),
    *((4, 8, 8), (1, 16, 16), (1, 8, 32), (1, 32, 8)),
    # Of many small images, which fill no rectangle of them.
    *((4, 4, 4), (8, 4, 4), (16, 2, 2), (32, 2, 2), (16, 1, 4), (32, 1, 4)),
)


def _candidates(problem: Problem, split_k: int | None, share_rows: bool | None) -> Iterator[Candidate]:
    grain = 64 if problem.filters > 32 else 32
    for images, rows, columns in _PIXELS:
        pixels = images * rows * columns
        can_share = problem.kernel[0] > problem.stride and 1 in (problem.stride, problem.dilation)
        can_share = can_share and images in (1, pixels // 64)
        for width in _widths(problem.filters, grain):
            if width > max(grain, -(-problem.filters // grain) * grain) or pixels * width > 256 * 128:
                continue
            for shares in (True, False) if share_rows is None else (share_rows,):
                tile = images, rows, columns, width
                _, over = rows_of_a_step(problem.kernel[0], problem.stride, shares)
                slot = slot_bytes(tile, over, problem.dilation, problem.span)
                if (shares and not can_share) or 2 * slot + pixels * SPANS[-1] > shared_bytes():
                    continue
                for count in (1, 2, 4, 8, 16) if split_k is None else (split_k,):
                    if problem.steps % count == 0 and (count == 1 or not problem.is_narrow):
                        yield tile, count, shares


def _widths(filters: int, grain: int) -> list[int]:
    """How many filters tiles have: also those that divide all of them evenly, in whole panels that TMA stores."""
    even = [-(-filters // (parts * _PANEL)) * _PANEL for parts in range(1, 9)]
    return sorted({grain, 128, 192, 256, *(one for one in even if grain <= one <= 256)})


# Of one SM of an H200, as measured, in cycles: how much longer matmuls take than they would alone, what part of the
# published rate of the second cache it reads with, what a short row of a box takes, how long data is on its way, what
# storing an element takes, a kernel that adds up parts, and what part of the memory's bandwidth that kernel reads with.
_PRODUCTS, _OF_CACHE, _ROW, _LATENCY, _STORING = 1.1, 0.7, 5.0, 2200.0, 0.24
_ADDING, _OF_MEMORY = 6000.0, 0.667
# What takes place at once takes a little more than the longest; seconds before and after all tiles.
_AT_ONCE, _START = 4, 4e-6
# Seconds that TMA takes for a row of a box: of pixels that begin at lines of the cache, at sectors, and within them;
# and how much longer where the row ends outside of the tensor.
_OF_ROW, _OUTSIDE = {SPANS[-1]: 0.5e-9, SPANS[0]: 1.0e-9, 1: 1.9e-9}, 1.9e-9


def shared_bytes() -> int:
    """What a block has for its buffers."""
    return current_gpu().shared_bytes_per_block - _BARRIERS


def _cycles(problem: Problem, tile: tuple[int, int, int, int], split_k: int, shares: bool) -> float:
    device = current_gpu()
    images, rows, columns, width = tile
    tiles = -(-problem.batch // images) * -(-problem.out[0] // rows) * -(-problem.out[1] // columns)
    tiles *= -(-problem.filters // width)
    phases, over = rows_of_a_step(problem.kernel[0], problem.stride, shares)
    steps = phases * (1 if problem.is_narrow else problem.kernel[1]) * problem.steps / split_k
    # An instruction for each 32 bytes takes what it multiplies, or reading its operands.
    instructions = images * rows * columns // 64 * over * problem.span // SPANS[0]
    multiplying = instructions * max(width / 2, 16 + width / 4) * _PRODUCTS
    # Four warpgroups have few registers and wait for each other.
    multiplying *= 1.05 if images * rows * columns > 128 else 1.0
    slot = slot_bytes(tile, over, problem.dilation, problem.span)
    reading = slot / (_OF_CACHE * device.sm.l2_bytes_per_clock)
    if problem.is_narrow:
        reading = max(reading, (images * (rows + over - 1) * columns + width * over) * _ROW)
    else:
        of_row = next(time for step, time in _OF_ROW.items() if problem.pitch % step == 0)
        of_row += _OUTSIDE / problem.steps if problem.pitch % problem.span else 0.0
        reading = max(reading, slot // problem.span * of_row * device.clock_hz)
    stored = images * rows * columns * columns_at_once(images * rows * columns, width, BYTES, slot) * BYTES
    stages = max(2, min((shared_bytes() - stored) // slot, MAX_STAGES))
    # Of two that multiply as long the one that reads less is faster.
    parts = multiplying, reading, (_LATENCY + reading) / (stages - 1)
    of_one = steps * (sum(part**_AT_ONCE for part in parts) ** (1 / _AT_ONCE) + reading / 20)
    of_one += images * rows * columns * width * _STORING
    results = problem.batch * prod(problem.out) * problem.filters
    adding = _ADDING + 8 * split_k * results * device.clock_hz / (_OF_MEMORY * device.bandwidth) if split_k > 1 else 0.0
    return -(-tiles * split_k // device.sms) * of_one + adding + _START * device.clock_hz
