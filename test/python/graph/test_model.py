"""A graph that is built by hand: its groups, its plan, its calls and the errors of these."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.graph import PASSES, Graph, GraphBuilder, TensorType, compile_graph

RNG = np.random.default_rng(7)
W = RNG.random((64, 32), np.float32)


def _layer(batch=4) -> Graph:
    symbols = {} if isinstance(batch, int) else {batch.name: batch}
    with GraphBuilder("layer", [("x", TensorType((batch, 64), "float32"))], symbols) as b:
        h = b.op("matmul", b.inputs["x"], b.weight("w", W), acc="float32", to="float32")
        h = b.op("relu", b.op("add", h, b.constant(0.5, "float32")))
        return b.finish([("y", b.op("transpose", b.op("softmax", h, axis=1), permutation=[1, 0]))])


def _expected(x: np.ndarray) -> np.ndarray:
    h = np.maximum(x @ W + 0.5, 0)
    e = np.exp(h - h.max(1, keepdims=True))
    return (e / e.sum(1, keepdims=True)).T


def test_what_is_computed_together_and_why():
    model = compile_graph(_layer(), "cpu")
    assert [str(group) for group in model.groups] == [
        f"matmul_add_relu: {__file__}:19 (graph.matmul), {__file__}:20 (graph.add), {__file__}:20 (graph.relu)"
        " -> float32[4, 32]; ends: softmax reduces, too",
        f"softmax: {__file__}:21 (graph.softmax) -> float32[4, 32]; ends: transpose reads it at other places",
        f"transpose: {__file__}:21 (graph.transpose) -> float32[32, 4]; ends: an output of the model",
    ]
    assert repr(model.groups[1]) == f"<Group {model.groups[1]}>"
    assert model.plan.arena_bytes == 1024
    assert [(buffer.offset, buffer.bytes, buffer.first, buffer.last) for buffer in model.plan.buffers] == [
        (0, 512, 0, 1), (512, 512, 1, 2)
    ]  # fmt: skip
    assert 'graph.weight "w" : tensor<64x32xf32>' in model.ir("graph")
    assert "graph.group" in model.ir("groups")


@pytest.mark.sample(5)
@pytest.mark.parametrize("without", [(), *[(name,) for name in PASSES], PASSES])
def test_a_call_with_each_pass_off(without):
    x = RNG.random((4, 64), np.float32)
    np.testing.assert_allclose(compile_graph(_layer(), "cpu", without)(x), _expected(x), rtol=1e-5)


def test_without_fusion_each_operator_is_a_group():
    model = compile_graph(_layer(), "cpu", ["fuse-operators"])
    assert [group.operators for group in model.groups] == [
        ("matmul",), ("add",), ("relu",), ("softmax",), ("transpose",)
    ]  # fmt: skip


def test_one_compilation_for_every_extent():
    model = compile_graph(_layer(te.var("n", min=1)), "cpu")
    for n in (1, 3, 17):
        x = RNG.random((n, 64), np.float32)
        np.testing.assert_allclose(model(x), _expected(x), rtol=1e-5)
    assert repr(model) == "<tilewright.Model layer(x: float32[n, 64]) -> (y: float32[32, n]) for cpu>"


def test_equal_groups_are_compiled_once():
    with GraphBuilder("twice", [("x", TensorType((8, 8), "float32"))]) as b:
        x = b.inputs["x"]
        for name in ("a", "b"):
            weight = b.weight(name, RNG.random((8, 8), np.float32))
            x = b.op("relu", b.op("matmul", x, weight, acc="float32", to="float32"))
        graph = b.finish([("y", x)])
    first, second = compile_graph(graph, "cpu").groups
    assert first.function is second.function


def test_an_input_that_is_an_output_is_copied():
    with GraphBuilder("same", [("x", TensorType((4,), "float32"))]) as b:
        model = compile_graph(b.finish([("y", b.inputs["x"]), ("one", b.constant(1, "int32"))]), "cpu")
    x = np.arange(4, dtype=np.float32)
    y, one = model(x)
    assert one == 1 and np.array_equal(y, x) and not np.shares_memory(x, y)


@pytest.mark.parametrize(
    "arrays, named, error, text",
    [
        ([], {}, TypeError, "layer: expected 1 inputs, got none for 'x'"),
        ([1, 2], {}, TypeError, "layer: expected 1 inputs (x), got 2"),
        ([], {"z": 1}, TypeError, "layer: expected 1 inputs (x), got 0 and 'z'"),
        ([1], {}, TypeError, "layer: input 'x': expected an array, got int"),
        ([np.zeros((4, 64))], {}, TypeError, "layer: input 'x': expected float32, got float64"),
        ([np.zeros(4, "float32")], {}, ValueError, "layer: input 'x': expected 2 dimensions, got shape (4,)"),
        (
            [np.zeros((4, 3), "float32")], {}, ValueError,
            "layer: input 'x', dimension 1: expected 64, got shape (4, 3)",
        ),
    ],
)  # fmt: skip
def test_calls_that_do_not_fit(arrays, named, error, text):
    model = compile_graph(_layer(), "cpu")
    with pytest.raises(error) as caught:
        model(*arrays, **named)
    assert str(caught.value) == text and isinstance(caught.value, tw.TilewrightError)


def test_errors_of_what_is_asked():
    with pytest.raises(ValueError) as caught:
        compile_graph(_layer(), "cpu", ["fuse"])
    assert str(caught.value) == (
        "expected passes (canonicalize, cse, raise-attention, merge-matmuls, fuse-quantization, channels-last, "
        "sink-reshapes, order-results, fold-weights, fuse-operators, fold-groups, view-reshapes, order-groups, "
        "plan-memory, form-cuda-graph) in without, got fuse"
    )
    with pytest.raises(ValueError) as caught:
        compile_graph(_layer(), "cpu").ir("ptx")
    assert str(caught.value) == "expected a stage of a model (graph, groups), got 'ptx'"


def test_an_operator_that_does_not_fit_names_its_node():
    with GraphBuilder("wrong", [("x", TensorType((4, 64), "float32"))]) as b:
        with b.node("node 'fc'", 3), pytest.raises(tw.CompileError) as caught:
            b.op("matmul", b.inputs["x"], b.inputs["x"], acc="float32", to="float32")
    assert str(caught.value) == (
        "node 'fc': matmul: expected as many rows of b as columns of a, 64, got 4"
    )  # fmt: skip


def test_a_group_is_not_named_as_a_function_that_it_calls():
    """A program of the name `fmod` would be what the remainder of float64 calls."""
    with GraphBuilder("rest", [("x", TensorType((3,), "float64")), ("y", TensorType((3,), "float64"))]) as b:
        graph = b.finish([("z", b.op("fmod", b.inputs["x"], b.inputs["y"]))])
    x, y = np.array([-4.3, 7.2, 8]), np.array([2.1, -3.4, 5])
    np.testing.assert_array_equal(compile_graph(graph, "cpu")(x, y), np.fmod(x, y))


def test_each_group_is_compared_with_float64():
    model = compile_graph(_layer(te.var("n", min=1)), "cpu")
    x = RNG.random((5, 64), np.float32)
    found = model.verify(x)
    assert found and [one.group.name for one in found.checks] == ["matmul_add_relu", "softmax", "transpose"]
    assert str(found).splitlines()[2] == f"transpose: right, off by 0 ({__file__}:21 (graph.transpose))"
    assert all(one.error < 1e-5 and not one.told for one in found.checks)


def test_a_group_that_is_wrong_is_named():
    model = compile_graph(_layer(), "cpu")
    right = model.groups[1].functions[model.groups[1].key]

    def wrong(h, y):
        right(h, y)
        y[2, 3] += 0.01

    model.groups[1].functions[model.groups[1].key] = wrong
    found = model.verify(RNG.random((4, 64), np.float32))
    assert not found and found.wrong is not None
    assert [one.right for one in found.checks] == [True, False, True]
    assert str(found.wrong).startswith("softmax: WRONG, off by ") and str(found.wrong).endswith(
        f" ({__file__}:21 (graph.softmax))"
    )


def test_a_group_that_rounds_to_sixteen_bits_within_is_compared_with_what_that_changes():
    kinds = [(name, TensorType((4, 64), "bfloat16")) for name in "ab"]
    with GraphBuilder("within", kinds) as b:
        wide = [b.op("cast", b.inputs[name], to="float32", saturate=True) for name in "ab"]
        total = b.op("cast", b.op("add", *wide), to="bfloat16", saturate=True)
        total = b.op("cast", total, to="float32", saturate=True)
        graph = b.finish([("y", b.op("sub", total, b.constant(100.0, "float32")))])
    model = compile_graph(graph, "cpu")
    (group,) = model.groups
    inputs = [(RNG.standard_normal((4, 64)) + 50).astype(pytest.importorskip("ml_dtypes").bfloat16) for _ in range(2)]
    found = model.verify(*inputs)
    assert found and 1e-3 < found.checks[0].error < 0.2, found
    right = group.functions[group.key]

    def wrong(a, b, y):
        right(a, b, y)
        y[2, 3] += 2  # the roundings change 0.25

    group.functions[group.key] = wrong
    assert not model.verify(*inputs)


def test_a_profile_has_each_group():
    profile = compile_graph(_layer(), "cpu").profile(RNG.random((4, 64), np.float32), repeat=3)
    assert [one.bytes for one in profile.groups] == [4 * (4 * 64 + 64 * 32 + 4 * 32), 8 * 4 * 32, 8 * 4 * 32]
    assert profile.groups[0].operations == 2 * 4 * 64 * 32 + 4 * 32 + 4 * 32 and profile.groups[2].operations == 0
    assert all(one.seconds > 0 for one in profile.groups) and profile.seconds > 0
    assert str(profile).splitlines()[0].endswith(" us in 3 groups")


def test_numbers_of_launches_name_the_node_and_the_users_line():
    model = compile_graph(_layer(64), "sim")
    (launch,) = model.groups[0].function.launch_config()
    assert launch.origin["grid.x"].endswith(" of stage relu, test_model.py:20 (graph.relu)")
    (launch,) = model.groups[1].function.launch_config()
    assert launch.origin["grid.x"].endswith(" of stage softmax, test_model.py:21 (graph.softmax)")
