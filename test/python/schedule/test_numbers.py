"""Every number that a primitive takes: too small, too large, and beyond what MLIR has. An error or a result, soon."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tilewright as tw
from tilewright import TilewrightError, te

NUMBERS = (-(2**63) - 1, -(2**63), -(2**32), -1, 0, 1, 2**15, 2**31 - 1, 2**31, 2**32, 2**40, 2**63 - 1, 2**63, 2**70)


def program(caches: bool = True) -> tuple[Any, Any, Any, Any]:
    A = te.placeholder((64, 64), name="A")
    k = te.reduce_axis((0, 64), name="k")
    C = te.compute((64, 64), lambda i, j: te.sum(A[i, k] * A[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    return s, A, C, s.cache_read(A, "shared", [C]) if caches else None


def _at(s: Any, C: Any, copy: Any) -> None:
    s[copy].compute_at(s[C], s[C].op.reduce_axis[0])


# Those that are said of a stage in shared memory.
OF_CACHES = ("storage_align", "storage_align offset", "software_pipeline", "swizzle", "copy_by", "copy_by columns")


def _blocks(s: Any, C: Any, axis: Any) -> None:
    s[C].bind(axis, te.thread_axis("blockIdx.x"))


CALLS = {
    "split": lambda s, A, C, copy, n: _blocks(s, C, s[C].split(C.op.axis[0], factor=n)[0]),
    "split nparts": lambda s, A, C, copy, n: _blocks(s, C, s[C].split(C.op.axis[0], nparts=n)[0]),
    "tile": lambda s, A, C, copy, n: _blocks(s, C, s[C].tile(*C.op.axis, n, 4)[0]),
    "tile y": lambda s, A, C, copy, n: _blocks(s, C, s[C].tile(*C.op.axis, 4, n)[1]),
    "pragma": lambda s, A, C, copy, n: s[C].pragma(C.op.axis[0], "auto_unroll_max_step", n),
    "storage_align": lambda s, A, C, copy, n: s[copy].storage_align(copy.op.axis[0], n, 0),
    "storage_align offset": lambda s, A, C, copy, n: s[copy].storage_align(copy.op.axis[0], 2**31 - 1, n),
    "software_pipeline": lambda s, A, C, copy, n: s[C].software_pipeline(s[C].op.reduce_axis[0], n),
    "launch_bounds": lambda s, A, C, copy, n: s[C].launch_bounds(n),
    "swizzle": lambda s, A, C, copy, n: s[copy].swizzle(n),
    "copy_by": lambda s, A, C, copy, n: s[copy].copy_by("tma", swizzle=n),
    "copy_by columns": lambda s, A, C, copy, n: s[copy].copy_by("tma", columns=n),
    "specialize": lambda s, A, C, copy, n: s[C].specialize(s[C].op.reduce_axis[0], n, 232),
    "specialize consumer": lambda s, A, C, copy, n: s[C].specialize(s[C].op.reduce_axis[0], 40, n),
    "specialize consumers": lambda s, A, C, copy, n: s[C].specialize(s[C].op.reduce_axis[0], 40, 232, consumers=n),
    "cluster": lambda s, A, C, copy, n: s[C].cluster(C.op.axis[0], n),
    "persistent": lambda s, A, C, copy, n: s[C].persistent(n),
    "persistent group": lambda s, A, C, copy, n: s[C].persistent(132, group=n),
    "persistent narrower": lambda s, A, C, copy, n: s[C].persistent(132, narrower=n),
    "prefetch": lambda s, A, C, copy, n: s[C].prefetch(A, s[C].op.reduce_axis[0], n),
    "env_threads": lambda s, A, C, copy, n: s[C].env_threads(te.thread_axis((0, n), "threadIdx.x")),
    "bind": lambda s, A, C, copy, n: s[C].bind(C.op.axis[0], te.thread_axis((0, n), "threadIdx.x")),
    "rfactor": lambda s, A, C, copy, n: s.rfactor(C, C.op.reduce_axis[0], n),
    "pad_einsum": lambda s, A, C, copy, n: s[C].pad_einsum([n, 1, 1]),
    "launch cluster": lambda s, A, C, copy, n: s.launch(cluster=(n, 1, 1)),
}  # fmt: skip


def outcome(name: str, number: int) -> str:
    """What becomes of a call and of the kernel: "" of one that compiles."""
    s, A, C, copy = program(name in OF_CACHES)
    try:
        if name not in ("split", "split nparts", "tile", "tile y", "bind", "rfactor", "pad_einsum"):
            s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
            s[C].bind(C.op.axis[1], te.thread_axis("threadIdx.x"))
        CALLS[name](s, A, C, copy, number)
        if copy is not None:
            _at(s, C, copy)
        tw.lower(s, [A, C], "f", stage="gpu", target=tw.Target("cuda", arch="sm_90a"))
    except (TilewrightError, ValueError, TypeError) as error:
        return str(error)
    return ""


@pytest.mark.sweep
@pytest.mark.parametrize("numbers", [(-1, 2**70), pytest.param(NUMBERS, marks=pytest.mark.sweep)])
def test_every_number_of_every_primitive(numbers: tuple[int, ...]) -> None:
    """In a process of its own, so that a call that dies or hangs is told by its name."""
    code = f"""
from schedule.test_numbers import CALLS, outcome
for name in CALLS:
    for number in {numbers}:
        print(name, number, sep="|", end="|", flush=True)
        print(repr(outcome(name, number)), flush=True)
"""
    folder = Path(__file__).parent.parent
    command = [sys.executable, "-c", code]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    except subprocess.TimeoutExpired as late:
        pytest.fail(f"hangs: {(late.stdout or b'').decode().splitlines()[-1]}")
    lines = [line.split("|", 2) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"dies: {lines[-1]} {done.stderr[-600:]}"
    assert len(lines) == len(CALLS) * len(numbers)
    for name, number, told in lines:
        if abs(int(number)) > 2**31 - 1:
            assert re.search(r"test_numbers\.py:\d+: .*expected", told), (name, number, told)


def test_the_texts() -> None:
    told = re.sub(r"^.*test_numbers.py:\d+", "HERE", outcome("split", 2**63 - 1))
    assert told == "HERE: split: expected factor of at most 2147483647, got 9223372036854775807"
    told = re.sub(r"^.*test_numbers.py:\d+", "HERE", outcome("software_pipeline", -(2**32)))
    assert told == "HERE: software_pipeline: expected stages of at least -2147483647, got -4294967296"
    told = re.sub(r"^.*test_numbers.py:\d+", "HERE", outcome("software_pipeline", 2**31 - 1))
    assert told == "HERE: software_pipeline: expected at most 1024 stages, got 2147483647"
    assert "expected at least 2 stages, got -1" in outcome("software_pipeline", -1)
