"""Convolutions: topi's conv1d, conv2d, conv3d, depthwise, grouped and transposed ones."""

from __future__ import annotations

import numpy as np

from tilewright import te

from . import fetched, flat, inputs, padded, program, random, same_pad, windows


@program((1, 4, 6, 8, 3, 1, 1), (2, 3, 9, 5, 3, 2, 1))
def conv2d_nchw_direct(n, ci, size, co, kernel, stride, pad):
    """Tiles of the image and the weights in shared memory, virtual threads over channels."""
    x, w = random(n, ci, size, size), random(co, ci, kernel, kernel)
    A, W = inputs(x, w)
    P = same_pad(A, pad, (2, 3), name="pad_temp")
    out = (size + 2 * pad - kernel) // stride + 1
    rc = te.reduce_axis((0, ci), name="rc")
    ry, rx = te.reduce_axis((0, kernel), name="ry"), te.reduce_axis((0, kernel), name="rx")
    C = te.compute(
        (n, co, out, out),
        lambda nn, ff, yy, xx: te.sum(
            P[nn, rc, yy * stride + ry, xx * stride + rx] * W[ff, rc, ry, rx], axis=[rc, ry, rx]
        ),
        name="conv",
        tag="conv2d_nchw",
    )
    s = te.create_schedule(C.op)
    s[P].compute_inline()
    OL = s.cache_write(C, "local")
    AA, WW = s.cache_read(P, "shared", [OL]), s.cache_read(W, "shared", [OL])
    nn, f, y, xx = s[C].op.axis
    bf, f = s[C].split(f, factor=4)
    vf, tf = s[C].split(f, nparts=2)
    bx, tx = s[C].split(xx, factor=4)
    s[C].reorder(nn, bf, y, bx, vf, tf, tx)
    bz = s[C].fuse(nn, bf)
    for axis, tag in ((bz, "blockIdx.z"), (y, "blockIdx.y"), (bx, "blockIdx.x")):
        s[C].bind(axis, te.thread_axis(tag))
    s[C].bind(vf, te.thread_axis("vthread"))
    s[C].bind(tf, te.thread_axis("threadIdx.y"))
    s[C].bind(tx, te.thread_axis("threadIdx.x"))
    s[OL].compute_at(s[C], tx)
    own = s[OL].op.axis
    rc, ry, rx = s[OL].op.reduce_axis
    rco, rci = s[OL].split(rc, factor=2)
    s[OL].reorder(rco, ry, rx, rci, *own)
    for shared in (AA, WW):
        s[shared].compute_at(s[OL], ry)
        fetched(s, shared, 2, 4)
    found = windows(padded(x, pad, (2, 3)), (kernel, kernel), stride)
    return s, [A, W, C], [x, w], [np.einsum("ncyxij,fcij->nfyx", found, w)]


@program((1, 6, 4, 3, 3), (2, 5, 3, 8, 2))
def conv2d_nhwc(n, size, ci, co, kernel):
    x, w = random(n, size, size, ci), random(kernel, kernel, ci, co)
    A, W = inputs(x, w)
    out = size - kernel + 1
    ry, rx = te.reduce_axis((0, kernel), name="ry"), te.reduce_axis((0, kernel), name="rx")
    rc = te.reduce_axis((0, ci), name="rc")
    C = te.compute(
        (n, out, out, co),
        lambda nn, yy, xx, ff: te.sum(A[nn, yy + ry, xx + rx, rc] * W[ry, rx, rc, ff], axis=[ry, rx, rc]),
        name="Conv2dOutput",
    )
    s = te.create_schedule(C.op)
    OL = s.cache_write(C, "local")
    nn, y, xx, f = s[C].op.axis
    pixel = s[C].fuse(y, xx)
    tx, fi = s[C].split(f, nparts=2)
    s[C].bind(nn, te.thread_axis("blockIdx.y"))
    s[C].bind(pixel, te.thread_axis("blockIdx.x"))
    s[C].bind(tx, te.thread_axis("threadIdx.x"))
    s[OL].compute_at(s[C], tx)
    s[C].unroll(fi)
    found = windows(x.transpose(0, 3, 1, 2), (kernel, kernel), 1)
    return s, [A, W, C], [x, w], [np.einsum("ncyxij,ijcf->nyxf", found, w)]


