"""Models with QuantizeLinear and DequantizeLinear: computed with integers, against ONNX's reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright.graph import GraphBuilder, TensorType, compile_graph, quantize_graph

onnx = pytest.importorskip("onnx")
H = onnx.helper
RNG = np.random.default_rng(5)


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def _quantized(array: np.ndarray, axis: int | None) -> tuple[np.ndarray, np.ndarray]:
    """An array as int8 with a scale, or one for each place along an axis."""
    others = None if axis is None else tuple(d for d in range(array.ndim) if d != axis)
    scale = np.abs(array).max(others, keepdims=axis is not None) / 127
    made = np.clip(np.rint(array / scale), -127, 127).astype(np.int8)
    return made, scale.reshape(-1 if axis is not None else ()).astype(np.float32)


class _Maker:
    """Nodes and constants of a model of QDQ form."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, name: str, array: np.ndarray) -> str:
        self.constants.append(onnx.numpy_helper.from_array(array, name))
        return name

    def activation(self, x: str, scale: float, zero: np.integer) -> str:
        s, z = self.constant(f"{x}_scale", np.float32(scale)), self.constant(f"{x}_zero", np.asarray(zero))
        self.nodes.append(H.make_node("QuantizeLinear", [x, s, z], [f"{x}_q"]))
        self.nodes.append(H.make_node("DequantizeLinear", [f"{x}_q", s, z], [f"{x}_dq"]))
        return f"{x}_dq"

    def weight(self, name: str, array: np.ndarray, axis: int | None) -> str:
        made, scale = _quantized(array, axis)
        inputs = [self.constant(f"{name}_q", made), self.constant(f"{name}_scale", scale)]
        inputs.append(self.constant(f"{name}_zero", np.zeros(scale.shape, np.int8)))
        options = {} if axis is None else {"axis": axis}
        self.nodes.append(H.make_node("DequantizeLinear", inputs, [f"{name}_dq"], **options))
        return f"{name}_dq"


def _network(zero: np.integer, per_channel: bool) -> tuple[Any, Any]:
    """Two convolutions and a matmul, with floats alone and in QDQ form."""
    w1, w2 = (RNG.standard_normal(shape).astype("float32") / 4 for shape in ((8, 3, 3, 3), (8, 8, 3, 3)))
    w3, bias = RNG.standard_normal((8, 10)).astype("float32"), RNG.standard_normal(8).astype("float32")

    def form(is_quantized: bool) -> Any:
        m, info = _Maker(), H.make_tensor_value_info

        def weight(name: str, array: np.ndarray, axis: int) -> str:
            return m.weight(name, array, axis if per_channel else None) if is_quantized else m.constant(name, array)

        def activation(x: str, low: float, high: float) -> str:
            if not is_quantized:
                return x
            if zero.dtype == np.uint8:
                return m.activation(x, (high - low) / 255, np.uint8(round(-low / (high - low) * 255)))
            return m.activation(x, max(-low, high) / 127, np.int8(0))

        b = m.constant("bias", bias)
        m.nodes.append(H.make_node("Conv", [activation("x", -4, 4), weight("w1", w1, 0), b], ["c1"], pads=[1] * 4))
        m.nodes.append(H.make_node("Relu", ["c1"], ["r1"]))
        m.nodes.append(H.make_node("Conv", [activation("r1", 0, 12), weight("w2", w2, 0)], ["c2"], strides=[2, 2]))
        m.nodes.append(H.make_node("GlobalAveragePool", ["c2"], ["pooled"]))
        m.nodes.append(H.make_node("Flatten", ["pooled"], ["flat"]))
        m.nodes.append(H.make_node("MatMul", [activation("flat", -8, 8), weight("w3", w3, 1)], ["y"]))
        graph = H.make_graph(m.nodes, "net", [info("x", 1, (2, 3, 9, 9))], [info("y", 1, (2, 10))], m.constants)
        return H.make_model(graph, opset_imports=[H.make_opsetid("", 21)])

    return form(False), form(True)


@pytest.mark.sweep
@pytest.mark.parametrize("per_channel", [False, True], ids=["per tensor", "per channel"])
@pytest.mark.parametrize("zero", [np.int8(0), np.uint8(128)], ids=["symmetric", "with a zero point"])
def test_a_network_of_qdq_form(zero: np.integer, per_channel: bool) -> None:
    from onnx.reference import ReferenceEvaluator

    floats, quantized = _network(zero, per_channel)
    model = tw.compile(quantized, target="cpu")
    contractions = [group for group in model.groups if {"conv", "matmul"} & {*group.operators}]
    assert len(contractions) == 3
    for group in contractions:
        assert "dequantize" not in group.operators
    assert model.ir("graph").count('acc = "int32"') == 3 and 'acc = "float32"' not in model.ir("graph")
    # No weight is dequantised, and no tensor between groups is one of floats but for the mean and the result.
    assert "graph.dequantize" not in model.ir("graph")
    x = RNG.standard_normal((2, 3, 9, 9)).astype("float32")
    (wanted,) = ReferenceEvaluator(quantized).run(None, {"x": x})
    (exact,) = ReferenceEvaluator(floats).run(None, {"x": x})
    got = model(x)
    # Sums of floats are rounded and sums of integers are not, so that a result on the edge may be a step away.
    step = np.abs(wanted).max() / 127
    np.testing.assert_allclose(got, wanted, atol=2 * step, rtol=0)
    assert np.mean(np.abs(got - wanted) > 1e-4 * np.abs(wanted).max()) < 0.2
    assert cosine(got, wanted) > 0.9999 and cosine(got, exact) > 0.99
    apart = tw.compile(quantized, target="cpu", without=["fuse-quantization"])
    assert 'acc = "int32"' not in apart.ir("graph")
    np.testing.assert_allclose(apart(x), wanted, atol=2 * step, rtol=0)


