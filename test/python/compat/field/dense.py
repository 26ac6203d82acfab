"""Matrix products: topi's dense and batch_matmul."""

from __future__ import annotations

import numpy as np

from tilewright import te

from . import fetched, flat, inputs, program, random


def matmul(A, B, n: int, m: int, k: int, name: str = "T_dense"):
    axis = te.reduce_axis((0, k), name="k")
    return te.compute((n, m), lambda i, j: te.sum(A[i, axis] * B[j, axis], axis=axis), name=name)


@program((1, 8, 64), (3, 5, 40))
def dense_small_batch(n, m, k):
    """The reduction factored, and combined across threads."""
    x, w = random(n, k), random(m, k)
    A, B = inputs(x, w)
    C = matmul(A, B, n, m, k)
    s = te.create_schedule(C.op)
    _, kf = s[C].split(C.op.reduce_axis[0], factor=16)
    CF = s.rfactor(C, kf)
    s[C].bind(s[C].op.axis[0], te.thread_axis("blockIdx.y"))
    s[C].bind(s[C].op.axis[1], te.thread_axis("blockIdx.x"))
    tx = s[C].op.reduce_axis[0]
    thread_x = te.thread_axis("threadIdx.x")
    s[C].bind(tx, thread_x)
    s[CF].compute_at(s[C], tx)
    s[C].set_store_predicate(thread_x.var.equal(0))
    return s, [A, B, C], [x, w], [x @ w.T]


@program((16, 32, 24), (13, 20, 9))
def dense_large_batch(n, m, k):
    """Tiles in shared memory and in registers, with virtual threads."""
    x, w = random(n, k), random(m, k)
    A, B = inputs(x, w)
    C = matmul(A, B, n, m, k)
    s = te.create_schedule(C.op)
    AA, BB = s.cache_read(A, "shared", [C]), s.cache_read(B, "shared", [C])
    AL, BL = s.cache_read(AA, "local", [C]), s.cache_read(BB, "local", [C])
    CC = s.cache_write(C, "local")
    by, yi = s[C].split(s[C].op.axis[0], factor=8)
    bx, xi = s[C].split(s[C].op.axis[1], factor=16)
    vy, yi = s[C].split(yi, nparts=2)
    vx, xi = s[C].split(xi, nparts=2)
    ty, yi = s[C].split(yi, nparts=2)
    tx, xi = s[C].split(xi, nparts=4)
    s[C].reorder(by, bx, vy, vx, ty, tx, yi, xi)
    for axis, tag in ((by, "blockIdx.y"), (bx, "blockIdx.x"), (ty, "threadIdx.y"), (tx, "threadIdx.x")):
        s[C].bind(axis, te.thread_axis(tag))
    s[C].bind(vy, te.thread_axis("vthread", name="vy"))
    s[C].bind(vx, te.thread_axis("vthread", name="vx"))
    s[CC].compute_at(s[C], tx)
    yo, xo = s[CC].op.axis
    ko, ki = s[CC].split(s[CC].op.reduce_axis[0], factor=8)
    s[CC].reorder(ko, ki, yo, xo)
    s[CC].unroll(ki)
    for shared, local in ((AA, AL), (BB, BL)):
        s[shared].compute_at(s[CC], ko)
        s[local].compute_at(s[CC], ki)
        fetched(s, shared, 2, 4)
    return s, [A, B, C], [x, w], [x @ w.T]


@program((6, 10, 12), (17, 3, 20))
def dense_with_bias_and_relu(n, m, k):
    """What follows is computed where the product is kept."""
    x, w, b = random(n, k), random(m, k), random(m)
    A, B, bias = inputs(x, w, b)
    C = matmul(A, B, n, m, k)
    D = te.compute((n, m), lambda i, j: C[i, j] + bias[j], name="biased", tag="broadcast")
    E = te.compute((n, m), lambda *i: te.max(D(*i), te.const(0, D.dtype)), name="relu", tag="elemwise")
    s = te.create_schedule(E.op)
    s[D].compute_inline()
    io, jo, ii, ji = s[E].tile(*s[E].op.axis, x_factor=4, y_factor=8)
    s[E].bind(io, te.thread_axis("blockIdx.y"))
    s[E].bind(jo, te.thread_axis("blockIdx.x"))
    s[E].bind(ii, te.thread_axis("threadIdx.y"))
    s[E].bind(ji, te.thread_axis("threadIdx.x"))
    s[C].set_scope("local")
    s[C].compute_at(s[E], ji)
    return s, [A, B, bias, E], [x, w, b], [np.maximum(x @ w.T + b, 0)]


