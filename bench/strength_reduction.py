"""What LLVM's LoopStrengthReduce is worth to large kernels: convolutions compiled with it and without it, timed beside
cuDNN.

`python bench/strength_reduction.py [OUT.json] [--seed 777] [--limit 2500] [--check]`: the convolutions of a seed
(`random_cases.py`), and transposed ones, of which a function has more than `--limit` instructions. Both forms compile
in this process; what the limit does not change is left out. `--check` needs no GPU: it prints registers, spills and the
seconds of the back end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measuring import compile_all
from random_cases import Array, Case, draw

import tilewright as tw
from tilewright import ops
from tilewright.backend import ptx
from tilewright.backend.cubin import link

FORMS = Path(tempfile.gettempdir()) / "strength-reduction"


def transposed() -> Iterator[Case]:
    """As decoders and KernelBench have them."""
    for dtype in ("float32", "float16"):
        for x, w, stride, padding in (
            ((16, 32, 128, 128), (32, 64, 3, 3), 1, 0), ((16, 64, 64, 64), (64, 32, 4, 4), 2, 1),
            ((16, 32, 64, 128), (32, 64, 3, 3), 2, 1), ((8, 32, 16, 32, 32), (32, 24, 3, 3, 3), 1, 0),
            ((16, 32, 8, 16, 16), (32, 48, 3, 3, 3), 2, 1), ((16, 32, 4096), (32, 64, 8), 4, 2),
        ):  # fmt: skip
            options = (("stride", stride), ("padding", padding))
            yield Case("transposed", "conv_transpose", (Array(x, dtype), Array(w, dtype)), options)


def prepare(what: tuple[Case, int], target: str) -> dict[str, Any]:
    """Leaves a form in its cache; says what it took."""
    return {"seconds": compiled(*what, target)[1]}


def compiled(case: Case, limit: int, target: str) -> tuple[tw.Function, float]:
    """The function, and the seconds of the processor for building it."""
    s, tensors = getattr(ops, case.op).schedule(
        *(ops.Operand(one.shape, one.dtype) for one in case.arrays), target=target, **dict(case.options)
    )
    usual = ptx.PIPELINE
    ptx.PIPELINE = f"builtin.module(gpu.module(emit-ptx{{strength-reduction-limit={limit}}}))"
    try:
        begin = time.process_time()
        f = tw.build(s, tensors, target, cache=FORMS / str(limit))
        return f, time.process_time() - begin
    finally:
        ptx.PIPELINE = usual


def resources(f: tw.Function) -> dict[str, int]:
    found = link(f.ptx, "sm_90a").resources.values()
    return {
        "registers": max(one.registers for one in found), "spilled": sum(one.spill_store_bytes for one in found)
    }  # fmt: skip


def timed(case: Case, forms: list[tw.Function]) -> dict[str, Any]:
    import torch
    from random_peers import expression_of, tensor_of
    from simt import Bench

    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    tensors = [tensor_of(one) for one in case.arrays]
    if case.op == "conv_transpose":
        peer = getattr(torch.nn.functional, f"conv_transpose{len(case.arrays[0].shape) - 2}d")
        call = lambda: peer(*tensors, **dict(case.options))  # noqa: E731
    else:
        expression = expression_of(case)
        call = lambda: expression(*tensors)  # noqa: E731
    outputs = [torch.full_like(call(), float("nan")).contiguous() for _ in forms]
    calls = [lambda f=f, out=out: f(*tensors, out) for f, out in zip(forms, outputs)]
    theirs, usual, without = Bench().medians_ms([call, *calls], 30)
    largest = (outputs[0].double() - outputs[1].double()).abs().max().item()
    return {
        "cudnn_ms": theirs, "ms": usual, "without_ms": without, "gain": usual / without, "ratio": theirs / usual,
        "ratio_without": theirs / without, "largest_difference": largest,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?", type=Path)
    parser.add_argument("--seed", type=int, default=777)
    parser.add_argument("--limit", type=int, default=2500)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    target = "cuda -arch=sm_90a -device=H100" if options.check else "cuda"
    rows: list[dict[str, Any]] = []
    cases, limits = [*transposed(), *draw(options.seed, "convolutions", options.count)], (4294967295, options.limit)
    forms = [(case, limit) for case in cases for limit in limits]
    took = compile_all(forms, target, os.cpu_count() or 1, time.monotonic() + 120, prepare)
    for place, case in enumerate(cases):
        if any("failure" in one for one in took[2 * place : 2 * place + 2]):
            print(case, *took[2 * place : 2 * place + 2])
            continue
        usual, without = (compiled(case, limit, target)[0] for limit in limits)
        if usual.ptx == without.ptx:
            continue
        seconds = [round(took[2 * place + form]["seconds"], 2) for form in (0, 1)]
        row = {"case": str(case), "resources": [resources(f) for f in (usual, without)], "build_s": seconds}
        rows.append(row if options.check else row | timed(case, [usual, without]))
        print(json.dumps(rows[-1]), flush=True)
    if options.out is not None:
        commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True)
        head = {"commit": commit.stdout.strip(), "seed": options.seed, "limit": options.limit}
        options.out.write_text(json.dumps({**head, "cases": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
