"""What the assembler says of the kernels of every ready schedule, at sizes that they are for: nothing spilled, no notes.

What a table of measured choices has counts too: each of them is what somebody gets.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import tilewright as tw
from tilewright import ops, schedules, te
from tilewright.devices import find
from tilewright.schedules.matmuls.problem import Choice, Problem
from tilewright.schedules.matmuls.selection import table

CUDA = "cuda -arch=sm_90a"
READY: dict[str, Callable[[], Any]] = {
    "attention_wgmma": lambda: schedules.attention_wgmma(8, 512, 512, 128, "bfloat16"),
    "add": lambda: schedules.add(4096, 4096),
    "column_sum": lambda: schedules.column_sum(4096, 4096),
    "conv2d": lambda: schedules.conv2d(32, 64, 56, 64, 3),
    "conv2d_mma": lambda: schedules.conv2d_mma(32, 64, 56, 64, 3),
    "conv2d_wgmma": lambda: schedules.conv2d_wgmma(32, 64, 56, 64, 3),
    "conv2d_winograd": lambda: schedules.conv2d_winograd(32, 64, 56, 64),
    "cross_entropy_wgmma": lambda: schedules.cross_entropy_wgmma(1024, 4096, 512),
    "elementwise": lambda: schedules.elementwise(te.tanh, (4096, 4096)),
    "gated_matmul_wgmma": lambda: schedules.gated_matmul_wgmma(1024, 1024, 512),
    "gelu": lambda: schedules.gelu(4096, 4096),
    "layer_norm": lambda: schedules.layer_norm(4096, 4096),
    "matmul": lambda: schedules.matmul(1000, 1000, 1000, "bfloat16"),
    "matmul_mma": lambda: schedules.matmul_mma(4096, 4096, 4096, "bfloat16", group=8),
    "matmul_wgmma": lambda: schedules.matmul_wgmma(4096, 4096, 4096, "bfloat16", "bfloat16"),
    "matvec": lambda: schedules.matvec(4096, 4096),
    "rms_norm": lambda: schedules.rms_norm(4096, 4096),
    "row_sum": lambda: schedules.row_sum(4096, 4096),
    "sgemm": lambda: schedules.sgemm(4096, 4096, 4096),
    "softmax": lambda: schedules.softmax(4096, 4096),
    "transpose": lambda: schedules.transpose(4096, 4096),
    "vecmat": lambda: schedules.vecmat(4096, 4096),
}


def test_all_are_here() -> None:
    assert READY.keys() == set(schedules.__all__)


def check(scheduled: Any) -> None:
    report = tw.build(*scheduled, target=CUDA, name="f").report()
    for kernel in report.kernels:
        assert not kernel.notes and not kernel.spills and not kernel.mismatches, str(kernel)


@pytest.mark.sweep
@pytest.mark.parametrize("name", READY)
def test_ready(name: str) -> None:
    check(READY[name]())


# One of the products that have the same choice.
MEASURED: dict[str, tuple[Problem, Choice]] = {
    f"{problem.dtype} {choice.schedule} {json.dumps(choice.options)}": (problem, choice)
    for problem, choice in table(find("H200"))
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", MEASURED)
def test_measured(name: str) -> None:
    p, choice = MEASURED[name]
    some, dtype = (p.batch,) if p.batch > 1 else (), "float32" if p.dtype == "tf32" else p.dtype
    a = ops.Operand((*some, *((p.K, p.M) if p.layout[0] == "T" else (p.M, p.K))), dtype)
    b = ops.Operand((*some, *((p.N, p.K) if p.layout[1] == "T" else (p.K, p.N))), dtype)
    options = {"precision": p.dtype} if dtype != p.dtype else {}
    transposed = {"transpose_a": p.layout[0] == "T", "transpose_b": p.layout[1] == "T"}
    check(ops.matmul.schedule(a, b, **transposed, **options, choice=choice, target=CUDA))
