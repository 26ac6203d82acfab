"""Arrays of any library as calls take them: NumPy's, DLPack's, those of `__cuda_array_interface__`, ours."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from . import dlpack
from .device import Device, cuda
from .ndarray import NDArray, is_row_major
from .stream import Event, Stream

__all__ = ["Array", "Bound", "Refused", "device_of", "is_of_torch", "read_array"]


@dataclass(slots=True)
class Array:
    """The description of an array, as in DLPack.

    Strides are in elements; None means row-major. The dtype is code, bits and lanes. The device is kind and index.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    dtype: tuple[int, int, int]
    device: tuple[int, int]
    read_only: bool


class Refused(Exception):
    """An object that no array can be read from, with the reason. `layout`: it is the array's layout."""

    def __init__(self, message: str, layout: bool = False) -> None:
        super().__init__(message)
        self.layout = layout


@dataclass(slots=True)
class Bound:
    """Checked arguments: `data` and `shape` are the host program's, `keep` must live until the launches are made."""

    data: list[int]
    shape: list[int]
    device: Device
    stream: Stream | None
    keep: list[object] = field(default_factory=list[object])
    arrays: list[NDArray] = field(default_factory=list[NDArray])


def is_of_torch(array: object) -> bool:
    """Whether it is a tensor of PyTorch. Who has one has imported torch: this function does not."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def device_of(arrays: Sequence[object]) -> Device:
    """The GPU that the call runs on: that of the first array on one. If it is wrong, an array's check says so."""
    for array in arrays:
        if isinstance(array, NDArray):
            if array.device.is_cuda:
                return array.device
        elif not isinstance(array, np.ndarray):
            where = getattr(array, "__dlpack_device__", None)
            if where is not None:
                try:
                    kind, index = where()
                except Exception:  # noqa: BLE001 - the producer's own; reading the array will say it again
                    continue
                if kind in (dlpack.CUDA, dlpack.CUDA_MANAGED):
                    return cuda(int(index))
    return cuda(0)


def read_array(array: Any, bound: Bound) -> Array:
    """What is known of an array of any library's. Raises Refused for what is none."""
    bound.keep.append(array)
    if isinstance(array, NDArray):
        bound.arrays.append(array)
        device = (array.device.device_type, array.device.index)
        return Array(array.address, array.shape, None, _code_of(array.dtype), device, array.read_only)
    if isinstance(array, np.ndarray):
        if not array.dtype.isnative:
            raise Refused(f"expected the machine's own byte order, got dtype {array.dtype.str}")
        if array.dtype.hasobject or array.dtype.names is not None:
            raise Refused(f"expected an array of numbers, got dtype {array.dtype}")
        address = array.__array_interface__["data"][0]
        strides = _in_elements(array.strides, array.shape, array.itemsize)  # pyright: ignore[reportUnknownArgumentType]
        return Array(address, array.shape, strides, _code_of(array.dtype), (dlpack.CPU, 0), not array.flags.writeable)  # pyright: ignore[reportUnknownArgumentType]
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        return _read_dlpack(array, bound)
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        return _read_cuda_interface(interface, bound)
    raise Refused(f"expected an array (NumPy, DLPack or __cuda_array_interface__), got {type(array).__name__}")


def _read_dlpack(array: Any, bound: Bound) -> Array:
    try:
        # A function reads and writes memory, of which autograd knows nothing, whoever hands it over.
        if is_of_torch(array) and array.requires_grad:
            array = array.detach()
        kind, _ = array.__dlpack_device__()
        on_gpu = kind in (dlpack.CUDA, dlpack.CUDA_MANAGED)
        # The producer makes the launch's stream wait for whatever it still has to do for the array.
        handle = (bound.stream.handle or 1) if on_gpu and bound.stream is not None else None
        found = dlpack.read_capsule(array, handle)
    except Exception as error:  # noqa: BLE001 - whatever another library raises is a reason for the user to read
        raise Refused(f"expected an array that DLPack can hand over, got {type(array).__name__}: {error}") from error
    bound.keep.append(found.keep)
    device = (found.device_type, found.device_index)
    return Array(found.address, found.shape, found.strides, found.code, device, found.read_only)


def _read_cuda_interface(interface: dict[str, Any], bound: Bound) -> Array:
    try:
        dtype = np.dtype(interface["typestr"])
        (address, read_only), shape = interface["data"], tuple(interface["shape"])
    except (KeyError, TypeError, ValueError) as error:
        raise Refused(f"expected a __cuda_array_interface__ of version 2 or 3, got one without {error}") from None
    if interface.get("mask") is not None:
        raise Refused("expected an array without mask, got a masked one")
    producer = interface.get("stream")
    if producer is not None and bound.stream is not None:
        # 1 is the default stream, in this protocol as in DLPack.
        source = Stream.from_handle(0 if producer == 1 else producer, bound.device)
        if source != bound.stream:
            bound.stream.wait(source.record(Event(bound.device, timing=False)))
    strides = interface.get("strides")
    return Array(
        address or 0, shape, None if strides is None else _in_elements(tuple(strides), shape, dtype.itemsize),
        _code_of(dtype), (dlpack.CUDA, bound.device.index), bool(read_only),
    )  # fmt: skip


@lru_cache(maxsize=256)
def _code_of(dtype: np.dtype[Any]) -> tuple[int, int, int]:
    """DLPack's code, bits and lanes of a type of NumPy's."""
    try:
        return (*dlpack.dtype_code(dtype.name), 1)  # pyright: ignore[reportUnknownArgumentType]
    except BufferError:
        raise Refused(f"expected dtype %dtype, got {dtype.name}") from None


def _in_elements(strides: tuple[int, ...], shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Strides in elements, as DLPack has them. What is no whole number of elements is no row-major array."""
    if all(stride % itemsize == 0 for stride in strides):
        return tuple(stride // itemsize for stride in strides)
    if is_row_major(shape, strides, itemsize):  # a dimension of one element may have any stride
        return tuple(-(-stride // itemsize) for stride in strides)
    elements = tuple(stride // itemsize if stride % itemsize == 0 else stride / itemsize for stride in strides)
    raise Refused(f"expected a row-major array, got strides {elements} for shape {shape}", layout=True)
