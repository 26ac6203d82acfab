"""Pooling and resizing."""

from __future__ import annotations

import numpy as np

from tilewright import te

from . import flat, inputs, padded, program, random, same_pad, windows


@program((1, 3, 8, 2, 2, 0), (2, 2, 7, 3, 2, 1))
def max_pool(n, channels, size, kernel, stride, pad):
    x = random(n, channels, size, size)
    (A,) = inputs(x)
    P = same_pad(A, pad, (2, 3), float(np.finfo("float32").min)) if pad else A
    out = (size + 2 * pad - kernel) // stride + 1
    dy, dx = te.reduce_axis((0, kernel), name="dy"), te.reduce_axis((0, kernel), name="dx")
    B = te.compute(
        (n, channels, out, out),
        lambda b, c, y, z: te.max(P[b, c, y * stride + dy, z * stride + dx], axis=[dy, dx]),
        name="pool_max",
        tag="pool_max",
    )
    s = te.create_schedule(B.op)
    if pad:
        s[P].compute_inline()
    OL = s.cache_write(B, "local")
    fused = s[B].fuse(*s[B].op.axis)
    bx, tx = s[B].split(fused, factor=16)
    s[B].bind(bx, te.thread_axis("blockIdx.x"))
    s[B].bind(tx, te.thread_axis("threadIdx.x"))
    s[OL].compute_at(s[B], tx)
    found = windows(padded(x, pad, (2, 3), -np.inf), (kernel, kernel), stride)
    return s, [A, B], [x], [found.max(axis=(-1, -2))]


@program((1, 2, 6, 3, 2), (2, 1, 5, 2, 1))
def average_pool_without_the_border(n, channels, size, kernel, stride):
    """Divided by as many elements as there are."""
    x, pad = random(n, channels, size, size), 1
    (A,) = inputs(x)
    P = same_pad(A, pad, (2, 3))
    out = (size + 2 * pad - kernel) // stride + 1
    dy, dx = te.reduce_axis((0, kernel), name="dy"), te.reduce_axis((0, kernel), name="dx")
    S = te.compute(
        (n, channels, out, out),
        lambda b, c, y, z: te.sum(P[b, c, y * stride + dy, z * stride + dx], axis=[dy, dx]),
        name="pool_sum",
    )

    def count(place):
        first = te.max(place * stride - pad, 0)
        return te.min(place * stride - pad + kernel, size) - first

    B = te.compute(
        S.shape,
        lambda b, c, y, z: S[b, c, y, z] / te.max(count(y) * count(z), 1).astype("float32"),
        name="pool_avg",
    )
    s = te.create_schedule(B.op)
    s[P].compute_inline()
    flat(s, B)
    s[S].compute_at(s[B], s[B].leaf_iter_vars[-1])
    ones = windows(padded(np.ones_like(x), pad, (2, 3)), (kernel, kernel), stride).sum(axis=(-1, -2))
    total = windows(padded(x, pad, (2, 3)), (kernel, kernel), stride).sum(axis=(-1, -2))
    return s, [A, B], [x], [total / ones]


@program((2, 5, 4), (1, 9, 3))
def global_average_pool(n, channels, size):
    """topi's schedule_adaptive_pool."""
    x = random(n, channels, size, size)
    (A,) = inputs(x)
    dy, dx = te.reduce_axis((0, size), name="dy"), te.reduce_axis((0, size), name="dx")
    S = te.compute((n, channels, 1, 1), lambda b, c, y, z: te.sum(A[b, c, y + dy, z + dx], axis=[dy, dx]), name="S")
    B = te.compute(S.shape, lambda *i: S(*i) / float(size * size), name="B")
    s = te.create_schedule(B.op)
    by, ty = s[B].split(B.op.axis[0], factor=2)
    bx, tx = s[B].split(B.op.axis[1], factor=4)
    s[B].reorder(by, bx, ty, tx)
    for axis, tag in ((by, "blockIdx.y"), (bx, "blockIdx.x"), (ty, "threadIdx.y"), (tx, "threadIdx.x")):
        s[B].bind(axis, te.thread_axis(tag))
    s[S].set_scope("local")
    s[S].compute_at(s[B], tx)
    return s, [A, B], [x], [x.mean(axis=(2, 3), keepdims=True)]


@program((1, 2, 3, 5, 2), (2, 1, 4, 4, 3))
def upsampling_nearest(n, channels, height, width, scale):
    x = random(n, channels, height, width)
    (A,) = inputs(x)
    B = te.compute(
        (n, channels, height * scale, width * scale),
        lambda b, c, y, z: A[b, c, te.indexdiv(y, scale), te.indexdiv(z, scale)],
        name="B",
    )
    s = te.create_schedule(B.op)
    flat(s, B)
    return s, [A, B], [x], [x.repeat(scale, axis=2).repeat(scale, axis=3)]


