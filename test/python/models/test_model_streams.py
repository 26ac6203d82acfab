"""In which stream a model runs, in whose memory its outputs are, and how its groups are timed: on a driver that is not
there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tvm_ffi")
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler for the fake driver")
FAKE = Path(__file__).parents[1] / "runtime" / "fake_cuda_python.c"

BEGIN = """
import ctypes
import numpy as np
import tilewright as tw
from tilewright.graph import GraphBuilder, TensorType, compile_graph

driver = ctypes.CDLL("libcuda.so.1")
launches, captures, _, _, graph_launches, graphs, streams, allocations, _ = counts = (ctypes.c_int * 9).in_dll(
    driver, "fake_counts"
)
LAUNCHES, CAPTURES, GRAPH_LAUNCHES, GRAPHS, STREAMS = 0, 1, 4, 5, 6
with GraphBuilder("doubling", [("x", TensorType((64,), "float32"))]) as b:
    y = b.inputs["x"]
    for _ in range(3):
        y = b.op("mul", y, b.constant(2.0, "float32"))
    graph = b.finish([("y", y)])
model = compile_graph(graph, tw.Target("cuda", arch="sm_90a"), ["fuse-operators", "canonicalize"])
"""

TORCH = """
import torch
from fake_arrays import ON_GPU
exec(ON_GPU)

class OnDevice(torch.Tensor):
    # A tensor that says that it is on a GPU, whose current stream is 0x99.
    is_cuda = True
    def detach(self):
        return self
    def contiguous(self):
        return self
    def __dlpack_device__(self):
        return 2, 0
    def __dlpack__(self, *, stream=None, max_version=None):
        assert stream == CURRENT.cuda_stream, f"{stream:#x} would wait for the stream that is captured"
        with torch._C.DisableTorchFunctionSubclass():
            plain = self.as_subclass(torch.Tensor).numpy()
        return OnGPU(plain).__dlpack__()

class CURRENT:
    cuda_stream = 0x99

def empty(shape, dtype, device):
    assert device == "cuda:0"
    made = torch.zeros(shape, dtype=dtype).as_subclass(OnDevice)
    allocated.append(made)
    return made

allocated = []
torch.cuda.current_stream = lambda index: CURRENT
torch.empty = empty
x = torch.arange(64, dtype=torch.float32).as_subclass(OnDevice)

def right(y):
    assert y is allocated[-1], type(y)
    assert (y.as_subclass(torch.Tensor) == 8 * x.as_subclass(torch.Tensor)).all()
"""


def _run(script: str, folder: Path) -> None:
    library = str(folder / "libcuda.so.1")
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "-DMAJOR=9", "-DMINOR=0", "-o", library, str(FAKE)], check=True)
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder), "TILEWRIGHT_CACHE": "off", "PYTHONPATH": path}
    made = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment)
    assert made.returncode == 0, made.stdout + made.stderr


@pytest.mark.sweep
def test_tensors_of_torch_in_a_stream_that_torch_captures(tmp_path: Path) -> None:
    """Nothing waits for another stream, and no memory is allocated but torch's own."""
    pytest.importorskip("torch")
    script = """
right(model(x)), right(model(x))  # loads the kernels
counts[:] = [0] * 9
ctypes.c_void_p.in_dll(driver, "fake_capturing").value = 0x99
for _ in range(2):
    right(model(x))
assert counts[LAUNCHES] == 6 and not counts[CAPTURES] and not counts[GRAPH_LAUNCHES], list(counts)
ctypes.c_void_p.in_dll(driver, "fake_capturing").value = None
right(model(x))
assert counts[GRAPH_LAUNCHES] == 1, list(counts)
"""
    _run(BEGIN + TORCH + script, tmp_path)


@pytest.mark.sweep
def test_groups_are_timed_in_one_graph(tmp_path: Path) -> None:
    """A kernel takes two milliseconds on this driver, and an event half of one."""
    script = """
profile = model.profile(np.arange(64, dtype=np.float32), repeat=4)
assert [round(one.seconds, 9) for one in profile.groups] == [2e-3] * 3, str(profile)
assert counts[LAUNCHES] == 3 and counts[CAPTURES] == 1 and counts[GRAPH_LAUNCHES] == 5, list(counts)
assert counts[GRAPHS] == 0, list(counts)
"""
    _run(BEGIN + script, tmp_path)


@pytest.mark.sweep
def test_a_capture_that_fails_is_ended(tmp_path: Path) -> None:
    script = """
from tilewright.runtime.stream import Stream
from tilewright.runtime.timing_graph import time_in_turn

def refuses():
    raise ValueError("no")

stream = Stream(tw.cuda(0))
try:
    time_in_turn([refuses], tw.cuda(0), stream, 3)
except ValueError:
    pass
assert counts[CAPTURES] == 1 and counts[GRAPHS] == 0, list(counts)
"""
    _run(BEGIN + script, tmp_path)


@pytest.mark.sweep
def test_outputs_whose_extents_data_decide(tmp_path: Path) -> None:
    """A call has one function: it waits once for two numbers, and has the outputs allocated."""
    script = """
inputs = [("x", TensorType((64,), "float32")), *((name, TensorType((1,), "int64")) for name in "nm")]
with GraphBuilder("counted", inputs) as b:
    for name in "nm":
        b.count(tw.te.var(name), b.op("reshape", b.inputs[name], shape=[]))
    places = (b.op("iota", shape=[b.symbols[name]], axis=0, to="int64") for name in "nm")
    graph = b.finish([(f"y{i}", b.op("gather", b.inputs["x"], one, axis=0)) for i, one in enumerate(places)])
model = compile_graph(graph, tw.Target("cuda", arch="sm_90a"))
x, waits = tw.nd.array(np.arange(64, dtype=np.float32), tw.cuda(0)), ctypes.c_int.in_dll(driver, "fake_waits")

def call(*numbers):
    given = [tw.nd.array(np.array([each]), tw.cuda(0)) for each in numbers]
    before = waits.value
    outputs, extents = model.results_and_extents(x, *given)
    assert waits.value - before == 1 and extents == dict(zip("nm", numbers)), (waits, extents)
    assert [(one.shape, one.device) for one in outputs] == [((each,), tw.cuda(0)) for each in numbers]
    return outputs

for _ in range(2):
    for y in call(64, 64):
        assert (y.numpy() == 2 * np.arange(64)).all(), y.numpy()
call(0, 0)
try:
    call(64, -1)
except ValueError as error:
    assert str(error).endswith("of tensors whose bytes 63 bits count, got (-1,) for y1"), error
else:
    raise AssertionError("a negative extent")
"""
    _run(BEGIN + script, tmp_path)
