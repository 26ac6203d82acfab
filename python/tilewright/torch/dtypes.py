"""Element types of PyTorch as NumPy's."""

from __future__ import annotations

import torch

from ..errors import CompileError

__all__ = ["dtype_name", "torch_dtype"]

_NAMES = {
    torch.float64: "float64", torch.float32: "float32", torch.float16: "float16", torch.bfloat16: "bfloat16",
    torch.int64: "int64", torch.int32: "int32", torch.int16: "int16", torch.int8: "int8", torch.uint8: "uint8",
    torch.bool: "bool", torch.uint16: "uint16", torch.uint32: "uint32", torch.uint64: "uint64",
    torch.float8_e4m3fn: "float8_e4m3fn", torch.float8_e5m2: "float8_e5m2",
}  # fmt: skip
_TYPES = {name: dtype for dtype, name in _NAMES.items()}


def dtype_name(dtype: torch.dtype) -> str:
    """NumPy's name of an element type.

    >>> dtype_name(torch.bfloat16)
    'bfloat16'
    """
    if dtype not in _NAMES:
        raise CompileError(f"expected an element type that te has, got {dtype}", stage="graph")
    return _NAMES[dtype]


def torch_dtype(name: str) -> torch.dtype:
    """The element type of that name in NumPy.

    >>> torch_dtype("int8")
    torch.int8
    """
    return _TYPES[name]
