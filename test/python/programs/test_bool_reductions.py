"""Reductions of bool across threads: within a warp by shuffles, else by shared memory, where a bool is a byte."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import te


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("threads", [8, 24, 32, 64, 96])
def test_a_reduction_of_bool_across_threads(threads: int, name: str) -> None:
    A = te.placeholder((6, 96), "bool", "A")
    k = te.reduce_axis((0, 96), "k")
    B = te.compute((6,), lambda i: getattr(te, name)(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.reduce_axis[0], nparts=threads)
    s[B].bind(outer, te.thread_axis("threadIdx.x"))
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    a = np.full((6, 96), name == "min")
    for row, column in enumerate((0, 17, 40, 95)):
        a[row, column] = not a[row, column]
    b = np.zeros(6, bool)
    tw.build(s, [A, B], "sim")(a, b)
    assert (b == getattr(a, name)(axis=1)).all()
    assert ".target sm_90a" in tw.build(s, [A, B], tw.Target("cuda", arch="sm_90a")).ptx