@program((5, 7, 16), (12, 9, 10))
def dense_int8(n, m, k):
    x, w = random(n, k, dtype="int8"), random(m, k, dtype="int8")
    A, B = inputs(x, w)
    axis = te.reduce_axis((0, k), name="k")
    C = te.compute(
        (n, m), lambda i, j: te.sum(A[i, axis].astype("int32") * B[j, axis].astype("int32"), axis=axis), name="C"
    )
    s = te.create_schedule(C.op)
    CC = s.cache_write(C, "local")
    flat(s, C, 16)
    s[CC].compute_at(s[C], s[C].leaf_iter_vars[-1])
    return s, [A, B, C], [x, w], [x.astype("int32") @ w.T.astype("int32")]


@program((2, 6, 8, 12), (3, 9, 5, 7))
def batch_matmul(batch, n, m, k):
    """Rows of a batch by columns of its own."""
    x, w = random(batch, n, k), random(batch, m, k)
    A, B = inputs(x, w)
    axis = te.reduce_axis((0, k), name="k")
    C = te.compute(
        (batch, n, m), lambda b, i, j: te.sum(A[b, i, axis] * B[b, j, axis], axis=axis), name="T_batch_matmul"
    )
    s = te.create_schedule(C.op)
    AA, BB = s.cache_read(A, "shared", [C]), s.cache_read(B, "shared", [C])
    CC = s.cache_write(C, "local")
    b, y, x_ = s[C].op.axis
    by, y = s[C].split(y, factor=4)
    bx, x_ = s[C].split(x_, factor=8)
    ty, yi = s[C].split(y, nparts=2)
    tx, xi = s[C].split(x_, nparts=4)
    s[C].reorder(b, by, bx, ty, tx, yi, xi)
    s[C].bind(b, te.thread_axis("blockIdx.z"))
    s[C].bind(by, te.thread_axis("blockIdx.y"))
    s[C].bind(bx, te.thread_axis("blockIdx.x"))
    s[C].bind(ty, te.thread_axis((0, 2), "threadIdx.y"))
    s[C].bind(tx, te.thread_axis((0, 4), "threadIdx.x"))
    s[C].pragma(yi, "auto_unroll_max_step", 16)
    s[CC].compute_at(s[C], tx)
    _, yi, xi = s[CC].op.axis
    ko, ki = s[CC].split(s[CC].op.reduce_axis[0], factor=4)
    s[CC].reorder(ko, ki, yi, xi)
    for shared in (AA, BB):
        s[shared].compute_at(s[CC], ko)
        fetched(s, shared, 2, 4)
    return s, [A, B, C], [x, w], [np.einsum("bik,bjk->bij", x, w)]


@program((7, 33), (4, 64))
def gemv_by_threads_of_a_row(n, k):
    x, v = random(n, k), random(k)
    A, V = inputs(x, v)
    axis = te.reduce_axis((0, k), name="k")
    C = te.compute((n,), lambda i: te.sum(A[i, axis] * V[axis], axis=axis), name="C")
    s = te.create_schedule(C.op)
    _, thread = s[C].split(C.op.reduce_axis[0], factor=32)
    s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
    s[C].bind(thread, te.thread_axis("threadIdx.x"))
    return s, [A, V, C], [x, v], [x @ v]


@program((8, 12, 16), (9, 9, 9))
def transposed_product(n, m, k):
    """A and B both transposed, and the transpose of the result as well."""
    x, w = random(k, n), random(m, k)
    A, B = inputs(x, w)
    axis = te.reduce_axis((0, k), name="k")
    C = te.compute((n, m), lambda i, j: te.sum(A[axis, i] * B[j, axis], axis=axis), name="C")
    D = te.compute((m, n), lambda j, i: C[i, j] * 2.0, name="D")
    s = te.create_schedule(D.op)
    jo, io, ji, ii = s[D].tile(*D.op.axis, 4, 4)
    s[D].bind(jo, te.thread_axis("blockIdx.y"))
    s[D].bind(io, te.thread_axis("blockIdx.x"))
    s[C].compute_at(s[D], io)
    s[C].bind(C.op.axis[0], te.thread_axis("threadIdx.x"))
    s[C].bind(C.op.axis[1], te.thread_axis("threadIdx.y"))
    s[D].bind(ji, te.thread_axis("threadIdx.y"))
    s[D].bind(ii, te.thread_axis("threadIdx.x"))
    return s, [A, B, D], [x, w], [(x.T @ w.T).T * 2]
