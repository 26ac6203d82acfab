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

import tilewright as tw
from tilewright import te
from tilewright.graph import GraphBuilder, TensorType
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


def test_a_part_has_no_line_of_its_own(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.progress("compiling model") as whole:
        with progress.progress("compiling group") as part:
            clock[0] = 2.0
            part.show(1, 4, "stages", "gpu")
        assert terminal.getvalue() == ""
        whole.show(1, 4, "groups", "matmul")
        assert "compiling model" in terminal.getvalue()
    with progress.progress("compiling other") as line:
        clock[0] = 4.0
        line.show(1, 4, "stages")
    assert "compiling other" in terminal.getvalue()


def test_builds_and_models_say_how_far_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each stage, and each group of a model, as the terminal would show it if it took long."""
    shown: list[tuple[object, ...]] = []

    class Line(progress.Progress):
        def show(self, done: int, count: int, unit: str, now: str = "") -> None:
            if self._on:
                shown.append((self._doing, done, count, unit, now))

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "Progress", Line)
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] + 1, name="B")
    tw.build(tw.auto_schedule(B), [A, B], "cuda -arch=sm_80", "add", cache=False)
    assert [line[:1] + line[2:] for line in shown] == [
        ("compiling add", 9, "stages", stage) for stage in ("linalg", "loops", "gpu", "nvvm", "ptx", "cubin", "host")
    ]
    shown.clear()
    with GraphBuilder("model", [("x", TensorType((4,), "float32"))]) as b:
        graph = b.finish([("y", b.op("softmax", b.inputs["x"], axis=0))])
    tw.compile(graph, target="cpu")
    assert shown == [
        ("scheduling the model", 0, 1, "groups", "softmax"),
        ("compiling model", 0, 1, "groups", "softmax"),
    ]


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


def shown_by(script: str) -> tuple[str, str]:
    """What a script writes to a terminal, and what it prints."""
    ours, theirs = pty.openpty()
    process = run(script, theirs)
    os.close(theirs)
    shown = b""
    begin = time.monotonic()
    while time.monotonic() - begin < 600:
        try:
            part = os.read(ours, 4096)
        except OSError:  # its other end is closed
            break
        if not part:
            break
        shown += part
    assert process.wait(600) == 0, shown.decode()
    os.close(ours)
    return shown.decode(), process.stdout.read()  # type: ignore[union-attr]


@pytest.mark.sweep
def test_simulator_says_how_many_blocks_are_done() -> None:
    text, printed = shown_by(SLOW)
    if float(printed) < 1.5:
        pytest.skip("this machine simulates it in less than a second")
    assert "of 1024 blocks, 0:0" in text and "\r\x1b[2Ksimulating " in text
    assert text.endswith("\r\x1b[2K")


PREPARED = textwrap.dedent(
    """
    import sys, time
    import numpy as np
    import tilewright as tw
    from tilewright import te
    from tilewright.graph import GraphBuilder, TensorType
    from tilewright.compiler.pipeline import Lowering

    def slow(owner, name):
        was = getattr(owner, name)
        def slower(*arguments, **named):
            time.sleep(1.6)     # as long as a large program may take
            return was(*arguments, **named)
        setattr(owner, name, slower)

    def graph():
        with GraphBuilder("net", [("x", TensorType((4,), "float32"))]) as b:
            return b.finish([("y", b.op("softmax", b.inputs["x"], axis=0))])

    def add():
        A = te.placeholder((64,), name="A")
        B = te.compute((64,), lambda i: A[i] + 1, name="B")
        return tw.build(tw.auto_schedule(B, "cpu"), [A, B], "cpu", "add", cache=False)
    """
)

# What is made slow, what is done, and what the line then says. Each step is one long part, without a count in between.
STEPS = {
    "build": (
        "import tilewright.compiler.pipeline as p; slow(p, 'run_passes'); add()",
        "compiling add",
    ),
    "model": (
        "import tilewright.graph.model as m; slow(m, 'compile_groups'); tw.compile(graph(), target='cpu')",
        "compiling net",
    ),
    "passes of a model": (
        "import tilewright.graph.compile as c; slow(c, 'run_passes'); tw.compile(graph(), target='cpu')",
        "optimising net",
    ),
    "schedules of a model": (
        "import tilewright.graph.groups as g; slow(g, '_read_group'); tw.compile(graph(), target='cpu')",
        "scheduling the model",
    ),
    "onnx": (
        "import onnx, tilewright.onnx.importer as o; slow(o, 'initializers_of')\n"
        "x, y = (onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, (3,)) for name in 'xy')\n"
        "node = onnx.helper.make_node('Relu', ['x'], ['y'])\n"
        "tw.compile(onnx.helper.make_model(onnx.helper.make_graph([node], 'g', [x], [y])), target='cpu')",
        "reading the model",
    ),
    "torch": (
        "import torch, tilewright.torch.exported as t; slow(t, '_of_program')\n"
        "tw.compile(torch.nn.ReLU(), (torch.ones(3),), target='cpu')",
        "reading the model",
    ),
    "verify": (
        "import tilewright.graph.call_by_groups as c; slow(c, 'checked')\n"
        "tw.compile(graph(), target='cpu').verify(np.ones(4, 'float32'))",
        "verifying net",
    ),
    "profile": (
        "import tilewright.graph.call_by_groups as c; slow(c, 'time_evaluator')\n"
        "tw.compile(graph(), target='cpu').profile(np.ones(4, 'float32'))",
        "timing net",
    ),
    "export_library": (
        "import tempfile, tilewright.aot.library as a; slow(a, 'link_library')\n"
        "tw.export_library([add()], tempfile.mkdtemp() + '/kernels.so')",
        "exporting kernels.so",
    ),
    "export of a model": (
        "import tempfile, tilewright.graph.export as e; slow(e, 'link_library')\n"
        "tw.compile(graph(), target='cpu').export(tempfile.mkdtemp() + '/model.so')",
        "exporting model.so",
    ),
    "bisect": (
        "import sys, tilewright.bisection.bisect; slow(sys.modules['tilewright.bisection.bisect'], 'Search')\n"
        "A = te.placeholder((4,), name='A')\n"
        "B = te.compute((4,), lambda i: A[i] + 1, name='B')\n"
        "tw.testing.bisect(te.create_schedule(B.op), [A, B], target='cpu')",
        "bisecting",
    ),
    "view": (
        "import tempfile, tilewright.viewer.data as d; slow(d, 'number_stages')\n"
        "add().view(tempfile.mkdtemp() + '/page.html')",
        "viewing add",
    ),
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", STEPS)
def test_a_terminal_shows_what_takes_long(name: str) -> None:
    work, line = STEPS[name]
    text, _ = shown_by(PREPARED + work)
    assert f"\r\x1b[2K{line}" in text, text
    assert text.endswith("\r\x1b[2K")


@pytest.mark.sweep
def test_a_pipe_shows_nothing() -> None:
    process = run(PREPARED + STEPS["model"][0], subprocess.PIPE)
    _, errors = process.communicate(timeout=600)
    assert (process.returncode, errors) == (0, "")


def test_a_line_that_nobody_has_any_more_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    line = progress.Progress("forgotten")
    del line
    time.sleep(1.3)
    assert terminal.getvalue() == ""
    with progress.progress("alone"):
        time.sleep(1.3)
    assert terminal.getvalue() == "\r\x1b[2Kalone, 0:01\r\x1b[2K"
