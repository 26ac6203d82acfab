"""Elementwise kernels and the register-tiled f32 GEMM beside torch, in one run on one GPU.

`python bench/simt.py OUT.json`: median of event times, inputs random, the L2 cache flushed before every run, each
result checked against float64. Figures that are claimed stand in bench/results/ with the command, commit and device.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import sys
from pathlib import Path

import torch

import tilewright as tw
from tilewright import schedules, te

torch.backends.cuda.matmul.allow_tf32 = False


def median_ms(call, repeat: int = 50) -> float:
    # The flush also keeps the GPU busy while the host prepares the launch: what is timed is the kernel.
    flush = torch.empty(512 << 20, dtype=torch.uint8, device="cuda")
    for _ in range(5):
        call()
    times = []
    for _ in range(repeat):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        flush.zero_()
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def vector_add(n: int, threads: int = 256, lanes: int = 4):
    A, B = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")
    C = te.compute((n,), lambda i: A[i] + B[i], name="C")
    s = te.create_schedule(C.op)
    block, rest = s[C].split(C.op.axis[0], factor=threads * lanes)
    thread, vector = s[C].split(rest, factor=lanes)
    s[C].bind(block, te.thread_axis("blockIdx.x"))
    s[C].bind(thread, te.thread_axis("threadIdx.x"))
    s[C].vectorize(vector)
    return s, [A, B, C]


def bench_add(results: dict) -> None:
    n = 1 << 27
    source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda").random_()
    target = torch.empty_like(source)
    copy = median_ms(lambda: target.copy_(source))
    results["copy 1GiB"] = {"ms": copy, "TBs": 2 * source.numel() / copy / 1e9}
    add = tw.build(*vector_add(n), target="cuda", name="add")
    a, b, c = (
        torch.randn(n, device="cuda"),
        torch.randn(n, device="cuda"),
        torch.full((n,), float("nan"), device="cuda"),
    )
    ours = median_ms(lambda: add(a, b, c))
    exact = bool(torch.equal(c.double(), (a.double() + b.double()).float().double()))
    theirs = median_ms(lambda: torch.add(a, b, out=c))
    results["add f32 2^27"] = {
        "ms": ours,
        "TBs": 12 * n / ours / 1e9,
        "torch_ms": theirs,
        "of_copy": (12 * n / ours) / (2 * source.numel() / copy),
        "exact": exact,
    }


def bench_gemm(results: dict) -> None:
    path = next((Path(__file__).parent.parent / "python" / "examples").glob("03_*.py"))
    spec = importlib.util.spec_from_file_location("example03", path)
    example = importlib.util.module_from_spec(spec)
    sys.modules["example03"] = example
    spec.loader.exec_module(example)
    for size in (1024, 4096):
        for step in (16,):
            gemm = tw.build(*example.sgemm(size, size, size, step=step), target="cuda", name="sgemm")
            a, b = torch.randn(size, size, device="cuda"), torch.randn(size, size, device="cuda")
            c, d = torch.full((size, size), float("nan"), device="cuda"), torch.empty(size, size, device="cuda")
            ours = median_ms(lambda: gemm(a, b, c))
            theirs = median_ms(lambda: torch.mm(a, b, out=d))
            reference = a.double() @ b.double()
            error, peer = (c - reference).abs().max().item(), (d - reference).abs().max().item()
            results[f"gemm f32 {size} step {step}"] = {
                "ms": ours,
                "TFLOPs": 2 * size**3 / ours / 1e9,
                "cublas_ms": theirs,
                "of_cublas": theirs / ours,
                "max_error": error,
                "cublas_max_error": peer,
                "right": error < 4 * peer + 1e-4,
            }


def bench_ready_gemm(results: dict) -> None:
    for shape in ((1024,) * 3, (2048,) * 3, (4096,) * 3, (8192,) * 3, (4095, 4097, 4093), (4096, 4096, 512)):
        M, N, K = shape
        tile = (64, 64) if M * N <= 1 << 20 else (128, 128)
        gemm = tw.build(*schedules.sgemm(M, N, K, tile=tile), target="cuda", name="sgemm")
        a, b = torch.randn(M, K, device="cuda"), torch.randn(K, N, device="cuda")
        c, d = torch.full((M, N), float("nan"), device="cuda"), torch.empty(M, N, device="cuda")
        ours = median_ms(lambda: gemm(a, b, c), 20)
        theirs = median_ms(lambda: torch.mm(a, b, out=d), 20)
        reference = a.double() @ b.double()
        error, peer = (c - reference).abs().max().item(), (d - reference).abs().max().item()
        results["schedules.sgemm " + "x".join(map(str, shape))] = {
            "ms": ours,
            "TFLOPs": 2 * M * N * K / ours / 1e9,
            "of_cublas": theirs / ours,
            "max_error": error,
            "cublas_max_error": peer,
            "right": error < 4 * peer + 1e-4,
        }


def row_sum(m: int, n: int, threads: int = 256):
    A = te.placeholder((m, n), name="A")
    k = te.reduce_axis((0, n), "k")
    B = te.compute((m,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    ko, ki = s[B].split(B.op.reduce_axis[0], factor=threads)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(ki, te.thread_axis("threadIdx.x"))
    s[B].unroll(ko)
    return s, [A, B]


def bench_row_sum(results: dict) -> None:
    source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda").random_()
    target = torch.empty_like(source)
    copy = 2 * source.numel() / median_ms(lambda: target.copy_(source))
    for m, n in ((16384, 4096), (4096, 32768)):
        func = tw.build(*row_sum(m, n), target="cuda", name="row_sum")
        a, b = torch.randn(m, n, device="cuda"), torch.full((m,), float("nan"), device="cuda")
        ours = median_ms(lambda: func(a, b))
        theirs = median_ms(lambda: torch.sum(a, dim=1))
        error = (b - a.double().sum(dim=1)).abs().max().item()
        results[f"row sum {m}x{n}"] = {
            "ms": ours,
            "torch_ms": theirs,
            "of_copy": 4 * m * n / ours / copy,
            "max_error": error,
            "right": error < 1e-2,
        }


if __name__ == "__main__":
    results: dict = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    for bench in (bench_add, bench_gemm, bench_ready_gemm, bench_row_sum):
        try:
            bench(results)
        except Exception as error:  # the other figures are still worth having
            results[bench.__name__] = f"{type(error).__name__}: {error}"
    print(json.dumps(results, indent=1))
    Path(sys.argv[1]).write_text(json.dumps(results, indent=1) + "\n")
