"""Softmax, normalisations and reductions, with the schedules that topi has for GPUs."""

from __future__ import annotations

import numpy as np

from tilewright import te

from . import flat, inputs, program, random


def by_threads(s: te.Schedule, tensor: te.Tensor, threads: int) -> None:
    """A reduction in two steps: factored by threads, and combined across them."""
    fused = s[tensor].fuse(*s[tensor].op.reduce_axis)
    _, ki = s[tensor].split(fused, factor=threads)
    partial = s.rfactor(tensor, ki)
    tx = s[tensor].op.reduce_axis[0]
    s[tensor].bind(tx, te.thread_axis("threadIdx.x"))
    parts = partial if isinstance(partial, tuple) else (partial,)
    s[parts[0]].compute_at(s[tensor], tx)


@program((5, 21), (3, 64))
def softmax(m, n):
    x = random(m, n)
    (A,) = inputs(x)
    k1, k2 = te.reduce_axis((0, n), name="k"), te.reduce_axis((0, n), name="k")
    top = te.compute((m,), lambda i: te.max(A[i, k1], axis=k1), name="T_softmax_maxelem")
    power = te.compute((m, n), lambda i, j: te.exp(A[i, j] - top[i]), name="T_softmax_exp")
    total = te.compute((m,), lambda i: te.sum(power[i, k2], axis=k2), name="T_softmax_expsum")
    B = te.compute((m, n), lambda i, j: power[i, j] / total[i], name="T_softmax_norm", tag="softmax_output")
    s = te.create_schedule(B.op)
    for tensor in (power, B):
        s[tensor].bind(s[tensor].op.axis[0], te.thread_axis("blockIdx.x"))
        _, tx = s[tensor].split(s[tensor].op.axis[1], factor=16)
        s[tensor].bind(tx, te.thread_axis("threadIdx.x"))
    for tensor in (top, total):
        by_threads(s, tensor, 16)
        s[tensor].bind(s[tensor].op.axis[0], te.thread_axis("blockIdx.x"))
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return s, [A, B], [x], [e / e.sum(axis=1, keepdims=True)]


