"""Ten million launches: nothing that a call takes is kept, on this machine or on the GPU.

    python bench/launch_soak.py [--launches N] [--json FILE]
    python bench/launch_soak.py --sanitizer [--json FILE]     # itself under compute-sanitizer, with few launches

Every road of a call takes its share: by position, by names, on a stream of its own, with outputs that the function
allocates, of two kernels with a temporary, of this machine's arrays, refused calls, `f.ffi`, and an exported library by
tvm-ffi; on every GPU of the machine. Of each tenth of the launches seven parts come from one thread and three from
four threads at once, which wait for each other in the driver. torch's tensors are used where torch is installed, those
of `tw.nd` elsewhere. Memory is looked at after every tenth; the first is let settle. With `--target sim` or `cpu` the
same runs without a GPU.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tvm_ffi

import tilewright as tw
from tilewright import te
from tilewright.runtime import Stream, cpu, cuda, synchronize

THREADS = 4
N = 1000
# What memory may move by: the habits of allocators, and on a GPU a pool that follows how far the queue is ahead. A
# leak of one byte in five launches shows here, of seven bytes a launch there.
SLACK, GPU_SLACK = 2 << 20, 64 << 20


def build(target: str, *, managed: bool = False) -> tw.Function:
    """B = 2 A + 1 in one kernel."""
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] * 2 + 1, name="B")
    s = te.create_schedule(b.op)
    bind(s[b], target)
    return tw.build(s, [a, b], target, name="scaled", host="managed" if managed else None)


def build_in_two(target: str, name: str = "scaled_in_two") -> tw.Function:
    """The same in two kernels with a temporary, so that the workspace takes part."""
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    t = te.compute((n,), lambda i: a[i] * 2, name="T")
    b = te.compute((n,), lambda i: t[i] + 1, name="B")
    s = te.create_schedule(b.op)
    for stage in (t, b):
        bind(s[stage], target)
    return tw.build(s, [a, b], target, name=name)


def bind(stage: Any, target: str) -> None:
    if target != "cpu":
        outer, inner = stage.split(stage.op.axis[0], 128)
        stage.bind(outer, te.thread_axis("blockIdx.x"))
        stage.bind(inner, te.thread_axis("threadIdx.x"))


class Functions(NamedTuple):
    scaled: tw.Function
    in_two: tw.Function
    managed: tw.Function
    exported: Any


class Arrays:
    """An input and an output on one device."""

    def __init__(self, device: tw.runtime.Device) -> None:
        self.device, self.stream = device, None
        if not device.is_cuda:
            self.a, self.b = np.ones(N, "float32"), np.zeros(N, "float32")
            self.wrong: Any = np.zeros(N - 1, "float32")
            return
        self.stream = Stream(device)
        if importlib.util.find_spec("torch") is not None:
            import torch

            where = f"cuda:{device.index}"
            self.a, self.b = torch.ones(N, device=where), torch.zeros(N, device=where)
            self.wrong = torch.zeros(N - 1, device=where)
        else:
            self.a, self.b = tw.nd.array(np.ones(N, "float32"), device), tw.nd.zeros(N, "float32", device)
            self.wrong = tw.nd.zeros(N - 1, "float32", device)

    def result(self) -> np.ndarray:
        """The output, once all is done."""
        if self.device.is_cuda:
            synchronize(self.device)
        return np.asarray(
            self.b.cpu() if hasattr(self.b, "cpu") else self.b if type(self.b) is np.ndarray else self.b.numpy()
        )


def roads(functions: Functions, arrays: Arrays) -> Iterator[tuple[int, int, Callable[[], object]]]:
    """The ways of a call: the calls of a turn that go each way, and the launches of one."""
    a, b, wrong, stream = arrays.a, arrays.b, arrays.wrong, arrays.stream
    scaled, in_two, managed = functions.scaled, functions.in_two, functions.managed
    here = np.ones(N, "float32"), np.zeros(N, "float32")

    def refused() -> None:
        try:
            scaled(a, wrong)
        except ValueError:
            return
        raise AssertionError("a call with a wrong shape went through")

    yield 800, 1, lambda: scaled(a, b)
    yield 50, 1, lambda: scaled(B=b, A=a)
    if stream is not None:
        yield 30, 1, lambda: scaled(a, b, stream=stream)
    if not isinstance(a, tw.runtime.NDArray):
        yield 40, 1, lambda: scaled.ffi(a, b)
        if functions.exported is not None:
            yield 40, 1, lambda: functions.exported.scaled(a, b)
    yield 10, 1, lambda: scaled(a)
    yield 10, 2, lambda: in_two(a, b)
    yield 1, 1, lambda: managed(*here)
    yield 4, 0, refused


def resident() -> int:
    """Bytes of this process's own memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def on_gpus(devices: list[tw.runtime.Device]) -> list[int]:
    """Bytes that each GPU has free."""
    from tilewright.runtime import cuda_driver

    free = []
    for device in devices:
        if device.is_cuda:
            synchronize(device)
            with device.active():
                free.append(int(cuda_driver.call("cuMemGetInfo")[0]))
    return free


