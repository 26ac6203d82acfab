"""Whole models as one library: against PyTorch, with symbolic extents, and what is refused."""

from __future__ import annotations

import ctypes
import json
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from fake_arrays import ON_GPU, WITHOUT_TORCH
from tilewright.graph import GraphBuilder, TensorType

torch = pytest.importorskip("torch")
tvm_ffi = pytest.importorskip("tvm_ffi")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler to link with"),
]
EXAMPLES = Path(__file__).parents[3] / "python" / "examples" / "whole_models"
FAKE = Path(__file__).parents[1] / "runtime" / "fake_cuda.c"


class Net(torch.nn.Module):
    """Two results, one of which has twice the rows of the input."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(6, 16), torch.nn.Linear(16, 8)

    def forward(self, x):
        y = torch.softmax(self.second(torch.relu(self.first(x))), 1)
        return torch.cat([y, torch.exp(y)], 0), y


@pytest.fixture(scope="module")
def net() -> torch.nn.Module:
    torch.manual_seed(1)
    return Net().eval()


@pytest.fixture(scope="module")
def exported(net: torch.nn.Module, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    tw.compile(net, (torch.randn(3, 6),), target="cpu", dynamic_shapes=({0: "n"},)).export(folder / "model.so")
    assert sorted(each.name for each in folder.iterdir()) == ["model.safetensors", "model.so"]
    return folder / "model.so"


def close(got, wanted) -> None:
    np.testing.assert_allclose(np.asarray(got), wanted.detach().numpy(), rtol=1e-5, atol=1e-6)


# ---------------------------------------------------------------------------- calls


@pytest.mark.sweep
def test_one_function_is_for_all_extents(net: torch.nn.Module, exported: Path) -> None:
    function = tvm_ffi.load_module(str(exported)).model
    for rows in (1, 3, 40, 2):
        x = torch.randn(rows, 6)
        results = function(x)
        for got, wanted in zip(results, net(x), strict=True):
            assert isinstance(got, torch.Tensor)
            close(got, wanted)


@pytest.mark.sweep
def test_outputs_may_be_given(net: torch.nn.Module, exported: Path) -> None:
    x, outputs = torch.randn(5, 6), (torch.empty(10, 8), torch.empty(5, 8))
    assert tvm_ffi.load_module(str(exported)).model(x, *outputs) is None
    for got, wanted in zip(outputs, net(x), strict=True):
        close(got, wanted)


def test_the_loader_takes_arrays_and_names(net: torch.nn.Module, exported: Path) -> None:
    model = tw.load_model(exported)
    assert model.inputs == ("x",)
    x = torch.randn(3, 6)
    for results in (model(x=x), model(x), model(x.numpy())):
        for got, wanted in zip(results, net(x), strict=True):
            close(got, wanted)
    assert all(isinstance(each, np.ndarray) for each in model(x.numpy()))
    assert all(isinstance(each, torch.Tensor) for each in model(x))
    with pytest.raises(TypeError) as caught:
        model(x, x)
    assert str(caught.value) == "model: expected 1 inputs (x), got 2"
    with pytest.raises(ValueError) as caught:
        tw.load_model("nowhere/model.so")
    assert str(caught.value) == "expected an exported model, got 'nowhere/model.so', which is no file"


@pytest.mark.sweep
def test_a_file_that_is_no_library_is_named(tmp_path: Path) -> None:
    path = tmp_path / "model.so"
    path.write_text("weights")
    with pytest.raises(ValueError) as caught:
        tw.load_model(path)
    assert str(caught.value) == (f"expected an exported model, got '{path}', which cannot be loaded: file too short")


def test_many_threads_call_it(net: torch.nn.Module, exported: Path) -> None:
    function = tvm_ffi.load_module(str(exported)).model

    def call(rows: int) -> bool:
        x = torch.full((rows, 6), float(rows))
        with torch.no_grad():
            return all(torch.allclose(got, wanted, atol=1e-5) for got, wanted in zip(function(x), net(x)))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(call, [1 + i % 9 for i in range(200)]))


def test_calls_keep_no_memory(exported: Path) -> None:
    function, x = tvm_ffi.load_module(str(exported)).model, torch.randn(2000, 6)
    array, wrong = x.numpy(), torch.randn(2000, 5)

    def call(times: int) -> int:
        for _ in range(times):
            function(x)
            function(array)
            with pytest.raises(ValueError):
                function(wrong)
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    before = call(20)
    # Each call takes some 200 KB.
    assert call(300) - before < 8 << 20


class Passing(torch.nn.Module):
    """Outputs that are an input, a weight, and a result that is another output, too."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(5.0))

    def forward(self, x):
        y = x * 2
        return x, self.weight, y, y, y + 1


