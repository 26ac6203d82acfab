"""What a lowered program becomes for each kind of target: something with a signature that can be called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ctypes import addressof, create_string_buffer
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Protocol

from mlir import ir

from .known import find, keep
from .pipeline import Lowering

if TYPE_CHECKING:
    from ..host import HostProgram, KernelLaunch
    from ..runtime import CudaProgram, Signature

__all__ = ["Program", "make_program"]

WORKSPACE_ALIGNMENT = 256


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

    def __call__(self, *arrays: object, stream: object = None) -> None:
        """Runs the program."""
        ...

    def launches(self, extents: Sequence[int]) -> tuple[KernelLaunch, ...]:
        """The launches that a call with these extents makes."""
        ...


def _function(lowering: Lowering) -> ir.Operation:
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

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering
        self.entry_name = lowering.name
        known = find(lowering)
        if known is not None:
            self.ptx, self.cubin = known
            return
        from .. import codegen

        arch = lowering.target.arch
        assert arch is not None  # Target sees to it
        nvvm = lowering.reach("nvvm")
        with lowering.timed("ptx"):
            self.ptx = codegen.emit_ptx(nvvm)
        with lowering.timed("cubin"):
            self.cubin = codegen.link_cubin(self.ptx, arch)
        _ = self._program
        keep(lowering, self.ptx, self.cubin)

    @cached_property
    def _host(self) -> HostProgram:
        from ..host import HostProgram

        return HostProgram(self._lowering.reach("host"), self._lowering.name)

    @property
    def signature(self) -> Signature:
        return self._signature

    @cached_property
    def _signature(self) -> Signature:
        from ..runtime import DeviceKind, Signature

        return Signature.from_function(_function(self._lowering), DeviceKind.CUDA)

    @cached_property
    def _program(self) -> CudaProgram:
        from ..runtime import CudaProgram

        return CudaProgram(self.cubin, self._host, self.signature, self._lowering.target.arch or "")

    def __call__(self, *arrays: object, stream: object = None) -> None:
        self._program(*arrays, stream=stream)

    def launches(self, extents: Sequence[int]) -> tuple[KernelLaunch, ...]:
        return self._host.launch_config(extents)


class _Sim:
    """The kernels of the gpu stage on the simulator, launched by the same host program."""

    def __init__(self, lowering: Lowering) -> None:
        from ..host import HostProgram
        from ..runtime import DeviceKind, Signature
        from ..sim import compile_sim

        kernels = lowering.reach("gpu")
        self._host = HostProgram(lowering.reach("host"), lowering.name)
        with lowering.timed("sim"):
            self._simulator = compile_sim(kernels, lowering.target.checks, self._host.kernels)
        self.entry_name = self._host.name
        self.signature = Signature.from_function(_function(lowering), DeviceKind.CPU)

    def __call__(self, *arrays: object, stream: object = None) -> None:
        from ..errors import LaunchError
        from ..sim import Buffer

        bound = self.signature.bind(arrays, stream)
        buffers, at = [], 0
        for argument, address in zip(self.signature.arguments, bound.data):
            extents = bound.shape[at : at + len(argument.shape)]
            at += len(argument.shape)
            buffers.append(
                Buffer(argument.name, address, prod(extents) * argument.itemsize, written=not argument.output)
            )
        size = self._host.workspace_bytes(bound.shape)
        memory = create_string_buffer(size + WORKSPACE_ALIGNMENT) if size else None
        workspace = 0
        if memory is not None:
            workspace = -(-addressof(memory) // WORKSPACE_ALIGNMENT) * WORKSPACE_ALIGNMENT
            buffers.append(Buffer("the workspace", workspace, size, written=False))
        with self._simulator.call(buffers):
            code = self._host.call(bound.data, bound.shape, workspace, self._simulator.launcher)
        if code:  # what was found has been raised by now
            raise LaunchError(f"{self.signature}: the simulator returned {code}")

    def launches(self, extents: Sequence[int]) -> tuple[KernelLaunch, ...]:
        return self._host.launch_config(extents)


class _CPU:
    """Vectorised loops for this machine's processor; nothing is launched."""

    def __init__(self, lowering: Lowering) -> None:
        from ..processor import compile_cpu
        from ..runtime import DeviceKind, Signature

        module = lowering.reach("linalg")
        with lowering.timed("cpu"):
            self._program = compile_cpu(module, lowering.name)
        self.entry_name = self._program.name
        self.signature = Signature.from_function(_function(lowering), DeviceKind.CPU)

    def __call__(self, *arrays: object, stream: object = None) -> None:
        bound = self.signature.bind(arrays, stream)
        self._program.call(bound.data, bound.shape)

    def launches(self, extents: Sequence[int]) -> tuple[KernelLaunch, ...]:
        return ()


PROGRAMS: Mapping[str, Callable[[Lowering], Program]] = {"cuda": _Cuda, "sim": _Sim, "cpu": _CPU}


def make_program(lowering: Lowering) -> Program:
    """The program for the target of `lowering`."""
    return PROGRAMS[lowering.target.kind](lowering)
