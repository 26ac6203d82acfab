"""What a block of attention needs of shared memory and of registers."""

from __future__ import annotations

from ..devices import GPU

__all__ = ["BARRIERS", "has_producer", "held_registers", "other_registers", "shared_bytes_of", "takes"]

_WIDTHS, _FLOAT32 = 32, 4  # columns, bytes
BARRIERS = 1024
"""Bytes of barriers, and of what aligns tiles, at most."""


def takes(
    tile: tuple[int, int], width: int, wide: int, shared_bytes: int, registers: int, stages: int = 2,
    *, is_split: bool = False, item: int = 2,
) -> bool:  # fmt: skip
    """Whether tiles of heads of `width`, and of values of `wide`, fit a block's shared memory and a thread's registers.

    The registers hold the accumulators and the weights. Elements have `item` bytes.

    >>> takes((128, 128), 192, 128, 232448, 255), takes((128, 128), 256, 256, 232448, 255)
    (True, False)
    """
    _, columns = tile
    depth, results = -(-width // _WIDTHS) * _WIDTHS, -(-wide // _WIDTHS) * _WIDTHS
    if max(depth, results, columns) > 256:
        return False
    held = held_registers(columns, results, item)
    # Results of whole columns, and those of parts of the keys, may go from registers to memory.
    shared = shared_bytes_of(tile, depth, results, stages, is_stored=results > wide and not is_split, item=item)
    return shared <= shared_bytes and held <= registers - other_registers(item)


def held_registers(columns: int, results: int, item: int) -> int:
    """Of a thread: of a warpgroup's 64 rows it has half a column. Scores, their weights of `item` bytes, results."""
    return columns // 2 + columns * item // 8 + results // 2


def other_registers(item: int) -> int:
    """Of a thread, beside accumulators and weights. Four instructions' rows of float32, as two parts, take more."""
    return 96 if item == _FLOAT32 else 64


def shared_bytes_of(tile: tuple[int, int], depth: int, results: int, stages: int, *, is_stored: bool, item: int) -> int:
    """Of tiles of Q, K and V, and of results if they go that way, whose elements have `item` bytes."""
    rows, columns = tile
    held = rows * depth + stages * columns * (depth + results) + (rows * results if is_stored else 0)
    return item * held + BARRIERS


def has_producer(gpu: GPU, dtype: str) -> bool:
    """Whether warps of their own load: only by setmaxnreg have others the registers that such warps leave. Where warps
    multiply, operands go through their registers, and none are left."""
    return "wgmma" in gpu.features and dtype != "float32"
