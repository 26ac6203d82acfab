"""Calls of a compiled model in this process: one function for all groups, and what they say where memory ends."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.graph import Graph, GraphBuilder, TensorType, compile_graph

FAKE = Path(__file__).parents[1] / "runtime" / "fake_cuda_python.c"
RNG = np.random.default_rng(7)
W = RNG.standard_normal((6, 6)).astype("float32")


def _steps(count: int, rows: int | te.Var = 4) -> Graph:
    """A chain of matmuls, each of which is a group."""
    symbols = {} if isinstance(rows, int) else {rows.name: rows}
    with GraphBuilder("steps", [("x", TensorType((rows, 6), "float32"))], symbols) as b:
        y, w = b.inputs["x"], b.weight("w", W)
        for _ in range(count):
            y = b.op("tanh", b.op("matmul", y, w, acc="float32", to="float32"))
        return b.finish([("y", y)])


def _expected(x: np.ndarray, count: int) -> np.ndarray:
    for _ in range(count):
        x = np.tanh(x @ W)
    return x


def test_a_call_runs_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    model = compile_graph(_steps(5), "cpu")
    assert len(model.groups) == 5

    def refused(*_: object) -> None:
        raise AssertionError("a group was called by itself")

    for group in model.groups:
        monkeypatch.setattr(type(group), "function", property(lambda self: _Once(self.functions[self.key], refused)))
    x = RNG.standard_normal((4, 6)).astype("float32")
    np.testing.assert_allclose(model(x), _expected(x, 5), rtol=1e-5)


class _Once:
    """A function that may not be called."""

    def __init__(self, function: object, call: object) -> None:
        self._function, self._call = function, call

    def __getattr__(self, name: str) -> object:
        return getattr(self._function, name)

    def __call__(self, *arguments: object) -> None:
        self._call(*arguments)  # type: ignore[operator]


@pytest.mark.sweep
def test_fifty_lengths_are_one_compilation() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(3)
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.0).eval()
    compiled = []
    model = tw.compile(layer, (torch.randn(1, 9, 16),), target="cpu", dynamic_shapes=({1: "length"},))
    functions = [group.function for group in model.groups]
    lengths = [1, 2, *range(5, 245, 5)]
    assert len(lengths) == 50
    for length in lengths:
        x = torch.randn(1, length, 16)
        with torch.no_grad():
            torch.testing.assert_close(model(x), layer(x), rtol=1e-4, atol=1e-5)
        compiled.append(id(model.host_function()))
    assert len(set(compiled)) == 1
    assert all(group.function is function for group, function in zip(model.groups, functions))


def test_many_threads_call_a_model() -> None:
    model = compile_graph(_steps(3, te.var("n")), "cpu")

    def right(rows: int) -> bool:
        x = np.full((rows, 6), 1 / rows, "float32")
        return bool(np.allclose(model(x), _expected(x, 3), atol=1e-5))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(right, [1 + i % 9 for i in range(200)]))


@pytest.mark.sweep
def test_many_threads_compile_a_model() -> None:
    """torch.export is for one thread at a time."""
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(*[torch.nn.Linear(8, 8) for _ in range(4)])
    x = torch.ones(2, 8)
    wanted = model(x).detach()
    with ThreadPoolExecutor(4) as threads:
        for made in threads.map(lambda _: tw.compile(model, (x,), target="cpu")(x), range(4)):
            torch.testing.assert_close(made, wanted)


def test_empty_tensors_and_outputs_that_are_inputs() -> None:
    n = te.var("n")
    with GraphBuilder("passing", [("x", TensorType((n, 3), "float32"))], {"n": n}) as b:
        x = b.inputs["x"]
        y = b.op("relu", x)
        graph = b.finish([("x", x), ("w", b.weight("w", W)), ("y", y), ("z", y)])
    model = compile_graph(graph, "cpu")
    for rows in (0, 2):
        given = RNG.standard_normal((rows, 3)).astype("float32")
        x, w, y, z = model(given)
        assert x is not given and not np.shares_memory(x, given) and np.array_equal(x, given)
        assert np.array_equal(w, W) and not np.shares_memory(y, z)
        assert np.array_equal(y, np.maximum(given, 0)) and np.array_equal(z, y)


def test_extents_that_no_memory_has() -> None:
    n = te.var("n")
    with GraphBuilder("outer", [("x", TensorType((n,), "int8"))], {"n": n}) as b:
        wide = b.op("expand", b.op("reshape", b.inputs["x"], shape=[1, n]), shape=[n, n])
        graph = b.finish([("y", b.op("reduce_sum", b.op("exp", b.op("cast", wide, to="float32", saturate=True)),
                                     axes=[0, 1], keepdims=False))])  # fmt: skip
    model = compile_graph(graph, "cpu", without=["fuse-operators"])
    x = np.broadcast_to(np.zeros(1, "int8"), (1 << 24,))
    with pytest.raises(MemoryError) as caught:
        model(x)
    assert str(caught.value) == f"model: no memory for {8 << 48} bytes of temporaries"


# ---------------------------------------------------------------------------- a GPU that is not there


ON_FAKE = """
import sys
import numpy as np
import tilewright as tw
from tilewright.graph import GraphBuilder, TensorType, compile_graph

