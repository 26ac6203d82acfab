"""The programs whose source docs/take-it-away.md shows; tools/regenerate-docs.py writes it there."""

from __future__ import annotations

import tilewright as tw
from tilewright import te

# vector_add
n = te.var("n")
A = te.placeholder((n,), name="A")
B = te.placeholder((n,), name="B")
C = te.compute((n,), lambda i: A[i] + B[i], name="C")
s = te.create_schedule(C.op)
block, thread = s[C].split(C.op.axis[0], factor=256)
s[C].bind(block, te.thread_axis("blockIdx.x"))
s[C].bind(thread, te.thread_axis("threadIdx.x"))
vector_add = tw.build(s, [A, B, C], "cuda -arch=sm_90a", "vector_add")

# normalized
X = te.placeholder((n, 64), name="X")
k = te.reduce_axis((0, 64), name="k")
r = te.reduce_axis((0, 64), name="r")
total = te.compute((n,), lambda i: te.sum(X[i, k], axis=k), name="total")
mean = te.compute((n,), lambda i: total[i] / 64, name="mean")
squares = te.compute((n,), lambda i: te.sum((X[i, r] - mean[i]) * (X[i, r] - mean[i]), axis=r), name="squares")
scale = te.compute((n,), lambda i: te.rsqrt(squares[i] / 64 + 1e-5), name="scale")
Y = te.compute((n, 64), lambda i, j: (X[i, j] - mean[i]) * scale[i], name="Y")
s = te.create_schedule(Y.op)
for tensor in (total, mean, squares, scale):
    block, thread = s[tensor].split(tensor.op.axis[0], factor=128)
    s[tensor].bind(block, te.thread_axis("blockIdx.x"))
    s[tensor].bind(thread, te.thread_axis("threadIdx.x"))
s[Y].bind(Y.op.axis[0], te.thread_axis("blockIdx.x"))
s[Y].bind(Y.op.axis[1], te.thread_axis("threadIdx.x"))
normalized = tw.build(s, [X, Y], "cuda -arch=sm_90a", "normalized", host="managed")
