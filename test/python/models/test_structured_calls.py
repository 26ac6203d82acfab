"""Models of modules that take dicts, lists, numbers and named arguments, and of modules that call torch.func."""

from __future__ import annotations

from typing import Any

import pytest

import tilewright as tw

torch = pytest.importorskip("torch")

from torch.func import functional_call, grad, hessian, jacrev  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


class Scaled(torch.nn.Module):
    def forward(self, batch: Any, factor: Any = 2, mask: Any = None, **more: Any) -> Any:
        made = batch["x"] * factor + batch["y"][0]
        return made if mask is None else {"made": made * mask, "mask": mask + more.get("shift", 0)}


X, Y, MASK = torch.arange(6.0).reshape(2, 3), torch.ones(3), torch.tensor([1.0, 0.0, 1.0])
BATCH = {"x": X, "y": [Y]}


def test_a_dict_of_tensors() -> None:
    model = tw.compile(Scaled(), (BATCH, 3.0), target="cpu")
    wanted = X * 3 + Y
    torch.testing.assert_close(model(BATCH, 3.0), wanted)
    torch.testing.assert_close(model(X, Y), wanted)  # the tensors alone, in the order of their names
    torch.testing.assert_close(model(factor=3.0, batch={"y": [Y], "x": X}), wanted)


def test_arguments_by_name() -> None:
    example = {"mask": MASK, "batch": BATCH}
    rows = {"batch": {"x": {0: "rows"}, "y": [None]}, "mask": None}
    model = tw.compile(Scaled(), example, target="cpu", dynamic_shapes=rows)
    for one in (X, X[:1]):
        batch = {"x": one, "y": [Y]}
        wanted = tuple(Scaled()(batch, mask=MASK).values())
        torch.testing.assert_close(model(batch, mask=MASK), wanted)
        torch.testing.assert_close(model(batch, 2, MASK), wanted)


@pytest.mark.parametrize(
    "given, kind, message",
    [
        (({"x": X}, 3.0), TypeError, "Scaled: expected batch['x'], batch['y'][0], got none for batch['y'][0]"),
        ((BATCH, 4.0), ValueError, "Scaled: factor: expected 3.0, for which it was compiled, got 4.0"),
        ((BATCH, 3.0, None, 1, 2), TypeError, "Scaled: too many positional arguments"),
    ],
)
def test_other_arguments(given: Any, kind: Any, message: str) -> None:
    model = tw.compile(Scaled(), (BATCH, 3.0), target="cpu")
    with pytest.raises(kind) as caught:
        model(*given)
    assert str(caught.value) == message


class Functions(torch.nn.Module):
    """Derivatives by an input and by the parameters."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.inner = torch.nn.Linear(3, 1)

    def forward(self, x: torch.Tensor) -> Any:
        if self.name == "grad":
            return grad(lambda z: self.inner(z).sin().sum())(x)
        if self.name == "jacrev":
            return jacrev(lambda z: z.sin() * z.sum())(x[0])
        if self.name == "hessian":
            return hessian(lambda z: z.prod())(x[0])
        if self.name == "autograd.grad":
            with torch.enable_grad():
                x = x.detach().requires_grad_()
                return torch.autograd.grad(self.inner(x).sin().sum(), x)[0]
        weights = dict(self.inner.named_parameters())
        return grad(lambda one: functional_call(self.inner, one, (x,)).square().sum())(weights)["weight"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["grad", "jacrev", "hessian", "autograd.grad", "parameters"])
def test_derivatives(name: str) -> None:
    module, x = Functions(name), torch.linspace(-1, 1, 6).reshape(2, 3)
    model = tw.compile(module, (x,), target="cpu", dynamic_shapes=({0: "rows"},) if name == "grad" else None)
    torch.testing.assert_close(model(x), module(x).detach())
