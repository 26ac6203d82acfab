"""A library of kernels: `add` for several dtypes and classes of shapes, and `softmax`, with a C header.

Run it: python build.py [cpu|cuda|managed] kernels.so
With `managed` the functions run on a GPU and take this machine's arrays (NumPy, C++), which they copy there and back.
The other files here use the library, and need nothing of Tilewright: NumPy, torch, JAX, CuPy, C++, Rust.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Literal

import tilewright as tw
from tilewright import schedules, te


def add(name: str, dtype: str, target: str, *, lanes: int = 1) -> tw.Function:
    """C[i] = A[i] + B[i]; with `lanes`, of lengths that are multiples of them, that many elements a thread."""
    target, host = _where(target)
    n = te.var("n", divisible_by=lanes)
    A, B = (te.placeholder((n,), dtype, name=each) for each in "AB")
    C = te.compute((n,), lambda i: A[i] + B[i], name="C")
    s = te.create_schedule(C.op)
    if target != "cpu":
        thread, lane = s[C].split(C.op.axis[0], factor=lanes)
        block, thread = s[C].split(thread, factor=256)
        s[C].bind(block, te.thread_axis("blockIdx.x"))
        s[C].bind(thread, te.thread_axis("threadIdx.x"))
        s[C].vectorize(lane)
    return tw.build(s, [A, B, C], target, name, host=host)


def _where(target: str) -> tuple[str, Literal["managed"] | None]:
    return ("cuda", "managed") if target == "managed" else (target, None)


def library(path: str, target: str, architectures: Sequence[str] = ()) -> None:
    """Writes the library and its header; for GPUs with kernels for these architectures beside the target's own."""
    # A call goes to the first that takes its dtypes and lengths.
    any_add = tw.dispatch(
        [
            add("add_float32x4", "float32", target, lanes=4),
            add("add_float32", "float32", target),
            add("add_float16x8", "float16", target, lanes=8),
            add("add_float16", "float16", target),
            add("add_int32", "int32", target),
        ],
        name="add",
    )
    on, host = _where(target)
    softmax = tw.build(*schedules.softmax(64, 1000), on, "softmax", host=host)
    tw.export_library([any_add, softmax], path, header=True, architectures=architectures)


if __name__ == "__main__":
    target, path = sys.argv[1:] if len(sys.argv) == 3 else ("cpu", "kernels.so")
    library(path, target, () if target == "cpu" else ["sm_80", "sm_90a"])
    print(f"{path}: add, softmax for {target}")
