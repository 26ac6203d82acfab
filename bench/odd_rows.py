"""Matmuls whose results have rows that TMA cannot store, as vocabularies make them, beside PyTorch's.

python bench/odd_rows.py OUT.json

Such a row is no multiple of 16 bytes. The peers are cuBLAS, and cuBLAS for a B that is padded to a multiple of 8
columns, with as wide a result: what these rows cost us is the distance to that. Times are medians of event times in
random order. "error" is the largest difference to PyTorch's result, over the largest element.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
from rows import about
from simt import Bench

import tilewright as tw
from tilewright import ops

TARGET = "cuda -device=H200"
SHAPES = (
    (1024, 50257, 768, "bfloat16", "bfloat16"), (1024, 50257, 768, "bfloat16", "float32"),
    (512, 30522, 768, "bfloat16", "bfloat16"), (4096, 4095, 4096, "bfloat16", "bfloat16"),
    (4096, 4095, 1024, "float16", "float32"), (2048, 1001, 2048, "float16", "float16"),
    (8192, 81, 256, "bfloat16", "bfloat16"), (1500, 51865, 384, "float16", "float16"),
)  # fmt: skip


def measure(bench: Bench, shape: tuple[int, int, int, str, str]) -> dict[str, Any]:
    M, N, K, dtype, out_dtype = shape
    a, b = (torch.randn(rows, K, device="cuda").to(getattr(torch, dtype)) for rows in (M, N))
    padded = torch.zeros(-(-N // 8) * 8, K, device="cuda", dtype=b.dtype)
    padded[:N] = b
    c = torch.empty(M, N, device="cuda", dtype=getattr(torch, out_dtype))
    operands = ops.Operand((M, K), dtype), ops.Operand((N, K), dtype)
    s, tensors = ops.matmul.schedule(
        *operands, transpose_b=True, out_dtype=out_dtype, target=tw.Target(TARGET)
    )  # fmt: skip
    func = tw.build(s, tensors, target=TARGET, name="matmul")
    func(a, b, c)
    expected = (a @ b.T).float()
    error = ((c.float() - expected).abs().max() / expected.abs().max()).item()
    times = bench.medians_ms([lambda: func(a, b, c), lambda: a @ b.T, lambda: a @ padded.T], 20)
    names = "ours_us", "torch_us", "torch_padded_us"
    return {"shape": list(shape), "error": error, **{name: round(1e3 * ms, 1) for name, ms in zip(names, times)}}


def main() -> None:
    bench = Bench()
    record: dict[str, Any] = {**about("cuda"), **bench.results, "cases": []}
    for shape in SHAPES:
        record["cases"].append(measure(bench, shape))
        print(record["cases"][-1], flush=True)
        Path(sys.argv[1]).write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