@program((1, 2, 9, 4, 2, 1), (1, 3, 11, 2, 3, 2))
def conv2d_dilated(n, ci, size, co, dilation, stride):
    x, w = random(n, ci, size, size), random(co, ci, 3, 3)
    A, W = inputs(x, w)
    pad = dilation
    P = same_pad(A, pad, (2, 3))
    out = (size + 2 * pad - 2 * dilation - 1) // stride + 1
    axes = [te.reduce_axis((0, extent), name=name) for extent, name in ((ci, "rc"), (3, "ry"), (3, "rx"))]
    rc, ry, rx = axes
    C = te.compute(
        (n, co, out, out),
        lambda b, f, y, xx: te.sum(
            P[b, rc, y * stride + ry * dilation, xx * stride + rx * dilation] * W[f, rc, ry, rx], axis=axes
        ),
        name="C",
    )
    s = te.create_schedule(C.op)
    flat(s, P)
    flat(s, C)
    found = windows(padded(x, pad, (2, 3)), (3, 3), stride, dilation)
    return s, [A, W, C], [x, w], [np.einsum("ncyxij,fcij->nfyx", found, w)]


@program((1, 4, 7, 2), (2, 3, 6, 1))
def depthwise_conv2d_nchw(n, channels, size, multiplier):
    """Each channel by filters of its own, a block for each."""
    x, w = random(n, channels, size, size), random(channels, multiplier, 3, 3)
    A, W = inputs(x, w)
    P = same_pad(A, 1, (2, 3), name="PaddedInput")
    di, dj = te.reduce_axis((0, 3), name="di"), te.reduce_axis((0, 3), name="dj")
    C = te.compute(
        (n, channels * multiplier, size, size),
        lambda b, c, i, j: te.sum(
            P[b, te.indexdiv(c, multiplier), i + di, j + dj]
            * W[te.indexdiv(c, multiplier), te.indexmod(c, multiplier), di, dj],
            axis=[di, dj],
        ),
        name="DepthwiseConv2d",
    )
    s = te.create_schedule(C.op)
    s[P].compute_inline()
    PS, FS = s.cache_read(P, "shared", [C]), s.cache_read(W, "shared", [C])
    OL = s.cache_write(C, "local")
    b, c, y, xx = s[C].op.axis
    block = s[C].fuse(b, c)
    ty, yi = s[C].split(y, nparts=4)
    tx, xi = s[C].split(xx, nparts=4)
    s[C].reorder(block, ty, tx, yi, xi)
    s[C].bind(block, te.thread_axis("blockIdx.x"))
    s[C].bind(ty, te.thread_axis("threadIdx.y"))
    s[C].bind(tx, te.thread_axis("threadIdx.x"))
    s[OL].compute_at(s[C], tx)
    for shared in (PS, FS):
        s[shared].compute_at(s[C], block)
        fetched(s, shared, 4, 4)
    found = windows(padded(x, 1, (2, 3)), (3, 3), 1)
    expected = np.einsum("ncyxij,cmij->ncmyx", found, w).reshape(n, channels * multiplier, size, size)
    return s, [A, W, C], [x, w], [expected]


@program((1, 5, 8), (2, 6, 3))
def depthwise_conv2d_nhwc(n, size, channels):
    x, w = random(n, size, size, channels), random(3, 3, channels)
    A, W = inputs(x, w)
    di, dj = te.reduce_axis((0, 3), name="di"), te.reduce_axis((0, 3), name="dj")
    C = te.compute(
        (n, size - 2, size - 2, channels),
        lambda b, i, j, c: te.sum(A[b, i + di, j + dj, c] * W[di, dj, c], axis=[di, dj]),
        name="C",
    )
    s = te.create_schedule(C.op)
    b, h, w_, c = s[C].op.axis
    fused = s[C].fuse(b, h, w_)
    s[C].bind(fused, te.thread_axis("blockIdx.x"))
    co, ci = s[C].split(c, factor=4)
    s[C].bind(ci, te.thread_axis("threadIdx.x"))
    expected = np.einsum("ncyxij,ijc->nyxc", windows(x.transpose(0, 3, 1, 2), (3, 3), 1), w)
    return s, [A, W, C], [x, w], [expected]


@program((1, 2, 5, 3, 1), (1, 3, 6, 2, 2))
def conv3d_ncdhw(n, ci, size, co, stride):
    x, w = random(n, ci, size, size, size), random(co, ci, 3, 3, 3)
    A, W = inputs(x, w)
    P = same_pad(A, 1, (2, 3, 4))
    out = (size - 1) // stride + 1
    rc = te.reduce_axis((0, ci), name="rc")
    rz, ry, rx = (te.reduce_axis((0, 3), name=name) for name in ("rz", "ry", "rx"))
    C = te.compute(
        (n, co, out, out, out),
        lambda b, f, z, y, xx: te.sum(
            P[b, rc, z * stride + rz, y * stride + ry, xx * stride + rx] * W[f, rc, rz, ry, rx],
            axis=[rc, rz, ry, rx],
        ),
        name="C",
    )
    s = te.create_schedule(C.op)
    s[P].compute_inline()
    OL = s.cache_write(C, "local")
    b, f, z, y, xx = s[C].op.axis
    s[C].bind(s[C].fuse(b, f), te.thread_axis("blockIdx.z"))
    s[C].bind(z, te.thread_axis("threadIdx.z"))
    s[C].bind(y, te.thread_axis("threadIdx.y"))
    s[C].bind(xx, te.thread_axis("threadIdx.x"))
    s[OL].compute_at(s[C], xx)
    found = windows(padded(x, 1, (2, 3, 4)), (3, 3, 3), stride)
    return s, [A, W, C], [x, w], [np.einsum("nczyxijk,fcijk->nfzyx", found, w)]


