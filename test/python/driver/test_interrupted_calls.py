"""Ctrl-C ends each call that takes long within a tenth of a second: compiling many kernels, exporting, tuning, importing
a model. Of the simulator: sim/test_interrupts.py; within one pass: test_interrupts.py."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from ctrl_c import seconds_after_ctrl_c
from tilewright import schedules, te

SM90 = "cuda -arch=sm_90a"


def many_kernels() -> Callable[[], object]:
    made = [schedules.softmax(64, 256 + i) for i in range(300)]
    return lambda: [tw.build(*each, SM90, f"f{i}").cubin for i, each in enumerate(made)]


def many_rules() -> Callable[[], object]:
    A = te.placeholder((1024, 1024), name="A")
    B = te.compute(A.shape, lambda i, j: te.exp(A[i, j]), name="B")
    return lambda: [tw.auto_schedule([B], SM90) for _ in range(10_000)]


def exporting_a_library() -> Callable[[], object]:
    functions = [tw.build(*schedules.softmax(64, 256 + i), SM90, f"f{i}") for i in range(2)]
    path = Path(tempfile.mkdtemp()) / "library.so"
    options: dict[str, Any] = {"architectures": ["sm_80", "sm_89", "sm_90a"], "mcpu": ["x86-64-v2", "x86-64-v3"]}
    return lambda: [tw.export_library(functions, path, **options) for _ in range(100)]


def exporting_a_model() -> Callable[[], object]:
    model = tw.compile(_model(8), target="cpu")
    path = Path(tempfile.mkdtemp()) / "model.so"
    return lambda: [model.export(path) for _ in range(100)]


def importing_a_model() -> Callable[[], object]:
    model = _model(400)
    return lambda: [tw.compile(model, target="sim") for _ in range(100)]


def _model(layers: int, width: int = 128) -> Any:
    from onnx import TensorProto, helper, numpy_helper

    nodes, weights, x = [], [], "x"
    for i in range(layers):
        weights.append(numpy_helper.from_array(np.full((width, width), i, np.float32), f"w{i}"))
        nodes.append(helper.make_node("MatMul", [x, f"w{i}"], [f"m{i}"]))
        nodes.append(helper.make_node(("Relu", "Tanh", "Sigmoid")[i % 3], [f"m{i}"], [f"y{i}"]))
        x = f"y{i}"
    first, last = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [8, width]) for name in ("x", x))
    graph = helper.make_graph(nodes, "g", [first], [last], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def tuning() -> Callable[[], object]:
    A, B = (te.placeholder((128, 128), name=name) for name in "AB")
    k = te.reduce_axis((0, 128), name="k")
    C = te.compute((128, 128), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    return lambda: tw.tune([C], "cpu", trials=1000)


CALLS = {
    each.__name__: each
    for each in (many_kernels, many_rules, exporting_a_library, exporting_a_model, importing_a_model, tuning)
}


def interrupt(name: str, after: float) -> None:
    """Says how long the call runs on after Ctrl-C."""
    print(f"{seconds_after_ctrl_c(CALLS[name](), after):.3f}", flush=True)


@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_ends_the_call(name: str) -> None:
    if name.endswith("_a_model"):
        pytest.importorskip("onnx")

    def seconds(after: float) -> float:
        environment = {**os.environ, "TILEWRIGHT_CACHE": "off"}
        tests = str(Path(__file__).parent.parent)
        code = f"import sys; sys.path.insert(0, {tests!r}); from driver.test_interrupted_calls import interrupt; interrupt({name!r}, {after})"
        ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
        assert ran.returncode == 0 and ran.stderr == "", (ran.stdout, ran.stderr[-2000:])
        return float(ran.stdout)

    # Three moments; a machine may stand still once.
    found = [seconds(after) for after in (0.2, 0.9, 2.5)]
    assert sorted(found)[1] < 0.1, found


PROGRAM = """
from tilewright import te
A, B = (te.placeholder((128, 128), name=name) for name in "AB")
k = te.reduce_axis((0, 128), name="k")
C = te.compute((128, 128), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
outputs = [C]
"""


def test_a_command_ends_by_the_signal_itself(tmp_path: Path) -> None:
    """As shells expect it; the interpreter would free all modules before, which takes longer than a tenth of a second."""
    file, database = tmp_path / "program.py", tmp_path / "tuning.db"
    file.write_text(PROGRAM)
    command = [sys.executable, "-m", "tilewright", "tune", str(file), "--target=cpu", "--trials=1000"]

    def seconds() -> float:
        database.unlink(missing_ok=True)
        process = subprocess.Popen(
            [*command, f"--database={database}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )  # fmt: skip
        while not database.exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        time.sleep(1)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        output = process.communicate(timeout=60)
        assert (process.returncode, *output) == (-signal.SIGINT, "", "")
        return time.monotonic() - sent

    assert min(seconds() for _ in range(3)) < 0.1