@pytest.mark.sweep
def test_outputs_that_are_something_else(tmp_path: Path) -> None:
    module, x = Passing(), torch.randn(3)
    tw.compile(module, (x,), target="cpu").export(tmp_path / "a.so", "passing")
    results = tvm_ffi.load_module(str(tmp_path / "a.so")).passing(x)
    for got, wanted in zip(results, module(x), strict=True):
        close(got, wanted)
    assert len({each.data_ptr() for each in results} | {x.data_ptr()}) == 6


def test_a_model_without_weights(tmp_path: Path) -> None:
    class Twice(torch.nn.Module):
        def forward(self, x):
            return x * 2

    tw.compile(Twice(), (torch.ones(3),), target="cpu").export(tmp_path / "twice.so")
    assert [each.name for each in tmp_path.iterdir()] == ["twice.so"]
    assert tvm_ffi.load_module(str(tmp_path / "twice.so")).model(torch.ones(3)).tolist() == [2, 2, 2]


# ---------------------------------------------------------------------------- calls that are refused


@pytest.mark.parametrize(
    ("x", "kind", "said"),
    [
        (torch.ones(3, 5), ValueError, "argument 0 (x): expected extent 6 in dimension 1, got shape (3, 5)"),
        (torch.ones(3, 6).double(), TypeError, "argument 0 (x): expected dtype float32, got float64"),
        (torch.ones(6), ValueError, "argument 0 (x): expected 2 dimensions, got shape (6,)"),
        (3, TypeError, "argument 0 (x): expected a tensor, got int"),
    ],
)
def test_inputs_are_checked(exported: Path, x, kind, said: str) -> None:
    function = tvm_ffi.load_module(str(exported)).model
    with pytest.raises(kind) as caught:
        function(x)
    assert str(caught.value).endswith(said), caught.value
    assert str(caught.value).startswith("model(x: float32[n, 6], ")


def test_extents_that_follow_from_others_are_checked(exported: Path) -> None:
    function = tvm_ffi.load_module(str(exported)).model
    with pytest.raises(ValueError) as caught:
        function(torch.ones(3, 6), torch.ones(7, 8), torch.ones(3, 8))
    assert re.search(
        r"argument 1 \(\w+\): expected extent .*n.* = 6 in dimension 0, got shape \(7, 8\)$", str(caught.value)
    )


class OfShape:
    """An array on the cpu that says that it has a shape."""

    def __init__(self, length: int) -> None:
        self.held, self.shape = np.zeros(64, np.float32), (ctypes.c_int64 * 1)(length)
        place = self.held.ctypes.data + -self.held.ctypes.data % 64
        # DLManagedTensor: data, device, ndim, dtype, shape, strides, offset, context, deleter
        self.managed = struct.pack("PiiiBBHPPQPP", place, 1, 0, 1, 2, 32, 1, ctypes.addressof(self.shape), 0, 0, 0, 0)
        self.buffer = ctypes.create_string_buffer(self.managed)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **options: object) -> object:
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self.buffer), b"dltensor", None)


class Outer(torch.nn.Module):
    def __init__(self, flat: bool) -> None:
        super().__init__()
        self.flat = flat

    def forward(self, x, y):
        z = torch.exp(x[:, None] * y[None, :])
        return z.flatten() if self.flat else z.sum(1)


