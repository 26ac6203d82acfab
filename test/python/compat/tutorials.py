"""More scripts, in the manner of TVM's tutorials on the language and its schedules; `scripts` says what each gives."""

from __future__ import annotations

import numpy as np

import tilewright as tvm
from tilewright import te


def rows_in_two_steps():
    """The tutorial on reductions: factored, and combined across the threads of a block."""
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), "k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    ko, ki = s[B].split(B.op.reduce_axis[0], factor=16)
    BF = s.rfactor(B, ki)
    xo, xi = s[B].split(s[B].op.axis[0], factor=32)
    s[B].bind(xo, te.thread_axis("blockIdx.x"))
    s[B].bind(xi, te.thread_axis("threadIdx.y"))
    tx = te.thread_axis("threadIdx.x")
    s[B].bind(s[B].op.reduce_axis[0], tx)
    s[BF].compute_at(s[B], s[B].op.reduce_axis[0])
    s[B].set_store_predicate(tx.var.equal(0))
    return s, [A, B], [(70, 50)], (70,), lambda a: a.sum(axis=1)


def intrinsics():
    """The tutorial on functions of mathematics."""
    n = te.size_var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute(A.shape, lambda i: te.exp(A[i]) + tvm.tir.sigmoid(A[i]) * te.tanh(te.sqrt(te.abs(A[i]))), name="B")
    s = te.create_schedule(B.op)
    bx, tx = s[B].split(B.op.axis[0], factor=64)
    s[B].bind(bx, te.thread_axis("blockIdx.x"))
    s[B].bind(tx, te.thread_axis("threadIdx.x"))
    return s, [A, B], [(200,)], (200,), lambda a: np.exp(a) + np.tanh(np.sqrt(np.abs(a))) / (1 + np.exp(-a))


def largest_and_where():
    """The tutorial on tuples: a reduction of pairs, of which one is scaled by the other."""
    m, n = te.var("m"), te.var("n")
    idx = te.placeholder((m, n), name="idx", dtype="float32")
    val = te.placeholder((m, n), name="val", dtype="float32")

    def fcombine(x, y):
        lhs = tvm.tir.Select((x[1] >= y[1]), x[0], y[0])
        rhs = tvm.tir.Select((x[1] >= y[1]), x[1], y[1])
        return lhs, rhs

    def fidentity(t0, t1):
        return tvm.tir.const(-1, t0), tvm.te.min_value(t1)

    argmax = te.comm_reducer(fcombine, fidentity, name="argmax")
    k = te.reduce_axis((0, n), "k")
    T0, T1 = te.compute((m,), lambda i: argmax((idx[i, k], val[i, k]), axis=k), name="T")
    R = te.compute((m,), lambda i: T0[i] * T1[i], name="R")
    s = te.create_schedule(R.op)
    bx, tx = s[R].split(R.op.axis[0], factor=16)
    s[R].bind(bx, te.thread_axis("blockIdx.x"))
    s[R].bind(tx, te.thread_axis("threadIdx.x"))
    s[T0].compute_at(s[R], tx)

    def reference(idx, val):
        at = np.arange(len(val)), val.argmax(axis=1)
        return idx[at] * val[at]

    return s, [idx, val, R], [(40, 30), (40, 30)], (40,), reference


def primitives():
    """The tutorial on primitives: inlined, attached and tiled stages of one chain."""
    m, n = 50, 36
    A = te.placeholder((m, n), name="A")
    B = te.compute((m, n), lambda i, j: A[i, j] * tvm.tir.const(2, "float32"), name="B")
    C = te.compute((m, n), lambda i, j: B[i, j] + 1, name="C")
    D = te.compute((m, n), lambda *i: tvm.tir.max(C(*i), tvm.tir.const(0, C.dtype)), name="D")
    E = te.compute((m, n), lambda *i: D(*i) + C(*i), name="E")
    s = te.create_schedule(E.op)
    s[B].compute_inline()
    xo, yo, xi, yi = s[E].tile(E.op.axis[0], E.op.axis[1], x_factor=10, y_factor=8)
    fused = s[E].fuse(xo, yo)
    s[E].reorder(fused, yi, xi)
    s[E].bind(fused, te.thread_axis("blockIdx.x"))
    s[E].bind(yi, te.thread_axis("threadIdx.x"))
    s[C].compute_at(s[E], xi)
    s[D].compute_at(s[E], xi)
    s[E].pragma(xi, "auto_unroll_max_step", 4)
    s[E].pragma(xi, "unroll_explicit", 0)
    return s.normalize(), [A, E], [(m, n)], (m, n), lambda a: np.maximum(2 * a + 1, 0) + 2 * a + 1


def transpose():
    """A tile goes through padded shared memory."""
    m, n, tile = 48, 80, 16
    A = te.placeholder((m, n), name="A")
    B = te.compute((n, m), lambda i, j: A[j, i], name="B")
    s = te.create_schedule(B.op)
    AA = s.cache_read(A, "shared", [B])
    io, jo, ii, ji = s[B].tile(*B.op.axis, x_factor=tile, y_factor=tile)
    s[B].bind(io, te.thread_axis("blockIdx.y"))
    s[B].bind(jo, te.thread_axis("blockIdx.x"))
    s[B].bind(ii, te.thread_axis("threadIdx.y"))
    s[B].bind(ji, te.thread_axis("threadIdx.x"))
    s[AA].compute_at(s[B], jo)
    s[AA].storage_align(s[AA].op.axis[0], tile, 1)
    s[AA].bind(s[AA].op.axis[0], te.thread_axis("threadIdx.y"))
    s[AA].bind(s[AA].op.axis[1], te.thread_axis("threadIdx.x"))
    return s, [A, B], [(m, n)], (n, m), lambda a: a.T


