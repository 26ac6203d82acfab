"""ONNX models whose nodes take parts of symbolic dimensions, count along them, or compute with their extents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnx.reference")

from .onnx_reference import check  # noqa: E402

helper, numpy_helper = onnx.helper, onnx.numpy_helper
FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
FAR = 2**62
Node = tuple[Any, ...]


def _model(nodes: list[Node], inputs: dict[str, Any], outputs: str, constants: dict[str, Any]) -> Any:
    """A model of nodes, each an operator, its inputs, its outputs, and maybe attributes."""
    infos = [
        helper.make_tensor_value_info(name, INT64 if name == "ids" else FLOAT, shape) for name, shape in inputs.items()
    ]
    made = [
        helper.make_node(one[0], one[1].split(), one[2].split(), **(one[3] if len(one) > 3 else {})) for one in nodes
    ]
    given = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    results = [onnx.ValueInfoProto(name=name) for name in outputs.split()]
    return helper.make_model(
        helper.make_graph(made, "model", infos, results, given), opset_imports=[helper.make_opsetid("", 21)]
    )


def _numbers(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


LENGTH: list[Node] = [
    ("Shape", "x", "t", {"start": 1, "end": 2}), ("Sub", "t one", "t-1"), ("Sub", "t two", "t-2"), ("Div", "t two", "t/2")
]  # fmt: skip
PARTS: dict[str, tuple[Any, Any, int, int]] = {  # where a part starts and ends, its step, and how short x may be
    "but the last": (0, "t-1", 1, 1),
    "but the ends": (1, "t-1", 1, 2),
    "but the last three": (0, -3, 1, 3),
    "the last two": (-2, FAR, 1, 2),
    "the last two, counted": ("t-2", FAR, 1, 2),
    "the second half": ("t/2", FAR, 1, 1),
    "the first half": (0, "t/2", 1, 1),
    "two in the middle": (2, 4, 1, 1),
    "the third": (2, 3, 1, 3),
    "every second": (0, FAR, 2, 1),
    "backwards": (-1, -FAR, -1, 1),
    "every second, backwards": (-1, -FAR, -2, 1),
}


def _part(name: str) -> Any:
    start, end, step, _ = PARTS[name]
    constants: dict[str, Any] = {"one": [1], "two": [2], "axes": [1], "steps": [step]}
    places: list[str] = []
    for what, place in (("start", start), ("end", end)):
        if not isinstance(place, str):
            constants[what] = [place]
        places.append(place if isinstance(place, str) else what)
    nodes = [*LENGTH, ("Slice", f"x {places[0]} {places[1]} axes steps", "y")]
    return _model(nodes, {"x": ("batch", "length")}, "y", constants)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", PARTS)
def test_parts(name: str) -> None:
    shortest = PARTS[name][3]
    check(_part(name), *({"x": _numbers(3, length)} for length in (7, 4, shortest)))


@pytest.mark.parametrize("name", ["but the last three", "the last two"])
def test_a_shorter_input_is_refused(name: str) -> None:
    """Also where the part is within the model, so that no output shows that its extent is less than 0."""
    proto = _part(name)
    proto.graph.node.append(helper.make_node("ReduceSum", ["y", "axes"], ["sum"], keepdims=0))
    proto.graph.output[0].name = "sum"
    shortest = PARTS[name][3]
    with pytest.raises(ValueError) as caught:
        tw.compile(proto, target="cpu")(_numbers(3, shortest - 1))
    assert str(caught.value) == (
        "model(x: float32[batch, length], sum: float32[batch]): argument 0 (x): expected extent length in dimension 1 "
        f"to be at least {shortest}, got shape (3, {shortest - 1})"
    )


def test_as_many_positions_as_tokens() -> None:
    nodes: list[Node] = [
        ("Shape", "ids", "t", {"start": 1, "end": 2}), ("Slice", "positions zero t axes", "p"),
        ("Gather", "tokens ids", "e"), ("Gather", "places p", "q"), ("Add", "e q", "y"),
    ]  # fmt: skip
    constants = {
        "positions": np.arange(6)[None], "zero": [0], "axes": [1], "tokens": _numbers(9, 4), "places": _numbers(6, 4)
    }  # fmt: skip
    proto = _model(nodes, {"ids": ("batch", "length")}, "y", constants)
    check(proto, {"ids": np.array([[3, 1, 8]])}, {"ids": np.arange(6)[None]})
    with pytest.raises(ValueError) as caught:
        tw.compile(proto, target="cpu")(np.zeros((1, 7), np.int64))
    assert "argument 0 (ids): expected extent length in dimension 1 to be at most 6, got shape (1, 7)" in str(
        caught.value
    )


@pytest.mark.sweep
def test_ranges() -> None:
    nodes: list[Node] = [
        ("Shape", "x", "s"), ("Gather", "s one", "t"), ("Sub", "t one", "t-1"), ("Add", "t one", "t+1"),
        ("Range", "zero t one", "r"), ("Cast", "r", "f", {"to": FLOAT}), ("Mul", "x f", "y"),
        ("Range", "one t+1 one", "from_one"), ("Range", "zero t two", "even"), ("Range", "t-1 less less", "down"),
        ("Gather", "x down", "reversed", {"axis": 1}),
    ]  # fmt: skip
    constants = {"zero": 0, "one": 1, "two": 2, "less": -1}
    proto = _model(nodes, {"x": ("batch", "length")}, "y from_one even reversed", constants)
    check(proto, *({"x": _numbers(2, length)} for length in (5, 8, 1)))


@pytest.mark.sweep
def test_extents_are_numbers() -> None:
    nodes: list[Node] = [
        ("Shape", "x", "s"), ("Cast", "s", "f", {"to": FLOAT}), ("Gather", "f one", "t"), ("Sqrt", "t", "root"),
        ("Div", "x root", "y"), ("Gather", "s one", "n"), ("Sub", "n ids", "rest"), ("Identity", "s", "shape"),
        ("Size", "x", "size"),
    ]  # fmt: skip
    proto = _model(nodes, {"x": ("batch", "length"), "ids": ("batch",)}, "y rest shape size", {"one": 1})
    check(proto, *({"x": _numbers(b, t), "ids": np.arange(b)} for b, t in ((2, 5), (3, 9))))


@pytest.mark.sweep
def test_splits_and_batches_of_images() -> None:
    split = _model([("Split", "x", "a b", {"axis": 1, "num_outputs": 2})], {"x": ("batch", "length")}, "a b", {})
    check(split, {"x": _numbers(2, 6)}, {"x": _numbers(3, 7)}, {"x": _numbers(1, 1)})
    image = ("batch", 2, 3, 4)
    scales = np.array([1, 1, 2, 1.5], np.float32)
    larger = _model([("Resize", "x  scales", "y", {"mode": "linear"})], {"x": image}, "y", {"scales": scales})
    larger.graph.node[0].input[:] = ["x", "", "scales"]
    check(larger, {"x": _numbers(2, 2, 3, 4)}, {"x": _numbers(5, 2, 3, 4)})


REFUSED: dict[str, tuple[list[Node], dict[str, Any], str]] = {
    "a start before the beginning": (
        [*LENGTH, ("Sub", "one t", "1-t"), ("Slice", "x 1-t t axes", "y")], {"one": [1], "two": [2], "axes": [1]},
        "node 'y' (Slice): dimension 1 of extent length: expected a start that is not negative, got 1 - length"),
    "backwards from the middle": (
        [*LENGTH, ("Slice", "x t/2 end axes steps", "y")],
        {"one": [1], "two": [2], "axes": [1], "end": [-FAR], "steps": [-1]},
        "node 'y' (Slice): dimension 1 of extent length: expected all of it in steps of -1"),
    "steps of a length": (
        [("Shape", "x", "s"), ("Gather", "s one", "t"), ("Range", "zero nine t", "y")], {"zero": 0, "one": 1, "nine": 9},
        "node 'y' (Range): expected a step that is a number, got length"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    nodes, constants, message = REFUSED[name]
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(_model(nodes, {"x": ("batch", "length")}, "y", constants), target="cpu")
    assert str(caught.value) == message
