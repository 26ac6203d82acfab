"""The scripts: each makes a schedule and its arguments as TVM's users wrote them, and says what NumPy has for it.

`import tilewright as tvm` is all that differs from what ran on TVM v0.19.
"""

from __future__ import annotations

import numpy as np

import tilewright as tvm
from tilewright import te


def vector_add():
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.placeholder((n,), name="B")
    C = te.compute(A.shape, lambda i: A[i] + B[i], name="C")
    s = te.create_schedule(C.op)
    bx, tx = s[C].split(C.op.axis[0], factor=64)
    s[C].bind(bx, te.thread_axis("blockIdx.x"))
    s[C].bind(tx, te.thread_axis("threadIdx.x"))
    return s, [A, B, C], [(1000,), (1000,)], (1000,), lambda a, b: a + b


def blocked_gemm():
    M, N, K, bn = 64, 96, 40, 16
    k = te.reduce_axis((0, K), "k")
    A = te.placeholder((M, K), name="A")
    B = te.placeholder((K, N), name="B")
    C = te.compute((M, N), lambda x, y: te.sum(A[x, k] * B[k, y], axis=k), name="C")
    s = te.create_schedule(C.op)
    xo, yo, xi, yi = s[C].tile(C.op.axis[0], C.op.axis[1], bn, bn)
    ko, ki = s[C].split(k, factor=8)
    s[C].bind(yo, te.thread_axis("blockIdx.x"))
    s[C].bind(xo, te.thread_axis("blockIdx.y"))
    s[C].bind(yi, te.thread_axis("threadIdx.x"))
    s[C].bind(xi, te.thread_axis("threadIdx.y"))
    s[C].unroll(ki)
    for tensor in (A, B):
        tile = s.cache_read(tensor, "shared", [C])
        s[tile].compute_at(s[C], ko)
    return s, [A, B, C], [(M, K), (K, N)], (M, N), lambda a, b: a @ b


