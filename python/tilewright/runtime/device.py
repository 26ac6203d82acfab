"""Devices: this machine's memory and its GPUs, named without touching a driver."""

from __future__ import annotations

import enum
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..errors import DriverError, LaunchError, TilewrightError, TilewrightTypeError, TilewrightValueError
from ..tvm_compat.missing_names import attributes_of
from . import cuda_driver

__all__ = ["Device", "DeviceKind", "as_device", "cpu", "cuda", "current_gpu", "device", "enabled", "gpu"]


class DeviceKind(enum.Enum):
    """Where memory is; the value is DLPack's code."""

    CPU = 1
    CUDA = 2

    def __str__(self) -> str:
        return self.name.lower()


_contexts: dict[int, Any] = {}
_contexts_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Device:
    """A device: `cpu(0)` or `cuda(i)`. To name one takes no driver; to ask it for anything does.

    Raises LaunchError where there is no driver or no such GPU, and DriverError where a call of the driver fails. An
    index that is no number is a TypeError, a negative one a ValueError.

    >>> cuda(1)
    cuda(1)
    """

    kind: DeviceKind
    index: int = 0

    if not TYPE_CHECKING:
        __getattr__ = attributes_of("Device", "'Device' object")

    def __post_init__(self) -> None:
        if isinstance(self.index, bool) or not isinstance(self.index, int):
            raise TilewrightTypeError(f"expected the device's index as an int, got {type(self.index).__name__}")
        if self.index < 0 or (self.kind is DeviceKind.CPU and self.index != 0):
            wanted = "0" if self.kind is DeviceKind.CPU else "0 or more"
            raise TilewrightValueError(f"expected the index of a {self.kind} device to be {wanted}, got {self.index}")

    def __repr__(self) -> str:
        return f"{self.kind}({self.index})"

    def __str__(self) -> str:
        return f"{self.kind}:{self.index}"

    @property
    def is_cuda(self) -> bool:
        """Whether it is a GPU."""
        return self.kind is DeviceKind.CUDA

    @property
    def exist(self) -> bool:
        """True where the device is present and its driver starts."""
        if not self.is_cuda:
            return True
        try:
            return self.index < cuda_driver.call("cuDeviceGetCount")
        except TilewrightError:
            return False

    def attribute(self, name: str) -> int:
        """An attribute of a GPU by the driver's name: `attribute("MULTIPROCESSOR_COUNT")`."""
        return _attribute(self._number(), name)

    def _number(self) -> int:
        """The index, checked against the GPUs that there are."""
        if not self.is_cuda:
            raise TilewrightValueError(f"expected a cuda device, got {self!r}")
        count = cuda_driver.call("cuDeviceGetCount")
        if self.index >= count:
            raise LaunchError(f"no GPU {self}: the driver has {count} of them")
        return self.index

    @property
    def name(self) -> str:
        """The product's name, e.g. "NVIDIA H200"."""
        if not self.is_cuda:
            return "cpu"
        return cuda_driver.call("cuDeviceGetName", 256, self._number()).split(b"\0")[0].decode()

    @property
    def device_type(self) -> int:
        """DLPack's code of the kind."""
        return self.kind.value

    @property
    def device_id(self) -> int:
        """The index."""
        return self.index

    @property
    def device_name(self) -> str:
        """TVM's word for `name`."""
        return self.name

    @property
    def compute_version(self) -> str:
        """The compute capability in TVM's form: "9.0" for an H200."""
        return "{}.{}".format(*self.compute_capability)

    @property
    def multi_processor_count(self) -> int:
        """The SMs of a GPU."""
        return self.attribute("MULTIPROCESSOR_COUNT")

    @property
    def warp_size(self) -> int:
        """The threads of a warp."""
        return self.attribute("WARP_SIZE")

    @property
    def max_threads_per_block(self) -> int:
        """The most threads that a block may have."""
        return self.attribute("MAX_THREADS_PER_BLOCK")

    @property
    def max_shared_memory_per_block(self) -> int:
        """The most bytes of shared memory that a block may have."""
        return self.attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")

    @property
    def compute_capability(self) -> tuple[int, int]:
        """(9, 0) for an H200."""
        return self.attribute("COMPUTE_CAPABILITY_MAJOR"), self.attribute("COMPUTE_CAPABILITY_MINOR")

    @property
    def arch(self) -> str:
        """ "sm_90" for an H200; its own features go by "sm_90a"."""
        major, minor = self.compute_capability
        return f"sm_{major}{minor}"

    @property
    def l2_bytes(self) -> int:
        """The size of the last cache before memory."""
        return self.attribute("L2_CACHE_SIZE") if self.is_cuda else _cpu_cache_bytes()

    @property
    def context(self) -> Any:
        """The GPU's primary context, the one that torch, CuPy and the CUDA runtime use too."""
        found = _contexts.get(self.index) if self.is_cuda else None
        if found is None:
            number = self._number()
            with _contexts_lock:
                if number not in _contexts:
                    # Kept for the life of the process: arrays of other libraries live in it as well.
                    _contexts[number] = cuda_driver.call("cuDevicePrimaryCtxRetain", number)
                found = _contexts[number]
        return found

    @contextmanager
    def active(self) -> Generator[None]:
        """The GPU's primary context is the thread's current one inside; nothing happens for the cpu."""
        if not self.is_cuda:
            yield
            return
        context = self.context
        if int(cuda_driver.call("cuCtxGetCurrent")) == int(context):
            yield
            return
        cuda_driver.call("cuCtxPushCurrent", context)
        try:
            yield
        finally:
            cuda_driver.call("cuCtxPopCurrent")

    def sync(self) -> None:
        """Waits for all that the device was given; nothing to wait for on the cpu."""
        if self.is_cuda:
            with self.active():
                cuda_driver.call("cuCtxSynchronize")


