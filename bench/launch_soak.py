"""Ten million launches: nothing that a call takes is kept, on this machine or on the GPU.

    python bench/launch_soak.py [--launches N] [--json FILE]
    python bench/launch_soak.py --sanitizer            # itself under compute-sanitizer, with few launches

Every road of a call takes its share: by position, by names, on a stream of its own, with outputs that the function
allocates, refused calls, `f.ffi`, and an exported library by tvm-ffi; on every GPU of the machine, from several
threads. torch's tensors are used where torch is installed, those of `tw.nd` elsewhere. Memory is looked at after every
tenth of the launches; the first tenth is let settle. With `--target sim` or `cpu` the same runs without a GPU.
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
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

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


def build(target: str) -> tw.Function:
    """B = 2 A + 1 in two kernels with a temporary, so that the workspace takes part."""
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    t = te.compute((n,), lambda i: a[i] * 2, name="T")
    b = te.compute((n,), lambda i: t[i] + 1, name="B")
    s = te.create_schedule(b.op)
    if target != "cpu":
        for stage in (t, b):
            outer, inner = s[stage].split(stage.op.axis[0], 128)
            s[stage].bind(outer, te.thread_axis("blockIdx.x"))
            s[stage].bind(inner, te.thread_axis("threadIdx.x"))
    return tw.build(s, [a, b], target, name="scaled")


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


def roads(function: tw.Function, exported: Any, arrays: Arrays) -> Iterator[tuple[int, Callable[[], object]]]:
    """The ways of a call, and how many of a hundred launches go each way."""
    a, b, wrong, stream = arrays.a, arrays.b, arrays.wrong, arrays.stream

    def refused() -> None:
        try:
            function(a, wrong)
        except ValueError:
            return
        raise AssertionError("a call with a wrong shape went through")

    yield 70, lambda: function(a, b)
    yield 8, lambda: function(B=b, A=a)
    if stream is not None:
        yield 8, lambda: function(a, b, stream=stream)
    if not isinstance(a, tw.runtime.NDArray):
        yield 6, lambda: function.ffi(a, b)
        if exported is not None:
            yield 6, lambda: exported.scaled(a, b)
    yield 1, lambda: function(a)
    yield 1, refused


def resident() -> int:
    """Bytes of this process's own memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def on_gpus(devices: list[tw.runtime.Device]) -> list[int]:
    """Bytes that each GPU has free."""
    from tilewright.runtime import driver

    free = []
    for device in devices:
        if device.is_cuda:
            synchronize(device)
            with device.active():
                free.append(int(driver.call("cuMemGetInfo")[0]))
    return free


def work(function: tw.Function, exported: Any, arrays: Arrays, launches: int, failures: list[BaseException]) -> None:
    try:
        ways = list(roads(function, exported, arrays))
        for turn in range(max(1, launches // 100)):
            for share, call in ways:
                for _ in range(share):
                    call()
            if turn % 64 == 0 and arrays.device.is_cuda:
                synchronize(arrays.device)
    except BaseException as error:  # noqa: BLE001 - told by the main thread
        failures.append(error)


def soak(target: str, launches: int) -> dict[str, Any]:
    count = 1
    if target == "cuda":
        while cuda(count).exist:
            count += 1
    devices = [cuda(i) for i in range(count)] if target == "cuda" else [cpu()]
    function = build(target)
    exported = None
    with tempfile.TemporaryDirectory() as folder:
        if target != "sim" and shutil.which("cc"):
            function.export_library(f"{folder}/scaled.so")
            exported = tvm_ffi.load_module(f"{folder}/scaled.so")
    seats = [Arrays(devices[i % len(devices)]) for i in range(max(THREADS, len(devices)))]
    samples: list[tuple[int, list[int]]] = []
    begin = time.perf_counter()
    for _ in range(10):
        failures: list[BaseException] = []
        share = launches // 10 // len(seats)
        threads = [threading.Thread(target=work, args=(function, exported, seat, share, failures)) for seat in seats]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        gc.collect()
        samples.append((resident(), on_gpus(devices)))
        print(f"  {samples[-1][0] / 2**20:.1f} MiB here, free on the GPUs: {samples[-1][1]}", flush=True)
    seconds = time.perf_counter() - begin
    for seat in seats:
        assert (seat.result() == 3).all(), "a wrong result"
    grown = samples[-1][0] - samples[0][0]
    assert grown < SLACK, f"{grown} bytes of this process's memory went"
    lost = [before - after for before, after in zip(samples[0][1], samples[-1][1])]
    assert max(lost, default=0) < GPU_SLACK, f"{lost} bytes of the GPUs' memory went"
    return {
        "target": target, "launches": launches, "devices": len(devices), "threads": len(seats),
        "seconds": round(seconds, 1), "grown_bytes": grown, "lost_on_gpus": lost, "torch": "torch" in sys.modules,
    }  # fmt: skip


def sanitize(tool: str, launches: int) -> int:
    """The same under each tool of compute-sanitizer that looks at memory."""
    for checks in ("memcheck", "racecheck", "initcheck", "synccheck"):
        command = [
            tool,
            "--tool",
            checks,
            "--error-exitcode",
            "9",
            sys.executable,
            __file__,
            "--launches",
            str(launches),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        print(f"{checks}: exit {done.returncode}: {(done.stdout.strip().splitlines() or [''])[-1]}", flush=True)
        if done.returncode:
            print(done.stdout[-4000:], done.stderr[-2000:])
            return done.returncode
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launches", type=int, default=10_000_000)
    parser.add_argument("--target", default="cuda", choices=("cuda", "sim", "cpu"))
    parser.add_argument("--sanitizer", action="store_true", help="run under compute-sanitizer, where that is found")
    parser.add_argument("--json", type=Path, help="where the figures go")
    options = parser.parse_args()
    if options.sanitizer:
        tool = shutil.which("compute-sanitizer")
        if tool is None:
            print("skipped: compute-sanitizer was not found")
            return 0
        return sanitize(tool, min(options.launches, 2000))
    if options.target == "cuda" and not cuda(0).exist:
        print("skipped: no GPU here")
        return 0
    found = soak(options.target, options.launches)
    print(json.dumps(found))
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
