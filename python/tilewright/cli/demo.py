"""`tilewright demo`: a scheduled GEMM from Python to a checked result, every stage on the way shown."""

from __future__ import annotations

import argparse
import inspect
import textwrap
from typing import TYPE_CHECKING, Any

from ..errors import TilewrightError
from .numbers import natural

if TYPE_CHECKING:
    from ..te import Schedule, Tensor

__all__ = ["add", "mmult"]

SIZE = 128
# Where each stage's excerpt begins: the line that says most about it.
EXCERPTS = {
    "te": ("A tensor expression: what is computed, and nothing of how", "te.compute"),
    "schedule": ("The schedule beside it: how", "schedule.of"),
    "linalg": ("Structured ops on tensors", "linalg.generic"),
    "loops": ("The scheduled loops, on buffers in the memories of a GPU", "scf.for"),
    "gpu": ("Kernels, their launches, shared memory planned, barriers where data needs them", "gpu.func"),
    "nvvm": ("The kernel for LLVM", "llvm.func"),
    "host": ("The host function: it computes the launch configuration and launches", "llvm.func"),
}


def mmult(size: int) -> tuple[Schedule, list[Tensor]]:
    """C = A B: a block computes 32 x 32 elements, a thread 2 x 2. All threads of a block load the tiles of A and B."""
    import tilewright.te as te

    A = te.placeholder((size, size), name="A")
    B = te.placeholder((size, size), name="B")
    k = te.reduce_axis((0, size), name="k")
    C = te.compute((size, size), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")

    s = te.create_schedule(C.op)
    A_shared = s.cache_read(A, "shared", [C])
    B_shared = s.cache_read(B, "shared", [C])
    C_local = s.cache_write(C, "local")
    thread_y, thread_x = te.thread_axis("threadIdx.y"), te.thread_axis("threadIdx.x")

    i, j = s[C].op.axis
    io, jo, ii, ji = s[C].tile(i, j, 32, 32)
    iy, jx, _, _ = s[C].tile(ii, ji, 2, 2)
    s[C].bind(io, te.thread_axis("blockIdx.y"))
    s[C].bind(jo, te.thread_axis("blockIdx.x"))
    s[C].bind(iy, thread_y)
    s[C].bind(jx, thread_x)

    s[C_local].compute_at(s[C], jx)
    ko, ki = s[C_local].split(s[C_local].op.reduce_axis[0], factor=16)
    s[C_local].reorder(ko, ki, *s[C_local].op.axis)
    for shared in (A_shared, B_shared):
        s[shared].compute_at(s[C_local], ko)
        fused = s[shared].fuse(*s[shared].op.axis)
        fused, tx = s[shared].split(fused, factor=16)
        _, ty = s[shared].split(fused, factor=16)
        s[shared].bind(ty, thread_y)
        s[shared].bind(tx, thread_x)
    return s, [A, B, C]


def _title(text: str, what: str) -> None:
    print(f"\n\033[1m{text}\033[0m  {what}" if _colour() else f"\n== {text} ==  {what}")


def _colour() -> bool:
    import sys

    return sys.stdout.isatty()


def _excerpt(text: str, mark: str, lines: int, width: int = 118) -> None:
    """Prints a few lines from the first that holds `mark`."""
    every = text.splitlines()
    first = next((number for number, line in enumerate(every) if mark in line), 0)
    shown = textwrap.dedent("\n".join(line.replace("\t", "    ") for line in every[first : first + lines])).splitlines()
    for line in shown:
        print("  " + (line if len(line) <= width else line[: width - 1] + "…"))
    rest = len(every) - len(shown)
    if rest > 0:
        print(f"  … {rest} more lines")


def _target(wanted: str | None) -> Any:
    """The target to run on: the one asked for, else the GPU if there is one, else the simulator."""
    from .. import nd
    from ..target import Target

    if wanted is not None:
        try:
            return Target(wanted)
        except ValueError as error:
            raise TilewrightError(f"--target: {error}") from None
    return Target("cuda" if nd.cuda(0).exist else "sim")


def _run(options: argparse.Namespace) -> int:
    import numpy as np

    import tilewright as tw
    from tilewright import testing

    target = _target(options.target)
    where = {"cuda": "on the GPU", "sim": "on the GPU simulator", "cpu": "on the processor"}[target.kind]
    if options.target is None and target.kind == "sim":
        where += ", for there is no GPU here"
    print(f"C = A B, {SIZE} x {SIZE} in float32, {where}")

    _title("Python", "the program, as a user writes it")
    _excerpt(inspect.getsource(mmult), "A = te.placeholder", 1000)

    s, args = mmult(SIZE)
    func = tw.build(s, args, target=target, name="mmult")
    for stage in func.stages:
        what, mark = EXCERPTS[stage]
        _title(stage, what)
        _excerpt(func.ir(stage), mark, options.lines)
    # Without a GPU the simulator runs the gpu stage; what a GPU would run is compiled all the same.
    device = (
        func if target.kind == "cuda" else tw.build(s, args, target=tw.Target("cuda", arch=target.arch), name="mmult")
    )
    if target.kind == "sim":
        _title("nvvm", EXCERPTS["nvvm"][0])
        _excerpt(device.ir("nvvm"), "llvm.func", options.lines)
    if target.kind != "cpu":
        _title("PTX", "by LLVM")
        _excerpt(device.ptx, ".entry", options.lines)
        _title("cubin", "by nvJitLink, in process")
        print(f"  {len(device.cubin)} bytes for {device.target.arch}")

        _title("launch", "each number and where it came from")
        for launch in func.launch_config(*(np.empty((SIZE, SIZE), np.float32) for _ in args)):
            print(textwrap.indent(str(launch), "  "))

    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((SIZE, SIZE), dtype=np.float32) for _ in range(2))
    (c,) = testing.run(func, [a, b], [((SIZE, SIZE), "float32")])
    exact = a.astype(np.float64) @ b.astype(np.float64)
    bound = testing.dot_bound(a, b, SIZE)
    _title("result", f"computed {where}")
    print(
        f"  largest difference from NumPy in float64: {np.abs(c - exact).max():.2g} (rounding allows {bound.min():.2g})"
    )
    try:
        testing.assert_within(c, exact, bound)
    except AssertionError as error:
        print(f"  WRONG: {error}")
        return 1
    print("  right")
    return 0


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:  # pyright: ignore[reportPrivateUsage]
    """Adds the command to the command line."""
    text = "a scheduled GEMM from Python to a checked result, every stage shown"
    parser = commands.add_parser("demo", help=text, description=text)
    parser.add_argument("--target", help="where to run: cuda, sim or cpu (default: the GPU if there is one, else sim)")
    parser.add_argument("--lines", type=natural, default=12, help="lines to show of each stage (default: 12)")
    parser.set_defaults(run=_run)
