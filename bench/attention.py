"""Attention of two matmuls in one kernel beside torch's fused ones, in one run on one GPU.

`python bench/attention.py OUT.json [d64 d128] [full causal] [512 1024 2048 4096 8192 16384]`: what is named is
measured, by default all. Sequences of 16 Ki tokens in all, and 2048 / d heads. Medians of event times in random order,
inputs random, the L2 cache flushed before every run. Each result, written over NaN, is checked against float64 on 256
rows of two heads, with the error of cuDNN's own as the measure. Operations are 4 B H S S d, half of them if causal.
"""

from __future__ import annotations

import itertools
import json
import random
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import tilewright as tw
from tilewright.schedules import attention_wgmma

TOKENS, HIDDEN, ROWS, REPEAT = 16384, 2048, 256, 20
PEERS = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash2": SDPBackend.FLASH_ATTENTION}
# Tiles and stages that are worth a try, by the width of a head.
CHOICES: dict[int, list[dict[str, Any]]] = {
    64: [{"tile": (128, 128)}, {"tile": (128, 128), "blocks": 131}, {"tile": (192, 128)}, {"tile": (128, 256)}],
    128: [{"tile": (128, 128)}, {"tile": (128, 128), "blocks": 131}, {"tile": (128, 64), "stages": 3}],
}


class Clock:
    """Times callables in turn, in random order."""

    def __init__(self) -> None:
        self.flushed = torch.zeros(256 << 20, dtype=torch.float32, device="cuda")

    def medians(self, calls: list[Callable[[], Any]]) -> list[float]:
        """Milliseconds of each."""
        for call in calls:
            for _ in range(3):
                call()
        events: list[list[tuple[torch.cuda.Event, torch.cuda.Event]]] = [[] for _ in calls]
        for _ in range(REPEAT):
            for number in random.sample(range(len(calls)), len(calls)):
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                self.flushed.sum()
                begin.record()
                calls[number]()
                end.record()
                events[number].append((begin, end))
        torch.cuda.synchronize()
        return [statistics.median(begin.elapsed_time(end) for begin, end in each) for each in events]


def error_of(
    result: torch.Tensor, rows: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> float:
    """The largest difference to float64, of some rows of the first and of the last head."""
    worst = 0.0
    for head in (0, q.shape[0] - 1):
        scores = q[head, rows].double() @ k[head].double().t() * q.shape[-1] ** -0.5
        if causal:
            scores.masked_fill_(torch.arange(k.shape[1], device="cuda") > rows[:, None], float("-inf"))
        exact = torch.softmax(scores, -1) @ v[head].double()
        difference = (result[head, rows].double() - exact).abs().max().item()
        worst = difference if difference != difference else max(worst, difference)
    return worst


def measure(clock: Clock, width: int, length: int, causal: bool) -> dict[str, Any]:
    """One shape: all choices and all peers in one run."""
    batch, heads = TOKENS // length, HIDDEN // width
    q, k, v = (torch.randn(batch, heads, length, width, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    flat = [each.flatten(0, 1) for each in (q, k, v)]
    rows = torch.randperm(length, device="cuda")[:ROWS]  # the same for all
    operations = 4.0 * batch * heads * length * length * width / (2 if causal else 1)
    calls: dict[str, Callable[[], Any]] = {}
    errors: dict[str, float] = {}
    for name, backend in PEERS.items():

        def peer(backend: SDPBackend = backend) -> torch.Tensor:
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

        try:
            errors[name] = error_of(peer().flatten(0, 1), rows, *flat, causal)
            calls[name] = peer
        except RuntimeError as refused:
            print(name, "refuses", str(refused).splitlines()[0])
    out = torch.empty_like(flat[0])
    for choice in CHOICES[width]:
        if length % choice["tile"][0] or length % choice["tile"][1]:
            continue
        name = json.dumps(choice)
        scheduled = attention_wgmma(batch * heads, length, length, width, "bfloat16", causal=causal, **choice)
        func = tw.build(*scheduled, target="cuda", name="attention")
        out.fill_(float("nan"))
        func(*flat, out)
        errors[name] = error_of(out, rows, *flat, causal)
        calls[name] = lambda func=func: func(*flat, out)
    times = dict(zip(calls, clock.medians(list(calls.values())), strict=True))
    figures = {
        name: {"ms": round(ms, 4), "TFLOPs": round(operations / ms / 1e9, 1), "error": errors[name]}
        for name, ms in times.items()
    }
    best = min((name for name in times if name not in PEERS), key=times.__getitem__)
    figures["best"] = {"choice": best, "of_cudnn": round(times["cudnn"] / times[best], 3) if "cudnn" in times else None}
    figures["best"]["right"] = errors[best] <= 1.5 * errors.get("cudnn", 1e-2)
    return figures


def main() -> None:
    path, *named = sys.argv[1:]
    widths = [width for width in CHOICES if f"d{width}" in named] or list(CHOICES)
    masks = [mask for mask in ("full", "causal") if mask in named] or ["full", "causal"]
    lengths = [int(name) for name in named if name.isdigit()] or [512, 1024, 2048, 4096, 8192, 16384]
    results: dict[str, Any] = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "cudnn": torch.backends.cudnn.version(),
        "command": " ".join(["python bench/attention.py", *sys.argv[1:]]),
    }
    clock = Clock()
    for width, mask, length in itertools.product(widths, masks, lengths):
        name = f"forward d{width} {TOKENS // length}x{HIDDEN // width}x{length} {mask}"
        results[name] = figures = measure(clock, width, length, mask == "causal")
        print(name, json.dumps(figures), flush=True)
        Path(path).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
