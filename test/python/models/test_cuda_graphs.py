"""The launches of a model as CUDA graphs, on a driver that is not there: order, keys, updates and what fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tilewright as tw
from fake_arrays import ON_GPU, WITHOUT_TORCH
from tilewright import te
from tilewright.graph import Graph, GraphBuilder, TensorType, compile_graph, ir_of_graph

pytest.importorskip("tvm_ffi")
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler for the fake driver")
FAKE = Path(__file__).parents[1] / "runtime" / "fake_cuda.c"
TARGET = tw.Target("cuda", arch="sm_90a")

# What the scripts begin with: arrays that say that they are on the GPU, and what the driver was asked for.
BEGIN = (
    WITHOUT_TORCH
    + ON_GPU
    + """
def aligned(count):
    made = np.zeros(count + 64, np.float32)
    made = made[-made.ctypes.data // 4 % 16 :][:count]
    made[:] = np.arange(count) + len(keep)
    keep.append(made)
    return made

driver = ctypes.CDLL("libcuda.so.1")
NAMES = ["launches", "captures", "instances", "updates", "graph_launches", "graphs", "streams", "allocations", "captured"]
counts, codes = ((ctypes.c_int * len(NAMES)).in_dll(driver, name) for name in ("fake_counts", "fake_codes"))
capturing = ctypes.c_void_p.in_dll(driver, "fake_capturing")
model = tvm_ffi.load_module(sys.argv[1]).model

def call(x, y):
    # What the driver was asked for by a call whose result is right.
    before = list(counts)
    y[:] = 0
    model(*(tvm_ffi.from_dlpack(OnGPU(each)) for each in (x, y)))
    assert (y[:64] == FACTOR * x[:64]).all(), (x, y)
    return {name: now - old for name, now, old in zip(NAMES, counts, before) if now != old and name != "graphs"}

def fails(name, code):
    codes[NAMES.index(name)] = code

PLAIN = {"launches": 3, "allocations": 1}
CAPTURED = {"captures": 1, "instances": 1, "graph_launches": 1, "allocations": 1}
AGAIN = {"graph_launches": 1, "allocations": 1}
x, y = aligned(64), aligned(64)
"""
)


def _doubling(rows: int | te.Var = 64, groups: int = 3) -> Graph:
    """Products by 2, each of which is a group."""
    symbols = {} if isinstance(rows, int) else {rows.name: rows}
    with GraphBuilder("doubling", [("x", TensorType((rows,), "float32"))], symbols) as b:
        y = b.inputs["x"]
        for _ in range(groups):
            y = b.op("mul", y, b.constant(2.0, "float32"))
        return b.finish([("y", y)])


OFF = ("fuse-operators", "canonicalize")


def _run(script: str, folder: Path, graph: Graph | None = None, factor: int = 8, without: tuple[str, ...] = ()) -> None:
    """Exports a model, but for one that is there, and runs a script with it on the driver that is not there."""
    if not (folder / "model.so").exists():
        compile_graph(graph or _doubling(), TARGET, [*OFF, *without]).export(folder / "model.so")
    _run_script(BEGIN.replace("FACTOR", str(factor)) + script, folder, str(folder / "model.so"))


def _run_script(script: str, folder: Path, *arguments: str) -> None:
    driver = folder / "libcuda.so.1"
    if not driver.exists():
        fake = ["cc", "-shared", "-fPIC", "-w", "-DMAJOR=9", "-DMINOR=0", "-o", str(driver), str(FAKE)]
        subprocess.run(fake, check=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["LD_LIBRARY_PATH"] = str(folder)
    made = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False, env=environment
    )
    assert made.returncode == 0, made.stdout + made.stderr


@pytest.fixture(scope="module")
def doubling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose model and driver all tests of products by 8 share."""
    return tmp_path_factory.mktemp("doubling")


@pytest.mark.sweep
def test_the_second_call_captures_and_later_ones_launch(doubling: Path) -> None:
    script = """
streams = {"streams": 1}
assert call(x, y) == PLAIN
assert call(x, y) == {**CAPTURED, **streams}
assert ctypes.c_int.in_dll(driver, "fake_mode").value == 1  # thread-local
for _ in range(3):
    x += 1
    assert call(x, y) == AGAIN
"""
    _run(script, doubling)


def test_other_addresses_are_other_graphs_until_there_are_eight(doubling: Path) -> None:
    script = """
call(x, y), call(x, y)
xs = [aligned(64) for _ in range(8)]
for other in xs[:7]:
    assert call(other, y) == CAPTURED
for other in xs[:7]:
    assert call(other, y) == AGAIN
assert call(x, y) == AGAIN
updated = {**CAPTURED, "updates": 1}
del updated["instances"]
assert call(xs[7], y) == updated    # in the place of the one that was used longest ago
assert call(xs[0], y) == updated
assert call(xs[2], y) == AGAIN
assert call(x, aligned(64)) == updated  # an output
assert counts[NAMES.index("graphs")] == 8
fails("updates", 910)
assert call(x, aligned(64)) == {**updated, "instances": 1}
assert counts[NAMES.index("graphs")] == 8
"""
    _run(script, doubling)


@pytest.mark.sweep
def test_other_extents_are_other_graphs(tmp_path: Path) -> None:
    script = """
x, y = aligned(200), aligned(200)
call(x, y)
assert call(x, y) == {**CAPTURED, "streams": 1}
for length in (100, 128):
    assert call(x[:length], y[:length]) == CAPTURED
for length in (100, 200, 128):
    assert call(x[:length], y[:length]) == AGAIN
"""
    _run(script, tmp_path, _doubling(te.var("n")))


def test_a_stream_that_is_captured_gets_the_launches(doubling: Path) -> None:
    script = """
stream = ctypes.c_void_p(0x99)
def on(handle):
    before = ctypes.c_void_p()
    assert library.TVMFFIEnvSetStream(2, 0, handle, ctypes.byref(before)) == 0

library = ctypes.CDLL(tvm_ffi.libinfo.find_libtvm_ffi())
on(stream)
call(x, y)
capturing.value = 0x99
for _ in range(2):
    assert call(x, y) == PLAIN
capturing.value = None
assert call(x, y) == {**CAPTURED, "streams": 1}
capturing.value = 0x99
assert call(x, y) == PLAIN
on(None)
assert call(x, y) == AGAIN  # another stream, which is not captured
"""
    _run(script, doubling)


@pytest.mark.sample(1)
@pytest.mark.parametrize("failing", ["captures", "captured", "instances"])
def test_what_cannot_be_a_graph_is_launched(failing: str, doubling: Path) -> None:
    script = f"""
call(x, y)
fails({failing!r}, 900)
for _ in range(3):
    found = call(x, y)
    assert found["launches"] == 3 and "graph_launches" not in found, found
fails({failing!r}, 0)
assert call(x, y) == PLAIN  # no more after three failures
assert counts[NAMES.index("graphs")] == 0
"""
    _run(script, doubling)


def test_a_failure_that_goes_away(doubling: Path) -> None:
    script = """
call(x, y)
fails("captures", 900)
assert call(x, y) == {**PLAIN, "streams": 1}
fails("captures", 0)
assert call(x, y) == CAPTURED
"""
    _run(script, doubling)


def test_errors_of_launches_are_told(doubling: Path) -> None:
    script = """
def said():
    try:
        call(x, y)
    except RuntimeError as error:
        return str(error)

call(x, y), call(x, y)
fails("graph_launches", 1)
assert said() == "cuGraphLaunch failed with CUDA_ERROR_INVALID_VALUE (1): the kernels of model", said()
fails("graph_launches", 0)
assert call(x, y) == AGAIN
fails("captured", 1), fails("launches", 1)
x = aligned(64)
assert said().startswith("cuLaunchKernelEx failed with CUDA_ERROR_INVALID_VALUE (1): group_mul_kernel0"), said()
"""
    _run(script, doubling)


@pytest.mark.sweep
def test_the_switch(tmp_path: Path) -> None:
    _run("for _ in range(3): assert call(x, y) == PLAIN", tmp_path, without=("form-cuda-graph",))


@pytest.mark.sweep
def test_a_single_group_is_launched(tmp_path: Path) -> None:
    _run("for _ in range(3): assert call(x, y) == {'launches': 1}", tmp_path, _doubling(groups=1), 2)


@pytest.mark.sweep
def test_an_output_that_is_copied_is_in_the_graph(tmp_path: Path) -> None:
    with GraphBuilder("passing", [("x", TensorType((64,), "float32"))]) as b:
        y = b.inputs["x"]
        for _ in range(2):
            y = b.op("mul", y, b.constant(2.0, "float32"))
        graph = b.finish([("y", y), ("z", y)])
    script = """
whole, z = model, aligned(64)
model = lambda x, y: whole(x, y, tvm_ffi.from_dlpack(OnGPU(z)))
assert call(x, y) == PLAIN and (y == z).all()  # two kernels and a copy
assert call(x, y) == {**CAPTURED, "streams": 1}
x += 1
assert call(x, y) == AGAIN and (y == z).all()
"""
    _run(script, tmp_path, graph, 4)


@pytest.mark.sweep
def test_groups_share_their_workspace(tmp_path: Path) -> None:
    """The first call finds out how much they take; from then on it comes with the arena."""
    with GraphBuilder("sums", [("x", TensorType((1 << 20,), "float32"))]) as b:
        y = b.inputs["x"]
        for _ in range(2):
            y = b.op("reduce_sum", y, axes=[0], keepdims=True)
            y = b.op("expand", y, shape=[1 << 20])
        graph = b.finish([("y", y)])
    model = compile_graph(graph, TARGET, OFF)
    numbers = [group.function.host_program().workspace_bytes([1 << 20, 1]) for group in model.groups[::2]]
    assert all(numbers), numbers
    script = """
x, y = aligned(1 << 20), aligned(1 << 20)
def counted():
    before = list(counts)
    model(*(tvm_ffi.from_dlpack(OnGPU(each)) for each in (x, y)))
    return {name: now - old for name, now, old in zip(NAMES, counts, before)}

assert counted()["allocations"] == 3
second = counted()
assert (second["allocations"], second["captures"], second["graph_launches"], second["launches"]) == (1, 1, 1, 0), second
third = counted()
assert (third["allocations"], third["captures"], third["graph_launches"]) == (1, 0, 1), third
"""
    _run(script, tmp_path, graph)


IN_PROCESS = """
import ctypes, gc
import numpy as np
import tilewright as tw
from tilewright.graph import GraphBuilder, TensorType, compile_graph

with GraphBuilder("doubling", [("x", TensorType((64,), "float32"))]) as b:
    y = b.inputs["x"]
    for _ in range(3):
        y = b.op("mul", y, b.constant(2.0, "float32"))
    graph = b.finish([("y", y)])
driver = ctypes.CDLL("libcuda.so.1")
counts = (ctypes.c_int * 9).in_dll(driver, "fake_counts")
model = compile_graph(graph, tw.Target("cuda", arch="sm_90a"), ["fuse-operators", "canonicalize"])
x = np.arange(64, dtype=np.float32)
for _ in range(9):
    assert (model(x) == 8 * x).all()
assert counts[1] and counts[4] == 8, list(counts)
del model
gc.collect()
assert counts[5] == counts[6] == 0, list(counts)  # graphs and streams
"""


@pytest.mark.sweep
def test_a_model_of_this_process(tmp_path: Path) -> None:
    fake = FAKE.with_name("fake_cuda_python.c")
    command = [
        "cc",
        "-shared",
        "-fPIC",
        "-w",
        "-DMAJOR=9",
        "-DMINOR=0",
        "-o",
        str(tmp_path / "libcuda.so.1"),
        str(fake),
    ]
    subprocess.run(command, check=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "TILEWRIGHT_CACHE": "off"}
    made = subprocess.run(
        [sys.executable, "-c", IN_PROCESS], capture_output=True, text=True, check=False, env=environment
    )
    assert made.returncode == 0, made.stdout + made.stderr


def test_the_ir_says_it() -> None:
    def text(target: tw.Target | str, *without: str) -> str:
        return ir_of_graph(_doubling(), [*OFF, *without], target)["groups"]

    assert "graph.cuda_graph" in text(TARGET)
    for other in (text("cpu"), text(TARGET, "form-cuda-graph"), ir_of_graph(_doubling(), OFF)["groups"]):
        assert "graph.cuda_graph" not in other
    assert compile_graph(_doubling(), TARGET, OFF).cuda_graph
    assert not tw.compile(_doubling(), target=TARGET, without=OFF, cuda_graphs=False).cuda_graph


# ---------------------------------------------------------------------------- a GPU


@pytest.mark.gpu
def test_graphs_on_a_gpu() -> None:
    torch = pytest.importorskip("torch")
    if not tw.cuda(0).exist or not torch.cuda.is_available():
        pytest.skip("no NVIDIA GPU here")
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, dropout=0.0).eval()
    model = tw.compile(layer, (torch.randn(1, 9, 64),), target="cuda", dynamic_shapes=({1: "length"},))
    assert model.cuda_graph
    layer = layer.cuda()
    kept = []
    with torch.no_grad():
        for length in (9, 9, 9, 12, 9, 12, 33, *range(1, 40), 9):
            x = torch.randn(1, length, 64, device="cuda")
            kept.append(x)  # other addresses
            torch.testing.assert_close(model(x), layer(x), rtol=1e-3, atol=1e-3)
        x = torch.randn(1, 9, 64, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = model(x)
        for _ in range(3):
            x.copy_(torch.randn_like(x))
            graph.replay()
            torch.testing.assert_close(y, layer(x), rtol=1e-3, atol=1e-3)