@pytest.mark.sweep
@pytest.mark.parametrize("flat", [False, True])
def test_extents_that_overflow(flat: bool, tmp_path: Path) -> None:
    x, y = torch.ones(3), torch.ones(4)
    shapes = ({0: "n"}, {0: "m"})
    model = tw.compile(Outer(flat), (x, y), target="cpu", dynamic_shapes=shapes, without=["fuse-operators"])
    model.export(tmp_path / "outer.so")
    function = tvm_ffi.load_module(str(tmp_path / "outer.so")).model
    close(function(x, y), Outer(flat)(x, y))
    huge = [OfShape(1 << 40) for _ in range(2)]
    with pytest.raises(ValueError) as caught:
        function(*(tvm_ffi.from_dlpack(each) for each in huge))
    said = str(caught.value)
    assert said.startswith("model(x: float32[n], y: float32[m], ")
    assert said.endswith(
        "): expected inputs from whose extents those of all tensors follow, got ones that lead to a number beyond 63 bits "
        "or a division by zero"
        if flat
        else "): expected extents that are not negative, of tensors whose bytes 63 bits count, got "
        "(1099511627776, 1099511627776) for mul"
    ), said


# ---------------------------------------------------------------------------- the weights


@pytest.fixture
def moved(exported: Path, tmp_path: Path) -> Path:
    """A copy of the library and its weights."""
    for name in ("model.so", "model.safetensors"):
        shutil.copy(exported.with_name(name), tmp_path)
    return tmp_path


def refused(folder: Path) -> str:
    with pytest.raises(RuntimeError) as caught:
        tvm_ffi.load_module(str(folder / "model.so")).model(torch.ones(3, 6))
    return str(caught.value)


def test_weights_are_a_file_of_safetensors(net: torch.nn.Module, exported: Path) -> None:
    data = exported.with_name("model.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    assert len(header.pop("__metadata__")["sha256"]) == 64
    found = {}
    ends = sorted(entry["data_offsets"] for entry in header.values())
    assert [begin for begin, _ in ends[1:]] == [end for _, end in ends[:-1]], "a gap"
    assert ends[0][0] == 0 and 8 + length + ends[-1][1] == len(data)
    for name, entry in header.items():
        if entry["dtype"] == "F32":
            begin, end = entry["data_offsets"]
            found[name] = np.frombuffer(data[8 + length + begin : 8 + length + end], np.float32).reshape(entry["shape"])
    for name, weight in net.state_dict().items():
        assert any(np.array_equal(weight.numpy(), each) for each in found.values()), (name, list(found))


def test_weights_that_are_missing(moved: Path) -> None:
    (moved / "model.safetensors").rename(moved / "other")
    path = moved / "model.safetensors"
    assert refused(moved) == (f"model: expected the weights in {path}, beside the library: No such file or directory")
    function = tvm_ffi.load_module(str(moved / "model.so")).model
    (moved / "other").rename(path)
    function(torch.ones(3, 6))  # which looks again


def test_weights_that_are_cut_off(moved: Path) -> None:
    path = moved / "model.safetensors"
    size = path.stat().st_size
    os.truncate(path, size - 1)
    assert refused(moved) == (
        f"model: expected the weights that the library was exported with, of {size} bytes, in {path}, got {size - 1} bytes"
    )


@pytest.mark.sweep
def test_weights_of_another_export(net: torch.nn.Module, moved: Path, tmp_path: Path) -> None:
    torch.manual_seed(2)
    other = tw.compile(Net().eval(), (torch.randn(3, 6),), target="cpu", dynamic_shapes=({0: "n"},))
    (tmp_path / "other").mkdir()
    other.export(tmp_path / "other" / "model.so")
    path = moved / "model.safetensors"
    shutil.copy(tmp_path / "other" / "model.safetensors", path)
    assert refused(moved) == (
        f"model: expected the weights that the library was exported with in {path}, got a file with another header"
    )


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "fifo"])
def test_weights_that_are_no_file(make: Callable[[Path], object], moved: Path) -> None:
    path = moved / "model.safetensors"
    path.unlink()
    make(path)
    assert refused(moved) == f"model: expected the weights in {path}, which is no file"


