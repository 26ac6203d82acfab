"""The project's own array: row-major memory on one device, enough to feed built functions without another library."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..dtypes import DLPACK_CODES, as_dtype
from ..errors import TilewrightBufferError as BufferError
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..messages.location import user_source
from . import cuda_driver, dlpack
from .device import Device, DeviceKind, as_device, cpu, cuda
from .memory import Block, pool_of
from .stream import Stream, current_stream

__all__ = ["NDArray", "array", "empty", "from_dlpack", "zeros"]


def _as_shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    if not isinstance(shape, (int, np.integer)) and not isinstance(shape, Iterable):
        raise TypeError(f"expected a shape as ints, got {shape!r}")
    extents = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    for extent in extents:
        if isinstance(extent, bool) or not isinstance(extent, (int, np.integer)):
            raise TypeError(f"expected extents as ints, got {extent!r} in shape {extents}")
        if extent < 0:
            raise ValueError(f"expected extents of 0 or more, got {extent} in shape {extents}")
    return tuple(int(extent) for extent in extents)


class NDArray:
    """A row-major array on the cpu or on a GPU. Made by `empty`, `zeros`, `array` and `from_dlpack`.

    A copy from or to a GPU raises DriverError where the driver fails.

    >>> a = array(np.arange(6, dtype="float32").reshape(2, 3))
    >>> a.shape, str(a.dtype), a.device
    ((2, 3), 'float32', cpu(0))
    >>> a.numpy()[1, 2]
    np.float32(5.0)
    """

    __slots__ = ("__weakref__", "_block", "_owner", "address", "device", "dtype", "read_only", "shape")

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    device: Device
    read_only: bool

    def __init__(
        self,
        address: int,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        device: Device,
        block: Block | None,
        owner: object = None,
        read_only: bool = False,
    ) -> None:
        self.address, self.shape, self.dtype, self.device = address, shape, dtype, device
        self._block, self._owner, self.read_only = block, owner, read_only

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def owner(self) -> object:
        """What keeps the memory, where that is another array or another library's."""
        return self._owner

    def part(self, shape: tuple[int, ...], dtype: np.dtype[Any], offset: int = 0) -> NDArray:
        """An array of the extents `shape` and of `dtype` over this one's memory, from byte `offset`.

        >>> array(np.arange(6, dtype="float32")).part((2,), np.dtype("float32"), 8).numpy()
        array([2., 3.], dtype=float32)
        """
        return NDArray(self.address + offset, shape, dtype, self.device, self._block, self, self.read_only)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"NDArray(shape={self.shape}, dtype={self.dtype.name}, device={self.device!r})"

    def __str__(self) -> str:
        return str(self.numpy())

    def __setitem__(self, index: object, source: Any) -> None:
        """``a[:] = source`` copies from `source` as `copyfrom` does. Raises ValueError for an index of a part."""
        if index is not Ellipsis and not (isinstance(index, slice) and index == slice(None)):
            raise ValueError(f"{user_source()}: expected a[:] = source, which copies to all elements, got a[{index}]")
        self.copyfrom(source)

    def used_on(self, stream: Stream) -> None:
        """Work on this stream uses the array: its memory is not given to others before that is done."""
        if self._block is not None:
            self._block.used_on(stream)

    def _bytes(self) -> np.ndarray[Any, np.dtype[Any]]:
        """An array on the cpu as NumPy's, over the same memory."""
        buffer: Any = (ctypes.c_uint8 * self.nbytes).from_address(self.address)
        view = np.frombuffer(buffer, np.uint8).view(self.dtype).reshape(self.shape)
        view.flags.writeable = not self.read_only
        return view

    def numpy(self) -> np.ndarray[Any, np.dtype[Any]]:
        """A copy as a NumPy array. For a GPU, after the work in the current stream so far."""
        if not self.size:
            return np.empty(self.shape, self.dtype)
        if not self.device.is_cuda:
            return self._bytes().copy()  # pyright: ignore[reportUnknownVariableType]
        result = np.empty(self.shape, self.dtype)
        stream = self._before_copy()
        with self.device.active():
            cuda_driver.call("cuMemcpyDtoHAsync", result.ctypes.data, self.address, self.nbytes, stream.handle)
        stream.synchronize()
        return result

    asnumpy = numpy

    def _before_copy(self) -> Stream:
        """The stream for a copy that must come after all earlier work on the array."""
        stream = current_stream(self.device)
        if self._block is not None:
            self._block.ordered_before(stream)
            self._block.used_on(stream)
        return stream

    def __copy__(self) -> NDArray:
        return self.copyto(self.device)

    def __deepcopy__(self, memo: dict[int, Any]) -> NDArray:
        return self.copyto(self.device)

    def __reduce__(self) -> tuple[Any, ...]:
        return array, (self.numpy(), self.device)

    def same_as(self, other: object) -> bool:
        """Whether `other` is this array."""
        return self is other

    def copyfrom(self, source: Any) -> NDArray:
        """Copies from `source`, an array of the same shape and dtype, on any device. Returns itself.

        It is NumPy's, what NumPy makes an array of, or ours.

        Raises TypeError for another dtype, ValueError for another shape, or where this array is read-only.
        """
        if self.read_only:
            raise ValueError("expected a writable array to copy to, got a read-only one")
        if not isinstance(source, NDArray):
            if hasattr(source, "__dlpack_device__") and source.__dlpack_device__()[0] != dlpack.CPU:
                source = from_dlpack(source)
            else:
                # Python's own numbers take on the dtype; an array must have it.
                source = _host_view(np.asarray(source, None if hasattr(source, "dtype") else self.dtype, order="C"))
        if source.shape != self.shape:
            raise ValueError(f"expected an array of shape {self.shape}, got {source.shape}")
        if source.dtype != self.dtype:
            raise TypeError(f"expected an array of dtype {self.dtype.name}, got {source.dtype.name}")
        if self.size:
            self._copy(source)
        return self

    def copyto(self, target: NDArray | Device) -> NDArray:
        """Copies to `target`, another array, or to a new one on that device. Returns that array."""
        if isinstance(target, Device):
            target = empty(self.shape, self.dtype, target)
        return target.copyfrom(self)

    def _copy(self, source: NDArray) -> None:
        here, there = self.device, source.device
        if not here.is_cuda and not there.is_cuda:
            ctypes.memmove(self.address, source.address, self.nbytes)
            return
        stream = (self if here.is_cuda else source)._before_copy()
        if here.is_cuda and there.is_cuda and source._block is not None:
            # The source's streams are of its own GPU when that is another one; events work across GPUs.
            source._block.ordered_before(stream)
            source._block.used_on(stream)
        with stream.device.active():
            if not there.is_cuda:
                cuda_driver.call("cuMemcpyHtoDAsync", self.address, source.address, self.nbytes, stream.handle)
            elif not here.is_cuda:
                cuda_driver.call("cuMemcpyDtoHAsync", self.address, source.address, self.nbytes, stream.handle)
            elif here == there:
                cuda_driver.call("cuMemcpyDtoDAsync", self.address, source.address, self.nbytes, stream.handle)
            else:
                contexts = here.context, there.context
                cuda_driver.call(
                    "cuMemcpyPeerAsync", self.address, contexts[0], source.address, contexts[1], self.nbytes,
                    stream.handle,
                )  # fmt: skip
        if not (here.is_cuda and there.is_cuda):
            # The host's memory may be changed or freed as soon as this returns.
            stream.synchronize()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device.kind.value, self.device.index

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """The array for another library, by DLPack: the memory is shared, and kept as long as the other needs it.

        `stream` is the consumer's, as DLPack numbers them: its work comes after what this array was used for so far.
        """
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"expected no change of device, got {tuple(dl_device)} for an array on {self.device}")
        if copy:
            raise BufferError("expected no copy: copy the array with copyto first")
        if self.read_only:
            raise BufferError("a read-only array is not handed out")
        if self.device.is_cuda and stream != -1 and self._block is not None:
            consumer = Stream.from_handle(0 if stream in (None, 1) else stream, self.device)
            self._block.ordered_before(consumer)
            self._block.used_on(consumer)
        versioned = max_version is not None and max_version[0] >= 1
        return dlpack.export_capsule(
            self.address,
            self.shape,
            self.dtype.name,  # pyright: ignore[reportUnknownArgumentType]
            self.__dlpack_device__(),
            self,
            versioned,  # pyright: ignore[reportUnknownArgumentType]
        )


