"""Training through torch.compile where batches and lengths change: what a forward pass keeps has products and sums of
the inputs' extents."""

from __future__ import annotations

import copy
import math
import re
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402


class Classifier(nn.Module):
    """A token of its own before the others, which are as many as there are."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.randn(1, 1, 8))
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1)
        return (self.layers(x) + x)[:, 0].tanh()


MODELS: dict[str, Any] = {
    "rows of batches": (lambda: nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4)), [(2, 7), (3, 7), (5, 7)]),
    "lengths and a token": (Classifier, [(2, 7), (2, 9), (2, 4)]),
    "both": (Classifier, [(2, 7), (3, 9), (5, 4)]),
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", MODELS)
def test_gradients(name: str) -> None:
    torch.manual_seed(0)
    torch.compiler.reset()
    make, shapes = MODELS[name]
    model = make()
    compiled = torch.compile(model, backend="tilewright", fullgraph=True)
    for batch, length in shapes:
        x = torch.randn(batch, length, 8)
        found = []
        for module in (compiled, model):
            module(x).square().sum().backward()
            found.append([one.grad.clone() for one in model.parameters()])
            model.zero_grad()
        for ours, theirs in zip(*found, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


class Images(nn.Module):
    """Convolutions with batch norm and dropout. What dropout keeps is a result, which another call may take."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.second = nn.Sequential(nn.Conv2d(8, 16, 3, stride=2), nn.BatchNorm2d(16), nn.ReLU())
        self.dropout, self.head = nn.Dropout(0.25), nn.Linear(16, 4)

    def forward(self, x: torch.Tensor, kept: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        pooled = self.second(self.first(x)).mean((2, 3))
        kept = self.dropout(torch.ones_like(pooled)) if kept is None else kept
        return self.head(pooled * kept), kept


@pytest.mark.sweep
def test_batch_norm_and_a_smaller_last_batch() -> None:
    torch.manual_seed(0)
    torch.compiler.reset()
    model, theirs = Images(), Images()
    theirs.load_state_dict(model.state_dict())
    compiled = torch.compile(model, backend="tilewright", fullgraph=True)
    ours_step, their_step = (torch.optim.SGD(one.parameters(), lr=0.5) for one in (model, theirs))
    for batch in (8, 8, 5):
        x, labels = torch.randn(batch, 3, 9, 9), torch.randint(4, (batch,))
        scores, kept = compiled(x)
        assert set(kept.unique().tolist()) == {0.0, float(torch.tensor(1 / 0.75))}
        for made, step in ((scores, ours_step), (theirs(x, kept)[0], their_step)):
            step.zero_grad()
            nn.functional.cross_entropy(made, labels).backward()
            step.step()
        for name, wanted in theirs.state_dict().items():
            torch.testing.assert_close(model.state_dict()[name], wanted, rtol=1e-4, atol=1e-5, msg=name)


FLOATS: dict[str, Any] = {
    "powers": lambda x: x * x.shape[0] ** 0.5 + math.sqrt(x.shape[1]),
    "a quotient": lambda x: (x + x.shape[1] / x.shape[0], x.shape[0] / 3),
    "a comparison": lambda x: x > x.shape[0] / 16,
    "half floats": lambda x: x.half() * (x.shape[0] / 3),
    "what fills": lambda x: torch.full((3,), 1 / x.shape[0]) * max(x.shape[0] / 2, 2.5),
    "whole numbers": lambda x: (x * math.ceil(x.shape[0] / 3), x.new_ones(int(x.shape[0] * 1.5))),
    "larger images": lambda x: nn.functional.interpolate(x[None, None], scale_factor=2, mode="nearest"),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", FLOATS)
def test_floats_of_symbolic_sizes(name: str) -> None:
    torch.compiler.reset()
    compiled = torch.compile(FLOATS[name], backend="tilewright", dynamic=True, fullgraph=True)
    for rows in (4, 7):
        x = torch.linspace(0, 1, rows * 5).reshape(rows, 5)
        torch.testing.assert_close(compiled(x), FLOATS[name](x))


REFUSED: dict[str, Any] = {
    "expected a size of sums, products, quotients, minima and maxima, got IntTrueDiv(": lambda x: round(x / 3),
    "expected a float of sums, products, quotients, powers and square roots, got RoundDecimal(":
        lambda x: round(x / 3, 1),
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSED)
def test_numbers_that_are_not_computed(message: str) -> None:
    torch.compiler.reset()
    compiled = torch.compile(lambda x: x * REFUSED[message](x.shape[0]), backend="tilewright", dynamic=True)
    with pytest.raises(Exception, match=re.escape(f"(aten.mul.Tensor): {message}")):
        compiled(torch.ones(4, 5))


_W = torch.ones(4, 4, 3, 3)


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda x, w: nn.functional.conv_transpose2d(x, w), "the filters' size: expected a number, got s"),
        (lambda x, w: nn.functional.conv2d(x, w, padding="same"), "padding: expected a number, got "),
    ],
)
def test_filters_of_a_symbolic_size(function: Any, message: str) -> None:
    torch.compiler.reset()
    compiled = torch.compile(function, backend="tilewright", dynamic=True)
    with pytest.raises(Exception, match=re.escape(f"(aten.convolution.default): {message}")):
        compiled(torch.ones(1, 4, 7, 8), _W)


