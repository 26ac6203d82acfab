"""What a lowered program becomes for each kind of target: something with a signature that can be called."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Protocol

from mlir import ir

from ..errors import TilewrightValueError as ValueError
from ..ir.passes import run_passes
from ..target import Target
from .known import find, keep
from .pipeline import Lowering, pipeline_text

if TYPE_CHECKING:
    from ..runtime import CudaProgram, Device, Signature
    from ..runtime.host_program import HostProgram, KernelLaunch

__all__ = ["ManagedCuda", "Program", "make_program"]


class Program(Protocol):
    """A program that can be called."""

    @property
    def entry_name(self) -> str:
        """The host function that a call enters."""
        ...

    @property
    def signature(self) -> Signature:
        """The arguments."""
        ...

    @property
    def host(self) -> HostProgram:
        """The compiled host function."""
        ...

    def __call__(self, *arrays: object, stream: object = None) -> None:
        """Runs the program."""
        ...

    def load(self, device: Device | None = None) -> None:
        """Makes all that the first call makes otherwise."""
        ...

    def launches(self, extents: Sequence[int]) -> tuple[KernelLaunch, ...]:
        """The launches that a call with these extents makes."""
        ...

    def for_architectures(self, architectures: Sequence[str]) -> HostProgram:
        """The host function with kernels for these GPUs too."""
        ...


def program_function(lowering: Lowering) -> ir.Operation:
    """The program's function, at the stage where it was taken up."""
    module = lowering.reach(lowering.start)
    return next(
        operation.operation
        for operation in module.body
        if operation.operation.name == "func.func"
        and ir.StringAttr(operation.attributes["sym_name"]).value == lowering.name
    )


class _Cuda:
    """Kernels as a cubin, launched by the host program through the CUDA driver.

    Of kernels that the cache has, all that a call needs is made at the first one: to find them takes less time than to
    import the run time.
    """

    # Whether the arrays are this machine's.
    is_managed = False
    entry_name: str
    ptx: str
    cubin: bytes

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering
        self.entry_name = lowering.name
        known = find(lowering)
        if known is not None:
            self.ptx, self.cubin = known
            return
        from ..backend.cubin import link_cubin
        from ..backend.ptx import emit_ptx

        arch = lowering.target.arch
        assert arch is not None  # Target sees to it
        nvvm = lowering.reach("nvvm")
        with lowering.timed("ptx"):
            self.ptx = emit_ptx(nvvm)
        with lowering.timed("cubin"):
            self.cubin = link_cubin(self.ptx, arch)
        _ = self._program
        keep(lowering, self.ptx, self.cubin)

    @cached_property
    def _host(self) -> HostProgram:
        return self._host_of({self._lowering.target.arch or "": self.cubin})

    def _host_of(self, cubins: Mapping[str, bytes]) -> HostProgram:
        from ..runtime.host_program import HostProgram

        lowering = self._lowering
        return HostProgram(lowering.reach("host"), lowering.name, "cuda", cubins, managed=self.is_managed)

    @property
    def host(self) -> HostProgram:
        return self._host

    @property
    def signature(self) -> Signature:
        return self._signature

    @cached_property
    def _signature(self) -> Signature:
        from ..runtime import DeviceKind, Signature

        kind = DeviceKind.CPU if self.is_managed else DeviceKind.CUDA
        return Signature.from_function(program_function(self._lowering), kind)

    @cached_property
    def _program(self) -> CudaProgram:
        from ..runtime import CudaProgram

        return CudaProgram(self._host, self._signature)

    def for_architectures(self, architectures: Sequence[str]) -> HostProgram:
        from ..backend.cubin import link_cubin
        from ..backend.ptx import emit_ptx

        cubins = dict(self.host.cubins)
        if not set(architectures) - set(cubins):
            return self.host
        for arch in architectures:
            if arch in cubins:
                continue
            target = Target("cuda", arch=arch)
            kernels = self._lowering.copy_of("gpu")
            doing = f"compiling {self.entry_name} for {arch}"
            run_passes(kernels, pipeline_text("gpu", "nvvm", target), doing, "nvvm")
            cubins[arch] = link_cubin(emit_ptx(kernels), arch)
        return self._host_of(cubins)

    def __call__(self, *arrays: object, stream: object = None) -> None:
        self._program(*arrays, stream=stream)

    def load(self, device: Device | None = None) -> None:
        self._program.load(device)

    def launches(self, extents: Sequence[int]) -> tuple[KernelLaunch, ...]:
        return self.host.launch_config(extents)


class ManagedCuda(_Cuda):
    """The same, on arrays of this machine: their memory on the GPU is the call's, and they are copied there and back.
    A call waits for the results."""

    is_managed = True

    def __call__(self, *arrays: object, stream: object = None) -> None:
        from ..runtime import cuda

        bound = self.signature.bind(arrays, None)
        device = getattr(stream, "device", None) or cuda(0)
        handle = None if stream is None else self.signature.stream(stream, device).handle
        self.host.run(bound.data, bound.shape, device.index, handle)


class _OnHost(ABC):
    """A program that this machine's processor runs, on its own arrays."""

    kind: ClassVar[str]

    def __init__(self, lowering: Lowering) -> None:
        from ..runtime import DeviceKind, Signature

        self.host = self._compile(lowering)
        self.entry_name = self.host.name
        self.signature = Signature.from_function(program_function(lowering), DeviceKind.CPU)

    @abstractmethod
    def _compile(self, lowering: Lowering) -> HostProgram: ...

    def for_architectures(self, architectures: Sequence[str]) -> HostProgram:
        if architectures:
            raise ValueError(f"expected no GPU architectures for target {self.kind}, got {', '.join(architectures)}")
        return self.host

    def __call__(self, *arrays: object, stream: object = None) -> None:
        bound = self.signature.bind(arrays, stream)
        self.host.run(bound.data, bound.shape)

    def load(self, device: Device | None = None) -> None:
        _ = self.host.engine

    def launches(self, extents: Sequence[int]) -> tuple[KernelLaunch, ...]:
        return self.host.launch_config(extents)


class _Sim(_OnHost):
    """The kernels of the gpu stage on the simulator, launched by the same host program."""

    kind = "sim"

    def _compile(self, lowering: Lowering) -> HostProgram:
        from ..runtime.host_program import HostProgram
        from ..runtime.simulator import compile_sim

        kernels = lowering.reach("gpu")
        host = HostProgram(lowering.reach("host"), lowering.name, "sim")
        with lowering.timed("sim"):
            simulator = compile_sim(
                kernels, lowering.target.checks, host.kernels, gpu_indices=lowering.target.gpu_indices
            )
        host.attach(simulator)
        self.simulator = simulator
        return host


class _CPU(_OnHost):
    """Loops for this machine's processor, those of the schedule or its own; nothing is launched."""

    kind = "cpu"

    def _compile(self, lowering: Lowering) -> HostProgram:
        from ..runtime.cpu_program import compile_cpu

        module = lowering.reach("loops")
        with lowering.timed("cpu"):
            return compile_cpu(module, lowering.name)

    def launches(self, extents: Sequence[int]) -> tuple[KernelLaunch, ...]:
        return ()


PROGRAMS: Mapping[str, Callable[[Lowering], Program]] = {"cuda": _Cuda, "sim": _Sim, "cpu": _CPU}


def make_program(lowering: Lowering) -> Program:
    """The program for the target of `lowering`."""
    make = ManagedCuda if lowering.managed and lowering.target.kind == "cuda" else PROGRAMS[lowering.target.kind]
    return make(lowering)
