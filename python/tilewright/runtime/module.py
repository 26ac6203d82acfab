"""A program on GPUs: its cubin, loaded into each GPU that it is called on, and its host program."""

from __future__ import annotations

import ctypes
import re
import threading
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..errors import DriverError, LaunchError
from ..host import CONFIG_SIZE, HostProgram, KernelLaunch, Launcher
from ..ir import library
from . import driver
from .arguments import Bound, Signature
from .device import Device, cuda
from .memory import pool_of

__all__ = ["CudaProgram", "KernelAttributes", "runs_on"]

_DEFAULT_SHARED_LIMIT = 48 << 10
_INVALID_VALUE = 1  # CUDA_ERROR_INVALID_VALUE
_NO_BINARY_FOR_GPU = 209  # CUDA_ERROR_NO_BINARY_FOR_GPU


@dataclass(frozen=True, slots=True)
class KernelAttributes:
    """What the driver says of a loaded kernel: registers and bytes of local memory (spills and arrays) a thread, bytes
    of static shared memory a block, and the most threads a block may have."""

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


class _Kernels(ctypes.Structure):
    """TilewrightCudaKernels of runtime/Launcher.h."""

    _fields_ = (
        ("driver", ctypes.c_void_p),
        ("functions", ctypes.c_void_p),
        ("shared_limits", ctypes.c_void_p),
        ("count", ctypes.c_int32),
    )


class _Launch(ctypes.Structure):
    """TilewrightCudaLaunch of runtime/Launcher.h."""

    _fields_ = (
        ("kernels", ctypes.c_void_p),
        ("stream", ctypes.c_void_p),
        ("failed_call", ctypes.c_char_p),
        ("failed_config", ctypes.c_uint64 * CONFIG_SIZE),
        ("failed_kernel", ctypes.c_int32),
    )


@cache
def _cuda_launch() -> int:
    return ctypes.cast(library().tilewrightCudaLaunch, ctypes.c_void_p).value or 0


class _Loaded:
    """A cubin in one GPU's context."""

    def __init__(self, cubin: bytes, kernels: tuple[str, ...], device: Device) -> None:
        self.device = device
        self._api, self._context = driver.module(), device.context
        with device.active():
            self.module = driver.call("cuModuleLoadData", cubin)
            self.functions = [driver.call("cuModuleGetFunction", self.module, name.encode()) for name in kernels]
        self._handles = (ctypes.c_void_p * len(kernels))(*(int(function) for function in self.functions))
        self._limits = (ctypes.c_uint64 * len(kernels))(*[_DEFAULT_SHARED_LIMIT] * len(kernels))
        self._driver = driver.entry_points()
        self.table = _Kernels(
            ctypes.addressof(self._driver),
            ctypes.addressof(self._handles),
            ctypes.addressof(self._limits),
            len(kernels),
        )

    def __del__(self) -> None:
        if hasattr(self, "module") and not driver.is_finalizing():
            # Waits for its kernels. In a context that has failed the module is gone with it, so no code is looked at.
            self._api.cuCtxPushCurrent(self._context)
            self._api.cuModuleUnload(self.module)
            self._api.cuCtxPopCurrent()


