"""Ctrl-C ends whatever takes long at once, also where it is within one pass or one call of a library."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import pytest
from mlir import ir

import tilewright as tw
from ctrl_c import Held, interrupt
from tilewright import te
from tilewright.backend import cubin
from tilewright.backend.ptx import emit_ptx
from tilewright.bisection.runs import apart
from tilewright.ir import context
from tilewright.ir.passes import run_passes
from tilewright.native import interruptible
from tilewright.native.interruptible import interruptibly, side_by_side
from tilewright.native.jit import Engine, lookup
from tilewright.native.tools import run_tool

TEXT = "func.func private @unused()\n"
LAST = "symbol-dce"  # erases it


def sums(count: int) -> ir.Module:
    """A function of so many additions."""
    lines = "".join(f"%x{i + 1} = arith.addi %x{i}, %x{i} : index\n" for i in range(count))
    with context():
        return ir.Module.parse(f"{TEXT}func.func @f(%x0: index) -> index {{\n{lines}return %x{count} : index\n}}")


def one_pass(count: int = 2_000_000) -> Callable[[], object]:
    """A single pass that takes long: it writes a loop's body so many times."""
    with context():
        module = ir.Module.parse(
            "func.func @f(%m: memref<?xf32>, %x: f32) {\n"
            f"affine.for %i = 0 to {count} {{\n"
            "affine.store %x, %m[%i] : memref<?xf32>\n}\nreturn\n}"
        )
    pipeline = "builtin.module(func.func(affine-loop-unroll{unroll-factor=-1}))"
    return lambda: run_passes(module, pipeline, "testing", "te")


def chain(count: int) -> str:
    """A function of LLVM's dialect in which each of so many steps needs the one before it."""
    lines = "".join(
        f"%a{i + 1} = llvm.fmul %a{i}, %x : f32\n llvm.store volatile %a{i + 1}, %p : f32, !llvm.ptr\n"
        for i in range(count)
    )
    return f"llvm.func @f(%p: !llvm.ptr, %x: f32, %a0: f32) {{\n{lines}llvm.return\n}}"


def code_for_the_processor(count: int = 20_000) -> Callable[[], object]:
    with context():
        engine = Engine(ir.Module.parse(chain(count)), 2)
    return lambda: lookup(engine, "f")


def ptx(count: int = 20_000) -> Callable[[], object]:
    with context():
        kernel = chain(count).replace("llvm.func @f", 'gpu.module @m [#nvvm.target<chip = "sm_80">] {\nllvm.func @f')
        module = ir.Module.parse(
            kernel.replace("!llvm.ptr, %x", "!llvm.ptr<1>, %x").replace("f32, !llvm.ptr", "f32, !llvm.ptr<1>") + "\n}"
        )
    return lambda: emit_ptx(module)


