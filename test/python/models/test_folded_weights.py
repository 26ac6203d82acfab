"""What is computed from weights alone is computed once, when a model is compiled."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_batch_norm_is_behind_its_convolution(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU()).eval()
    module[1].running_var.uniform_(0.5, 1.5)
    module[1].running_mean.uniform_(-1, 1)
    module, x = module.to(dtype), torch.randn(2, 3, 6, 6).to(dtype)
    with torch.no_grad():
        model = tw.compile(module, (x,), target="cpu")
        without = tw.compile(module, (x,), target="cpu", without=["fold-weights"])
        assert len(model.groups) == 1 < len(without.groups)
        tolerance = 1e-5 if dtype == torch.float32 else 0.02
        for one in (model, without):
            torch.testing.assert_close(one(x), module(x), rtol=tolerance, atol=tolerance)
        assert model.verify(x)


@pytest.mark.sweep
def test_a_folded_weight_is_exported(tmp_path) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")

    class Twice(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.arange(6.0))

        def forward(self, x):
            scale = torch.exp(self.weight)
            return x * scale, x + torch.sqrt(scale)

    module, x = Twice(), torch.randn(4, 6)
    with torch.no_grad():
        model = tw.compile(module, (x,), target="cpu")
        assert [group.operators for group in model.groups] == [("mul",), ("add",)]
        model.export(tmp_path / "twice.so")
        for got, wanted in zip(tvm_ffi.load_module(str(tmp_path / "twice.so")).model(x), module(x), strict=True):
            np.testing.assert_allclose(np.asarray(got), wanted.numpy(), rtol=1e-5)


class Rotated(torch.nn.Module):
    """What positions alone decide: an embedding of them, their angles, and a mask."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.places = torch.nn.Embedding(length + 3, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        at = torch.arange(x.shape[1])
        angles = at[:, None].float() * 10000.0 ** (-torch.arange(8) / 8)
        hidden = at[:, None] > at[None, :]
        x = x * angles.cos() + self.places(at)
        scores = (x @ x.transpose(1, 2)).masked_fill(hidden, -1e9)
        return scores.softmax(-1) @ x


@pytest.mark.sweep
def test_what_positions_decide_is_computed_once() -> None:
    torch.manual_seed(0)
    module, x = Rotated(6), torch.randn(2, 6, 8)
    with torch.no_grad():
        model = tw.compile(module, (x,), target="cpu")
        without = tw.compile(module, (x,), target="cpu", without=["fold-groups"])
        assert all(any(one not in model.constants for one in group.inputs) for group in model.groups)
        assert len(model.groups) < len(without.groups)
        for one in (model, without):
            torch.testing.assert_close(one(x), module(x), rtol=1e-5, atol=1e-5)
        assert model.verify(x)


@pytest.mark.sweep
def test_an_output_that_reads_no_input_is_a_copy() -> None:
    class Positions(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x + 1, torch.arange(5) * 3 - x.shape[0]

    x = torch.zeros(2)
    model = tw.compile(Positions(), (x,), target="cpu")
    assert len(model.groups) == 1
    _, places = model(x)
    places[0] = 99
    assert model(x)[1].tolist() == [-2, 1, 4, 7, 10]
