"""Of TVM's `tvm.contrib` what its tutorials ask of the compiler: `nvcc`, which tells what a GPU can do."""

from __future__ import annotations

from collections.abc import Callable as _Callable

from ..tvm_compat.missing_names import attribute_of
from . import nvcc

__all__ = ["nvcc"]

__getattr__: _Callable[[str], object] = attribute_of("contrib", "module 'tilewright.contrib'")
