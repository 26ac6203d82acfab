"""The ready products by tensor cores beside torch, in one run on one GPU.

`python bench/tensor_cores.py OUT.json [mma shapes ragged]`: medians of event times, inputs random, the L2 cache flushed
before every run, each result, written over NaN, checked against float64 with the error of torch's own as the measure.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from simt import Bench

import tilewright as tw
from tilewright import schedules

torch.backends.cuda.matmul.allow_tf32 = True
DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "tfloat32": torch.float32, "int8": torch.int8}
# Tiles, warps and depths that are worth a try.
CHOICES: list[dict[str, Any]] = [
    {"tile": (128, 128), "warps": (2, 2), "depth": 3},
    {"tile": (128, 128), "warps": (2, 4), "depth": 3},
    {"tile": (128, 128), "warps": (2, 4), "depth": 3, "min_blocks": 2},
    {"tile": (128, 256), "warps": (2, 4), "depth": 3},
    {"tile": (256, 128), "warps": (4, 2), "depth": 3},
    {"tile": (128, 128), "warps": (2, 2), "depth": 4, "step_bytes": 64},
    {"tile": (128, 256), "warps": (2, 4), "depth": 4, "step_bytes": 64},
]


def factor(rows: int, columns: int, dtype: str) -> torch.Tensor:
    if dtype == "int8":
        return torch.randint(-128, 128, (rows, columns), device="cuda", dtype=torch.int8)
    return torch.randn(rows, columns, device="cuda", dtype=torch.float32).to(DTYPES[dtype])


def measure(bench: Bench, shape: tuple[int, int, int], dtype: str, layout: str, choice: dict[str, Any]) -> None:
    """One kernel beside torch's product. `layout` is BLAS's: N for a factor as it is, T for a transposed one, in the
    order of A and B, of which the kernel sees the row-major ones."""
    M, N, K = shape
    transpose_a, transpose_b = layout[0] == "T", layout[1] == "T"
    options = dict(choice)
    if bytes_ := options.pop("step_bytes", None):
        options["step"] = bytes_ // DTYPES[dtype].itemsize
    made = "int32" if dtype == "int8" else "float32" if dtype == "tfloat32" else dtype
    name = f"{dtype} {layout} {M}x{N}x{K} {json.dumps(choice)}"
    begin = time.perf_counter()
    scheduled = schedules.matmul_mma(M, N, K, dtype, made, transpose_a=transpose_a, transpose_b=transpose_b, **options)
    func = tw.build(*scheduled, target="cuda", name="matmul", cache=False)
    compile_ms = 1e3 * (time.perf_counter() - begin)
    a = factor(*((K, M) if transpose_a else (M, K)), dtype)
    b = factor(*((N, K) if transpose_b else (K, N)), dtype)
    left, right = a.t() if transpose_a else a, b.t() if transpose_b else b
    peer: Callable[[], torch.Tensor] = (
        (lambda: torch._int_mm(left, right)) if dtype == "int8" else (lambda: torch.matmul(left, right))
    )
    exact = left.double() @ right.double()
    output = torch.full((M, N), -1 if dtype == "int8" else float("nan"), device="cuda", dtype=getattr(torch, made))
    func(a, b, output)
    error = (output.double() - exact).abs().max().item()
    result: dict[str, Any] = {"error": error, "compile_ms": round(compile_ms, 1)}
    try:
        peers = (peer().double() - exact).abs().max().item()
        result |= {"torch_error": peers, "right": error <= 2 * peers + 1e-6 * exact.abs().max().item()}
        result["torch_ms"] = bench.median_ms(peer)
    except RuntimeError as refused:  # torch has no such product of int8
        result |= {"torch": str(refused).splitlines()[0], "right": error == 0 if dtype == "int8" else None}
    result["ms"] = ms = bench.median_ms(lambda: func(a, b, output))
    result["TFLOPs"] = 2.0 * M * N * K / ms / 1e9
    if "torch_ms" in result:
        result["of_torch"] = result["torch_ms"] / ms
    bench.results[name] = result


def bench_mma(bench: Bench) -> None:
    for dtype in DTYPES:
        for layout in ("NT", "NN") if dtype in ("float16", "bfloat16") else ("NT",):
            for choice in CHOICES:
                measure(bench, (4096,) * 3, dtype, layout, choice)


def bench_shapes(bench: Bench) -> None:
    for shape in ((1024,) * 3, (2048,) * 3, (8192,) * 3, (4096, 4096, 512), (8192, 1024, 8192)):
        measure(bench, shape, "bfloat16", "NT", CHOICES[1])


# Leading dimensions that TMA cannot serve.
RAGGED = [
    (4095, 4097, 4093),
    (4097, 4095, 4099),
    (4093, 4099, 4095),
    (2047, 2049, 2051),
    (8191, 8193, 8189),
    (4097, 1025, 8191),
    (1023, 8191, 4095),
    (3001, 5003, 4001),
    (4090, 4102, 4098),
    (6145, 3071, 2047),
]


def bench_ragged(bench: Bench) -> None:
    for shape in RAGGED:
        for choice in ({}, {"group": 8}, {"tile": (128, 256), "warps": (2, 4)}):
            measure(bench, shape, "bfloat16", "NN", choice)
    measure(bench, RAGGED[0], "bfloat16", "NT", {})
    measure(bench, RAGGED[0], "bfloat16", "TN", {})
    measure(bench, (4100,) * 3, "bfloat16", "NT", {})
    best = {}
    for name, result in bench.results.items():
        if isinstance(result, dict) and "of_torch" in result and "{" in name:
            shape = name.split()[2]
            best[shape] = max(best.get(shape, 0), result["of_torch"])
    ratios = [best["x".join(map(str, shape))] for shape in RAGGED if "x".join(map(str, shape)) in best]
    bench.results["ragged, best choices"] = {"geometric_mean_of_torch": statistics.geometric_mean(ratios)}


GROUPS = {"mma": bench_mma, "shapes": bench_shapes, "ragged": bench_ragged}

if __name__ == "__main__":
    bench = Bench()
    for group in sys.argv[2:] or GROUPS:
        try:
            GROUPS[group](bench)
        except Exception as error:  # the other figures are still worth having
            bench.results[group] = f"{type(error).__name__}: {error}"
    print(json.dumps(bench.results, indent=1))
    Path(sys.argv[1]).write_text(json.dumps(bench.results, indent=1) + "\n")
