"""Groups measured by a library and by their own kernels, on a driver and a cuBLASLt that are not there."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from library_fakes import COUNTS, LIBRARIES, fakes, needs_compiler, run
from tilewright.graph import LibraryCall
from tilewright.graph.library_check import is_right

pytest.importorskip("tvm_ffi")

IMPORTS = """
import ctypes, sys
import numpy as np
import tilewright as tw
from tilewright.graph import GraphBuilder, TensorType
"""
MEASURED = (
    IMPORTS
    + COUNTS
    + """
folder = sys.argv[1]
open_lt(folder + "/another/libcublasLt.so")
with GraphBuilder("layers", [("x", TensorType((8, 8), "float32"))]) as b:
    y = b.inputs["x"]
    for i in range(3):
        y = b.op("matmul", y, b.weight("w", np.eye(8, dtype=np.float32) * 2), acc="float32", to="float32")
        y = b.op("relu", y) if i < 2 else y
    graph = b.finish([("y", y)])

@ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p))
def kernel(block):
    a, w, y = (np.ctypeslib.as_array((ctypes.c_float * 64).from_address(block[i])).reshape(8, 8) for i in range(3))
    y[...] = WRONG + np.maximum(a @ w, 0)

WRONG = 0
ctypes.c_void_p.in_dll(driver, "fake_kernel").value = ctypes.cast(kernel, ctypes.c_void_p).value
target = tw.Target("cuda", arch="sm_90a")
options = {"libraries": {"cublaslt": folder + "/another/libcublasLt.so"}, "database": folder + "/tuning.db"}
x = np.arange(64, dtype=np.float32).reshape(8, 8)
model = tw.compile(graph, target=target)
"""
)


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what is not there, the library under another name."""
    folder = tmp_path_factory.mktemp("process")
    fakes(folder, "fake_cuda_python.c")
    (folder / "another").mkdir()
    (folder / "libcublasLt.so.13").rename(folder / "another" / "libcublasLt.so")
    return folder


@pytest.mark.sweep
@needs_compiler
def test_what_is_measured_is_dispatched(process: Path) -> None:
    script = """
assert (model(x) == 8 * x).all()
times = model.tune_libraries(x, repeat=3, **options)
print(times)
assert [round(one.own_seconds, 9) for one in times.groups] == [2e-3] * 3
assert [round(one.library_seconds, 9) for one in times.groups] == [1e-3] * 3 and times.groups[0].is_faster
model = tw.compile(graph, target=target, **options)
for _ in range(4):
    found = counted(lambda: model(x))
    assert (model(x) == 8 * x).all() and "launches" not in found, found
print(model.groups[2])
assert [round(one.seconds, 9) for one in model.profile(x).groups] == [1e-3] * 3
assert model.verify(x)
handles = lt_counts[0]
model = tw.compile(graph, target=target, **options)
fails("matmuls", 14)
assert (model(2 * x) == 16 * x).all()
print(model.groups[2])
assert [one.library.problem == "" for one in model.groups] == [False] * 3
del model
import gc; gc.collect()
assert lt_counts[0] == handles == 1  # the same file stays open
assert list(lt_counts)[1:4] == [0, 0, 0], list(lt_counts)
"""
    (process / "tuning.db").unlink(missing_ok=True)
    told = run(MEASURED + script, process, keeps_path=True).splitlines()
    assert told[0] == "    2000.0 us  1000.0 us by cublaslt, by cublaslt from now on  matmul_relu"
    assert told[3].endswith("; by cublaslt: 1000 us, where its own kernel took 2000 us")
    assert told[4].endswith(
        "; by its own kernel, in place of cublaslt: cublasLtMatmul returned CUBLAS_STATUS_INTERNAL_ERROR (14) for "
        "8 x 8 by 8 x 8"
    )


@pytest.mark.sweep
@needs_compiler
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("ctypes.c_double.in_dll(driver, 'fake_library_time').value = 1.97",
         "    2000.0 us  1970.0 us by cublaslt, by its own kernel from now on  matmul_relu"),
        ("fails('heuristics', 15)",
         "    2000.0 us  cublaslt: cublasLtMatmulAlgoGetHeuristic returned CUBLAS_STATUS_NOT_SUPPORTED (15) for "
         "8 x 8 by 8 x 8  matmul_relu"),
        ("WRONG = 1e4",
         "    2000.0 us  cublaslt: the group's own kernel is off by 1.4e+02 from what the library is to compute  "
         "matmul_relu"),
    ],
)  # fmt: skip
def test_what_does_not_win_stays(change: str, told: str, process: Path) -> None:
    script = f"""
{change}
print(model.tune_libraries(x, repeat=3, **options))
model = tw.compile(graph, target=target, **options)
assert [one.library for one in model.groups] == [None] * 3, model.groups
"""
    (process / "tuning.db").unlink(missing_ok=True)
    found = run(MEASURED + script, process, keeps_path=True).splitlines()
    assert found[0] == told


