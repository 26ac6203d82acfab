"""`Function.report`: what a compiled function takes of a GPU, and what bounds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

from ..runtime.host_program import KernelLaunch
from .instruction_counts import KINDS, mismatches_of
from .occupancy import Occupancy
from .work import Work

__all__ = ["KernelReport", "Machine", "Report"]


@dataclass(frozen=True, slots=True)
class Machine:
    """A GPU's rates at its highest clocks.

    These are float32 operations per second without tensor cores, bytes per second, and the operations per second of the
    tensor cores. The latter are by type, with PTX's name, as far as they are known.
    """

    name: str
    operations_per_second: float
    bytes_per_second: float
    tensor_operations_per_second: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True)
class KernelReport:
    """One kernel of a call.

    - `registers` and the bytes of `spills` are per thread.
    - `occupancy` is None if the architecture's rules are not known.
    - `meant` has, for each kind of instruction that the schedule asks for, how many ops of the kernel should become
      such instructions.
    - `instructions` has, for each kind, how many instructions the PTX contains, and how many the machine code contains.
      The latter is None without a disassembler. The instructions of a loop count once.
    - `mismatches` are instructions that the schedule asks for and that are missing, and instructions that are there
      although the schedule does not ask for them.
    - `notes` are the assembler's notes.
    - `stages` is how many slots the buffers of asynchronous copies have, or None.
    - `tensor_type` is the type that tensor cores multiply, by PTX's name, or None.
    """

    launch: KernelLaunch
    registers: int
    spills: int
    occupancy: Occupancy | None
    instructions: Mapping[str, tuple[int, int | None]]
    notes: tuple[str, ...]
    stages: int | None = None
    tensor_type: str | None = None
    meant: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def mismatches(self) -> tuple[str, ...]:
        """Where the instructions are not those that were meant; each names the kind."""
        in_sass = any(found is not None for _, found in self.instructions.values())
        counts = {kind: found if in_sass else ptx for kind, (ptx, found) in self.instructions.items()}
        return mismatches_of(
            self.meant, {kind: count or 0 for kind, count in counts.items()}, "SASS" if in_sass else "PTX"
        )

    def __str__(self) -> str:
        launch = self.launch
        lines = [
            f"{launch.kernel}: grid {_sizes(launch.grid)}, block {_sizes(launch.block)}, "
            + (f"clusters of {_sizes(launch.cluster)}, " if launch.cluster != (1, 1, 1) else "")
            + f"{launch.shared_bytes} bytes of shared memory"
            + (f" in {self.stages} stages" if self.stages else ""),
            f"  {self.registers} registers, {self.spills} bytes spilled",
        ]
        if self.occupancy is not None:
            lines.append(f"  on an SM {self.occupancy}")
        if self.instructions:
            width = max(map(len, self.instructions))
            lines.append(f"  {'instructions'.ljust(width)}    ops    PTX   SASS")
            for kind in sorted(self.instructions, key=list(KINDS).index):
                ptx, found = self.instructions[kind]
                ops = self.meant.get(kind, "")
                lines.append(f"  {kind.ljust(width)} {ops:>6} {ptx:6} {'?' if found is None else found:>6}")
        lines += [f"  mismatch: {mismatch}" for mismatch in self.mismatches]
        lines += [f"  {note}" for note in self.notes]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Report:
    """What `Function.report` gives; printed, it is a page.

    `work` is None if the arguments' shapes do not determine the extents of loops. `machine` is None if the GPU that the
    code is for is not present.
    """

    name: str
    kernels: tuple[KernelReport, ...]
    work: Work | None
    machine: Machine | None

    @property
    def tensor_type(self) -> str | None:
        """What tensor cores multiply in it; None where they do not, or several types."""
        types = {kernel.tensor_type for kernel in self.kernels if kernel.tensor_type}
        return types.pop() if len(types) == 1 else None

    @property
    def operations_per_second(self) -> float | None:
        """What the machine can compute with the units that the kernels use: tensor cores, where one of them does and
        their rate is known."""
        if self.machine is None:
            return None
        return self.machine.tensor_operations_per_second.get(self.tensor_type or "", self.machine.operations_per_second)

    @property
    def floor_seconds(self) -> float | None:
        """The time below which the machine cannot do this work, by its rates; None where one of them is not known."""
        if self.work is None or self.machine is None or self.operations_per_second is None:
            return None
        return max(self.work.operations / self.operations_per_second, self.work.bytes / self.machine.bytes_per_second)

    @property
    def bound(self) -> str | None:
        """ "memory" or "arithmetic": which of the machine's rates gives that time."""
        if self.work is None or self.machine is None or self.operations_per_second is None:
            return None
        balance = self.operations_per_second / self.machine.bytes_per_second
        return "memory" if self.work.intensity < balance else "arithmetic"

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.work or 'work that depends on the values of arguments'}"]
        if self.floor_seconds is not None and self.machine is not None:
            has_rate = self.tensor_type in self.machine.tensor_operations_per_second
            units = f"with tensor cores of {self.tensor_type}" if has_rate else "without tensor cores"
            lines.append(
                f"bound by {self.bound} on {self.machine.name}: no less than {1e6 * self.floor_seconds:.3g} us {units}"
            )
        return "\n".join([*lines, *map(str, self.kernels)])


def _sizes(launched: tuple[int, int, int]) -> str:
    extents: tuple[int, ...] = launched
    while len(extents) > 1 and extents[-1] == 1:
        extents = extents[:-1]
    return " x ".join(map(str, extents)) + (f" = {prod(extents)}" if len(extents) > 1 else "")
