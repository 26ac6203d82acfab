"""IR from outside, as text or bytecode."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from mlir._mlir_libs import get_dialect_registry

from ..errors import CompileError, Diagnostic
from ..native.capsule import capsule_pointer
from ..native.library import library

__all__ = ["check_readable"]


def _registry() -> Any:
    return get_dialect_registry()._CAPIPtr  # pyright: ignore[reportUnknownVariableType]


@cache
def _reader() -> tuple[Any, int]:
    """The library's function, and the dialects that are read: those that contexts have."""
    find, registry = library().tilewrightFindGivenUp, capsule_pointer(_registry())
    find.restype, find.argtypes = ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    library().tilewrightRegisterDialects(registry)
    return find, registry


def check_readable(content: str | bytes, name: str) -> None:
    """Raises CompileError where MLIR's reader would end the process.

    It does so on types of 2**63 elements, on what is nested deeper than 1000, and on some bytecode. `name` is the IR's
    name in the error. IR that the reader rejects by itself gives the reader's own error, with the place.

    >>> check_readable("func.func private @f(memref<4xf32>)", "f.mlir")
    >>> whole, part = f"memref<4x{2**63 - 1}xf32>", f"memref<2x2xf32, strided<[{2**63 - 1}, 1]>>"
    >>> view = f"%x = memref.subview %a[0, 0] [2, 2] [1, 1] : {whole} to {part}"
    >>> check_readable(f"func.func @f(%a: {whole}) {{ {view} return }}", "f.mlir")
    Traceback (most recent call last):
    ...
    tilewright.errors.CompileError: f.mlir: error: expected IR that MLIR can read, got what its reader gives up on
    """
    data = content.encode() if isinstance(content, str) else content
    find, registry = _reader()
    why = find(registry, data, len(data))
    if why is not None:
        said = f"expected IR that MLIR can read, got what its reader gives up on{': ' * bool(why)}{why.decode()}"
        found = Diagnostic("error", said, name)
        raise CompileError(str(found), diagnostics=(found,))
