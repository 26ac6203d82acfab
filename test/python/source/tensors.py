"""Arrays as printed host programs take them, and a way into these programs."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

CODES = {"i": 0, "u": 1, "f": 2, "b": 6}


class Tensor(ctypes.Structure):
    """DLPack's DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_index", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    )


def tensor_of(array: np.ndarray, device: int, **changed: Any) -> Tensor:
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    strides = (ctypes.c_int64 * array.ndim)(*(stride // array.itemsize for stride in array.strides))
    code = 4 if array.dtype.name == "bfloat16" else CODES[array.dtype.kind]
    made = Tensor(
        array.ctypes.data, device, 0, array.ndim, code, 8 * array.itemsize, 1,
        ctypes.addressof(shape), ctypes.addressof(strides), 0,
    )  # fmt: skip
    for name, value in changed.items():
        setattr(made, name, value)
    made.keep = (array, shape, strides)  # type: ignore[attr-defined]
    return made


def aligned(array: np.ndarray) -> np.ndarray:
    memory = np.empty(array.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    made = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


def with_entry(source: str, name: str, count: int) -> str:
    """A printed host program with a function that C can call: 0, or 1 for arguments that are refused and 2 for what the
    driver refuses, with the message."""
    arguments = ", ".join(f"*tensors[{i}]" for i in range(count))
    return (
        f"{source}#include <cstring>\n"
        f'extern "C" int call_it(Tensor **tensors, char *text) try {{\n  {name}({arguments});\n'
        "  return 0;\n} catch (const std::invalid_argument &error) { std::strcpy(text, error.what()); return 1; }\n"
        "catch (const std::runtime_error &error) { std::strcpy(text, error.what()); return 2; }\n"
    )
