"""The launches of one call: their numbers, where each came from, and what it is computed by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import TilewrightValueError as ValueError
from .pipeline import Lowering

if TYPE_CHECKING:
    from ..runtime.host_program import KernelLaunch

__all__ = ["LaunchConfig", "with_formulas"]


@dataclass(frozen=True, slots=True)
class LaunchConfig:
    """The launches that one call makes, in order. A program of one kernel has its numbers as attributes here too. These
    attributes raise ValueError where there are several launches.

    >>> config = mmult.launch_config(a, b, c)      # doctest: +SKIP
    >>> config.grid, config.block                  # doctest: +SKIP
    ((32, 32, 1), (16, 16, 1))
    >>> config.origin["grid.x"]                    # doctest: +SKIP
    'j.outer of stage C, mmult.py:14'
    """

    launches: tuple[KernelLaunch, ...]

    def __len__(self) -> int:
        return len(self.launches)

    def __iter__(self) -> Iterator[KernelLaunch]:
        return iter(self.launches)

    def __getitem__(self, index: int) -> KernelLaunch:
        return self.launches[index]

    def __str__(self) -> str:
        return "\n".join(map(str, self.launches))

    def _only(self) -> KernelLaunch:
        if len(self.launches) != 1:
            kernels = ", ".join(launch.kernel for launch in self.launches) or "none"
            raise ValueError(
                f"expected a call of one kernel to have one configuration, got {kernels}: index the launches"
            )
        return self.launches[0]

    @property
    def grid(self) -> tuple[int, int, int]:
        """Blocks along x, y and z."""
        return self._only().grid

    @property
    def block(self) -> tuple[int, int, int]:
        """Threads of a block along x, y and z."""
        return self._only().block

    @property
    def cluster(self) -> tuple[int, int, int]:
        """Blocks of a cluster along x, y and z."""
        return self._only().cluster

    @property
    def shared_bytes(self) -> int:
        """Bytes of dynamic shared memory a block."""
        return self._only().shared_bytes

    @property
    def formula(self) -> Mapping[str, str]:
        """What each number is computed by where extents are symbolic: "grid.x" → "ceildiv(n, 128)"."""
        return self._only().formula

    @property
    def origin(self) -> Mapping[str, str]:
        """Where each number came from: "grid.x" → "j.outer of stage C, mmult.py:14"."""
        return self._only().origin


def with_formulas(launches: Sequence[KernelLaunch], lowering: Lowering) -> tuple[KernelLaunch, ...]:
    """The launches with the formulas of the numbers that are no constants, from the gpu stage if there is one."""
    from ..report.formulas import formulas

    texts = formulas(lowering.copy_of("gpu")) if "gpu" in lowering.stages else {}
    return tuple(
        replace(
            launch,
            formula={name: text for name, text in texts.get(launch.kernel, {}).items() if not text.isdecimal()},
        )
        for launch in launches
    )