@program((4, 10), (2, 33))
def log_softmax(m, n):
    x = random(m, n)
    (A,) = inputs(x)
    k1, k2 = te.reduce_axis((0, n), name="k"), te.reduce_axis((0, n), name="k")
    top = te.compute((m,), lambda i: te.max(A[i, k1], axis=k1), name="top")
    total = te.compute((m,), lambda i: te.sum(te.exp(A[i, k2] - top[i]), axis=k2), name="total")
    B = te.compute((m, n), lambda i, j: A[i, j] - top[i] - te.log(total[i]), name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    for tensor in (top, total):
        s[tensor].compute_at(s[B], B.op.axis[0])
        s[tensor].set_scope("shared")
        _, tx = s[tensor].split(tensor.op.reduce_axis[0], factor=8)
        s[tensor].bind(tx, te.thread_axis("threadIdx.x"))
    _, tx = s[B].split(B.op.axis[1], factor=8)
    s[B].bind(tx, te.thread_axis("threadIdx.x"))
    top_ = x.max(axis=1, keepdims=True)
    return s, [A, B], [x], [x - top_ - np.log(np.exp(x - top_).sum(axis=1, keepdims=True))]


@program((6, 12), (3, 50))
def layer_norm(m, n):
    """Mean and variance from one pass that adds up pairs."""
    x, g, b = random(m, n), random(n), random(n)
    A, gamma, beta = inputs(x, g, b)
    k = te.reduce_axis((0, n), name="k")
    pair = te.comm_reducer(
        lambda p, q: (p[0] + q[0], p[1] + q[1]), lambda t0, t1: (te.const(0, t0), te.const(0, t1)), name="pair"
    )
    S, Q = te.compute((m,), lambda i: pair((A[i, k], A[i, k] * A[i, k]), axis=k), name="moments")

    def element(i, j):
        mean = S[i] / float(n)
        return (A[i, j] - mean) * te.rsqrt(Q[i] / float(n) - mean * mean + 1e-5) * gamma[j] + beta[j]

    B = te.compute((m, n), element, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    _, tx = s[B].split(B.op.axis[1], factor=16)
    s[B].bind(tx, te.thread_axis("threadIdx.x"))
    s[S].compute_at(s[B], B.op.axis[0])
    _, tk = s[S].split(S.op.reduce_axis[0], factor=16)
    s[S].bind(tk, te.thread_axis("threadIdx.x"))
    expected = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * g + b
    return s, [A, gamma, beta, B], [x, g, b], [expected]


@program((2, 3, 4), (1, 5, 3))
def batch_norm(n, channels, size):
    """Inference: what is broadcast is inlined, and the rest is one kernel."""
    x, mean, var = random(n, channels, size, size), random(channels), random(channels) + 2
    g, b = random(channels) + 1, random(channels) + 3
    A, M, V, G, B = inputs(x, mean, var, g, b)
    centred = te.compute(x.shape, lambda i, c, y, z: A[i, c, y, z] - M[c], name="centred")
    scaled = te.compute(x.shape, lambda i, c, y, z: centred[i, c, y, z] * te.rsqrt(V[c] + 1e-3), name="scaled")
    C = te.compute(x.shape, lambda i, c, y, z: scaled[i, c, y, z] * G[c] + B[c], name="C")
    s = te.create_schedule(C.op)
    te.schedule.AutoInlineBroadcast(s)
    flat(s, C)
    m, v, gg, bb = (one[:, None, None] for one in (mean, var, g, b))
    return s, [A, M, V, G, B, C], [x, mean, var, g, b], [(x - m) / np.sqrt(v + 1e-3) * gg + bb]


@program((2, 12), (3, 7))
def l2_normalize(m, n):
    x = random(m, n)
    (A,) = inputs(x)
    k = te.reduce_axis((0, n), name="k")
    total = te.compute((m,), lambda i: te.sum(A[i, k] * A[i, k], axis=k), name="total")
    B = te.compute((m, n), lambda i, j: A[i, j] / te.sqrt(te.max(total[i], 1e-6)), name="B")
    s = te.create_schedule(B.op)
    by_threads(s, total, 4)
    s[total].bind(s[total].op.axis[0], te.thread_axis("blockIdx.x"))
    flat(s, B, 8)
    return s, [A, B], [x], [x / np.sqrt((x * x).sum(axis=1, keepdims=True))]


@program((1, 6, 4), (2, 5, 3))
def local_response_normalization(n, channels, size):
    """Across channels, with a border of zeros."""
    x = random(n, channels, size, size)
    (A,) = inputs(x)
    P = te.compute(
        (n, channels + 2, size, size),
        lambda b, c, i, j: te.if_then_else(te.all(c >= 1, c < channels + 1), A[b, c - 1, i, j], 0.0),
        name="P",
    )
    k = te.reduce_axis((0, 3), name="k")
    square = te.compute(
        x.shape, lambda b, c, i, j: te.sum(P[b, c + k, i, j] * P[b, c + k, i, j], axis=k), name="square"
    )
    B = te.compute(
        x.shape, lambda b, c, i, j: A[b, c, i, j] / te.power(2.0 + square[b, c, i, j] * (0.5 / 3), 0.75), name="B"
    )
    s = te.create_schedule(B.op)
    s[P].compute_inline()
    flat(s, square)
    flat(s, B)
    around = np.pad(x * x, ((0, 0), (1, 1), (0, 0), (0, 0)))
    total = around[:, :-2] + around[:, 1:-1] + around[:, 2:]
    return s, [A, B], [x], [x / (2 + total * 0.5 / 3) ** 0.75]


@program((3, 4, 5), (2, 7, 11))
def sum_over_outer_and_inner(a, b, c):
    """topi's schedule_reduce: fused, factored, and stored by one thread."""
    x = random(a, b, c)
    (A,) = inputs(x)
    k0, k2 = te.reduce_axis((0, a), name="k0"), te.reduce_axis((0, c), name="k2")
    B = te.compute((b,), lambda j: te.sum(A[k0, j, k2], axis=[k0, k2]), name="A_red")
    C = te.compute((b,), lambda j: B[j] * 0.5, name="C")
    s = te.create_schedule(C.op)
    by_threads(s, B, 8)
    bx, ty = s[B].split(s[B].op.axis[0], factor=4)
    s[B].bind(bx, te.thread_axis("blockIdx.x"))
    s[B].bind(ty, te.thread_axis("threadIdx.y"))
    s[B].set_store_predicate(te.thread_axis("threadIdx.x").var.equal(0))
    flat(s, C, 8)
    return s, [A, C], [x], [x.sum(axis=(0, 2)) / 2]


@program((6, 17), (3, 32))
def argmax_of_rows(m, n):
    """Pairs of place and value; the first of equal ones."""
    x = np.round(random(m, n) * 3).astype("float32")
    (A,) = inputs(x)

    def better(p, q):
        first = te.any(p[1] > q[1], te.all(p[1].equal(q[1]), p[0] < q[0]))
        return te.select(first, p[0], q[0]), te.select(first, p[1], q[1])

    argmax = te.comm_reducer(better, lambda t0, t1: (te.max_value(t0), te.min_value(t1)), name="argmax")
    k = te.reduce_axis((0, n), name="k")
    at, value = te.compute((m,), lambda i: argmax((k, A[i, k]), axis=k), name="A_red_temp")
    s = te.create_schedule(at.op)
    _, tx = s[at].split(at.op.reduce_axis[0], factor=16)
    s[at].bind(at.op.axis[0], te.thread_axis("blockIdx.x"))
    s[at].bind(tx, te.thread_axis("threadIdx.x"))
    return s, [A, at, value], [x], [x.argmax(axis=1).astype("int32"), x.max(axis=1)]


@program((4, 9), (2, 40))
def all_and_any(m, n):
    x = random(m, n) + 0.9
    (A,) = inputs(x)
    k1, k2 = te.reduce_axis((0, n), name="k"), te.reduce_axis((0, n), name="k")
    B = te.compute((m,), lambda i: te.min((A[i, k1] > 0.0).astype("int8"), axis=k1), name="B")
    C = te.compute((m,), lambda i: te.max((A[i, k2] > 1.5).astype("int8"), axis=k2), name="C")
    s = te.create_schedule([B.op, C.op])
    for tensor in (B, C):
        s[tensor].bind(tensor.op.axis[0], te.thread_axis("threadIdx.x"))
    return s, [A, B, C], [x], [(x > 0).all(1).astype("int8"), (x > 1.5).any(1).astype("int8")]
