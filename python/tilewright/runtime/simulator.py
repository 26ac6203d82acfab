"""The simulator: the kernels of the gpu stage, run on the processor.

Blocks run in sequence. The threads of a block are fibers, which continue when the others have reached the barrier. With
checks on, every memory access is checked before it is made. Errors that a GPU hides become a SimulationError. These are
accesses out of bounds, reads of unwritten memory, races on shared memory, and barriers that not all threads reach.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from mlir import ir
from mlir.passmanager import PassManager

from ..errors import SimulationError
from ..ir.diagnostics import MLIRError
from ..ir.passes import compile_error
from ..ir.running import run_manager
from ..native.jit import Engine, lookup
from ..native.library import library
from .host_program import CONFIG_SIZE, Launcher, bytecode
from .interrupts import raise_interrupt, watch_for_interrupts
from .timeline import RawEvent, Timeline, read_events

__all__ = [
    "Buffer",
    "Simulator",
    "compile_sim",
]

# Whether LLVM optimizes what runs, which takes most of the time to compile it. Tests of small kernels clear it.
optimizes = True

# What compiled kernels call (runtime/sim/ABI.h).
_RUNTIME = (
    "tw_sim_barrier",
    "tw_sim_poll",
    "tw_sim_end",
    "tw_sim_shuffle",
    "tw_sim_load_matrices",
    "tw_sim_multiply",
    "tw_sim_load_global",
    "tw_sim_store_global",
    "tw_sim_load_shared",
    "tw_sim_store_shared",
    "tw_sim_copy_shared",
    "tw_sim_commit_copies",
    "tw_sim_wait_copies",
    "tw_sim_report",
    "tw_sim_load_bytes",
    "tw_sim_store_bytes",
    "tw_sim_store_matrices",
    "tw_sim_elect",
    "tw_sim_named_arrive",
    "tw_sim_named_barrier",
    "tw_sim_cluster_arrive",
    "tw_sim_cluster_arrive_relaxed",
    "tw_sim_cluster_wait",
    "tw_sim_peer_address",
    "tw_sim_set_registers",
    "tw_sim_fence",
    "tw_sim_start_barrier",
    "tw_sim_arrive",
    "tw_sim_wait_phase",
    "tw_sim_load_tile",
    "tw_sim_check_place",
    "tw_sim_store_tile",
    "tw_sim_commit_stores",
    "tw_sim_wait_stores",
    "tw_sim_begin_matmul",
    "tw_sim_pack",
    "tw_sim_begin_register_matmul",
    "tw_sim_begin_accumulator",
    "tw_sim_commit_matmuls",
    "tw_sim_wait_matmuls",
    "tw_sim_count_arrival",
    "tw_sim_read_accumulator",
)


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory that a program may use: an argument's or the workspace's, `bytes` long. What is not `written` (an output,
    the workspace) must be written before it is read."""

    name: str
    address: int
    bytes: int
    written: bool


