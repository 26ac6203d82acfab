"""Shapes, gathers and elementwise chains."""

from __future__ import annotations

import numpy as np

from tilewright import te

from . import flat, inputs, program, random


@program((3, 4, 5), (2, 2, 9))
def concatenate(a, b, n):
    x, y = random(a, n), random(b, n)
    A, B = inputs(x, y)
    C = te.compute((a + b, n), lambda i, j: te.if_then_else(i < a, A[i, j], B[i - a, j]), name="T_concat")
    s = te.create_schedule(C.op)
    flat(s, C)
    return s, [A, B, C], [x, y], [np.concatenate([x, y])]


@program((3, 4, 5), (1, 6, 2))
def transpose_and_reshape(a, b, c):
    x = random(a, b, c)
    (A,) = inputs(x)
    T = te.compute((c, a, b), lambda i, j, k: A[j, k, i], name="T_transpose", tag="injective")
    R = te.compute((c * a, b), lambda i, j: T[te.indexdiv(i, a), te.indexmod(i, a), j], name="T_reshape")
    s = te.create_schedule(R.op)
    te.schedule.AutoInlineInjective(s)
    flat(s, R)
    return s, [A, R], [x], [x.transpose(2, 0, 1).reshape(c * a, b)]


@program((9, 7, 2), (12, 5, 3))
def strided_slice_and_mirror(m, n, step):
    x = random(m, n)
    (A,) = inputs(x)
    rows = (m - 1 + step - 1) // step
    S = te.compute((rows, n), lambda i, j: A[1 + i * step, j], name="T_strided_slice")

    def mirrored(j):
        j = j - 2
        low = te.if_then_else(j < 0, 0 - j, j)
        return te.if_then_else(low >= n, 2 * n - 2 - low, low)

    B = te.compute((rows, n + 4), lambda i, j: S[i, mirrored(j)], name="MirrorPadInput")
    s = te.create_schedule(B.op)
    s[S].compute_inline()
    flat(s, B)
    return s, [A, B], [x], [np.pad(x[1::step], ((0, 0), (2, 2)), mode="reflect")]


@program((6, 5, 4), (9, 3, 7))
def take_and_one_hot(m, n, count):
    """Rows by numbers of the data, clipped as topi does."""
    x, ids = random(m, n), np.random.default_rng(0).integers(-2, m + 2, count).astype("int32")
    A, I = inputs(x, ids)  # noqa: E741
    B = te.compute((count, n), lambda i, j: A[te.max(te.min(I[i], m - 1), 0), j], name="T_take")
    C = te.compute((count, m), lambda i, j: te.select(I[i].equal(j), 1.0, 0.0), name="T_one_hot")
    s = te.create_schedule([B.op, C.op])
    flat(s, B)
    flat(s, C)
    return s, [A, I, B, C], [x, ids], [x[ids.clip(0, m - 1)], (ids[:, None] == np.arange(m)).astype("float32")]


@program((2, 4, 3), (1, 6, 2))
def space_to_depth_and_back(n, size, block):
    x = random(n, 2, size * block, size * block)
    (A,) = inputs(x)
    D = te.compute(
        (n, 2 * block * block, size, size),
        lambda b, c, y, z: A[
            b,
            te.indexmod(c, 2),
            y * block + te.indexdiv(c, 2 * block),
            z * block + te.indexmod(te.indexdiv(c, 2), block),
        ],
        name="space_to_depth",
    )
    B = te.compute(
        x.shape,
        lambda b, c, y, z: (
            D[
                b,
                (te.indexmod(y, block) * block + te.indexmod(z, block)) * 2 + c,
                te.indexdiv(y, block),
                te.indexdiv(z, block),
            ]
            * 2.0
        ),
        name="depth_to_space",
    )
    s = te.create_schedule([D.op, B.op])
    flat(s, D)
    flat(s, B)
    deep = x.reshape(n, 2, size, block, size, block).transpose(0, 3, 5, 1, 2, 4).reshape(n, -1, size, size)
    return s, [A, D, B], [x], [deep, x * 2]


@program((3, 8), (5, 12))
def elementwise_chain(m, n):
    """Inlined, vectorized, in blocks of threads."""
    x, y = random(m, n), random(n)
    A, B = inputs(x, y)
    C = te.compute((m, n), lambda i, j: A[i, j] + B[j], name="T_add", tag="broadcast")
    D = te.compute((m, n), lambda i, j: te.max(C[i, j], C[i, j] * 0.1), name="leaky", tag="elemwise")
    E = te.compute((m, n), lambda i, j: te.tanh(D[i, j]) + te.sigmoid(D[i, j]), name="E", tag="elemwise")
    s = te.create_schedule(E.op)
    te.schedule.AutoInlineElemWise(s)
    te.schedule.AutoInlineBroadcast(s)
    fused = s[E].fuse(*E.op.axis)
    rest, lanes = s[E].split(fused, factor=4)
    bx, tx = s[E].split(rest, factor=8)
    s[E].bind(bx, te.thread_axis("blockIdx.x"))
    s[E].bind(tx, te.thread_axis("threadIdx.x"))
    s[E].vectorize(lanes)
    c = x + y
    d = np.maximum(c, c * np.float32(0.1))
    return s, [A, B, E], [x, y], [np.tanh(d) + 1 / (1 + np.exp(-d))]