def test_integers_are_exact_where_floats_round() -> None:
    """4,000 products of about 2^14 have sums that float32 does not have."""
    k = 4000
    a, b = (RNG.integers(120, 128, shape).astype(np.int8) for shape in ((2, k), (k, 3)))
    with GraphBuilder("exact", [("a", TensorType((2, k), "int8"))]) as g:
        zero, one = g.constant(0, "int8"), g.constant(1.0, "float32")
        places = {"axis": 0, "block": 0, "to": "float32"}
        left = g.op("dequantize", g.inputs["a"], one, zero, **places)
        right = g.op("dequantize", g.weight("b", b), one, zero, **places)
        graph = g.finish([("y", g.op("matmul", left, right, acc="float32", to="float32"))])
    model = compile_graph(graph, "cpu")
    exact = a.astype(np.int64) @ b.astype(np.int64)
    assert exact.min() > 1 << 24
    assert np.array_equal(model(a), exact.astype(np.float32))


@pytest.mark.parametrize("to", ["int8", "uint8", "int16", "uint16"])
def test_quantising_rounds_halves_to_even_and_saturates(to: str) -> None:
    x = np.array([[-1e9, -2.5, -1.5, -0.5, 0.5], [1.5, 2.5, 1e9, 3.49, np.inf]], "float32")
    with GraphBuilder("quantize", [("x", TensorType(x.shape, "float32"))]) as g:
        q = g.op("quantize", g.inputs["x"], g.constant(1.0, "float32"), g.constant(3, to), axis=0, block=0, to=to)
        graph = g.finish([("q", q), ("y", g.op("dequantize", q, g.constant(0.5, "float32"), g.constant(3, to), axis=0,
                                               block=0, to="float32"))])  # fmt: skip
    q, y = compile_graph(graph, "cpu")(x)
    limits = np.iinfo(to)
    wanted = np.clip(np.rint(x.astype(np.float64)) + 3, limits.min, limits.max)
    assert q.dtype == to and np.array_equal(q, wanted.astype(to))
    assert np.array_equal(y, ((wanted - 3) * 0.5).astype("float32"))


def test_scales_of_blocks() -> None:
    x = RNG.standard_normal((3, 10)).astype("float32")
    scale = np.abs(RNG.standard_normal((3, 3))).astype("float32") / 40
    with GraphBuilder("blocks", [("x", TensorType(x.shape, "float32"))]) as g:
        s, z = g.weight("s", scale), g.constant(0, "int8")
        q = g.op("quantize", g.inputs["x"], s, z, axis=1, block=4, to="int8")
        graph = g.finish([("q", q), ("y", g.op("dequantize", q, s, z, axis=1, block=4, to="float32"))])
    q, y = compile_graph(graph, "cpu")(x)
    wide = np.repeat(scale, 4, 1)[:, :10]
    wanted = np.clip(np.rint(x / wide), -128, 127).astype("int8")
    assert np.array_equal(q, wanted)
    np.testing.assert_array_equal(y, wanted.astype("float32") * wide)


def test_on_hopper_integers_are_multiplied_on_tensor_cores() -> None:
    with GraphBuilder("gemm", [("a", TensorType((128, 128), "int8"))]) as g:
        zero, scale = g.constant(0, "int8"), g.constant(0.02, "float32")
        places = {"axis": 0, "block": 0, "to": "float32"}
        left = g.op("dequantize", g.inputs["a"], scale, zero, **places)
        b = RNG.integers(-127, 128, (128, 128)).astype(np.int8)
        right = g.op("dequantize", g.weight("b", b), scale, zero, **places)
        graph = g.finish([("y", g.op("matmul", left, right, acc="float32", to="float32"))])
    model = compile_graph(graph, tw.Target("cuda", arch="sm_90a"))
    (group,) = [group for group in model.groups if "matmul" in group.operators]
    assert "mma" in group.function.ptx and ".s8" in group.function.ptx


# ---------------------------------------------------------------------------- after training


def _with_calibration(module: Any, samples: list[Any], x: Any, per_channel: bool = True) -> tuple[Any, np.ndarray]:
    import torch

    from tilewright.torch import import_torch

    graph = quantize_graph(import_torch(module, samples[0]), samples, per_channel=per_channel)
    model = compile_graph(graph, "cpu")
    with torch.no_grad():
        exact = module(x).numpy()
    return model, exact