@program((1, 2, 4, 7), (2, 1, 5, 3))
def resize_bilinear(n, channels, size, out):
    """Corners on corners."""
    x = random(n, channels, size, size)
    (A,) = inputs(x)
    ratio = (size - 1) / (out - 1)

    def element(b, c, y, z):
        fy, fx = y.astype("float32") * ratio, z.astype("float32") * ratio
        y0, x0 = te.floor(fy).astype("int32"), te.floor(fx).astype("int32")
        y1, x1 = te.min(y0 + 1, size - 1), te.min(x0 + 1, size - 1)
        dy, dx = fy - y0.astype("float32"), fx - x0.astype("float32")
        top = A[b, c, y0, x0] * (1.0 - dx) + A[b, c, y0, x1] * dx
        bottom = A[b, c, y1, x0] * (1.0 - dx) + A[b, c, y1, x1] * dx
        return top * (1.0 - dy) + bottom * dy

    B = te.compute((n, channels, out, out), element, name="resize")
    s = te.create_schedule(B.op)
    flat(s, B)
    at = (np.arange(out, dtype="float32") * np.float32(ratio)).astype("float32")
    low = np.floor(at).astype(int)
    high, part = np.minimum(low + 1, size - 1), (at - low).astype("float32")
    rows = x[:, :, low] * (1 - part)[:, None] + x[:, :, high] * part[:, None]
    return s, [A, B], [x], [rows[..., low] * (1 - part) + rows[..., high] * part]


@program((2, 3, 6, 2), (1, 2, 8, 3))
def roi_align(channels, rois, size, pooled):
    """Means of four samples in each part of a region, which the data says."""
    x = random(channels, size, size)
    rng = np.random.default_rng(0)
    corners = np.sort(rng.uniform(0, size - 1, (rois, 2, 2)), axis=1).reshape(rois, 4).astype("float32")
    A, R = inputs(x, corners)

    def sample(c, y, z):
        y, z = te.max(te.min(y, float(size - 1)), 0.0), te.max(te.min(z, float(size - 1)), 0.0)
        y0, z0 = te.floor(y).astype("int32"), te.floor(z).astype("int32")
        y1, z1 = te.min(y0 + 1, size - 1), te.min(z0 + 1, size - 1)
        dy, dz = y - y0.astype("float32"), z - z0.astype("float32")
        top = A[c, y0, z0] * (1.0 - dz) + A[c, y0, z1] * dz
        return top * (1.0 - dy) + (A[c, y1, z0] * (1.0 - dz) + A[c, y1, z1] * dz) * dy

    iy, ix = te.reduce_axis((0, 2), name="iy"), te.reduce_axis((0, 2), name="ix")

    def element(r, c, ph, pw):
        bin_y, bin_x = (R[r, 2] - R[r, 0]) / float(pooled), (R[r, 3] - R[r, 1]) / float(pooled)
        y = R[r, 0] + (ph.astype("float32") + (iy.astype("float32") + 0.5) / 2.0) * bin_y
        z = R[r, 1] + (pw.astype("float32") + (ix.astype("float32") + 0.5) / 2.0) * bin_x
        return te.sum(sample(c, y, z) / 4.0, axis=[iy, ix])

    B = te.compute((rois, channels, pooled, pooled), element, name="roi_align")
    s = te.create_schedule(B.op)
    flat(s, B)

    def reference(c, r, ph, pw):
        y_first, x_first, y_last, x_last = (float(one) for one in corners[r])
        total = 0.0
        for i in range(2):
            for j in range(2):
                y = y_first + (ph + (i + 0.5) / 2) * (y_last - y_first) / pooled
                z = x_first + (pw + (j + 0.5) / 2) * (x_last - x_first) / pooled
                y0, z0 = int(y), int(z)
                y1, z1, dy, dz = min(y0 + 1, size - 1), min(z0 + 1, size - 1), y - y0, z - z0
                total += (x[c, y0, z0] * (1 - dz) + x[c, y0, z1] * dz) * (1 - dy)
                total += (x[c, y1, z0] * (1 - dz) + x[c, y1, z1] * dz) * dy
        return total / 4

    expected = np.array([
        reference(c, r, ph, pw)
        for r in range(rois) for c in range(channels) for ph in range(pooled) for pw in range(pooled)
    ], "float32").reshape(rois, channels, pooled, pooled)  # fmt: skip
    return s, [A, R, B], [x, corners], [expected]