CONVOLUTIONS: dict[str, Any] = {
    "rows that no window reaches": lambda: nn.Conv2d(4, 6, 4, 3, groups=2),
    "windows of stride one": lambda: nn.Conv2d(4, 6, 3, padding=1),
    "windows with holes": lambda: nn.Conv2d(4, 6, 3, 2, 2, dilation=2),
    "windows of one pixel": lambda: nn.Conv2d(4, 6, 1, 2),
    "a transposed one": lambda: nn.ConvTranspose2d(4, 6, 3, 2, 1),
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_images_of_any_size(name: str) -> None:
    torch.manual_seed(0)
    torch.compiler.reset()
    model = CONVOLUTIONS[name]()
    exact = copy.deepcopy(model).double()
    compiled = torch.compile(model, backend="tilewright", fullgraph=True, dynamic=True)
    for rows, columns in ((11, 12), (14, 9), (20, 21)):
        x = torch.randn(2, 4, rows, columns)
        found: list[Any] = []
        for module, given in ((compiled, x), (exact, x.double())):
            given.requires_grad_()
            made = module(given)
            (made * torch.linspace(-1, 2, made.numel()).reshape(made.shape)).sum().backward()
            found.append([given.grad, *(one.grad for one in module.parameters())])
            module.zero_grad()
        for ours, theirs in zip(*found, strict=True):
            torch.testing.assert_close(ours, theirs.float(), rtol=1e-4, atol=1e-3)


_HALF = nn.Conv2d(3, 2, 3, 2, 1)

RESIZED: dict[str, Any] = {
    "a decimal scale": (lambda x: nn.functional.interpolate(x, scale_factor=0.7, mode="nearest"), [(10, 90), (13, 20)]),
    "a decimal scale of sizes": (
        lambda x: nn.functional.interpolate(x, scale_factor=1.3, mode="bilinear", recompute_scale_factor=True),
        [(10, 7), (13, 20)],
    ),
    "a skip connection": (
        lambda x: torch.cat([nn.functional.interpolate(_HALF(x), scale_factor=2.0), x], 1), [(8, 6), (10, 12)]
    ),
}  # fmt: skip


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", RESIZED)
def test_sizes_that_are_rounded_floats_or_equal_to_others(name: str) -> None:
    """PyTorch checks at each call that the image of the skip connection is as large as its input."""
    torch.manual_seed(0)
    torch.compiler.reset()
    function, sizes = RESIZED[name]
    compiled = torch.compile(function, backend="tilewright", dynamic=True, fullgraph=True)
    for rows, columns in sizes:
        x = torch.randn(2, 3, rows, columns, requires_grad=True)
        found = []
        for one in (compiled, function):
            made = one(x)
            found.append((made, *torch.autograd.grad(made.square().sum(), x)))
        torch.testing.assert_close(*found, rtol=1e-4, atol=1e-4)


def test_the_size_of_what_is_added_at_places() -> None:
    torch.compiler.reset()
    compiled = torch.compile(lambda x, i: torch.zeros(5, 3).index_add(0, i, x), backend="tilewright", dynamic=True)
    x, places = torch.arange(12.0).reshape(4, 3), torch.tensor([0, 2, 2, 4])
    torch.testing.assert_close(compiled(x, places), torch.zeros(5, 3).index_add(0, places, x))


def _pools(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    f = torch.nn.functional
    return (
        f.adaptive_avg_pool2d(x, (2, 3)), f.avg_pool2d(x, 3, 2, 1), f.avg_pool2d(x, 2, divisor_override=3),
        f.avg_pool3d(x[:, None], 2, padding=1, count_include_pad=False),
    )  # fmt: skip


def _pools_with_a_part_at_the_end(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    f = torch.nn.functional
    return (
        f.avg_pool2d(x, 3, 2, ceil_mode=True, count_include_pad=False), f.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
        f.max_pool2d(x, 2, 3, 1, ceil_mode=True),
    )  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize("function", [_pools, _pools_with_a_part_at_the_end])
def test_pools_of_symbolic_images(function: Any) -> None:
    torch.compiler.reset()
    compiled = torch.compile(function, backend="tilewright", dynamic=True, fullgraph=True)
    for height, width in ((7, 8), (9, 5), (6, 11), (8, 10)):
        found = []
        for one in (compiled, function):
            torch.manual_seed(0)
            x = torch.randn(2, 3, height, width, dtype=torch.float64, requires_grad=True)
            made = one(x)
            sum(each.square().sum() for each in made).backward()
            found.append([*made, x.grad])
        for ours, theirs in zip(*found, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)
