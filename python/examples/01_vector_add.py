"""Vector add: one element a thread, four at a time.

Run it: python 01_vector_add.py [sim|cpu|cuda]
"""

from __future__ import annotations

import sys

import numpy as np

import tilewright as tw
from tilewright import te, testing


def vector_add(n: int):
    """C[i] = A[i] + B[i], and how: blocks of 256 threads, each with one vector of four elements."""
    A = te.placeholder((n,), name="A")
    B = te.placeholder((n,), name="B")
    C = te.compute((n,), lambda i: A[i] + B[i], name="C")

    s = te.create_schedule(C.op)
    (i,) = C.op.axis
    block, i = s[C].split(i, factor=256 * 4)
    thread, vector = s[C].split(i, factor=4)
    s[C].bind(block, te.thread_axis("blockIdx.x"))
    s[C].bind(thread, te.thread_axis("threadIdx.x"))
    s[C].vectorize(vector)
    return s, [A, B, C]


def check(target: str, n: int) -> None:
    """Builds it for `target` and compares with NumPy in float64."""
    s, args = vector_add(n)
    add = tw.build(s, args, target=target, name="vector_add")

    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(n, dtype=np.float32) for _ in range(2))
    (c,) = testing.run(add, [a, b], [((n,), "float32")])
    exact = a.astype(np.float64) + b
    testing.assert_within(c, exact, testing.unit_roundoff("float32") * np.abs(exact))


def test_vector_add(target: str) -> None:
    check(target, n=1 << 12 if target == "sim" else 1 << 20)


def test_length_that_no_block_divides(target: str) -> None:
    check(target, n=5003)


if __name__ == "__main__":
    check(sys.argv[1] if len(sys.argv) > 1 else "sim", n=1 << 14)
    print("vector_add: right")
