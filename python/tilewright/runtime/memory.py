"""The allocation pool, on each GPU and on this machine: freed memory is used again.

On a GPU the pool follows streams. Work in flight may still read a block that was freed. So the block is free at once
for the stream that it was allocated for. It is free for other streams when every stream that used it has passed the
point where it was freed.
"""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from dataclasses import dataclass, field

from ..errors import DriverError, TilewrightMemoryError
from . import cuda_driver
from .device import Device
from .stream import Event, Stream

__all__ = ["Block", "Pool", "PoolStats", "pool_of"]

_OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY
_SMALL = 1 << 20
_HOST_ALIGNMENT = 256


def _rounded(size: int) -> int:
    """Sizes come in steps, so that blocks of almost one size serve each other: 512 bytes, from 1 MiB on 1 MiB."""
    step = 512 if size <= _SMALL else _SMALL
    return max(-(-size // step) * step, step)


@dataclass(frozen=True, slots=True)
class PoolStats:
    """What the pool of a device has done: see `tw.nd.stats`.

    Bytes are `in_use` and `reserved` (in use or kept); `peak` is the most that was in use.
    """

    in_use: int
    reserved: int
    peak: int
    requests: int
    reused: int


@dataclass(slots=True, eq=False)
class _Memory:
    """One piece of the device's memory, whoever has it now. Streams are kept whole: a handle may outlive its stream."""

    address: int
    size: int
    home: Stream | None
    others: dict[int, Stream] = field(default_factory=dict[int, Stream])
    waits: list[Event] = field(default_factory=list[Event])
    keep: object = None


class Block:
    """Memory that is out of the pool; it goes back when nothing refers to the block any more."""

    __slots__ = ("__weakref__", "_memory", "_pool")

    def __init__(self, pool: Pool, memory: _Memory) -> None:
        self._pool, self._memory = pool, memory

    @property
    def address(self) -> int:
        return self._memory.address

    @property
    def size(self) -> int:
        return self._memory.size

    def used_on(self, stream: Stream) -> None:
        """Work on this stream uses the block: it is not given to others before that is done."""
        home = self._memory.home
        if home is not None and stream.handle != home.handle:
            self._memory.others[stream.handle] = stream

    def ordered_before(self, stream: Stream) -> None:
        """All work on the block so far comes before what `stream` is given from here on."""
        memory = self._memory
        for other in (memory.home, *list(memory.others.values())):
            if other is not None and other.handle != stream.handle:
                stream.wait(other)

    def __del__(self) -> None:
        if not cuda_driver.is_finalizing():
            # No lock: this may run at any point, in a thread that holds the pool's. A deque's append is atomic.
            self._pool.returned.append(self._memory)


class Pool:
    """The memory of one device. All methods may be called from many threads."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._lock = threading.Lock()
        self.returned: deque[_Memory] = deque()
        self._free: list[_Memory] = []
        self._in_use = self._peak = self._reserved = self._requests = self._reused = 0

    def allocate(self, size: int, stream: Stream | None = None) -> Block:
        """A block of at least `size` bytes, aligned to 256, for work on `stream` (none on the cpu).

        Raises
        ------
        DriverError
            Where the GPU's memory does not suffice, even with all kept blocks given back to the driver.
        MemoryError
            Where this machine's does not.
        """
        wanted = _rounded(size)
        with self._lock:
            self._collect()
            self._requests += 1
            memory = self._take(wanted, stream)
            if memory is None:
                memory = self._reserve(wanted, stream)
            else:
                self._reused += 1
            self._in_use += memory.size
            self._peak = max(self._peak, self._in_use)
        return Block(self, memory)

    def _collect(self) -> None:
        """Takes back the blocks that nothing refers to any more."""
        while self.returned:
            memory = self.returned.popleft()
            self._in_use -= memory.size
            memory.waits += [_mark(stream) for stream in memory.others.values()]
            memory.others.clear()
            self._free.append(memory)

    def _take(self, wanted: int, stream: Stream | None) -> _Memory | None:
        """The smallest free memory that fits without waste; the stream's own comes first."""
        fitting = [memory for memory in self._free if wanted <= memory.size <= wanted + wanted // 4]
        for memory in sorted(fitting, key=lambda memory: (memory.home != stream, memory.size)):
            if self._is_ready(memory, stream):
                self._free.remove(memory)
                memory.home = stream
                return memory
        return None

    def _is_ready(self, memory: _Memory, stream: Stream | None) -> bool:
        """Whether work on the stream may use the memory now."""
        if memory.home is not None and memory.home != stream:
            # From here on its own stream is one to wait for, too.
            memory.waits.append(_mark(memory.home))
            memory.home = None
        memory.waits = [event for event in memory.waits if not event.done]
        return not memory.waits

    def _reserve(self, size: int, home: Stream | None) -> _Memory:
        if not self.device.is_cuda:
            try:
                buffer = ctypes.create_string_buffer(size + _HOST_ALIGNMENT)
            except (MemoryError, OverflowError):
                raise TilewrightMemoryError(f"no memory for {size} bytes on {self.device}") from None
            address = -(-ctypes.addressof(buffer) // _HOST_ALIGNMENT) * _HOST_ALIGNMENT
            memory = _Memory(address, size, home, keep=buffer)
        else:
            with self.device.active():
                try:
                    memory = _Memory(int(cuda_driver.call("cuMemAlloc", size)), size, home)
                except DriverError as error:
                    if error.code != _OUT_OF_MEMORY:
                        raise
                    self._release()
                    memory = self._reserve_or_explain(size, home)
        self._reserved += size
        return memory

    def _reserve_or_explain(self, size: int, home: Stream | None) -> _Memory:
        try:
            return _Memory(int(cuda_driver.call("cuMemAlloc", size)), size, home)
        except DriverError as error:
            detail = f"{size} bytes wanted on {self.device}, with {self._in_use} in use by Tilewright's arrays"
            raise DriverError(error.call, error.code, error.name, detail) from None

    def _release(self) -> None:
        """Gives all free blocks back to the driver, which waits for the work that uses them."""
        for memory in self._free:
            self._reserved -= memory.size
            if self.device.is_cuda:
                cuda_driver.call("cuMemFree", memory.address)
        self._free.clear()

    def release(self) -> None:
        """Gives the memory that is kept for reuse back to the driver."""
        with self._lock, self.device.active():
            self._collect()
            self._release()

    @property
    def stats(self) -> PoolStats:
        """What the pool has done so far."""
        with self._lock:
            self._collect()
            return PoolStats(self._in_use, self._reserved, self._peak, self._requests, self._reused)


def _mark(stream: Stream) -> Event:
    return stream.record(Event(stream.device, timing=False))


_pools: dict[Device, Pool] = {}
_pools_lock = threading.Lock()


def pool_of(device: Device) -> Pool:
    """The one pool of a device."""
    found = _pools.get(device)
    if found is None:
        with _pools_lock:
            found = _pools.setdefault(device, Pool(device))
    return found
