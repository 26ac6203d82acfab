"""Gathers a report of what the linker, the disassembler, the launches and the GPU say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mlir import ir

from ..backend.cubin import link
from ..backend.sass import disassemble
from ..errors import TilewrightError
from ..runtime.host_program import KernelLaunch
from . import KernelReport, Machine, Report
from .instruction_counts import count_ops, count_ptx, count_sass, stages_of, tensor_types
from .occupancy import occupancy_of
from .work import work_of

__all__ = ["make_report"]

# Multiply-adds of float32 that an SM begins in a clock, by compute capability.
_LANES = {75: 64, 80: 64}
# Operations that the tensor cores of an SM do in a clock on operands of 16 bits, by compute capability; GPUs
# of the others differ among themselves. Of 8 bits it is twice, of tf32 half of that.
_TENSOR = {80: 2048, 90: 4096, 100: 8192}
_TENSOR_SCALES = {"f16": 1.0, "bf16": 1.0, "tf32": 0.5, "s8": 2.0, "u8": 2.0, "e4m3": 2.0, "e5m2": 2.0}


def make_report(
    name: str,
    ptx: str,
    arch: str,
    launches: Sequence[KernelLaunch],
    gpu: str,
    linalg: ir.Module,
    shapes: Sequence[Sequence[int]],
    itemsizes: Sequence[int],
) -> Report:
    """The report of a function for `arch` whose call makes `launches`; `gpu` is its text at that stage; `linalg`, its
    module there, is changed."""
    linked = link(ptx, arch)
    meant, written, multiplied, stages = count_ops(gpu), count_ptx(ptx), tensor_types(ptx), stages_of(gpu)
    try:
        found = count_sass(disassemble(linked.image))
    except TilewrightError:  # no disassembler is installed
        found = None
    kernels: list[KernelReport] = []
    for launch in launches:
        resources = linked.resources[launch.kernel]
        in_ptx = written.get(launch.kernel, Counter())
        in_sass = None if found is None else found.get(launch.kernel, Counter())
        block = launch.block[0] * launch.block[1] * launch.block[2]
        kernels.append(
            KernelReport(
                launch=launch,
                registers=resources.registers,
                spills=resources.spill_store_bytes + resources.spill_load_bytes,
                occupancy=occupancy_of(arch, block, resources.registers, launch.shared_bytes),
                instructions={
                    kind: (in_ptx[kind], None if in_sass is None else in_sass[kind])
                    for kind in {*in_ptx, *(in_sass or ()), *meant.get(launch.kernel, ())}
                },
                notes=tuple(note for kernel, note in linked.notes if kernel in ("", launch.kernel)),
                stages=stages.get(launch.kernel),
                tensor_type=multiplied.get(launch.kernel),
                meant=meant.get(launch.kernel, {}),
            )
        )
    return Report(name, tuple(kernels), work_of(linalg, name, shapes, itemsizes), _machine(arch))


def _machine(arch: str) -> Machine | None:
    """The first GPU, if the code is for it."""
    from ..runtime import cuda
    from ..runtime.module import runs_on

    device = cuda(0)
    if not device.exist or not runs_on(arch, device.compute_capability):
        return None
    major, minor = device.compute_capability
    lanes = _LANES.get(10 * major + minor, 128)
    clock = 1e3 * device.attribute("CLOCK_RATE")
    # Two transfers a clock over the bus.
    memory = 2e3 * device.attribute("MEMORY_CLOCK_RATE") * device.attribute("GLOBAL_MEMORY_BUS_WIDTH") / 8
    if not memory:
        return None
    tensor = _TENSOR.get(10 * major + minor, 0) * clock * device.multi_processor_count
    scales = {kind: tensor * scale for kind, scale in _TENSOR_SCALES.items() if tensor}
    # The first tensor cores know no 8-bit floats.
    rates = {kind: rate for kind, rate in scales.items() if major >= 9 or not kind.startswith("e")}
    return Machine(device.device_name, 2 * lanes * clock * device.multi_processor_count, memory, rates)
