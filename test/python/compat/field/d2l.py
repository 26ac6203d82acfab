"""What the chapters of d2l-tvm build: the same computes for a processor and for a GPU, step by step."""

from __future__ import annotations

import numpy as np

from tilewright import te

from . import flat, inputs, padded, program, random, same_pad, windows


@program((3, 5), (4, 1))
def broadcast_add(m, n):
    """Shapes of which some extents are 1."""
    x, y = random(m, 1), random(1, n)
    A, B = inputs(x, y)

    def at(tensor, *places):
        return tensor(*(0 if extent.value == 1 else place for extent, place in zip(tensor.shape, places)))

    C = te.compute((m, n), lambda i, j: at(A, i, j) + at(B, i, j), name="C")
    s = te.create_schedule(C.op)
    i, j = C.op.axis
    s[C].bind(i, te.thread_axis("blockIdx.x"))
    s[C].bind(j, te.thread_axis("threadIdx.x"))
    return s, [A, B, C], [x, y], [x + y]


@program((12, 16, 8), (9, 10, 7))
def matmul_in_blocks_of_a_processor(n, m, k):
    """Tiled, its inner loops reordered, kept in a block of its own, vectorized and in parallel."""
    x, w = random(n, k), random(k, m)
    A, B = inputs(x, w)
    axis = te.reduce_axis((0, k), name="k")
    C = te.compute((n, m), lambda i, j: te.sum(A[i, axis] * B[axis, j], axis=axis), name="C")
    s = te.create_schedule(C.op)
    CC = s.cache_write(C, "local")
    io, jo, ii, ji = s[C].tile(*C.op.axis, 4, 8)
    s[CC].compute_at(s[C], jo)
    ci, cj = s[CC].op.axis
    ko, ki = s[CC].split(s[CC].op.reduce_axis[0], factor=4)
    s[CC].reorder(ko, ci, ki, cj)
    s[CC].vectorize(cj)
    s[CC].unroll(ki)
    s[C].parallel(io)
    return s, [A, B, C], [x, w], [x @ w]


