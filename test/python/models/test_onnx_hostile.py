"""ONNX files whose attributes, constants and names are not what they should be: an error that names the node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw

onnx = pytest.importorskip("onnx")
helper, FLOAT, INT64 = onnx.helper, onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
X = helper.make_tensor_value_info("x", FLOAT, (1, 1, 4))
W = helper.make_tensor("w", FLOAT, [1, 1, 2], [1.0, 1.0])


def model(nodes: list[Any], initializers: Any = (), x: Any = X) -> Any:
    y = helper.make_tensor_value_info("y", FLOAT, None)
    return helper.make_model(helper.make_graph(nodes, "g", [x], [y], list(initializers)))


def refused(node: Any, *initializers: Any) -> str:
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(model([node], initializers), target="cpu")
    return str(caught.value)


POOLS = [
    ({"kernel_shape": [2], "strides": [0]}, "strides: expected 1 number of at least 1, got [0]"),
    ({"kernel_shape": [2], "strides": [-1]}, "strides: expected 1 number of at least 1, got [-1]"),
    ({"kernel_shape": [2], "dilations": [0]}, "dilations: expected 1 number of at least 1, got [0]"),
    ({"kernel_shape": [2], "pads": [1]}, "pads: expected 2 numbers, got [1]"),
    ({"kernel_shape": [0]}, "kernel_shape: expected 1 number of at least 1, got [0]"),
    ({"kernel_shape": [2, 2]}, "kernel_shape: expected 1 number of at least 1, got [2, 2]"),
]
CONVOLUTIONS = [
    ({"strides": [0]}, "strides: expected 1 number of at least 1, got [0]"),
    ({"dilations": [1, 1]}, "dilations: expected 1 number of at least 1, got [1, 1]"),
    ({"group": 0}, "group: expected at least 1, got 0"),
    ({"group": -1}, "group: expected at least 1, got -1"),
    ({"kernel_shape": [5]}, "kernel_shape: expected that of the weights (2,), got [5]"),
]


@pytest.mark.parametrize(("attributes", "expected"), POOLS)
@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
def test_pooling(op: str, attributes: dict[str, Any], expected: str) -> None:
    assert refused(helper.make_node(op, ["x"], ["y"], name="p", **attributes)) == f"node 'p' ({op}): {expected}"


@pytest.mark.parametrize(("attributes", "expected"), CONVOLUTIONS)
@pytest.mark.parametrize("op", ["Conv", "ConvTranspose"])
def test_convolutions(op: str, attributes: dict[str, Any], expected: str) -> None:
    assert refused(helper.make_node(op, ["x", "w"], ["y"], name="c", **attributes), W) == f"node 'c' ({op}): {expected}"


def test_any_other_attribute() -> None:
    node = helper.make_node("Transpose", ["x"], ["y"], name="t", perm=[0, 1, 9])
    assert refused(node).startswith("node 't' (Transpose): ")
    node = helper.make_node("DepthToSpace", ["x"], ["y"], name="d", blocksize=0)
    assert refused(node).startswith("node 'd' (DepthToSpace): ")


def external(kind: int, dims: list[int], **entries: str) -> Any:
    made = onnx.TensorProto(name="w", data_type=kind, dims=dims, data_location=onnx.TensorProto.EXTERNAL)
    for key, value in {"location": "weights", **entries}.items():
        made.external_data.add(key=key, value=value)
    return made


def written(folder: Path, tensor: Any, content: bytes, output: int = FLOAT) -> Path:
    (folder / "weights").write_bytes(content)
    y = helper.make_tensor_value_info("y", output, None)
    nodes = [helper.make_node("Cast", ["w"], ["y"], name="c", to=output)]
    graph = helper.make_graph(nodes, "g", [X], [y], [tensor])
    (folder / "m.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    return folder / "m.onnx"


FAR = "9" * 5000


@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        # NumPy's strings are objects of Python, whose addresses would be those that the file says.
        (external(onnx.TensorProto.STRING, [2]), "expected numbers in an external file, got elements of type STRING"),
        (external(0, [2]), "expected numbers in an external file, got elements of type UNDEFINED"),
        (external(999, [2]), "expected numbers in an external file, got elements of type 999"),
        (external(FLOAT, [4], location="weights\0x"), "expected a file in the model's folder, got 'weights\\x00x'"),
        (external(FLOAT, [4], offset=FAR), f"expected 16 bytes at {FAR[:40]} in 'weights', got a file of 16"),
        (external(FLOAT, [4], length="5"), "expected 16 bytes at 0 of 5 in 'weights', got a file of 16"),
        (external(FLOAT, [4], length="-1"), "expected 16 bytes at 0 of -1 in 'weights', got a file of 16"),
        (external(FLOAT, [2**62, 0]), f"expected extents below 2^31, got [{2**62}, 0]"),
    ],
    ids=["string", "undefined", "unknown", "null byte", "far", "short", "negative", "large and empty"],
)
def test_external_constants(tensor: Any, expected: str, tmp_path: Path) -> None:
    file = written(tmp_path, tensor, b"\x41" * 16)
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(file, target="cpu")
    assert str(caught.value) == f"initializer 'w': {expected}"


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        (onnx.TensorProto.INT4, b"\x21\xf3\x08", [1, 2, 3, -1, -8]),
        (onnx.TensorProto.UINT4, b"\x21\xf3\x08", [1, 2, 3, 15, 8]),
        (onnx.TensorProto.BOOL, b"\0\1\2\xff\0", [0, 1, 1, 1, 0]),
        (onnx.TensorProto.INT8, b"\0\1\2\xff\x80", [0, 1, 2, -1, -128]),
    ],
    ids=["int4", "uint4", "bool", "int8"],
)
def test_external_constants_of_narrow_types(kind: int, content: bytes, expected: list[int], tmp_path: Path) -> None:
    compiled = tw.compile(written(tmp_path, external(kind, [5]), content), target="cpu")
    assert compiled(np.zeros((1, 1, 4), np.float32)).tolist() == expected


def test_names() -> None:
    """They are the model's, and a terminal gets none of their control characters."""
    name = 'A"\n*/ \x1b[31m'
    made = model(
        [helper.make_node("Relu", [name], ["y"], name=name)], x=helper.make_tensor_value_info(name, FLOAT, (2,))
    )
    compiled = tw.compile(made, target="cpu")
    assert repr(compiled).isprintable() and 'A"\\n*/ \\x1b[31m: float32[2]' in repr(compiled)
    with pytest.raises(TypeError) as caught:
        compiled(1, 2)
    assert str(caught.value).isprintable()
    with pytest.raises(TypeError) as caught:
        compiled(np.zeros(2))
    assert str(caught.value).isprintable()
    assert compiled(np.array([-1, 1], np.float32)).tolist() == [0, 1]
