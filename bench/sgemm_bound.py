"""What bounds schedules.sgemm: the same kernel with parts of it taken out, timed.

`python bench/sgemm_bound.py OUT.json [size]`. The PTX of the kernel loses its barrier, its stores to shared memory (and
with them the loads from global memory), or all loads of fragments but the first step's. What it computes is wrong then;
what it takes less is what the part costs beside the rest. `python bench/sgemm_bound.py --check` assembles all variants,
without a GPU, and says what is left in each.
"""

from __future__ import annotations

import collections
import ctypes
import json
import re
import statistics
import sys
from pathlib import Path
from typing import Any

import tilewright as tw
from tilewright import schedules
from tilewright.backend.cubin import link

ARCH = "sm_90a"
FRAGMENTS = 8 + 8  # elements of A and B that a thread multiplies with each other in a step
VARIANTS = [
    (),
    ("barrier",),
    ("stores",),
    ("barrier", "stores"),
    ("fragments",),
    ("fragments", "stores"),
    ("fragments", "barrier", "stores"),
]


def without(ptx: str, parts: tuple[str, ...]) -> str:
    """The kernel without these parts of its loop along k."""
    lines = ptx.split("\n")
    barrier = max(n for n, line in enumerate(lines) if "bar.sync" in line)
    begin = max(n for n, line in enumerate(lines) if re.match(r"\$L__BB0_1:", line) and n < barrier)
    kept = [
        line
        for n, line in enumerate(lines)
        if not ("barrier" in parts and n == barrier) and not ("stores" in parts and n >= begin and "st.shared" in line)
    ]
    if "fragments" not in parts:
        return "\n".join(kept)
    loaded: list[list[tuple[int, str]]] = [[]]
    for n, line in enumerate(kept):
        if "ld.shared" in line:
            if len(loaded[-1]) == FRAGMENTS:
                loaded.append([])
            loaded[-1] += [(n, register) for register in re.findall(r"%r\d+", line.split("[")[0])]
    first, *rest = loaded
    instead = {register: first[i][1] for step in rest for i, (_, register) in enumerate(step)}
    dropped = {n for step in rest for n, _ in step}
    return "\n".join(
        re.sub(r"%r\d+\b", lambda found: instead.get(found[0], found[0]), line)
        for n, line in enumerate(kept)
        if n not in dropped
    )


def check(ptx: str) -> None:
    """The instructions of each variant."""
    import subprocess
    import tempfile

    for parts in VARIANTS:
        image = link(without(ptx, parts), ARCH)
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(image.image)
            file.flush()
            text = subprocess.run(["nvdisasm", "-c", file.name], capture_output=True, text=True, check=True).stdout
        counts = collections.Counter(re.findall(r"\b(FFMA|LDS|STS|LDG|BAR)\b", text))
        print("without", ", ".join(parts) or "nothing", dict(counts))


def measure(ptx: str, size: int, shared: int) -> dict[str, Any]:
    import torch
    from cuda.bindings import driver

    a, b, c = (torch.randn(size, size, device="cuda") for _ in range(3))
    stream = torch.cuda.current_stream().cuda_stream
    arguments = (a.data_ptr(), b.data_ptr(), c.data_ptr()), (ctypes.c_void_p,) * 3
    results: dict[str, Any] = {"device": torch.cuda.get_device_name(), "size": size}
    for parts in VARIANTS:
        _, module = driver.cuModuleLoadData(link(without(ptx, parts), ARCH).image)
        _, function = driver.cuModuleGetFunction(module, b"sgemm_kernel0")
        times = []
        for _ in range(12):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            (error,) = driver.cuLaunchKernel(
                function, size // 128, size // 128, 1, 16, 16, 1, shared, stream, arguments, 0
            )
            end.record()
            end.synchronize()
            if int(error):
                raise RuntimeError(f"cuLaunchKernel: {error}")
            times.append(begin.elapsed_time(end))
        ms = statistics.median(times)
        results["without " + (", ".join(parts) or "nothing")] = {"ms": ms, "TFLOPs": 2 * size**3 / ms / 1e9}
    return results


if __name__ == "__main__":
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 4096
    func = tw.build(*schedules.sgemm(size, size, size), target=f"cuda -arch={ARCH}", name="sgemm")
    if sys.argv[1] == "--check":
        check(func.ptx)
    else:
        # Two places each of 8 rows of A, padded, and of B: less than what needs no attribute of the function.
        results = measure(func.ptx, size, shared=2 * 8 * (132 + 128) * 4)
        Path(sys.argv[1]).write_text(json.dumps(results, indent=1) + "\n")
        print(json.dumps(results, indent=1))
