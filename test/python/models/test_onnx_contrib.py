"""Fused and normalising operators of ONNX Runtime, against formulas in NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

import tilewright as tw  # noqa: E402
from models.contrib_models import node, run  # noqa: E402


def _floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([*shape, seed]).standard_normal(shape).astype("float32")


def _close(got: np.ndarray, wanted: Any) -> None:
    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-6)
    assert got.dtype == np.float32


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _gelu(x: np.ndarray) -> np.ndarray:
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def _fast_gelu(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


@pytest.mark.sweep
def test_fused_matmuls() -> None:
    a, b, c, bias = _floats(2, 4, 3), _floats(2, 4, 5), _floats(4, 2, 3), _floats(5)
    nodes = [
        node("FusedMatMul", "a b", "scaled", transA=1, alpha=0.5),
        node("FusedMatMul", "c b", "by_batch", transBatchA=1, transA=1),
        node("FusedMatMul", "a b", "plain", transB=0, transA=1),
        node(
            "FusedGemm", "m n bias", "gemm", transA=1, alpha=0.5, beta=2.0, activation="LeakyRelu", activation_alpha=0.2
        ),
    ]
    got = run(nodes, {"a": a, "b": b, "c": c, "m": a[0], "n": b[0], "bias": bias})
    product = a.transpose(0, 2, 1) @ b
    _close(got["scaled"], 0.5 * product)
    _close(got["plain"], product)
    _close(got["by_batch"], c.transpose(1, 2, 0) @ b)
    whole = 0.5 * product[0] + 2 * bias
    _close(got["gemm"], np.where(whole < 0, 0.2 * whole, whole))


@pytest.mark.sweep
def test_fused_convolutions() -> None:
    x, w, bias, z = _floats(1, 4, 5, 5), _floats(6, 2, 3, 3), _floats(6), _floats(1, 6, 5, 5)
    options = {"pads": [1] * 4, "group": 2, "kernel_shape": [3, 3]}
    nodes = [
        node("Conv", "x w bias", "conv", "", **options),
        node("FusedConv", "x w bias z", "clipped", activation="Clip", activation_params=[-0.5, 0.75], **options),
        node("FusedConv", "x w bias", "hard", activation="HardSigmoid", activation_params=[0.3, 0.4], **options),
        node("NhwcFusedConv", "xl w bias zl", "last", activation="Relu", **options),
        node("NhwcMaxPool", "xl", "pooled", kernel_shape=[2, 2], strides=[2, 2]),
    ]
    last = {"xl": np.ascontiguousarray(x.transpose(0, 2, 3, 1)), "zl": np.ascontiguousarray(z.transpose(0, 2, 3, 1))}
    got = run(nodes, {"x": x, "w": w, "bias": bias, "z": z, **last})
    conv = got["conv"]
    _close(got["clipped"], np.clip(conv + z, -0.5, 0.75))
    _close(got["hard"], np.clip(0.3 * conv + 0.4, 0, 1))
    _close(got["last"], np.maximum(conv + z, 0).transpose(0, 2, 3, 1))
    _close(got["pooled"], last["xl"][:, :4, :4].reshape(1, 2, 2, 2, 2, 4).max((2, 4)))


def test_activations() -> None:
    x, b = _floats(3, 8), _floats(8)
    nodes = [
        node("Gelu", "x", "gelu"), node("BiasGelu", "x b", "bias_gelu"), node("FastGelu", "x b", "fast_gelu"),
        node("QuickGelu", "x", "quick_gelu", alpha=1.5), node("BiasSplitGelu", "x b", "split"),
        node("BiasAdd", "x b x", "added"), node("BiasSoftmax", "x b", "soft", axis=1, is_inner_broadcast=0),
        node("BiasDropout", "x b x", "dropped mask"),
    ]  # fmt: skip
    got = run(nodes, {"x": x, "b": b})
    _close(got["gelu"], _gelu(x))
    _close(got["bias_gelu"], _gelu(x + b))
    _close(got["fast_gelu"], _fast_gelu(x + b))
    _close(got["quick_gelu"], x * _sigmoid(1.5 * x))
    _close(got["split"], (x + b)[:, :4] * _gelu((x + b)[:, 4:]))
    _close(got["added"], 2 * x + b)
    powers = np.exp(x + b)
    _close(got["soft"], powers / powers.sum(1, keepdims=True))
    _close(got["dropped"], 2 * x + b)
    assert got["mask"].all() and got["mask"].shape == x.shape


@pytest.mark.sweep
def test_operators_that_are_as_in_onnx() -> None:
    x = np.array([2.0, 1.0, 1.0, 3.0, 4.0, 3.0], np.float32)
    nodes = [
        node("Unique", "x", "values numbers counts"), node("ExpandDims", "x axis", "wide"),
        node("Range", "start end", "range"), node("Pad", "x pads one", "padded"), node("Trilu", "m", "upper"),
    ]  # fmt: skip
    given = {"axis": np.int32(-1), "start": np.float32(1), "end": np.float32(4), "pads": np.array([1, 2])}
    constants = {**given, "one": np.float32(1), "m": np.ones((3, 3), np.float32)}
    got = run(nodes, {"x": x, **constants}, tuple(constants))
    assert [got[name].tolist() for name in ("values", "numbers", "counts")] == [
        [2, 1, 3, 4], [0, 1, 1, 2, 3, 2], [1, 2, 2, 1],
    ]  # fmt: skip
    assert got["wide"].shape == (6, 1) and got["range"].tolist() == [1, 2, 3]
    assert got["padded"].tolist() == [1, *x, 1, 1]
    np.testing.assert_array_equal(got["upper"], np.triu(np.ones((3, 3))))


def _normalized(x: np.ndarray, epsilon: float, axes: Any = -1, is_simplified: bool = False) -> np.ndarray:
    x = x.astype(np.float64)
    away = x if is_simplified else x - x.mean(axes, keepdims=True)
    return away / np.sqrt((away**2).mean(axes, keepdims=True) + epsilon)


def test_layers_that_are_normalized() -> None:
    x, skip, scale, bias, more = (_floats(*shape, seed=7) for shape in ((2, 3, 8), (3, 8), (8,), (8,), (8,)))
    nodes = [
        node("SkipLayerNormalization", "x skip scale bias more", "y mean factor total", epsilon=1e-3),
        node("SkipSimplifiedLayerNormalization", "x x scale", "simple - - doubled", epsilon=1e-3),
        node("SimplifiedLayerNormalization", "x scale", "plain", "", epsilon=1e-3),
    ]
    total = x + skip + more
    got = run(nodes, {"x": x, "skip": skip, "scale": scale, "bias": bias, "more": more})
    _close(got["y"], _normalized(total, 1e-3) * scale + bias)
    _close(got["total"], total)
    _close(got["mean"], total.mean(-1, keepdims=True))
    _close(got["factor"], 1 / np.sqrt(total.var(-1, keepdims=True) + 1e-3))
    _close(got["doubled"], 2 * x)
    _close(got["simple"], _normalized(2 * x, 1e-3, is_simplified=True) * scale)
    _close(got["plain"], _normalized(x, 1e-3, is_simplified=True) * scale)


@pytest.mark.sweep
def test_groups_that_are_normalized() -> None:
    x, scale, bias, skip, more = (_floats(*shape, seed=3) for shape in ((2, 4, 4, 8), (8,), (8,), (2, 8), (8,)))
    first = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    nodes = [
        node("GroupNorm", "x scale bias", "last", groups=2, activation=1, epsilon=1e-3),
        node("GroupNorm", "first scale bias", "plain", groups=2, activation=0, channels_last=0, epsilon=1e-3),
        node("SkipGroupNorm", "x scale bias skip more", "y total", groups=2, activation=0, epsilon=1e-3),
    ]
    given = {"x": x, "first": first, "scale": scale, "bias": bias, "skip": skip, "more": more}
    got = run(nodes, given)

    def wanted(x: np.ndarray) -> np.ndarray:
        made = _normalized(x.reshape(2, 4, 4, 2, 4), 1e-3, (1, 2, 4)).reshape(x.shape)
        return made * scale + bias

    _close(got["last"], wanted(x) * _sigmoid(wanted(x)))
    _close(got["plain"], wanted(x).transpose(0, 3, 1, 2))
    total = x + skip[:, None, None] + more
    _close(got["total"], total)
    _close(got["y"], wanted(total))


@pytest.mark.sweep
def test_embeddings_of_bert() -> None:
    ids = np.array([[1, 4, 2, 2], [5, 0, 3, 1]], np.int32)
    segments, mask = ids % 2, np.array([[1, 1, 0, 0], [1, 1, 1, 1]], np.int32)
    words, places, kinds, scale, bias = (_floats(*shape) for shape in ((6, 8), (9, 8), (2, 8), (8,), (8,)))
    nodes = [
        node(
            "EmbedLayerNormalization", "ids segments words places kinds scale bias mask", "y count total", epsilon=1e-3
        ),
        node("EmbedLayerNormalization", "ids - words places - scale bias - own", "moved none", epsilon=1e-3),
    ]
    own = np.array([[3, 4, 5, 6], [0, 1, 2, 3]], np.int32)
    given = {"words": words, "places": places, "kinds": kinds, "scale": scale, "bias": bias}
    got = run(nodes, {"ids": ids, "segments": segments, "mask": mask, "own": own, **given})
    total = words[ids] + places[:4] + kinds[segments]
    _close(got["total"], total)
    _close(got["y"], _normalized(total, 1e-3) * scale + bias)
    assert got["count"].tolist() == [2, 4] and got["none"].tolist() == [0, 0]
    _close(got["moved"], _normalized(words[ids] + places[own], 1e-3) * scale + bias)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (
            [node("LongformerAttention", "x", "y"), node("Sampling", "x", "z")],
            "node 'y' (LongformerAttention): LongformerAttention of version 1 is not supported\n"
            "node 'z' (Sampling): Sampling of version 1 is not supported",
        ),
        (
            [node("FusedConv", "x x", "y", activation="Clip", activation_params=[1.0])],
            "node 'y' (FusedConv): activation_params: expected 2 numbers for Clip, got 1",
        ),
        (
            [node("BiasDropout", "x x - - yes", "y")],
            "node 'y' (BiasDropout): expected training_mode to be false: the result is random otherwise",
        ),
    ],
    ids=["all that is not supported", "parameters of an activation", "training"],
)
def test_what_is_refused(nodes: list[Any], message: str) -> None:
    with pytest.raises(tw.CompileError) as caught:
        run(nodes, {"x": np.zeros((1, 1, 1), np.float32), "yes": np.bool_(True)}, ("yes",))
    assert str(caught.value).removeprefix("stage graph: ").strip() == message