size = int(sys.argv[1])
with GraphBuilder("doubling", [("x", TensorType((size,), "float32"))]) as b:
    y = b.op("mul", b.inputs["x"], b.constant(2.0, "float32"))
    for _ in range(2):
        y = b.op("mul", y, b.constant(2.0, "float32"))
    graph = b.finish([("y", y), ("w", b.weight("w", np.arange(5, dtype=np.float32)))])
model = compile_graph(graph, tw.Target("cuda", arch="sm_90a"), without=["fuse-operators", "canonicalize"])
x = np.arange(size, dtype=np.float32)
for _ in range(2):
    try:
        y, w = model(x)
    except tw.DriverError as error:
        print(error)
        continue
    assert (y == 8 * x).all() and (w == np.arange(5)).all(), (y, w)
    print("right")
"""


def ran_on_fake(folder: Path, size: int, most: int) -> str:
    """What the script prints on a GPU that allocates so many bytes."""
    fake = ["cc", "-shared", "-fPIC", "-w", "-DMAJOR=9", "-DMINOR=0", f"-DMOST={most}l"]
    subprocess.run([*fake, "-o", str(folder / "libcuda.so.1"), str(FAKE)], check=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder), "TILEWRIGHT_CACHE": "off"}
    made = subprocess.run(
        [sys.executable, "-c", ON_FAKE, str(size)], capture_output=True, text=True, check=False, env=environment
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return made.stdout


NEEDS = (
    "a call of doubling needs 3200040 bytes (20 for weights, 800000 for inputs, 800020 for outputs, "
    "1600000 for the arena)"
)
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler for the fake driver")


@pytest.mark.sweep
@needs_compiler
def test_a_call_on_a_gpu_that_is_not_there(tmp_path: Path) -> None:
    assert ran_on_fake(tmp_path, 64, 1 << 30) == "right\nright\n"


@pytest.mark.sweep
@needs_compiler
def test_no_memory_for_the_arena_says_what_the_plan_needs(tmp_path: Path) -> None:
    said = (
        "cuMemAllocFromPoolAsync failed with CUDA_ERROR_OUT_OF_MEMORY (2): 1600000 bytes for the arena of model on "
        f"cuda:0; free memory on the GPU, or let fewer programs share it; {NEEDS}\n"
    )
    assert ran_on_fake(tmp_path, 200_000, 1_500_000) == 2 * said


@needs_compiler
@pytest.mark.sweep
def test_no_memory_for_an_array_says_what_the_plan_needs(tmp_path: Path) -> None:
    said = (
        "cuMemAlloc failed with CUDA_ERROR_OUT_OF_MEMORY (2): 800256 bytes wanted on cuda:0, with 0 in use by "
        f"Tilewright's arrays; {NEEDS}\n"
    )
    assert ran_on_fake(tmp_path, 200_000, 1000) == 2 * said


# ---------------------------------------------------------------------------- schedules for a processor


def test_heads_are_joined_by_a_copy_before_a_matmul() -> None:
    """Reads that divide an axis of a contraction have no vectors; a transposed weight is read where it is."""
    with GraphBuilder("joined", [("x", TensorType((4, 32, 16), "float32"))]) as b:
        x = b.op("transpose", b.inputs["x"], permutation=[1, 0, 2])
        w = b.op("transpose", b.weight("w", RNG.standard_normal((8, 64)).astype("float32")), permutation=[1, 0])
        y = b.op("matmul", b.op("reshape", x, shape=[32, 64]), w, acc="float32", to="float32")
        graph = b.finish([("y", y)])
    weight = graph.weights["w"]
    model = compile_graph(graph, "cpu")
    (group,) = model.groups
    trace = str(group.schedule.trace())
    assert trace.count("compute_inline()") == 1, trace
    assert len(group.schedule.stages) == 3  # a transpose, the reshape and the matmul
    x = RNG.standard_normal((4, 32, 16)).astype("float32")
    np.testing.assert_allclose(model(x), x.transpose(1, 0, 2).reshape(32, 64) @ weight.T, rtol=1e-4, atol=1e-5)
