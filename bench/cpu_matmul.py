"""The blocked matmul of TVM's CPU tutorial, step by step, beside NumPy on one core.

`python bench/cpu_matmul.py OUT.json [N] [REPETITIONS]`: N x N x N in float32, the steps and NumPy by turns in random
order, each result checked against float64. `parallel` runs on all processors, everything else on one thread. The file
has of each the median and the least of the seconds, and NumPy's over them. Seconds are those that the thread has the
processor, and for `parallel` those of a clock. Run it on a machine that does nothing else. Where others run, too, the
clock says little: "least s of all threads" of `parallel` is what its threads have the processor together.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported

import numpy as np

import tilewright as tw
from tilewright import te

BN, KFACTOR = 32, 4
Step = Callable[[int], tuple[Any, list[Any]]]


def _matmul(n: int) -> tuple[Any, Any, Any]:
    A, B = (te.placeholder((n, n), name=name) for name in "AB")
    k = te.reduce_axis((0, n), "k")
    return A, B, te.compute((n, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")


def unscheduled(n: int) -> tuple[Any, list[Any]]:
    """Without a schedule: loops of target cpu's own choice."""
    A, B, C = _matmul(n)
    return te.create_schedule(C.op), [A, B, C]


def baseline(n: int) -> tuple[Any, list[Any]]:
    """The three loops as they are written."""
    A, B, C = _matmul(n)
    s = te.create_schedule(C.op)
    s[C].reorder(*C.op.axis, *C.op.reduce_axis)
    return s, [A, B, C]


def _blocked(s: Any, C: Any) -> tuple[Any, ...]:
    io, jo, ii, ji = s[C].tile(*C.op.axis, BN, BN)
    ko, ki = s[C].split(C.op.reduce_axis[0], factor=KFACTOR)
    return io, jo, ko, ki, ii, ji


def blocking(n: int) -> tuple[Any, list[Any]]:
    """Tiles of 32 x 32, four elements of k at a time."""
    A, B, C = _matmul(n)
    s = te.create_schedule(C.op)
    s[C].reorder(*_blocked(s, C))
    return s, [A, B, C]


def _permuted(s: Any, C: Any) -> None:
    io, jo, ko, ki, ii, ji = _blocked(s, C)
    s[C].reorder(io, jo, ko, ii, ki, ji)
    s[C].vectorize(ji)


def vectorization(n: int) -> tuple[Any, list[Any]]:
    """The rows of a tile are vectors."""
    A, B, C = _matmul(n)
    s = te.create_schedule(C.op)
    axes = _blocked(s, C)
    s[C].reorder(*axes)
    s[C].vectorize(axes[-1])
    return s, [A, B, C]


def permutation(n: int) -> tuple[Any, list[Any]]:
    """The rows of the tile outside of the four elements of k."""
    A, B, C = _matmul(n)
    s = te.create_schedule(C.op)
    _permuted(s, C)
    return s, [A, B, C]


