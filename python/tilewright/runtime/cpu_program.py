"""Programs for this machine's processor: from the linalg or loops stage to machine code by LLVM's JIT.

A program is called as every host program is (docs/stages.md, host), so that the runtime treats cpu, sim and cuda
alike. It launches nothing and takes no workspace.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from ..errors import LaunchError
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..ir.passes import run_passes
from ..native.jit import lookup
from ..native.library import library
from .host_program import HostProgram, bytecode

__all__ = ["CPUProgram", "compile_cpu", "num_threads", "set_num_threads"]

PIPELINE = "builtin.module(linalg-to-cpu)"


class CPUProgram(HostProgram):
    """A compiled program, which launches nothing and takes no workspace. May be called from many threads."""

    def __init__(self, module: ir.Module, name: str) -> None:
        super().__init__(module, name, "cpu")
        self._compile()

    @property
    def address(self) -> int:
        """The program's machine code."""
        return lookup(self.engine, self.name)

    def run(self, data: Sequence[int], shape: Sequence[int], device: int = 0, stream: int | None = 0) -> None:
        """Runs the program on the arguments' addresses and all their extents, in order, numbers and symbols alike.

        The arrays are row-major and the outputs are written in place.
        """
        code = self.call(data, shape, 0, 0)
        if code:
            raise LaunchError(f"@{self.name} returned {code}")


def num_threads() -> int:
    """How many CPU threads a parallel loop gets.

    It is the number of `set_num_threads`, if that was called. Else it is that of the environment's
    TILEWRIGHT_NUM_THREADS, TVM_NUM_THREADS or OMP_NUM_THREADS, in this order. Else it is the number of CPUs that this
    process may use.

    >>> import tilewright as tw
    >>> tw.set_num_threads(2)
    >>> tw.num_threads()
    2
    >>> tw.set_num_threads(None)
    """
    return library().tilewrightHostThreads()


def set_num_threads(count: int | None) -> None:
    """Sets how many threads of the processor a parallel loop gets, at most 256; None is for what the environment says.

    Exported libraries have threads of their own, as the environment says.

    Raises
    ------
    TypeError, ValueError
        Where the count is no integer of at least 1.

    >>> import tilewright as tw
    >>> tw.set_num_threads(1)
    >>> tw.set_num_threads(None)
    """
    if count is not None and (not isinstance(count, int) or isinstance(count, bool)):
        raise TypeError(f"expected a number of threads or None, got {type(count).__name__}")
    if count is not None and not 1 <= count <= 256:
        raise ValueError(f"expected from 1 to 256 threads, got {count}")
    library().tilewrightHostSetThreads(count or 0)


def _programs(module: ir.Module) -> dict[str, ir.FunctionType]:
    return {
        ir.StringAttr(op.attributes["sym_name"]).value: ir.FunctionType(
            ir.TypeAttr(op.attributes["function_type"]).value
        )
        for op in module.body.operations
        if op.operation.name == "func.func" and len(op.operation.regions[0].blocks)
    }


def compile_cpu(module: ir.Module, name: str | None = None) -> CPUProgram:
    """Compiles a module of the linalg stage, or of target cpu's loops stage. The module is not changed. `name` picks
    one program if it holds several.

    >>> program = compile_cpu(module)                                     # doctest: +SKIP
    >>> program.run([a.ctypes.data, b.ctypes.data], [*a.shape, *b.shape])  # doctest: +SKIP
    """
    programs = _programs(module)
    if name is None and len(programs) == 1:
        name = next(iter(programs))
    if name not in programs:
        wanted = "exactly one program" if name is None else f"the program {name!r}"
        raise ValueError(f"expected {wanted} in the module, got {', '.join(programs) or 'none'}")
    with module.context, ir.Location.unknown():
        lowered = ir.Module.parse(bytecode(module))
    run_passes(lowered, PIPELINE, f"compiling {name} for the cpu", "linalg", verifies_each=False)
    return CPUProgram(lowered, name)
