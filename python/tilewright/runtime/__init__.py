"""The run time: devices, streams, memory, arrays, the arguments of built functions, and their launches on a GPU.

Nothing here touches a driver when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable as _Callable

from ..tvm_compat.missing_names import attribute_of
from .arguments import Argument, Group, Symbol
from .device import Device, DeviceKind, cpu, cuda, enabled, gpu
from .memory import PoolStats
from .module import CudaProgram, KernelAttributes
from .ndarray import NDArray
from .signature import Signature
from .stream import Event, Stream, current_stream, synchronize
from .timing import Timing, time_evaluator

__all__ = [
    "Argument",
    "CudaProgram",
    "Device",
    "DeviceKind",
    "Event",
    "Group",
    "KernelAttributes",
    "NDArray",
    "PoolStats",
    "Signature",
    "Stream",
    "Symbol",
    "Timing",
    "cpu",
    "cuda",
    "current_stream",
    "enabled",
    "gpu",
    "synchronize",
    "time_evaluator",
]

__getattr__: _Callable[[str], object] = attribute_of("runtime", "module 'tilewright.runtime'")