@cache
def _runtime() -> ctypes.CDLL:
    """The library, with the types of the simulator's C interface (runtime/sim/Simulator.h)."""
    loaded = library()
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    signatures: dict[str, tuple[Any, tuple[Any, ...]]] = {
        "tilewrightSimCreate": (pointer, (ctypes.c_int32,)),
        "tilewrightSimDestroy": (None, (pointer,)),
        "tilewrightSimAddKernel": (None, (pointer, text, pointer, pointer, pointer)),
        "tilewrightSimReset": (None, (pointer,)),
        "tilewrightSimAddBuffer": (None, (pointer, text, pointer, ctypes.c_uint64, ctypes.c_int32)),
        "tilewrightSimLaunch": (ctypes.c_int32, (pointer, ctypes.c_int32, pointer, pointer, ctypes.c_int32)),
        "tilewrightSimEncode": (ctypes.c_int32, (pointer, pointer, pointer)),
        "tilewrightSimReports": (text, (pointer,)),
        "tilewrightSimIsInterrupted": (ctypes.c_int32, (pointer,)),
        "tilewrightSimRecord": (None, (pointer, ctypes.c_uint64)),
        "tilewrightSimEvents": (pointer, (pointer, pointer, pointer)),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    watch_for_interrupts(loaded)
    return loaded


class Simulator:
    """The kernels of one program, compiled for the simulator. Made by `compile_sim`.

    A host program launches its kernels through `launcher`. It works only inside `call`, which takes the memory that the
    program may use, and raises the errors that were found:

    >>> with simulator.call([Buffer("A", a.ctypes.data, a.nbytes, written=True), ...]):       # doctest: +SKIP
    ...     program.call([a.ctypes.data, ...], shape, workspace, simulator.launcher)
    """

    kernels: tuple[str, ...]
    launcher: Launcher

    def __init__(self, module: ir.Module, kernels: Sequence[str], checks: bool) -> None:
        self.kernels = tuple(kernels)
        self.checks = checks
        self._lock = threading.Lock()
        runtime = _runtime()
        symbols = {name: ctypes.cast(getattr(runtime, name), ctypes.c_void_p).value or 0 for name in _RUNTIME}
        self._engine = Engine(module, 2 if optimizes else 0, symbols, is_quick=not optimizes)
        self._handle = runtime.tilewrightSimCreate(checks)
        # The finalizer holds the engine, so that the kernels live as long as the simulator that knows them.
        weakref.finalize(self, _destroy, self._handle, self._engine)
        for name in self.kernels:
            parts = (lookup(self._engine, name + suffix) for suffix in ("", "_info", "_arguments"))
            runtime.tilewrightSimAddKernel(self._handle, name.encode(), *parts)
        self.handle: int = self._handle
        launch, encode = (
            ctypes.cast(function, ctypes.c_void_p).value
            for function in (runtime.tilewrightSimLaunch, runtime.tilewrightSimEncode)
        )
        self.launcher = Launcher(self._handle, launch, encode)

    @contextmanager
    def recording(self, most: int) -> Generator[list[Timeline]]:
        """Keeps what the warps do, up to so many events, of the last call in the block; the list then has it."""
        runtime = _runtime()
        made: list[Timeline] = []
        runtime.tilewrightSimRecord(self._handle, most)
        try:
            yield made
            count, dropped = ctypes.c_uint64(), ctypes.c_uint64()
            first = runtime.tilewrightSimEvents(self._handle, ctypes.byref(count), ctypes.byref(dropped))
            raw = (RawEvent * count.value).from_address(first) if count.value else (RawEvent * 0)()
            made.append(read_events(raw, self.kernels, dropped.value))
        finally:
            runtime.tilewrightSimRecord(self._handle, 0)

    @contextmanager
    def call(self, buffers: Iterable[Buffer]) -> Generator[None]:
        """Takes the simulator for one call of the program, whose kernels may use `buffers`.

        Raises SimulationError at the end if anything was found. Calls from several threads follow one another.
        """
        runtime = _runtime()
        with self._lock:
            runtime.tilewrightSimReset(self._handle)
            for buffer in buffers:
                runtime.tilewrightSimAddBuffer(
                    self._handle, buffer.name.encode(), buffer.address, buffer.bytes, buffer.written
                )
            yield
            text = runtime.tilewrightSimReports(self._handle).decode()
            interrupted = runtime.tilewrightSimIsInterrupted(self._handle)
        if interrupted:
            raise_interrupt()
        if text:
            raise SimulationError(text)

    def launch(
        self,
        kernel: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared_bytes: int,
        params: Sequence[Any],
    ) -> int:
        """Runs one kernel, inside `call`. `params` are those of the kernel ABI: a ctypes value each (an int counts as
        64 bits: a pointer, an extent). Returns 0, or something else if anything was found."""
        values = [ctypes.c_int64(param) if isinstance(param, int) else param for param in params]
        slots = (ctypes.c_void_p * max(len(values), 1))(*(ctypes.addressof(value) for value in values))
        config = (ctypes.c_uint64 * CONFIG_SIZE)(*grid, *block, shared_bytes)
        number = self.kernels.index(kernel)
        return _runtime().tilewrightSimLaunch(self._handle, number, config, slots, len(values))


def _destroy(handle: int, engine: Engine) -> None:
    _runtime().tilewrightSimDestroy(handle)
    del engine


def _kernel_names(module: ir.Module) -> list[str]:
    names: list[str] = []
    for op in module.body.operations:
        if op.operation.name == "gpu.module":
            for inner in op.regions[0].blocks[0].operations:
                if inner.operation.name == "gpu.func":
                    names.append(ir.StringAttr(inner.attributes["sym_name"]).value)
    return names


def compile_sim(
    module: ir.Module, checks: bool, kernels: Sequence[str] | None = None, *, gpu_indices: bool = False
) -> Simulator:
    """Compiles the kernels of a module of the gpu stage for the simulator; the module stays as it is.

    With `gpu_indices` they compute indices in as many bits as a GPU does. `kernels` are the kernels' names in the order
    of their numbers (HostProgram.kernels), by default the module's order.
    Raises CompileError where a kernel holds an operation that the simulator does not run.

    >>> simulator = compile_sim(module, checks=True)      # doctest: +SKIP
    >>> simulator.kernels                                 # doctest: +SKIP
    ('mmult_kernel0',)
    """
    names = _kernel_names(module) if kernels is None else list(kernels)
    options = f"checks={str(checks).lower()} gpu-indices={str(gpu_indices).lower()}"
    with module.context:
        copy = ir.Module.parse(bytecode(module))
        manager = PassManager.parse(f"builtin.module(gpu-to-sim{{{options}}})")
        try:
            run_manager(manager, copy.operation, verifies_each=False)
        except MLIRError as error:
            raise compile_error("compiling for the simulator", "sim", error) from None
        return Simulator(copy, names, checks)
