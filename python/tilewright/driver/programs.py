"""What a lowered program becomes for each kind of target: something with a signature that can be called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from mlir import ir

from .pipeline import Lowering

if TYPE_CHECKING:
    from ..host import KernelLaunch
    from ..runtime import Signature

__all__ = ["Program", "make_program"]


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
    """Kernels as a cubin, launched by the host program through the CUDA driver."""

    def __init__(self, lowering: Lowering) -> None:
        from .. import codegen
        from ..host import HostProgram
        from ..runtime import CudaProgram, DeviceKind, Signature

        arch = lowering.target.arch
        assert arch is not None  # Target sees to it
        nvvm = lowering.reach("nvvm")
        with lowering.timed("ptx"):
            self.ptx = codegen.emit_ptx(nvvm, arch)
        with lowering.timed("cubin"):
            self.cubin = codegen.link_cubin(self.ptx, arch)
        self._host = HostProgram(lowering.reach("host"), lowering.name)
        self.entry_name = self._host.name
        self.signature = Signature.from_function(_function(lowering), DeviceKind.CUDA)
        self._program = CudaProgram(self.cubin, self._host, self.signature, arch)

    def __call__(self, *arrays: object, stream: object = None) -> None:
        self._program(*arrays, stream=stream)

    def launches(self, extents: Sequence[int]) -> tuple[KernelLaunch, ...]:
        return self._host.launch_config(extents)


PROGRAMS: Mapping[str, Callable[[Lowering], Program]] = {"cuda": _Cuda}


def make_program(lowering: Lowering) -> Program:
    """The program for the target of `lowering`."""
    return PROGRAMS[lowering.target.kind](lowering)
