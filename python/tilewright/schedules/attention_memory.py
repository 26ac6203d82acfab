"""What a block of attention needs of shared memory and of registers."""

from __future__ import annotations

__all__ = ["BARRIERS", "OTHER_REGISTERS", "held_registers", "shared_bytes_of", "takes"]

_WIDTHS = 32
OTHER_REGISTERS = 64
"""Of a thread, beside accumulators and weights."""
BARRIERS = 1024
"""Bytes of barriers, and of what aligns tiles, at most."""


def takes(
    tile: tuple[int, int], width: int, wide: int, shared_bytes: int, registers: int, stages: int = 2,
    *, is_split: bool = False,
) -> bool:  # fmt: skip
    """Whether tiles of heads of `width`, and of values of `wide`, fit a block's shared memory and a thread's registers.

    The registers hold the accumulators and the weights.

    >>> takes((128, 128), 192, 128, 232448, 255), takes((128, 128), 256, 256, 232448, 255)
    (True, False)
    """
    _, columns = tile
    depth, results = -(-width // _WIDTHS) * _WIDTHS, -(-wide // _WIDTHS) * _WIDTHS
    if max(depth, results, columns) > 256:
        return False
    held = held_registers(columns, results)
    # Results of whole columns, and those of parts of the keys, may go from registers to memory.
    shared = shared_bytes_of(tile, depth, results, stages, 2 if results > wide and not is_split else 0)
    return shared <= shared_bytes and held <= registers - OTHER_REGISTERS


def held_registers(columns: int, results: int) -> int:
    """Of a thread: of a warpgroup's 64 rows it has half a column. Scores, their weights in 16 bits, results."""
    return columns // 2 + columns // 4 + results // 2


def shared_bytes_of(tile: tuple[int, int], depth: int, results: int, stages: int, result_bytes: int) -> int:
    """Of tiles of 16 bits of Q, K and V, and of results."""
    rows, columns = tile
    return 2 * (rows * depth + stages * columns * (depth + results)) + result_bytes * rows * results + BARRIERS