class CudaProgram:
    """A compiled program, callable with arrays on a GPU.

    The cubin is loaded at the first call on each GPU. A call checks its arguments, takes the workspace from the GPU's
    pool and launches; it does not wait for the kernels. It may be made from many threads.

    Parameters
    ----------
    cubin
        The kernels' machine code.
    host
        The host program, which has the kernels' names in order.
    signature
        What the arguments must be.
    arch
        The architecture of the cubin, e.g. "sm_90a".
    """

    def __init__(self, cubin: bytes, host: HostProgram, signature: Signature, arch: str) -> None:
        self.cubin, self.host, self.signature, self.arch = cubin, host, signature, arch
        self._loaded: dict[int, _Loaded] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<CudaProgram {self.signature} for {self.arch}>"

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
        loaded = self.load(bound.device)
        launch_stream = bound.stream
        if launch_stream is None:
            raise LaunchError(f"{self.signature}: expected a signature for cuda, got one for {bound.device.kind}")
        size = self.host.workspace_bytes(bound.shape)
        with bound.device.active():
            workspace = pool_of(bound.device).allocate(size, launch_stream) if size else None
            launch = _Launch(ctypes.addressof(loaded.table), launch_stream.handle or None)
            launcher = Launcher(ctypes.addressof(launch), _cuda_launch())
            code = self.host.call(bound.data, bound.shape, workspace.address if workspace else 0, launcher)
            for array in bound.arrays:
                array.used_on(launch_stream)
        if code:
            self._fail(code, launch, bound)

    def _fail(self, code: int, launch: _Launch, bound: Bound) -> None:
        name = driver.module().CUresult(code).name
        numbers = tuple(launch.failed_config)
        failed = KernelLaunch(
            self.host.kernels[launch.failed_kernel],
            numbers[:3],
            numbers[3:6],
            numbers[6],
            {},  # type: ignore[arg-type]
        )
        detail = (
            f"{failed.kernel} with grid {failed.grid}, block {failed.block} and {failed.shared_bytes} bytes of shared "
            f"memory on {bound.device}"
        )
        if code == _INVALID_VALUE:
            detail += "".join(f"; {reason}" for reason in _over_limits(failed, bound.device))
        raise DriverError((launch.failed_call or b"").decode(), code, name, detail)

    def load(self, device: Device | None = None) -> _Loaded:
        """Loads the kernels into a GPU (the first where none is given) unless they are there already."""
        device = cuda(0) if device is None else device
        found = self._loaded.get(device.index)
        if found is not None:
            return found
        with self._lock:
            if device.index not in self._loaded:
                self._loaded[device.index] = self._load(device)
            return self._loaded[device.index]

    def _load(self, device: Device) -> _Loaded:
        if not runs_on(self.arch, device.compute_capability):
            raise LaunchError(self._other_architecture(device))
        try:
            return _Loaded(self.cubin, self.host.kernels, device)
        except DriverError as error:
            if error.code != _NO_BINARY_FOR_GPU:
                raise
            raise DriverError(error.call, error.code, error.name, self._other_architecture(device)) from None

    def _other_architecture(self, device: Device) -> str:
        return (
            f"{self.signature.name} is compiled for {self.arch}, and {device} ({device.name}) is {device.arch}: "
            f'build it with target=tw.Target("cuda", arch="{device.arch}")'
        )

    def launch_config(self, *arrays: object, stream: object = None) -> tuple[KernelLaunch, ...]:
        """The launches that a call with these arrays makes, with where each number came from; nothing is launched."""
        return self.host.launch_config(self.signature.bind(arrays, stream).shape)

    def kernel_attributes(self, device: Device | None = None) -> tuple[KernelAttributes, ...]:
        """What the driver says of each kernel, loaded into the GPU for that if need be."""
        device = cuda(0) if device is None else device
        loaded = self.load(device)
        known = driver.module().CUfunction_attribute

        def ask(function: Any, name: str) -> int:
            return int(driver.call("cuFuncGetAttribute", getattr(known, f"CU_FUNC_ATTRIBUTE_{name}"), function))

        with device.active():
            return tuple(
                KernelAttributes(
                    kernel,
                    num_regs=ask(function, "NUM_REGS"),
                    local_bytes=ask(function, "LOCAL_SIZE_BYTES"),
                    shared_bytes=ask(function, "SHARED_SIZE_BYTES"),
                    max_threads=ask(function, "MAX_THREADS_PER_BLOCK"),
                )
                for kernel, function in zip(self.host.kernels, loaded.functions)
            )


def _over_limits(launch: KernelLaunch, device: Device) -> list[str]:
    """The numbers of a launch that the GPU cannot have."""
    numbers = {
        **{
            f"grid.{axis}": (n, device.attribute(f"MAX_GRID_DIM_{axis.upper()}")) for axis, n in zip("xyz", launch.grid)
        },
        **{
            f"block.{axis}": (n, device.attribute(f"MAX_BLOCK_DIM_{axis.upper()}"))
            for axis, n in zip("xyz", launch.block)
        },
        "threads a block": (
            launch.block[0] * launch.block[1] * launch.block[2],
            device.attribute("MAX_THREADS_PER_BLOCK"),
        ),
        "shared memory": (launch.shared_bytes, device.attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")),
    }
    return [f"expected at most {limit} for {name}, got {n}" for name, (n, limit) in numbers.items() if n > limit]
