"""The IR layer: the stock MLIR bindings with Tilewright's dialects and passes plugged in.

`context()` makes a context that knows what the pipeline parses and produces; `te` and `schedule` are the op classes
generated from the ODS.
"""

import ctypes
import sys
from functools import cache
from pathlib import Path

from mlir.ir import Context, DialectRegistry, Location, Module

from ..compat import attribute_of
from . import _schedule_ops_gen as schedule
from . import _te_ops_gen as te

__all__ = ["Context", "Location", "Module", "compiler_identity", "context", "library", "schedule", "te"]

# Where the bindings look for an op's class. Of a dialect without such a module they search the disk at each op.
sys.modules["mlir.dialects.te"] = te
sys.modules["mlir.dialects.schedule"] = schedule

# What the front end makes ops of.
_FRONT_END = ["affine", "arith", "func", "math", "memref", "schedule", "scf", "te", "tensor"]


@cache
def library() -> ctypes.CDLL:
    """The C++ library: dialects, passes and the run-time support, loaded once and registered with MLIR."""
    path = Path(__file__).parent.parent / "_lib" / "libtilewright.so"
    # Not RTLD_GLOBAL: that would put libLLVM's symbols before those of every library loaded later. The LLVM inside of
    # Triton or torch would register its options with ours, which aborts the process.
    loaded = ctypes.CDLL(str(path))
    loaded.tilewrightRegisterDialects.argtypes = [ctypes.c_void_p]
    loaded.tilewrightRegisterPasses()
    return loaded


@cache
def compiler_identity() -> str:
    """A line for each library that has part in what a program compiles to, with a hash of its contents."""
    identity = library().tilewrightCompilerIdentity
    identity.restype = ctypes.c_char_p
    return identity().decode()


def _pointer(capsule: object) -> int:
    """The address inside a capsule of the bindings."""
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))


def context(*, front_end: bool = False) -> Context:
    """A new context with Tilewright's dialects beside upstream's.

    All are loaded, for the bindings make ops of loaded dialects only; with `front_end` those that the front end makes
    ops of, in a fifth of the time. What is parsed, and passes, load what they need by themselves.
    """
    registry = DialectRegistry()
    library().tilewrightRegisterDialects(_pointer(registry._CAPIPtr))
    made = Context(load_on_create_dialects=[])  # pyright: ignore[reportCallIssue] - the stubs show the class below it
    made.append_dialect_registry(registry)
    if front_end:
        for dialect in _FRONT_END:
            _ = made.dialects[dialect]
    else:
        made.load_all_available_dialects()
    # What a thread of MLIR's says in a diagnostic reaches the bindings without the interpreter's lock, which ends the
    # process. A program has one function and few kernels, so its threads would have little to do.
    made.enable_multithreading(False)
    return made


_missing = attribute_of("ir", "module 'tilewright.ir'")


def __getattr__(name: str) -> object:
    # What scripts for TVM look for here; te is made on top of this package.
    if name == "Array":
        from ..te.extents import Array

        return Array
    if name == "PrimExpr":
        from ..te.expr import Expr

        return Expr
    return _missing(name)
