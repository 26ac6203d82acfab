"""Symbolic extents that are 0 in a call."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from tilewright import te

pytestmark = pytest.mark.filterwarnings("ignore")
TARGETS = ["cpu", pytest.param("sim -arch=sm_90a", marks=pytest.mark.sweep)]
RNG = np.random.default_rng(12)


def _onnx(nodes: list, inputs: dict, outputs: list[str]):
    onnx = pytest.importorskip("onnx")
    made = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape) for name, shape in inputs.items()
    ]  # fmt: skip
    results = [onnx.helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = onnx.helper.make_graph([onnx.helper.make_node(*node, **more) for node, more in nodes], "g", made, results)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=9)


REDUCTIONS = {
    "ReduceSum": 0.0, "ReduceProd": 1.0, "ReduceMean": np.nan, "ReduceMax": -np.inf, "ReduceMin": np.inf,
    "ReduceL2": 0.0, "ReduceLogSumExp": -np.inf,
}  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize("target", TARGETS)
def test_reductions_of_no_elements(target: str, tmp_path: Path) -> None:
    reference = pytest.importorskip("onnx.reference")
    model = _onnx([((op, ["x"], [op]), {"keepdims": 0}) for op in REDUCTIONS], {"x": ["n", "m"]}, [*REDUCTIONS])
    compiled = tw.compile(model, target=target)
    functions = [compiled]
    if target == "cpu":
        compiled.export(tmp_path / "model.so")
        functions.append(tw.load_model(tmp_path / "model.so"))
    for function in functions:
        got = [np.asarray(one).item() for one in function(np.zeros((0, 4), "float32"))]
        assert got == pytest.approx([*REDUCTIONS.values()], nan_ok=True)
    x = RNG.uniform(0.5, 1.5, (3, 4)).astype("float32")
    expected = reference.ReferenceEvaluator(model).run(None, {"x": x})
    for one, wanted in zip(compiled(x), expected, strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-5)
    assert compiled.verify(np.zeros((4, 0), "float32"))


def test_a_launch_of_no_blocks_is_left_out_on_a_gpu() -> None:
    model = _onnx([(("Relu", ["x"], ["y"]), {})], {"x": ["n", 8]}, ["y"])
    (group,) = tw.compile(model, target="cuda -device=H200").groups
    (host,) = (text for text in group.function.ir("host").split("llvm.func") if text.startswith(" @group_relu("))
    assert re.search(r'llvm.icmp "eq" .*\n *llvm.cond_br ', host)
    assert "if (!grid[0] || !grid[1] || !grid[2]) return;" in group.function.source("host")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(0, 8, 4), (3, 0, 4), (3, 8, 0), (0, 0, 0)])
def test_what_is_beside_a_matmul_of_nothing(target: str, shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    nodes = [
        (("MatMul", ["a", "b"], ["c"]), {}),
        (("Softmax", ["c"], ["p"]), {"axis": 1}),
        (("Concat", ["p", "d"], ["e"]), {"axis": 0}),
        (("CumSum", ["e", "axis"], ["f"]), {}),
    ]
    model = _onnx(nodes, {"a": ["m", "k"], "b": ["k", "n"], "d": [2, "n"]}, ["c", "f"])
    onnx = pytest.importorskip("onnx")
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(0, "int64"), "axis"))
    compiled = _compiled(model, target)
    given = [RNG.standard_normal(one).astype("float32") for one in ((m, k), (k, n), (2, n))]
    c, f = compiled(*given)
    expected = given[0] @ given[1]
    np.testing.assert_allclose(c, expected, rtol=1e-5, atol=1e-6)
    p = np.exp(expected) / np.exp(expected).sum(1, keepdims=True)
    np.testing.assert_allclose(f, np.concatenate([p, given[2]]).cumsum(0), rtol=1e-4, atol=1e-5)
    assert compiled.verify(*given)


KNOWN: dict[str, tw.Model] = {}


def _compiled(model, target: str):
    if target not in KNOWN:
        KNOWN[target] = tw.compile(model, target=target)
    return KNOWN[target]


def test_where_the_largest_is_there_has_to_be_an_element() -> None:
    model = _onnx([(("ArgMax", ["x"], ["y"]), {"axis": 0})], {"x": ["n", "m"]}, ["y"])
    n = te.var("n")
    compiled = tw.compile(model, target="cpu", dynamic_shapes={"x": {0: n}})
    assert compiled(np.zeros((2, 0), "float32")).shape == (1, 0)
    with pytest.raises(ValueError, match="expected extent n in dimension 0 to be at least 1, got shape"):
        compiled(np.zeros((0, 2), "float32"))
    assert n.minimum == 0


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["cpu", "sim -arch=sm_90a"])
def test_a_module_of_pytorch(target: str) -> None:
    torch = pytest.importorskip("torch")

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(8, 4)

        def forward(self, x):
            y = torch.relu(self.linear(x))
            return y, y.mean(0), y.sum(), y.cumsum(0), torch.nn.functional.layer_norm(y, (4,)), y.amax(1)

    module = Network().eval()
    model = tw.compile(module, (torch.ones(3, 8),), target=target, dynamic_shapes=({0: "n"},))
    for count in (0, 1, 5):
        x = torch.randn(count, 8)
        for mine, theirs in zip(model(x), module(x), strict=True):
            torch.testing.assert_close(mine, theirs, equal_nan=True)


@pytest.mark.sweep
def test_pytorch_has_no_largest_of_nothing() -> None:
    torch = pytest.importorskip("torch")

    class Network(torch.nn.Module):
        def forward(self, x, y):
            return x.amax(0), y.max(), x.sum(1).argmax(), y.min(1)[0]

    given = (torch.ones(3, 8), torch.ones(4, 5))
    shapes = ({0: "n", 1: "m"}, {0: "k", 1: "j"})
    model = tw.compile(Network(), given, target="cpu", dynamic_shapes=shapes)
    for position, shape, symbol in ((0, (0, 8), "n"), (1, (0, 5), "k"), (1, (4, 0), "j")):
        wrong = [*given[:position], torch.ones(shape), *given[position + 1 :]]
        dim = shape.index(0)
        text = f"expected extent {symbol} in dimension {dim} to be at least 1, got shape {shape}"
        with pytest.raises((RuntimeError, IndexError), match="xpected reduction dim"):
            Network()(*wrong)
        with pytest.raises(ValueError) as caught:
            model(*wrong)
        assert str(caught.value).endswith(text)
    assert model(torch.ones(3, 0), given[1])[0].shape == (0,)


def test_nothing_is_repeated() -> None:
    nodes = [
        (("Constant", [], ["r"]), {"value_ints": [2, 3, 1]}),
        (("Tile", ["x", "r"], ["t"]), {}),
        (("ReduceSum", ["t"], ["y"]), {"keepdims": 0}),
    ]
    x = np.zeros((2, 0, 3), "float32")
    model = tw.compile(_onnx(nodes, {"x": x.shape}, ["t", "y"]), target="cpu")
    tiled, total = model(x)
    assert tiled.shape == (4, 0, 3)
    assert total == 0


@pytest.mark.sweep
def test_tensors_that_never_have_elements() -> None:
    torch = pytest.importorskip("torch")
    from tilewright.torch.backend import compile_fx

    def function(x, z):  # noqa: ANN001, ANN202
        f = torch.nn.functional
        return (
            x.cumsum(0), x.cumprod(1), x.sort(0).values, f.layer_norm(x, (3,)), z.conj() * 2, x.sum(0), x.roll(1, 0),
            torch.linalg.inv(x.new_zeros(0, 2, 2)), f.conv1d(x[..., None], x.new_ones(2, 3, 1)), x.argsort(1),
        )  # fmt: skip

    given = torch.randn(0, 3), torch.zeros(0, 2, dtype=torch.complex64)
    made = torch.compile(function, backend=compile_fx, fullgraph=True)(*given)
    for ours, theirs in zip(made, function(*given), strict=True):
        assert ours.dtype == theirs.dtype
        assert torch.equal(ours, theirs)


@pytest.mark.sweep
@pytest.mark.parametrize("number", [0, 5])
def test_places_of_a_number(number: int) -> None:
    torch = pytest.importorskip("torch")
    from tilewright.torch.backend import compile_fx

    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        torch._dynamo.reset()
        made = torch.compile(torch.nonzero, backend=compile_fx, fullgraph=True)(torch.tensor(number))
    assert torch.equal(made, torch.nonzero(torch.tensor(number)))
