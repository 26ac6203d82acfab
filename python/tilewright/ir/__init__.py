"""The IR layer: the stock MLIR bindings with Tilewright's dialects and passes plugged in.

`context()` makes a context that knows what the pipeline parses and produces; `te` and `schedule` are the op classes
generated from the ODS. So are those of `tile`, which are there once somebody asks for them.
"""

import sys
from types import ModuleType

from mlir import ir as mlir_ir
from mlir.ir import Context, DialectRegistry, Location, Module

from ..native.capsule import capsule_pointer
from ..native.library import library
from ..tvm_compat.lowered_module import add_methods
from ..tvm_compat.missing_names import attribute_of
from . import _graph_ops_gen as graph
from . import _schedule_ops_gen as schedule
from . import _te_ops_gen as te

__all__ = ["Context", "Location", "Module", "context", "graph", "schedule", "te"]

add_methods()

# Where the bindings look for an op's class. Of a dialect without such a module they search the disk at each op.
sys.modules["mlir.dialects.te"] = te
sys.modules["mlir.dialects.graph"] = graph
sys.modules["mlir.dialects.schedule"] = schedule
sys.modules["mlir.dialects.tilewright"] = ModuleType("mlir.dialects.tilewright")  # attributes alone

# What the front end makes ops of.
_FRONT_END = ["affine", "arith", "func", "math", "memref", "schedule", "scf", "te", "tensor", "tilewright"]


def context(*, front_end: bool = False) -> mlir_ir.Context:
    """A new context with Tilewright's dialects beside upstream's.

    All dialects are loaded, because the bindings make ops of loaded dialects only. With `front_end`, only the front
    end's dialects are loaded, in a fifth of the time. The parser and the passes load the dialects that they need.
    """
    registry = DialectRegistry()
    library().tilewrightRegisterDialects(capsule_pointer(registry._CAPIPtr))
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
    if name == "tile":  # the front end makes none of its ops, so that it need not wait for these classes
        from . import _tile_ops_gen as tile

        sys.modules["mlir.dialects.tile"] = tile
        return tile
    return _missing(name)