@pytest.mark.sweep
@needs_compiler
def test_another_version_is_measured_anew(process: Path) -> None:
    script = """
import shutil
model.tune_libraries(x, repeat=3, **options)
shutil.copy(options["libraries"]["cublaslt"], folder + "/another/later.so")
later = ctypes.CDLL(folder + "/another/later.so")
ctypes.c_size_t.in_dll(later, "fake_lt_version").value += 1
newer = {**options, "libraries": {"cublaslt": folder + "/another/later.so"}}
assert [one.library for one in tw.compile(graph, target=target, **newer).groups] == [None] * 3
assert all(one.library for one in tw.compile(graph, target=target, **options).groups)
"""
    (process / "tuning.db").unlink(missing_ok=True)
    run(MEASURED + script, process, keeps_path=True)


@pytest.mark.sweep
@needs_compiler
def test_a_library_that_is_not_there_cannot_be_measured(process: Path) -> None:
    script = """
try:
    model.tune_libraries(x, database=folder + "/tuning.db", libraries={"cublaslt": "/nowhere/libcublasLt.so"})
except tw.TilewrightError as error:
    print(error)
"""
    told = run(MEASURED + script, process, keeps_path=True)
    missing = "/nowhere/libcublasLt.so: cannot open shared object file: No such file or directory"
    assert told == f"cublaslt cannot be measured: {missing}\n"


# ---------------------------------------------------------------------------- the check of results


def test_results_of_a_library_are_checked() -> None:
    rng = np.random.default_rng(0)
    a, b, bias = (rng.standard_normal(shape).astype(np.float32) for shape in ((2, 64, 8), (4, 8), (4,)))
    call = LibraryCall("cublaslt", 0, 1, None, (1, 0), 2, -1, "gelu_tanh", 0, 0)
    sums = a.astype(np.float64) @ b.T + bias
    exact = 0.5 * sums * (1 + np.tanh(0.7978845608028654 * (sums + 0.044715 * sums**3)))
    own = exact.astype(np.float32)
    assert is_right(call, [a, b, bias, own], own) == ""
    off = own.copy()
    off[0, 0, 0] += 1e-3
    assert re.fullmatch(
        r"off by 0\.00\d+, where the group's own kernel is off by \S+", is_right(call, [a, b, bias, own], off)
    )
    assert is_right(call, [a, b, bias, own + 1], own).startswith("the group's own kernel is off by ")
    x, w = (rng.integers(-9, 9, shape).astype(np.int8) for shape in ((4, 8), (8, 4)))
    whole = x.astype(np.int32) @ w
    wide = rng.standard_normal((8, 1000)).astype(np.float32)
    plain = LibraryCall("cublaslt", 0, 1, None, None, -1, 2, "none", 0, 0)
    result = a[0] @ wide + 1
    assert is_right(plain, [a[0], wide, np.ones_like(result), result], result) == ""
    result[-1, -1] += 1
    assert is_right(plain, [a[0], wide, np.ones_like(result), a[0] @ wide + 1], result)
    integers = LibraryCall("cublaslt", 0, 1, None, None, -1, -1, "none", 0, 0)
    assert is_right(integers, [x, w, whole], whole) == ""
    assert is_right(integers, [x, w, whole], whole + 1) == "wrong integers"


# ---------------------------------------------------------------------------- a GPU


@pytest.mark.gpu
def test_a_measurement_on_a_gpu(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if not tw.cuda(0).exist or not torch.cuda.is_available():
        pytest.skip("no NVIDIA GPU here")
    torch.manual_seed(0)
    parts = [torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024), torch.nn.GELU("tanh")]
    module = torch.nn.Sequential(*parts, torch.nn.Linear(1024, 512)).to(torch.bfloat16).eval()
    x = torch.randn(256, 512, dtype=torch.bfloat16)
    model = tw.compile(module, (x,), target="cuda")
    times = model.tune_libraries(x.cuda(), database=tmp_path / "tuning.db")
    assert len(times.groups) == 3 and not any(one.told for one in times.groups), str(times)
    model = tw.compile(module, (x,), target="cuda", libraries=LIBRARIES, database=tmp_path / "tuning.db")
    assert [one.library is not None for one in model.groups] == [one.is_faster for one in times.groups]
    with torch.no_grad():
        exact = module.double()(x.double())
        for _ in range(4):
            error = (model(x.cuda()).cpu().double() - exact).abs().max() / exact.abs().max()
            assert error < 0.02
    assert not any(one.library.problem for one in model.groups if one.library)
