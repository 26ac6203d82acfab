"""Where the tensors of a call lie: in the processor's memory as NumPy's arrays, or on a GPU as this package's own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import DLPACK_CODES, as_dtype, stored_dtype
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..runtime.arrays import is_of_torch
from ..runtime.device import Device, cuda
from ..runtime.dlpack import export_capsule
from ..runtime.ndarray import NDArray, array, empty, from_dlpack
from ..runtime.stream import stream_of_arrays
from ..target import Target

if TYPE_CHECKING:
    from .host_function import Allocator, HostFunction, Made
    from .views import View

__all__ = ["HostMemory", "Memory", "fitting", "memory_of"]

_ALIGNMENT = 64


class HostMemory:
    """The processor's memory, of targets cpu and sim."""

    def given(self, what: str, value: Any) -> Any:
        """An input as an array of this memory; its type is not checked here."""
        if is_of_torch(value):
            return fitting(_array_of_tensor(what, value))
        if isinstance(value, NDArray):
            value = value.numpy()
        if isinstance(value, np.generic):
            value = np.asarray(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        if not isinstance(value, np.ndarray):
            if not hasattr(value, "__dlpack__"):
                raise TypeError(f"{what}: expected an array, got {type(value).__name__}")
            value = np.from_dlpack(value)
        return fitting(value)  # pyright: ignore[reportUnknownArgumentType]

    def constant(self, value: np.ndarray) -> Any:
        """A weight."""
        return fitting(value)

    def empty(self, shape: Sequence[int], dtype: str) -> Any:
        """Memory for a result."""
        return np.empty(tuple(shape), as_dtype(dtype))

    def arena(self, size: int) -> Any:
        """Memory for the results of a plan."""
        return aligned(size)

    def part(self, arena: Any, offset: int, shape: Sequence[int], dtype: str) -> Any:
        """A result in an arena."""
        kind = as_dtype(dtype)
        size = math.prod(shape) * kind.itemsize
        return arena[offset : offset + size].view(kind).reshape(tuple(shape))

    def block(self, value: Any, begin: int, shape: Sequence[int]) -> Any:
        """The elements of a row-major tensor from one on, in another shape."""
        return value.reshape(-1)[begin : begin + math.prod(shape)].reshape(tuple(shape))

    def viewed(self, value: Any, dtype: str) -> Any:
        """The same bytes as elements of another type of the same width."""
        return value.view(stored_dtype(dtype))

    def view(self, array: Any, view: View) -> Any:
        """A view of an array, as a program takes it."""
        return view.of(array)

    def in_stream(self, given: Sequence[Any]) -> AbstractContextManager[object]:
        """Where a call with these inputs runs."""
        del given
        return nullcontext()

    def output(self, shape: Sequence[int], dtype: str, given: Sequence[Any]) -> Any:
        """Memory for an output of a call with these inputs."""
        del given
        return self.empty(shape, dtype)

    def run(self, function: HostFunction, arrays: Sequence[Any], allocate: Allocator) -> Made:
        """Runs a model's function on arrays of this memory, as `HostFunction.on_host` does."""
        return function.on_host(arrays, allocate)

    def returned(self, value: Any, given: Sequence[Any]) -> Any:
        """An output as the caller gets it: a tensor of PyTorch where an input is one."""
        if any(map(is_of_torch, given)):
            from .torch_tensors import tensor_of

            return tensor_of(value)
        return value


class StridedArray:
    """A view of an array on a GPU, for programs, which take it by DLPack."""

    def __init__(self, array: NDArray, view: View) -> None:
        self._array, self._view = array, view
        self.shape: tuple[int, ...] = view.shape
        self.dtype: np.dtype[Any] = array.dtype
        self.nbytes: int = math.prod(view.shape) * array.dtype.itemsize

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()

    def __dlpack__(self, *, max_version: tuple[int, int] | None = None, **_options: Any) -> object:
        address = self._array.address + self._view.begin * self.dtype.itemsize
        versioned = max_version is not None and max_version[0] >= 1
        return export_capsule(
            address,
            self.shape,
            self.dtype.name,  # pyright: ignore[reportUnknownArgumentType]
            self.__dlpack_device__(),
            self,
            versioned,
            self._view.strides,  # pyright: ignore[reportUnknownArgumentType]
        )


class DeviceMemory:
    """A GPU's memory, of target cuda. What lies elsewhere is copied there, and outputs back where all inputs are."""

    def __init__(self, device: Device) -> None:
        self._device = device

    def given(self, what: str, value: Any) -> Any:
        if isinstance(value, np.generic):
            value = np.asarray(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        if is_of_torch(value):
            value = value.detach().contiguous()
            value = from_dlpack(value) if value.is_cuda else _array_of_tensor(what, value)
        elif not isinstance(value, (np.ndarray, NDArray)):
            if not hasattr(value, "__dlpack__"):
                raise TypeError(f"{what}: expected an array, got {type(value).__name__}")
            value = from_dlpack(value)
        if isinstance(value, NDArray) and value.device.is_cuda:
            if value.device != self._device:
                raise ValueError(f"{what}: expected an array on {self._device}, got one on {value.device}")
            return value
        return self._copied(value)  # pyright: ignore[reportUnknownArgumentType]

    def constant(self, value: np.ndarray) -> Any:
        return self._copied(np.ascontiguousarray(value).reshape(value.shape))

    def _copied(self, value: np.ndarray | NDArray) -> NDArray:
        """A copy; elements of fewer than 8 bits are bytes there, as in the processor's memory."""
        if isinstance(value, NDArray) or value.dtype.itemsize > 1 or value.dtype.name in DLPACK_CODES:
            return array(value, self._device)
        bytes_of = np.ascontiguousarray(value).view(np.uint8).reshape(value.shape)
        return array(bytes_of, self._device).part(value.shape, value.dtype, 0)

    def empty(self, shape: Sequence[int], dtype: str) -> Any:
        return empty(tuple(shape), as_dtype(dtype), self._device)

    def arena(self, size: int) -> Any:
        return empty((max(size, 1),), "uint8", self._device)

    def part(self, arena: Any, offset: int, shape: Sequence[int], dtype: str) -> Any:
        return arena.part(tuple(shape), stored_dtype(dtype), offset)

    def block(self, value: Any, begin: int, shape: Sequence[int]) -> Any:
        return value.part(tuple(shape), value.dtype, begin * value.dtype.itemsize)

    def viewed(self, value: Any, dtype: str) -> Any:
        return self.part(value, 0, value.shape, dtype)

    def view(self, array: Any, view: View) -> Any:
        return StridedArray(array, view)

    def in_stream(self, given: Sequence[Any]) -> AbstractContextManager[object]:
        # A tensor in the processor's memory says nothing of a stream, and a torch without CUDA has none.
        told = tuple(one for one in given if not is_of_torch(one) or one.is_cuda)
        return stream_of_arrays(told, self._device)

    def output(self, shape: Sequence[int], dtype: str, given: Sequence[Any]) -> Any:
        # PyTorch's own memory is also there while it captures a graph.
        if any(is_of_torch(one) and one.is_cuda for one in given):
            from .torch_tensors import empty_on_device

            tensor = empty_on_device(shape, dtype, self._device.index)
            if tensor is not None:
                return NDArray(tensor.data_ptr(), tuple(shape), as_dtype(dtype), self._device, None, tensor)
        return self.empty(shape, dtype)

    def run(self, function: HostFunction, arrays: Sequence[Any], allocate: Allocator) -> Made:
        return function.on_gpu(arrays, self._device, allocate)

    def returned(self, value: Any, given: Sequence[Any]) -> Any:
        tensors = [one for one in given if is_of_torch(one)]
        if tensors:
            from .torch_tensors import from_device, tensor_of

            if not any(one.is_cuda for one in tensors):
                return tensor_of(value.numpy())
            return value.owner if is_of_torch(value.owner) else from_device(value)
        return value.numpy() if given and all(isinstance(one, (np.ndarray, np.generic)) for one in given) else value


Memory = HostMemory | DeviceMemory


def memory_of(target: Target) -> Memory:
    """The memory of a target's tensors."""
    return DeviceMemory(cuda(0)) if target.kind == "cuda" else HostMemory()


def _array_of_tensor(what: str, tensor: Any) -> np.ndarray:
    from .torch_tensors import array_of

    if tensor.device.type != "cpu":
        raise ValueError(f"{what}: expected a tensor on cpu, got one on {tensor.device}")
    try:
        return array_of(tensor)
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None


def fitting(value: np.ndarray) -> np.ndarray:
    """An array as compiled programs take them: row-major and aligned. One that is not is copied."""
    if value.flags.c_contiguous and value.ctypes.data % 16 == 0:
        return value
    held = aligned(value.nbytes).view(value.dtype).reshape(value.shape)
    held[...] = value
    return held


def aligned(size: int) -> np.ndarray:
    """Bytes whose address is a multiple of 64."""
    held = np.empty(size + _ALIGNMENT, np.uint8)
    begin = -held.ctypes.data % _ALIGNMENT
    return held[begin : begin + size]
