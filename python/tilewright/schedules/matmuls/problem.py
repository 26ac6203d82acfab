"""A matmul that a schedule is chosen for, and the choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, log2
from typing import Any

from ...devices import GPU
from ...dtypes import item_bytes

__all__ = ["Choice", "Problem", "blocks_at_once", "columns_across", "one_more_tile"]


@dataclass(frozen=True, slots=True)
class Problem:
    """A matmul: `layout` is BLAS's, N for an operand as it is and T for a transposed one."""

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
    def row_lengths(self) -> tuple[int, int]:
        """How many elements the rows of the operands have."""
        return self.M if self.layout[0] == "T" else self.K, self.K if self.layout[1] == "T" else self.N

    @property
    def is_aligned(self) -> tuple[bool, bool]:
        """Whether the rows of the operands are multiples of 16 bytes, which TMA and 16-byte loads need."""
        a, b = self.row_lengths
        return a * self.item_bytes % 16 == 0, b * self.item_bytes % 16 == 0

    @property
    def lies_across(self) -> tuple[bool, bool]:
        """Whether the rows of the operands go across k."""
        return self.layout[0] == "T", self.layout[1] == "N"

    def turned(self, swap_ab: bool) -> tuple[bool, bool]:
        """Which operands `matmul_wgmma` first transposes: those that are not of 16 bits and not stored along k. The
        instruction's first operand may lie across k if it is of tf32."""
        a, b = (across and self.item_bytes != 2 for across in self.lies_across)
        if self.dtype != "tf32":
            return a, b
        return (a, False) if swap_ab else (False, b)

    @property
    def crosses_lines(self) -> tuple[bool, bool]:
        """Whether rows of the operands begin within cache lines, as TMA reads them."""
        first, second = (
            is_aligned and of * self.item_bytes % 128 != 0 for of, is_aligned in zip(self.row_lengths, self.is_aligned)
        )
        return first, second

    @property
    def kind(self) -> tuple[object, ...]:
        """What matmuls must have in common to be near."""
        return self.dtype, self.layout, self.is_aligned, self.crosses_lines

    def distance(self, other: Problem) -> float:
        """How many factors of two lie between the extents."""
        pairs = ((self.M, other.M), (self.N, other.N), (self.K, other.K), (self.batch, other.batch))
        return sum(abs(log2(mine / theirs)) for mine, theirs in pairs)


@dataclass(frozen=True, slots=True)
class Choice:
    """A ready schedule by its name in `tilewright.schedules`, and its options."""

    schedule: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __hash__(self) -> int:
        return hash((self.schedule, *sorted(self.options)))


# Parts of a GPU have SMs that clusters of four leave over: of 132 SMs an H100 ran 30 such clusters at once, and not 31.
_OF_SMS = 10 / 11


def blocks_at_once(device: GPU, cluster: int) -> int:
    """How many blocks in clusters of so many run at once, one on an SM."""
    sms = device.sms if cluster <= 2 else int(device.sms * _OF_SMS)
    return sms // cluster * cluster


def columns_across(problem: Problem, options: Mapping[str, Any]) -> tuple[int, int]:
    """How many columns of the instruction C has, and a tile of it: its own, or its rows."""
    side = 0 if options.get("swap_ab") else 1
    return (problem.M, problem.N)[side], options["tile"][side]


def one_more_tile(problem: Problem, options: Mapping[str, Any]) -> tuple[int, int]:
    """How many tiles C has across, and how many columns of the instruction too much with one more."""
    extent, width = columns_across(problem, options)
    along = ceil(extent / width)
    return along, (along + 1) * width - extent
