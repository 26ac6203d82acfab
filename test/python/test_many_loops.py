"""LLVM and ptxas unroll loops themselves, which takes minutes where a kernel has hundreds of them."""

from __future__ import annotations

import pytest

import tilewright as tw
from tilewright import te

PRAGMA = '.pragma "nounroll"'


def loops(count: int) -> str:
    """The PTX of a kernel with so many loops: those that are in an unrolled one."""
    A = te.placeholder((32, count, 100, 100), "int32", name="A")
    k = te.reduce_axis((0, 100), name="k")
    B = te.compute((32, count, 100), lambda i, j, m: te.max(A[i, j, m, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    s[B].unroll(B.op.axis[1])
    return tw.build(s, [A, B], target="cuda -arch=sm_90a", name="loops").ptx


@pytest.mark.sweep
def test_of_many_loops_ptxas_unrolls_none() -> None:
    assert loops(40).count(PRAGMA) >= 65


def test_of_few_loops_ptxas_may_unroll_each() -> None:
    assert PRAGMA not in loops(4)


def test_unrolled_loops_in_each_other_stay_within_a_limit() -> None:
    A = te.placeholder((64, 64, 64, 64), "int32", name="A")
    B = te.compute(A.shape, lambda i, j, k, m: A[i, j, k, m] * A[m, k, j, i], name="B")
    s = te.create_schedule(B.op)
    i, j, k, m = s[B].op.axis
    s[B].bind(i, te.thread_axis("threadIdx.x"))
    for axis in (j, k, m):
        s[B].unroll(axis)
    loads = tw.build(s, [A, B], target="cuda -arch=sm_90a", name="nest").ptx.count("ld.global")
    assert 64 <= loads <= 16384  # of the innermost loop alone; all three are half a million
