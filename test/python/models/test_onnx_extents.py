"""ONNX models of symbolic extents as exporters write them: reshapes by products, repeats, and scales of images."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from models.onnx_reference import check  # noqa: E402

H, RNG = onnx.helper, np.random.default_rng(3)


def _model(nodes: list[Any], shape: list[Any], rank: int, **constants: Any) -> Any:
    x = H.make_tensor_value_info("x", 1, shape)
    y = H.make_tensor_value_info("y", 1, [None] * rank)
    held = [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    return H.make_model(H.make_graph(nodes, "extents", [x], [y], held), opset_imports=[H.make_opsetid("", 21)])


def _floats(*shape: int) -> dict[str, np.ndarray]:
    return {"x": RNG.standard_normal(shape).astype("float32")}


def test_windows_of_a_batch_and_back() -> None:
    # As in Swin: both reshapes have -1 for the batch, and the sum shows whether it is the same.
    nodes = [
        H.make_node("Reshape", ["x", "split"], ["w"]),
        H.make_node("Transpose", ["w"], ["t"], perm=[0, 1, 3, 2, 4, 5]),
        H.make_node("Reshape", ["t", "windows"], ["flat"]),
        H.make_node("Reshape", ["flat", "apart"], ["back"]),
        H.make_node("Transpose", ["back"], ["u"], perm=[0, 1, 3, 2, 4, 5]),
        H.make_node("Reshape", ["u", "images"], ["z"]),
        H.make_node("Add", ["x", "z"], ["y"]),
    ]
    shapes = {
        "split": [-1, 2, 4, 2, 4, 3],
        "windows": [-1, 16, 3],
        "apart": [-1, 2, 2, 4, 4, 3],
        "images": [-1, 8, 8, 3],
    }
    model = _model(nodes, ["batch", 8, 8, 3], 4, **shapes)
    check(model, _floats(1, 8, 8, 3), _floats(3, 8, 8, 3))


@pytest.mark.sweep
def test_steps_of_both_directions() -> None:
    nodes = [
        H.make_node("LSTM", ["x", "w", "r"], ["steps"], hidden_size=2, direction="bidirectional"),
        H.make_node("Transpose", ["steps"], ["t"], perm=[0, 2, 1, 3]),
        H.make_node("Reshape", ["t", "to"], ["joined"]),
        H.make_node("Add", ["x", "joined"], ["y"]),
    ]
    weights = {"w": _floats(2, 8, 4)["x"], "r": _floats(2, 8, 2)["x"], "to": np.array([3, -1, 4])}
    check(_model(nodes, [3, "batch", 4], 3, **weights), _floats(3, 1, 4), _floats(3, 2, 4))


def test_repeats_that_are_extents() -> None:
    nodes = [
        H.make_node("Shape", ["x"], ["batch"], start=0, end=1),
        H.make_node("Concat", ["batch", "two"], ["repeats"], axis=0),
        H.make_node("Tile", ["row", "repeats"], ["wide"]),
        H.make_node("Add", ["x", "wide"], ["y"]),
    ]
    row = np.arange(3, dtype=np.float32)[None]
    check(_model(nodes, ["batch", 6], 2, row=row, two=np.array([2])), _floats(1, 6), _floats(4, 6))


def test_a_quotient_of_sums() -> None:
    # The rows are those without the first and the last one, which a reshape to -1 columns divides by.
    nodes = [
        H.make_node("Slice", ["x", "one", "minus", "one"], ["inside"]),
        H.make_node("Shape", ["inside"], ["shape"]),
        H.make_node("Gather", ["shape", "zero"], ["batch"]),
        H.make_node("Gather", ["shape", "one"], ["rows"]),
        H.make_node("Mul", ["batch", "rows"], ["all"]),
        H.make_node("Concat", ["all", "minus"], ["flat"], axis=0),
        H.make_node("Reshape", ["inside", "flat"], ["z"]),
        H.make_node("MatMul", ["z", "w"], ["y"]),
    ]
    constants = {"one": np.array([1]), "zero": np.array([0]), "minus": np.array([-1]), "w": _floats(4, 5)["x"]}
    check(_model(nodes, ["batch", "rows", 4], 2, **constants), _floats(2, 5, 4), _floats(1, 3, 4))


def test_pooled_images_and_their_sizes() -> None:
    # (h - 1) // 2 + 1 is h + 1 over 2, rounded down.
    nodes = [
        H.make_node("MaxPool", ["x"], ["pooled"], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4),
        H.make_node("Slice", ["x", "begin", "end", "axes", "steps"], ["each"]),
        H.make_node("Add", ["pooled", "each"], ["y"]),
    ]
    constants = {"begin": [0, 0], "end": [2**31, 2**31], "axes": [2, 3], "steps": [2, 2]}
    model = _model(nodes, [1, 2, "h", "w"], 4, **{name: np.array(value) for name, value in constants.items()})
    check(model, _floats(1, 2, 5, 8), _floats(1, 2, 4, 3))


@pytest.mark.sweep
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("scale", [0.37, 2.3, 5 / 3])
def test_images_of_any_size_scaled(mode: str, scale: float) -> None:
    from tilewright.onnx import compile_onnx

    node = H.make_node("Resize", ["x", "", "scales"], ["y"], mode=mode, coordinate_transformation_mode="half_pixel")
    scales = np.array([1, 1, scale, scale], np.float32)
    model = compile_onnx(_model([node], [1, 1, "h", "w"], 4, scales=scales))
    for h, w in ((10, 13), (20, 9)):
        given = _floats(1, 1, h, w)
        alone = compile_onnx(_model([node], [1, 1, h, w], 4, scales=scales))
        wanted = alone(**given)
        # The scale that is meant is the decimal or the quotient, not the float32 next to it.
        assert wanted.shape == (1, 1, int(round(h * scale, 4)), int(round(w * scale, 4)))
        np.testing.assert_allclose(model(**given), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.sweep
@pytest.mark.parametrize("outside", [0, 1])
def test_images_of_any_size_in_cubes(outside: int) -> None:
    options = {"mode": "cubic", "exclude_outside": outside, "coordinate_transformation_mode": "align_corners"}
    nodes = [
        H.make_node("Shape", ["x"], ["shape"], start=0, end=2),
        H.make_node("Concat", ["shape", "size"], ["sizes"], axis=0),
        H.make_node("Resize", ["x", "", "", "sizes"], ["y"], **options),
    ]
    check(_model(nodes, [1, 1, "h", "w"], 4, size=np.array([7, 12])), _floats(1, 1, 4, 5), _floats(1, 1, 9, 6))


@pytest.mark.sweep
def test_attention_whose_keys_have_fewer_heads() -> None:
    # Its function repeats keys by a quotient of numbers of heads, which are known although the batch is not.
    info = [H.make_tensor_value_info(name, 1, ["batch", heads, "rows", 8]) for name, heads in zip("qkv", (4, 2, 2))]
    node = H.make_node("Attention", ["q", "k", "v"], ["y"])
    graph = H.make_graph([node], "shared", info, [H.make_tensor_value_info("y", 1, [None] * 4)])
    model = H.make_model(graph, opset_imports=[H.make_opsetid("", 23)])
    for batch, rows in ((1, 3), (2, 5)):
        given = {name: _floats(batch, heads, rows, 8)["x"] for name, heads in zip("qkv", (4, 2, 2))}
        check(model, given)
