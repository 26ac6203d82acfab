"""Steps of training are compiled for an H200, which takes no GPU: rules see extents that only real models have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import tilewright.torch.backend as backend  # noqa: E402
from tilewright.graph import Model, compile_graph  # noqa: E402


class ConvNeXt(nn.Module):
    """A patch of 4 x 4 and a block of ConvNeXt."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.stem, self.depthwise = nn.Conv2d(3, width, 4, 4), nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm, self.wide, self.back = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x)
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        return x + (self.scale * self.back(F.gelu(self.wide(y)))).permute(0, 3, 1, 2)


class Inverted(nn.Module):
    """An inverted bottleneck of EfficientNet, with squeeze and excitation."""

    def __init__(self, width: int, stride: int) -> None:
        super().__init__()
        inner = 6 * width
        self.wide = nn.Sequential(nn.Conv2d(3, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.SiLU())
        self.depthwise = nn.Conv2d(inner, inner, 5, stride, 2, groups=inner, bias=False)
        self.norm, self.back = nn.BatchNorm2d(inner), nn.Conv2d(inner, width, 1, bias=False)
        self.squeeze = nn.Sequential(nn.Conv2d(inner, width // 4, 1), nn.SiLU(), nn.Conv2d(width // 4, inner, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.silu(self.norm(self.depthwise(self.wide(x))))
        return self.back(y * torch.sigmoid(self.squeeze(y.mean((2, 3), keepdim=True))))


class Text(nn.Module):
    """A layer with causal attention, and an odd vocabulary."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self.table, self.layer = nn.Embedding(words, 96), nn.TransformerEncoderLayer(96, 4, batch_first=True)
        self.head = nn.Linear(96, words)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=self.head.weight.dtype)
        return self.head(self.layer(self.table(x), src_mask=mask, is_causal=True))


class Denoiser(nn.Module):
    """Down and up again, with group norms and what a skip connection keeps."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.stem, self.down = nn.Conv2d(4, width, 3, padding=1), nn.Conv2d(width, 2 * width, 3, 2, 1)
        self.norms = nn.ModuleList(nn.GroupNorm(8, many * width) for many in (1, 2))
        self.up, self.out = nn.ConvTranspose2d(2 * width, width, 4, 2, 1), nn.Conv2d(3 * width, 4, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.silu(self.norms[0](self.stem(x)))
        y = F.silu(self.norms[1](self.down(x)))
        return self.out(torch.cat([x, self.up(y), F.interpolate(y, scale_factor=2)[:, : x.shape[1]]], 1))


def _residual() -> nn.Module:
    """The beginning of ResNet: 7 x 7, max pooling, and a bottleneck with a stride."""
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    layers += [nn.Conv2d(64, 64, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.Conv2d(64, 128, 3, 2, 1, bias=False)]
    layers += [nn.BatchNorm2d(128), nn.ReLU(), nn.Conv2d(128, 256, 1, 2, bias=False), nn.BatchNorm2d(256), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 1000))


def _images(batch: int, channels: int, size: int) -> Callable[[], Any]:
    return lambda: torch.randn(batch, channels, size, size)


CASES: dict[str, tuple[Callable[[], nn.Module], Callable[[], Any]]] = {
    "ConvNeXt": (lambda: ConvNeXt(96), _images(8, 3, 224)),
    "ConvNeXt of few pixels": (lambda: ConvNeXt(192), _images(8, 3, 56)),
    "EfficientNet": (lambda: Inverted(24, 1), _images(8, 3, 28)),
    "EfficientNet in steps": (lambda: Inverted(40, 2), _images(8, 3, 29)),
    "ResNet": (_residual, _images(8, 3, 112)),
    "text": (lambda: Text(5027), lambda: torch.randint(5027, (4, 256))),
    "denoiser": (lambda: Denoiser(32), _images(4, 4, 32)),
}


@pytest.mark.sweep
@pytest.mark.parametrize(
    "name, dtype", [*((name, "bfloat16") for name in CASES), ("ConvNeXt", "float32"), ("text", "float32")]
)
def test_compiles(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[Model] = []

    def also(graph: Any, target: Any) -> Model:
        compiled.append(compile_graph(graph, "cuda -device=H200"))
        return compile_graph(graph, target)

    monkeypatch.setattr(backend, "compile_graph", also)
    torch.manual_seed(0)
    make, inputs = CASES[name]
    module, x = make().to(getattr(torch, dtype)).train(), inputs()
    x = x.to(getattr(torch, dtype)) if x.is_floating_point() else x
    torch.compiler.reset()
    torch.compile(module, backend=backend.compile_fx, dynamic=False)(x).float().square().mean().backward()
    assert len(compiled) == 2 and all(one.grad.isfinite().all() for one in module.parameters())
