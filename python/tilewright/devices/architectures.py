"""The GPU architectures that can be compiled for."""

from __future__ import annotations

import ctypes
from functools import cache

from ..native.library import library

__all__ = ["architectures"]


@cache
def architectures() -> tuple[str, ...]:
    """The GPU architectures that can be compiled for: what LLVM's NVPTX back end and CUDA 13's linker both know.

    Example:
        >>> "sm_90a" in architectures()
        True
    """
    names = library().tilewrightArchitectures
    names.restype = ctypes.c_char_p
    return tuple(names().decode().split(", "))
