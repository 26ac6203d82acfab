"""How many blocks of a kernel a multiprocessor runs at once, and what keeps it from more."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Occupancy", "occupancy_of", "shared_bytes_of"]


@dataclass(frozen=True, slots=True)
class _Multiprocessor:
    """What the blocks of a multiprocessor share. CUDA C++ Programming Guide, technical specifications per compute
    capability."""

    warps: int
    blocks: int
    shared_bytes: int
    registers: int = 65536
    # Registers are given out to whole warps in units of so many, shared memory to blocks; of it each block takes some.
    register_unit: int = 256
    shared_unit: int = 128
    reserved_bytes: int = 1024


_KIB = 1024
_MULTIPROCESSORS = {
    75: _Multiprocessor(32, 16, 64 * _KIB, shared_unit=256, reserved_bytes=0),
    80: _Multiprocessor(64, 32, 164 * _KIB),
    86: _Multiprocessor(48, 16, 100 * _KIB),
    87: _Multiprocessor(48, 16, 164 * _KIB),
    89: _Multiprocessor(48, 24, 100 * _KIB),
    90: _Multiprocessor(64, 32, 228 * _KIB),
    100: _Multiprocessor(64, 32, 228 * _KIB),
    103: _Multiprocessor(64, 32, 228 * _KIB),
    120: _Multiprocessor(48, 24, 100 * _KIB),
}


@dataclass(frozen=True, slots=True)
class Occupancy:
    """`blocks` of a kernel on one multiprocessor at once, with `warps` of the `most` that it could have; `limit` is
    what they have used up: "threads", "registers", "shared memory" or "blocks"."""

    blocks: int
    warps: int
    most: int
    limit: str

    def __str__(self) -> str:
        return f"{self.blocks} blocks, {self.warps} of {self.most} warps (limited by {self.limit})"


def shared_bytes_of(arch: str) -> int | None:
    """The most shared memory that a block may have; None for an architecture whose multiprocessors are not known here.

    >>> shared_bytes_of("sm_89") == 99 * 1024, shared_bytes_of("sm_90a") == 227 * 1024
    (True, True)
    """
    capability = re.match(r"sm_(\d+)", arch)
    machine = _MULTIPROCESSORS.get(int(capability[1])) if capability else None
    return machine.shared_bytes - machine.reserved_bytes if machine else None


def occupancy_of(arch: str, threads: int, registers: int, shared_bytes: int) -> Occupancy | None:
    """The occupancy of blocks with that many threads, registers a thread and bytes of shared memory, by the rules that
    the driver goes by; None for an architecture whose multiprocessors are not known here.

    >>> print(occupancy_of("sm_90a", 256, 128, 33 * 1024))
    2 blocks, 16 of 64 warps (limited by registers)
    >>> print(occupancy_of("sm_90a", 128, 32, 100 * 1024))
    2 blocks, 8 of 64 warps (limited by shared memory)
    """
    capability = re.match(r"sm_(\d+)", arch)
    machine = _MULTIPROCESSORS.get(int(capability[1])) if capability else None
    if machine is None:
        return None

    def up(value: int, unit: int) -> int:
        return -(-value // unit) * unit

    warps = -(-threads // 32)
    a_warp = up(registers * 32, machine.register_unit)
    # Each of a multiprocessor's four parts has a quarter of the registers, for whole warps.
    by_registers = 4 * (machine.registers // 4 // a_warp) // warps
    a_block = up(shared_bytes + machine.reserved_bytes, machine.shared_unit)
    limits = {
        "threads": machine.warps // warps,
        "registers": by_registers,
        "shared memory": machine.shared_bytes // a_block if a_block else machine.blocks,
        "blocks": machine.blocks,
    }
    limit = min(limits, key=lambda name: limits[name])
    blocks = limits[limit]
    return Occupancy(blocks, blocks * warps, machine.warps, limit)
