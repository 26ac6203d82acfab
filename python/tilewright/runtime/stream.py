"""Streams and events of a GPU, and which stream a call goes to when none is given."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from functools import cache
from typing import Any

from ..errors import DriverError
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..native.library import library
from . import cuda_driver
from .device import Device, as_device
from .ffi import libtvm_ffi

__all__ = ["Event", "Stream", "as_stream", "current_stream", "has_stream", "stream_of_arrays", "synchronize"]

_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING
_DISABLE_TIMING = 2  # CU_EVENT_DISABLE_TIMING
_NOT_READY = 600  # CUDA_ERROR_NOT_READY

_local = threading.local()


class Stream:
    """A queue of work on one GPU. Inside `with stream:` it is the thread's current one, for this project's calls.

    Raises LaunchError where there is no driver, and DriverError where a call of the driver fails. A device that has no
    streams is a ValueError, an object that is no device a TypeError.

    >>> stream = Stream(cuda(0))                # doctest: +SKIP
    >>> mmult(a, b, c, stream=stream)           # doctest: +SKIP
    >>> stream.synchronize()                    # doctest: +SKIP

    A new stream and the default stream do not wait for each other.

    A stream of `cpu()` is for targets "sim" and "cpu", whose calls are done when they return. There is nothing to wait
    for, and a script that uses streams runs unchanged.
    """

    __slots__ = ("__weakref__", "_api", "_owner", "device", "handle")

    device: Device
    handle: int

    def __init__(self, device: Device | None = None, *, priority: int = 0) -> None:
        self.device = as_device(device)
        self._api: Any = None
        self._owner: object = None
        if not self.device.is_cuda:
            self.handle = 0
            return
        with self.device.active():
            self.handle = int(cuda_driver.call("cuStreamCreateWithPriority", _NON_BLOCKING, priority))
        self._api = cuda_driver.module()

    @classmethod
    def from_handle(cls, handle: int, device: Device | None = None, owner: object = None) -> Stream:
        """The stream of another library, from its `handle`, a number, on `device`, by default the current GPU.

        Who made it keeps it, `owner` as long as this refers to it. The handle 0 is the default stream."""
        stream = cls.__new__(cls)
        stream.device, stream.handle, stream._api, stream._owner = _gpu(device), int(handle), None, owner
        return stream

    def __del__(self) -> None:
        # Only what was made here is destroyed, and the driver lets the work in it finish first.
        api = getattr(self, "_api", None)
        if api is not None and not cuda_driver.is_finalizing():
            api.cuStreamDestroy(self.handle)

    def __repr__(self) -> str:
        return f"Stream({self.device!r}, {self.handle:#x})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.device, self.handle) == (other.device, other.handle)

    def __hash__(self) -> int:
        return hash((self.device, self.handle))

    def __cuda_stream__(self) -> tuple[int, int]:
        """The protocol by which other libraries take the stream: its version and the handle."""
        return 0, self.handle

    def __enter__(self) -> Stream:
        stack: list[Stream] = _local.__dict__.setdefault("stack", [])
        stack.append(self)
        if self.device.is_cuda:
            _stack_functions()[0](self.device.index, self.handle)
        return self

    def __exit__(self, *_: object) -> None:
        _local.stack.pop()
        if self.device.is_cuda:
            _stack_functions()[1]()

    def synchronize(self) -> None:
        """Waits until all work given to the stream is done."""
        if not self.device.is_cuda:
            return
        with self.device.active():
            cuda_driver.call("cuStreamSynchronize", self.handle)

    def record(self, event: Event | None = None) -> Event:
        """Marks the point that the stream has come to; the event made or given is returned."""
        event = Event(self.device) if event is None else event
        event.record(self)
        return event

    def wait(self, other: Event | Stream) -> None:
        """All later work of this stream waits for the event, or for what the other stream was given so far."""
        event = other.record(Event(other.device, timing=False)) if isinstance(other, Stream) else other
        if not self.device.is_cuda or not event.device.is_cuda:
            event.synchronize()
            return
        with self.device.active():
            cuda_driver.call("cuStreamWaitEvent", self.handle, event.handle, 0)


class Event:
    """A point in a stream; two of them measure the time between.

    Raises LaunchError where there is no driver, DriverError where a call of the driver fails, and TypeError for what is
    no device.

    >>> import tilewright as tw
    >>> stream = tw.Stream(tw.cpu())
    >>> begin, end = tw.Event(tw.cpu()), tw.Event(tw.cpu())
    >>> begin.record(stream)
    >>> end.record(stream)
    >>> end.seconds_since(begin) >= 0
    True
    """

    __slots__ = ("__weakref__", "_api", "_moment", "device", "handle")

    device: Device
    handle: int

    def __init__(self, device: Device | None = None, *, timing: bool = True) -> None:
        self.device = as_device(device)
        self._api: Any = None
        self._moment = 0.0  # of the cpu, when it was recorded
        if not self.device.is_cuda:
            self.handle = 0
            return
        with self.device.active():
            self.handle = int(cuda_driver.call("cuEventCreate", 0 if timing else _DISABLE_TIMING))
        self._api = cuda_driver.module()

    def __del__(self) -> None:
        api = getattr(self, "_api", None)
        if api is not None and not cuda_driver.is_finalizing():
            api.cuEventDestroy(self.handle)

    def record(self, stream: Stream | None = None) -> None:
        """The event stands for all that the stream (the current one where none is given) was given so far."""
        stream = current_stream(self.device) if stream is None else stream
        if not self.device.is_cuda:
            self._moment = time.perf_counter()
            return
        with self.device.active():
            cuda_driver.call("cuEventRecord", self.handle, stream.handle)

    def synchronize(self) -> None:
        """Waits until the work before the event is done."""
        if not self.device.is_cuda:
            return
        cuda_driver.call("cuEventSynchronize", self.handle)

    @property
    def done(self) -> bool:
        """True once the work before the event is done. Raises DriverError where the work before it failed."""
        if not self.device.is_cuda:
            return True
        (result,) = cuda_driver.module().cuEventQuery(self.handle)
        if int(result) not in (0, _NOT_READY):
            raise DriverError("cuEventQuery", int(result), result.name)
        return int(result) == 0

    def seconds_since(self, start: Event) -> float:
        """The time from `start` to this event; both must be done."""
        if not self.device.is_cuda:
            return self._moment - start._moment
        return float(cuda_driver.call("cuEventElapsedTime", start.handle, self.handle)) / 1e3


@cache
def _stack_functions() -> tuple[Any, Any]:
    """The same stack for calls that do not come by Python (runtime/PythonCall.h)."""
    push, pop = library().tilewrightPushStream, library().tilewrightPopStream
    push.argtypes, push.restype, pop.restype = (ctypes.c_int32, ctypes.c_void_p), None, None
    return push, pop


def _gpu(device: Device | None) -> Device:
    device = as_device(device)
    if not device.is_cuda:
        raise ValueError(f"expected a cuda device, got {device!r}")
    return device


def current_stream(device: Device | None = None) -> Stream:
    """The stream of the innermost `with stream:` on the device, and its default stream outside of any.

    Raises TypeError where `device` is no device.

    >>> import tilewright as tw
    >>> stream = tw.Stream(tw.cpu())
    >>> with stream:
    ...     tw.current_stream(tw.cpu()) is stream
    True
    """
    device = as_device(device)
    for stream in reversed(getattr(_local, "stack", ())):
        if stream.device == device:
            return stream
    return Stream.from_handle(0, device) if device.is_cuda else Stream(device)


def has_stream() -> bool:
    """Whether the thread is inside of a `with stream:`."""
    return bool(getattr(_local, "stack", ()))


def as_stream(stream: object, device: Device) -> Stream:
    """What a caller gave as `stream=`: a Stream, another library's (`__cuda_stream__`, or torch's and CuPy's own
    attributes), or a handle."""
    if isinstance(stream, Stream):
        if stream.device != device:
            raise ValueError(f"expected a stream of {device}, got one of {stream.device}")
        return stream
    protocol: Any = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        # A method by the protocol, an attribute in its first form.
        answer: Any = protocol() if callable(protocol) else protocol
        _, handle = answer
        return Stream.from_handle(handle, device, stream)
    for attribute in ("cuda_stream", "ptr"):
        handle = getattr(stream, attribute, None)
        if isinstance(handle, int):
            return Stream.from_handle(handle, device, stream)
    if isinstance(stream, bool) or not hasattr(stream, "__int__") or isinstance(stream, float):
        raise TypeError(f"expected a stream (Stream, __cuda_stream__ or a handle), got {type(stream).__name__}")
    return Stream.from_handle(int(stream), device)  # type: ignore[call-overload]


def stream_of_arrays(arrays: tuple[object, ...], device: Device) -> Stream:
    """The stream for a call on these arrays where none is given.

    It is the stream of `with stream:`, if there is one. Otherwise it is the current stream of torch or CuPy if an array
    is theirs. So the call comes after the work that made its inputs. Otherwise it is that of tvm-ffi's environment: the
    default stream, unless `tvm_ffi.use_raw_stream` or the like has set another. No library is imported.
    """
    for stream in reversed(getattr(_local, "stack", ())):
        if stream.device == device:
            return stream
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and any(isinstance(array, torch.Tensor) for array in arrays):
        current = torch.cuda.current_stream(device.index)
        return Stream.from_handle(current.cuda_stream, device, current)
    if cupy is not None and any(isinstance(array, cupy.ndarray) for array in arrays):
        return _cupy_stream(cupy, device)
    return Stream.from_handle(_environment_stream()(device.device_type, device.index) or 0, device)


@cache
def _environment_stream() -> Any:
    function = libtvm_ffi().TVMFFIEnvGetStream
    function.argtypes, function.restype = (ctypes.c_int32, ctypes.c_int32), ctypes.c_void_p
    return function


def _cupy_stream(cupy: Any, device: Device) -> Stream:
    """CuPy has a current stream for each device, and tells that of its current one."""
    with cupy.cuda.Device(device.index):
        current = cupy.cuda.get_current_stream()
    return Stream.from_handle(current.ptr, device, current)


def synchronize(device: Device | None = None) -> None:
    """Waits for all that `device`, by default the current GPU, was given. On the processor there is nothing to wait
    for.

    Raises TypeError where `device` is no device.

    >>> import tilewright as tw
    >>> tw.synchronize(tw.cpu())
    """
    as_device(device).sync()
