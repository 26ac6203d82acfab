"""What tilings of convolutions take on a GPU: data to fit the model of `schedules/convolutions/wgmma_tiles.py` to.

`python bench/convolution_candidates.py OUT.json [--seconds 120]`

The images are square, in bfloat16 with channels last. Of each convolution there are `ops.conv2d`, the tilings by wgmma
that the model takes for the fastest, and tilings by mma.sync, beside cuDNN with its benchmark. Kernels are compiled
first, by a process a core. Times are medians of event times in random order. Each result is compared with cuDNN's.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

TARGET = "cuda -device=H200"
# Batch, size, channels, filters, kernel and stride. Many have channels of an odd multiple of 16 bytes.
SHAPES = (
    (32, 204, 72, 16, 3, 2), (2, 116, 280, 248, 3, 1), (32, 85, 24, 80, 1, 1), (8, 124, 40, 56, 3, 1),
    (8, 172, 8, 96, 3, 2), (32, 56, 24, 144, 1, 1), (32, 28, 40, 240, 1, 1), (32, 56, 144, 24, 1, 1),
    (8, 64, 200, 200, 3, 1), (8, 64, 104, 104, 3, 1), (2, 128, 56, 88, 5, 1), (32, 28, 120, 40, 1, 1),
    (8, 112, 24, 24, 3, 1), (8, 56, 168, 168, 3, 2), (32, 14, 184, 184, 3, 1), (1, 56, 72, 72, 3, 1),
    (1, 28, 120, 120, 3, 1), (1, 64, 40, 40, 5, 1), (32, 56, 64, 64, 3, 1), (8, 28, 256, 256, 3, 1),
    (2, 64, 96, 96, 3, 1), (8, 112, 32, 32, 3, 1), (1, 56, 64, 64, 3, 1), (32, 112, 16, 96, 1, 1),
    (8, 112, 16, 48, 3, 2), (32, 32, 48, 48, 3, 1),
)  # fmt: skip
_BY_WARPS = (
    ((128, 128), (2, 2), 3), ((128, 64), (2, 2), 4), ((64, 64), (2, 2), 4), ((128, 32), (4, 1), 4),
    ((64, 32), (2, 1), 5), ((256, 16), (4, 1), 4), ((128, 96), (2, 2), 3),
)  # fmt: skip

Shape = tuple[int, int, int, int, int, int]
Candidate = tuple[str, dict[str, Any]]


def candidates(shape: Shape, best: int = 3) -> list[Candidate]:
    """
    >>> [name for name, _ in candidates((8, 64, 104, 104, 3, 1), best=1)][:2]
    ['ops.conv2d', 'conv2d_wgmma']
    """
    from tilewright import Target
    from tilewright.schedules.convolutions.definition import Convolution
    from tilewright.schedules.convolutions.wgmma_operands import KTiles
    from tilewright.schedules.convolutions.wgmma_tiles import Problem, timed

    batch, size, channels, filters, kernel, stride = shape
    found: list[Candidate] = [("ops.conv2d", {})]
    with Target(TARGET):
        what = Convolution(batch, channels, size, filters, kernel, stride, dtype="bfloat16").windows
        k_tiles = KTiles.of(what)
        problem = Problem.of(what, k_tiles.count, k_tiles.span, is_narrow=k_tiles.is_row)
        for tile, split_k, share_rows in list(timed(problem))[: best if kernel > 1 else 0]:
            found.append(("conv2d_wgmma", {"tile": tile, "split_k": split_k, "share_rows": share_rows}))
    for tile, warps, stages in _BY_WARPS:
        if tile[1] < 2 * filters:
            found.append(("conv2d_mma", {"tile": tile, "warps": warps, "stages": stages, "split_k": 1}))
    return found


def function_of(shape: Shape, candidate: Candidate) -> Any:
    import tilewright as tw
    from tilewright import ops, schedules

    batch, size, channels, filters, kernel, stride = shape
    name, options = candidate
    with tw.Target(TARGET):
        if name == "ops.conv2d":
            x = ops.Operand((batch, size, size, channels), "bfloat16")
            w = ops.Operand((filters, kernel, kernel, channels), "bfloat16")
            s, tensors = ops.conv2d.schedule(x, w, stride=stride, target=tw.Target(TARGET))
        else:
            sizes = batch, channels, size, filters, kernel
            s, tensors = getattr(schedules, name)(*sizes, "bfloat16", stride=stride, **options)
        return tw.build(s, tensors, target=TARGET, name="convolution")


def compile_for(shape: Shape, candidate: Candidate) -> str:
    """Leaves the kernels in the cache; what is wrong, if anything is."""
    try:
        function_of(shape, candidate)
    except Exception as error:  # the others are still worth having
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return ""


def measure(bench: Any, shape: Shape, ready: list[tuple[Candidate, str]]) -> dict[str, Any]:
    import torch
    import torch.nn.functional as F

    batch, size, channels, filters, kernel, stride = shape
    x = torch.randn(batch, size, size, channels, device="cuda").bfloat16()
    w = torch.randn(filters, kernel, kernel, channels, device="cuda").bfloat16()
    images, weights = (one.permute(0, 3, 1, 2) for one in (x, w))
    calls = [lambda: F.conv2d(images, weights, stride=stride, padding=kernel // 2)]
    expected = calls[0]().permute(0, 2, 3, 1).float()
    y = torch.empty(expected.shape, device="cuda", dtype=torch.bfloat16)
    rows: list[dict[str, Any]] = []
    for (name, options), failure in ready:
        rows.append({"schedule": name, "options": options})
        if failure:
            rows[-1]["failure"] = failure
            continue
        func = function_of(shape, (name, options))
        y.fill_(-1)
        func(x, w, y)
        rows[-1]["right"] = (y.float() - expected).abs().max().item() <= 0.02 * expected.abs().max().item()
        calls.append(lambda func=func: func(x, w, y))
    torch_ms, *times = bench.medians_ms(calls, 15)
    for row, ms in zip((row for row in rows if "failure" not in row), times):
        row["us"] = round(1e3 * ms, 2)
    return {"shape": list(shape), "cudnn_us": round(1e3 * torch_ms, 2), "candidates": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=120, help="in all (default: 120)")
    given = parser.parse_args()
    begin = time.monotonic()
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"TILEWRIGHT_CACHE": "on", "TILEWRIGHT_CACHE_DIR": folder}
        with ProcessPoolExecutor(max(1, (os.cpu_count() or 2) - 1), mp_context=get_context("spawn")) as pool:
            jobs = {
                shape: [(one, pool.submit(compile_for, shape, one)) for one in candidates(shape)] for shape in SHAPES
            }
            ready = {shape: [(one, job.result()) for one, job in some] for shape, some in jobs.items()}
        import torch
        from simt import Bench

        torch.backends.cudnn.benchmark = True
        bench = Bench()
        record: dict[str, Any] = {"command": " ".join(["python", *sys.argv]), "commit": commit, **bench.results}
        record |= {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "convolutions": []}
        for shape, some in ready.items():
            if time.monotonic() - begin > given.seconds:
                break
            record["convolutions"].append(measure(bench, shape, some))
            print(record["convolutions"][-1], flush=True)
            given.out.write_text(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
