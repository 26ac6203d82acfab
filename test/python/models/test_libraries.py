"""Groups that a library computes, in an exported library, on a driver and a cuBLASLt that are not there."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from fake_arrays import ON_GPU, WITHOUT_TORCH
from library_fakes import COUNTS, LIBRARIES, TARGET, compiled, fakes, layer, needs_compiler, run, two_layers
from tilewright import te
from tilewright.graph import Graph, GraphBuilder, LibraryCall, TensorType, compile_graph, ir_of_graph
from tilewright.graph.builder import Value
from tilewright.graph.library_records import candidates_in, is_faster
from tilewright.ir import context
from tilewright.records import Journal, Trial, Where, device_name
from tilewright.runtime.libraries import find_library

pytest.importorskip("tvm_ffi")

EXPORTED = (
    WITHOUT_TORCH
    + ON_GPU
    + COUNTS
    + """
def aligned(array):
    made = np.zeros(array.nbytes + 128, np.uint8)
    made = made[-made.ctypes.data % 64 :][: array.nbytes].view(array.dtype).reshape(array.shape)
    made[...] = array
    keep.append(made)
    return made

open_lt("libcublasLt.so.13")
model = tvm_ffi.load_module(sys.argv[1] + "/model.so").model

def call(*arrays):
    return model(*(tvm_ffi.from_dlpack(OnGPU(each)) for each in arrays))
"""
)
LAYERS = """
def expected(x):
    weights = {}
    for columns, rows in ((32, 16), (16, 32)):
        rng = np.random.default_rng(columns)
        w = rng.integers(-3, 4, (columns, rows)).astype(np.float32)
        weights[columns] = w.T, rng.integers(-3, 4, columns).astype(np.float32)
    hidden = np.maximum(x @ weights[32][0] + weights[32][1], 0)
    return hidden @ weights[16][0] + weights[16][1]

x, y = (aligned(np.arange(rows * 16).reshape(rows, 16).astype(np.float32) % 7 - 3) for rows in (8, 8))

def right(x, y):
    y[...] = 0
    found = counted(lambda: call(x, y))
    assert (y == expected(x)).all(), (y, expected(x))
    return found
"""


@pytest.fixture(scope="module")
def layers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two layers as an exported library, and what is not there."""
    folder = tmp_path_factory.mktemp("layers")
    fakes(folder)
    compiled(two_layers(), folder).export(folder / "model.so")
    return folder


# ---------------------------------------------------------------------------- what the IR and the groups say


def test_the_ir_and_the_groups_say_it(tmp_path: Path) -> None:
    model = compiled(two_layers(), tmp_path)
    texts = re.findall(r"#graph.library_matmul<[^>]*>", model.ir("groups"))
    assert texts == [
        "#graph.library_matmul<library = cublaslt, a = 1, b = 0, b_order = [1, 0], bias = 2, epilogue = relu, "
        "own_ns = 2000, library_ns = 1000>",
        "#graph.library_matmul<library = cublaslt, a = 1, b = 0, b_order = [1, 0], bias = 2, own_ns = 2000, "
        "library_ns = 1000>",
    ]
    call = model.groups[0].library
    assert call == LibraryCall("cublaslt", 1, 0, None, (1, 0), 2, -1, "relu", 2e-6, 1e-6)
    find_library("cublaslt", "/nowhere/libcublasLt.so.13")
    missing = "/nowhere/libcublasLt.so.13: cannot open shared object file: No such file or directory"
    assert str(model.groups[0]).endswith(f"; by its own kernel, in place of cublaslt: {missing}")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("ratio", "changed"), [(0.985, {}), (0.5, {"device": "another"}), (0.5, {"program": "another"})]
)
def test_without_a_record_that_says_so_own_kernels_run(ratio: float, changed: dict[str, str], tmp_path: Path) -> None:
    graph = two_layers()
    with Journal(tmp_path / "tuning.db") as journal, context():
        for one in candidates_in(ir_of_graph(graph, target=TARGET)["groups"], graph.name, "cublaslt"):
            known = {"program": one.program, "device": device_name(TARGET), "driver": "1", "compiler": "", "policy": ""}
            journal.add(Where(**known | changed), Trial("{}", "ok", "", (1e-6,), (1e-6,), ratio))
    model = compile_graph(graph, TARGET, libraries=LIBRARIES, database=tmp_path / "tuning.db")
    assert [group.library for group in model.groups] == [None, None]
    assert "library_matmul" not in model.ir("groups")


