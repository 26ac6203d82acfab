"""LLVM's JIT: modules of LLVM's dialect as machine code in this process."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Mapping
from functools import cache
from typing import Any

from mlir import ir

from ..errors import CompileError, LaunchError
from .capsule import capsule_pointer
from .interruptible import interruptibly
from .library import library

__all__ = ["Engine", "lookup"]

_Say = ctypes.CFUNCTYPE(None, ctypes.c_char_p)


class _Handle(ctypes.Structure):
    _fields_ = (("pointer", ctypes.c_void_p),)


@cache
def _functions() -> tuple[Any, Any, Any]:
    loaded = library()
    # Who listens to MLIR's diagnostics is Python, so that its lock has to be held.
    create = ctypes.PYFUNCTYPE(
        ctypes.c_void_p,
        *(_Handle, ctypes.c_int32, ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, _Say),
    )(("tilewrightJITCreate", loaded))
    find, destroy = loaded.tilewrightJITLookup, loaded.tilewrightJITDestroy
    find.argtypes, find.restype = (ctypes.c_void_p, ctypes.c_char_p), ctypes.c_uint64
    destroy.argtypes, destroy.restype = (ctypes.c_void_p,), None
    return create, find, destroy


class Engine:
    """The machine code of a module, which lives as long as this does.

    The first `lookup` compiles it, after LLVM's passes of `level`, from 0 to 3. With `is_quick` the code is not
    optimized, and made in a third of the time. `symbols` are the addresses of what the module only declares.
    """

    def __init__(
        self, module: ir.Module, level: int, symbols: Mapping[str, int] | None = None, *, is_quick: bool = False
    ) -> None:
        create, _, destroy = _functions()
        given = dict(symbols or {})
        names = (ctypes.c_char_p * len(given))(*(name.encode() for name in given))
        addresses = (ctypes.c_uint64 * len(given))(*given.values())
        said = list[bytes]()
        handle = create(
            _Handle(capsule_pointer(module.operation._CAPIPtr)),
            *(level, is_quick, ctypes.addressof(names), ctypes.addressof(addresses), len(given), _Say(said.append)),
        )
        if not handle:
            why = said[0].decode() or "it does not translate to LLVM IR"
            raise CompileError(f"no machine code of this module: {why}", stage="host")
        self.handle: int = handle
        # What still runs at the process's end may be this code.
        weakref.finalize(self, destroy, handle).atexit = False


def lookup(engine: Engine, name: str) -> int:
    """The address of a function or global in `engine`.

    Raises LaunchError if there is no such symbol.
    """
    find = _functions()[1]

    def found(held: Engine = engine) -> int:  # the first look-up is what compiles
        return find(held.handle, name.encode())

    address = interruptibly(found)
    if not address:
        raise LaunchError(f"the compiled program has no symbol {name}")
    return address
