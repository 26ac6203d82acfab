"""How many blocks of a kernel an SM runs at once, and which resource limits them."""

from __future__ import annotations

from dataclasses import dataclass

from ..devices import capability_of

__all__ = ["Occupancy", "occupancy_of"]


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How many `blocks` of a kernel are on one SM at once.

    They have `warps` warps, and an SM can have `most`. `limit` is the resource that limits them: "threads",
    "registers", "shared memory" or "blocks".
    """

    blocks: int
    warps: int
    most: int
    limit: str

    def __str__(self) -> str:
        return f"{self.blocks} blocks, {self.warps} of {self.most} warps (limited by {self.limit})"


def occupancy_of(arch: str, threads: int, registers: int, shared_bytes: int) -> Occupancy | None:
    """The occupancy of blocks with that many threads, registers per thread and bytes of shared memory.

    It follows the driver's rules. It is None for an architecture whose SMs are not known here.

    >>> print(occupancy_of("sm_90a", 256, 128, 33 * 1024))
    2 blocks, 16 of 64 warps (limited by registers)
    >>> print(occupancy_of("sm_90a", 128, 32, 100 * 1024))
    2 blocks, 8 of 64 warps (limited by shared memory)
    """
    sm = capability_of(arch)
    if sm is None:
        return None

    def up(value: int, unit: int) -> int:
        return -(-value // unit) * unit

    warps = -(-threads // 32)
    a_warp = up(registers * 32, sm.register_unit)
    # Each of an SM's four parts has a quarter of the registers, for whole warps.
    by_registers = 4 * (sm.registers_per_sm // 4 // a_warp) // warps
    a_block = up(shared_bytes + sm.reserved_shared_bytes, sm.shared_unit)
    limits = {
        "threads": sm.warps_per_sm // warps,
        "registers": by_registers,
        "shared memory": sm.shared_bytes_per_sm // a_block if a_block else sm.blocks_per_sm,
        "blocks": sm.blocks_per_sm,
    }
    limit = min(limits, key=lambda name: limits[name])
    blocks = limits[limit]
    return Occupancy(blocks, blocks * warps, sm.warps_per_sm, limit)
