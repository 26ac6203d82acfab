"""GEMM with register tiles and vectorised loads, as one writes it for a GPU without tensor cores.

A block of 16 x 16 threads computes a tile of 128 x 128, each thread 8 x 8 of it in registers. Along k the block goes
in steps: all of its threads together fetch the tiles of A and B into shared memory, four floats a load.

Run it: python 03_register_tiled_gemm.py [sim|cpu|cuda]
"""

from __future__ import annotations

import sys

import numpy as np

import tilewright as tw
from tilewright import te, testing


def sgemm(M: int, N: int, K: int, *, block: int = 128, thread: int = 8, block_k: int = 16):
    """C = A B in float32: a thread block computes block x block, a thread thread x thread, in K tiles of block_k."""
    k = te.reduce_axis((0, K), "k")
    A = te.placeholder((M, K), name="A")
    B = te.placeholder((K, N), name="B")
    C = te.compute((M, N), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")

    s = te.create_schedule(C.op)
    AA = s.cache_read(A, "shared", [C])
    BB = s.cache_read(B, "shared", [C])
    AL = s.cache_read(AA, "local", [C])
    BL = s.cache_read(BB, "local", [C])
    CL = s.cache_write(C, "local")

    threads = block // thread
    block_y, block_x = te.thread_axis("blockIdx.y"), te.thread_axis("blockIdx.x")
    thread_y, thread_x = te.thread_axis("threadIdx.y"), te.thread_axis("threadIdx.x")

    # The tile of a block, and in it the tile of a thread. Along j it is in groups of four, a virtual thread each, that
    # lie as far apart as the threads of a row reach: neighbouring threads read neighbouring words of shared memory.
    i, j = s[C].op.axis
    by, i = s[C].split(i, factor=block)
    bx, j = s[C].split(j, factor=block)
    ty, i = s[C].split(i, factor=thread)
    vx, j = s[C].split(j, nparts=thread // 4)
    tx, j = s[C].split(j, factor=4)
    s[C].reorder(by, bx, vx, ty, tx, i, j)
    s[C].bind(by, block_y)
    s[C].bind(bx, block_x)
    s[C].bind(vx, te.thread_axis("vthread"))
    s[C].bind(ty, thread_y)
    s[C].bind(tx, thread_x)
    s[C].vectorize(j)

    # The sum stays in registers from the first k to the last. Two blocks share a multiprocessor: while one waits for
    # its tiles, the other computes.
    s[CL].compute_at(s[C], tx)
    i, j = s[CL].op.axis
    (k,) = s[CL].op.reduce_axis
    ko, ki = s[CL].split(k, factor=block_k)
    ki, kv = s[CL].split(ki, factor=4)
    s[CL].reorder(ko, ki, kv, i, j)
    for axis in (ki, kv, i, j):
        s[CL].unroll(axis)
    s[C].launch_bounds(min_blocks=2)

    s[AA].compute_at(s[CL], ko)
    s[BB].compute_at(s[CL], ko)
    s[AL].compute_at(s[CL], ki)
    s[BL].compute_at(s[CL], ki)

    # All threads of the block fetch, each four neighbours at a time.
    for shared in (AA, BB):
        fused = s[shared].fuse(*s[shared].op.axis)
        fused, vector = s[shared].split(fused, factor=4)
        fused, tx = s[shared].split(fused, factor=threads)
        _, ty = s[shared].split(fused, factor=threads)
        s[shared].bind(ty, thread_y)
        s[shared].bind(tx, thread_x)
        s[shared].vectorize(vector)
    return s, [A, B, C]


def check(target: str, size: int, **tiles: int) -> None:
    """Builds it for `target` and compares with NumPy in float64."""
    s, args = sgemm(size, size, size, **tiles)
    func = tw.build(s, args, target=target, name="sgemm")

    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal((size, size), dtype=np.float32) for _ in range(2))
    (c,) = testing.run(func, [a, b], [((size, size), "float32")])
    testing.assert_within(c, a.astype(np.float64) @ b.astype(np.float64), testing.dot_bound(a, b, size))


def test_sgemm(target: str) -> None:
    if target == "sim":
        check(target, 64, block=32, thread=4, block_k=8)
    else:
        check(target, 1024)


def test_size_that_no_tile_divides(target: str) -> None:
    check(target, 68, block=32, thread=4, block_k=8)


if __name__ == "__main__":
    where = sys.argv[1] if len(sys.argv) > 1 else "sim"
    check(where, 128 if where == "sim" else 1024)
    print("sgemm: right")