@cache
def _attribute(index: int, name: str) -> int:
    known = cuda_driver.module().CUdevice_attribute
    member = getattr(known, f"CU_DEVICE_ATTRIBUTE_{name}", None)
    if member is None:
        raise TilewrightValueError(f"expected an attribute of the driver (CU_DEVICE_ATTRIBUTE_*), got {name!r}")
    return int(cuda_driver.call("cuDeviceGetAttribute", member, index))


@cache
def _cpu_cache_bytes() -> int:
    """The largest cache that Linux tells of, and 32 MiB where it tells of none."""
    from pathlib import Path

    sizes: list[int] = []
    for file in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        try:
            text = file.read_text().strip()
            sizes.append(int(text[:-1]) << {"K": 10, "M": 20}[text[-1]])
        except (OSError, ValueError, KeyError):
            continue
    return max(sizes, default=32 << 20)


def cuda(index: int = 0) -> Device:
    """The GPU number `index`, as a device. It may be one that is not there: see `Device.exist`.

    >>> import tilewright as tw
    >>> tw.cuda(1)
    cuda(1)
    """
    return Device(DeviceKind.CUDA, index)


def as_device(device: object, default: Callable[[], Device] = cuda) -> Device:
    """The device that the user gave, or the default one for None. Raises TypeError for another object."""
    if device is None:
        return default()
    if not isinstance(device, Device):
        raise TilewrightTypeError(f"expected a device, such as tw.cpu() or tw.cuda(0), got {device!r}")
    return device


def current_gpu() -> Device:
    """The GPU whose context is the thread's current one, the first where none is."""
    try:
        return cuda(int(cuda_driver.call("cuCtxGetDevice")))
    except DriverError:
        return cuda(0)


def cpu(index: int = 0) -> Device:
    """This machine's memory and processor, as a device; its `index` is 0.

    >>> import tilewright as tw
    >>> tw.cpu()
    cpu(0)
    """
    return Device(DeviceKind.CPU, index)


gpu = cuda


def device(kind: object, index: int = 0) -> Device:
    """The device number `index` on which programs for the target `kind` run: `device("cuda", 0)`, `device("llvm")`.

    The simulator takes arrays of this machine's memory, as "cpu" does. Raises ValueError for another kind.

    >>> device("cuda -arch=sm_90a", 1), device("sim")
    (cuda(1), cpu(0))
    """
    from ..target import KINDS

    text = getattr(kind, "kind", kind)
    words = text.split() if isinstance(text, str) else []
    word = "cuda" if words[:1] == ["gpu"] else words[0] if words else ""
    if word not in KINDS:
        raise TilewrightValueError(f"expected a device of kind cuda, cpu or sim, got {kind!r}")
    return Device(DeviceKind.CUDA if KINDS[word] == "cuda" else DeviceKind.CPU, index)


def enabled(kind: object) -> bool:
    """Whether programs for that kind of target are compiled here; `device(kind).exist` says whether they can run.

    >>> enabled("cuda"), enabled("rocm")
    (True, False)
    """
    try:
        device(kind)
    except ValueError:
        return False
    return True


class _Callable(ModuleType):
    """This module: TVM has the function `device` under the module's name, ``tvm.runtime.device("cuda", 0)``."""

    def __call__(self, kind: object, index: int = 0) -> Device:
        return device(kind, index)


sys.modules[__name__].__class__ = _Callable