def packed_gemm():
    """TVM's CPU tutorial: B is packed into blocks of columns first."""
    M, N, K, bn = 32, 64, 48, 16
    k = te.reduce_axis((0, K), "k")
    A = te.placeholder((M, K), name="A")
    B = te.placeholder((K, N), name="B")
    packed = te.compute((N // bn, K, bn), lambda x, y, z: B[y, x * bn + z], name="packedB")
    C = te.compute(
        (M, N),
        lambda m, n: te.sum(A[m, k] * packed[n // bn, k, tvm.tir.indexmod(n, bn)], axis=k),
        name="C",
    )
    s = te.create_schedule(C.op)
    mo, no, mi, ni = s[C].tile(C.op.axis[0], C.op.axis[1], 8, bn)
    s[C].bind(mo, te.thread_axis("blockIdx.x"))
    s[C].bind(mi, te.thread_axis("threadIdx.y"))
    s[C].bind(ni, te.thread_axis("threadIdx.x"))
    x, y, z = s[packed].op.axis
    s[packed].bind(x, te.thread_axis("blockIdx.x"))
    s[packed].bind(z, te.thread_axis("threadIdx.x"))
    return s, [A, B, C], [(M, K), (K, N)], (M, N), lambda a, b: a @ b


def sum_of_rows():
    n, m = te.size_var("n"), te.size_var("m")
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), "k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    xo, xi = s[B].split(B.op.axis[0], factor=32)
    s[B].bind(xo, te.thread_axis("blockIdx.x"))
    s[B].bind(xi, te.thread_axis("threadIdx.x"))
    return s, [A, B], [(70, 33)], (70,), lambda a: a.sum(axis=1)


def largest_of_rows():
    n, m = 40, 24
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), "k")
    largest = te.comm_reducer(lambda x, y: tvm.te.max(x, y), lambda t: te.min_value(t), name="largest")
    B = te.compute((n,), lambda i: largest(A[i, k], axis=k), name="B")
    with te.tag_scope(tag="elemwise"):
        C = te.compute((n,), lambda i: B[i] * tvm.tir.const(2, A.dtype) + te.const(1.0, "float32"), name="C")
    assert C.op.tag == "elemwise"
    s = te.create_schedule(C.op)
    s[C].bind(C.op.axis[0], te.thread_axis((0, n), "threadIdx.x"))
    s[B].compute_at(s[C], C.op.axis[0])
    return s, [A, C], [(n, m)], (n,), lambda a: a.max(axis=1) * 2 + 1


def conv2d():
    """The convolution of TVM's CUDA tutorial in the small: height, width, channel and batch, padded."""
    batch, in_channel, out_channel, in_size, kernel, pad, stride = 4, 8, 16, 7, 3, 1, 1
    out_size = (in_size - kernel + 2 * pad) // stride + 1
    A = te.placeholder((in_size, in_size, in_channel, batch), name="A")
    W = te.placeholder((kernel, kernel, in_channel, out_channel), name="W")
    Apad = te.compute(
        (in_size + 2 * pad, in_size + 2 * pad, in_channel, batch),
        lambda yy, xx, cc, nn: tvm.tir.if_then_else(
            tvm.tir.all(yy >= pad, yy - pad < in_size, xx >= pad, xx - pad < in_size),
            A[yy - pad, xx - pad, cc, nn],
            tvm.tir.const(0.0, "float32"),
        ),
        name="Apad",
    )
    rc = te.reduce_axis((0, in_channel), name="rc")
    ry = te.reduce_axis((0, kernel), name="ry")
    rx = te.reduce_axis((0, kernel), name="rx")
    B = te.compute(
        (out_size, out_size, out_channel, batch),
        lambda yy, xx, ff, nn: te.sum(
            Apad[yy * stride + ry, xx * stride + rx, rc, nn] * W[ry, rx, rc, ff], axis=[ry, rx, rc]
        ),
        name="B",
    )
    s = te.create_schedule(B.op)
    s[Apad].compute_inline()
    AA = s.cache_read(Apad, "shared", [B])
    WW = s.cache_read(W, "shared", [B])
    AL = s.cache_read(AA, "local", [B])
    WL = s.cache_read(WW, "local", [B])
    BL = s.cache_write(B, "local")
    hi, wi, fi, ni = s[B].op.axis
    bz = s[B].fuse(hi, wi)
    by, fi = s[B].split(fi, factor=8)
    ty, fi = s[B].split(fi, nparts=4)
    tx, ni = s[B].split(ni, nparts=2)
    s[B].reorder(bz, by, ty, tx, fi, ni)
    s[B].bind(bz, te.thread_axis("blockIdx.z"))
    s[B].bind(by, te.thread_axis("blockIdx.y"))
    s[B].bind(ty, te.thread_axis((0, 4), "threadIdx.y"))
    s[B].bind(tx, te.thread_axis((0, 2), "threadIdx.x"))
    s[BL].compute_at(s[B], tx)
    yi, xi, fi, ni = s[BL].op.axis
    ry, rx, rc = s[BL].op.reduce_axis
    rco, rci = s[BL].split(rc, factor=4)
    s[BL].reorder(rco, ry, rx, rci, fi, ni)
    s[AA].compute_at(s[BL], rx)
    s[WW].compute_at(s[BL], rx)
    s[AL].compute_at(s[BL], rci)
    s[WL].compute_at(s[BL], rci)

    def reference(a, w):
        padded = np.pad(a, ((pad, pad), (pad, pad), (0, 0), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), axis=(0, 1))
        return np.einsum("yxcnhw,hwcf->yxfn", windows, w)

    shapes = [(in_size, in_size, in_channel, batch), (kernel, kernel, in_channel, out_channel)]
    return s, [A, W, B], shapes, (out_size, out_size, out_channel, batch), reference


def scan():
    """TVM's tutorial on recursive kernels: the cumulative sum of each column."""
    m, n = te.var("m"), te.var("n")
    X = te.placeholder((m, n), name="X")
    s_state = te.placeholder((m, n))
    s_init = te.compute((1, n), lambda _, i: X[0, i])
    s_update = te.compute((m, n), lambda t, i: s_state[t - 1, i] + X[t, i])
    s_scan = te.scan(s_init, s_update, s_state, inputs=[X])
    s = te.create_schedule(s_scan.op)
    num_thread = 256
    block_x, thread_x = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
    xo, xi = s[s_init].split(s_init.op.axis[1], factor=num_thread)
    s[s_init].bind(xo, block_x)
    s[s_init].bind(xi, thread_x)
    xo, xi = s[s_update].split(s_update.op.axis[1], factor=num_thread)
    s[s_update].bind(xo, block_x)
    s[s_update].bind(xi, thread_x)
    return s, [X, s_scan], [(10, 300)], (10, 300), lambda x: np.cumsum(x, axis=0)


SCRIPTS = [vector_add, blocked_gemm, packed_gemm, sum_of_rows, largest_of_rows, conv2d, scan]