def _host_view(source: np.ndarray[Any, Any]) -> NDArray:
    """NumPy's array as one of ours, over the same memory."""
    return NDArray(
        source.ctypes.data, source.shape, as_dtype(source.dtype), cpu(), None, source, not source.flags.writeable
    )


def empty(shape: int | Sequence[int], dtype: Any = "float32", device: Device | None = None) -> NDArray:
    """A new array whose elements are whatever the memory had; on the cpu where no device is given.

    Raises TypeError or ValueError for a shape or dtype that is none. Where memory is short, it is a DriverError on a
    GPU and a MemoryError on the cpu.

    >>> empty((2, 3), "bfloat16")
    NDArray(shape=(2, 3), dtype=bfloat16, device=cpu(0))
    """
    device = as_device(device, cpu)
    shape, element = _as_shape(shape), as_dtype(dtype)
    stream = current_stream(device) if device.is_cuda else None
    block = pool_of(device).allocate(math.prod(shape) * element.itemsize, stream)
    return NDArray(block.address, shape, element, device, block)


def zeros(shape: int | Sequence[int], dtype: Any = "float32", device: Device | None = None) -> NDArray:
    """A new array of zeros, of the extents `shape` and of elements of `dtype`, on `device`, by default the cpu. Raises
    what `empty` raises.

    >>> import tilewright as tw
    >>> tw.nd.zeros((2,), "int32").numpy().tolist()
    [0, 0]
    """
    result = empty(shape, dtype, device)
    if not result.size:
        return result
    if not result.device.is_cuda:
        ctypes.memset(result.address, 0, result.nbytes)
        return result
    with result.device.active():
        cuda_driver.call("cuMemsetD8Async", result.address, 0, result.nbytes, current_stream(result.device).handle)
    return result


