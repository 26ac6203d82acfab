"""ONNX's sequences: resolved when the model is imported, and refused with which words where they cannot be."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw

onnx = pytest.importorskip("onnx")
helper, numpy_helper, FLOAT, INT64 = onnx.helper, onnx.numpy_helper, onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
X = np.random.default_rng(0).random((2, 6), np.float32)


def _model(nodes, initializers=(), shape=(2, 6), outputs=("y",)):
    infos = [helper.make_tensor_value_info("x", FLOAT, shape)]
    held = [numpy_helper.from_array(np.asarray(value), name) for name, value in dict(initializers).items()]
    graph = helper.make_graph(nodes, "g", infos, [onnx.ValueInfoProto(name=name) for name in outputs], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])


def _node(op, inputs, output="s", **attributes):
    return helper.make_node(op, inputs, [output], name=output, **attributes)


def _refused(nodes, initializers=(), **options) -> str:
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(_model(nodes, initializers, **options), target="cpu")
    return str(caught.value)


def _same_as_the_reference(nodes, initializers=(), outputs=("y",)):
    from onnx.reference import ReferenceEvaluator

    model = _model(nodes, initializers, outputs=outputs)
    got = tw.compile(model, target="cpu")(X)
    expected = ReferenceEvaluator(model).run(None, {"x": X})
    for one, other in zip(got if isinstance(got, tuple) else (got,), expected):
        assert one.dtype == other.dtype and np.array_equal(one, other)


def test_parts_of_a_tensor_are_put_together_in_another_order():
    nodes = [
        _node("SplitToSequence", ["x", "two"], "parts", axis=1),
        _node("SequenceAt", ["parts", "last"], "c"),
        _node("SequenceErase", ["parts"], "fewer"),
        _node("SequenceInsert", ["fewer", "c", "zero"], "turned"),
        _node("Identity", ["turned"], "same"),
        _node("ConcatFromSequence", ["same"], "y", axis=-1),
        _node("SequenceLength", ["same"], "n"),
    ]
    _same_as_the_reference(nodes, {"two": 2, "last": -1, "zero": 0}, outputs=("y", "n"))


@pytest.mark.parametrize("keeps", [0, 1])
def test_rows_are_stacked(keeps):
    nodes = [
        _node("SplitToSequence", ["x"], "rows", axis=0, keepdims=keeps),
        _node("ConcatFromSequence", ["rows"], "y", axis=1, new_axis=1),
    ]
    _same_as_the_reference(nodes)


def test_sizes_of_the_parts():
    nodes = [
        _node("SplitToSequence", ["x", "sizes"], "parts", axis=1),
        _node("SequenceAt", ["parts", "one"], "y"),
    ]
    _same_as_the_reference(nodes, {"sizes": [1, 3, 2], "one": 1})


def test_a_shape_is_put_together_from_a_sequence():
    nodes = [
        _node("SequenceConstruct", ["three", "minus"]),
        _node("ConcatFromSequence", ["s"], "shape", axis=0),
        _node("Reshape", ["x", "shape"], "y"),
    ]
    _same_as_the_reference(nodes, {"three": [3], "minus": [-1]})


def test_a_loop_carries_a_sequence():
    info = [
        helper.make_tensor_value_info("i", INT64, []),
        helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, []),
    ]
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, (2, 6)))
    body = helper.make_graph(
        [
            helper.make_node("Cast", ["i"], ["f"], to=FLOAT),
            helper.make_node("Mul", ["x", "f"], ["scaled"]),
            helper.make_node("SequenceInsert", ["held", "scaled"], ["more"]),
            helper.make_node("Identity", ["c"], ["goes_on"]),
        ],
        "body",
        [*info, helper.make_value_info("held", kind)],
        [helper.make_tensor_value_info("goes_on", onnx.TensorProto.BOOL, []), helper.make_value_info("more", kind)],
    )
    nodes = [
        _node("SequenceEmpty", [], "none"),
        _node("Loop", ["three", "", "none"], "all", body=body),
        _node("ConcatFromSequence", ["all"], "y", axis=0),
    ]
    got = tw.compile(_model(nodes, {"three": 3}), target="cpu")(X)  # onnx.reference's Loop loses the sequence
    assert np.array_equal(got, np.concatenate([0 * X, X, 2 * X]))


def test_a_length_needs_no_parts():
    nodes = [_node("SplitToSequence", ["x", "sizes"]), _node("SequenceLength", ["s"], "y")]
    model = tw.compile(_model(nodes, {"sizes": [1, 1]}, shape=("n", 6)), target="cpu")
    assert model(X) == 2


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (
            [_node("SequenceConstruct", ["x", "x"]), _node("SequenceAt", ["s", "five"], "y")],
            "node 'y' (SequenceAt): expected a place from -2 to 1 in a sequence of 2, got 5",
        ),
        (
            [_node("SequenceConstruct", ["x"]), _node("SequenceInsert", ["s", "x", "five"], "y")],
            "node 'y' (SequenceInsert): expected a place from -1 to 1 in a sequence of 1, got 5",
        ),
        (
            [_node("SequenceConstruct", ["x"]), _node("Relu", ["s"], "y")],
            "node 'y' (Relu): expected a tensor, got sequence 's'",
        ),
        (
            [_node("SequenceConstruct", ["x"]), _node("SequenceConstruct", ["s"], "y")],
            "node 'y' (SequenceConstruct): input 0: expected a tensor, got sequence 's'",
        ),
        (
            [_node("SequenceConstruct", ["x"], "y")],
            "output 'y': expected a tensor, got a sequence, which no function returns",
        ),
        (
            [_node("SequenceLength", ["x"], "y")],
            "node 'y' (SequenceLength): input 0: expected a sequence, got tensor 'x'",
        ),
        (
            [_node("SequenceEmpty", []), _node("ConcatFromSequence", ["s"], "y", axis=0)],
            "node 'y' (ConcatFromSequence): expected a sequence of one element at least, got an empty one",
        ),
        (
            [_node("SequenceEmpty", []), _node("SequenceErase", ["s"], "e"), _node("SequenceLength", ["e"], "y")],
            "node 'e' (SequenceErase): expected a sequence of one element at least, got an empty one",
        ),
        (
            [_node("SplitToSequence", ["x", "wrong"]), _node("SequenceLength", ["s"], "y")],
            "node 's' (SplitToSequence): expected sizes that sum up to 2, got [1, 2]",
        ),
        (
            [_node("SplitToSequence", ["x", "zero"]), _node("SequenceLength", ["s"], "y")],
            "node 's' (SplitToSequence): expected sizes of at least 1, got 0",
        ),
    ],
)
def test_what_is_refused(nodes, message):
    assert _refused(nodes, {"five": 5, "wrong": [1, 2], "zero": 0}) == message


def test_parts_of_a_symbolic_extent_need_sizes():
    assert _refused([_node("SplitToSequence", ["x"]), _node("SequenceLength", ["s"], "y")], shape=("n", 6)) == (
        "node 's' (SplitToSequence): expected sizes for a dimension of extent n, got none"
    )
