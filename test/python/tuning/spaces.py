"""Spaces that tests tune, importable by the processes that they start."""

from __future__ import annotations

import tilewright as tw
from tilewright import te


def matmul(block=16, k_block=4, lanes=True, n=64):
    A, B = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    C = te.compute((n, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    io, jo, ii, ji = s[C].tile(*C.op.axis, block, block)
    ko, ki = s[C].split(C.op.reduce_axis[0], factor=k_block)
    s[C].reorder(io, jo, ko, ki, ii, ji)
    if lanes:
        s[C].vectorize(ji)
    return s, [A, B, C]


def space() -> tw.tuning.Knobs:
    return tw.tuning.Knobs(matmul, block=(4, 8, 16, 32), k_block=(1, 4, 8), lanes=(False, True))


POLICY = tw.tuning.Policy(repeats=(3, 5), warmup=1, cold=False, seconds=1.0)