def array(source: Any, device: Device | None = None, dtype: Any = None) -> NDArray:
    """A new array on `device` with the elements of `source`: NumPy's, what NumPy makes an array of, or ours.

    Raises TypeError for a `dtype` that is not the one of an array of ours.

    >>> array([1, 2, 3], dtype="int32").numpy()
    array([1, 2, 3], dtype=int32)
    """
    if not isinstance(source, NDArray):
        source = np.asarray(source, None if dtype is None else as_dtype(dtype), order="C")
    elif dtype is not None and as_dtype(dtype) != source.dtype:
        raise TypeError(f"expected dtype {source.dtype.name} of the array to be copied, got {as_dtype(dtype).name}")
    return empty(source.shape, source.dtype, device).copyfrom(source)


def from_dlpack(source: Any) -> NDArray:
    """The array `source` of another library, or a capsule of DLPack, as one of ours, over the same memory.

    Raises
    ------
    BufferError
        Where the array's owner does not hand it over, and for a capsule that was used before.
    TypeError
        Where the object has no `__dlpack__`, or a dtype that NumPy and ml_dtypes lack.
    ValueError
        Where the array is not row-major or on a device that is neither the cpu nor a GPU of CUDA's.

    >>> import numpy as np
    >>> import tilewright as tw
    >>> x = np.arange(3, dtype="float32")
    >>> tw.nd.from_dlpack(x).numpy().tolist()
    [0.0, 1.0, 2.0]
    """
    given = dlpack.imported(source) if type(source).__name__ == "PyCapsule" else None
    if given is not None:
        kind, index = given.device_type, given.device_index
    elif hasattr(source, "__dlpack__") and hasattr(source, "__dlpack_device__"):
        kind, index = (int(number) for number in source.__dlpack_device__())
    else:
        raise TypeError(f"expected an array with __dlpack__, got {type(source).__name__}")
    device = {dlpack.CPU: cpu(), dlpack.CUDA_HOST: cpu()}.get(kind)
    if kind in (dlpack.CUDA, dlpack.CUDA_MANAGED):
        device = cuda(index)
    if device is None:
        raise ValueError(f"expected an array on cpu or cuda, got one on {dlpack.DEVICE_NAMES.get(kind, kind)}")
    handle = (current_stream(device).handle or 1) if device.kind is DeviceKind.CUDA else None
    found = dlpack.read_capsule(source, handle) if given is None else given
    dtype = as_dtype(found.dtype) if found.dtype in DLPACK_CODES else None
    if dtype is None:
        raise TypeError(f"expected a dtype of numbers, got {found.dtype}")
    if found.strides is not None and not is_row_major(found.shape, found.strides):
        raise ValueError(f"expected a row-major array, got strides {found.strides} for shape {found.shape}")
    return NDArray(found.address, found.shape, dtype, device, None, found.keep, found.read_only)


def is_row_major(shape: Sequence[int], strides: Sequence[int], itemsize: int = 1) -> bool:
    """Whether the strides are those of a row-major array. An element has `itemsize` of their units.

    A dimension of one element may have any stride, and so may an array without elements.
    """
    expected = itemsize
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent == 0:
            return True
        if extent != 1:
            if stride != expected:
                # An extent of 0 further out makes the array empty, whatever its strides.
                return 0 in shape
            expected *= extent
    return True
