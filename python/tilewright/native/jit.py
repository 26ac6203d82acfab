"""LLVM's JIT: what the bindings' ExecutionEngine leaves out."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

from mlir import _mlir_libs
from mlir.execution_engine import ExecutionEngine

from ..errors import LaunchError
from .capsule import capsule_pointer
from .interruptible import interruptibly

__all__ = ["lookup"]


class _StringRef(ctypes.Structure):
    _fields_ = (("data", ctypes.c_char_p), ("length", ctypes.c_size_t))


class _Handle(ctypes.Structure):
    _fields_ = (("pointer", ctypes.c_void_p),)


@cache
def _engine_lookup() -> Any:
    path = Path(_mlir_libs.__file__).parent / "libMLIRPythonCAPI.so"
    function = ctypes.CDLL(str(path)).mlirExecutionEngineLookup
    function.restype = ctypes.c_void_p
    function.argtypes = (_Handle, _StringRef)
    return function


def lookup(engine: ExecutionEngine, name: str) -> int:
    """The address of a function or global in `engine`. The bindings' own lookup gives MLIR's packed wrapper instead.

    Raises LaunchError if there is no such symbol.
    """
    encoded = name.encode()

    def find(held: ExecutionEngine = engine) -> int | None:  # the first look-up is what compiles
        return _engine_lookup()(_Handle(capsule_pointer(held._CAPIPtr)), _StringRef(encoded, len(encoded)))

    address = interruptibly(find)
    if not address:
        raise LaunchError(f"the compiled program has no symbol {name}")
    return address
