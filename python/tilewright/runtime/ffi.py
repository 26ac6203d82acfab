"""tvm-ffi: the library that compiled functions raise their errors through, and what they call of the run time.

Only libtvm_ffi itself is loaded here. Its Python package is imported where a user asks for a `tvm_ffi.Function`: it
imports torch wherever torch is installed, which takes seconds.
"""

from __future__ import annotations

import ctypes
import importlib.util
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from ..errors import (
    DriverError,
    LaunchError,
    SimulationError,
    TilewrightMemoryError,
    TilewrightTypeError,
    TilewrightValueError,
)
from ..native.library import library

__all__ = ["Any_", "libtvm_ffi", "libtvm_ffi_path", "raise_error", "register_errors", "run_time_symbols"]

TYPE_DLTENSOR = 7
TYPE_LEFT_OUT = -1  # none of tvm-ffi's: what a call leaves out (TilewrightTypeLeftOut)
_CELL = 24  # of an object, after its header

# What compiled host functions call (runtime/host/ABI.h).
_RUN_TIME = (
    "tilewrightHostBind",
    "tilewrightHostShareMemory",
    "tilewrightHostAllocate",
    "tilewrightHostCallAllocating",
    "tilewrightHostCallModel",
    "tilewrightHostDispatch",
    "tilewrightHostReturnText",
    "tilewrightHostRunCuda",
    "tilewrightHostRunManaged",
    "tilewrightHostLoad",
    "tilewrightHostLoadModel",
    "tilewrightHostParallel",
    "tilewrightSimRun",
)
_KINDS: dict[str, type[Exception]] = {
    "TypeError": TilewrightTypeError,
    "ValueError": TilewrightValueError,
    "MemoryError": TilewrightMemoryError,
    "RuntimeError": LaunchError,
    "SimulationError": SimulationError,
}


class Any_(ctypes.Structure):
    """TVMFFIAny."""

    _fields_ = (("type", ctypes.c_int32), ("padding", ctypes.c_uint32), ("pointer", ctypes.c_void_p))


class _Bytes(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_size_t))


class _Failure(ctypes.Structure):
    """TilewrightFailure of runtime/host/ABI.h."""

    _fields_ = (
        ("call", ctypes.c_char_p),
        ("code", ctypes.c_int32),
        ("name", ctypes.c_char_p),
        ("detail", ctypes.c_char * 2048),
    )


def libtvm_ffi_path() -> Path:
    """Where libtvm_ffi is."""
    spec = importlib.util.find_spec("tvm_ffi")
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    for folder in folders:
        path = Path(folder) / "lib" / "libtvm_ffi.so"
        if path.exists():
            return path
    raise LaunchError("libtvm_ffi.so was not found: install the package apache-tvm-ffi")


@cache
def libtvm_ffi() -> ctypes.CDLL:
    """libtvm_ffi, the one that tvm-ffi's Python package uses, loaded and made known to the run time."""
    path = libtvm_ffi_path()
    loaded = ctypes.CDLL(str(path))
    loaded.TVMFFIErrorMoveFromRaised.argtypes = (ctypes.POINTER(ctypes.c_void_p),)
    loaded.TVMFFIErrorMoveFromRaised.restype = None
    loaded.TVMFFIObjectDecRef.argtypes = (ctypes.c_void_p,)
    runtime = library()
    runtime.tilewrightOpenFFI.argtypes = (ctypes.c_char_p,)
    runtime.tilewrightOpenFFI.restype = ctypes.c_char_p
    runtime.tilewrightHostTakeFailure.restype = ctypes.POINTER(_Failure)
    missing = runtime.tilewrightOpenFFI(str(path).encode())
    if missing is not None:
        raise LaunchError(f"{path} has no {missing.decode()}: install a newer apache-tvm-ffi")
    return loaded


@cache
def run_time_symbols() -> dict[str, int]:
    """What compiled host functions call, by name."""
    libtvm_ffi()
    runtime = library()
    return {name: ctypes.cast(getattr(runtime, name), ctypes.c_void_p).value or 0 for name in _RUN_TIME}


@cache
def register_errors() -> None:
    """Lets tvm-ffi raise our own errors by their class."""
    import tvm_ffi

    tvm_ffi.register_error("SimulationError", SimulationError)


def raise_error() -> NoReturn:
    """Raises what a function of tvm-ffi's ABI has raised in this thread, as the Python exception of its kind."""
    loaded = libtvm_ffi()
    handle = ctypes.c_void_p()
    loaded.TVMFFIErrorMoveFromRaised(ctypes.byref(handle))
    if not handle.value:
        raise LaunchError("a compiled function failed and did not say why")
    try:
        kind, message = (
            ctypes.string_at(cell.data, cell.size).decode(errors="replace")
            for cell in (_Bytes * 2).from_address(handle.value + _CELL)
        )
    finally:
        loaded.TVMFFIObjectDecRef(handle)
    if kind == "KeyboardInterrupt":
        from .interrupts import raise_interrupt

        raise_interrupt()
    failure: Any = library().tilewrightHostTakeFailure()
    if kind == "RuntimeError" and failure and failure.contents.call is not None:
        found = failure.contents
        error = DriverError(found.call.decode(), found.code, found.name.decode(), found.detail.decode(errors="replace"))
        # A failure that tvm-ffi has raised is still there when something else fails later.
        if str(error) == message:
            raise error
    raise _KINDS.get(kind, LaunchError)(message)