def unrolled_ptx(count: int) -> str:
    """PTX of a kernel with so many instructions, each of which needs the one before it."""
    body = "".join(
        f"fma.rn.f32 %f{1 + i % 2}, %f{1 + (i + 1) % 2}, %f3, %f4;\nsin.approx.f32 %f3, %f{1 + i % 2};\n"
        for i in range(count)
    )
    return f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry f(.param .u64 p) {{
.reg .f32 %f<5>;
.reg .b64 %r<2>;
ld.param.u64 %r1, [p];
ld.global.f32 %f1, [%r1];
ld.global.f32 %f3, [%r1+4];
ld.global.f32 %f4, [%r1+8];
{body}
st.global.f32 [%r1], %f2;
st.global.f32 [%r1+4], %f3;
ret;
}}
"""


def linking(count: int = 20_000) -> Callable[[], object]:
    text = unrolled_ptx(count)
    return lambda: cubin.link(text, "sm_80")


def a_tool(seconds: int = 600) -> Callable[[], object]:
    return lambda: run_tool(["sleep", str(seconds)])


WORK = {each.__name__: each for each in (one_pass, code_for_the_processor, ptx, linking, a_tool)}


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("held", [1], indirect=True)
@pytest.mark.parametrize("name", WORK)
def test_an_interrupt_ends_it_at_once(name: str, held: Held) -> None:
    """Nobody waits for the work, which here does not end before the call does. The next work runs."""
    call = WORK[name](2 if name != "a_tool" else 0)
    interrupt(call, held)
    _runs_again()


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("held", [1], indirect=True)
def test_no_pass_begins_after_an_interrupt(held: Held) -> None:
    with context():
        module = ir.Module.parse(TEXT)
    interrupt(lambda: run_passes(module, f"builtin.module({LAST})", "testing", "te"), held)
    assert "@unused" in str(module)


def _runs_again() -> None:
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] + 1, name="B")
    tw.build(te.create_schedule(B.op), [A, B], "cpu", "f")


def _seconds_of_processor(thread: int) -> float:
    return int(Path(f"/proc/self/task/{thread}/schedstat").read_text().split()[0]) * 1e-9


def _interrupt_once_it_computes(thread: int, begun: float) -> None:
    """Before that a thread may not be in native code yet, which is then told to end before it has begun."""
    while _seconds_of_processor(thread) < begun + 0.05:
        time.sleep(0.005)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def interrupt_native_code(name: str) -> None:
    """Says whether the work goes on after Ctrl-C, which comes within it, and that the next one runs."""
    call, begun, start = WORK[name](), list[interruptible.Work[Any]](), interruptible._Thread.start

    def starting(work: interruptible.Work[Any]) -> None:
        inner = work._call

        def with_signal() -> object:
            thread = threading.get_native_id()
            # A tool is another process, and this one only waits for it.
            begun = _seconds_of_processor(thread) if name != "a_tool" else -1.0
            threading.Thread(target=_interrupt_once_it_computes, args=(thread, begun), daemon=True).start()
            return inner()

        work._call = with_signal
        begun.append(work)
        start(work)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    interruptible._Thread.start = staticmethod(starting)  # type: ignore[method-assign]
    try:
        call()
    except KeyboardInterrupt:
        print("goes on" if not begun[0]._is_over else "is over")
    interruptible._Thread.start = staticmethod(start)  # type: ignore[method-assign]
    _runs_again()
    print("runs again", flush=True)


@pytest.mark.sweep
@pytest.mark.parametrize("name", WORK)
def test_an_interrupt_comes_within_native_code(name: str) -> None:
    """Work that takes seconds holds no lock of the interpreter meanwhile. A tool is ended, all else goes on alone."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent.parent), *sys.path])}
    code = f"from driver.test_interrupts import interrupt_native_code; interrupt_native_code({name!r})"
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=600)
    left = "is over" if name == "a_tool" else "goes on"
    assert (ran.stdout.splitlines(), ran.returncode) == ([left, "runs again"], 0), ran.stderr[-2000:]


