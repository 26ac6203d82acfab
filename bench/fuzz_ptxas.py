"""Random PTX at -O0 and at -O3 on a GPU: finds what ptxas compiles wrongly, before a user's program does.

    timeout 300 python bench/fuzz_ptxas.py OUT.json [--first 0] [--count 10000] [--processes 16] [--budget 60]
    python bench/fuzz_ptxas.py print SEED            the PTX of a seed, on any machine

A seed makes one kernel of the instructions that `emit-ptx` leaves to ptxas. Each thread loads numbers, and computes
others of them, some in a loop that ptxas unrolls or under a branch, and stores all that it has. No instruction has an
undefined result, so both levels must store the same bits; any NaN equals any other. A kernel whose results differ is
made smaller while they do: fewer results, then loads in place of computations. docs/rationale/indices.md has the
causes that were found. The exit status is 1 if some kernel is wrong.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import multiprocessing
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from random_ptx import ARCH, BYTES, THREADS, Kernel, Step, make, numbers


class Device:
    """The first GPU, by the driver."""

    def __init__(self) -> None:
        from cuda.bindings import driver

        self._driver = driver
        self._of(driver.cuInit(0))
        self._of(driver.cuCtxSetCurrent(self._of(driver.cuDevicePrimaryCtxRetain(self._of(driver.cuDeviceGet(0))))))
        self._memory = [self._of(driver.cuMemAlloc(1 << 20)) for _ in range(2)]

    def _of(self, result: tuple[Any, ...]) -> Any:
        if int(result[0]) != 0:
            raise RuntimeError(str(result[0]))
        return result[1] if len(result) == 2 else None

    def run(self, image: bytes, given: np.ndarray, size: int) -> np.ndarray:
        d = self._driver
        module = self._of(d.cuModuleLoadData(image))
        try:
            self._of(d.cuMemcpyHtoD(self._memory[1], given.ctypes.data, given.nbytes))
            self._of(d.cuMemsetD8(self._memory[0], 0, max(size, 1)))
            values = [ctypes.c_uint64(int(each)) for each in self._memory]
            params = (ctypes.c_void_p * 2)(*map(ctypes.addressof, values))
            function = self._of(d.cuModuleGetFunction(module, b"fuzzed"))
            self._of(d.cuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, 0, ctypes.addressof(params), 0))
            got = np.zeros(size, "uint8")
            self._of(d.cuMemcpyDtoH(got.ctypes.data, self._memory[0], size))
            return got
        finally:
            self._of(d.cuModuleUnload(module))


def same(kernel: Kernel, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which of the stored numbers are the same in all threads."""
    a, b = (each.reshape(THREADS, len(kernel.stored), 8) for each in (a, b))
    equal = (a == b).all(axis=(0, 2))
    for i, register in enumerate(kernel.stored):
        if not equal[i] and register[1] in "hwf":
            x, y = (np.ascontiguousarray(each[:, i, : BYTES[register[1]]]) for each in (a, b))
            kind = "uint32" if register[1] == "f" else "uint16"
            bits = [each.view(kind) for each in (x, y)]
            if register[1] == "f":
                x, y = x.view("float32"), y.view("float32")
            elif kernel.half == "f16":
                x, y = x.view("float16"), y.view("float16")
            else:
                x, y = ((each.astype("uint32") << 16).view("float32") for each in bits)
            equal[i] = bool(((bits[0] == bits[1]) | (np.isnan(x) & np.isnan(y))).all())
    return equal


def differing(device: Device, kernel: Kernel, seed: int) -> list[str]:
    """The registers that -O0 and -O3 store differently."""
    from tilewright.backend.cubin import LinkOptions, link

    if not kernel.stored:
        return []
    ptx, given = kernel.ptx(), numbers(kernel, seed)
    size = THREADS * len(kernel.stored) * 8
    both = [device.run(link(ptx, ARCH, LinkOptions(opt_level=level)).image, given, size) for level in (0, 3)]
    return [register for register, equal in zip(kernel.stored, same(kernel, *both)) if not equal]


def smaller(device: Device, kernel: Kernel, seed: int) -> Kernel:
    """A kernel of few instructions that is still wrong."""

    def is_wrong(candidate: Kernel) -> bool:
        return bool(differing(device, candidate, seed))

    def attempt(candidate: Kernel) -> bool:
        nonlocal kernel
        candidate = candidate.without_unused()
        if candidate != kernel and is_wrong(candidate):
            kernel = candidate
            return True
        return False

    for register in differing(device, kernel, seed):
        if attempt(replace(kernel, stored=(register,))):
            break
    for stored in list(kernel.stored):
        if len(kernel.stored) > 1:
            attempt(replace(kernel, stored=tuple(each for each in kernel.stored if each != stored)))
    for step in kernel.inside:
        if not step.result:
            attempt(replace(kernel, inside=tuple(each for each in kernel.inside if each != step)))
    again = True
    while again:
        again = False
        for part in ("after", "inside", "before"):
            for step in list(getattr(kernel, part)):
                steps = getattr(kernel, part)
                if step.text and step in steps:
                    loaded = tuple(Step("", each.result) if each == step else each for each in steps)
                    again |= attempt(replace(kernel, **{part: loaded}))
    return kernel


def work(seeds: multiprocessing.Queue[int | None], found: multiprocessing.Queue[tuple[int, dict[str, Any]]]) -> None:
    device = Device()
    while (seed := seeds.get()) is not None:
        kernel = make(seed).without_unused()
        try:
            if not differing(device, kernel, seed):
                found.put((seed, {"result": "right"}))
                continue
            small = smaller(device, kernel, seed)
            found.put((seed, {"result": "wrong", "ptx": small.ptx(), "given": numbers(small, seed).tobytes().hex()}))
        except Exception as error:
            found.put((seed, {"result": "failed", "error": f"{type(error).__name__}: {error}"[:500]}))


def main() -> int:
    if sys.argv[1:2] == ["print"]:
        print(make(int(sys.argv[2])).without_unused().ptx())
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--budget", type=float, default=60, help="seconds")
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    seeds, found = context.Queue(2 * options.processes), context.Queue()
    workers = [context.Process(target=work, args=(seeds, found), daemon=True) for _ in range(options.processes)]
    for worker in workers:
        worker.start()
    begin, counts, wrong, asked = time.monotonic(), Counter[str](), dict[int, Any](), 0
    told = begin
    while sum(counts.values()) < options.count and time.monotonic() - begin < options.budget:
        while asked < options.count and not seeds.full():
            seeds.put(options.first + asked)
            asked += 1
        try:
            seed, answer = found.get(timeout=1)
        except Exception:
            if not any(worker.is_alive() for worker in workers):
                break
            continue
        counts[answer["result"]] += 1
        if answer["result"] != "right":
            wrong[seed] = answer
        if time.monotonic() - told > 10:
            told = time.monotonic()
            print(f"{told - begin:.0f} s: {dict(counts)}", flush=True)
    for worker in workers:
        worker.kill()
    from cuda.bindings import nvjitlink  # pyright: ignore[reportAttributeAccessIssue]

    result = {
        "command": "python " + " ".join(sys.argv), "nvjitlink": list(nvjitlink.version()), "first": options.first,
        "counts": dict(counts), "seconds": round(time.monotonic() - begin, 1), "went wrong": wrong,
    }  # fmt: skip
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    print(dict(counts), f"{result['seconds']} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