def gemm_of_blocks():
    """TVM's recipe for a matrix product on a GPU: virtual threads, double buffers, vectors."""
    n = 64
    A = te.placeholder((n, n), name="A")
    B = te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    C = te.compute((n, n), lambda ii, jj: te.sum(A[k, ii] * B[k, jj], axis=k), name="C")
    s = te.create_schedule(C.op)
    AA = s.cache_read(A, "shared", [C])
    BB = s.cache_read(B, "shared", [C])
    AL = s.cache_read(AA, "local", [C])
    BL = s.cache_read(BB, "local", [C])
    CC = s.cache_write(C, "local")
    scale, num_thread = 4, 4
    block_factor = scale * num_thread
    block_x = te.thread_axis("blockIdx.x")
    thread_x = te.thread_axis((0, num_thread), "threadIdx.x")
    block_y = te.thread_axis("blockIdx.y")
    thread_y = te.thread_axis((0, num_thread), "threadIdx.y")
    thread_xz = te.thread_axis((0, 2), "vthread", name="vx")
    thread_yz = te.thread_axis((0, 2), "vthread", name="vy")
    by, yi = s[C].split(C.op.axis[0], factor=block_factor)
    bx, xi = s[C].split(C.op.axis[1], factor=block_factor)
    s[C].bind(by, block_y)
    s[C].bind(bx, block_x)
    s[C].reorder(by, bx, yi, xi)
    tyz, yi = s[C].split(yi, nparts=2)
    ty, yi = s[C].split(yi, nparts=num_thread)
    txz, xi = s[C].split(xi, nparts=2)
    tx, xi = s[C].split(xi, nparts=num_thread)
    s[C].bind(tyz, thread_yz)
    s[C].bind(txz, thread_xz)
    s[C].bind(ty, thread_y)
    s[C].bind(tx, thread_x)
    s[C].reorder(tyz, txz, ty, tx, yi, xi)
    s[CC].compute_at(s[C], tx)
    yo, xo = CC.op.axis
    ko, ki = s[CC].split(k, factor=8)
    kt, ki = s[CC].split(ki, factor=1)
    s[CC].reorder(ko, kt, ki, yo, xo)
    s[AA].compute_at(s[CC], ko)
    s[BB].compute_at(s[CC], ko)
    s[CC].unroll(kt)
    s[AL].compute_at(s[CC], kt)
    s[BL].compute_at(s[CC], kt)
    for shared in (AA, BB):
        ty, xi = s[shared].split(s[shared].op.axis[0], nparts=num_thread)
        _, xi = s[shared].split(s[shared].op.axis[1], factor=num_thread * 4)
        tx, xi = s[shared].split(xi, nparts=num_thread)
        s[shared].bind(ty, thread_y)
        s[shared].bind(tx, thread_x)
        s[shared].vectorize(xi)
        s[shared].double_buffer()
    return s, [A, B, C], [(n, n), (n, n)], (n, n), lambda a, b: a.T @ b


def softmax():
    """Four stages, a block a row."""
    m, n = 20, 45
    A = te.placeholder((m, n), name="A")
    k, r = te.reduce_axis((0, n), name="k"), te.reduce_axis((0, n), name="r")
    largest = te.compute((m,), lambda i: te.max(A[i, k], axis=k), name="largest")
    power = te.compute((m, n), lambda i, j: te.exp(A[i, j] - largest[i]), name="power", tag="elemwise")
    total = te.compute((m,), lambda i: te.sum(power[i, r], axis=r), name="total")
    B = te.compute((m, n), lambda i, j: tvm.tir.div(power[i, j], total[i]), name="B")
    s = te.create_schedule([B.op])
    s[power].compute_inline()
    tx = te.thread_axis((0, 32), "threadIdx.x")
    _, thread = s[B].split(B.op.axis[1], factor=32)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(thread, tx)
    for stage in (largest, total):
        s[stage].compute_at(s[B], B.op.axis[0])
        _, thread = s[stage].split(stage.op.reduce_axis[0], factor=32)
        s[stage].bind(thread, tx)

    def reference(a):
        power = np.exp(a - a.max(axis=1, keepdims=True))
        return power / power.sum(axis=1, keepdims=True)

    return s, [A, B], [(m, n)], (m, n), reference


def upsampled():
    """Indices by division, and a condition at the border."""
    n, m, scale = 9, 14, 3
    A = te.placeholder((n, m), name="A")
    B = te.compute(
        (n * scale, m * scale),
        lambda i, j: tvm.tir.if_then_else(
            tvm.tir.any(i < 1, tvm.tir.EQ(j, 0)),
            tvm.tir.const(0, "float32"),
            A[te.indexdiv(i, scale), tvm.tir.floordiv(j, scale)] * te.indexmod(i, scale).astype("float32"),
        ),
        name="B",
        attrs={"schedule_rule": "none"},
    )
    s = te.create_schedule(B.op)
    fused = s[B].fuse(*s[B].op.axis)
    bx, tx = s[B].split(fused, factor=128)
    s[B].bind(bx, te.thread_axis("blockIdx.x"))
    s[B].bind(tx, te.thread_axis("threadIdx.x"))

    def reference(a):
        i, j = np.indices((n * scale, m * scale))
        return np.where((i < 1) | (j == 0), 0, a[i // scale, j // scale] * (i % scale))

    return s, [A, B], [(n, m)], (n * scale, m * scale), reference


SCRIPTS = [
    rows_in_two_steps, intrinsics, largest_and_where, primitives, transpose, gemm_of_blocks, softmax, upsampled,
]  # fmt: skip