@pytest.mark.sweep
def test_a_command_that_is_interrupted_ends_without_a_crash(tmp_path: Path) -> None:
    """What still runs at the end of the process does not stand in its way."""
    code = (
        "import sys\nfrom driver.test_interrupts import interrupt_native_code\n"
        "interrupt_native_code('one_pass')\nsys.exit(130)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent.parent), *sys.path])}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=600)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "goes on\nruns again\n", "")


def test_an_interrupt_ends_the_process_of_a_stage() -> None:
    """`tilewright bisect` runs a stage in a process of its own, which Ctrl-C need not reach: a notebook interrupts one
    process."""
    read, write = os.pipe()
    begun: list[int] = []

    def endless() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.write(write, str(os.getpid()).encode())
        time.sleep(60)

    def send() -> None:
        begun.append(int(os.read(read, 20)))
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    # A process in the background of a script ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            apart(endless)
    finally:
        signal.signal(signal.SIGINT, before)
    sender.join()
    with pytest.raises(ProcessLookupError):
        os.kill(begun[0], 0)
    os.close(read)
    os.close(write)


def test_what_a_call_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        interruptibly(lambda: 1 // 0)


def test_passes_in_another_thread() -> None:
    """Signals are the main thread's, which waits here."""
    with context():
        module = ir.Module.parse(TEXT)
    thread = threading.Thread(target=run_passes, args=(module, f"builtin.module({LAST})", "testing", "te"))
    thread.start()
    thread.join()
    assert "@unused" not in str(module)


def test_other_threads_run_beside_passes() -> None:
    """The interpreter's lock is not held by a pass."""
    turns = 0
    is_over = threading.Event()

    def count() -> None:
        nonlocal turns
        while not is_over.wait(0.001):
            turns += 1

    thread = threading.Thread(target=count)
    module = sums(20000)
    thread.start()
    run_passes(module, "builtin.module(canonicalize,cse,canonicalize)", "testing", "te")
    is_over.set()
    thread.join()
    assert turns > 3


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("held", [1], indirect=True)
def test_passes_wait_for_those_that_nobody_waits_for(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    with context():
        module = ir.Module.parse(TEXT)
    with pytest.raises(KeyboardInterrupt):
        run_passes(module, "builtin.module(canonicalize)", "testing", "te")
    assert not held.is_released
    wait, waited = interruptible.Work.wait, list[bool]()

    def waiting(self: interruptible.Work[Any], seconds: float = -1) -> bool:
        waited.append(held.is_released)
        held.release()
        return wait(self, seconds)

    monkeypatch.setattr(interruptible.Work, "wait", waiting)
    run_passes(module, f"builtin.module({LAST})", "testing", "te")
    assert waited[0] is False, "nobody waited before the passes began"
    assert "@unused" not in str(module)


def test_calls_run_side_by_side() -> None:
    both = threading.Barrier(2)  # the first call ends once the second one has begun
    begun: list[int] = []

    def call(number: int) -> Callable[[], int]:
        return lambda: both.wait(60) * 0 + number

    assert side_by_side([call(number) for number in range(4)], 2, begun.append) == [0, 1, 2, 3]
    assert sorted(begun) == [0, 1, 2, 3]
    assert side_by_side([], 2) == []


def test_the_first_error_of_calls_is_raised() -> None:
    second = threading.Event()
    begun: list[int] = []

    def first() -> None:
        second.wait(60)
        raise ValueError("the first")

    def other() -> None:
        second.set()
        raise ValueError("the second")

    with pytest.raises(ValueError, match=r"^the first$"):
        side_by_side([first, other, other], 2, begun.append)
    assert begun == [0, 1]  # no other one begins


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("held", [1], indirect=True)
def test_an_interrupt_ends_the_waiting_for_calls(held: Held) -> None:
    """The thread that has begun goes on alone, and begins no other call."""
    begun: list[int] = []
    interrupt(lambda: side_by_side([lambda: None] * 3, 1, begun.append), held)
    assert begun == []
    _runs_again()


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_ends_the_tools_that_run_side_by_side(tmp_path: Path) -> None:
    """Each of them, and those that begin afterwards. No caller takes the end of its tool for a failure of the tool."""
    pipes = [tmp_path / str(number) for number in range(2)]
    told, raised, files = list[int](), list[type[BaseException]](), list[TextIO]()
    ended = threading.Semaphore(0)

    def tool(pipe: Path) -> None:
        for command in f"exec 3>{pipe}; echo >&3; exec sleep 20", "exec sleep 20":
            try:
                run_tool(["sh", "-c", command])
            except BaseException as error:
                raised.append(type(error))
        ended.release()

    def send() -> None:
        for pipe in pipes:
            files.append(pipe.open())
            files[-1].readline()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    for pipe in pipes:
        os.mkfifo(pipe)
    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        side_by_side([partial(tool, pipe) for pipe in (*pipes, pipes[0])], 2, told.append)
    sender.join()
    for file in files:
        assert file.read() == ""  # the tool has it open as long as it runs
        file.close()
        ended.acquire()
    assert (told, raised) == ([0, 1], [KeyboardInterrupt] * 4)
    _runs_again()
