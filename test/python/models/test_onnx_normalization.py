"""ONNX's normalisations where rounding matters: rows of equal elements, and sums beyond the range of float16."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw

onnx = pytest.importorskip("onnx")
FLOAT, FLOAT16 = onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16


def model(op: str, kind: int, shape: tuple[Any, ...], *weights: np.ndarray, opset: int = 21, **attributes: Any) -> Any:
    names = [f"w{at}" for at in range(len(weights))]
    node = onnx.helper.make_node(op, ["x", *names], ["y"], **attributes)
    infos = [onnx.helper.make_tensor_value_info(name, kind, None) for name in ("x", "y")]
    infos[0] = onnx.helper.make_tensor_value_info("x", kind, shape)
    stored = [onnx.numpy_helper.from_array(array, name) for array, name in zip(weights, names)]
    graph = onnx.helper.make_graph([node], op, infos[:1], infos[1:], stored)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)])


@pytest.mark.sample(2)
@pytest.mark.parametrize("op", ["LayerNormalization", "GroupNormalization", "MeanVarianceNormalization"])
def test_equal_elements_have_no_variance(op: str) -> None:
    """E[x^2] - E[x]^2, which the functions of ONNX's standard compute, is negative of these, and its root NaN."""
    x = np.full((1, 4, 3, 7), np.cosh(4), "float32")
    ones = np.ones(7 if op == "LayerNormalization" else 4, "float32")
    weights = () if op == "MeanVarianceNormalization" else (ones, ones) if op == "GroupNormalization" else (ones,)
    how = {"num_groups": 2} if op == "GroupNormalization" else {}
    y = tw.compile(model(op, FLOAT, x.shape, *weights, **how), target="cpu")(x)
    bias = 1.0 if op == "GroupNormalization" else 0.0
    assert np.abs(y - bias).max() < 0.01


def test_the_mean_of_float16_whose_sum_is_beyond_its_range() -> None:
    x = np.full((2, 4096), 20, "float16")
    y = tw.compile(model("ReduceMean", FLOAT16, x.shape, np.array([1]), keepdims=0), target="cpu")(x)
    assert y.dtype == np.float16 and (y == 20).all()


@pytest.mark.sample(1)
@pytest.mark.parametrize(("opset", "scales"), [(18, 2), (21, 6)])
def test_group_normalization_of_images_of_any_size(opset: int, scales: int) -> None:
    rng = np.random.default_rng(0)
    scale, bias = (rng.standard_normal(scales).astype("float32") for _ in range(2))
    f = tw.compile(
        model("GroupNormalization", FLOAT, (2, 6, "h", "w"), scale, bias, opset=opset, num_groups=2), target="cpu"
    )
    for size in ((3, 5), (8, 2)):
        x = rng.standard_normal((2, 6, *size)).astype("float32")
        groups = x.reshape(2, 2, -1).astype("float64")
        wanted = (groups - groups.mean(2, keepdims=True)) / np.sqrt(groups.var(2, keepdims=True) + 1e-5)
        factor, offset = (np.repeat(one, 6 // scales).reshape(1, 6, 1, 1) for one in (scale, bias))
        np.testing.assert_allclose(f(x), wanted.reshape(x.shape) * factor + offset, rtol=1e-4, atol=1e-5)


def test_groups_that_do_not_share_the_channels_evenly() -> None:
    ones = np.ones(5, "float32")
    with pytest.raises(tw.CompileError, match=r"expected channels that 2 groups share evenly, got 5$"):
        tw.compile(model("GroupNormalization", FLOAT, (1, 5, 4), ones, ones, num_groups=2), target="cpu")
