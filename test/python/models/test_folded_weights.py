"""What is computed from weights alone is computed once, when a model is compiled."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore")


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
