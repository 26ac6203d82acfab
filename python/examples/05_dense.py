"""A dense layer, 32 x 128 by 128 x 64: the program with which TVM's stages are usually explained.

Run it: python 05_dense.py [sim|cpu|cuda]
"""

from __future__ import annotations

import sys

import numpy as np

import tilewright as tw
from tilewright import te, testing


def dense(batch: int = 32, inputs: int = 128, outputs: int = 64):
    """C = A B, one thread an element: the axes fused into one and split over blocks of 256 threads."""
    A = te.placeholder((batch, inputs), name="A")
    B = te.placeholder((inputs, outputs), name="B")
    k = te.reduce_axis((0, inputs), name="k")
    C = te.compute((batch, outputs), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")

    s = te.create_schedule(C.op)
    idx = s[C].fuse(*C.op.axis)
    block, thread = s[C].split(idx, factor=256)
    s[C].bind(block, te.thread_axis("blockIdx.x"))
    s[C].bind(thread, te.thread_axis("threadIdx.x"))
    return s, [A, B, C]


def check(target: str, batch: int = 32, inputs: int = 128, outputs: int = 64) -> None:
    """Builds it for `target` and compares with NumPy in float64."""
    s, args = dense(batch, inputs, outputs)
    func = tw.build(s, args, target=target, name="dense")

    rng = np.random.default_rng(5)
    a = rng.random((batch, inputs), dtype=np.float32)
    b = rng.random((inputs, outputs), dtype=np.float32)
    (c,) = testing.run(func, [a, b], [((batch, outputs), "float32")])
    testing.assert_within(c, a.astype(np.float64) @ b.astype(np.float64), testing.dot_bound(a, b, inputs))


def test_dense(target: str) -> None:
    check(target)


def test_size_that_no_block_divides(target: str) -> None:
    check(target, 7, 19, 11)


if __name__ == "__main__":
    check(sys.argv[1] if len(sys.argv) > 1 else "sim")
    print("dense: right")
