"""Ctrl-C ends each call that takes long, and no part of it goes on: compiling many kernels, exporting, tuning, importing
a model. Of the simulator: sim/test_interrupts.py; within one pass: test_interrupts.py."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from ctrl_c import Held, interrupt
from tilewright import schedules, te
from tilewright.tuning import search

SM90 = "cuda -arch=sm_90a"


def many_kernels(folder: Path) -> Callable[[], object]:
    made = [schedules.softmax(64, 256 + i) for i in range(3)]
    return lambda: [tw.build(*each, SM90, f"f{i}").cubin for i, each in enumerate(made)]


def many_rules(folder: Path) -> Callable[[], object]:
    A = te.placeholder((1024, 1024), name="A")
    B = te.compute(A.shape, lambda i, j: te.exp(A[i, j]), name="B")
    return lambda: [tw.auto_schedule([B], SM90) for _ in range(100)]


def exporting_a_library(folder: Path) -> Callable[[], object]:
    functions = [tw.build(*schedules.softmax(64, 256 + i), SM90, f"f{i}") for i in range(2)]
    options: dict[str, Any] = {"architectures": ["sm_80", "sm_90a"], "mcpu": ["x86-64-v2", "x86-64-v3"]}
    return lambda: tw.export_library(functions, folder / "library.so", **options)


def exporting_a_model(folder: Path) -> Callable[[], object]:
    model = tw.compile(_model(2), target="cpu")
    return lambda: model.export(folder / "model.so")


def importing_a_model(folder: Path) -> Callable[[], object]:
    model = _model(4)
    return lambda: tw.compile(model, target="sim")


def _model(layers: int, width: int = 16) -> Any:
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


def tuning(folder: Path) -> Callable[[], object]:
    A, B = (te.placeholder((128, 128), name=name) for name in "AB")
    k = te.reduce_axis((0, 128), name="k")
    C = te.compute((128, 128), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    return lambda: tw.tune([C], "cpu", trials=1000)


CALLS = {each.__name__: each for each in (many_kernels, exporting_a_library, exporting_a_model, importing_a_model)}


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("held", [1, 2, 3], indirect=True)
@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_ends_the_call(name: str, held: Held, tmp_path: Path) -> None:
    if name.endswith("_a_model"):
        pytest.importorskip("onnx")
    number, held.number = held.number, 0
    call = CALLS[name](tmp_path)
    held.begun, held.number = 0, number
    interrupt(call, held)
    assert not list(tmp_path.iterdir()), "a file of an export that did not end"


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("entered", [100, 5000, 20000])
def test_an_interrupt_ends_rules(entered: int, tmp_path: Path) -> None:
    """They are Python's: Ctrl-C comes at the entry of a function, and few are entered after it."""
    call, count = many_rules(tmp_path), 0

    def profile(frame: object, event: str, arg: object) -> None:
        nonlocal count
        if event == "call":
            count += 1
            if count == entered:
                signal.raise_signal(signal.SIGINT)

    sys.setprofile(profile)
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
    finally:
        sys.setprofile(None)
    assert entered <= count < entered + 100


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("number", [1, 2])
def test_an_interrupt_does_not_wait_for_a_trial(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held, run = Held(number), search.run_trial
    monkeypatch.setattr(search, "run_trial", lambda task: held.within(lambda: {} if held.is_released else run(task))())
    interrupt(tuning(tmp_path), held)


PROGRAM = """
import os, signal, threading
from tilewright import te
from tilewright.tuning import search

def run_trial(task):
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait()

search.run_trial = run_trial
A, B = (te.placeholder((128, 128), name=name) for name in "AB")
k = te.reduce_axis((0, 128), name="k")
C = te.compute((128, 128), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
outputs = [C]
"""


@pytest.mark.sweep
def test_a_command_ends_by_the_signal_itself(tmp_path: Path) -> None:
    """As shells expect it. The interpreter would wait for the trial's thread, which never ends."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    process = subprocess.Popen(
        [sys.executable, "-m", "tilewright", "tune", str(file), "--target=cpu", f"--database={tmp_path / 'tuning.db'}"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "TILEWRIGHT_CACHE": "off"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    try:
        output = process.communicate(timeout=600)
    finally:
        process.kill()
    assert (process.returncode, *output) == (-signal.SIGINT, "", "")
