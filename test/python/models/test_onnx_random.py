"""Random operators of ONNX: their distributions, their seeds, and their types."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402


def _run(op, *inputs, **attributes):
    """The result of a node that is compiled twice; both models give the same numbers at each call."""
    names = [f"x{i}" for i in range(len(inputs))]
    types = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for name, x in zip(names, inputs)
    ]
    node = helper.make_node(op, names, ["y"], **attributes)
    graph = helper.make_graph([node], "g", types, [onnx.ValueInfoProto(name="y")])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)])
    first, second = (tw.compile(proto, target="cpu") for _ in range(2))
    y = first(*inputs)
    assert np.array_equal(y, first(*inputs)) and np.array_equal(y, second(*inputs))
    return y


@pytest.mark.sweep
def test_uniform_numbers():
    y = _run("RandomUniform", shape=[100, 200], low=-2.0, high=3.0, seed=3.0)
    assert y.dtype == np.float32 and y.shape == (100, 200)
    assert y.min() >= -2 and y.max() < 3 and abs(y.mean() - 0.5) < 0.05 and abs(y.std() - 5 / 12**0.5) < 0.05
    assert not np.array_equal(y, _run("RandomUniform", shape=[100, 200], low=-2.0, high=3.0, seed=4.0))


def test_normal_numbers_of_the_type_of_an_input():
    y = _run("RandomNormalLike", np.zeros((100, 200), np.float64), mean=2.0, scale=3.0)
    assert y.dtype == np.float64 and abs(y.mean() - 2) < 0.1 and abs(y.std() - 3) < 0.1


@pytest.mark.sample(1)
@pytest.mark.parametrize("to", [TensorProto.BOOL, TensorProto.DOUBLE, TensorProto.INT32])
def test_ones_of_a_probability(to):
    chance = np.linspace(0, 1, 20000, dtype=np.float32)
    y = _run("Bernoulli", chance, dtype=to)
    assert y.dtype == helper.tensor_dtype_to_np_dtype(to) and set(np.unique(y)) == {0, 1}
    assert abs(y.astype(float).mean() - 0.5) < 0.02 and y[-100:].astype(float).mean() > 0.95
