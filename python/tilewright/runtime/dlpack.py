"""DLPack, both ways: arrays of other libraries read where they are, and ours handed out.

An array of another library is read from its capsule. The capsule is kept, unconsumed, as long as the array is used.
Then the capsule's own destructor tells the producer.
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import nullcontext
from functools import cache
from typing import Any

from ..dtypes import DLPACK_CODES, DLPACK_TYPES
from ..errors import TilewrightBufferError as BufferError
from ..native.capsule import capsule_name, capsule_pointer
from ..native.library import library
from .device import cuda

__all__ = ["DLTensor", "Imported", "dtype_code", "export_capsule", "imported", "read_capsule"]

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
READ_ONLY = 1
DEVICE_NAMES = {
    1: "cpu", 2: "cuda", 3: "pinned cpu", 4: "opencl", 7: "vulkan", 8: "metal", 10: "rocm", 11: "pinned rocm",
    13: "managed cuda", 14: "oneapi", 15: "webgpu", 16: "hexagon",
}  # fmt: skip


class DLTensor(ctypes.Structure):
    """`DLTensor` of dlpack.h."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    )


class Imported:
    """An array as DLPack tells of it: strides are in elements, None where they are row-major by default."""

    __slots__ = ("address", "code", "device_index", "device_type", "dtype", "keep", "read_only", "shape", "strides")

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    code: tuple[int, int, int]
    dtype: str
    device_type: int
    device_index: int
    read_only: bool
    keep: object

    def __init__(self, tensor: DLTensor, read_only: bool, keep: object) -> None:
        ndim = tensor.ndim
        self.address = (tensor.data or 0) + tensor.byte_offset
        self.shape = tuple(tensor.shape[:ndim]) if ndim else ()
        self.strides = tuple(tensor.strides[:ndim]) if ndim and tensor.strides else None
        self.code = (tensor.code, tensor.bits, tensor.lanes)
        name = DLPACK_TYPES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
        self.dtype = name or f"DLPack type {tensor.code} with {tensor.bits} bits and {tensor.lanes} lanes"
        self.device_type, self.device_index = tensor.device_type, tensor.device_id
        self.read_only, self.keep = read_only, keep


def read_capsule(array: object, stream: int | None) -> Imported:
    """What an object with `__dlpack__` has. `stream` is the one that will use it, for arrays on a GPU: 1 is the default
    stream, as DLPack numbers them.

    Whatever `__dlpack__` raises comes through; a capsule that is none raises BufferError.
    """
    options = {} if stream is None else {"stream": stream}
    producer: Any = array
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor) and producer.is_neg():
        # torch hands over memory without this bit of it.
        raise BufferError("it is negated where it is read (is_neg), pass x.resolve_neg()")
    kind, index = producer.__dlpack_device__()
    is_on_gpu = kind in (CUDA, CUDA_MANAGED) and cuda(index).exist
    # torch hands nothing over that is on another GPU than the thread's current one.
    with cuda(index).active() if is_on_gpu else nullcontext():
        try:
            capsule = producer.__dlpack__(max_version=(1, 0), **options)
        except TypeError:
            # A producer from before DLPack 1.0 knows no versions.
            capsule = producer.__dlpack__(**options)
    return imported(capsule)


def imported(capsule: object) -> Imported:
    """What a capsule of DLPack has. Raises BufferError for one that is none, or that was used before."""
    name = capsule_name(capsule)
    if name == b"dltensor_versioned":
        versioned = _Versioned.from_address(capsule_pointer(capsule))
        if versioned.major != 1:
            raise BufferError(f"expected DLPack 1, got {versioned.major}.{versioned.minor}")
        return Imported(versioned.tensor, bool(versioned.flags & READ_ONLY), capsule)
    if name == b"dltensor":
        return Imported(DLTensor.from_address(capsule_pointer(capsule)), False, capsule)
    raise BufferError(f"expected a DLPack capsule, got one named {name!r}")


class _Python(ctypes.Structure):
    """TilewrightPython of runtime/DLPack.h."""

    _fields_ = tuple(
        (name, ctypes.c_void_p)
        for name in (
            "Py_IsInitialized", "PyGILState_Ensure", "PyGILState_Release", "Py_IncRef", "Py_DecRef",
            "PyCapsule_New", "PyCapsule_IsValid", "PyCapsule_GetPointer",
        )
    )  # fmt: skip


@cache
def _python() -> _Python:
    api = ctypes.pythonapi
    return _Python(*(ctypes.cast(getattr(api, name), ctypes.c_void_p).value for name, *_ in _Python._fields_))


@cache
def _make_capsule() -> Any:
    # With the GIL held, for it makes a Python object.
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.py_object, ctypes.c_int32, ctypes.c_uint64
    )
    return prototype(ctypes.cast(library().tilewrightDLPackCapsule, ctypes.c_void_p).value or 0)


def dtype_code(name: str) -> tuple[int, int]:
    """DLPack's code and bits for a NumPy name."""
    found = DLPACK_CODES.get(name)
    if found is None:
        raise BufferError(f"DLPack has no type for {name}")
    return found


def export_capsule(
    address: int, shape: tuple[int, ...], dtype: str, device: tuple[int, int], owner: object, versioned: bool,
    strides: tuple[int, ...] | None = None,
) -> object:  # fmt: skip
    """A capsule of an array, row-major without `strides` (in elements); `owner` lives until the consumer is done."""
    ndim = len(shape)
    row_major = [1] * ndim
    for i in reversed(range(ndim - 1)):
        row_major[i] = row_major[i + 1] * shape[i + 1]
    code, bits = dtype_code(dtype)
    extents = (ctypes.c_int64 * ndim)(*shape), (ctypes.c_int64 * ndim)(*(strides or row_major))
    tensor = DLTensor(address, *device, ndim, code, bits, 1, *extents, 0)
    return _make_capsule()(ctypes.addressof(_python()), ctypes.addressof(tensor), owner, int(versioned), 0)