@program((4, 6, 4, 8), (2, 5, 8, 4))
def packed_convolution_of_a_processor(ci, size, co, pack):
    """Channels in packs: the image and the weights are packed first, the result is unpacked."""
    ic, oc = min(ci, pack), min(co, pack)
    x, w = random(ci, size, size), random(co, ci, 3, 3)
    A, W = inputs(x, w)
    P = same_pad(A, 1, (1, 2))
    AP = te.compute((ci // ic, size + 2, size + 2, ic), lambda co_, y, z, c: P[co_ * ic + c, y, z], name="packedX")
    WP = te.compute(
        (co // oc, ci // ic, 3, 3, ic, oc),
        lambda fo, co_, y, z, c, f: W[fo * oc + f, co_ * ic + c, y, z],
        name="packedK",
    )
    axes = [te.reduce_axis((0, e), name=m) for e, m in ((ci // ic, "rco"), (ic, "rci"), (3, "rkh"), (3, "rkw"))]
    rco, rci, ry, rx = axes
    Y = te.compute(
        (co // oc, size, size, oc),
        lambda fo, y, z, f: te.sum(AP[rco, y + ry, z + rx, rci] * WP[fo, rco, ry, rx, rci, f], axis=axes),
        name="Y",
    )
    C = te.compute((co, size, size), lambda f, y, z: Y[te.indexdiv(f, oc), y, z, te.indexmod(f, oc)], name="unpackedY")
    s = te.create_schedule(C.op)
    s[P].compute_inline()
    fo, y, z, f = Y.op.axis
    s[Y].reorder(fo, y, rco, ry, rx, rci, z, f)
    s[Y].vectorize(f)
    s[Y].parallel(s[Y].fuse(fo, y))
    s[AP].vectorize(AP.op.axis[3])
    s[C].parallel(C.op.axis[0])
    found = windows(padded(x, 1, (1, 2)), (3, 3), 1)
    return s, [A, W, C], [x, w], [np.einsum("cyxij,fcij->fyx", found, w)]


@program((2, 5), (3, 8))
def depthwise_convolution_of_a_processor(channels, size):
    x, w = random(channels, size, size), random(channels, 1, 3, 3)
    A, W = inputs(x, w)
    P = same_pad(A, 1, (1, 2))
    ry, rx = te.reduce_axis((0, 3), name="rkh"), te.reduce_axis((0, 3), name="rkw")
    C = te.compute(
        (channels, size, size), lambda c, i, j: te.sum(P[c, i + ry, j + rx] * W[c, 0, ry, rx], axis=[ry, rx]), name="Y"
    )
    s = te.create_schedule(C.op)
    c, i, j = C.op.axis
    s[C].reorder(c, i, ry, rx, j)
    s[C].parallel(c)
    s[P].compute_at(s[C], c)
    expected = np.einsum("cyxij,cij->cyx", windows(padded(x, 1, (1, 2)), (3, 3), 1), w[:, 0])
    return s, [A, W, C], [x, w], [expected]


@program((3, 6, 2), (2, 9, 3))
def pooling_of_a_processor(channels, size, kernel):
    """Both kinds, one after the other in a program."""
    x = random(channels, size, size)
    (A,) = inputs(x)
    out = size // kernel
    axes = [[te.reduce_axis((0, kernel), name=f"r{n}") for n in range(2)] for _ in range(2)]
    top = te.compute(
        (channels, out, out),
        lambda c, i, j: te.max(A[c, i * kernel + axes[0][0], j * kernel + axes[0][1]], axis=axes[0]),
        name="top",
    )
    total = te.compute(
        (channels, out, out),
        lambda c, i, j: te.sum(A[c, i * kernel + axes[1][0], j * kernel + axes[1][1]], axis=axes[1]),
        name="total",
    )
    mean = te.compute(total.shape, lambda *i: total(*i) / float(kernel * kernel), name="mean")
    s = te.create_schedule([top.op, mean.op])
    s[top].parallel(top.op.axis[0])
    s[total].compute_at(s[mean], mean.op.axis[2])
    s[mean].parallel(s[mean].fuse(*mean.op.axis[:2]))
    found = windows(x, (kernel, kernel), kernel)[:, :out, :out]
    return s, [A, top, mean], [x], [found.max(axis=(-1, -2)), found.mean(axis=(-1, -2))]


@program((8,), (17,))
def vector_sum_in_bfloat16_and_halves(n):
    """Types other than float32, converted on the way."""
    x, y = random(n), random(n)
    A, B = inputs(x.astype("float16"), y)
    C = te.compute((n,), lambda i: A[i].astype("float32") * B[i], name="C")
    D = te.compute((n,), lambda i: C[i].astype("float16") + te.const(1, "float16"), name="D")
    s = te.create_schedule([C.op, D.op])
    flat(s, C, 8)
    flat(s, D, 8)
    c = x.astype("float16").astype("float32") * y
    return s, [A, B, C, D], [x.astype("float16"), y], [c, c.astype("float16") + np.float16(1)]


@program((2, 4, 6, 3), (1, 3, 5, 4))
def convolution_of_a_gpu(ci, co, size, tile):
    """Tiles of channels and rows, what they need in shared memory."""
    x, w = random(ci, size, size), random(co, ci, 3, 3)
    A, W = inputs(x, w)
    P = same_pad(A, 1, (1, 2))
    axes = [te.reduce_axis((0, e), name=m) for e, m in ((ci, "rc"), (3, "ry"), (3, "rx"))]
    rc, ry, rx = axes
    C = te.compute(
        (co, size, size), lambda f, i, j: te.sum(P[rc, i + ry, j + rx] * W[f, rc, ry, rx], axis=axes), name="Y"
    )
    s = te.create_schedule(C.op)
    s[P].compute_inline()
    PP, WW = s.cache_read(P, "shared", [C]), s.cache_read(W, "shared", [C])
    OL = s.cache_write(C, "local")
    f, i, j = s[C].op.axis
    bf, tf = s[C].split(f, factor=2)
    bi, ti = s[C].split(i, factor=tile)
    s[C].reorder(bf, bi, tf, ti, j)
    s[C].bind(bf, te.thread_axis("blockIdx.y"))
    s[C].bind(bi, te.thread_axis("blockIdx.x"))
    s[C].bind(tf, te.thread_axis("threadIdx.y"))
    s[C].bind(ti, te.thread_axis("threadIdx.x"))
    s[OL].compute_at(s[C], ti)
    own = s[OL].op.axis
    rc, ry, rx = s[OL].op.reduce_axis
    s[OL].reorder(rc, ry, rx, *own)
    for shared in (PP, WW):
        s[shared].compute_at(s[OL], rc)
        fused = s[shared].fuse(*s[shared].op.axis)
        _, tx = s[shared].split(fused, factor=tile)
        s[shared].bind(tx, te.thread_axis("threadIdx.x"))
    found = windows(padded(x, 1, (1, 2)), (3, 3), 1)
    return s, [A, W, C], [x, w], [np.einsum("cyxij,fcij->fyx", found, w)]
