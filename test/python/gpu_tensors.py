"""Tensors on GPUs that are not there, as callers meet them: of the exchange API of DLPack, and of DLPack alone."""

from __future__ import annotations

import ctypes

import numpy as np

from tilewright.runtime.dlpack import DLTensor, dtype_code, export_capsule


class ExchangeAPI(ctypes.Structure):
    """DLPackExchangeAPI of dlpack.h."""

    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p), ("from_object", ctypes.c_void_p), ("to_object", ctypes.c_void_p),
        ("tensor_from_object", ctypes.c_void_p), ("current_stream", ctypes.c_void_p),
    )  # fmt: skip


class Tensor:
    """What torch's tensors are to a caller: a type with the exchange API of DLPack, which does not own."""

    current_stream = 0x5EED
    failing = False

    def __init__(self, array: np.ndarray, device: tuple[int, int] = (2, 0)) -> None:
        self.array, self.device = array, device
        self.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.strides = (ctypes.c_int64 * array.ndim)(*(stride // array.itemsize for stride in array.strides))

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
def tensor_from_object(tensor: Tensor, out) -> int:
    if tensor.failing:
        return -1
    code, bits = dtype_code(tensor.array.dtype.name)
    out[0] = DLTensor(
        tensor.array.ctypes.data, *tensor.device, tensor.array.ndim, code, bits, 1, tensor.shape, tensor.strides, 0
    )
    return 0


@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
def current_stream(_kind: int, device: int, out) -> int:
    out[0] = Tensor.current_stream + device
    return 0


def address(function) -> int | None:
    return ctypes.cast(function, ctypes.c_void_p).value


API = ExchangeAPI(1, 3, None, None, None, None, address(tensor_from_object), address(current_stream))
NEXT = ExchangeAPI(2, 0, ctypes.addressof(API), None, None, None, None, None)


def capsule(api: ExchangeAPI) -> object:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(ctypes.addressof(api), b"dlpack_exchange_api", None)


Tensor.__dlpack_c_exchange_api__ = capsule(API)  # type: ignore[attr-defined]


class Later(Tensor):
    """Of a later version of the protocol, which leads to the earlier one."""

    __dlpack_c_exchange_api__ = capsule(NEXT)


class Exported:
    """An array that DLPack hands over as one on that device."""

    def __init__(self, array: np.ndarray, device: tuple[int, int]) -> None:
        self.array, self.device = array, device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, *, stream: object = None, max_version: object = None, **_options: object) -> object:
        array = self.array
        return export_capsule(
            array.ctypes.data, array.shape, array.dtype.name, self.device, array, max_version is not None
        )


def tensors(n: int, device: tuple[int, int] = (2, 0), kind: type[Tensor] = Tensor) -> tuple[Tensor, Tensor]:
    return kind(np.ones(n + 4, "float32")[:n], device), kind(np.zeros(n + 4, "float32")[:n], device)
