"""Functions and gradients of which PyTorch has operators of its own for a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch._subclasses import FakeTensorMode  # noqa: E402

import tilewright.torch.backend as backend  # noqa: E402
from models.traced import operators_for  # noqa: E402
from tilewright.torch import compile_fx  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
pad = torch.nn.functional.pad


def _cell(function: Callable[..., Any], parts: int, with_bias: bool, is_lstm: bool) -> Callable[..., Any]:
    """A cell of 3 inputs and 4 hidden elements as a function of tensors."""

    def cell(x: Any, hidden: Any, *given: Any) -> Any:
        *given, w_ih, w_hh = given
        bias = (torch.ones(4 * parts, device=x.device),) * 2 if with_bias else ()
        return function(x, (hidden, given[0]) if is_lstm else hidden, w_ih, w_hh, *bias)

    return cell


CELLS = {"lstm": (torch.lstm_cell, 4), "gru": (torch.gru_cell, 3)}


def _shapes(name: str) -> list[tuple[int, ...]]:
    rows = 4 * CELLS[name][1]
    return [(2, 3), (2, 4), *([(2, 4)] if name == "lstm" else []), (rows, 3), (rows, 4)]


def test_a_cell_is_matmuls_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    names = operators_for(monkeypatch, _cell(*CELLS["lstm"], True, True), *_shapes("lstm"))
    assert not any("thnn" in one for one in names)
    assert sum("mm" in one for one in names) == 2


def _compared(function: Callable[..., Any], tensors: list[Any], *given: Any) -> None:
    """Results and gradients beside those of PyTorch."""

    def run(function: Callable[..., Any]) -> list[Any]:
        inputs = [one.detach().clone().requires_grad_() for one in tensors]
        made = function(*inputs, *given)
        made = [*made] if isinstance(made, tuple) else [made]
        return [*made, *torch.autograd.grad(sum(one.square().sum() for one in made), inputs)]

    torch.manual_seed(3)
    compiled = run(torch.compile(function, backend=compile_fx, fullgraph=True, dynamic=False))
    for a, b in zip(compiled, run(function), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)


@pytest.mark.sweep
@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("name", CELLS)
def test_cells_and_their_gradients(name: str, with_bias: bool) -> None:
    torch.manual_seed(2)
    tensors = [torch.randn(shape) for shape in _shapes(name)]
    _compared(_cell(*CELLS[name], with_bias, name == "lstm"), tensors)


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("padding", "shape"),
    [((2, 3), (2, 4)), ((2, -1), (2, 3, 5)), ((1, 2, 3, 0), (2, 3, 4, 5)), ((1, 1, 2, 0, 0, 2), (2, 2, 3, 4, 3))],
    ids=["a row", "cut", "an image", "a volume"],
)
def test_gradients_of_padding_with_the_edge(padding: tuple[int, ...], shape: tuple[int, ...]) -> None:
    torch.manual_seed(1)
    _compared(lambda x: pad(x, padding, mode="replicate"), [torch.randn(shape)])


@pytest.mark.sample(1)
@pytest.mark.parametrize("reduce", ["add", "multiply"])
@pytest.mark.parametrize("source", [2.5, torch.arange(12.0).reshape(4, 3) / 4], ids=["number", "tensor"])
def test_scatter_that_reduces(reduce: str, source: Any) -> None:
    index = torch.tensor([[0, 1, 2], [0, 0, 4], [3, 1, 2], [0, 1, 1]])

    def scatter(x: Any, index: Any, source: Any) -> Any:
        return x.scatter(0, index, source, reduce=reduce)

    x = torch.arange(15.0).reshape(5, 3) / 7
    made = torch.compile(scatter, backend=compile_fx, fullgraph=True)(x, index, source)
    torch.testing.assert_close(made, scatter(x, index, source))


def test_gradients_of_masked_scatter() -> None:
    torch.manual_seed(1)
    mask = torch.rand(5) > 0.5
    _compared(lambda x, source, mask: x.masked_scatter(mask, source), [torch.randn(4, 5), torch.randn(5, 6)], mask)


def test_indices_may_be_in_the_processors_memory() -> None:
    with FakeTensorMode():
        given = torch.empty(5, 3, device="cuda"), torch.empty(4, dtype=torch.int64)
    assert backend._device(given) == given[0].device
    assert backend._device(given[1:]) == torch.device("cpu")


@pytest.mark.sweep
@torch._dynamo.config.patch(allow_rnn=True)
def test_a_module_of_cells() -> None:
    torch.compiler.reset()
    module = torch.nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True)
    compiled = torch.compile(module, backend="tilewright", fullgraph=True)
    for training in (True, False):
        module.train(training)
        x = torch.randn(2, 5, 3)
        torch.testing.assert_close(compiled(x)[0], module(x)[0], rtol=1e-5, atol=1e-5)
