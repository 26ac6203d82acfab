"""Matrix products: blocked with virtual threads, and in batches."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from programs.checks import TARGETS, Scheduled, check
from tilewright import te, testing


def product(a: NDArray[np.float64], b: NDArray[np.float64]):
    bounds = (
        [testing.dot_bound(x, y, x.shape[-1]) for x, y in zip(a, b)] if a.ndim == 3 else testing.dot_bound(a, b, len(b))
    )
    return [(a @ b, np.asarray(bounds))]


def blocked_gemm(m: int, n: int, length: int, *, block: int = 16, step: int = 4, lanes: int = 2) -> Scheduled:
    """A thread computes 2 x 2 tiles that lie half a block apart."""
    A, B = te.placeholder((m, length), name="A"), te.placeholder((length, n), name="B")
    k = te.reduce_axis((0, length), "k")
    C = te.compute((m, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")

    s = te.create_schedule(C.op)
    AA, BB = s.cache_read(A, "shared", [C]), s.cache_read(B, "shared", [C])
    AL, BL = s.cache_read(AA, "local", [C]), s.cache_read(BB, "local", [C])
    CL = s.cache_write(C, "local")
    threads = block // 2 // lanes
    thread_y, thread_x = te.thread_axis((0, threads), "threadIdx.y"), te.thread_axis((0, threads), "threadIdx.x")

    i, j = C.op.axis
    by, i = s[C].split(i, factor=block)
    bx, j = s[C].split(j, factor=block)
    vy, i = s[C].split(i, nparts=2)
    vx, j = s[C].split(j, nparts=2)
    ty, i = s[C].split(i, nparts=threads)
    tx, j = s[C].split(j, nparts=threads)
    s[C].reorder(by, bx, vy, vx, ty, tx, i, j)
    s[C].bind(by, te.thread_axis("blockIdx.y"))
    s[C].bind(bx, te.thread_axis("blockIdx.x"))
    s[C].bind(vy, te.thread_axis("vthread"))
    s[C].bind(vx, te.thread_axis("vthread"))
    s[C].bind(ty, thread_y)
    s[C].bind(tx, thread_x)

    s[CL].compute_at(s[C], tx)
    ko, ki = s[CL].split(s[CL].op.reduce_axis[0], factor=step)
    s[CL].reorder(ko, ki, *s[CL].op.axis)
    for shared in (AA, BB):
        s[shared].compute_at(s[CL], ko)
        fused = s[shared].fuse(*s[shared].op.axis)
        fused, tx = s[shared].split(fused, factor=threads)
        _, ty = s[shared].split(fused, factor=threads)
        s[shared].bind(ty, thread_y)
        s[shared].bind(tx, thread_x)
    for local in (AL, BL):
        s[local].compute_at(s[CL], ki)
    return s, [A, B, C]


def batch_matmul(batch: int, m: int, n: int, length: int) -> Scheduled:
    """One matrix a block along z; A's tile and B's in shared memory, rows of A's one apart in the banks."""
    A, B = te.placeholder((batch, m, length), name="A"), te.placeholder((batch, length, n), name="B")
    k = te.reduce_axis((0, length), "k")
    C = te.compute((batch, m, n), lambda b, i, j: te.sum(A[b, i, k] * B[b, k, j], axis=k), name="C")

    s = te.create_schedule(C.op)
    CL = s.cache_write(C, "local")
    AA, BB = s.cache_read(A, "shared", [CL]), s.cache_read(B, "shared", [CL])
    b, i, j = C.op.axis
    s[C].bind(b, te.thread_axis("blockIdx.z"))
    by, i = s[C].split(i, factor=8)
    bx, j = s[C].split(j, factor=16)
    ty, i = s[C].split(i, nparts=4)
    tx, j = s[C].split(j, nparts=8)
    s[C].reorder(b, by, bx, ty, tx, i, j)
    for axis, tag in ((by, "blockIdx.y"), (bx, "blockIdx.x"), (ty, "threadIdx.y"), (tx, "threadIdx.x")):
        s[C].bind(axis, te.thread_axis(tag))
    s[C].vectorize(j)
    s[CL].compute_at(s[C], tx)
    ko, ki = s[CL].split(s[CL].op.reduce_axis[0], factor=8)
    s[CL].reorder(ko, ki, *s[CL].op.axis)
    s[CL].unroll(ki)
    for shared in (AA, BB):
        s[shared].compute_at(s[CL], ko)
        s[shared].storage_align(s[shared].op.axis[1], 8, 1)
    return s, [A, B, C]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(32, 32, 32), (30, 19, 21)])
def test_blocked_gemm(target: str, shape: tuple[int, int, int]) -> None:
    check(lambda: blocked_gemm(*shape), target, lambda a, b: product(a, b))


@pytest.mark.parametrize("target", TARGETS)
def test_batch_matmul(target: str) -> None:
    check(lambda: batch_matmul(3, 13, 21, 19), target, lambda a, b: product(a, b))
