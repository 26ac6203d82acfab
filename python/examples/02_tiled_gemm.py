"""A tiled GEMM with both operands in shared memory: the schedule of a question that TVM's users asked.

"How is a CUDA kernel launched?", they wanted to know of this program: where do gridDim and blockDim come from?
`mmult.launch_config(a, b, c)` answers: from the extents of the axes that the schedule binds, line by line.

Run it: python 02_tiled_gemm.py [sim|cpu|cuda]
"""

from __future__ import annotations

import sys

import numpy as np

import tilewright as tw
from tilewright import te, testing


def mmult(M: int, N: int, K: int, bn: int = 4):
    """C = A B in tiles of bn x bn, one thread an element, the strips of A and B that a block needs in shared memory."""
    k = te.reduce_axis((0, K), "k")
    A = te.placeholder((M, K), name="A")
    B = te.placeholder((K, N), name="B")
    C = te.compute((M, N), lambda x, y: te.sum(A[x, k] * B[k, y], axis=k), name="C")

    s = te.create_schedule(C.op)
    xo, yo, xi, yi = s[C].tile(C.op.axis[0], C.op.axis[1], bn, bn)
    AS = s.cache_read(A, "shared", [C])
    BS = s.cache_read(B, "shared", [C])
    s[AS].compute_at(s[C], xo)
    s[BS].compute_at(s[C], yo)
    s[C].bind(xo, te.thread_axis("blockIdx.x"))
    s[C].bind(yo, te.thread_axis("blockIdx.y"))
    s[C].bind(xi, te.thread_axis("threadIdx.x"))
    s[C].bind(yi, te.thread_axis("threadIdx.y"))
    return s, [A, B, C]


def check(target: str, M: int, N: int, K: int) -> tw.Function:
    """Builds it for `target` and compares with NumPy in float64."""
    s, args = mmult(M, N, K)
    func = tw.build(s, args, target=target, name="mmult")

    rng = np.random.default_rng(2)
    a = rng.standard_normal((M, K), dtype=np.float32)
    b = rng.standard_normal((K, N), dtype=np.float32)
    (c,) = testing.run(func, [a, b], [((M, N), "float32")])
    testing.assert_within(c, a.astype(np.float64) @ b.astype(np.float64), testing.dot_bound(a, b, K))
    return func


def test_mmult(target: str) -> None:
    check(target, 16, 16, 8)


def test_other_sizes(target: str) -> None:
    check(target, *((36, 20, 24) if target == "sim" else (256, 256, 256)))


if __name__ == "__main__":
    func = check(sys.argv[1] if len(sys.argv) > 1 else "sim", 16, 16, 8)
    print("mmult: right")
    if func.target.kind != "cpu":
        a, b, c = (np.empty(shape, np.float32) for shape in ((16, 8), (8, 16), (16, 16)))
        print(func.launch_config(a, b, c))
