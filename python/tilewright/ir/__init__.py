"""The IR layer: the stock MLIR bindings with Tilewright's dialects and passes plugged in.

`context()` makes a context that knows what the pipeline parses and produces; `te` and `schedule` are the op classes
generated from the ODS.
"""

import ctypes
from functools import cache
from pathlib import Path

from mlir.ir import Context, DialectRegistry, Location, Module

from ..compat import attribute_of
from . import _schedule_ops_gen as schedule
from . import _te_ops_gen as te

__all__ = ["Context", "Location", "Module", "context", "library", "schedule", "te"]


@cache
def library() -> ctypes.CDLL:
    """The C++ library: dialects, passes and the run-time support, loaded once and registered with MLIR."""
    path = Path(__file__).parent.parent / "_lib" / "libtilewright.so"
    loaded = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    loaded.tilewrightRegisterDialects.argtypes = [ctypes.c_void_p]
    loaded.tilewrightRegisterPasses()
    return loaded


def _pointer(capsule: object) -> int:
    """The address inside a capsule of the bindings."""
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))


def context() -> Context:
    """A new context with Tilewright's dialects beside upstream's."""
    registry = DialectRegistry()
    library().tilewrightRegisterDialects(_pointer(registry._CAPIPtr))
    made = Context()
    made.append_dialect_registry(registry)
    # The stock bindings load what they know; ops can be built only of dialects that are loaded.
    made.load_all_available_dialects()
    # What a thread of MLIR's says in a diagnostic reaches the bindings without the interpreter's lock, which ends the
    # process. A program has one function and few kernels, so its threads would have little to do.
    made.enable_multithreading(False)
    return made


__getattr__ = attribute_of("ir", "module 'tilewright.ir'")
