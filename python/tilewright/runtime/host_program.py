"""Compiled host programs: the functions of the host stage, called in process.

A host program takes the arguments' addresses and extents, computes each kernel's launch configuration and calls a
launcher for it (docs/stages.md, host). What the launcher does is not its business: the CUDA driver, the simulator and
the recorder here are all launchers.
"""

from __future__ import annotations

import ctypes
import io
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from mlir import ir
from mlir.passmanager import PassManager

from ..errors import TilewrightValueError as ValueError
from ..ir.launch_options import launch_options
from ..ir.running import run_manager
from ..native.jit import Engine, lookup
from ..native.library import library

if TYPE_CHECKING:
    import tvm_ffi

    from .simulator import Simulator

__all__ = ["CONFIG_SIZE", "HostFunction", "HostProgram", "KernelLaunch", "Launcher"]

CONFIG_SIZE = 7

_LaunchFunction = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.c_void_p,
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_uint64),
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_int32,
)
HostFunction: Any = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_SizeFunction = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


_TARGETS = ("cuda", "cpu", "sim")

# Whether LLVM optimizes the loops of target cpu, which takes most of the time to compile them. Tests of small programs
# clear it.
optimizes = True


class Launcher(ctypes.Structure):
    """The struct that a host program launches through: `context` is handed back to `launch`, and to `encode`, which
    makes tensor maps."""

    _fields_ = (("context", ctypes.c_void_p), ("launch", ctypes.c_void_p), ("encode", ctypes.c_void_p))


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
    """One launch of a program: its numbers, and in `origin` where each came from ("grid.x": which axis and line).

    `dependent` and `cooperative` are what `Schedule.launch` says, `cluster` what that says or `Stage.cluster`.
    `formula` has the expressions of numbers that depend on symbolic extents.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    origin: Mapping[str, str]
    cluster: tuple[int, int, int] = (1, 1, 1)
    dependent: bool = False
    cooperative: bool = False
    formula: Mapping[str, str] = field(default_factory=dict[str, str])

    def __str__(self) -> str:
        numbers = {
            **{f"grid.{axis}": extent for axis, extent in zip("xyz", self.grid)},
            **{f"block.{axis}": extent for axis, extent in zip("xyz", self.block)},
            "shared": self.shared_bytes,
        }
        lines = [self.kernel]
        for name, number in numbers.items():
            said = [text for text in (self.origin.get(name), self.formula.get(name)) if text]
            lines.append(f"  {name} = {number}" + (f"  ({': '.join(said)})" if said else ""))
        if self.cluster != (1, 1, 1):
            lines.append(f"  cluster = {self.cluster}")
        lines.extend(f"  {name}" for name in ("dependent", "cooperative") if getattr(self, name))
        return "\n".join(lines)


_STATE_OFFSET = 48  # of the state in TilewrightProgram (runtime/host/ABI.h)


@cache
def _run_functions() -> dict[str, Any]:
    """What runs a TilewrightProgram, by target, or "managed"."""
    loaded = library()
    found = {
        "cuda": loaded.tilewrightHostRunCuda,
        "managed": loaded.tilewrightHostRunManaged,
        "sim": loaded.tilewrightSimRun,
    }
    for function in found.values():
        function.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
    return found


def _unload(program: int, engine: Engine) -> None:
    unload = library().tilewrightHostUnloadCuda
    unload.argtypes, unload.restype = (ctypes.c_void_p,), None
    unload(program)
    del engine


def bytecode(module: ir.Module) -> bytes:
    """The module, for `ir.Module.parse` to make a copy of."""
    stream = io.BytesIO()
    module.operation.write_bytecode(stream)
    return stream.getvalue()


@cache
def _recorder_functions() -> tuple[int, int]:
    functions = (library().tilewrightRecordLaunch, library().tilewrightRecordEncode)
    launch, encode = (ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions)
    return launch, encode


class HostProgram:
    """A program of the host stage, compiled by LLVM's JIT at its first use.

    `module` is the host stage's module; the program takes it over. `name` picks one program if the module holds
    several. Shapes are flat: the extents of all arguments in order, with numbers and symbols alike, and the bits of
    arguments that are numbers. All methods may be called from many threads.

    It also compiles the function of tvm-ffi's ABI (the pass convert-host-to-ffi). That function checks its arguments
    and then runs the program on `target`: "cuda" with the `cubins` by architecture, "cpu", or "sim". `attach` sets the
    simulator.

    >>> program = HostProgram(module)                     # doctest: +SKIP
    >>> program.launch_config([1024, 1024, 1024, 1024])   # doctest: +SKIP
    (KernelLaunch(kernel='mmult_kernel0', grid=(32, 32, 1), block=(32, 32, 1), shared_bytes=8192, origin={...}),)
    """

    cubins: dict[str, bytes]
    is_managed: bool

    def __init__(
        self,
        module: ir.Module,
        name: str | None = None,
        target: str = "cuda",
        cubins: Mapping[str, bytes] | None = None,
        *,
        managed: bool = False,
    ) -> None:
        if target not in _TARGETS:
            raise ValueError(f"expected a target of {', '.join(_TARGETS)}, got {target!r}")
        function = self._find(module, name)
        self.name: str = ir.StringAttr(function.attributes["sym_name"]).value
        self.kernels: tuple[str, ...] = tuple(
            ir.StringAttr(kernel).value for kernel in ir.ArrayAttr(function.attributes["tilewright.kernels"])
        )
        arguments = ir.ArrayAttr(function.attributes["tilewright.arguments"])
        types = [ir.TypeAttr(ir.DictAttr(argument)["type"]).value for argument in arguments]
        self._argument_count = len(types)
        # A number has one place among the extents, and the strides of a tensor that has its own are there, too.
        self._extent_count = sum(
            ir.ShapedType(type).rank * (1 + ("te.strides" in argument)) if isinstance(type, ir.ShapedType) else 1
            for type, argument in zip(types, map(ir.DictAttr, arguments))
        )
        self._origins, self._clusters = self._launches(function)
        self._launch = launch_options(function)
        self.target, self.cubins, self.is_managed = target, dict(cubins or {}), managed
        self._module = module
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._simulator: Simulator | None = None

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
    def _launches(function: ir.Operation) -> tuple[dict[str, dict[str, str]], dict[str, tuple[int, int, int]]]:
        """By kernel, what the launches say: where their numbers come from, and the blocks of a cluster."""
        origins: dict[str, dict[str, str]] = {}
        clusters: dict[str, tuple[int, int, int]] = {}

        def visit(op: ir.Operation) -> ir.WalkResult:
            if "tilewright.launch_origin" in op.attributes:
                found = ir.DictAttr(op.attributes["tilewright.launch_origin"])
                kernel = ir.StringAttr(op.attributes["tilewright.kernel"]).value
                origins[kernel] = {entry.name: ir.StringAttr(entry.attr).value for entry in found}
            if "tilewright.cluster" in op.attributes:
                x, y, z = ir.DenseI32ArrayAttr(op.attributes["tilewright.cluster"])
                clusters[ir.StringAttr(op.attributes["tilewright.kernel"]).value] = x, y, z
            return ir.WalkResult.ADVANCE

        function.walk(visit, ir.WalkOrder.POST_ORDER)
        return origins, clusters

    def ffi_module(self, *, export: bool = False) -> ir.Module:
        """The module that is compiled: the program, and the functions of tvm-ffi's ABI around it. With `export` they
        alone can be seen from outside, as in an exported library."""
        with self._module.context:
            module = ir.Module.parse(bytecode(self._module))
            if self.cubins:
                images = {arch: ir.StringAttr.get(image) for arch, image in self.cubins.items()}
                self._find(module, self.name).attributes["tilewright.cubins"] = ir.DictAttr.get(images)
            options = f"target={self.target}" + " managed=true" * self.is_managed + " export=true" * export
            manager = PassManager.parse(f"builtin.module(convert-host-to-ffi{{{options}}})")
            run_manager(manager, module.operation, verifies_each=False)
            return module

    def _compile(self) -> None:
        from .ffi import run_time_symbols

        with self._lock:
            if self._engine is not None:
                return
            # For a GPU a handful of integer operations: what matters is the time to compile, not theirs. At level 0,
            # which compiles in a third of the time, they would delay launches; beside the simulator that is nothing.
            levels = {"cpu": 3 if optimizes else 0, "cuda": 1, "sim": 0}
            level = levels[self.target]
            engine = Engine(self.ffi_module(), level, run_time_symbols(), is_quick=not level)
            self._call = HostFunction(lookup(engine, self.name))
            self._workspace_bytes = _SizeFunction(lookup(engine, f"{self.name}_workspace_bytes"))
            self._entry = lookup(engine, f"{self.name}_call")
            self._safe_call = lookup(engine, f"__tvm_ffi_{self.name}")
            self._program = 0
            if self.target != "cpu":
                self._program = lookup(engine, f"{self.name}_program")
                state = self._simulator and self._simulator.handle
                ctypes.c_void_p.from_address(self._program + _STATE_OFFSET).value = state
            if self.target == "cuda":
                weakref.finalize(self, _unload, self._program, engine).atexit = False
            self._engine = engine

    @property
    def engine(self) -> Engine:
        """What the compiled functions live in."""
        if self._engine is None:
            self._compile()
        assert self._engine is not None
        return self._engine

    @property
    def entry(self) -> int:
        """The address of `i32 (stream: void**, args: TVMFFIAny*, count: i32)`, which checks and runs."""
        return self.engine and self._entry

    @property
    def safe_call(self) -> int:
        """The address of the function of tvm-ffi's ABI."""
        return self.engine and self._safe_call

    @property
    def program(self) -> int:
        """The address of the TilewrightProgram, 0 for target cpu."""
        return self.engine and self._program

    @cached_property
    def ffi(self) -> tvm_ffi.Function:
        """The function of tvm-ffi's ABI, as tvm-ffi's Python package has functions; it keeps the program alive."""
        from .ffi import register_errors

        register_errors()
        import tvm_ffi

        return tvm_ffi.Function.__from_extern_c__(self.safe_call, keep_alive_object=self)

    def attach(self, simulator: Simulator) -> None:
        """Which simulator runs a program of target "sim". It lives as long as the program does."""
        self._simulator = simulator

    def run(self, data: Sequence[int], shape: Sequence[int], device: int = 0, stream: int | None = 0) -> None:
        """Runs the program on checked arguments, on the GPU with that number and on that stream.

        If the stream is None, it is that of tvm-ffi's environment.

        Raises what the launches raise: DriverError, LaunchError, SimulationError.
        """
        if self.target == "cpu":
            code = self.call(data, shape, 0, 0)
        else:
            run = _run_functions()["managed" if self.is_managed else self.target]
            addresses, extents = (ctypes.c_void_p * len(data))(*data), self._extents(shape)
            on = None if stream is None else ctypes.byref(ctypes.c_void_p(stream))
            code = run(self.program, on, device, addresses, extents)
        if code:
            from .ffi import raise_error

            raise_error()

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
            launcher = Launcher(ctypes.addressof(recorder), *_recorder_functions())
            # No kernel runs, so no address is followed.
            self.call([0] * self._argument_count, shape, 0, launcher)
            if recorder.count <= capacity:
                return tuple(self._describe(record) for record in records[: recorder.count])
            capacity = recorder.count

    def _describe(self, record: _Record) -> KernelLaunch:
        numbers = tuple(record.config)
        kernel = self.kernels[int(record.kernel)]
        return KernelLaunch(
            kernel,
            grid=(numbers[0], numbers[1], numbers[2]),
            block=(numbers[3], numbers[4], numbers[5]),
            shared_bytes=numbers[6],
            origin=self._origins.get(kernel, {}),
            cluster=self._clusters.get(kernel, (1, 1, 1)),
            dependent="dependent" in self._launch,
            cooperative="cooperative" in self._launch,
        )

    def _extents(self, shape: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
        if len(shape) != self._extent_count:
            raise ValueError(f"expected {self._extent_count} extents for @{self.name}, got {len(shape)}")
        return (ctypes.c_int64 * len(shape))(*shape)
