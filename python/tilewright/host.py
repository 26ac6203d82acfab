"""Compiled host programs: the functions of the host stage, called in process.

A host program takes the arguments' addresses and extents, computes each kernel's launch configuration and calls a
launcher for it (docs/stages.md, host). What the launcher does is not its business: the CUDA driver, the simulator and
the recorder here are all launchers.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from mlir import ir
from mlir.execution_engine import ExecutionEngine

from .ir import library
from .ir.jit import lookup

__all__ = ["CONFIG_SIZE", "HostProgram", "KernelLaunch", "Launcher"]

CONFIG_SIZE = 7

_LaunchFunction = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.c_void_p,
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_uint64),
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_int32,
)
_HostFunction = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_SizeFunction = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


class Launcher(ctypes.Structure):
    """The struct that a host program launches through: `context` is handed back to `launch`."""

    _fields_ = (("context", ctypes.c_void_p), ("launch", ctypes.c_void_p))


class _Record(ctypes.Structure):
    _fields_ = (
        ("kernel", ctypes.c_int32),
        ("param_count", ctypes.c_int32),
        ("config", ctypes.c_uint64 * CONFIG_SIZE),
    )


class _Recorder(ctypes.Structure):
    _fields_ = (("records", ctypes.POINTER(_Record)), ("capacity", ctypes.c_int32), ("count", ctypes.c_int32))


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """One launch of a program: its numbers, and in `origin` where each came from ("grid.x": which axis and line)."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    origin: Mapping[str, str]

    def __str__(self) -> str:
        numbers = {
            **{f"grid.{axis}": extent for axis, extent in zip("xyz", self.grid)},
            **{f"block.{axis}": extent for axis, extent in zip("xyz", self.block)},
            "shared": self.shared_bytes,
        }
        lines = [self.kernel]
        for name, number in numbers.items():
            origin = self.origin.get(name)
            lines.append(f"  {name} = {number}" + (f"  ({origin})" if origin else ""))
        return "\n".join(lines)


@cache
def _record_launch() -> int:
    return ctypes.cast(library().tilewrightRecordLaunch, ctypes.c_void_p).value or 0


class HostProgram:
    """A program of the host stage, compiled by LLVM's JIT at its first use.

    `module` is the host stage's module, which is the program's own from here on; `name` picks one program where it
    holds several. Shapes are flat: the extents of all arguments in order, numbers and symbols alike. All methods may
    be called from many threads.

    >>> program = HostProgram(module)                     # doctest: +SKIP
    >>> program.launch_config([1024, 1024, 1024, 1024])   # doctest: +SKIP
    (KernelLaunch(kernel='mmult_kernel0', grid=(32, 32, 1), block=(32, 32, 1), shared_bytes=8192, origin={...}),)
    """

    def __init__(self, module: ir.Module, name: str | None = None) -> None:
        function = self._find(module, name)
        self.name: str = ir.StringAttr(function.attributes["sym_name"]).value
        self.kernels: tuple[str, ...] = tuple(
            ir.StringAttr(kernel).value for kernel in ir.ArrayAttr(function.attributes["tilewright.kernels"])
        )
        arguments = ir.ArrayAttr(function.attributes["tilewright.arguments"])
        types = [ir.MemRefType(ir.TypeAttr(ir.DictAttr(argument)["type"]).value) for argument in arguments]
        self._argument_count = len(types)
        self._extent_count = sum(type.rank for type in types)
        self._origins = self._launch_origins(function)
        self._module = module
        self._lock = threading.Lock()
        self._engine: ExecutionEngine | None = None

    @staticmethod
    def _find(module: ir.Module, name: str | None) -> ir.Operation:
        programs = {
            ir.StringAttr(op.attributes["sym_name"]).value: op.operation
            for op in module.body.operations
            if op.operation.name == "llvm.func" and "tilewright.kernels" in op.attributes
        }
        if name is None and len(programs) == 1:
            return next(iter(programs.values()))
        if name not in programs:
            wanted = "exactly one program" if name is None else f"the program {name!r}"
            raise ValueError(f"expected {wanted} in the host module, got {', '.join(programs) or 'none'}")
        return programs[name]

    @staticmethod
    def _launch_origins(function: ir.Operation) -> dict[str, dict[str, str]]:
        origins: dict[str, dict[str, str]] = {}

        def visit(op: ir.Operation) -> ir.WalkResult:
            if "tilewright.launch_origin" in op.attributes:
                kernel = ir.StringAttr(op.attributes["tilewright.kernel"]).value
                found = ir.DictAttr(op.attributes["tilewright.launch_origin"])
                origins[kernel] = {entry.name: ir.StringAttr(entry.attr).value for entry in found}
            return ir.WalkResult.ADVANCE

        function.walk(visit, ir.WalkOrder.POST_ORDER)
        return origins

    def _compile(self) -> None:
        with self._lock:
            if self._engine is not None:
                return
            # A handful of integer operations: what matters is the time to compile, not theirs.
            engine = ExecutionEngine(self._module, opt_level=1)
            self._call = _HostFunction(lookup(engine, self.name))
            self._workspace_bytes = _SizeFunction(lookup(engine, f"{self.name}_workspace_bytes"))
            self._engine = engine

    def call(self, data: Sequence[int], shape: Sequence[int], workspace: int, launcher: Launcher | int) -> int:
        """Runs the program: the arguments' addresses, their extents, the workspace's address (0 if it takes none) and
        the launcher or its address. Returns the first launch's code that is not zero, or 0."""
        if len(data) != self._argument_count:
            raise ValueError(f"expected {self._argument_count} addresses for @{self.name}, got {len(data)}")
        extents = self._extents(shape)
        if self._engine is None:
            self._compile()
        address = launcher if isinstance(launcher, int) else ctypes.addressof(launcher)
        return self._call((ctypes.c_void_p * len(data))(*data), extents, workspace or None, address)

    def workspace_bytes(self, shape: Sequence[int]) -> int:
        """The bytes of workspace that a call with these extents takes; its address must be aligned to 256 bytes."""
        extents = self._extents(shape)
        if self._engine is None:
            self._compile()
        return self._workspace_bytes(extents)

    def launch_config(self, shape: Sequence[int]) -> tuple[KernelLaunch, ...]:
        """The launches that a call with these extents makes, in order, without making them."""
        capacity = max(len(self.kernels), 1)
        while True:
            records = (_Record * capacity)()
            recorder = _Recorder(records, capacity, 0)
            launcher = Launcher(ctypes.addressof(recorder), _record_launch())
            # No kernel runs, so no address is followed.
            self.call([0] * self._argument_count, shape, 0, launcher)
            if recorder.count <= capacity:
                return tuple(self._describe(record) for record in records[: recorder.count])
            capacity = recorder.count

    def _describe(self, record: _Record) -> KernelLaunch:
        numbers = tuple(record.config)
        kernel = self.kernels[record.kernel]
        return KernelLaunch(
            kernel,
            grid=(numbers[0], numbers[1], numbers[2]),
            block=(numbers[3], numbers[4], numbers[5]),
            shared_bytes=numbers[6],
            origin=self._origins.get(kernel, {}),
        )

    def _extents(self, shape: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
        if len(shape) != self._extent_count:
            raise ValueError(f"expected {self._extent_count} extents for @{self.name}, got {len(shape)}")
        return (ctypes.c_int64 * len(shape))(*shape)