def test_a_relative_path_is_that_of_loading(net: torch.nn.Module, moved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(moved)
    function = tvm_ffi.load_module("./model.so").model
    monkeypatch.chdir("/")
    x = torch.randn(3, 6)
    close(function(x)[1], net(x)[1])


# ---------------------------------------------------------------------------- exports that are refused


@pytest.mark.sweep
def test_what_cannot_be_exported(net: torch.nn.Module, tmp_path: Path) -> None:
    simulated = tw.compile(net, (torch.randn(3, 6),), target="sim")
    with pytest.raises(tw.TilewrightError) as caught:
        simulated.export(tmp_path / "a.so")
    assert str(caught.value) == (
        f"{simulated.name} is compiled for target sim, which runs in this process alone: compile it for cuda or cpu"
    )
    model = tw.compile(net, (torch.randn(3, 6),), target="cpu")
    with pytest.raises(ValueError) as caught:
        model.export(tmp_path / "a.so", "not a name")
    assert str(caught.value) == "expected a name that is an identifier, got 'not a name'"
    with pytest.raises(tw.TilewrightError) as caught:
        model.export(tmp_path / "a.safetensors")
    assert str(caught.value) == ("expected the path of a library, got 'a.safetensors', which its weights are to have")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------------------- memory


@pytest.mark.sweep
def test_the_arena_is_hardly_larger_than_what_is_live() -> None:
    sys.path.insert(0, str(EXAMPLES))
    try:
        from resnet import ResNet
    finally:
        sys.path.remove(str(EXAMPLES))
    plan = tw.compile(ResNet().eval(), (torch.randn(1, 3, 64, 64),), target="cpu").plan
    assert plan.live_bytes <= plan.arena_bytes <= 1.05 * plan.live_bytes
    assert str(plan).startswith(f"arena: {plan.arena_bytes} bytes, of which {plan.live_bytes} are live at once\n")


# ---------------------------------------------------------------------------- examples


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES, tmp_path / "whole_models", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "whole_models"


def commands(name: str) -> list[str]:
    """The commands that a file of the example shows, for target cpu."""
    text = (EXAMPLES / name).read_text()
    return re.findall(r"^(?:Run it:)? +((?:python|g\+\+|LD_LIBRARY_PATH).*)$", text, re.MULTILINE)


def ran(command: str, folder: Path) -> str:
    made = subprocess.run(
        ["bash", "-c", command.replace("python ", f"{sys.executable} ", 1)], cwd=folder, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return made.stdout


@pytest.mark.sweep
@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")
@pytest.mark.skipif(shutil.which("tvm-ffi-config") is None, reason="tvm-ffi's command is not on the path")
def test_a_resnet_from_cpp(folder: Path) -> None:
    found = commands("resnet.py")
    assert len(found) == 3
    exported, _, run = [ran(command, folder) for command in found]
    assert re.fullmatch(r"resnet\.so: \d+ groups, \d+ bytes of arena for cpu\n", exported)
    assert run == "right\n"


@pytest.mark.sweep
def test_text_with_a_cache(folder: Path) -> None:
    (command,) = commands("generate.py")
    tokens, last = ran(command, folder).splitlines()
    assert len(tokens.split()) == 16
    assert last == "right"


# ---------------------------------------------------------------------------- a GPU that is not there


ON_FAKE = (
    WITHOUT_TORCH
    + ON_GPU
    + """
def aligned(count):
    made = np.zeros(count + 64, np.float32)
    return made[-made.ctypes.data // 4 % 16 :][:count]

module = tvm_ffi.load_module(sys.argv[1])
module.model_load(0)
x, y, w = aligned(64), aligned(64), aligned(5)
x[:] = np.arange(64)
for _ in range(2):
    y[:] = w[:] = 0
    module.model(*(tvm_ffi.from_dlpack(OnGPU(each)) for each in (x, y, w)))
    assert (y == 4 * x).all() and (w == np.arange(5)).all(), (y, w)
print("right")
"""
)


class Doubling(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(5.0))

    def forward(self, x):
        return (x * 2) * 2, self.weight


@pytest.mark.sweep
def test_groups_arena_and_weights_on_a_gpu_that_is_not_there(tmp_path: Path) -> None:
    target = tw.Target("cuda", arch="sm_90a")
    tw.compile(Doubling(), (torch.ones(64),), target=target, without=["fuse-operators"]).export(tmp_path / "model.so")
    fake = ["cc", "-shared", "-fPIC", "-w", "-DMAJOR=9", "-DMINOR=0", "-o", str(tmp_path / "libcuda.so.1")]
    subprocess.run([*fake, str(FAKE)], check=True)
    assert _on_fake(ON_FAKE, tmp_path) == "right\n"


def _on_fake(script: str, folder: Path) -> str:
    """What a script prints whose driver is the fake one in the folder."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["LD_LIBRARY_PATH"] = str(folder)
    made = subprocess.run(
        [sys.executable, "-c", script, folder / "model.so"], capture_output=True, text=True, check=False,
        env=environment,
    )  # fmt: skip
    return made.stdout + made.stderr


COUNTED_ON_FAKE = ON_FAKE[: ON_FAKE.index("module = ")].replace(
    "(2, 32, 1, 0)", "(0, 64, 1, 0) if array.dtype == np.int64 else (2, 32, 1, 0)"
) + (
    """
model = tvm_ffi.load_module(sys.argv[1]).model
x, y, count = aligned(64), aligned(64), aligned(2).view(np.int64)
x[:] = np.arange(64)
for wanted in (64, 64, 65):
    y[:], count[:] = 0, wanted
    try:
        model(*(tvm_ffi.from_dlpack(OnGPU(each)) for each in (x, count, y)))
    except ValueError as error:
        print(error)
    else:
        assert (y == 2 * x).all(), y
        print("right")
"""
)


def test_numbers_are_read_on_a_gpu_that_is_not_there(tmp_path: Path) -> None:
    with GraphBuilder("m", [("x", TensorType((64,), "float32")), ("count", TensorType((1,), "int64"))]) as b:
        n = b.count(tw.te.var("n"), b.op("reshape", b.inputs["count"], shape=[]))
        places = b.op("iota", shape=[n], axis=0, to="int64")
        graph = b.finish([("y", b.op("gather", b.inputs["x"], places, axis=0))])
    tw.compile(graph, target=tw.Target("cuda", arch="sm_90a")).export(tmp_path / "model.so")
    fake = ["cc", "-shared", "-fPIC", "-w", "-DMAJOR=9", "-DMINOR=0", "-o", str(tmp_path / "libcuda.so.1")]
    subprocess.run([*fake, str(FAKE)], check=True)
    assert _on_fake(COUNTED_ON_FAKE, tmp_path).splitlines() == [
        "right",
        "right",
        "model(x: float32[64], count: int64[1], y: float32[n]): argument 2 (y): expected extent n = 65 in dimension 0, "
        "got shape (64,)",
    ]


# ---------------------------------------------------------------------------- a GPU


@pytest.mark.gpu
def test_a_library_for_gpus(net: torch.nn.Module, tmp_path: Path) -> None:
    if not tw.cuda(0).exist:
        pytest.skip("no NVIDIA GPU here")
    shapes = ({0: "n"},)
    tw.compile(net, (torch.randn(3, 6),), target="cuda", dynamic_shapes=shapes).export(tmp_path / "model.so")
    module = tvm_ffi.load_module(str(tmp_path / "model.so"))
    module.model_load(0)
    for rows in (1, 3, 1000):
        x = torch.randn(rows, 6)
        arrays = [
            tw.nd.array(x.numpy(), tw.cuda(0)),
            *(tw.nd.empty((n, 8), "float32", tw.cuda(0)) for n in (2 * rows, rows)),
        ]
        module.model(*(tvm_ffi.from_dlpack(each) for each in arrays))
        for got, wanted in zip(arrays[1:], net(x), strict=True):
            np.testing.assert_allclose(got.numpy(), wanted.detach().numpy(), rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match=r"argument 0 \(x\): expected"):
        module.model(torch.randn(3, 6))