@pytest.mark.sweep
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("per_channel", [False, True], ids=["per tensor", "per channel"])
def test_a_convolutional_network_after_training(per_channel: bool) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(4)
    module = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(16, 32, 3, stride=2, groups=2), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(32 * 9, 10),
    ).eval()  # fmt: skip
    samples = [(torch.randn(2, 3, 16, 16),) for _ in range(4)]
    x = torch.randn(2, 3, 16, 16)
    model, exact = _with_calibration(module, samples, x, per_channel)
    assert model.ir("graph").count('acc = "int32"') == 3 and 'acc = "float32"' not in model.ir("graph")
    got = model(x).numpy()
    assert cosine(got, exact) > 0.999
    weights = {name for name in model.weight_names.values() if ".int8" in name}
    assert len(weights) == 3
    assert all(array.dtype == np.int8 for value, array in model.constants.items()
               if ".int8" in model.weight_names.get(value, ""))  # fmt: skip


@pytest.mark.sweep
@pytest.mark.filterwarnings("ignore")
def test_a_transformer_after_training() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(4)
    module = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, dropout=0.0).eval()
    samples = [(torch.randn(2, 10, 64),) for _ in range(4)]
    x = torch.randn(2, 10, 64)
    model, exact = _with_calibration(module, samples, x)
    # All but the projection of queries, keys and values, which PyTorch traces as a bmm with an expanded weight.
    assert model.ir("graph").count('acc = "int32"') == 3
    assert "graph.attention" in model.ir("graph")
    assert cosine(model(x).numpy(), exact) > 0.999
    from tilewright.torch import import_torch

    on_sim = quantize_graph(import_torch(module, samples[0]), samples[:1], target="sim")
    assert cosine(compile_graph(on_sim, "cpu")(x).numpy(), exact) > 0.999
    same = tw.compile(module, samples[0], target="cpu", calibration=samples)
    np.testing.assert_array_equal(same(x).numpy(), model(x).numpy())


@pytest.mark.sweep
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_a_network_of_short_floats_after_training(name: str) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(4)
    dtype = getattr(torch, name)
    module = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(16 * 64, 10)
    ).eval()  # fmt: skip
    x = torch.randn(2, 3, 8, 8).to(dtype)
    with torch.no_grad():
        exact = module(x.float()).numpy()
    module = module.to(dtype)
    model = tw.compile(module, (x,), target="cpu", calibration=[(torch.randn(2, 3, 8, 8).to(dtype),), (x,)])
    assert model.ir("graph").count('acc = "int32"') == 2 and 'acc = "float32"' not in model.ir("graph")
    got = model(x)
    assert got.dtype == dtype and cosine(got.float().numpy(), exact) > 0.999


def test_samples_that_are_refused() -> None:
    def graph() -> Any:
        with GraphBuilder("small", [("x", TensorType((2, 3), "float32"))]) as g:
            w = g.weight("w", np.ones((3, 4), "float32"))
            return g.finish([("y", g.op("matmul", g.inputs["x"], w, acc="float32", to="float32"))])

    for samples in ([], "x"):
        with pytest.raises(ValueError) as caught:
            quantize_graph(graph(), samples)
        assert str(caught.value) == "expected samples, a list of one tuple or dict of inputs or more, got none"
    with pytest.raises(TypeError) as caught:
        quantize_graph(graph(), [np.ones((2, 3), "float32")])
    assert str(caught.value) == "expected each sample to be a tuple or a dict of inputs, got ndarray"
    with pytest.raises(ValueError) as caught:
        quantize_graph(graph(), [{"x": np.ones((2, 4), "float32")}])
    assert str(caught.value) == "small: input 'x', dimension 1: expected 3, got shape (2, 4)"
    with pytest.raises(ValueError) as caught:
        quantize_graph(graph(), [(np.ones((2, 3), "float32"),)], to="int4")
    assert str(caught.value) == "expected a type that operands are quantised to (int8, float8_e4m3fn), got 'int4'"
    with GraphBuilder("taken", [("x", TensorType((2, 3), "float32"))]) as g:
        w, other = g.weight("w", np.ones((3, 4), "float32")), g.weight("w.int8.1", np.ones(3, "float32"))
        made = g.finish([
            ("y", g.op("matmul", g.inputs["x"], w, acc="float32", to="float32")), ("z", other)
        ])  # fmt: skip
    with pytest.raises(ValueError) as caught:
        quantize_graph(made, [(np.ones((2, 3), "float32"),)])
    assert str(caught.value) == "expected a model without a weight called 'w.int8.1', which quantisation makes"


def test_a_model_without_weights_stays_as_it_is() -> None:
    with GraphBuilder("plain", [("x", TensorType((2, 3), "float32"))]) as g:
        graph = g.finish([("y", g.op("relu", g.inputs["x"]))])
    x = np.array([[-1, 0, 1], [2, -3, 4]], "float32")
    assert np.array_equal(compile_graph(quantize_graph(graph, [(x,)]), "cpu")(x), np.maximum(x, 0))
