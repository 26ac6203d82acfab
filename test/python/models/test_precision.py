"""Models of float32 that may be multiplied in tf32: by an argument, and by PyTorch's own settings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tilewright as tw
from tilewright.errors import TilewrightValueError
from tilewright.graph import GraphBuilder, TensorType

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402


@pytest.fixture(autouse=True)
def settings() -> Iterator[None]:
    """PyTorch's settings as they are by default, and again afterwards."""
    matmul, convolutions = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = True
    yield
    torch.set_float32_matmul_precision(matmul)
    torch.backends.cudnn.allow_tf32 = convolutions


class Net(nn.Module):
    """A convolution of few channels, one of many, attention and a matmul."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Conv2d(3, 32, 3, stride=2, padding=1)
        self.second = nn.Conv2d(32, 32, 3, padding=1)
        self.last = nn.Linear(32, 48)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.second(torch.relu(self.first(x)))).flatten(2).transpose(1, 2)
        return self.last(nn.functional.scaled_dot_product_attention(x, x * 0.5, x))


X = torch.linspace(-2, 2, 2 * 3 * 16 * 16).sin().reshape(2, 3, 16, 16)


def contractions(model: tw.Model) -> list[tuple[str, bool]]:
    """The operators that multiply, and whether they may do so in tf32."""
    names = ("graph.conv ", "graph.matmul ", "graph.attention ")
    lines = [line for line in model.ir("graph").splitlines() if any(name in line for name in names)]
    return [(next(name for name in names if name in line).strip(), '"tf32"' in line) for line in lines]


# The second convolution is a matmul by then.
CONVOLUTIONS = [("graph.conv", True), ("graph.matmul", True), ("graph.attention", False), ("graph.matmul", False)]


@pytest.mark.sweep
def test_settings_of_pytorch() -> None:
    target = "cuda -arch=sm_90a"
    assert contractions(tw.compile(Net(), (X,), target)) == CONVOLUTIONS
    torch.set_float32_matmul_precision("high")
    assert all(is_tf32 for _, is_tf32 in contractions(tw.compile(Net(), (X,), target)))
    assert not any(is_tf32 for _, is_tf32 in contractions(tw.compile(Net(), (X,), target, precision="ieee")))
    assert not any(is_tf32 for _, is_tf32 in contractions(tw.compile(Net(), (X,), "cpu")))
    torch.backends.cudnn.allow_tf32 = False
    found = contractions(tw.compile(Net(), (X,), target))
    assert [is_tf32 for _, is_tf32 in found] == [False, False, True, True]


@pytest.mark.sweep
def test_results() -> None:
    exact = Net().double()(X.double()).detach().numpy()
    errors = {}
    for precision in ("ieee", "tf32"):
        got = np.asarray(tw.compile(Net(), (X,), "sim -arch=sm_90a", precision=precision)(X))
        errors[precision] = abs(got - exact).max() / abs(exact).max()
    assert errors["ieee"] < 2e-6
    assert 1e-5 < errors["tf32"] < 2e-3


def test_onnx() -> None:
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    x, y = (helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, (32, 32)) for name in "xy")
    w = onnx.numpy_helper.from_array(np.eye(32, dtype="float32"), "w")
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "one", [x], [y], [w])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    assert contractions(tw.compile(model, target="sim")) == [("graph.matmul", False)]
    assert contractions(tw.compile(model, target="sim", precision="tf32")) == [("graph.matmul", True)]


def test_graphs_have_their_own() -> None:
    with GraphBuilder("same", [("x", TensorType((4,), "float32"))]) as builder:
        graph = builder.finish([("y", builder.op("relu", builder.inputs["x"]))])
    with pytest.raises(TilewrightValueError) as caught:
        tw.compile(graph, target="cpu", precision="tf32")
    expected = "precision: expected none with a Graph, whose operators have theirs, got 'tf32'"
    assert str(caught.value) == expected


def test_unknown_precision() -> None:
    with pytest.raises(TilewrightValueError) as caught:
        tw.compile(Net(), (X,), "cpu", precision="high")
    assert str(caught.value) == "expected a precision of 'ieee' or 'tf32', or None, got 'high'"
