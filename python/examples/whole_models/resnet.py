"""A ResNet of PyTorch as one library, for a process that has nothing of Tilewright. Its weights are random.

Run it:
  python resnet.py cpu resnet.so
  g++ -std=c++17 run_resnet.cpp $(tvm-ffi-config --cxxflags --ldflags --libs) -o run_resnet
  LD_LIBRARY_PATH=$(tvm-ffi-config --libdir) ./run_resnet ./resnet.so
The first writes resnet.so and resnet.safetensors, and an image with the classes' scores that PyTorch computes of it:
image.bin and scores.bin. run_resnet compares.
"""

from __future__ import annotations

import sys

import torch
from torch import nn

import tilewright as tw


class Block(nn.Module):
    """Two convolutions, beside which the input is added."""

    def __init__(self, before: int, channels: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(before, channels, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in range(2))
        self.shortcut = nn.Sequential()
        if stride != 1 or before != channels:
            self.shortcut = nn.Sequential(nn.Conv2d(before, channels, 1, stride, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.norms[0](self.first(x)))
        return torch.relu(self.norms[1](self.second(y)) + self.shortcut(x))


class ResNet(nn.Module):
    """ResNet-10: a block for each of four widths. ResNet-18 has two."""

    def __init__(self, width: int = 16, blocks: int = 1, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        widths = [width, width, 2 * width, 4 * width, 8 * width]
        self.stages = nn.Sequential(
            *(
                Block(widths[i] if block == 0 else widths[i + 1], widths[i + 1], 2 if i and block == 0 else 1)
                for i in range(4)
                for block in range(blocks)
            )
        )
        self.head = nn.Linear(8 * width, classes)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = nn.functional.max_pool2d(self.stem(image), 3, 2, 1)
        return self.head(self.stages(x).mean((2, 3)))


if __name__ == "__main__":
    target, path = sys.argv[1:]
    torch.manual_seed(0)
    model, image = ResNet().eval(), torch.randn(1, 3, 64, 64)
    for norm in model.modules():
        if isinstance(norm, nn.BatchNorm2d):
            norm.running_var.uniform_(0.5, 1.5)
            norm.running_mean.normal_(0, 0.1)
    compiled = tw.compile(model, (image,), target=target)
    compiled.export(path)
    image.numpy().tofile("image.bin")
    with torch.no_grad():
        model(image).numpy().tofile("scores.bin")
    print(f"{path}: {len(compiled.groups)} groups, {compiled.plan.arena_bytes} bytes of arena for {target}")
