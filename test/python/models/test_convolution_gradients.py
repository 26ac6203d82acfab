"""Gradients of convolutions by tensor cores, on the simulator."""

from __future__ import annotations

import copy
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import tilewright.torch.backend as backend  # noqa: E402
from tilewright.graph import Model, compile_graph  # noqa: E402

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


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", CASES)
def test_gradients(name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    models: list[Model] = []

    def compiled(graph: Any, _: Any) -> Model:
        models.append(compile_graph(graph, "sim -device=H200"))
        return models[-1]

    monkeypatch.setattr(backend, "compile_graph", compiled)
    torch.manual_seed(0)
    options, shape = CASES[name]
    ours = nn.Sequential(nn.Conv2d(shape[1], 24, bias=False, **options), nn.ReLU()).to(dtype)
    wide, x = copy.deepcopy(ours).double(), torch.randn(shape).to(dtype)
    given, exact = x.clone().requires_grad_(), x.double().requires_grad_()
    torch.compiler.reset()
    torch.compile(ours, backend=backend.compile_fx, dynamic=False)(given).float().square().sum().backward()
    wide(exact).square().sum().backward()
    off = 2.0 ** (-7 if dtype == torch.bfloat16 else -9)
    for got, wanted in ((given.grad, exact.grad), (ours[0].weight.grad, wide[0].weight.grad)):
        assert got is not None and wanted is not None
        assert (got.double() - wanted).abs().max() <= off * wanted.abs().max()
    operators = [one for group in models[-1].groups for one in group.operators]
    assert operators.count("conv") == (name == "few channels")  # one of channels first: of the images
