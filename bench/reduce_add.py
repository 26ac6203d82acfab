"""Sums that blocks share: by atomic additions and by TMA (`bind(..., reduce_add=True)`), beside a second kernel.

`python bench/reduce_add.py OUT.json`. Matmuls of float16 with few tiles, and sums of long rows. Medians of event times
in random order, the L2 cache flushed before every run; the largest error is relative to the largest result.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
from attention import Clock

import tilewright as tw
from tilewright import schedules, te

sys.path.insert(0, str(Path(__file__).parent.parent / "test" / "python"))

from split_k import matmul_that_adds  # noqa: E402

COLUMNS = 256
MATMULS = [(128, 16384, 64), (1024, 16384, 16), (1024, 4096, 8), (4096, 4096, 4)]
SUMS = [(8, 1 << 22), (1024, 1 << 15)]


def row_sums(rows: int, columns: int, parts: int, adds: bool) -> tuple[te.Schedule, list[te.Tensor]]:
    """The sum of each row, of which `parts` blocks have a part each."""
    A = te.placeholder((rows, columns), "float32", name="A")
    k = te.reduce_axis((0, columns), "k")
    C = te.compute((rows,), lambda i: te.sum(A[i, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    part, inner = s[C].split(k, nparts=parts)
    if adds:
        s[C].bind(part, te.thread_axis("blockIdx.x"), reduce_add=True)
        s[C].bind(s[C].op.axis[0], te.thread_axis("blockIdx.y"))
        _, lane = s[C].split(inner, factor=256)
        s[C].bind(lane, te.thread_axis("threadIdx.x"))
        return s, [A, C]
    P = s.rfactor(C, part)
    for stage, axes in ((P, s[P].op.axis), (C, s[C].op.axis)):
        for axis, name in zip(axes[::-1], ("blockIdx.y", "blockIdx.x"), strict=False):
            s[stage].bind(axis, te.thread_axis(name))
        _, lane = s[stage].split(s[stage].op.reduce_axis[0], factor=min(256, parts) if stage is C else 256)
        s[stage].bind(lane, te.thread_axis("threadIdx.x"))
    return s, [A, C]


def measure(clock: Clock, made: dict[str, Any], arrays: list[torch.Tensor], right: torch.Tensor) -> dict[str, Any]:
    calls: dict[str, Any] = {}
    errors: dict[str, Any] = {}
    for name, scheduled in made.items():
        func = tw.build(*scheduled, target="cuda", name="f")
        out = torch.full(right.shape, float("nan"), device="cuda")
        func(*arrays, out)
        func(*arrays, out)
        errors[name] = ((out.double() - right).abs().max() / right.abs().max()).item()
        calls[name] = lambda func=func, out=out: func(*arrays, out)
    calls["torch"] = (lambda: arrays[0] @ arrays[1].t()) if len(arrays) == 2 else (lambda: arrays[0].sum(1))
    times = dict(zip(calls, clock.medians(list(calls.values())), strict=True))
    return {"us": {name: round(1000 * ms, 2) for name, ms in times.items()}, "errors": errors}


def main() -> None:
    clock, results = Clock(), {}
    for M, K, parts in MATMULS:
        arrays = [torch.randn(rows, K, device="cuda", dtype=torch.float16) for rows in (M, COLUMNS)]
        made = {
            "by TMA": matmul_that_adds(M, COLUMNS, K, "float16", parts=parts, is_copied=True),
            "by threads": matmul_that_adds(M, COLUMNS, K, "float16", parts=parts, is_copied=False, stages=4),
            "a second kernel": schedules.matmul_wgmma(
                M, COLUMNS, K, "float16", "float32", transpose_b=True, split_k=parts
            ),
        }
        results[f"matmul {M}x{COLUMNS}x{K} by {parts}"] = measure(
            clock, made, arrays, arrays[0].double() @ arrays[1].double().t()
        )
    for rows, columns in SUMS:
        arrays = [torch.randn(rows, columns, device="cuda")]
        parts = 1024 // rows if rows < 1024 else 1
        made = {f"{p} blocks, {'adding' if adds else 'two kernels'}": row_sums(rows, columns, p, adds)
                for p in (max(parts, 2), 4 * max(parts, 2)) for adds in (True, False)}  # fmt: skip
        results[f"sums {rows}x{columns}"] = measure(clock, made, arrays, arrays[0].double().sum(1))
    for name, one in results.items():
        print(name, json.dumps(one), flush=True)
    Path(sys.argv[1]).write_text(json.dumps({"gpu": torch.cuda.get_device_name(), "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
