"""The ready schedules beside torch, in one run on one GPU.

`python bench/simt.py OUT.json [elementwise rows columns transpose vectors floor gemm convolution]`: medians of event
times, inputs random, the L2 cache flushed before every run, each result, written over NaN, checked against float64
with the error of torch's own as the measure. With TORCH_COMPILE=1 torch.compile is a peer too. Figures that are claimed
stand in bench/results/ with the command, commit and device.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

import tilewright as tw
from tilewright import schedules, te

torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.benchmark = True
Scheduled = tuple[Any, list[Any]]
SHAPES = ((16384, 4096), (131072, 1024), (4096, 32768))


class Bench:
    """Measures, and collects what it measured."""

    def __init__(self) -> None:
        self.results: dict[str, Any] = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
        self._flush = torch.zeros(256 << 20, dtype=torch.float32, device="cuda")
        source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda").random_()
        target = torch.empty_like(source)
        ms = self.median_ms(lambda: target.copy_(source))
        self.copied_per_ms = 2 * source.numel() / ms
        self.results["copy 1GiB"] = {"ms": ms, "TBs": self.copied_per_ms / 1e9}

    def median_ms(self, call: Callable[[], Any], repeat: int = 25) -> float:
        return self.medians_ms([call], repeat)[0]

    def medians_ms(self, calls: Sequence[Callable[[], Any]], repeat: int = 100) -> list[float]:
        """Of calls in turn, each time in another order: what the clock of a hot GPU does, it does to all of them.

        In one order the clock, which follows the power, may go up and down as the calls do: of two that take 1.5 ms by
        turns, 25 times each, the ratio of medians was between 1.01 and 1.11 where that of 60 in random order is 1.07.
        """
        # A sum flushes the cache: what is left there need not be written back while the kernel runs. It also keeps the
        # GPU busy while the host prepares the launch: what is timed is the kernel.
        for call in calls:
            for _ in range(3):
                call()
        events: list[list[tuple[torch.cuda.Event, torch.cuda.Event]]] = [[] for _ in calls]
        for _ in range(repeat):
            for call, timed in random.sample(list(zip(calls, events)), len(calls)):
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                self._flush.sum()
                begin.record()
                call()
                end.record()
                timed.append((begin, end))
        torch.cuda.synchronize()
        return [statistics.median(begin.elapsed_time(end) for begin, end in timed) for timed in events]

    def run(self, groups: Mapping[str, Callable[[Bench], None]]) -> None:
        """Measures the groups that the command line names after the file, or all, and writes the file."""
        commit = subprocess.run(
            ["git", "describe", "--always", "--dirty"], capture_output=True, text=True
        ).stdout.strip()
        self.results |= {"command": " ".join(["python", *sys.argv]), "commit": commit}
        for group in sys.argv[2:] or groups:
            try:
                groups[group](self)
            except Exception as error:  # the other figures are still worth having
                self.results[group] = f"{type(error).__name__}: {error}"
            Path(sys.argv[1]).write_text(json.dumps(self.results, indent=1) + "\n")
        print(json.dumps(self.results, indent=1))

    def measure(
        self,
        name: str,
        scheduled: Scheduled,
        inputs: Sequence[torch.Tensor],
        peer: Callable[..., torch.Tensor],
        work: dict[str, float],
        *,
        exact: Callable[..., torch.Tensor] | None = None,
    ) -> dict[str, Any]:
        """One kernel beside torch's `peer`, which in float64 is also what is right unless `exact` says it."""
        begin = time.perf_counter()
        func = tw.build(*scheduled, target="cuda", name="kernel", cache=False)
        compile_ms = 1e3 * (time.perf_counter() - begin)
        theirs = peer(*inputs)
        output = torch.full(theirs.shape, float("nan"), device="cuda", dtype=torch.float32)
        func(*inputs, output)
        reference = (exact or peer)(*(one.double() for one in inputs))
        error, peers = ((one - reference).abs().max().item() for one in (output, theirs))
        # An output that torch rounds to 16 bits says nothing of ours. NaN is no number that is less.
        bound = (4 * peers if theirs.dtype == output.dtype else 0) + 1e-6 * reference.abs().max().item()
        result: dict[str, Any] = {"error": error, "torch_error": peers, "right": error <= bound}
        del reference, theirs
        result["compile_ms"] = round(compile_ms, 1)
        result["ms"] = ms = self.median_ms(lambda: func(*inputs, output))
        result["torch_ms"] = self.median_ms(lambda: peer(*inputs))
        if os.environ.get("TORCH_COMPILE"):
            compiled = torch.compile(peer, dynamic=False)
            result["compiled_ms"] = self.median_ms(lambda: compiled(*inputs))
        if "bytes" in work:
            result["TBs"] = work["bytes"] / ms / 1e9
            result["of_copy"] = work["bytes"] / ms / self.copied_per_ms
        if "flops" in work:
            result["TFLOPs"] = work["flops"] / ms / 1e9
        result["of_torch"] = result["torch_ms"] / ms
        self.results[name] = result
        return result


def normal(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)


def bench_elementwise(bench: Bench) -> None:
    for shape in SHAPES:
        m, n = shape
        x, y = normal(m, n), normal(m, n)
        bench.measure(f"gelu {m}x{n}", schedules.gelu(m, n), [x], F.gelu, {"bytes": 8 * m * n})
        bench.measure(f"add {m}x{n}", schedules.add(m, n), [x, y], torch.add, {"bytes": 12 * m * n})
        chain = schedules.elementwise(lambda x, y: te.tanh(x * y + 1.0) * x - te.sigmoid(y), shape, inputs=2)
        bench.measure(
            f"tanh(x * y + 1) * x - sigmoid(y) {m}x{n}",
            chain,
            [x, y],
            lambda x, y: torch.tanh(x * y + 1.0) * x - torch.sigmoid(y),
            {"bytes": 12 * m * n},
        )


