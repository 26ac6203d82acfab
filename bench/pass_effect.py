"""What one pass is worth: kernels compiled with it and without it, timed in turn on one GPU.

`python bench/pass_effect.py OUT.json PASS [part of a name]` takes the kernels of `CASES` whose PTX the pass changes.
Both versions must give the same result, bit for bit. `of_without` above 1 says that the kernel is faster with the pass.
The L2 cache, in which a kernel's code lies, too, is flushed before each run; for `warm_ms`, 20 launches follow one
another. Without a GPU it says which kernels the pass changes.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from typing import Any

import compare_ptx

import tilewright as tw
from tilewright.backend.ptx import emit_ptx
from tilewright.bisection.passes import pass_texts
from tilewright.compiler.pipeline import Lowering, pipeline_text
from tilewright.compiler.programs import make_program
from tilewright.ir import Module, context
from tilewright.ir.passes import run_passes
from tilewright.runtime.caller import make_caller
from tilewright.testing import device_enabled

# Shapes and options of `compare_ptx.matmul`, whose epilogue is a bias and a maximum.
CASES: list[tuple[tuple[int, int, int], str, dict[str, Any]]] = [
    ((4100, 4104, 4104), "bf16", {"bias": True}),
    ((4095, 4097, 4096), "bf16", {"bias": True}),
    ((1000, 3000, 520), "bf16", {"bias": True, "tile": (128, 128)}),
    ((4100, 4104, 4104), "bf16-f32", {"bias": True, "cluster": (2, 1)}),
    ((4095, 4097, 4096), "f16", {"bias": True, "transpose_b": True}),
    ((4100, 4096, 4096), "bf16", {"bias": True, "consumers": 2, "tile": (64, 128), "cluster": (1, 1)}),
    ((1000, 3000, 520), "bf16", {"bias": True}),
    ((1000, 3000, 2056), "bf16", {"bias": True, "tile": (128, 128)}),
    ((1000, 1000, 1000), "bf16", {"bias": True, "tile": (64, 128)}),
    ((2050, 2056, 2056), "bf16", {"bias": True}),
    # Two and four tiles a block, with few K tiles.
    ((2000, 2000, 264), "bf16", {"bias": True, "tile": (128, 128)}),
    ((4000, 3000, 264), "bf16", {"bias": True, "tile": (128, 128)}),
]


def compiled(case: tuple[tuple[int, int, int], str, dict[str, Any]], skipped: str) -> tuple[Lowering, str]:
    """The kernel at the gpu stage, without one pass, and its PTX."""
    s, arguments = compare_ptx.matmul(*case)
    text = str(tw.lower(s, arguments, target=compare_ptx.TARGET, stage="loops", name="kernel"))
    lowering = Lowering("kernel", compare_ptx.TARGET, "gpu")
    with context():
        module = Module.parse(text)
    for one in pass_texts(pipeline_text("loops", "gpu", compare_ptx.TARGET), module):
        if skipped not in one.replace("(", " ").replace("{", " ").replace(")", " ").split():
            run_passes(module, one, "measuring what a pass is worth", "gpu")
    lowering.enter(module)
    return lowering, emit_ptx(lowering.reach("nvvm"))


def main() -> None:
    out, skipped, *parts = sys.argv[1:]
    changed: dict[str, list[Lowering]] = {}
    for case in CASES:
        name = f"{case[1]} {'x'.join(map(str, case[0]))} {case[2]}"
        if all(part in name for part in parts):
            both = [compiled(case, one) for one in ("", skipped)]
            print(name, "changed" if both[0][1] != both[1][1] else "the same PTX", flush=True)
            if both[0][1] != both[1][1]:
                changed[name] = [lowering for lowering, _ in both]
    if device_enabled("cuda"):
        measure(changed, out)


def back_to_back(call: Callable[[], Any], count: int = 20) -> float:
    """The milliseconds of one launch among others of its kind, with caches as they leave them."""
    import torch

    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(count):
        call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / count


def measure(changed: dict[str, list[Lowering]], out: str) -> None:
    import torch
    from simt import Bench

    def one_group(bench: Bench) -> None:
        for name, both in changed.items():
            calls, outputs, inputs = [], [], None
            for lowering in both:
                program: Any = make_program(lowering)
                if inputs is None:
                    inputs = [
                        torch.randn(*one.shape, device="cuda").to(getattr(torch, one.dtype))
                        for one in program.signature.arguments if not one.output
                    ]  # fmt: skip
                made = next(one for one in program.signature.arguments if one.output)
                output = torch.full(made.shape, float("nan"), device="cuda", dtype=getattr(torch, made.dtype))
                arrays = iter(inputs)
                given = [output if one.output else next(arrays) for one in program.signature.arguments]
                # The builtin that users call: the program's own method takes the host longer than the kernel takes.
                call = make_caller(program)
                calls.append(lambda call=call, given=given: call(*given))
                calls[-1]()
                outputs.append(output)
            ms, without_ms = bench.medians_ms(calls)
            warm, without = (statistics.median(times) for times in zip(*(map(back_to_back, calls) for _ in range(15))))
            bench.results[name] = {
                "ms": ms, "without_ms": without_ms, "of_without": without_ms / ms,
                "warm_ms": warm, "warm_without_ms": without, "warm_of_without": without / warm,
                "right": bool(torch.equal(*outputs)) and not bool(outputs[0].isnan().any()),
            }  # fmt: skip

    bench = Bench()
    bench.results["pass"] = sys.argv[2]
    sys.argv[1:] = [out]
    bench.run({"kernels": one_group})


if __name__ == "__main__":
    main()
