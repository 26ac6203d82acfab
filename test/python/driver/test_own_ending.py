"""After Ctrl-C a script goes on as it likes: KeyboardInterrupt comes out of each long call, and the same call works again.

The signal is sent by the thread that has begun the native work of a call, so that no test waits for a moment.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tilewright.native import interruptible

SCRIPT = """
import atexit, signal, sys, threading
import numpy as np
import tilewright as tw
from tilewright import nd, schedules, te
from tilewright.native import interruptible

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore the signal
is_armed, run = False, interruptible.Work.run

def interrupted(self, then):
    global is_armed
    if is_armed:
        is_armed = False
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    run(self, then)

interruptible.Work.run = interrupted

def program():
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] + 1, name="B")
    s = te.create_schedule(B.op)
    return s, [A, B]

def on_threads():
    s, (A, B) = program()
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    return s, [A, B]

def result(target, make):
    a, b = nd.array(np.arange(8, dtype="float32")), nd.empty((8,))
    tw.build(*make(), target)(a, b)
    assert (b.numpy() == np.arange(1, 9)).all()

function = tw.build(*program(), "cpu", "f")
calls = {
    "lower": lambda: tw.lower(*on_threads(), "f", stage="gpu"),
    "cpu": lambda: result("cpu", program),
    "sim": lambda: result("sim", on_threads),
    "cubin": lambda: tw.build(*on_threads(), "cuda -arch=sm_90a").cubin,
    "export": lambda: tw.export_library([function], sys.argv[1]),
}
atexit.register(print, "at exit")
for name, call in calls.items():
    is_armed = True
    try:
        call()
        print(name, "was not interrupted")
    except KeyboardInterrupt:
        print(name, "was interrupted")
    finally:
        print(name, "has its finally")
    is_armed = False
    call()
    print(name, "works again")
print("the script's own ending")
sys.exit(7)
"""


@pytest.mark.sweep
def test_a_script_ends_as_it_likes(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "f.so")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    told = [
        f"{name} {what}"
        for name in ("lower", "cpu", "sim", "cubin", "export")
        for what in ("was interrupted", "has its finally", "works again")
    ]
    assert (ran.stdout.splitlines(), ran.stderr) == ([*told, "the script's own ending", "at exit"], "")
    assert ran.returncode == 7


@pytest.mark.sweep
def test_a_script_that_says_nothing_ends_by_the_signal() -> None:
    """Python's own ending: its traceback, and the status by which shells know Ctrl-C."""
    begin, _, _ = SCRIPT.partition("atexit.register")
    ran = subprocess.run(
        [sys.executable, "-c", f"{begin}\nis_armed = True\ncalls['lower']()", "f.so"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.stderr.splitlines()[-1] == "KeyboardInterrupt" and ran.returncode == -2, ran.stderr


class _Lock:
    """A lock; the first who gets it is interrupted then, before it can be released."""

    def __init__(self, lock: Any) -> None:
        self._lock, self.is_armed = lock, True
        self.is_waited_for = threading.Event()

    def acquire(self, timeout: float = -1) -> bool:
        self.is_waited_for.set()
        is_acquired = self._lock.acquire(timeout=timeout)
        if is_acquired and self.is_armed:
            self.is_armed = False
            raise KeyboardInterrupt
        return is_acquired

    def release(self) -> None:
        self._lock.release()


def test_an_interrupt_just_as_a_call_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for ever for a call that has ended."""
    made, left, locks = interruptible.Work.__init__, list[interruptible.Work[Any]](), list[_Lock]()

    def with_lock(self: Any, call: Any) -> None:
        made(self, call)
        self._is_running = _Lock(self._is_running)
        locks.append(self._is_running)

    monkeypatch.setattr(interruptible.Work, "__init__", with_lock)
    with pytest.raises(KeyboardInterrupt):
        interruptible.interruptibly(lambda: locks[0].is_waited_for.wait(), left=left.append)
    assert left == []