def bench_rows(bench: Bench) -> None:
    for m, n in SHAPES:
        x, gamma, beta = normal(m, n), normal(n), normal(n)
        twice = {"bytes": 8 * m * n}
        bench.measure(f"softmax {m}x{n}", schedules.softmax(m, n), [x], lambda x: torch.softmax(x, -1), twice)
        bench.measure(
            f"layer norm {m}x{n}",
            schedules.layer_norm(m, n),
            [x, gamma, beta],
            lambda x, gamma, beta: F.layer_norm(x, (x.shape[1],), gamma, beta),
            twice,
        )
        bench.measure(
            f"rms norm {m}x{n}",
            schedules.rms_norm(m, n),
            [x, gamma],
            lambda x, gamma: F.rms_norm(x, (x.shape[1],), gamma, 1e-5),
            twice,
        )
        bench.measure(f"row sum {m}x{n}", schedules.row_sum(m, n), [x], lambda x: x.sum(-1), {"bytes": 4 * m * n})


def bench_columns(bench: Bench) -> None:
    for m, n in SHAPES:
        bench.measure(
            f"column sum {m}x{n}", schedules.column_sum(m, n), [normal(m, n)], lambda x: x.sum(0), {"bytes": 4 * m * n}
        )


def bench_transpose(bench: Bench) -> None:
    for m, n in SHAPES[:2]:
        bench.measure(
            f"transpose {m}x{n}",
            schedules.transpose(m, n),
            [normal(m, n)],
            lambda x: x.t().contiguous(),
            {"bytes": 8 * m * n},
        )


def bench_vectors(bench: Bench) -> None:
    n = 8192
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        name = str(dtype).removeprefix("torch.")
        matrix, vector = normal(n, n, dtype=dtype), normal(n, dtype=dtype)
        work = {"bytes": matrix.numel() * matrix.element_size()}
        for kind, scheduled, inputs, peer in (
            ("A x", schedules.matvec(n, n, dtype=name), [matrix, vector], torch.mv),
            ("x B", schedules.vecmat(n, n, dtype=name), [vector, matrix], lambda x, b: torch.mm(x[None], b)[0]),
        ):
            bench.measure(f"{kind} {n}x{n} {name}", scheduled, inputs, peer, work)


def measure_gemm(bench: Bench, name: str, scheduled: Scheduled, shape: tuple[int, int, int]) -> None:
    M, N, K = shape
    name = f"{name} {M}x{N}x{K}"
    result = bench.measure(name, scheduled, [normal(M, K), normal(K, N)], torch.mm, {"flops": 2.0 * M * N * K})
    result["of_cublas"] = result.pop("of_torch")


def bench_floor(bench: Bench) -> None:
    """What no kernel of a few microseconds gets below: an empty one, and one that reads as much as a 16-bit matrix."""
    one = torch.zeros(1, 1, device="cuda")
    bench.measure("add 1x1", schedules.add(1, 1), [one, one], torch.add, {"bytes": 12})
    x = normal(4096, 8192)
    bench.measure(
        "row sum 4096x8192", schedules.row_sum(4096, 8192), [x], lambda x: x.sum(-1), {"bytes": 4 * x.numel()}
    )


def bench_gemm(bench: Bench) -> None:
    path = next((Path(__file__).parent.parent / "python" / "examples").glob("03_*.py"))
    spec = importlib.util.spec_from_file_location("example03", path)
    example = importlib.util.module_from_spec(spec)
    sys.modules["example03"] = example
    spec.loader.exec_module(example)
    measure_gemm(bench, "example 03", example.sgemm(4096, 4096, 4096, block_k=16), (4096,) * 3)
    for shape in (
        (1024,) * 3,
        (2048,) * 3,
        (4096,) * 3,
        (8192,) * 3,
        (4095, 4097, 4093),
        (4096, 4096, 512),
        (16, 8192, 8192),
    ):
        measure_gemm(bench, "sgemm", schedules.sgemm(*shape), shape)


def bench_convolution(bench: Bench) -> None:
    for batch, channels, size, filters, kernel, stride in (
        (1, 1024, 13, 1024, 3, 1),
        (32, 64, 56, 64, 3, 1),
        (32, 256, 14, 256, 3, 1),
        (32, 3, 224, 64, 7, 2),
    ):
        out = (size + 2 * (kernel // 2) - kernel) // stride + 1
        bench.measure(
            f"conv2d n{batch} c{channels} {size}x{size} k{filters} r{kernel} s{stride}",
            schedules.conv2d(batch, channels, size, filters, kernel, stride=stride),
            [normal(batch, channels, size, size), normal(filters, channels, kernel, kernel)],
            lambda x, w, stride=stride, kernel=kernel: F.conv2d(x, w, stride=stride, padding=kernel // 2),
            {"flops": 2.0 * batch * filters * out * out * channels * kernel * kernel},
        )


GROUPS = {
    "elementwise": bench_elementwise,
    "rows": bench_rows,
    "columns": bench_columns,
    "transpose": bench_transpose,
    "vectors": bench_vectors,
    "floor": bench_floor,
    "gemm": bench_gemm,
    "convolution": bench_convolution,
}

if __name__ == "__main__":
    Bench().run(GROUPS)
