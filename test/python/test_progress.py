"""What takes more than a second says how far it is, on a terminal alone."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import textwrap
import time

import pytest

from tilewright.messages import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the clock says."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_line_comes_in_the_second_second_and_goes(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.progress("compiling") as line:
        line.show(0, 4, "kernels", "a")
        assert terminal.getvalue() == ""
        clock[0] = 1.5
        line.show(1, 4, "kernels", "b")
        shown = terminal.getvalue()
        assert shown.endswith("1 of 4 kernels, 0:01, b") and shown.startswith("\r")
        clock[0] = 1.55
        line.show(2, 4, "kernels", "c")  # too soon to be read
        assert terminal.getvalue() == shown
    assert terminal.getvalue() == shown + "\r\x1b[2K"


def test_nothing_is_written_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    with progress.progress("compiling") as line:
        clock[0] = 60.0
        line.show(1, 4, "kernels")
    assert file.getvalue() == ""


SLOW = textwrap.dedent(
    """
    import time
    import numpy as np
    import tilewright as tw
    from tilewright import te

    n = 1 << 15
    A = te.placeholder((n,), name="A")
    k = te.reduce_axis((0, 2048), name="k")
    B = te.compute((n,), lambda i: te.sum(A[i] * te.sqrt(A[(i + k) % n]), axis=k), name="B")
    s = te.create_schedule(B.op)
    block, thread = s[B].split(B.op.axis[0], factor=32)
    s[B].bind(block, te.thread_axis("blockIdx.x"))
    s[B].bind(thread, te.thread_axis("threadIdx.x"))
    f = tw.build(s, [A, B], "sim", "f")
    start = time.monotonic()
    f(np.ones(n, np.float32), np.zeros(n, np.float32))
    print(time.monotonic() - start)
    """
)


def run(script: str, stderr: int) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=stderr, text=True)


def test_simulator_says_how_many_blocks_are_done() -> None:
    ours, theirs = pty.openpty()
    process = run(SLOW, theirs)
    os.close(theirs)
    shown = b""
    begin = time.monotonic()
    while time.monotonic() - begin < 120:
        try:
            part = os.read(ours, 4096)
        except OSError:  # its other end is closed
            break
        if not part:
            break
        shown += part
    assert process.wait(120) == 0
    seconds = float(process.stdout.read())  # type: ignore[union-attr]
    os.close(ours)
    text = shown.decode()
    if seconds < 1.5:
        pytest.skip("this machine simulates it in less than a second")
    assert "of 1024 blocks, 0:0" in text and text.startswith("\r\x1b[2Ksimulating ")
    assert text.endswith("\r\x1b[2K")