def test_a_group_is_dispatched_if_all_sizes_and_the_newest_records_say_so() -> None:
    def trial(size: int, ratio: float, status: str = "ok") -> Trial:
        return Trial(json.dumps({"sizes": {"n": size}}), status, ratio=ratio)

    good, bad = trial(8, 0.9), trial(16, 1.1)
    assert is_faster([]) is None
    assert is_faster([good]) is good
    assert is_faster([good, bad]) is None
    assert is_faster([trial(8, 1.2), good]) is good
    assert is_faster([good, trial(8, 1.2)]) is None
    assert is_faster([trial(8, 0.5, "wrong")]) is None


def test_equal_programs_have_one_key() -> None:
    def keys(graph: Graph) -> list[str]:
        with context():
            text = ir_of_graph(graph, target=TARGET)["groups"]
            return [one.program for one in candidates_in(text, graph.name, "cublaslt")]

    with GraphBuilder("same", [("x", TensorType((8, 16), "float32"))]) as b:
        one, two = layer(b, b.inputs["x"], 32, 16), layer(b, b.op("relu", b.inputs["x"]), 32, 16, "")
        same = b.finish([("one", one), ("two", two), ("three", layer(b, b.op("exp", b.inputs["x"]), 32, 16))])
    found = keys(same)
    assert len(found) == 3 and len(set(found)) == 2 and found[0] == keys(two_layers())[0]


