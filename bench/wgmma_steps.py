"""The six schedules of the tutorial's page on wgmma and TMA beside cuBLAS, in one run on one GPU.

`python bench/wgmma_steps.py OUT.json [SIZE]`: C = A B of bfloat16, square, 4096 unless given. The schedules are those
of docs/tutorial/06-wgmma.md: the code of the page runs here. Times are medians of events, all calls in random order,
inputs random, the L2 cache flushed before every run; each result, written over NaN, is checked against float64, with
the error of torch's own as the measure. `python bench/wgmma_steps.py --check` compiles the six without a GPU.
"""

from __future__ import annotations

import json
import random
import re
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tilewright as tw

PAGE = Path(__file__).parent.parent / "docs" / "tutorial" / "06-wgmma.md"
REPEAT = 60


def steps_of_the_page() -> dict[str, Any]:
    """What the page's code defines, up to its schedules."""
    names: dict[str, Any] = {}
    text = PAGE.read_text()
    for match in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        exec(compile("\n" * text[: match.start()].count("\n") + match[1], str(PAGE), "exec"), names)
        if "STEPS" in names:
            return names
    raise RuntimeError(f"{PAGE} defines no STEPS")


def functions(size: int) -> dict[str, Any]:
    page = steps_of_the_page()
    built = {}
    for name, options in page["STEPS"].items():
        A, B, P, C = page["define"](size, size, size)
        s = page["schedule"](A, B, P, C, **options)
        built[name] = tw.build(s, [A, B, C], target="cuda -arch=sm_90a", name="matmul")
    return built


def medians_ms(calls: dict[str, Callable[[], Any]], flush: Any) -> dict[str, float]:
    """Of calls in turn, each time in another order: what the clock of a hot GPU does, it does to all of them."""
    import torch

    events: dict[str, list[Any]] = {name: [] for name in calls}
    for repetition in range(REPEAT + 3):
        for name in random.sample(list(calls), len(calls)):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            flush.sum()  # reads: what a kernel would have to write back first is not in the cache
            begin.record()
            calls[name]()
            end.record()
            if repetition >= 3:
                events[name].append((begin, end))
    torch.cuda.synchronize()
    return {name: statistics.median(begin.elapsed_time(end) for begin, end in timed) for name, timed in events.items()}


def measure(size: int) -> dict[str, Any]:
    import torch

    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    a, b = (torch.randn(size, size, device="cuda").bfloat16() for _ in range(2))
    flush = torch.zeros(64 << 20, dtype=torch.float32, device="cuda")
    built = functions(size)
    outputs = {name: torch.full((size, size), float("nan"), device="cuda", dtype=a.dtype) for name in built}
    calls: dict[str, Callable[[], Any]] = {
        name: (lambda function=function, c=outputs[name]: function(a, b, c)) for name, function in built.items()
    }
    for call in calls.values():
        call()
    theirs, exact = a @ b, a.double() @ b.double()
    torch_error = (theirs.double() - exact).abs().max().item()
    bound = 2 * torch_error + 1e-6 * exact.abs().max().item()
    errors = {name: (c.double() - exact).abs().max().item() for name, c in outputs.items()}
    del exact
    ms = medians_ms(calls | {"cuBLAS": lambda: a @ b}, flush)
    return {
        "command": " ".join(["python", *sys.argv]),
        "commit": commit,
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "size": size,
        "torch_error": torch_error,
        "runs": {
            name: {
                "ms": time,
                "TFLOPs": 2 * size**3 / time / 1e9,
                "of_cublas": ms["cuBLAS"] / time,
                # NaN is no number that is less.
                **({"error": errors[name], "right": errors[name] <= bound} if name in errors else {}),
            }
            for name, time in ms.items()
        },
    }


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        for name, function in functions(4096).items():
            resources = tw.backend.cubin.link(function.ptx, "sm_90a").resources
            print(name, *resources.values())
    else:
        results = measure(int(sys.argv[2]) if len(sys.argv) > 2 else 4096)
        Path(sys.argv[1]).write_text(json.dumps(results, indent=1) + "\n")
        print(json.dumps(results, indent=1))
        if not all(run.get("right", True) for run in results["runs"].values()):
            sys.exit("a result is wrong")
