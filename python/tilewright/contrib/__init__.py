"""Of TVM's `tvm.contrib` what its tutorials ask of the compiler: `nvcc`, which tells what a GPU can do."""

from __future__ import annotations

from ..errors import TilewrightAttributeError as AttributeError
from . import nvcc

__all__ = ["nvcc"]


def __getattr__(name: str) -> object:
    raise AttributeError(
        f"module 'tilewright.contrib' has no attribute {name!r}: of TVM's contrib it has nvcc alone "
        "(docs/tvm-compatibility.md): kernels are compiled in process, and no external library is called"
    )
