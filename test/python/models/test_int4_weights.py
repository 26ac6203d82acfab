"""Weights of matmuls in four bits: their values, where they are made floats, and what stays."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from tilewright.graph import Graph, GraphBuilder, TensorType, compile_graph, quantize_graph, quantize_weights

RNG = np.random.default_rng(4)
W = RNG.standard_normal((64, 48)) * RNG.uniform(0.1, 4, (64, 48))


def _linear(dtype: str, rows: int, transposed: bool) -> Graph:
    kind: Any = np.dtype(getattr(ml_dtypes, dtype, dtype))
    with GraphBuilder("linear", [("x", TensorType((rows, 64), dtype))]) as b:
        w = b.weight("w", (W.T.copy() if transposed else W).astype(kind))
        if transposed:
            w = b.op("transpose", w, permutation=[1, 0])
        y = b.op("matmul", b.inputs["x"], w, acc="float32", to="float32")
        return b.finish([("y", b.op("relu", y))])


def _rounded(dtype: str, group: int) -> np.ndarray:
    """What four bits leave of the weight, computed element by element."""
    kind: Any = np.dtype(getattr(ml_dtypes, dtype, dtype))
    w = W.astype(kind).astype(np.float32)
    made = np.empty_like(w)
    for k in range(0, 64, group):
        for n in range(48):
            scale = np.float32(np.abs(w[k : k + group, n]).max() / np.float32(7))
            made[k : k + group, n] = np.rint(w[k : k + group, n] / scale) * scale
    return made.astype(kind).astype(np.float64)


@pytest.mark.sample(3)
@pytest.mark.parametrize("target", ["cpu", "sim -arch=sm_90a"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("rows", [1, 16])
def test_a_matmul(target: str, dtype: str, transposed: bool, rows: int) -> None:
    x = RNG.standard_normal((rows, 64)).astype(getattr(ml_dtypes, dtype, dtype))
    model = compile_graph(quantize_weights(_linear(dtype, rows, transposed), group=16), target)
    expected = np.maximum(x.astype(np.float64) @ _rounded(dtype, 16), 0)
    np.testing.assert_allclose(model(x), expected, rtol=1e-4, atol=1e-3)
    assert model.verify(x)
    # The floats are made where the matmul reads them: none of their matrices is stored.
    (group,) = model.groups
    assert "unpack" in group.operators and "dequantize" in group.operators
    stored = sorted((array.dtype.name, array.size) for array in model.constants.values() if array.size > 1)
    assert stored == [("float32", 64 * 48 // 16), ("uint8", 64 * 48 // 2)]


def test_the_graph_stays_as_it_is() -> None:
    graph = _linear("float32", 1, False)
    before = str(graph.module)
    assert "unpack" in str(quantize_weights(graph, group=16).module)
    assert "xi8>" in str(quantize_graph(graph, [(np.ones((1, 64), "float32"),)]).module)
    assert str(graph.module) == before


def test_what_compile_takes() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    module = torch.nn.Sequential(torch.nn.Linear(256, 32), torch.nn.GELU(), torch.nn.Linear(32, 8)).eval()
    x = torch.randn(3, 256)
    with torch.no_grad():
        model = tw.compile(module, (x,), target="cpu", weights="int4")
        exact = module(x)
    assert [array.dtype.name for array in model.constants.values()].count("uint8") == 1  # 32 has no group of 128
    assert float(torch.nn.functional.cosine_similarity(model(x).flatten(), exact.flatten(), dim=0)) > 0.98
    with pytest.raises(tw.TilewrightError) as caught:
        tw.compile(module, (x,), target="cpu", weights="int3")
    assert str(caught.value) == "expected weights to be None or 'int4', got 'int3'"


def test_it_is_exported(tmp_path) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")
    model = compile_graph(quantize_weights(_linear("float32", 2, True), group=32), "cpu")
    x = RNG.standard_normal((2, 64)).astype("float32")
    model.export(tmp_path / "linear.so")
    got = np.from_dlpack(tvm_ffi.load_module(str(tmp_path / "linear.so")).model(x))
    np.testing.assert_allclose(got, model(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("group", "said"),
    [
        (3, "expected group to be an even number, 2 or more, got 3"),
        (0, "expected group to be an even number, 2 or more, got 0"),
        ("8", "expected group as an int, got str"),
    ],
)
def test_groups_that_are_none(group: Any, said: str) -> None:
    with pytest.raises(tw.TilewrightError) as caught:
        quantize_weights(_linear("float32", 1, False), group=group)
    assert str(caught.value) == said