@program((2, 3, 12, 4, 3), (1, 2, 9, 5, 4))
def conv1d_ncw(n, ci, size, co, kernel):
    x, w = random(n, ci, size), random(co, ci, kernel)
    A, W = inputs(x, w)
    out = size - kernel + 1
    rc, rx = te.reduce_axis((0, ci), name="rc"), te.reduce_axis((0, kernel), name="rx")
    C = te.compute((n, co, out), lambda b, f, i: te.sum(A[b, rc, i + rx] * W[f, rc, rx], axis=[rc, rx]), name="C")
    s = te.create_schedule(C.op)
    AA = s.cache_read(A, "shared", [C])
    b, f, i = s[C].op.axis
    s[C].bind(b, te.thread_axis("blockIdx.y"))
    s[C].bind(f, te.thread_axis("blockIdx.x"))
    io, ii = s[C].split(i, factor=4)
    s[C].bind(ii, te.thread_axis("threadIdx.x"))
    s[AA].compute_at(s[C], io)
    _, tx = s[AA].split(s[AA].op.axis[2], factor=4)
    s[AA].bind(tx, te.thread_axis("threadIdx.x"))
    return s, [A, W, C], [x, w], [np.einsum("ncxi,fci->nfx", windows(x, (kernel,), 1), w)]


@program((1, 2, 4, 3, 2), (1, 3, 5, 2, 1))
def conv2d_transpose_nchw(n, ci, size, co, stride):
    """The input with zeros between its elements, by the kernel turned around."""
    x, w = random(n, ci, size, size), random(ci, co, 3, 3)
    A, W = inputs(x, w)
    wide = (size - 1) * stride + 1
    D = te.compute(
        (n, ci, wide, wide),
        lambda b, c, y, xx: te.if_then_else(
            te.all(te.indexmod(y, stride).equal(0), te.indexmod(xx, stride).equal(0)),
            A[b, c, te.indexdiv(y, stride), te.indexdiv(xx, stride)],
            te.const(0.0, "float32"),
        ),
        name="dilated",
    )
    P = same_pad(D, 2, (2, 3))
    out = wide + 2
    rc, ry, rx = (te.reduce_axis((0, e), name=m) for e, m in ((ci, "rc"), (3, "ry"), (3, "rx")))
    C = te.compute(
        (n, co, out, out),
        lambda b, f, y, xx: te.sum(P[b, rc, y + ry, xx + rx] * W[rc, f, 2 - ry, 2 - rx], axis=[rc, ry, rx]),
        name="C",
    )
    s = te.create_schedule(C.op)
    te.schedule.AutoInlineInjective(s)
    flat(s, C)
    spread = np.zeros((n, ci, wide, wide), "float32")
    spread[:, :, ::stride, ::stride] = x
    found = windows(padded(spread, 2, (2, 3)), (3, 3), 1)
    return s, [A, W, C], [x, w], [np.einsum("ncyxij,cfij->nfyx", found, w[:, :, ::-1, ::-1])]


@program((1, 4, 6, 6, 2), (1, 6, 5, 3, 3))
def group_conv2d_nchw(n, ci, size, co, groups):
    x, w = random(n, ci, size, size), random(co, ci // groups, 3, 3)
    A, W = inputs(x, w)
    out = size - 2
    rc, ry, rx = (te.reduce_axis((0, e), name=m) for e, m in ((ci // groups, "rc"), (3, "ry"), (3, "rx")))
    per = co // groups
    C = te.compute(
        (n, co, out, out),
        lambda b, f, y, xx: te.sum(
            A[b, te.indexdiv(f, per) * (ci // groups) + rc, y + ry, xx + rx] * W[f, rc, ry, rx], axis=[rc, ry, rx]
        ),
        name="C",
    )
    s = te.create_schedule(C.op)
    b, f, y, xx = s[C].op.axis
    s[C].bind(f, te.thread_axis("blockIdx.x"))
    s[C].bind(y, te.thread_axis("threadIdx.y"))
    s[C].bind(xx, te.thread_axis("threadIdx.x"))
    found = windows(x, (3, 3), 1).reshape(n, groups, ci // groups, out, out, 3, 3)
    expected = np.einsum("ngcyxij,gfcij->ngfyx", found, w.reshape(groups, per, ci // groups, 3, 3))
    return s, [A, W, C], [x, w], [expected.reshape(n, co, out, out)]
