"""How long the rules and the compiler take for programs of every kind, from te to a cubin, in time of the processor.

`python bench/compile_rules.py [OUT.json] [--only WORD] [--target T]`: operations of several sizes each, compiled for
sm_90a, for which no GPU is needed. "schedule" is the selection and the schedule in Python, "compile" the build, and the
rest are its stages. Each case is the fastest of `--repeat` builds, in milliseconds of the processor, so that other
programs on the machine count little. The goals are 50 ms for "schedule", 600 ms for "compile", and no growth with the
extents.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tilewright as tw
from tilewright import ops, te
from tilewright.compiler import pipeline

ROOT = Path(__file__).parent.parent


Case = tuple[str, str, tuple[ops.Operand, ...], dict[str, Any]]


def _of_type(dtype: str) -> Iterator[Case]:
    def of(*shape: int) -> ops.Operand:
        return ops.Operand(shape, dtype)

    for M, N, K in ((1, 4096, 4096), (17, 1000, 333), (128, 768, 768), (4096, 4096, 4096)):
        yield f"{M}x{N}x{K}", "matmul", (of(M, K), of(K, N)), {}
    yield "of a batch", "matmul", (of(12, 512, 64), of(12, 64, 512)), {}
    for batch, channels, size, filters, kernel, stride in (
        (1, 3, 224, 64, 7, 2), (1, 64, 56, 64, 3, 1), (32, 256, 14, 256, 3, 1), (1, 512, 7, 2048, 1, 1),
        (8, 40, 33, 24, 5, 2),
    ):  # fmt: skip
        x, w = of(batch, channels, size, size), of(filters, channels, kernel, kernel)
        name = f"2-D {batch}x{channels}x{size}x{size}, {filters} of {kernel}, stride {stride}"
        yield name, "conv", (x, w), {"stride": stride, "padding": kernel // 2}
    for size in (56, 224):
        x, w = of(1, 64, size, size), of(64, 1, 5, 5)
        yield f"by channel, {size}x{size}", "conv", (x, w), {"groups": 64, "padding": 2}
    yield "in groups", "conv", (of(2, 64, 28, 28), of(64, 16, 3, 3)), {"groups": 4, "padding": 1}
    yield "1-D", "conv", (of(4, 80, 3000), of(384, 80, 3)), {"padding": 1}
    yield "1-D, dilated", "conv", (of(4, 64, 1024), of(64, 64, 9)), {"padding": 8, "dilation": 2}
    yield "3-D", "conv", (of(1, 32, 16, 28, 28), of(64, 32, 3, 3, 3)), {"padding": 1}
    yield "1-D", "conv_transpose", (of(1, 64, 400), of(64, 32, 8)), {"stride": 4}
    yield "2-D", "conv_transpose", (of(1, 128, 32, 32), of(128, 64, 4, 4)), {"stride": 2, "padding": 1}
    yield "3-D", "conv_transpose", (of(1, 32, 8, 16, 16), of(32, 32, 3, 3, 3)), {"stride": 2}
    for op in ("max_pool", "avg_pool"):
        yield "2-D", op, (of(8, 64, 112, 112),), {"kernel": 3, "stride": 2}
    for rows, columns in ((1, 1000), (4096, 1024), (300, 50257), (4, 1_000_000)):
        for op in ("softmax", "layer_norm", "sum", "argmax", "cumsum"):
            yield f"{rows}x{columns}", op, (of(rows, columns),), {"axis": 1} if op in ("sum", "argmax") else {}
        yield f"{rows}x{columns}, columns", "sum", (of(rows, columns),), {"axis": 0}
    for length in (128, 4096):
        yield f"{length} of 64", "attention", (of(1, 12, length, 64),) * 3, {}
    yield "768", "embedding", (of(50257, 768), ops.Operand((1024,), "int64")), {}
    yield "8x512x12x64", "permute", (of(8, 512, 12, 64),), {"axes": (0, 2, 1, 3)}
    yield "4096x3072", "gelu", (of(4096, 3072),), {}
    yield "2x320x64x64", "group_norm", (of(2, 320, 64, 64),), {"groups": 32}
    yield "16x1000", "top_k", (of(16, 1000),), {"k": 10}


def cases() -> Iterator[Case]:
    """A name, the operation, its operands and options."""
    for dtype in ("float16", "float32"):
        for name, op, operands, options in _of_type(dtype):
            yield f"{op} {dtype} {name}", op, operands, options


def seconds() -> float:
    """The processor's time so far, also of tools that were run."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def measured(case: Case, target: str) -> dict[str, float]:
    """Milliseconds of the processor by stage."""
    s: te.Schedule
    _, op, operands, options = case
    begin = seconds()
    s, tensors = getattr(ops, op).schedule(*operands, target=target, **options)
    made = seconds() - begin
    begin = seconds()
    func = tw.build(s, tensors, target=target, cache=False)
    built = seconds() - begin
    stages = {stage: taken * 1e3 for stage, taken in func.timings.items()}
    return {"schedule": made * 1e3, **stages, "compile": built * 1e3}


class ProcessorTime:
    """`time` of the pipeline, with the processor's clock for the machine's."""

    perf_counter = staticmethod(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?", type=Path, help="a file for the figures beside standard output")
    parser.add_argument("--only", default="", help="cases whose names contain this word")
    parser.add_argument("--repeat", type=int, default=2, help="builds of each case (default: 2)")
    parser.add_argument("--target", default="cuda -arch=sm_90a -device=H200")
    options = parser.parse_args()
    pipeline.time = ProcessorTime  # type: ignore[assignment]
    rows: list[dict[str, Any]] = []
    for case in cases():
        if options.only not in case[0]:
            continue
        found = min((measured(case, options.target) for _ in range(options.repeat)), key=lambda row: row["compile"])
        rows.append({"case": case[0], **{stage: round(value, 1) for stage, value in found.items()}})
        print(json.dumps(rows[-1]), flush=True)
    if options.out is not None:
        commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
        head = {
            "command": " ".join(["python", *sys.argv]),
            "commit": commit.stdout.strip(),
            "machine": f"{os.cpu_count()} cores, {platform.system()} {platform.machine().replace('_', '-')}",
            "unit": "ms of the processor",
        }
        options.out.write_text(json.dumps({**head, "cases": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
