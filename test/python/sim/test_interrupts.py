"""Ctrl-C ends what runs on the simulator; and many functions of many threads do not use up the system's mappings."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm_ffi

import tilewright as tw
from ctrl_c import processor_seconds_after_ctrl_c
from tilewright import te


def long_program(kind: str, n: int = 1 << 20) -> tuple[Any, list[Any]]:
    """Hours of work: in many blocks, in one thread, or between barriers."""
    A = te.placeholder((n,), name="A")
    if kind == "blocks":
        B = te.compute((n, n), lambda i, j: A[i] + A[j], name="B")
    else:
        k, m = te.reduce_axis((0, n), name="k"), te.reduce_axis((0, n), name="m")
        B = te.compute((64,), lambda i: te.sum(A[k] * A[m] + i.astype("float32"), axis=[k, m]), name="B")
    s = te.create_schedule(B.op)
    if kind == "blocks":
        x, y = s[B].op.axis
        outer, inner = s[B].split(y, 64)
        s[B].bind(x, te.thread_axis("blockIdx.x"))
        s[B].bind(inner, te.thread_axis("threadIdx.x"))
        s[B].bind(outer, te.thread_axis("blockIdx.y"))
    else:
        s[B].bind(s[B].op.axis[0], te.thread_axis("threadIdx.x"))
        if kind == "barriers":
            shared = s.cache_read(A, "shared", [B])
            s[shared].compute_at(s[B], s[B].op.reduce_axis[1])
    return s, [A, B]


@pytest.mark.sweep
@pytest.mark.parametrize("checks", [True, False])
@pytest.mark.parametrize("kind", ["blocks", "thread", "barriers"])
def test_an_interrupt_ends_a_call(kind: str, checks: bool) -> None:
    s, args = long_program(kind, 1 << 14)
    function = tw.build(s, args, tw.Target("sim", checks=checks))
    a = np.ones(args[0].shape, np.float32)
    b = np.zeros(tuple(map(int, args[1].shape)), np.float32)
    # It takes a fiftieth of a second. What else the machine does slows some down, but not all.
    assert min(processor_seconds_after_ctrl_c(lambda: function(a, b)) for _ in range(5)) < 0.1
    small = tw.build(*_small(), "sim")
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    small(x, y)
    assert (y == x + 1).all(), "the next call runs"


def test_an_error_carries_no_stack_of_native_functions() -> None:
    """For the first one, a process would read the debug information of all libraries, which takes a second."""
    s, args = _small()
    function = tw.build(s, args, "sim")
    x, y = (tvm_ffi.from_dlpack(np.zeros(n, np.float32)) for n in (3, 64))
    with pytest.raises(ValueError, match=r"expected extent 64 in dimension 0, got shape \(3,\)") as raised:
        function.ffi(x, y)
    files = [Path(frame.f_code.co_filename).name for frame, _ in traceback.walk_tb(raised.value.__traceback__)]
    assert files == [Path(__file__).name, "function.pxi"], "one frame is the test's, one the call's"


def _small() -> tuple[Any, list[Any]]:
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] + 1, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    return s, [A, B]


def test_a_handler_of_ones_own_decides() -> None:
    """One that raises nothing lets the call go on; what it raises is raised."""
    s, args = long_program("thread", 1 << 12)
    function = tw.build(s, args, "sim")
    a, b = np.ones(1 << 12, np.float32), np.zeros(64, np.float32)
    seen: list[int] = []

    class Stop(Exception):
        pass

    def handler(number: int, frame: object) -> None:
        seen.append(number)
        if len(seen) == 2:
            raise Stop("enough")

    def send() -> None:
        time.sleep(0.1)
        for count in (1, 2):  # the second once the first was seen: two at a time are one
            os.kill(os.getpid(), signal.SIGUSR1)
            while len(seen) < count:
                time.sleep(0.01)

    before = signal.signal(signal.SIGUSR1, handler)
    sender = threading.Thread(target=send)
    try:
        with pytest.raises(Stop, match="^enough$"):
            sender.start()
            function(a, b)
    finally:
        sender.join()
        signal.signal(signal.SIGUSR1, before)
    assert seen == [signal.SIGUSR1] * 2


def test_a_call_in_another_thread_is_not_asked() -> None:
    """Signals are the main thread's, which waits here."""
    s, args = _small()
    function = tw.build(s, args, "sim")
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    thread = threading.Thread(target=function, args=(x, y))
    thread.start()
    thread.join()
    assert (y == x + 1).all()


def _threads(number: int) -> tw.Function:
    A = te.placeholder((1024,), name="A")
    B = te.compute((1024,), lambda i: A[1023 - i] + number, name="B")
    s = te.create_schedule(B.op)
    shared = s.cache_read(A, "shared", [B])
    outer, inner = s[B].split(B.op.axis[0], 1024)
    s[B].bind(outer, te.thread_axis("blockIdx.x"))
    thread = te.thread_axis("threadIdx.x")
    s[B].bind(inner, thread)
    s[shared].compute_at(s[B], outer)
    s[shared].bind(s[shared].op.axis[0], thread)
    return tw.build(s, [A, B], "sim", name=f"f{number}")


def test_stacks_are_lent_for_a_launch() -> None:
    """Each function kept 2,048 mappings of 65,530 for its 1,024 threads."""
    x, y = np.arange(1024, dtype=np.float32), np.zeros(1024, np.float32)
    maps = []
    functions = []
    for number in range(3):
        functions.append(_threads(number))
        functions[-1](x, y)
        assert (y == x[::-1] + number).all()
        maps.append(len(Path("/proc/self/maps").read_text().splitlines()))
    assert maps[2] - maps[0] < 200


@pytest.mark.slow
def test_forty_functions_of_a_thousand_threads() -> None:
    code = """
from sim.test_interrupts import *
from sim.test_interrupts import _threads
x, y = np.arange(1024, dtype=np.float32), np.zeros(1024, np.float32)
kept = []
for number in range(40):
    kept.append(_threads(number))
    kept[-1](x, y)
    assert (y == x[::-1] + number).all()
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
