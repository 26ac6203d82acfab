"""Models whose batch and length change: `torch.compile(dynamic=True)` here, by Inductor, and PyTorch without it.

`python bench/torch_dynamic.py OUT.json`. Two blocks of GPT-2 small (12 heads of 64, causal), in bfloat16 and in float32
with PyTorch's own settings, for inference and for a forward and a backward pass. Each is compiled once and then runs
with several batches and lengths. Medians of event times in random order. Errors are those of the result, and of the
input's gradient, beside float64, of the largest number there.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

COLUMNS, HEADS, REPEAT = 768, 12, 15
SIZES = [(4, 1000), (16, 512), (3, 777)]


class Block(nn.Module):
    """Of GPT-2."""

    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(COLUMNS) for _ in range(2))
        self.qkv, self.out = nn.Linear(COLUMNS, 3 * COLUMNS), nn.Linear(COLUMNS, COLUMNS)
        self.layers = nn.Sequential(nn.Linear(COLUMNS, 4 * COLUMNS), nn.GELU(), nn.Linear(4 * COLUMNS, COLUMNS))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        packed = self.qkv(self.norms[0](x)).view(batch, length, 3, HEADS, COLUMNS // HEADS)
        q, k, v = packed.permute(2, 0, 3, 1, 4).unbind(0)
        heads = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(heads.transpose(1, 2).reshape(batch, length, COLUMNS))
        return x + self.layers(self.norms[1](x))


def medians(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Milliseconds of each."""
    events: dict[str, list[Any]] = {name: [] for name in calls}
    for call in calls.values():
        for _ in range(3):
            call()
    for _ in range(REPEAT):
        for name in random.sample([*calls], len(calls)):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            calls[name]()
            end.record()
            events[name].append((begin, end))
    torch.cuda.synchronize()
    return {name: statistics.median(a.elapsed_time(b) for a, b in pairs) for name, pairs in events.items()}


def results_of(module: Any, x: torch.Tensor, trains: bool) -> list[torch.Tensor]:
    """The result and, if it trains, the gradient of the mean of its squares by the input."""
    if not trains:
        with torch.no_grad():
            return [module(x)]
    x = x.detach().requires_grad_()
    made = module(x)
    made.float().square().mean().backward()
    assert x.grad is not None
    return [made.detach(), x.grad]


def measure(dtype: torch.dtype, trains: bool, row: str, found: dict[str, Any]) -> None:
    torch.manual_seed(0)
    module = nn.Sequential(Block(), Block()).cuda().to(dtype)
    exact = copy.deepcopy(module).double()
    torch._dynamo.reset()
    ways = {
        "eager": module, "inductor": torch.compile(module, dynamic=True),
        "ours": torch.compile(module, backend="tilewright", dynamic=True),
    }  # fmt: skip
    for batch, length in SIZES:
        x = torch.randn(batch, length, COLUMNS, device="cuda", dtype=dtype)
        right = results_of(exact, x.double(), trains)
        made: dict[str, Any] = {}
        for name, way in ways.items():
            pairs = zip(results_of(way, x, trains), right, strict=True)
            error = max(((one.double() - other).abs().max() / other.abs().max()).item() for one, other in pairs)
            made[f"{name}_error"] = error
        times = medians({name: lambda way=way: results_of(way, x, trains) for name, way in ways.items()})
        made |= {f"{name}_ms": round(time, 4) for name, time in times.items()}
        found[f"{row} {batch}x{length}"] = made
        print(row, batch, length, json.dumps(made), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    out: Path = parser.parse_args().out
    found: dict[str, Any] = {}
    for dtype in (torch.bfloat16, torch.float32):
        for trains in (False, True):
            measure(dtype, trains, f"{'train' if trains else 'infer'} {dtype}".replace("torch.", ""), found)
            out.write_text(json.dumps({"gpu": torch.cuda.get_device_name(), "rows": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
