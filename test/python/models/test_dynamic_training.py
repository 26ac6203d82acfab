"""Training through torch.compile where batches and lengths change: what a forward pass keeps has products and sums of
the inputs' extents."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn


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
