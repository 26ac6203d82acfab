"""`schedules.sgemm` of each layout beside cuBLAS: K tiles through registers, and by cp.async.

`python bench/sgemm_stages.py [OUT.json] [--check]`: for each shape and layout the medians of event times, by turns, of
the schedule that the model chooses, of tiles of 128 x 128 with several K tiles and stages, and of torch in float32. The
matmul that `tw.auto_schedule` makes of a te program is beside them. `--check` compiles alone, without a GPU, and prints
registers and spills.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measuring import compile_all

import tilewright as tw
from tilewright import schedules, te
from tilewright.backend.cubin import link

SHAPES = ((1024, 2048, 4096), (4096, 4096, 4096), (2181, 3784, 2696), (873, 752, 6336))
LAYOUTS = ("NT", "NN", "TT", "TN")
# The K tile and the stages.
VARIANTS = ((8, 2), (8, 4), (16, 3), (16, 4))


def by_rule(M: int, N: int, K: int, layout: str, target: str) -> Any:
    a = te.placeholder((K, M) if layout[0] == "T" else (M, K), name="A")
    b = te.placeholder((N, K) if layout[1] == "T" else (K, N), name="B")
    k = te.reduce_axis((0, K), "k")
    C = te.compute(
        (M, N),
        lambda i, j: te.sum(
            (a[k, i] if layout[0] == "T" else a[i, k]) * (b[j, k] if layout[1] == "T" else b[k, j]), axis=k
        ),
        name="C",
    )
    return tw.build(tw.auto_schedule(C, target), [a, b, C], target, "rule")


def functions(M: int, N: int, K: int, layout: str, target: str) -> Iterator[tuple[str, Any]]:
    ways: dict[str, bool] = {"transpose_a": layout[0] == "T", "transpose_b": layout[1] == "T"}
    with tw.Target(target):
        yield "the model's", tw.build(*schedules.sgemm(M, N, K, **ways), target, "model")
        tiles = -(-M // 128) * -(-N // 128)
        split_k = next((parts for parts in (4, 2) if tiles * parts <= 264 and K >= 512 * parts), 1)
        for block_k, stages in VARIANTS:
            made = schedules.sgemm(
                M, N, K, tile=(128, 128), lanes=8, block_k=block_k, split_k=split_k, stages=stages, **ways
            )
            yield f"{block_k} x {stages}", tw.build(*made, target, f"of_{block_k}_{stages}")
    yield "by rule", by_rule(M, N, K, layout, target)


def prepare(case: tuple[int, int, int, str], target: str) -> dict[str, Any]:
    """Leaves the kernels of a shape and layout in the cache."""
    return {"kernels": [name for name, _ in functions(*case, target)]}


def main() -> None:
    check = "--check" in sys.argv
    target = "cuda -arch=sm_90a -device=H100" if check else "cuda"
    found = list[dict[str, Any]]()
    cases = [(*shape, layout) for shape in SHAPES for layout in LAYOUTS]
    compile_all(cases, target, os.cpu_count() or 1, time.monotonic() + 120, prepare)
    for shape in SHAPES:
        M, N, K = shape
        for layout in LAYOUTS:
            made = dict(functions(*shape, layout, target))
            if check:
                for name, f in made.items():
                    print(shape, layout, name, max(link(f.ptx, "sm_90a").resources.values(), key=lambda r: r.registers))
                continue
            import torch
            from simt import Bench

            bench = Bench()
            torch.backends.cuda.matmul.allow_tf32 = False
            a = torch.randn((K, M) if layout[0] == "T" else (M, K), device="cuda")
            b = torch.randn((N, K) if layout[1] == "T" else (K, N), device="cuda")
            left, right = a.T if layout[0] == "T" else a, b.T if layout[1] == "T" else b
            out, exact = torch.empty((M, N), device="cuda"), left.double() @ right.double()
            errors = {}
            for name, f in made.items():
                f(a, b, out)
                errors[name] = (out.double() - exact).abs().max().item()
            calls = [lambda f=f: f(a, b, out) for f in made.values()]
            peer, *times = bench.medians_ms([lambda: torch.matmul(left, right, out=out), *calls], 20)
            row = {"shape": shape, "layout": layout, "cublas_ms": peer, "ms": dict(zip(made, times))}
            found.append(row | {"ratio": {name: peer / ms for name, ms in zip(made, times)}, "errors": errors})
            print(json.dumps(found[-1]), flush=True)
    arguments = [one for one in sys.argv[1:] if not one.startswith("--")]
    if arguments and not check:
        commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True)
        head = {"command": " ".join(["python", *sys.argv]), "commit": commit.stdout.strip(), **bench.results}
        Path(arguments[0]).write_text(json.dumps({**head, "cases": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
