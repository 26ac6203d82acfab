"""A program on GPUs: its cubin, loaded into each GPU that it is called on, and its host program."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..errors import LaunchError
from ..errors import TilewrightValueError as ValueError
from ..native.library import library
from . import cuda_driver
from .device import Device, as_device
from .ffi import raise_error
from .host_program import HostProgram, KernelLaunch
from .signature import Signature

__all__ = ["CudaProgram", "KernelAttributes", "runs_on"]


@dataclass(frozen=True, slots=True)
class KernelAttributes:
    """The driver's attributes of a loaded kernel.

    Registers and bytes of local memory (spills and arrays) are per thread. Bytes of static shared memory are per block.
    The last one is the most threads that a block may have.
    """

    kernel: str
    num_regs: int
    local_bytes: int
    shared_bytes: int
    max_threads: int


def runs_on(arch: str, capability: tuple[int, int]) -> bool:
    """Whether a cubin of that architecture runs on a GPU of that compute capability.

    A cubin runs on later GPUs of its major version; with `a` on its very own, with `f` on its family.

    >>> runs_on("sm_80", (8, 6)), runs_on("sm_90a", (9, 0)), runs_on("sm_90a", (10, 0)), runs_on("sm_80", (9, 0))
    (True, True, False, False)
    """
    match = re.fullmatch(r"sm_(\d+)(\d)([af]?)", arch)
    if match is None:
        raise ValueError(f"expected an architecture like sm_90a, got {arch!r}")
    major, minor, kind = int(match[1]), int(match[2]), match[3]
    if kind == "a":
        return capability == (major, minor)
    return capability[0] == major and capability[1] >= minor


@cache
def _load() -> Any:
    function = library().tilewrightHostLoadCuda
    function.argtypes = (ctypes.c_void_p, ctypes.c_int32)
    return function


@cache
def _functions() -> Any:
    function = library().tilewrightHostFunctionsCuda
    function.argtypes = (ctypes.c_void_p, ctypes.c_int32)
    function.restype = ctypes.POINTER(ctypes.c_void_p)
    return function


class CudaProgram:
    """A compiled program, callable with arrays on a GPU.

    The cubin is loaded at the first call on each GPU. A call checks its arguments and launches; it does not wait for
    the kernels. It may be made from many threads.

    Parameters
    ----------
    host
        The host program, which has the kernels' names in order, and their machine code by architecture.
    signature
        What the arguments must be.
    """

    host: HostProgram
    signature: Signature

    def __init__(self, host: HostProgram, signature: Signature) -> None:
        self.host, self.signature = host, signature

    def __repr__(self) -> str:
        return f"<CudaProgram {self.signature} for {', '.join(self.host.cubins)}>"

    def __call__(self, *arrays: object, stream: object = None) -> None:
        """Launches the program on the arrays, on `stream` or the current one.

        Raises
        ------
        TypeError, ValueError
            For arguments that do not fit, before anything is launched.
        LaunchError
            Where there is no driver or GPU, or the cubin is for another one.
        DriverError
            With the kernel and its launch configuration, where the driver refuses a launch.
        """
        bound = self.signature.bind(arrays, stream)
        if bound.stream is None:
            raise LaunchError(f"{self.signature}: expected a signature for cuda, got one for {bound.device.kind}")
        self.host.run(bound.data, bound.shape, bound.device.index, bound.stream.handle)
        for array in bound.arrays:
            array.used_on(bound.stream)

    def load(self, device: Device | None = None) -> None:
        """Loads the kernels into a GPU (the first where none is given) unless they are there already."""
        device = as_device(device)
        if _load()(self.host.program, device.index):
            raise_error()

    def launch_config(self, *arrays: object, stream: object = None) -> tuple[KernelLaunch, ...]:
        """The launches that a call with these arrays makes, with where each number came from; nothing is launched."""
        return self.host.launch_config(self.signature.bind(arrays, stream).shape)

    def kernel_attributes(self, device: Device | None = None) -> tuple[KernelAttributes, ...]:
        """What the driver says of each kernel, loaded into the GPU for that if need be."""
        device = as_device(device)
        self.load(device)
        known = cuda_driver.module().CUfunction_attribute

        def ask(function: Any, name: str) -> int:
            return int(cuda_driver.call("cuFuncGetAttribute", getattr(known, f"CU_FUNC_ATTRIBUTE_{name}"), function))

        with device.active():
            return tuple(
                KernelAttributes(
                    kernel,
                    num_regs=ask(function, "NUM_REGS"),
                    local_bytes=ask(function, "LOCAL_SIZE_BYTES"),
                    shared_bytes=ask(function, "SHARED_SIZE_BYTES"),
                    max_threads=ask(function, "MAX_THREADS_PER_BLOCK"),
                )
                for kernel, function in zip(self.host.kernels, _functions()(self.host.program, device.index))
            )
