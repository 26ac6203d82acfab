"""Reshapes, and slices that lie together, are views of memory: no group copies them, also of inputs and outputs."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.graph import Graph, GraphBuilder, TensorType, compile_graph

RNG = np.random.default_rng(11)


def _views(n) -> Graph:
    """Outputs: a result in two shapes and as it is, an input in another shape, and the second half of a result."""
    symbols = {} if isinstance(n, int) else {n.name: n}
    with GraphBuilder("views", [("x", TensorType((n, 4, 8), "float32"))], symbols) as b:
        x = b.inputs["x"]
        y = b.op("exp", b.op("reshape", x, shape=[n * 4, 8]))
        first = b.op("reshape", y, shape=[n, 32])
        last = b.op("reshape", b.op("reduce_sum", y, axes=[1], keepdims=False), shape=[n, 4])
        whole = b.op("reduce_max", first, axes=[0], keepdims=False)
        half = b.op("reshape", b.op("slice", whole, starts=[16], steps=[1], sizes=[16]), shape=[2, 8])
        outputs = {"first": first, "y": y, "flat": b.op("reshape", x, shape=[n * 32]), "last": last, "half": half}
        return b.finish([*outputs.items(), ("both", b.op("neg", half))])


def _expected(x: np.ndarray) -> list[np.ndarray]:
    y = np.exp(x.reshape(-1, 8))
    first = y.reshape(-1, 32)
    half = first.max(0)[16:].reshape(2, 8)
    return [first, y, x.reshape(-1), y.sum(1).reshape(-1, 4), half, -half]


@pytest.mark.sample(7)
@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize("without", [(), ("plan-memory",), ("view-reshapes",), ("fuse-operators",)])
@pytest.mark.parametrize("symbolic", [False, True], ids=["static", "symbolic"])
def test_a_call(target: str, without: tuple[str, ...], symbolic: bool) -> None:
    model = compile_graph(_views(te.var("n", min=1) if symbolic else 3), target, without)
    x = RNG.random((3, 4, 8), np.float32)
    for got, wanted in zip(model(x), _expected(x), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5)
        assert got.shape == wanted.shape
    if "view-reshapes" not in without:
        assert [group.name for group in model.groups] == ["exp", "reduce_sum", "reduce_max", "neg"]
    assert model.verify(x)
    if target == "cpu":
        assert len(model.profile(x, repeat=1).groups) == len(model.groups)


def test_only_what_is_a_part_has_a_place_in_the_arena() -> None:
    model = compile_graph(_views(3), "cpu")
    assert [(one.name, one.first, one.last) for one in model.plan.buffers] == [("reduce_max", 2, 3)]


def test_the_page_names_what_a_view_is_of() -> None:
    groups = compile_graph(_views(3), "cpu").view_data()["groups"]
    assert [(one["inputs"][0]["name"], one["inputs"][0]["group"]) for one in groups] == [
        ("x", None), (None, 0), (None, 0), (None, 2)
    ]  # fmt: skip
    assert groups[0]["results"][0]["outputs"] == ["first", "y"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler to link with")
def test_an_exported_model(tmp_path: Path) -> None:
    pytest.importorskip("tvm_ffi")
    compile_graph(_views(te.var("n", min=1)), "cpu").export(tmp_path / "views.so", "views")
    x = RNG.random((5, 4, 8), np.float32)
    for got, wanted in zip(tw.load_model(tmp_path / "views.so", "views")(x), _expected(x), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5)


def test_steps_of_a_sequence_share_a_program() -> None:
    """Each step reads its own slice of the sequence, at another place of the same memory."""
    inputs = [("x", TensorType((6, 2, 8), "float32")), ("begin", TensorType((2, 8), "float32"))]
    with GraphBuilder("steps", inputs) as b:
        weight, state = b.weight("w", np.eye(8, dtype=np.float32) / 2), b.inputs["begin"]
        for i in range(6):
            step = b.op("slice", b.inputs["x"], starts=[i, 0, 0], steps=[1, 1, 1], sizes=[1, 2, 8])
            product = b.op("matmul", state, weight, acc="float32", to="float32")
            state = b.op("mul", product, b.op("reshape", step, shape=[2, 8]))
        model = compile_graph(b.finish([("y", state)]), "cpu")
    assert len(model.groups) == 6 and len({group.key for group in model.groups}) == 1
    x = RNG.random((6, 2, 8), np.float32)
    np.testing.assert_allclose(model(x, np.ones((2, 8), np.float32)), np.prod(x / 2, 0), rtol=1e-5)