# ---------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"libraries": "cublaslt", "database": "x.db"}, TypeError,
         "expected libraries as a sequence of names, or a mapping from names to files, got str"),
        ({"libraries": 3, "database": "x.db"}, TypeError,
         "expected libraries as a sequence of names, or a mapping from names to files, got int"),
        ({"libraries": ["cudnn"], "database": "x.db"}, ValueError, "expected a library (cublaslt), got 'cudnn'"),
        ({"libraries": {"cublaslt": 3}, "database": "x.db"}, TypeError,
         "expected the file of cublaslt as a path, got int"),
        ({"libraries": ["cublaslt"]}, ValueError,
         "expected libraries and the database that model.tune_libraries has written, or neither, got libraries alone"),
        ({"database": "x.db"}, ValueError,
         "expected libraries and the database that model.tune_libraries has written, or neither, got a database alone"),
        ({"libraries": ["cublaslt"], "database": "nowhere.db"}, ValueError,
         "expected the file of a database, got nowhere.db"),
        ({"libraries": ["cublaslt"], "database": "x.db", "target": "cpu"}, ValueError,
         "expected libraries for target cuda, got target cpu"),
    ],
)  # fmt: skip
def test_mistakes_of_compile(options: dict, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        tw.compile(two_layers(), **{"target": TARGET} | options)


def test_mistakes_of_measuring(tmp_path: Path) -> None:
    model = compile_graph(two_layers(), "cpu")
    x = np.zeros((8, 16), np.float32)
    with pytest.raises(tw.TilewrightError, match="^layers is compiled for target cpu: libraries are for cuda$"):
        model.tune_libraries(x, database=tmp_path / "tuning.db")
    gpu = compile_graph(two_layers(), TARGET)
    with pytest.raises(ValueError, match="^expected repeat to be 1 or more, got 0$"):
        gpu.tune_libraries(x, database=tmp_path / "tuning.db", repeat=0)
    with pytest.raises(ValueError, match=r"^expected a library \(cublaslt\), got 'cudnn'$"):
        gpu.tune_libraries(x, database=tmp_path / "tuning.db", libraries=["cudnn"])


def test_another_library_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^expected a library \(cublaslt\), got 'cudnn'$"):
        find_library("cudnn")


# ---------------------------------------------------------------------------- an exported library


@needs_compiler
def test_the_library_computes_the_groups_and_is_captured(layers: Path) -> None:
    script = """
first = right(x, y)
assert first == {"allocations": 4, "handles": 1, "descs": 2, "layouts": 6, "heuristics": 2, "matmuls": 2}, first
assert list(lt_last)[:10] == [16, 8, 32, 1, 1, 0, 4, 0, 0, 0], list(lt_last)
second = right(x, y)
assert second == {"captures": 1, "instances": 1, "graph_launches": 1, "streams": 1, "allocations": 1, "matmuls": 2}, second
for _ in range(3):
    x += 1
    assert right(x, y) == {"graph_launches": 1, "allocations": 1}
"""
    run(EXPORTED + LAYERS + script, layers)


@needs_compiler
def test_a_stream_that_somebody_captures(layers: Path) -> None:
    """It gets the library's matmuls, but for a first call: then own kernels are launched, and the next call is well."""
    script = """
library = ctypes.CDLL(tvm_ffi.libinfo.find_libtvm_ffi())
before, capturing = ctypes.c_void_p(), ctypes.c_void_p.in_dll(driver, "fake_capturing")
assert library.TVMFFIEnvSetStream(2, 0, ctypes.c_void_p(0x99), ctypes.byref(before)) == 0
capturing.value = 0x99
found = counted(lambda: call(x, y))
assert found == {"launches": 2, "allocations": 2}, found
capturing.value = None
assert right(x, y)["matmuls"] == 2
capturing.value = 0x99
found = right(x, y)
assert found == {"matmuls": 2, "allocations": 1}, found
"""
    run(EXPORTED + LAYERS + script, layers)


@needs_compiler
def test_the_stream_of_the_call(layers: Path) -> None:
    script = """
library = ctypes.CDLL(tvm_ffi.libinfo.find_libtvm_ffi())
before = ctypes.c_void_p()
assert library.TVMFFIEnvSetStream(2, 0, ctypes.c_void_p(0x99), ctypes.byref(before)) == 0
right(x, y)
assert lt_last[10] == 0x99
"""
    run(EXPORTED + LAYERS + script, layers)


@pytest.mark.sample(1)
@needs_compiler
@pytest.mark.parametrize("failing", ["handles", "descs", "layouts", "heuristics", "matmuls"])
def test_where_the_library_fails_own_kernels_run(failing: str, layers: Path) -> None:
    script = f"""
fails({failing!r}, 15)
for _ in range(3):
    found = counted(lambda: call(x, y))
    assert found.get("launches", 2) == 2 and "matmuls" not in found or {failing!r} == "matmuls", found
# What has failed is not tried again.
fails({failing!r}, 0)
assert "matmuls" not in counted(lambda: call(x, y))
"""
    run(EXPORTED + LAYERS + script, layers)


@pytest.mark.sweep
@needs_compiler
def test_without_the_library_own_kernels_run(layers: Path, tmp_path: Path) -> None:
    for name in ("model.so", "model.safetensors", "libcuda.so.1"):
        shutil.copy(layers / name, tmp_path / name)
    script = f"""
open_lt = lambda path: None
{EXPORTED.replace('open_lt("libcublasLt.so.13")', "lt_counts = [0] * 6")}
{LAYERS}
assert counted(lambda: call(x, y)) == {{"launches": 2, "allocations": 2}}  # of which one is for weights
"""
    run(script, tmp_path)


@pytest.mark.sweep
@needs_compiler
def test_other_extents_have_other_plans(tmp_path: Path) -> None:
    fakes(tmp_path)
    compiled(two_layers(te.var("n")), tmp_path).export(tmp_path / "model.so")
    script = """
def of(rows):
    return (aligned(np.arange(rows * 16).reshape(rows, 16).astype(np.float32) % 7 - 3) for _ in range(2))

x, y = of(8)
assert right(x, y)["heuristics"] == 2
assert "heuristics" not in right(x, y)
a, b = of(5)
# A capture does not allow what a first call may do, so the call is launched.
found = right(a, b)
assert found["matmuls"] == 2 and found["heuristics"] == 2 and "graph_launches" not in found, found
assert right(a, b)["graph_launches"] == 1
assert right(x, y) == {"graph_launches": 1, "allocations": 1}
# An update of a graph may not reach a library's kernels: an instance is made anew.
updates = counts[NAMES.index("updates")]
for rows in range(9, 60):
    pair = list(of(rows))
    right(*pair)
    right(*pair)
assert counts[NAMES.index("updates")] == updates == 0
for rows in range(9, 60):
    right(*of(rows))
assert lt_counts[1] == 32, list(lt_counts)  # 16 plans a call
assert not right(*of(0)).get("matmuls")
"""
    run(EXPORTED + LAYERS.replace("assert (y ==", "assert len(x) == 0 or (y ==") + script, tmp_path)


def everything() -> Graph:
    """Matmuls of all types, with batches, transposes, residuals and activations, each an output."""
    kinds = {
        "f32": ("float32", (4, 16)), "f16": ("float16", (4, 16)), "bf16": ("bfloat16", (4, 16)), "i8": ("int8", (4, 16)),
        "fp8": ("float8_e4m3fn", (4, 16)), "w32": ("float32", (16, 8)), "w16": ("float16", (16, 8)),
        "wb": ("bfloat16", (8, 16)), "w8": ("int8", (16, 8)), "wf": ("float8_e4m3fn", (8, 16)),
        "skip": ("bfloat16", (4, 8)), "bias": ("bfloat16", (8,)), "q": ("float32", (1, 5, 3, 8)),
        "k": ("float32", (1, 7, 3, 8)), "batch": ("float32", (3, 4, 16)), "row": ("float32", (1, 16)),
    }  # fmt: skip
    with GraphBuilder("everything", [(name, TensorType(shape, dtype)) for name, (dtype, shape) in kinds.items()]) as b:
        i = b.inputs

        def matmul(a: Value, w: Value, to: str = "float32", acc: str = "float32") -> Value:
            return b.op("matmul", a, w, acc=acc, to=to)

        def transposed(value: Value, *order: int) -> Value:
            return b.op("transpose", value, permutation=list(order))

        def cast(value: Value, to: str) -> Value:
            return b.op("cast", value, to=to, saturate=True)

        sums = b.op("add", matmul(i["bf16"], transposed(i["wb"], 1, 0)), cast(i["bias"], "float32"))
        made = {
            "of_f32": matmul(i["f32"], i["w32"]),
            "of_f16": matmul(i["f16"], i["w16"], "float16"),
            "of_f16_wide": matmul(i["f16"], i["w16"]),
            "of_bf16": b.op("add", i["skip"], cast(sums, "bfloat16")),
            "of_i8": matmul(i["i8"], i["w8"], "int32", "int32"),
            "of_fp8": cast(matmul(i["fp8"], transposed(i["wf"], 1, 0)), "bfloat16"),
            "heads": matmul(transposed(i["q"], 0, 2, 1, 3), transposed(i["k"], 0, 2, 3, 1)),
            "one_matrix": matmul(i["batch"], i["w32"]),
            "row": matmul(i["row"], i["w32"]),
        }
        return b.finish(list(made.items()))


@pytest.mark.sweep
@needs_compiler
def test_types_batches_transposes_and_residuals(tmp_path: Path) -> None:
    fakes(tmp_path)
    model = compiled(everything(), tmp_path)
    calls = [group.library for group in model.groups if group.library]
    assert len(calls) == len(model.outputs) == 9, model.groups
    model.export(tmp_path / "model.so")
    script = """
import ml_dtypes
rng = np.random.default_rng(0)
KINDS = %r
def make(dtype, shape):
    return aligned(rng.integers(-3, 4, shape).astype(dtype))
i = {name: make(np.dtype(getattr(ml_dtypes, dtype, dtype)), shape) for name, (dtype, shape) in KINDS.items()}
w = {name: each.astype(np.float64) for name, each in i.items()}
expected = {
    "of_f32": w["f32"] @ w["w32"], "of_f16": w["f16"] @ w["w16"], "of_f16_wide": w["f16"] @ w["w16"],
    "of_bf16": w["bf16"] @ w["wb"].T + w["bias"] + w["skip"], "of_i8": w["i8"] @ w["w8"], "of_fp8": w["fp8"] @ w["wf"].T,
    "heads": w["q"].transpose(0, 2, 1, 3) @ w["k"].transpose(0, 2, 3, 1), "one_matrix": w["batch"] @ w["w32"],
    "row": w["row"] @ w["w32"],
}
TYPES_OF = {"of_f16": np.float16, "of_bf16": ml_dtypes.bfloat16, "of_i8": np.int32, "of_fp8": ml_dtypes.bfloat16}
results = {name: aligned(np.zeros(each.shape, TYPES_OF.get(name, np.float32))) for name, each in expected.items()}
for _ in range(3):
    for each in results.values():
        each[...] = 0
    found = counted(lambda: call(*i.values(), *results.values()))
    assert "launches" not in found, found
    for name, each in results.items():
        assert (each.astype(np.float64) == expected[name].astype(each.dtype).astype(np.float64)).all(), name
assert lt_counts[5] == 18, list(lt_counts)
"""
    kinds = {name: (kind.dtype, kind.shape) for name, kind in model.inputs}
    run(EXPORTED + script % kinds, tmp_path)
