"""Attention as GPUs without wgmma compute it, on a GPU that has it, beside torch's FlashAttention 2 in the same run.

`python bench/attention_mma.py OUT.json [--seconds N] [--dtype float32]`. Kernels for sm_90 multiply by mma.sync and
copy by TMA. The kernel for sm_80 copies by threads. The driver compiles its PTX for the GPU, and this program launches
it. The general road computes and stores all scores. Sequences of 16 Ki tokens in all, and 2048 / d heads, of bfloat16.
Of float32 the peer is torch's memory-efficient attention, whose products are three of tf32, too. Medians of event times
in random order, the L2 cache flushed before every run. Each result, written over NaN, is checked against float64 on 256
rows of two heads. Operations are 4 B H S S d, 10 B H S S d of gradients, half of them if causal.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from attention import HIDDEN, PEERS, ROWS_CHECKED, TOKENS, Clock, error_of
from attention_rows import figures_of
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

import tilewright as tw
from tilewright import ops, te
from tilewright.graph.operators.attention import attention as in_stages
from tilewright.rules import make
from tilewright.schedules.online_softmax import attention_of
from tilewright.target import Target

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test" / "python"))
from kernels_of_sm_80 import KernelOfSm80  # noqa: E402

CHOICES: list[dict[str, Any]] = [
    {"tile": tile, "stages": 2} for tile in ((128, 128), (128, 64), (64, 128), (64, 64), (128, 32), (64, 32))
]
SHAPES = [(128, 4096, "full"), (128, 4096, "causal"), (64, 4096, "full"), (64, 4096, "causal"), (128, 1024, "causal"),
          (128, 16384, "full"), (256, 4096, "full")]  # fmt: skip


PEERS_OF = {"bfloat16": PEERS, "float32": {"efficient": SDPBackend.EFFICIENT_ATTENTION}}


def tensors_of(shape: tuple[int, ...], dtype: str) -> list[te.Tensor]:
    return [te.placeholder(shape, dtype, name=name) for name in "QKV"]


def measure(clock: Clock, dtype: str, width: int, length: int, mask: str) -> dict[str, Any]:
    batch, heads, causal = TOKENS // length, HIDDEN // width, mask == "causal"
    shape = (batch, heads, length, width)
    q, k, v = (torch.randn(shape, device="cuda", dtype=getattr(torch, dtype)) for _ in range(3))
    rows = torch.randperm(length, device="cuda")[:ROWS_CHECKED]
    flat = [each.flatten(0, 1) for each in (q, k, v)]
    calls: dict[str, Any] = {}
    errors: dict[str, Any] = {}
    for name, backend in PEERS_OF[dtype].items():

        def peer(backend: Any = backend) -> torch.Tensor:
            with sdpa_kernel(backend):
                return scaled_dot_product_attention(q, k, v, is_causal=causal)

        errors[name] = error_of(peer().flatten(0, 1), rows, *flat, causal)
        calls[name] = peer
    out = torch.empty_like(q)

    def add(name: str, func: Any) -> None:
        out.fill_(float("nan"))
        func(q, k, v, out)
        errors[name] = error_of(out.flatten(0, 1), rows, *flat, causal)
        calls[name] = lambda: func(q, k, v, out)

    for arch in ("sm_90", "sm_80") if dtype == "bfloat16" else ("sm_90",):
        for choice in CHOICES:
            name = json.dumps({"arch": arch, **choice})
            try:
                with Target(f"cuda -arch={arch}") as target:
                    s, tensors = attention_of(*tensors_of(shape, dtype), behind=0 if causal else None, **choice)
                    func = tw.build(s, tensors, target=target, name="attention")
                add(name, func if arch == "sm_90" else KernelOfSm80(func))
            except (tw.TilewrightError, AssertionError) as refused:
                print(name, str(refused).splitlines()[-1][:200], flush=True)
    if length == 4096:
        with Target("cuda -arch=sm_90") as target:
            tensors = tensors_of(shape, dtype)
            result = in_stages(*tensors, scale=None, before=None, behind=0 if causal else None, offset=0, softcap=None)
            with mock.patch.object(make, "attention_in", return_value=None):
                s = tw.auto_schedule(result, target)
            add("general road", tw.build(s, [*tensors, result], target=target, name="attention"))
    operations = 4.0 * batch * heads * length * length * width / (2 if causal else 1)
    return figures_of(calls, errors, operations, clock.medians)


def gradients(clock: Clock, dtype: str, width: int, length: int, mask: str) -> dict[str, Any]:
    """The backward pass, from what the forward pass keeps: its result and the logarithms of sums."""
    batch, heads, causal = TOKENS // length, HIDDEN // width, mask == "causal"
    q, k, v, head = (
        torch.randn(batch, heads, length, width, device="cuda", dtype=getattr(torch, dtype)) for _ in range(4)
    )
    given = [one.requires_grad_() for one in (q, k, v)]
    first = [one.detach()[0, 0].double().requires_grad_() for one in given]
    scores = first[0] @ first[1].t() * width**-0.5
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
    right = torch.autograd.grad(torch.softmax(scores, -1) @ first[2], first, head[0, 0].double())
    calls: dict[str, Any] = {}
    errors: dict[str, Any] = {}

    def error(made: Any) -> float:
        pairs = [(one[0, 0].double(), other) for one, other in zip(made, right, strict=True)]
        return max(((one - other).square().mean() / other.square().mean()).sqrt().item() for one, other in pairs)

    for name, backend in PEERS_OF[dtype].items():
        with torch.enable_grad(), sdpa_kernel(backend):
            out = scaled_dot_product_attention(*given, is_causal=causal)
        calls[name] = lambda out=out: torch.autograd.grad(out, given, head, retain_graph=True)
        errors[name] = error(calls[name]())
    plain = [one.detach() for one in given]
    arch = "cuda -arch=sm_90"
    result, logarithms = torch.empty_like(plain[0]), torch.empty(q.shape[:-1], device="cuda")
    ops.attention_with_logarithms.function(*plain, is_causal=causal, target=arch)(*plain, result, logarithms)
    kept = {"result": result, "logarithms": logarithms}
    func = ops.attention_gradients.function(head, *plain, **kept, is_causal=causal, target=arch)
    made = [torch.full_like(one, float("nan")) for one in plain]
    own = '{"arch": "sm_90"}'
    calls[own] = lambda: func(head, *plain, result, logarithms, *made)
    calls[own]()
    errors[own] = error(made)
    operations = 10.0 * batch * heads * length * length * width / (2 if causal else 1)
    return figures_of(calls, errors, operations, clock.medians)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=200)
    parser.add_argument("--dtype", choices=PEERS_OF, default="bfloat16")
    given = parser.parse_args()
    start, clock, results = time.monotonic(), Clock(), {}
    for part, shape in [*(("forward", one) for one in SHAPES), *(("backward", one) for one in SHAPES[:-2])]:
        if time.monotonic() - start > given.seconds:
            break
        name = "{} d{} {} {}".format(part, *shape)
        results[name] = (measure if part == "forward" else gradients)(clock, given.dtype, *shape)
        print(name, json.dumps(results[name]), flush=True)
        given.out.write_text(json.dumps({"gpu": torch.cuda.get_device_name(), "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
