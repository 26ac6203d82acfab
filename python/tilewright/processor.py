"""Programs for this machine's processor: from the linalg stage to machine code by LLVM's JIT.

A program is called as every host program is (docs/stages.md, host), so that the runtime treats cpu, sim and cuda
alike. It launches nothing and takes no workspace.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from mlir import ir
from mlir.execution_engine import ExecutionEngine

from .driver.pipeline import run_passes
from .errors import LaunchError
from .host import _HostFunction
from .ir.jit import lookup

__all__ = ["CPUProgram", "compile_cpu"]

PIPELINE = "builtin.module(linalg-to-cpu)"


class CPUProgram:
    """A compiled program: `address` is its machine code, `call` runs it. May be called from many threads."""

    __slots__ = ("_call", "_engine", "address", "argument_ranks", "name")

    def __init__(self, engine: ExecutionEngine, name: str, argument_ranks: tuple[int, ...]) -> None:
        self._engine = engine
        self.name = name
        self.argument_ranks = argument_ranks
        self.address = lookup(engine, name)
        self._call = _HostFunction(self.address)

    def call(self, data: Sequence[int], shape: Sequence[int]) -> None:
        """Runs the program on the arguments' addresses and all their extents, in order, numbers and symbols alike.

        The arrays are row-major and the outputs are written in place.
        """
        if len(data) != len(self.argument_ranks):
            raise ValueError(f"expected {len(self.argument_ranks)} addresses for @{self.name}, got {len(data)}")
        if len(shape) != sum(self.argument_ranks):
            raise ValueError(f"expected {sum(self.argument_ranks)} extents for @{self.name}, got {len(shape)}")
        code = self._call((ctypes.c_void_p * len(data))(*data), (ctypes.c_int64 * len(shape))(*shape), None, None)
        if code:
            raise LaunchError(f"@{self.name} returned {code}")

    def workspace_bytes(self, shape: Sequence[int]) -> int:
        """The bytes of workspace that a call takes: none, for temporaries are the program's own."""
        return 0


def _programs(module: ir.Module) -> dict[str, ir.FunctionType]:
    return {
        ir.StringAttr(op.attributes["sym_name"]).value: ir.FunctionType(
            ir.TypeAttr(op.attributes["function_type"]).value
        )
        for op in module.body.operations
        if op.operation.name == "func.func" and len(op.operation.regions[0].blocks)
    }


def compile_cpu(module: ir.Module, name: str | None = None) -> CPUProgram:
    """Compiles a module of the linalg stage, which is left as it is; `name` picks one program where it holds several.

    >>> program = compile_cpu(module)                                     # doctest: +SKIP
    >>> program.call([a.ctypes.data, b.ctypes.data], [*a.shape, *b.shape])  # doctest: +SKIP
    """
    programs = _programs(module)
    if name is None and len(programs) == 1:
        name = next(iter(programs))
    if name not in programs:
        wanted = "exactly one program" if name is None else f"the program {name!r}"
        raise ValueError(f"expected {wanted} in the module, got {', '.join(programs) or 'none'}")
    ranks = tuple(ir.RankedTensorType(type_).rank for type_ in programs[name].inputs)
    with module.context, ir.Location.unknown():
        lowered = ir.Module.parse(str(module.operation.get_asm(enable_debug_info=True)))
    run_passes(lowered, PIPELINE, f"compiling {name} for the cpu", "linalg")
    return CPUProgram(ExecutionEngine(lowered, opt_level=3), name, ranks)
