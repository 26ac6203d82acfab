"""Modules of a stage as something that runs, in a process of its own."""

from __future__ import annotations

import mmap
import os
import resource
import select
import signal
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import TilewrightError

if TYPE_CHECKING:
    from mlir import ir

    from ..runtime import Signature

__all__ = ["Array", "Run", "copied", "in_sequence", "on_processor", "shared", "taken_up"]

Array = NDArray[Any]

SECONDS = 60.0
"""How long a stage may run."""

Run = Callable[[Sequence[Array]], str]
"""Runs a stage on arrays, whose outputs it writes; what went wrong otherwise, or ""."""


def apart(call: Callable[[], object]) -> str:
    """What went wrong with a call in a process of its own, or ""."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork in a process of several threads
        child = os.fork()
    if child == 0:
        for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT):
            signal.signal(number, signal.SIG_DFL)  # LLVM's own handlers tell where, which takes long
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            call()
            told = ""
        except BaseException as error:
            told = f"{type(error).__name__}: {error}"
        os.write(write, told.encode()[:60000] or b"\0")
        os._exit(0)
    os.close(write)
    told, ended = b"", False
    try:
        while not ended and select.select([read], [], [], SECONDS)[0]:
            part = os.read(read, 65536)
            told += part
            ended = not part
    finally:  # after Ctrl-C, too
        if not ended:
            os.kill(child, signal.SIGKILL)
        os.close(read)
        status = os.waitpid(child, 0)[1]
    if told:
        return told.decode(errors="replace").strip("\0")
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGKILL:
        return f"ended by {signal.Signals(os.WTERMSIG(status)).name}"
    return f"no end after {SECONDS:.0f} s"


def shared(array: Array) -> Array:
    """A copy in memory that a child process writes for its parent."""
    memory = mmap.mmap(-1, max(array.nbytes, 1))
    made = np.frombuffer(memory, array.dtype, array.size).reshape(array.shape)
    made[...] = array
    return made


def copied(module: ir.Module) -> ir.Module:
    from ..compiler.pipeline import Lowering

    return Lowering.copied(module)


def in_sequence(module: ir.Module) -> ir.Module:
    """A copy without the schedule, whose loops run in sequence."""
    module = copied(module)
    for op in list(module.body):
        if op.operation.name == "schedule.of":
            op.operation.erase()

    def unmark(op: ir.Operation) -> None:
        attributes = op.attributes
        for name in [attributes[index].name for index in range(len(attributes))]:
            if name.startswith("schedule."):
                del attributes[name]
        for region in op.regions:
            for block in region:
                for inner in block:
                    unmark(inner.operation)

    unmark(module.operation)
    return module


def on_processor(module: ir.Module, name: str, signature: Signature) -> Run:
    from ..ir.passes import run_passes
    from ..runtime.cpu_program import compile_cpu, set_num_threads

    run_passes(module, "builtin.module(erase-address-spaces)", f"running {name} on the processor", "loops")
    host = compile_cpu(module, name)
    _ = host.address

    def run(arrays: Sequence[Array]) -> str:
        bound = signature.bind(arrays)

        def call() -> None:
            set_num_threads(1)  # the threads of the parent process are not there
            host.run(bound.data, bound.shape)

        return apart(call)

    return run


def taken_up(module: ir.Module, name: str, stage: str, target: Any, managed: bool = False) -> Run:
    from ..compiler.pipeline import Lowering
    from ..compiler.programs import make_program

    lowering = Lowering(name, target, stage)
    lowering.managed = managed
    lowering.enter(module)
    program = make_program(lowering)
    if managed:  # a GPU's context is one process's

        def call(arrays: Sequence[Array]) -> str:
            try:
                program(*arrays)
            except TilewrightError as error:
                return f"{type(error).__name__}: {error}"
            return ""

        return call
    program.load()
    return lambda arrays: apart(lambda: program(*arrays))
