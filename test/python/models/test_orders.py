"""Tensors in the order in which they lie in memory: between the passes of training, and as inputs."""

from __future__ import annotations

import copy
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from models.traced import compiled_models  # noqa: E402
from tilewright.graph import Model  # noqa: E402
from tilewright.torch import compile_fx  # noqa: E402
from tilewright.torch.orders import order_of  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


def test_orders_of_tensors() -> None:
    x = torch.empty(2, 3, 4, 5)
    assert order_of(x) is None
    assert order_of(x.permute(0, 3, 1, 2)) == (0, 2, 3, 1)
    assert order_of(x[..., :2]) is None  # not dense
    assert order_of(x[:1].expand(2, 3, 4, 5)) is None
    assert order_of(torch.empty(3, 4, dtype=torch.complex64).t()) is None


class Tied(nn.Module):
    """A table that is also, transposed, the last layer."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(20, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.table(x)) @ self.table.weight.t()


def _network() -> nn.Module:
    layers = [nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 8, 1), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10))


CASES: dict[str, Any] = {
    "a tied table": (Tied, lambda: torch.randint(20, (3, 4))),
    "images": (_network, lambda: torch.randn(2, 8, 6, 6)),
    "channels last": (
        lambda: _network().to(memory_format=torch.channels_last),
        lambda: torch.randn(2, 8, 6, 6).to(memory_format=torch.channels_last),
    ),
}  # fmt: skip


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", CASES)
def test_training(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the forward pass keeps is read by the backward pass as it lies, and no transposed weight is stored."""
    models, given = compiled_models(monkeypatch), list[bool]()
    run = Model.results_and_extents

    def results_and_extents(model: Model, *tensors: Any) -> Any:
        given.extend(one.is_contiguous() for one in tensors)
        return run(model, *tensors)

    monkeypatch.setattr(Model, "results_and_extents", results_and_extents)
    torch.manual_seed(0)
    make, inputs = CASES[name]
    ours, x = make(), inputs()
    wanted = copy.deepcopy(ours)
    torch.compiler.reset()
    made, exact = torch.compile(ours, backend=compile_fx, dynamic=False)(x), wanted(x)
    made.sin().sum().backward()
    exact.sin().sum().backward()
    torch.testing.assert_close(made, exact, rtol=1e-4, atol=1e-5)
    assert made.stride() == exact.stride()
    for one, other in zip(ours.parameters(), wanted.parameters()):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-4, atol=1e-5)
    assert all(given)
    forward, backward = models
    if name == "a tied table":
        # Neither pass moves the table: its transposed is a view, of which the backward pass gets the base.
        assert [kind.shape for _, kind in forward.outputs].count((6, 20)) == 0
        assert (20, 6) in [kind.shape for _, kind in backward.inputs]
    else:
        assert set(forward.orders.values()) == {(0, 3, 1, 2)}
        assert not {0} & {*forward.orders}  # what the caller gets has PyTorch's strides


@pytest.mark.sample(1)
def test_tokens_of_side_effects_stand_before_what_is_kept() -> None:
    """`torch.linalg.solve` checks its matrices, which is a side effect."""
    generator = torch.Generator().manual_seed(0)
    given = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in ((3, 4, 4), (3, 4, 2))]
    ours, wanted = ([one.clone().requires_grad_() for one in given] for _ in range(2))
    torch.compiler.reset()
    made, exact = torch.compile(torch.linalg.solve, backend=compile_fx)(*ours), torch.linalg.solve(*wanted)
    made.sin().sum().backward()
    exact.sin().sum().backward()
    for one, other in zip(ours, wanted):
        torch.testing.assert_close(one.grad, other.grad)


@pytest.mark.sample(1)
def test_what_the_caller_gets_too_has_the_strides_of_pytorch() -> None:
    """The backward pass of the last ReLU reads its result, which is in channels-last order inside of the model."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
    x = torch.randn(2, 8, 6, 6)
    torch.compiler.reset()
    made = torch.compile(network, backend=compile_fx, dynamic=False)(x)
    assert made.is_contiguous()
    made.view(-1).sum().backward()
