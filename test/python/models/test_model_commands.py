"""`tilewright compile` and `tilewright export` of models, and all that they refuse."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from tilewright.cli import main

onnx = pytest.importorskip("onnx")
PERCEPTRON = np.arange(12, dtype="float32").reshape(3, 4) / 10


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """relu(x @ w) of 2 x 3 elements."""
    info = onnx.helper.make_tensor_value_info
    x, y = info("x", onnx.TensorProto.FLOAT, (2, 3)), info("y", onnx.TensorProto.FLOAT, (None, 4))
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "w"], ["h"], name="product"),
        onnx.helper.make_node("Relu", ["h"], ["y"], name="relu"),
    ]
    weight = onnx.numpy_helper.from_array(PERCEPTRON, "w")
    path = tmp_path_factory.mktemp("onnx") / "perceptron.onnx"
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph(nodes, "perceptron", [x], [y], [weight])), path)
    return path


def shown(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    status = main([str(each) for each in arguments])
    got = capsys.readouterr()
    assert status == 0, got.err
    return got.out


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main([str(each) for each in arguments]) == 1
    got = capsys.readouterr()
    assert got.out == ""
    return got.err


def test_compile_lists_what_a_model_became(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, "compile", model, "--target=cpu").splitlines() == [
        "perceptron for cpu: 1 group, 48 bytes of weights",
        "input x: float32[2, 3]",
        "output y: float32[2, 4]",
        "matmul_relu: node 'product' (MatMul), node 'relu' (Relu) -> float32[2, 4]; ends: an output of the model",
        "arena: 0 bytes, of which 0 are live at once",
    ]
    listed = shown(capsys, "compile", model, "--target=cpu", "--dynamic", "x:0=batch", "--without=fuse-operators")
    assert "2 groups" in listed and "input x: float32[batch, 3]" in listed


def test_compile_writes_the_ir_of_a_model(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "compile", model, "--emit=graph")
    assert "graph.matmul" in text and "graph.group" not in text
    shown(capsys, "compile", model, "--emit=groups", "--dynamic=x:0=batch", "-o", tmp_path / "groups.mlir")
    assert re.search(r'graph\.group "matmul_relu"', (tmp_path / "groups.mlir").read_text())


@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler to link with")
def test_export_writes_a_library(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tvm_ffi")
    library = tmp_path / "model.so"
    told = shown(capsys, "export", model, library, "--target=cpu", "--dynamic=x:0=batch", "--mcpu=x86-64-v2")
    assert told == f"{library}: 1 group, 0 bytes of arena, for cpu\n"
    loaded = tw.load_model(library)
    for rows in (1, 5):
        x = np.linspace(-1, 1, rows * 3, dtype="float32").reshape(rows, 3)
        np.testing.assert_allclose(loaded(x), np.maximum(x @ PERCEPTRON, 0), rtol=1e-5)


FORM = "--dynamic: expected INPUT:DIMENSION=NAME or INPUT:DIMENSION=NUMBER, got "
STAGES = "te, schedule, linalg, loops, gpu, nvvm, host, ptx, cubin, sass, cuda, host-cpp"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--dynamic", "x=n"], FORM + "'x=n'"),
        (["--dynamic", "x:0"], FORM + "'x:0'"),
        (["--dynamic", "x:a=n"], FORM + "'x:a=n'"),
        (["--dynamic", "x:0=1n"], FORM + "'x:0=1n'"),
        (["--dynamic", "y:0=n"], "FILE: --dynamic: expected names of inputs (x), got y"),
        (["--dynamic", "x:2=n"], "FILE: --dynamic: input 'x': expected a dimension below 2, its rank, got 2"),
        (
            ["--without", "fusion"],
            "FILE: expected passes (canonicalize, cse, raise-attention, merge-matmuls, fuse-quantization, channels-last, "
            "sink-reshapes, order-results, fold-weights, fuse-operators, fold-groups, view-reshapes, order-groups, "
            "plan-memory, form-cuda-graph) in without, got fusion",
        ),
    ],
)
def test_options_of_models_that_are_wrong(
    arguments: list[str], text: str, model: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = text.replace("FILE", str(model))
    assert refused(capsys, "compile", model, "--target=cpu", *arguments) == f"tilewright compile: {text}\n"
    library = tmp_path / "model.so"
    assert refused(capsys, "export", model, library, "--target=cpu", *arguments) == f"tilewright export: {text}\n"
    assert not library.exists()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["FILE", "--program=f"], "FILE: expected no --program, --from, --name and --locations with a model"),
        (["FILE", "--emit=ptx"], "FILE: expected --emit with one of graph, groups, got ptx"),
        (["SCRIPT"], f"SCRIPT: expected --emit with one of {STAGES}, got none"),
        (["SCRIPT", "--emit=groups"], f"SCRIPT: expected --emit with one of {STAGES}, got groups"),
        (["SCRIPT", "--emit=te", "--dynamic=x:0=n"], "SCRIPT: --dynamic and --without are for .onnx files"),
    ],
)
def test_compile_refuses(
    arguments: list[str], text: str, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "given.py"
    script.write_text("")

    def put(told: str) -> str:
        return told.replace("FILE", str(model)).replace("SCRIPT", str(script))

    assert refused(capsys, "compile", *map(put, arguments)) == f"tilewright compile: {put(text)}\n"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["FOLDER/none.onnx", "FOLDER/a.so"], "FOLDER/none.onnx: no such file"),
        (["FOLDER/given.py", "FOLDER/a.so"], "FOLDER/given.py: expected an .onnx file"),
        (["FOLDER/bad.onnx", "FOLDER/a.so"], "FOLDER/bad.onnx: expected an ONNX model, got a file that is none: "),
        (["FOLDER/empty.onnx", "FOLDER/a.so"], "FOLDER/empty.onnx: expected an ONNX model, got an empty file"),
        (["FILE", "FOLDER/no/a.so"], "FOLDER/no/a.so: No such file or directory"),
        (["FILE", "FOLDER/a.safetensors"],
         "expected the path of a library, got 'a.safetensors', which its weights are to have"),
        (["FILE", "FOLDER/a.so", "--name=a-b"], "FOLDER/a.so: expected a name that is an identifier, got 'a-b'"),
        (["FILE", ""], "expected the path of a library, got '.'"),
        (["FILE", "FOLDER/a.so", "--mcpu=foo"], "--mcpu: expected a processor that LLVM knows for x86_64, got 'foo'"),
        (["FILE", "FOLDER/a.so", "--dynamic=x:1=k"],
         "FILE: node 'product' (MatMul): matmul: expected as many rows of b as columns of a, k, got 3"),
        (["FILE", "FOLDER/a.so", "--architecture=sm_80"],
         "FOLDER/a.so: expected no GPU architectures for target cpu, got sm_80"),
    ],
)  # fmt: skip
def test_export_refuses(
    arguments: list[str], text: str, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "given.py").write_text("")
    (tmp_path / "bad.onnx").write_text("no model")
    (tmp_path / "empty.onnx").write_text("")

    def put(told: str) -> str:
        return told.replace("FILE", str(model)).replace("FOLDER", str(tmp_path))

    told = refused(capsys, "export", *map(put, arguments), "--target=cpu")
    assert told.startswith(f"tilewright export: {put(text)}"), told
    assert told.endswith(f"{put(text)}\n") or "a file that is none" in told
    assert sorted(each.name for each in tmp_path.iterdir()) == ["bad.onnx", "empty.onnx", "given.py"]