def work(functions: Functions, arrays: Arrays, launches: int) -> int:
    """Makes at least that many launches, and returns how many."""
    ways, count, turn = list(roads(functions, arrays)), 0, 0
    while count < launches:
        for share, each, call in ways:
            # Short of a whole turn every road has its part all the same.
            times = min(share, max(1, share * launches // 1000))
            for _ in range(times):
                call()
            count += times * each
        turn += 1
        if turn % 8 == 0 and arrays.device.is_cuda:
            synchronize(arrays.device)
    return count


def tenth(functions: Functions, seats: list[Arrays], launches: int) -> int:
    """One thread, then all of them. Returns how many launches were made."""
    devices = len({seat.device.index for seat in seats})
    made = [work(functions, seat, launches * 7 // 10 // devices) for seat in seats[:devices]]  # one on each
    with ThreadPoolExecutor(len(seats)) as pool:
        made += pool.map(lambda seat: work(functions, seat, launches * 3 // 10 // len(seats)), seats)
    return sum(made)


def soak(target: str, launches: int, slack: int = SLACK) -> dict[str, Any]:
    count = 1
    if target == "cuda":
        while cuda(count).exist:
            count += 1
    devices = [cuda(i) for i in range(count)] if target == "cuda" else [cpu()]
    scaled = build(target)
    exported = None
    with tempfile.TemporaryDirectory() as folder:
        if target != "sim" and shutil.which("cc"):
            scaled.export_library(f"{folder}/scaled.so")
            exported = tvm_ffi.load_module(f"{folder}/scaled.so")
    functions = Functions(scaled, build_in_two(target), build(target, managed=True), exported)
    seats = [Arrays(devices[i % len(devices)]) for i in range(max(THREADS, len(devices)))]
    samples: list[dict[str, Any]] = []
    begin, made = time.perf_counter(), 0
    for _ in range(10):
        made += tenth(functions, seats, launches // 10)
        gc.collect()
        samples.append(
            {
                "launches": made,
                "seconds": round(time.perf_counter() - begin, 1),
                "resident_bytes": resident(),
                "free_on_gpus": on_gpus(devices),
            }
        )
        print(f"  {json.dumps(samples[-1])}", flush=True)
    for seat in seats:
        assert (seat.result() == 3).all(), "a wrong result"
    first, last = samples[0], samples[-1]
    grown = last["resident_bytes"] - first["resident_bytes"]
    assert grown < slack, f"{grown} bytes of this process's memory went"
    lost = [before - after for before, after in zip(first["free_on_gpus"], last["free_on_gpus"])]
    assert max(lost, default=0) < GPU_SLACK, f"{lost} bytes of the GPUs' memory went"
    return {
        "target": target, "launches": made, "devices": len(devices), "threads": len(seats),
        "seconds": last["seconds"], "grown_bytes": grown, "lost_on_gpus": lost, "torch": "torch" in sys.modules,
        "samples": samples,
    }  # fmt: skip


# Where the CUDA toolkit has it, beside the PATH.
SANITIZERS = ("/usr/local/cuda/bin/compute-sanitizer", "/usr/local/cuda/compute-sanitizer/compute-sanitizer")


def sanitize(launches: int) -> dict[str, Any]:
    """The same under each tool of compute-sanitizer: of each its exit status and last line; or why there is none."""
    tool = shutil.which("compute-sanitizer") or next((each for each in SANITIZERS if shutil.which(each)), None)
    if tool is None:
        return {"missing": f"compute-sanitizer is neither on the PATH nor {' nor '.join(SANITIZERS)}"}
    found: dict[str, Any] = {"tool": tool}
    for checks in ("memcheck", "racecheck", "initcheck", "synccheck"):
        # What the tool keeps of each launch is in the process too.
        script = [sys.executable, __file__, "--launches", str(launches), "--slack", str(1 << 40)]
        # Errors of the driver come of questions: which version of a function there is, which context is current.
        asked = ["--report-api-errors", "no"] if checks == "memcheck" else []
        command = [tool, "--tool", checks, *asked, "--error-exitcode", "9", *script]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = done.stdout.strip().splitlines() or [""]
        hits = ("========= Program hit", "========= Invalid")
        errors = Counter(line.strip("= ") for line in lines if line.startswith(hits))
        found[checks] = {"exit": done.returncode, "said": lines[-1], "errors": dict(errors)}
        print(f"{checks}: exit {done.returncode}: {lines[-1]}", flush=True)
        if done.returncode:
            if "Device not supported" in done.stdout:
                found["missing"] = f"{tool} does not support the GPU of this machine"
                return found
            print(done.stdout[-4000:], done.stderr[-2000:])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launches", type=int, default=10_000_000)
    parser.add_argument("--target", default="cuda", choices=("cuda", "sim", "cpu"))
    parser.add_argument("--sanitizer", action="store_true", help="run under compute-sanitizer, where that is found")
    parser.add_argument("--slack", type=int, default=SLACK, help="bytes that the process may grow by")
    parser.add_argument("--json", type=Path, help="where the figures go")
    options = parser.parse_args()
    if options.target == "cuda" and not cuda(0).exist:
        print("skipped: no GPU here")
        return 0
    if options.sanitizer:
        found = sanitize(min(options.launches, 2000))
    else:
        found = soak(options.target, options.launches, options.slack)
    print(json.dumps({name: value for name, value in found.items() if name != "samples"}))
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))
    failed = [value for value in found.values() if isinstance(value, dict) and value.get("exit")]
    return 1 if failed and "missing" not in found else 0


if __name__ == "__main__":
    sys.exit(main())
