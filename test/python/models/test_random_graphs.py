"""Random ONNX graphs against ONNX's reference in float64: with all passes, and without each; and `tilewright bisect`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.cli import main
from tilewright.graph import PASSES, GraphBuilder, TensorType, bisect_model, compile_graph

onnx = pytest.importorskip("onnx")

_UNARY = ("Relu", "Tanh", "Sigmoid", "Neg", "Abs", "Exp")
_BINARY = ("Add", "Sub", "Mul", "Max", "Min")


class _Random:
    """A graph of a few nodes: the shapes of values are kept by name."""

    def __init__(self, seed: int, nodes: int = 9) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        shape = tuple(int(n) for n in self.rng.integers(1, 6, self.rng.integers(2, 4)))
        self.shapes = {"x": shape, "y": shape}
        for _ in range(nodes):
            self._node()

    def _pick(self) -> str:
        return str(self.rng.choice(list(self.shapes)))

    def _constant(self, array: np.ndarray) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(onnx.numpy_helper.from_array(array, name))
        return name

    def _add(self, op: str, inputs: list[str], shape: tuple[int, ...], **attributes: Any) -> None:
        name = f"v{len(self.nodes)}"
        self.nodes.append(onnx.helper.make_node(op, inputs, [name], name=f"n{len(self.nodes)}", **attributes))
        self.shapes[name] = shape

    def _node(self) -> None:
        rng, name = self.rng, self._pick()
        shape = self.shapes[name]
        axis = int(rng.integers(len(shape)))
        kind = rng.integers(9)
        if kind == 0:
            self._add(str(rng.choice(_UNARY)), [name], shape)
        elif kind == 1:
            others = [other for other, each in self.shapes.items() if each == shape]
            self._add(str(rng.choice(_BINARY)), [name, str(rng.choice(others))], shape)
        elif kind == 2:
            n = int(rng.integers(1, 6))
            weight = self._constant(rng.standard_normal((shape[-1], n)).astype("float32"))
            self._add("MatMul", [name, weight], (*shape[:-1], n))
        elif kind == 3:
            order = [int(d) for d in rng.permutation(len(shape))]
            self._add("Transpose", [name], tuple(shape[d] for d in order), perm=order)
        elif kind == 4:
            axes = self._constant(np.array([axis], np.int64))
            op = str(rng.choice(("ReduceSum", "ReduceMax", "ReduceMean")))
            self._add(op, [name, axes], tuple(1 if d == axis else n for d, n in enumerate(shape)), keepdims=1)
        elif kind == 5:
            self._add("Softmax", [name], shape, axis=axis)
        elif kind == 6:
            flat = (int(np.prod(shape[:-1])), shape[-1])
            self._add("Reshape", [name, self._constant(np.array(flat, np.int64))], flat)
        elif kind == 7:
            begin = int(rng.integers(shape[axis]))
            bounds = [self._constant(np.array([n], np.int64)) for n in (begin, shape[axis], axis)]
            kept = tuple(n - begin if d == axis else n for d, n in enumerate(shape))
            self._add("Slice", [name, *bounds], kept)
        else:
            whole = tuple(2 * n if d == axis else n for d, n in enumerate(shape))
            self._add("Concat", [name, name], whole, axis=axis)

    def model(self, dtype: int) -> Any:
        info = onnx.helper.make_tensor_value_info
        inputs = [info(name, dtype, self.shapes[name]) for name in ("x", "y")]
        outputs = [info(one.output[0], dtype, self.shapes[one.output[0]]) for one in self.nodes[-2:]]
        wide = [
            onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(one).astype("float64"), one.name)
            if one.data_type == onnx.TensorProto.FLOAT and dtype == onnx.TensorProto.DOUBLE else one
            for one in self.weights
        ]  # fmt: skip
        graph = onnx.helper.make_graph(self.nodes, "random", inputs, outputs, wide)
        return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)])


def _check(seed: int, target: str) -> None:
    from onnx.reference import ReferenceEvaluator

    made = _Random(seed)
    x, y = (made.rng.standard_normal(made.shapes[name]).astype("float32") for name in ("x", "y"))
    feeds = {"x": x.astype("float64"), "y": y.astype("float64")}
    expected = ReferenceEvaluator(made.model(onnx.TensorProto.DOUBLE)).run(None, feeds)
    for without in [(), *[(name,) for name in PASSES]]:
        from tilewright.onnx import import_onnx

        got = compile_graph(import_onnx(made.model(onnx.TensorProto.FLOAT)), target, without)(x, y)
        for one, wanted in zip(got if isinstance(got, tuple) else (got,), expected):
            assert one.shape == wanted.shape, (seed, without)
            limit = 1e-5 * max(float(np.abs(wanted).max(initial=0)), 1.0)
            np.testing.assert_allclose(one, wanted, rtol=1e-4, atol=limit, err_msg=f"seed {seed}, without {without}")


@pytest.mark.parametrize("seed", range(6))
def test_a_random_graph(seed: int) -> None:
    _check(seed, "cpu")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize("seed", range(6, 206))
def test_more_random_graphs(seed: int, target: str) -> None:
    _check(seed, target)


def _saved(path: Path) -> Path:
    made = _Random(3)
    onnx.save(made.model(onnx.TensorProto.FLOAT), path)
    return path


def test_bisecting_a_model_that_is_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bisect", str(_saved(tmp_path / "m.onnx")), "--target", "cpu"]) == 0
    assert capsys.readouterr().out == "random: right\n"


def test_bisecting_names_the_group_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiled program that is off by one element, in a group that fusion makes."""
    from tilewright.graph.groups import Group

    compiled = Group.compile

    def broken(self: Group, target: Any) -> Any:
        right = compiled(self, target)
        if self.operators == ("add", "relu"):
            x = self.arguments[0]
            y = te.compute(x.shape, lambda i: x[i] + x[i] + te.if_then_else(i == 0, 1.0, 0.0))
            self.functions[self.key] = tw.build(te.create_schedule(y.op), [x, y], target, right.entry_name)
        return right

    def make() -> Any:
        with GraphBuilder("sum", [("x", TensorType((3,), "float32"))]) as b:
            return b.finish([("y", b.op("relu", b.op("add", b.inputs["x"], b.inputs["x"])))])

    monkeypatch.setattr(Group, "compile", broken)
    x = np.ones(3, "float32")
    found = bisect_model(make, [x], [x * 2], "cpu")
    assert found.passes == ("fuse-operators",)
    assert str(found).splitlines() == [
        "sum: y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without canonicalize      y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without cse               y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without raise-attention   y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without fuse-quantization y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without fuse-operators    right",
        "  without plan-memory       y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without any pass          right",
        f"  group add_relu: WRONG, off by 0.5 ({__file__}:151 (graph.add), {__file__}:151 (graph.relu))",
    ]


def test_bisecting_takes_no_program_with_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _saved(tmp_path / "m.onnx")
    assert main(["bisect", str(path), "--program", "f"]) != 0
    assert f"{path}: expected no --program and no --name with a model" in capsys.readouterr().err


def test_a_model_that_onnx_does_not_run(tmp_path: Path) -> None:
    from tilewright.onnx.bisect import bisect_onnx

    info = onnx.helper.make_tensor_value_info
    x, y = (info(name, onnx.TensorProto.FLOAT, (4,)) for name in ("x", "y"))
    node = onnx.helper.make_node("Reshape", ["x", "s"], ["y"])
    shape = onnx.numpy_helper.from_array(np.array([3], np.int64), "s")
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph([node], "g", [x], [y], [shape])), tmp_path / "m.onnx")
    with pytest.raises(tw.CompileError, match="onnx.reference does not run it: "):
        bisect_onnx(str(tmp_path / "m.onnx"))
