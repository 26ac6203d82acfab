"""`torch.compile(..., backend="tilewright")` of modules that are on a GPU."""

from __future__ import annotations

import copy
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import tilewright as tw  # noqa: E402

gpu = pytest.mark.gpu


@pytest.fixture(autouse=True)
def fresh(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)  # results are compared with float64
    torch.manual_seed(0)
    torch.compiler.reset()
    if "gpu" in request.keywords and not torch.cuda.is_available():
        pytest.skip("no GPU here")


def network() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.LazyLinear(10)
    )  # fmt: skip


@gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_inference(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    # PyTorch's own operator for a whole layer cannot be traced on a GPU.
    monkeypatch.setattr(torch.backends.mha, "get_fastpath_enabled", lambda: False)
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, norm_first=True)
    model = layer.eval().cuda().to(dtype)
    compiled = torch.compile(model, backend="tilewright", fullgraph=True)
    for batch in (2, 3):  # the second has another batch, so a symbol
        x = torch.randn(batch, 17, 64, device="cuda", dtype=dtype)
        with torch.no_grad():
            made, wanted = compiled(x), copy.deepcopy(model).double()(x.double())
        assert made.is_cuda and made.dtype == dtype
        torch.testing.assert_close(made.double(), wanted, rtol=0, atol=3e-6 if dtype == torch.float32 else 6e-2)


@gpu
def test_views_in_and_out() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return (x @ y).transpose(0, 1), torch.cumsum(x, 0)[::2]

    x, y = torch.randn(33, 9, device="cuda").t(), torch.randn(40, 33, device="cuda")[::2].t()[:33]
    for made, wanted in zip(torch.compile(function, backend="tilewright")(x, y), function(x.double(), y.double())):
        torch.testing.assert_close(made.double(), wanted, rtol=0, atol=2e-5)


@gpu
def test_training() -> None:
    model = network().cuda()
    x, y = torch.randn(4, 3, 8, 8, device="cuda"), torch.randint(0, 10, (4,), device="cuda")
    model(x)
    exact = copy.deepcopy(model).double()

    def step(module: Any, x: torch.Tensor) -> list[torch.Tensor]:
        loss = nn.functional.cross_entropy(module(x), y)
        loss.backward()
        return [loss.detach(), *(one.grad for one in module.parameters())]

    made = step(torch.compile(model, backend="tilewright"), x)
    for ours, theirs in zip(made, step(exact, x.double()), strict=True):
        assert ours.is_cuda
        torch.testing.assert_close(ours.double(), theirs, rtol=0, atol=1e-4 * float(theirs.abs().max()) + 1e-6)


@gpu
def test_random_numbers_and_sizes() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, int]:
        return nn.functional.dropout(x, 0.5) * x.shape[0], x.shape[0] + 1

    made, size = torch.compile(function, backend="tilewright", dynamic=True)(torch.ones(400, 50, device="cuda"))
    assert size == 401 and made.is_cuda
    assert set(made.unique().tolist()) == {0.0, 800.0}
    assert 0.45 < float((made == 0).double().mean()) < 0.55


def test_other_devices() -> None:
    with pytest.raises(Exception) as caught:
        torch.compile(lambda x: x + 1, backend="tilewright")(torch.ones(2, device="meta"))
    assert isinstance(caught.value.__cause__ or caught.value, (tw.CompileError, RuntimeError))
    assert "backend tilewright: expected tensors on one device, cpu or cuda, got meta" in str(caught.value)
