"""Quantised operators of ONNX Runtime, weights of few bits and mixtures of experts, against formulas in NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

import tilewright as tw  # noqa: E402
from models.contrib_models import node, run  # noqa: E402

RNG = np.random.default_rng(4)


def _floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype("float32")


def _bytes(*shape: int) -> np.ndarray:
    return RNG.integers(0, 256, shape).astype(np.uint8)


def _quantized(x: np.ndarray, scale: float, zero: int) -> np.ndarray:
    return np.clip(np.rint(x.astype(np.float32) / np.float32(scale)) + zero, 0, 255).astype(np.uint8)


def _close(got: np.ndarray, wanted: Any) -> None:
    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5)


# The scales and zero points of the operands and of the result: powers of two are exact.
SCALES: dict[str, Any] = {
    "as": np.float32(0.25), "az": np.uint8(90), "bs": np.float32(0.125), "bz": np.uint8(140),
    "ys": np.float32(0.5), "yz": np.uint8(60),
}  # fmt: skip


@pytest.mark.sweep
def test_elementwise_operators_on_integers() -> None:
    a, b, c = _bytes(2, 3, 4, 4), _bytes(2, 3, 4, 4), RNG.random((2, 3, 4, 4)) > 0.5
    nodes = [
        node("QLinearAdd", "a as az b bs bz ys yz", "add"),
        node("QLinearMul", "a as az b bs bz ys yz", "mul"),
        node("QLinearConcat", "ys yz a as az b bs bz", "concat", axis=1),
        node("QLinearWhere", "c a as az b bs bz ys yz", "where"),
        node("QLinearLeakyRelu", "a as az ys yz", "leaky", alpha=0.25),
        node("QLinearReduceMean", "a as az ys yz", "mean", axes=[2, 3], keepdims=0),
        node("QLinearGlobalAveragePool", "a as az ys yz", "last", channels_last=1),
        node("QLinearAveragePool", "a as az ys yz", "pooled", kernel_shape=[2, 2], strides=[2, 2]),
        node("MulInteger", "a az b bz", "integers"),
        node("ReduceSumInteger", "a", "sum", axes=[1], keepdims=1),
    ]
    got = run(nodes, {"a": a, "b": b, "c": c, **SCALES}, tuple(SCALES))
    x, y = (a.astype(np.float32) - 90) * 0.25, (b.astype(np.float32) - 140) * 0.125
    wanted = {
        "add": x + y, "mul": x * y, "concat": np.concatenate([x, y], 1), "where": np.where(c, x, y),
        "leaky": np.where(x < 0, 0.25 * x, x), "mean": x.mean((2, 3)), "last": x.mean((1, 2), keepdims=True),
        "pooled": x.reshape(2, 3, 2, 2, 2, 2).mean((3, 5)),
    }  # fmt: skip
    for name, one in wanted.items():
        np.testing.assert_array_equal(got[name], _quantized(one, 0.5, 60), name)
    np.testing.assert_array_equal(got["integers"], (a.astype(np.int32) - 90) * (b.astype(np.int32) - 140))
    np.testing.assert_array_equal(got["sum"], a.astype(np.int32).sum(1, keepdims=True))


@pytest.mark.sweep
def test_functions_of_integers() -> None:
    a = _bytes(3, 8)
    scales = {**SCALES, "ps": np.float32(1 / 256), "pz": np.uint8(0), "small": np.float32(1 / 64)}
    nodes = [
        node("QLinearSigmoid", "a small az ps pz", "sigmoid"),
        node("QLinearSoftmax", "a small az ps pz", "soft", axis=-1, opset=13),
    ]
    got = run(nodes, {"a": a, **scales}, tuple(scales))
    x = (a.astype(np.float64) - 90) / 64
    powers = np.exp(x)
    for name, one in (("sigmoid", 1 / (1 + np.exp(-x))), ("soft", powers / powers.sum(-1, keepdims=True))):
        wanted = _quantized(one, 1 / 256, 0).astype(int)
        assert abs(got[name].astype(int) - wanted).max() <= 1 and (got[name] == wanted).mean() > 0.9


@pytest.mark.sweep
def test_matmuls_of_integers() -> None:
    a, b = _bytes(3, 4), RNG.integers(-128, 128, (4, 5)).astype(np.int8)
    each, zeros, bias = np.abs(_floats(5)), RNG.integers(-9, 9, 5).astype(np.int8), _floats(5)
    x, whole = _floats(3, 4), RNG.integers(-99, 99, 5).astype(np.int32)
    nodes = [
        node("MatMulIntegerToFloat", "a b as each az zeros bias", "floats"),
        node("DynamicQuantizeMatMul", "x b each zeros bias", "dynamic"),
        node("DynamicQuantizeLinear", "x", "q scale zero", ""),
        node("QGemm", "a as az b each zeros whole ys yz", "gemm", alpha=1.0),
        node("QGemm", "at as az bt each zeros whole", "turned", transA=1, transB=1, alpha=0.5),
    ]
    turned = {"at": a.T.copy(), "bt": b.T.copy()}
    given = {"a": a, "b": b, "each": each, "zeros": zeros, "bias": bias, "x": x, "whole": whole, **turned, **SCALES}
    got = run(nodes, given, ("b", "each", "zeros", *SCALES))
    right = b.astype(np.int64) - zeros
    product = (a.astype(np.int64) - 90) @ right
    _close(got["floats"], product * 0.25 * each + bias)
    own = (got["q"].astype(np.int64) - got["zero"]) @ right
    _close(got["dynamic"], own * (got["scale"] * each) + bias)
    np.testing.assert_array_equal(got["gemm"], _quantized((product + whole) * (np.float32(0.25) * each), 0.5, 60))
    _close(got["turned"], (product + whole) * 0.25 * each * 0.5)


@pytest.mark.sweep
def test_convolutions_whose_channels_are_last() -> None:
    x, w = _bytes(1, 5, 5, 4), RNG.integers(-128, 128, (6, 4, 3, 3)).astype(np.int8)
    given = {"x": x, "first": np.ascontiguousarray(x.transpose(0, 3, 1, 2)), "w": w, **SCALES}
    given |= {"ws": np.float32(0.125), "wz": np.int8(0), "big": np.float32(16), "bias": np.arange(6, dtype=np.int32)}
    inputs, options = "as az w ws wz big yz bias", {"pads": [1] * 4, "strides": [2, 2]}
    nodes = [
        node("QLinearConv", f"x {inputs}", "last", channels_last=1, **options),
        node("QLinearConv", f"first {inputs}", "plain", "", **options),
    ]
    got = run(nodes, given)
    assert len(np.unique(got["plain"])) > 10
    np.testing.assert_array_equal(got["last"], got["plain"].transpose(0, 2, 3, 1))


@pytest.mark.sweep
def test_lstm_whose_weights_are_integers() -> None:
    x, bias = _floats(3, 2, 4), _floats(1, 24)
    w, r = (RNG.integers(-128, 128, shape).astype(np.int8) for shape in ((1, 4, 12), (1, 3, 12)))
    ws, rs = np.abs(_floats(1, 12)) / 100, np.float32([0.01])
    wz, rz = np.zeros((1, 12), np.int8), np.int8([3])
    given = {"x": x, "w": w, "r": r, "b": bias, "ws": ws, "wz": wz, "rs": rs, "rz": rz}
    given["wf"] = (w.astype(np.float32) * ws).transpose(0, 2, 1).copy()
    given["rf"] = ((r.astype(np.float32) - 3) * np.float32(0.01)).transpose(0, 2, 1).copy()
    nodes = [
        node("DynamicQuantizeLSTM", "x w r b - - - - ws wz rs rz", "y h", hidden_size=3),
        node("LSTM", "x wf rf b", "plain last", "", hidden_size=3),
    ]
    got = run(nodes, given)
    _close(got["y"], got["plain"])
    _close(got["h"], got["last"])


def _unpacked(packed: np.ndarray, bits: int) -> np.ndarray:
    each = packed[..., None] >> np.arange(0, 8, bits, dtype=np.uint8) & ((1 << bits) - 1)
    return each.reshape(*packed.shape[:-1], -1).astype(np.float64)


@pytest.mark.sweep
@pytest.mark.parametrize("bits", [2, 4, 8])
def test_matmuls_by_weights_of_few_bits(bits: int) -> None:
    rows, columns, block = 40, 6, 16
    packed, scales, bias = _bytes(columns, 3, block * bits // 8), np.abs(_floats(columns, 3)), _floats(columns)
    zeros, places = _bytes(columns, -(-3 * bits // 8)), RNG.integers(0, 3, rows).astype(np.int32)
    x, real = _floats(2, 3, rows), RNG.integers(0, 4, (columns, 3)).astype(np.float32)
    options = {"K": rows, "N": columns, "bits": bits, "block_size": block}
    nodes = [
        node("MatMulNBits", "x w s", "plain", **options),
        node("MatMulNBits", "x w s z - b", "shifted", **options),
        node("MatMulNBits", "x w flat flat_z", "flat_y", **options),
        node("MatMulNBits", "x w s real", "by_floats", **options),
        node("MatMulNBits", "x w s z places", "by_groups", **options),
    ]
    held = {"w": packed, "s": scales, "z": zeros, "b": bias, "flat": scales.ravel(), "flat_z": zeros.ravel()}
    held |= {"places": places, "real": real}
    got = run(nodes, {"x": x, **held}, tuple(held))
    whole = _unpacked(packed.reshape(columns, -1), bits)[:, :rows]
    own, block_of = _unpacked(zeros, bits)[:, :3], np.arange(rows) // block
    _close(got["plain"], x @ ((whole - 2 ** (bits - 1)) * scales[:, block_of]).T)
    shifted = x @ ((whole - own[:, block_of]) * scales[:, block_of]).T
    _close(got["shifted"], shifted + bias)
    _close(got["flat_y"], shifted)
    _close(got["by_floats"], x @ ((whole - real[:, block_of]) * scales[:, block_of]).T)
    _close(got["by_groups"], x @ ((whole - own[:, places]) * scales[:, places]).T)


def test_weights_of_four_bits_stay_packed() -> None:
    packed, scales = _bytes(6, 2, 8), np.abs(_floats(6, 2))
    names = ["x", "w", "s"]
    one = onnx.helper.make_node("MatMulNBits", names, ["y"], domain="com.microsoft", K=32, N=6, bits=4, block_size=16)
    x = onnx.helper.make_tensor_value_info("x", 1, (3, 32))
    held = [onnx.numpy_helper.from_array(array, name) for array, name in zip((packed, scales), "ws")]
    graph = onnx.helper.make_graph([one], "packed", [x], [onnx.ValueInfoProto(name="y")], held)
    opsets = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("com.microsoft", 1)]
    model = tw.compile(onnx.helper.make_model(graph, opset_imports=opsets), target="cpu")
    assert {array.nbytes for array in model.constants.values() if array.dtype == np.uint8} == {packed.nbytes}
    assert [group.operators for group in model.groups if "matmul" in group.operators] == [
        ("unpack", "dequantize", "transpose", "matmul")
    ]


@pytest.mark.sweep
@pytest.mark.parametrize("kind", [0, 1], ids=["fp4", "nf4"])
def test_matmuls_by_weights_of_bitsandbytes(kind: int) -> None:
    from tilewright.onnx.converters.contrib.weights import FP4, NF4

    rows, columns, block = 24, 5, 16
    packed, largest, x = _bytes(rows * columns // 2), np.abs(_floats(8)), _floats(3, rows)
    options = {"K": rows, "N": columns, "block_size": block, "quant_type": kind}
    got = run([node("MatMulBnb4", "x w s", "y", **options)], {"x": x, "w": packed, "s": largest}, ("w", "s"))
    codes = np.stack([packed >> 4, packed & 15], -1).ravel()
    table = np.array(NF4 if kind else FP4)
    assert table.shape == (16,) and abs(table).max() == 1
    weight = table[codes] * np.repeat(largest, block)[: rows * columns]
    _close(got["y"], x @ weight.reshape(columns, rows).T)


@pytest.mark.sweep
def test_rows_of_weights_of_few_bits() -> None:
    packed, scales, zeros, indices = _bytes(10, 16), _floats(10, 2), _bytes(10, 1), RNG.integers(0, 10, (2, 3))
    fours = RNG.integers(-8, 8, (3, 32, 6)).astype(ml_dtypes.int4)
    along, own = _floats(3, 2, 6), RNG.integers(-8, 8, (3, 2, 6)).astype(ml_dtypes.int4)
    nodes = [
        node("GatherBlockQuantized", "w i s z", "y", bits=4, block_size=16),
        node("GatherBlockQuantized", "f j t u", "narrow", block_size=16, quantize_axis=1, gather_axis=0),
    ]
    held = {"w": packed, "s": scales, "z": zeros, "f": fours, "t": along, "u": own}
    got = run(nodes, {"i": indices, "j": np.array([2, 0]), **held}, tuple(held))
    table = (_unpacked(packed, 4) - np.repeat(_unpacked(zeros, 4), 16, 1)) * np.repeat(scales, 16, 1)
    _close(got["y"], table[indices])
    real = (fours.astype(np.float32) - np.repeat(own.astype(np.float32), 16, 1)) * np.repeat(along, 16, 1)
    _close(got["narrow"], real[[2, 0]])


def _mixed(x: np.ndarray, scores: np.ndarray, expert: Any, best: int) -> np.ndarray:
    made = np.zeros(x.shape)
    for t, row in enumerate(scores.astype(np.float64)):
        chosen = np.argsort(-row)[:best]
        shares = np.exp(row[chosen]) / np.exp(row[chosen]).sum()
        made[t] = sum(share * expert(x[t], e) for share, e in zip(shares, chosen))
    return made


def _swiglu(inner: np.ndarray) -> np.ndarray:
    gate, linear = np.minimum(inner[::2], 2.0), np.clip(inner[1::2], -2.0, 2.0)
    return gate / (1 + np.exp(-1.5 * gate)) * (linear + 1)


@pytest.mark.sweep
def test_mixtures_of_experts() -> None:
    experts, width, inner = 4, 8, 16
    x, scores = _floats(5, width), _floats(5, experts)
    w1, w2, b1 = _floats(experts, 2 * inner, width), _floats(experts, width, inner), _floats(experts, 2 * inner)
    q1, q2 = _bytes(experts, 2 * inner, width // 2), _bytes(experts, width, inner // 2)
    s1, s2 = np.abs(_floats(experts, 2 * inner)) / 8, np.abs(_floats(experts, width, 2)) / 8
    gated = {"activation_type": "swiglu", "swiglu_fusion": 1, "activation_alpha": 1.5, "activation_beta": 1.0}
    options = {"k": 2, "normalize_routing_weights": 1, "swiglu_limit": 2.0, **gated}
    nodes = [
        node("MoE", "x r w1 b1 w2", "y", **options),
        node("QMoE", "x r q1 s1 - q2 s2", "quantized", expert_weight_bits=4, weights_prepacked=0, **options),
    ]
    given = {"x": x, "r": scores, "w1": w1, "b1": b1, "w2": w2, "q1": q1, "s1": s1, "q2": q2}
    # The scales of the second weights are for blocks of 8.
    nodes[1].attribute.append(onnx.helper.make_attribute("block_size", 8))
    given["s1"], given["s2"] = s1[:, :, None], s2
    got = run(nodes, given)
    np.testing.assert_allclose(
        got["y"], _mixed(x, scores, lambda one, e: w2[e] @ _swiglu(w1[e] @ one + b1[e]), 2), rtol=1e-4, atol=1e-4
    )
    f1 = (_unpacked(q1, 4) - 8) * s1[..., None]
    f2 = (_unpacked(q2, 4) - 8) * np.repeat(s2, 8, -1)
    wanted = _mixed(x, scores, lambda one, e: f2[e] @ _swiglu(f1[e] @ one), 2)
    np.testing.assert_allclose(got["quantized"], wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("one", "message"),
    [
        (
            node("MatMulNBits", "x w s", "y", K=16, N=2, bits=3, block_size=16),
            "node 'y' (MatMulNBits): bits: expected 2, 4 or 8, got 3",
        ),
        (
            node("MatMulNBits", "x w s", "y", K=16, N=3, bits=4, block_size=16),
            "node 'y' (MatMulNBits): input 1: expected 24 elements, [3, 8], got [2, 1, 8]",
        ),
        (
            node("MatMulNBits", "x w s", "y", K=16, N=2, bits=4, block_size=16, weight_prepacked=1),
            "node 'y' (MatMulNBits): expected weight_prepacked to be 0: the layout of other weights is that of one device",
        ),
        (
            node("GatherBlockQuantized", "x i s", "y"),
            "node 'y' (GatherBlockQuantized): expected data of uint8, int4 or uint4, got float32",
        ),
        (
            node("GatherBlockQuantized", "w i s", "y", quantize_axis=0),
            "node 'y' (GatherBlockQuantized): quantize_axis: expected the last one of uint8, 2, got 0",
        ),
        (
            node("MoE", "x x w - w", "y", use_sparse_mixer=1),
            "node 'y' (MoE): expected use_sparse_mixer to be 0, got 1",
        ),
        (
            node("MoE", "x x m - m", "y", activation_type="relu2"),
            "node 'y' (MoE): activation_type: expected relu, gelu, silu, identity or swiglu, got relu2",
        ),
        (
            node("QMoE", "x x w s - w s", "y", quant_type="fp8"),
            "node 'y' (QMoE): expected weights of quant_type int that are not prepacked",
        ),
    ],
    ids=lambda one: one.split("): ")[-1] if isinstance(one, str) else one.op_type,
)
def test_what_weights_refuse(one: Any, message: str) -> None:
    given = {
        "x": _floats(16, 16),
        "w": _bytes(2, 1, 8),
        "s": _floats(2, 1),
        "i": np.array([0]),
        "m": _floats(16, 4, 16),
    }
    with pytest.raises(tw.CompileError) as caught:
        run([one], given)
    assert str(caught.value) == message
