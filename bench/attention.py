"""Attention of two matmuls in one kernel beside torch's fused ones, in one run on one GPU.

`python bench/attention.py OUT.json [--seconds N] [WORD ...]` measures the rows whose names have all the words, in the
order of `ROWS`, and begins none after N seconds. Sequences of 16 Ki tokens in all, and 2048 / d heads. Medians of event
times in random order, inputs random, the L2 cache flushed before every run. Each result, written over NaN, is checked
against float64 on 256 rows of two heads, with the error of the peer as the measure. Operations of a forward pass are
4 B H S S d, half of them if causal.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from attention_rows import figures_of, fp8, gradients, grouped, masked
from chain_rows import cross_entropy, gated_mlp, norm_matmul
from torch.nn.attention import SDPBackend, sdpa_kernel

import tilewright as tw
from tilewright import ops
from tilewright.schedules import attention_wgmma

TOKENS, HIDDEN, ROWS_CHECKED, REPEAT = 16384, 2048, 256, 20
PEERS = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash2": SDPBackend.FLASH_ATTENTION}
# Tiles and stages that are worth a try, by the width of a head.
CHOICES: dict[int, list[dict[str, Any]]] = {
    64: [
        {"tile": (128, 128)},
        {"tile": (128, 128), "blocks": 131},
        {"tile": (128, 192)},
        {"tile": (192, 128), "stages": 3},
        {"tile": (192, 128), "stages": 3, "blocks": 131},
        {"tile": (192, 96), "stages": 3},
    ],
    128: [{"tile": (128, 128)}, {"tile": (128, 128), "blocks": 131}, {"tile": (128, 160)}],
    192: [{"tile": (128, 128)}, {"tile": (128, 112)}],
    256: [{"tile": (128, 64)}, {"tile": (128, 80)}],
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


def forward(clock: Clock, width: int, length: int, causal: bool, wide: int | None = None) -> dict[str, Any]:
    """One shape: all choices and all peers in one run. V has `wide` columns if that is given."""
    batch, heads, columns = TOKENS // length, HIDDEN // min(width, wide or width), wide or width
    q, k = (torch.randn(batch, heads, length, width, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    v = torch.randn(batch, heads, length, columns, device="cuda", dtype=torch.bfloat16)
    flat = [each.flatten(0, 1) for each in (q, k, v)]
    rows = torch.randperm(length, device="cuda")[:ROWS_CHECKED]  # the same for all
    operations = 2.0 * batch * heads * length * length * (width + columns) / (2 if causal else 1)
    calls: dict[str, Callable[[], Any]] = {}
    errors: dict[str, Any] = {}
    for name, backend in PEERS.items():

        def peer(backend: SDPBackend = backend) -> torch.Tensor:
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

        try:
            errors[name] = error_of(peer().flatten(0, 1), rows, *flat, causal)
            calls[name] = peer
        except RuntimeError as refused:
            print(name, "refuses", str(refused).splitlines()[0])
    out = torch.empty_like(flat[2])
    for choice in CHOICES[width]:
        name = json.dumps(choice)
        scheduled = attention_wgmma(
            batch * heads, length, length, width, "bfloat16", wide=wide, causal=causal, **choice
        )
        func = tw.build(*scheduled, target="cuda", name="attention")
        out.fill_(float("nan"))
        func(*flat, out)
        errors[name] = error_of(out, rows, *flat, causal)
        calls[name] = lambda func=func: func(*flat, out)
    if width == columns <= 128:  # what the forward pass of training has beside its result
        name, given = '{"logarithms": true}', [x.detach() for x in (q, k, v)]
        result, _ = ops.attention_with_logarithms(*given, is_causal=causal)
        errors[name] = error_of(result.flatten(0, 1), rows, *flat, causal)
        calls[name] = lambda: ops.attention_with_logarithms(*given, is_causal=causal)
    return figures_of(calls, errors, operations, clock.medians)


Row = Callable[[Clock], dict[str, Any]]


def _forward(width: int, length: int, mask: str, wide: int | None = None) -> tuple[str, Row]:
    name = f"forward d{width}{f'/{wide}' if wide else ''} {length} {mask}"
    return name, lambda clock: forward(clock, width, length, mask == "causal", wide)


def _gradients(width: int, length: int, mask: str) -> tuple[str, Row]:
    batch, heads = TOKENS // length, HIDDEN // width
    name = f"backward d{width} {length} {mask}"
    return name, lambda clock: gradients(clock.medians, batch, heads, length, width, mask == "causal")


def _fp8(width: int, length: int, mask: str) -> tuple[str, Row]:
    return f"fp8 d{width} {length} {mask}", lambda clock: fp8(clock.medians, width, length, mask == "causal")


def _masked(kind: str) -> tuple[str, Row]:
    return f"mask {kind}", lambda clock: masked(clock.medians, kind)


def _rows() -> dict[str, Row]:
    """By name, the most important first."""
    both = ("causal", "full")
    return dict(
        [
            *(_gradients(width, 4096, mask) for width in (128, 64) for mask in both),
            *(_forward(256, 4096, mask) for mask in both),
            _forward(192, 4096, "causal", 128),
            ("forward GQA 64:8 2x4096 causal", lambda clock: grouped(clock.medians)),
            *(_forward(width, 4096, mask) for width in (128, 64) for mask in both),
            *(_fp8(width, length, mask) for width, length in ((128, 4096), (128, 16384), (64, 4096)) for mask in both),
            *(_masked(kind) for kind in ("window", "cap", "alibi", "sinks", "documents")),
            ("chain gated MLP", lambda clock: gated_mlp(clock.medians)),
            ("chain cross entropy", lambda clock: cross_entropy(clock.medians)),
            ("chain norm and matmul", lambda clock: norm_matmul(clock.medians)),
            *(_forward(width, 1024, mask) for width in (64, 128) for mask in both),
            *(_gradients(width, length, "causal") for length in (16384, 1024) for width in (128, 64)),
            *(_forward(width, 16384, mask) for width in (64, 128, 256) for mask in both),
            *(_gradients(width, length, "full") for length in (16384, 1024) for width in (128, 64)),
            *(_forward(width, length, mask) for length in (2048, 8192, 512) for width in (128, 64) for mask in both),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    given = parser.parse_args()
    results: dict[str, Any] = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "cudnn": torch.backends.cudnn.version(),
        "command": " ".join(["python bench/attention.py OUT.json", f"--seconds {given.seconds}", *given.words]),
    }
    clock, began = Clock(), time.monotonic()
    for name, row in _rows().items():
        if not all(word in name.split() for word in given.words):
            continue
        if time.monotonic() - began > given.seconds:
            break
        try:
            results[name] = row(clock)
        except Exception as failed:
            results[name] = {"failed": f"{type(failed).__name__}: {failed}"[:2000]}
        print(f"{time.monotonic() - began:.0f} s", name, json.dumps(results[name]), flush=True)
        given.path.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
