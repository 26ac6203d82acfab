"""Gradients of convolutions by tensor cores, on the simulator."""

from __future__ import annotations

import copy
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from models.traced import compiled_models  # noqa: E402
from tilewright.graph import Model  # noqa: E402
from tilewright.torch import compile_fx  # noqa: E402

CASES: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {
    "pointwise": ({"kernel_size": 1}, (2, 16, 5, 6)),
    "pointwise in parts": ({"kernel_size": 1}, (4, 16, 16, 17)),
    "pointwise in steps": ({"kernel_size": 1, "stride": 2}, (2, 16, 5, 8)),
    "windows": ({"kernel_size": 3, "padding": 1}, (2, 16, 6, 5)),
    "windows in parts": ({"kernel_size": 3, "padding": (0, 1)}, (3, 16, 18, 32)),
    "windows in steps": ({"kernel_size": (2, 3), "stride": 2, "padding": 1}, (2, 16, 7, 8)),
    "dilated windows": ({"kernel_size": 3, "dilation": 2, "padding": 2}, (2, 16, 7, 6)),
    "wide steps": ({"kernel_size": 2, "stride": 3, "padding": 1}, (2, 16, 8, 9)),
    "dilated windows in steps": ({"kernel_size": 3, "dilation": 2, "stride": 2, "padding": 1}, (2, 16, 9, 8)),
    "images that are cut": ({"kernel_size": 3, "stride": 3}, (2, 16, 8, 10)),
    "few channels": ({"kernel_size": 3, "padding": 1}, (2, 3, 8, 8)),
}  # fmt: skip


def _gradients(ours: nn.Module, x: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Model], list[tuple[Any, Any]]]:
    """The models of both passes of a step, and gradients of the input and of the weights, each with the exact one."""
    models = compiled_models(monkeypatch, "sim -device=H200")
    wide = copy.deepcopy(ours).double()
    given, exact = x.clone().requires_grad_(), x.double().requires_grad_()
    torch.compiler.reset()
    torch.compile(ours, backend=compile_fx, dynamic=False)(given).float().square().sum().backward()
    wide(exact).square().sum().backward()
    parameters = [(one.grad, other.grad) for one, other in zip(ours.parameters(), wide.parameters())]
    return models, [(given.grad, exact.grad), *parameters]


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", CASES)
def test_gradients(name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    options, shape = CASES[name]
    ours = nn.Sequential(nn.Conv2d(shape[1], 24, bias=False, **options), nn.ReLU()).to(dtype)
    models, pairs = _gradients(ours, torch.randn(shape).to(dtype), monkeypatch)
    off = 2.0 ** (-7 if dtype == torch.bfloat16 else -9)
    for got, wanted in pairs:
        assert (got.double() - wanted).abs().max() <= off * wanted.abs().max()
    operators = [one for group in models[-1].groups for one in group.operators]
    assert operators.count("conv") == (name == "few channels")  # one of channels first: of the images


DEPTHWISE: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {
    "windows": ({"kernel_size": 3, "padding": 1}, (20, 8, 13, 9)),
    "large windows": ({"kernel_size": 7, "padding": 3}, (32, 3, 9, 16)),
    "windows in steps": ({"kernel_size": 5, "stride": 2, "padding": 2}, (40, 5, 14, 11)),
    "windows in wide steps": ({"kernel_size": (2, 3), "stride": 3}, (70, 4, 11, 13)),
    "no padding": ({"kernel_size": (4, 1)}, (33, 4, 12, 7)),
}  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", DEPTHWISE)
def test_filters_of_one_channel_each(name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    options, shape = DEPTHWISE[name]
    ours = nn.Sequential(nn.Conv2d(shape[1], shape[1], groups=shape[1], bias=False, **options), nn.Tanh()).to(dtype)
    models, pairs = _gradients(ours, torch.randn(shape).to(dtype), monkeypatch)
    for got, wanted in pairs:
        assert (got.double() - wanted).abs().max() <= 2.0 ** (
            -6 if dtype == torch.bfloat16 else -8
        ) * wanted.abs().max()
    operators = [one for group in models[-1].groups for one in group.operators]
    assert "matmul" in operators and "conv" not in operators


@pytest.mark.sweep
@pytest.mark.parametrize("shape", [(2, 16, 6, 6), (3, 16, 5, 7)])
def test_where_the_largest_elements_are(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Channels are last inside of the model, and PyTorch counts with channels first."""
    torch.manual_seed(0)
    ours = nn.Sequential(nn.Conv2d(16, 16, 1, bias=False), nn.MaxPool2d(3, 2, 1)).to(torch.float16)
    models, pairs = _gradients(ours, torch.randn(shape).to(torch.float16), monkeypatch)
    for got, wanted in pairs:
        assert (got.double() - wanted).abs().max() <= 2.0**-8 * wanted.abs().max()
    (pool,) = (group for group in models[0].groups if "max_pool_indices" in group.operators)
    assert [len(one.shape) for one in pool.types] == [5] or "div" in pool.operators
