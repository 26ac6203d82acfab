"""ONNX models: what is imported, and what is refused with which words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tilewright as tw

onnx = pytest.importorskip("onnx")
helper, numpy_helper, FLOAT, INT64 = onnx.helper, onnx.numpy_helper, onnx.TensorProto.FLOAT, onnx.TensorProto.INT64


def _model(nodes, inputs, outputs=("y",), initializers=(), functions=(), opset=23, **options):
    infos = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs]
    graph = helper.make_graph(nodes, "g", infos, [onnx.ValueInfoProto(name=name) for name in outputs], initializers)
    opsets = [helper.make_opsetid("", opset), *[helper.make_opsetid(each.domain, 1) for each in functions]]
    return helper.make_model(graph, opset_imports=opsets, functions=functions, **options)


def _refused(model, **options) -> str:
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(model, target="cpu", **options)
    return str(caught.value)


X = ("x", FLOAT, (2, 3))


def test_a_small_network():
    w = np.random.default_rng(0).random((3, 4), np.float32)
    b = np.arange(4, dtype=np.float32)
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["h"], name="fc"), helper.make_node("Relu", ["h"], ["y"])]
    initializers = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")]
    model = tw.compile(_model(nodes, [X], initializers=initializers), target="cpu")
    x = np.random.default_rng(1).random((2, 3), np.float32) - 0.5
    np.testing.assert_allclose(model(x), np.maximum(x @ w + b, 0), rtol=1e-6)
    np.testing.assert_allclose(model(x=x), np.maximum(x @ w + b, 0), rtol=1e-6)
    assert [group.nodes for group in model.groups] == [("node 'fc' (Gemm)", "node 'y' (Relu)")]


def test_symbolic_extents_have_the_models_names():
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"]),
        helper.make_node("Unsqueeze", ["n", "axes"], ["n1"]),
        helper.make_node("Concat", ["n1", "minus"], ["shape"], axis=0),
        helper.make_node("Reshape", ["x", "shape"], ["y"]),
    ]
    known = {"zero": np.array(0), "axes": np.array([0]), "minus": np.array([-1])}
    initializers = [numpy_helper.from_array(value, name) for name, value in known.items()]
    model = tw.compile(_model(nodes, [("x", FLOAT, ("batch", 3, 4))], initializers=initializers), target="cpu")
    assert repr(model) == "<tilewright.Model g(x: float32[batch, 3, 4]) -> (y: float32[batch, 12]) for cpu>"
    for n in (1, 5):
        x = np.random.default_rng(n).random((n, 3, 4), np.float32)
        assert np.array_equal(model(x), x.reshape(n, 12))
    fixed = tw.compile(
        _model(nodes, [("x", FLOAT, ("batch", 3, 4))], initializers=initializers), target="cpu",
        dynamic_shapes={"x": {0: 5}},
    )  # fmt: skip
    assert fixed.outputs[0][1].shape == (5, 12)


def test_a_function_of_the_models_own():
    body = [helper.make_node("Mul", ["a", "a"], ["s"]), helper.make_node("Add", ["s", "a"], ["r"])]
    function = helper.make_function("mine", "SquarePlus", ["a"], ["r"], body, [helper.make_opsetid("", 23)])
    model = tw.compile(
        _model([helper.make_node("SquarePlus", ["x"], ["y"], domain="mine")], [X], functions=[function]), target="cpu"
    )
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(model(x), x * x + x)


def test_what_is_not_supported_is_listed_at_once():
    nodes = [
        helper.make_node("ImageDecoder", ["x"], ["a"], name="picture"),
        helper.make_node("StringNormalizer", ["x"], ["b"], name="text"),
        helper.make_node("Relu", ["a"], ["y"]),
    ]
    assert _refused(_model(nodes, [X])) == (
        "node 'picture' (ImageDecoder): ImageDecoder of version 23 is not supported\n"
        "node 'text' (StringNormalizer): StringNormalizer of version 23 is not supported"
    )


def test_shapes_that_depend_on_inputs():
    model = _model([helper.make_node("Reshape", ["x", "s"], ["y"], name="r")], [X, ("s", INT64, (1,))])
    assert (
        _refused(model)
        == "input 's': expected the value of input 's', which decides shapes, among constants=, got none"
    )
    compiled = tw.compile(model, target="cpu", constants={"s": np.array([6])})
    assert compiled(np.zeros((2, 3), np.float32), np.array([6])).shape == (6,)


def test_wrong_operands_name_the_node():
    model = _model([helper.make_node("Add", ["x", "z"], ["y"], name="sum")], [X, ("z", FLOAT, (4,))])
    assert _refused(model) == "node 'sum' (Add): add: operand 1, dimension 1: expected 1 or 3, got 4"


def test_cycles_and_names_that_nothing_makes():
    nodes = [helper.make_node("Relu", ["b"], ["a"], name="r"), helper.make_node("Relu", ["a"], ["b"])]
    assert _refused(_model(nodes, [X], ["a"])) == (
        "node 'r' (Relu): expected a value that was made before, got 'b', which is made later or by itself"
    )
    assert _refused(_model([helper.make_node("Relu", ["q"], ["y"], name="r")], [X])) == (
        "node 'r' (Relu): expected a value that was made before, got 'q', which nothing makes"
    )
    assert _refused(_model([helper.make_node("Relu", ["x"], ["x"], name="r")], [X], ["x"])) == (
        "node 'r' (Relu): expected a new name for its result, got 'x', which is taken"
    )
    assert _refused(_model([helper.make_node("Relu", ["x"], ["y"])], [X], ["z"])) == (
        "output 'z': expected a value that a node makes, got none"
    )


def _tensor(**fields):
    return onnx.TensorProto(name="w", data_type=FLOAT, **fields)


def _external(location: str, **more: str):
    made = _tensor(dims=[2, 3], data_location=onnx.TensorProto.EXTERNAL)
    for key, value in {"location": location, **more}.items():
        made.external_data.add(key=key, value=value)
    return made


@pytest.mark.parametrize(
    "tensor, text",
    [
        (_tensor(dims=[2**40, 2**20]), "expected data for 1152921504606846976 elements of shape [1099511627776, 1048576], got 0"),
        (_tensor(dims=[-1, 3]), "expected extents of at least 0, got [-1, 3]"),
        (_tensor(dims=[2, 3], float_data=[1.0] * 4), "expected a tensor, got damaged data: cannot reshape array of size 4 into shape (2,3)"),
        (_external("../secret"), "expected a file in the model's folder, got '../secret'"),
        (_external("/etc/passwd"), "expected a file in the model's folder, got '/etc/passwd'"),
        (_external("link"), "expected a file in the model's folder, got 'link'"),
        (_external("missing"), "expected a file 'missing' in the model's folder, got none"),
        (_external("short"), "expected 24 bytes at 0 in 'short', got a file of 8"),
        (_external("short", offset="-4"), "expected 24 bytes at -4 in 'short', got a file of 8"),
    ],
)  # fmt: skip
def test_damaged_and_malicious_constants(tmp_path: Path, tensor, text):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(bytes(24))
    (folder / "short").write_bytes(bytes(8))
    (folder / "link").symlink_to(tmp_path / "secret")
    model = _model([helper.make_node("Add", ["x", "w"], ["y"])], [X], initializers=[tensor])
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    assert _refused(folder / "m.onnx") == f"initializer 'w': {text}"


def test_external_data_in_the_folder(tmp_path: Path):
    w = np.arange(6, dtype=np.float32).reshape(2, 3)
    (tmp_path / "weights").write_bytes(bytes(8) + w.tobytes())
    model = _model([helper.make_node("Add", ["x", "w"], ["y"])], [X], initializers=[_external("weights", offset="8")])
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    x = np.ones((2, 3), np.float32)
    assert np.array_equal(tw.compile(str(tmp_path / "m.onnx"), target="cpu")(x), x + w)
    assert _refused(model) == (
        "initializer 'w': expected its data in the model, got it in the file 'weights': give the model's path"
    )


def test_files_that_are_no_models(tmp_path: Path):
    (tmp_path / "m.onnx").write_bytes(b"not a model")
    assert _refused(tmp_path / "m.onnx").startswith(
        f"{tmp_path / 'm.onnx'}: expected an ONNX model, got a file that is none: "
    )
    with pytest.raises(ValueError) as caught:
        tw.compile(str(tmp_path / "none.onnx"), target="cpu")
    assert (
        str(caught.value) == f"expected the path of an .onnx file, got {str(tmp_path / 'none.onnx')!r}, which is none"
    )
    with pytest.raises(TypeError) as caught:
        tw.compile(3, target="cpu")
    assert str(caught.value) == (
        "expected a torch.nn.Module, an ExportedProgram, an onnx.ModelProto, the path of an .onnx file or a Graph, got int"
    )
