"""Ctrl-C ends whatever takes long at once, also where it is within one pass or one call of a library."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from mlir import ir
from mlir.execution_engine import ExecutionEngine

import tilewright as tw
from ctrl_c import seconds_after_ctrl_c
from tilewright import te
from tilewright.backend import cubin
from tilewright.backend.ptx import emit_ptx
from tilewright.ir import context
from tilewright.ir.passes import run_passes
from tilewright.native.interruptible import interruptibly
from tilewright.native.jit import lookup
from tilewright.native.tools import run_tool

TEXT = "func.func private @unused()\n"
LAST = "symbol-dce"  # erases it


def sums(count: int) -> ir.Module:
    """A function of so many additions."""
    lines = "".join(f"%x{i + 1} = arith.addi %x{i}, %x{i} : index\n" for i in range(count))
    with context():
        return ir.Module.parse(f"{TEXT}func.func @f(%x0: index) -> index {{\n{lines}return %x{count} : index\n}}")


def many_passes() -> Callable[[], object]:
    module = sums(5000)
    pipeline = "builtin.module(" + "canonicalize," * 1000 + LAST + ")"
    return lambda: run_passes(module, pipeline, "testing", "te")


def one_pass() -> Callable[[], object]:
    """A single pass that takes long: it writes a loop's body two million times."""
    with context():
        module = ir.Module.parse(
            "func.func @f(%m: memref<?xf32>, %x: f32) {\n"
            "affine.for %i = 0 to 2000000 {\naffine.store %x, %m[%i] : memref<?xf32>\n}\nreturn\n}"
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


def code_for_the_processor() -> Callable[[], object]:
    with context():
        engine = ExecutionEngine(ir.Module.parse(chain(100_000)), opt_level=2)
    return lambda: lookup(engine, "f")


def ptx() -> Callable[[], object]:
    with context():
        kernel = chain(100_000).replace("llvm.func @f", 'gpu.module @m [#nvvm.target<chip = "sm_80">] {\nllvm.func @f')
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


def linking() -> Callable[[], object]:
    text = unrolled_ptx(100_000)
    return lambda: cubin.link(text, "sm_80")


def a_tool() -> Callable[[], object]:
    return lambda: run_tool(["sleep", "600"])


WORK = {each.__name__: each for each in (many_passes, one_pass, code_for_the_processor, ptx, linking, a_tool)}


def interrupt(name: str) -> None:
    """Says how long the work goes on after Ctrl-C, and that the next one runs."""
    print(f"{seconds_after_ctrl_c(WORK[name]()):.3f}")
    _runs_again()
    print("runs again", flush=True)


def _runs_again() -> None:
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] + 1, name="B")
    tw.build(te.create_schedule(B.op), [A, B], "cpu", "f")


@pytest.mark.parametrize("name", WORK)
def test_an_interrupt_ends_it_at_once(name: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent.parent), *sys.path])}
    code = f"from driver.test_interrupts import interrupt; interrupt({name!r})"
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
    said, *rest = ran.stdout.splitlines()
    assert rest == ["runs again"] and ran.returncode == 0, (ran.stdout, ran.stderr[-2000:])
    assert float(said) < 0.1


def test_a_command_that_is_interrupted_ends_without_a_crash(tmp_path: Path) -> None:
    """What still runs at the end of the process does not stand in its way."""
    code = (
        "import sys\nfrom driver.test_interrupts import one_pass, end\n"
        "try:\n    end(one_pass())\nexcept KeyboardInterrupt:\n    sys.exit(130)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent.parent), *sys.path])}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
    assert (ran.returncode, ran.stderr) == (130, "")


def end(call: Callable[[], object]) -> None:
    """Interrupts a call as soon as it runs."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.3, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
    call()


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


def test_passes_wait_for_those_that_nobody_waits_for() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    module = sums(100_000)
    try:
        with pytest.raises(KeyboardInterrupt):
            end(lambda: run_passes(module, "builtin.module(" + "canonicalize," * 50 + "cse)", "testing", "te"))
    finally:
        signal.signal(signal.SIGINT, before)
    run_passes(module, f"builtin.module({LAST})", "testing", "te")
    assert "@unused" not in str(module)
