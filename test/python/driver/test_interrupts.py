"""Ctrl-C ends a compilation between two passes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from mlir import ir

from tilewright.ir import context
from tilewright.ir.passes import run_passes

TEXT = "func.func private @unused()\n"
LAST = "symbol-dce"  # erases it


def compile_for_long() -> None:
    """Says when its passes begin, and whether the last one ran."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sums = "".join(f"%x{i + 1} = arith.addi %x{i}, %x{i} : index\n" for i in range(5000))
    with context():
        module = ir.Module.parse(f"{TEXT}func.func @f(%x0: index) -> index {{\n{sums}return %x5000 : index\n}}")
    many = "builtin.module(" + "canonicalize," * 200 + LAST + ")"
    try:
        run_passes(module, many, "testing", "te", prepare=lambda _: print("begins", flush=True))
        print("ends")
    except KeyboardInterrupt:
        print("interrupted after" if "@unused" not in str(module) else "interrupted before", "the last pass")
    run_passes(module, f"builtin.module({LAST})", "testing", "te")
    print("runs again" if "@unused" not in str(module) else "is watched still")


def test_an_interrupt_ends_a_compilation() -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    code = "from driver.test_interrupts import compile_for_long; compile_for_long()"
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begins\n"
        time.sleep(0.05)  # the passes run: they take a second
        process.send_signal(signal.SIGINT)
        assert process.stdout.read().splitlines() == ["interrupted before the last pass", "runs again"]


def test_passes_in_another_thread() -> None:
    """Signals are the main thread's, which waits here."""
    with context():
        module = ir.Module.parse(TEXT)
    thread = threading.Thread(target=run_passes, args=(module, f"builtin.module({LAST})", "testing", "te"))
    thread.start()
    thread.join()
    assert "@unused" not in str(module)
