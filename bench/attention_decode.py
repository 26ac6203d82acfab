"""Attention of one query with split keys, also in pages, beside torch's and a copy of as many bytes, on one GPU.

`python bench/attention_decode.py OUT.json [QUICK]`. Each shape is batch x query heads : key heads x keys, of bfloat16
and heads of 128. Medians of event times in random order, the L2 cache flushed before every run. Results are checked
against float64. `share` is the time of a copy of as many bytes as keys and values have, over the time taken.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from attention import Clock
from torch.nn.attention import SDPBackend, sdpa_kernel

import tilewright as tw
from tilewright import ops, te
from tilewright.ops.operator import Operand
from tilewright.schedules.attention_choice import tiles_for
from tilewright.schedules.online_softmax import attention_of
from tilewright.target import Target

# Tiles of queries and keys, and parts, that are tried for one sequence beside those that are chosen.
CHOICES: list[dict[str, Any]] = [
    {"tile": (64, 128), "key_splits": 16, "stages": 2},
    {"tile": (64, 128), "key_splits": 16, "stages": 3},
    {"tile": (64, 64), "key_splits": 16, "stages": 4},
    {"tile": (64, 64), "key_splits": 32, "stages": 4},
]
SHAPES = [(1, 32, 8, 8192), (1, 64, 8, 65536), (16, 64, 8, 8192), (64, 32, 8, 4096), (1, 32, 32, 8192)]
WIDTH = 128
PAGES = (16, 64)


def exact(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Of the first sequence, in float64."""
    groups = q.shape[1] // k.shape[1]
    q, k, v = q[:1].double(), k[:1].double(), v[:1].double()
    rows = [
        torch.softmax(q[:, h] @ k[:, h // groups].transpose(-1, -2) * WIDTH**-0.5, -1) @ v[:, h // groups]
        for h in range(q.shape[1])
    ]
    return torch.stack(rows, 1)


def measure(clock: Clock, batch: int, heads: int, shared: int, keys: int) -> dict[str, Any]:
    q = torch.randn(batch, heads, 1, WIDTH, device="cuda", dtype=torch.bfloat16)
    k, v = (torch.randn(batch, shared, keys, WIDTH, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    source = torch.cat([k.flatten(), v.flatten()])
    half = source[: source.numel() // 2]
    target = torch.empty_like(half)
    calls: dict[str, Any] = {"copy": lambda: target.copy_(half)}  # reads and writes half of the bytes each
    out = torch.full_like(q, float("nan"))
    calls["ours"] = lambda: ops.attention(q, k, v, enable_gqa=True, out=out)
    right = exact(q, k, v)
    errors = {}
    for name, backend in {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash2": SDPBackend.FLASH_ATTENTION}.items():

        def peer(backend: SDPBackend = backend) -> torch.Tensor:
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, enable_gqa=heads != shared)

        try:
            errors[name] = (peer()[:1].double() - right).abs().max().item()
            calls[name] = peer
        except RuntimeError as refused:
            print(name, "refuses", str(refused).splitlines()[0])
    for page in PAGES:
        # The same keys and values, in pages of a cache that lie in any order.
        numbers = torch.randperm(batch * keys // page, device="cuda").to(torch.int32).view(batch, -1)
        cached = [
            torch.empty(batch * keys // page, page, shared, WIDTH, device="cuda", dtype=k.dtype) for _ in range(2)
        ]
        for cache, one in zip(cached, (k, v), strict=True):
            cache[numbers.long()] = one.view(batch, shared, -1, page, WIDTH).permute(0, 2, 3, 1, 4)
        pages = [cache.transpose(1, 2) for cache in cached]
        result = torch.full_like(q, float("nan"))

        def paged(pages: list[torch.Tensor] = pages, numbers: Any = numbers, result: Any = result) -> None:
            ops.attention(q, *pages, pages=numbers, out=result)

        paged()
        errors[f"pages of {page}"] = (result[:1].double() - right).abs().max().item()
        calls[f"pages of {page}"] = paged
    for choice in CHOICES if batch == 1 and heads > shared else []:
        tensors = [
            te.placeholder(tuple(one.shape), "bfloat16", name=name) for name, one in zip("QKV", (q, k, v), strict=True)
        ]
        func = tw.build(*attention_of(*tensors, **choice), target="cuda", name="attention")
        made = torch.full_like(q, float("nan"))
        func(q, k, v, made)
        errors[json.dumps(choice)] = (made[:1].double() - right).abs().max().item()
        calls[json.dumps(choice)] = lambda func=func, made=made: func(q, k, v, made)
    calls["ours"]()
    errors["ours"] = (out[:1].double() - right).abs().max().item()
    times = dict(zip(calls, clock.medians(list(calls.values())), strict=True))
    operands = [Operand(tuple(one.shape), "bfloat16") for one in (q, k, v)]
    with Target("cuda") as where:
        chosen = tiles_for(*operands, tuple(q.shape), None, where.device)
    return {
        "us": {name: round(1000 * ms, 2) for name, ms in times.items()},
        "share": round(times["copy"] / times["ours"], 3),
        "shares": {name: round(times["copy"] / ms, 3) for name, ms in times.items()},
        "errors": errors,
        "chosen": chosen,
    }


def main() -> None:
    path, *quick = sys.argv[1:]
    clock, results = Clock(), {}
    for shape in SHAPES[:2] if quick else SHAPES:
        name = "{}x{}:{}x{}".format(*shape)
        results[name] = measure(clock, *shape)
        print(name, json.dumps(results[name]), flush=True)
        Path(path).write_text(json.dumps({"gpu": torch.cuda.get_device_name(), "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
