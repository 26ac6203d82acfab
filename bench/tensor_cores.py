"""The ready products by tensor cores beside torch, in one run on one GPU.

`python bench/tensor_cores.py OUT.json [mma shapes ragged skinny epilogue convolution]`: medians of event times, inputs
random, the L2 cache flushed before every run, each result, written over NaN, checked against float64 with the error of
torch's own as the measure.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from model_shapes import RAGGED
from simt import Bench

import tilewright as tw
from tilewright import ops, schedules, te
from tilewright.schedules.matmuls.candidates import candidates
from tilewright.schedules.matmuls.cost_model import estimate
from tilewright.schedules.matmuls.problem import Problem

torch.backends.cuda.matmul.allow_tf32 = True
DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "tf32": torch.float32, "int8": torch.int8}
# Tiles, warps and depths that are worth a try.
CHOICES: list[dict[str, Any]] = [
    {"tile": (128, 128), "warps": (2, 2), "stages": 3},
    {"tile": (128, 128), "warps": (2, 4), "stages": 3},
    {"tile": (128, 128), "warps": (2, 4), "stages": 3, "min_blocks": 2},
    {"tile": (128, 256), "warps": (2, 4), "stages": 3},
    {"tile": (256, 128), "warps": (4, 2), "stages": 3},
    {"tile": (128, 128), "warps": (2, 2), "stages": 4, "step_bytes": 64},
    {"tile": (128, 256), "warps": (2, 4), "stages": 4, "step_bytes": 64},
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
        options["block_k"] = bytes_ // DTYPES[dtype].itemsize
    made = "int32" if dtype == "int8" else "float32" if dtype == "tf32" else dtype
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


def bench_ragged(bench: Bench) -> None:
    """Leading dimensions that TMA cannot serve."""
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


def bench_skinny(bench: Bench) -> None:
    """Few rows: the model's first choices, and what the table says."""
    for M in (1, 16, 64):
        for layout in ("NN", "NT"):
            problem = Problem(M, 8192, 8192, "bfloat16", layout)
            for choice in sorted(candidates(problem), key=lambda one: estimate(problem, one))[:6]:
                measure(bench, (M, 8192, 8192), "bfloat16", layout, dict(choice.options))


def bench_epilogue(bench: Bench) -> None:
    """A product with bias, gelu and a cast in one kernel, against torch.compile of the same."""
    for M, N, K in ((4096, 4096, 4096), (8192, 4096, 1024), (512, 16384, 4096)):
        a, b, bias = (factor(rows, columns, "bfloat16") for rows, columns in ((M, K), (N, K), (1, N)))
        bias = bias[0]

        def peer(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.gelu(torch.nn.functional.linear(a, b, bias)).to(torch.float16)

        compiled = torch.compile(peer, dynamic=False)
        func = ops.matmul.function(a, b, bias, transpose_b=True, activation="gelu", out_dtype="float16", target="cuda")
        output = torch.full((M, N), float("nan"), device="cuda", dtype=torch.float16)
        func(a, b, bias, output)
        exact = torch.nn.functional.gelu(a.double() @ b.double().t() + bias.double())
        error, peers = ((one.double() - exact).abs().max().item() for one in (output, compiled(a, b, bias)))
        ms = bench.median_ms(lambda: func(a, b, bias, output))
        theirs = bench.median_ms(lambda: compiled(a, b, bias))
        bench.results[f"bias, gelu, cast {M}x{N}x{K}"] = {
            "error": error,
            "torch_error": peers,
            "right": error <= 2 * peers,
            "ms": ms,
            "compiled_ms": theirs,
            "of_torch": theirs / ms,
            "TFLOPs": 2.0 * M * N * K / ms / 1e9,
        }


def bench_convolution(bench: Bench) -> None:
    """Images of float16, channels last, beside cuDNN: by warpgroups, with a bias and an activation too, by warps."""
    torch.backends.cudnn.benchmark = True
    for batch, channels, size, filters, kernel, stride in (
        (1, 1024, 13, 1024, 3, 1),
        (32, 64, 56, 64, 3, 1),
        (32, 256, 14, 256, 3, 1),
        (32, 3, 224, 64, 7, 2),
    ):
        problem = batch, channels, size, filters, kernel
        shapes = (batch, channels, size, size), (filters, channels, kernel, kernel)
        x, w = (torch.randn(shape, device="cuda").half().to(memory_format=torch.channels_last) for shape in shapes)
        bias = torch.randn(filters, device="cuda").half()
        added = te.placeholder((filters,), "float16", name="bias")

        def biased(value: te.Expr, n: te.Expr, y: te.Expr, x: te.Expr, f: te.Expr, added: te.Tensor = added) -> te.Expr:
            return te.max(value + added[f].astype("float32"), 0.0)

        def peer(x: torch.Tensor, w: torch.Tensor, stride: int = stride, margin: int = kernel // 2) -> torch.Tensor:
            return torch.nn.functional.conv2d(x, w, stride=stride, padding=margin)

        def biased_peer(
            x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, stride: int = stride, margin: int = kernel // 2
        ) -> torch.Tensor:
            return torch.cudnn_convolution_relu(x, w, b, (stride, stride), (margin, margin), (1, 1), 1)

        exact = peer(x.double(), w.double())
        biased_exact = torch.relu(exact + bias.double()[None, :, None, None])
        out = exact.shape[2]
        last = [one.permute(0, 2, 3, 1) for one in (x, w)]
        fused: dict[str, Any] = {"epilogue": biased, "operands": [added]}
        for what, make, options, inputs, call, expected in (
            ("", schedules.conv2d_wgmma, {}, last, lambda: peer(x, w), exact),
            (" bias relu", schedules.conv2d_wgmma, fused, [*last, bias], lambda: biased_peer(x, w, bias), biased_exact),
            (" mma_sync", schedules.conv2d_mma, {}, last, lambda: peer(x, w), exact),
        ):
            begin = time.perf_counter()
            func = tw.build(*make(*problem, stride=stride, **options), target="cuda", name="conv2d", cache=False)
            compile_ms = 1e3 * (time.perf_counter() - begin)
            theirs = call()
            y = torch.full((batch, out, out, filters), float("nan"), device="cuda", dtype=torch.float16)
            func(*inputs, y)
            error, peers = ((one - expected).abs().max().item() for one in (y.permute(0, 3, 1, 2), theirs))
            ms, torch_ms = bench.median_ms(lambda: func(*inputs, y)), bench.median_ms(call)
            bench.results[f"conv2d float16 n{batch} c{channels} {size}x{size} k{filters} r{kernel} s{stride}{what}"] = {
                "error": error,
                "torch_error": peers,
                "right": error <= 2 * peers + 1e-6 * expected.abs().max().item(),
                "compile_ms": round(compile_ms, 1),
                "ms": ms,
                "torch_ms": torch_ms,
                "of_torch": torch_ms / ms,
                "TFLOPs": 2.0 * theirs.numel() * channels * kernel**2 / ms / 1e9,
            }


GROUPS = {
    "mma": bench_mma,
    "shapes": bench_shapes,
    "ragged": bench_ragged,
    "skinny": bench_skinny,
    "epilogue": bench_epilogue,
    "convolution": bench_convolution,
}

if __name__ == "__main__":
    Bench().run(GROUPS)
