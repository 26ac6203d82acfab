"""IR from outside, as text or bytecode."""

from __future__ import annotations

import ctypes
import re
from functools import cache
from typing import Any

from mlir._mlir_libs import get_dialect_registry

from ..errors import CompileError, Diagnostic
from ..native.capsule import capsule_pointer
from ..native.library import library

__all__ = ["check_readable"]


@cache
def _reader() -> tuple[Any, int]:
    """The library's function, and the dialects that are read: those that contexts have."""
    find, registry = library().tilewrightFindGivenUp, capsule_pointer(get_dialect_registry()._CAPIPtr)
    find.restype, find.argtypes = ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    library().tilewrightRegisterDialects(registry)
    return find, registry


_MAX_NESTING = 1000
"""MLIR's reader, its printer and many passes call themselves for each level, until the stack ends."""
_BYTECODE = b"ML\xefR"
_PIECE = re.compile(rb'"(?:[^"\\\n]|\\.)*"?|//[^\n]*|->|>=|(?:-\s*)+|[(\[{<]|[)\]}>]')
"""Strings, comments and arrows, whose brackets are none; signs; brackets."""


def _is_nested_too_deep(text: bytes) -> bool:
    if text.startswith(_BYTECODE) or sum(map(text.count, (b"(", b"[", b"{", b"<", b"-"))) <= _MAX_NESTING:
        return False
    depth = 0
    for found in _PIECE.finditer(text):
        piece = found.group()
        if piece in (b"(", b"[", b"{", b"<"):
            depth += 1
        elif piece in (b")", b"]", b"}", b">"):
            depth = max(depth - 1, 0)
        if depth > _MAX_NESTING or (piece.startswith(b"-") and piece.count(b"-") > _MAX_NESTING):
            return True
    return False


def check_readable(content: str | bytes, name: str) -> None:
    """Raises CompileError where MLIR's reader would end the process.

    It does so on types of 2**63 elements and on some bytecode. `name` is the IR's name in the error. IR that the reader
    rejects by itself gives the reader's own error, with the place.

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
    deep = f"brackets or signs nested deeper than {_MAX_NESTING}".encode()
    why = deep if _is_nested_too_deep(data) else find(registry, data, len(data))
    if why is not None:
        said = f"expected IR that MLIR can read, got what its reader gives up on{': ' * bool(why)}{why.decode()}"
        found = Diagnostic("error", said, name)
        raise CompileError(str(found), diagnostics=(found,))
