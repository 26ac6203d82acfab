"""Virtual threads, reductions across threads, padding and launch bounds: built and run on the simulator."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing


def gemm_with_vthreads(size: int, block: int = 32, lanes: int = 4):
    """Each thread computes 2 x 2 tiles that lie half a block apart."""
    A, B = te.placeholder((size, size), name="A"), te.placeholder((size, size), name="B")
    k = te.reduce_axis((0, size), "k")
    C = te.compute((size, size), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    AA, BB = s.cache_read(A, "shared", [C]), s.cache_read(B, "shared", [C])
    AL, BL = s.cache_read(AA, "local", [C]), s.cache_read(BB, "local", [C])
    CL = s.cache_write(C, "local")
    threads = block // 2 // lanes
    i, j = s[C].op.axis
    by, i = s[C].split(i, factor=block)
    bx, j = s[C].split(j, factor=block)
    vy, i = s[C].split(i, nparts=2)
    vx, j = s[C].split(j, nparts=2)
    ty, i = s[C].split(i, nparts=threads)
    tx, j = s[C].split(j, nparts=threads)
    s[C].reorder(by, bx, vy, vx, ty, tx, i, j)
    for axis, tag in (
        (by, "blockIdx.y"),
        (bx, "blockIdx.x"),
        (vy, "vthread"),
        (vx, "vthread"),
        (ty, "threadIdx.y"),
        (tx, "threadIdx.x"),
    ):
        s[C].bind(axis, te.thread_axis(tag))
    s[CL].compute_at(s[C], tx)
    ko, ki = s[CL].split(s[CL].op.reduce_axis[0], factor=8)
    s[CL].reorder(ko, ki, *s[CL].op.axis)
    for stage in (AA, BB):
        s[stage].compute_at(s[CL], ko)
    for stage in (AL, BL):
        s[stage].compute_at(s[CL], ki)
    return s, [A, B, C]


@pytest.mark.parametrize("size", [64, 52])
def test_vthreads(size: int) -> None:
    s, args = gemm_with_vthreads(size)
    func = tw.build(s, args, target="sim", name="gemm")
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((size, size), dtype=np.float32) for _ in range(2))
    (c,) = testing.run(func, [a, b], [((size, size), "float32")])
    testing.assert_within(c, a.astype(np.float64) @ b.astype(np.float64), testing.dot_bound(a, b, size))
    # The tiles are fetched once for all virtual threads, and each of these has its own sums.
    text = func.ir("gpu")
    assert "vthread" not in text
    assert "memref<2x2x4x4xf32, #gpu.address_space<private>>" in text


def rows(shape, reducer, threads: int, tag: str = "threadIdx.x", dtype: str = "float32", rows_a_block: int = 1):
    """Each row is reduced by `threads` threads."""
    A = te.placeholder(shape, name="A", dtype=dtype)
    k = te.reduce_axis((0, shape[1]), "k")
    B = te.compute((shape[0],), lambda i: reducer(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    ko, ki = s[B].split(B.op.reduce_axis[0], factor=threads)
    s[B].bind(ki, te.thread_axis(tag))
    i, ii = s[B].split(B.op.axis[0], factor=rows_a_block)
    s[B].bind(i, te.thread_axis("blockIdx.x"))
    s[B].bind(ii, te.thread_axis("threadIdx.y" if tag == "threadIdx.x" else "threadIdx.x"))
    return s, [A, B]


@pytest.mark.parametrize(
    ("threads", "tag", "rows_a_block"),
    [
        (8, "threadIdx.x", 1),
        (8, "threadIdx.x", 6),
        (32, "threadIdx.x", 3),
        (96, "threadIdx.x", 2),
        (128, "threadIdx.x", 1),
        (20, "threadIdx.x", 2),
        (16, "threadIdx.y", 5),
    ],
)
def test_row_sum(threads: int, tag: str, rows_a_block: int) -> None:
    s, args = rows((7, 300), te.sum, threads, tag, rows_a_block=rows_a_block)
    func = tw.build(s, args, target="sim", name="row_sum")
    a = np.random.default_rng(1).standard_normal((7, 300), dtype=np.float32)
    (b,) = testing.run(func, [a], [((7,), "float32")])
    exact = a.astype(np.float64)
    testing.assert_within(b, exact.sum(axis=1), 300 * testing.unit_roundoff("float32") * np.abs(exact).sum(axis=1))


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "int32", "int8", "uint8"])
def test_row_max_of_every_width(dtype: str) -> None:
    s, args = rows((3, 100), te.max, 32, dtype=dtype)
    func = tw.build(s, args, target="sim", name="row_max")
    a = np.random.default_rng(2).integers(0, 100, (3, 100)).astype(dtype)
    (b,) = testing.run(func, [a], [((3,), dtype)])
    np.testing.assert_array_equal(b, a.max(axis=1))


@pytest.mark.parametrize("threads", [16, 64])
def test_argmax_across_threads(threads: int) -> None:
    m, n = 5, 200
    A = te.placeholder((m, n), name="A")
    k = te.reduce_axis((0, n), "k")

    def combine(x, y):
        takes_left = te.any(x[1] > y[1], te.all(x[1] == y[1], x[0] < y[0]))
        return te.select(takes_left, x[0], y[0]), te.select(takes_left, x[1], y[1])

    argmax = te.comm_reducer(combine, lambda i, v: (te.const(2**31 - 1, i), te.min_value(v)), name="argmax")
    index, value = te.compute((m,), lambda i: argmax((k.var if hasattr(k, "var") else k, A[i, k]), axis=k), name="T")
    s = te.create_schedule(index.op)
    ko, ki = s[index].split(index.op.reduce_axis[0], factor=threads)
    s[index].bind(ki, te.thread_axis("threadIdx.x"))
    s[index].bind(index.op.axis[0], te.thread_axis("blockIdx.x"))
    func = tw.build(s, [A, index, value], target="sim", name="argmax")
    a = np.random.default_rng(3).integers(0, 50, (m, n)).astype(np.float32)
    got, largest = testing.run(func, [a], [((m,), "int32"), ((m,), "float32")])
    np.testing.assert_array_equal(got, a.argmax(axis=1))
    np.testing.assert_array_equal(largest, a.max(axis=1))


def test_reduction_over_two_thread_axes() -> None:
    A = te.placeholder((4, 24, 40), name="A")
    p, q = te.reduce_axis((0, 24), "p"), te.reduce_axis((0, 40), "q")
    B = te.compute((4,), lambda i: te.sum(A[i, p, q], axis=[p, q]), name="B")
    s = te.create_schedule(B.op)
    p, q = B.op.reduce_axis
    _, py = s[B].split(p, factor=4)
    _, qx = s[B].split(q, factor=16)
    s[B].bind(py, te.thread_axis("threadIdx.y"))
    s[B].bind(qx, te.thread_axis("threadIdx.x"))
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    func = tw.build(s, [A, B], target="sim", name="sum2")
    a = np.random.default_rng(4).integers(-9, 9, (4, 24, 40)).astype(np.float32)
    (b,) = testing.run(func, [a], [((4,), "float32")])
    np.testing.assert_array_equal(b, a.sum(axis=(1, 2)))


def test_softmax_of_rows_with_one_block_a_row() -> None:
    m, n, threads = 6, 500, 64
    A = te.placeholder((m, n), name="A")
    k, r = te.reduce_axis((0, n), "k"), te.reduce_axis((0, n), "l")
    M = te.compute((m,), lambda i: te.max(A[i, k], axis=k), name="M")
    E = te.compute((m, n), lambda i, j: te.exp(A[i, j] - M[i]), name="E")
    S = te.compute((m,), lambda i: te.sum(E[i, r], axis=r), name="S")
    Y = te.compute((m, n), lambda i, j: E[i, j] / S[i], name="O")
    s = te.create_schedule(Y.op)
    s[E].compute_inline()
    i, j = Y.op.axis
    s[Y].bind(i, te.thread_axis("blockIdx.x"))
    _, tx = s[Y].split(j, factor=threads)
    s[Y].bind(tx, te.thread_axis("threadIdx.x"))
    for stage in (M, S):
        s[stage].compute_at(s[Y], i)
        _, tx = s[stage].split(stage.op.reduce_axis[0], factor=threads)
        s[stage].bind(tx, te.thread_axis("threadIdx.x"))
    func = tw.build(s, [A, Y], target="sim", name="softmax")
    a = np.random.default_rng(5).standard_normal((m, n), dtype=np.float32)
    (o,) = testing.run(func, [a], [((m, n), "float32")])
    exact = np.exp(a.astype(np.float64) - a.max(axis=1, keepdims=True))
    exact /= exact.sum(axis=1, keepdims=True)
    testing.assert_within(o, exact, 1e-5 * exact)


def test_transpose_through_a_padded_tile() -> None:
    m, n, tile = 70, 45, 32
    A = te.placeholder((m, n), name="A")
    B = te.compute((n, m), lambda i, j: A[j, i], name="B")
    s = te.create_schedule(B.op)
    shared = s.cache_read(A, "shared", [B])
    io, jo, ii, ji = s[B].tile(*B.op.axis, tile, tile)
    s[B].bind(io, te.thread_axis("blockIdx.y"))
    s[B].bind(jo, te.thread_axis("blockIdx.x"))
    ii, ty = s[B].split(ii, factor=8)
    s[B].bind(ty, te.thread_axis("threadIdx.y"))
    s[B].bind(ji, te.thread_axis("threadIdx.x"))
    s[shared].compute_at(s[B], jo)
    s[shared].storage_align(s[shared].op.axis[0], 32, 1)
    func = tw.build(s, [A, B], target="sim", name="transpose")
    assert "memref<32x33xf32, #gpu.address_space<workgroup>>" in func.ir("gpu")
    a = np.random.default_rng(6).standard_normal((m, n), dtype=np.float32)
    (b,) = testing.run(func, [a], [((n, m), "float32")])
    np.testing.assert_array_equal(b, a.T)


def test_launch_bounds_reach_the_ptx() -> None:
    s, args = gemm_with_vthreads(64)
    s[args[2]].launch_bounds(min_blocks=3)
    assert ".minnctapersm 3" in tw.build(s, args, target="cuda -arch=sm_90a", name="gemm").ptx


def test_software_pipeline_of_a_depth() -> None:
    A = te.placeholder((9, 64), name="A")
    k = te.reduce_axis((0, 9), "k")
    B = te.compute((64,), lambda j: te.sum(A[k, j], axis=k), name="B")
    s = te.create_schedule(B.op)
    s[B].software_pipeline(k, 3, use_async=True)
    assert "schedule.software_pipeline %k depth 3 async" in s.ir()