def _packed(n: int) -> tuple[Any, Any, Any, Any]:
    A, B = (te.placeholder((n, n), name=name) for name in "AB")
    k = te.reduce_axis((0, n), "k")
    packed = te.compute((n // BN, n, BN), lambda bigN, k, littleN: B[k, bigN * BN + littleN], name="packedB")
    C = te.compute((n, n), lambda i, j: te.sum(A[i, k] * packed[j // BN, k, te.indexmod(j, BN)], axis=k), name="C")
    return A, B, packed, C


def _pack(s: Any, packed: Any, *, parallel: bool = False) -> None:
    bigN, _, littleN = s[packed].op.axis
    s[packed].vectorize(littleN)
    if parallel:
        s[packed].parallel(bigN)


def packing(n: int) -> tuple[Any, list[Any]]:
    """The matrix B in the order in which it is read."""
    A, B, packed, C = _packed(n)
    s = te.create_schedule(C.op)
    _permuted(s, C)
    _pack(s, packed)
    return s, [A, B, C]


def write_cache(n: int, *, parallel: bool = False) -> tuple[Any, list[Any]]:
    """The tile in memory of its own until it is done."""
    A, B, packed, C = _packed(n)
    s = te.create_schedule(C.op)
    CC = s.cache_write(C, "global")
    io, jo, _, _ = s[C].tile(*C.op.axis, BN, BN)
    s[CC].compute_at(s[C], jo)
    ic, jc = s[CC].op.axis
    ko, ki = s[CC].split(s[CC].op.reduce_axis[0], factor=KFACTOR)
    s[CC].reorder(ko, ic, ki, jc)
    s[CC].unroll(ki)
    s[CC].vectorize(jc)
    if parallel:
        s[C].parallel(io)
    _pack(s, packed, parallel=parallel)
    return s, [A, B, C]


def parallel(n: int) -> tuple[Any, list[Any]]:
    """Rows of tiles on all processors."""
    return write_cache(n, parallel=True)


def tuned(n: int, rows: int = 8) -> tuple[Any, list[Any]]:
    """Tiles of 8 x 32 that stay in registers over all of k, the panel of B in the cache of level 2."""
    A, B, packed, C = _packed(n)
    s = te.create_schedule(C.op)
    CC = s.cache_write(C, "local")
    io, jo, ii, ji = s[C].tile(*C.op.axis, rows, BN)
    s[C].reorder(jo, io, ii, ji)
    s[C].vectorize(ji)
    s[C].unroll(ii)
    s[CC].compute_at(s[C], io)
    ic, jc = s[CC].op.axis
    s[CC].reorder(s[CC].op.reduce_axis[0], ic, jc)
    s[CC].unroll(ic)
    s[CC].vectorize(jc)
    _pack(s, packed)
    return s, [A, B, C]


STEPS: dict[str, Step] = {
    "unscheduled": unscheduled,
    "baseline": baseline,
    "blocking": blocking,
    "vectorization": vectorization,
    "permutation": permutation,
    "packing": packing,
    "write cache": write_cache,
    "tuned": tuned,
    "parallel": parallel,
}


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "unknown"


def main() -> None:
    out = Path(sys.argv[1])
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 1024
    repetitions = int(sys.argv[3]) if len(sys.argv) > 3 else 15
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal((n, n), dtype="float32") for _ in range(3))
    exact = a.astype("float64") @ b.astype("float64")
    calls: dict[str, Callable[[], object]] = {"numpy": lambda: np.matmul(a, b, out=c)}
    for name, step in STEPS.items():
        function = tw.build(*step(n), target="cpu", name="matmul")
        threads = None if name == "parallel" else 1

        def call(function: Any = function, threads: int | None = threads) -> None:
            tw.set_num_threads(threads)
            function(a, b, c)

        calls[name] = call
    errors, seconds = {}, {name: [] for name in calls}
    of_all_threads: list[float] = []
    for name, call in calls.items():
        c[:] = np.nan
        call()
        errors[name] = float(np.abs(c - exact).max())
        assert errors[name] < 1e-3, (name, errors[name])
    slow = {"baseline", "blocking"}
    for repetition in range(repetitions):
        for name in random.sample(list(calls), len(calls)):
            if name in slow and repetition >= 3:
                continue
            now = time.perf_counter if name == "parallel" else time.thread_time
            begin, begin_of_all = now(), time.process_time()
            calls[name]()
            seconds[name].append(now() - begin)
            if name == "parallel":
                of_all_threads.append(time.process_time() - begin_of_all)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    leasts = {name: min(times) for name, times in seconds.items()}
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    found = {
        "command": f"OPENBLAS_NUM_THREADS=1 python bench/cpu_matmul.py {out.name} {n} {repetitions}",
        "commit": commit,
        "processor": _processor(),
        "processors": len(os.sched_getaffinity(0)),
        "load": os.getloadavg(),
        "numpy": np.__version__,
        "n": n,
        "steps": {
            name: {
                "what": (STEPS[name].__doc__ or "").strip()
                if name in STEPS
                else "numpy.matmul, OpenBLAS on one thread",
                "median s": round(medians[name], 6),
                "least s": round(leasts[name], 6),
                "GFLOP/s": round(2 * n**3 / medians[name] / 1e9, 1),
                # Seconds of a clock, where others run too, say nothing beside those of a thread.
                "of numpy (medians)": None if name == "parallel" else round(medians["numpy"] / medians[name], 3),
                "of numpy (least)": None if name == "parallel" else round(leasts["numpy"] / leasts[name], 3),
                "repetitions": len(seconds[name]),
                "largest error": errors[name],
            }
            for name in calls
        },
    }
    found["steps"]["parallel"]["least s of all threads"] = round(min(of_all_threads), 6)
    out.write_text(json.dumps(found, indent=1) + "\n")
    for name, step in found["steps"].items():
        print(
            f"{name:14} {step['median s'] * 1e3:9.2f} ms  {step['least s'] * 1e3:9.2f} ms least",
            step["of numpy (medians)"],
        )


if __name__ == "__main__":
    main()
