"""Convolutions: direct as in TVM's tutorial for CUDA, depthwise, and by Winograd's F(2 x 2, 3 x 3)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from programs.checks import TARGETS, Scheduled, check
from tilewright import te, testing

Exact = NDArray[np.float64]


def padded(A: te.Tensor, height: int, width: int) -> te.Tensor:
    """A margin of one around the images of a tensor in the layout HWCN; it is inlined by who uses it."""
    return te.compute(
        (height + 2, width + 2, *A.shape[2:]),
        lambda y, x, *rest: te.if_then_else(
            te.all(y >= 1, y - 1 < height, x >= 1, x - 1 < width), A(y - 1, x - 1, *rest), te.const(0.0, "float32")
        ),
        name="padded",
    )


def convolve(a: Exact, w: Exact, out: int, stride: int = 1) -> Exact:
    """HWCN by (3, 3, C, F) to (out, out, F, N), padded by one."""
    a = np.pad(a, ((1, 1), (1, 1), (0, 0), (0, 0)))
    size = stride * (out - 1) + 1
    return sum(
        np.einsum("yxcn,cf->yxfn", a[dy : dy + size : stride, dx : dx + size : stride], w[dy, dx])
        for dy in range(3)
        for dx in range(3)
    )


def direct(size: int, channels: int, filters: int, batch: int) -> Scheduled:
    """Each thread computes a tile of filters by images for one pixel, in four parts that virtual threads share out."""
    A = te.placeholder((size, size, channels, batch), name="A")
    W = te.placeholder((3, 3, channels, filters), name="W")
    apad = padded(A, size, size)
    rc, ry, rx = (te.reduce_axis((0, n), name) for n, name in ((channels, "rc"), (3, "ry"), (3, "rx")))
    B = te.compute(
        (size, size, filters, batch),
        lambda y, x, f, n: te.sum(apad[y + ry, x + rx, rc, n] * W[ry, rx, rc, f], axis=[ry, rx, rc]),
        name="B",
    )

    s = te.create_schedule(B.op)
    s[apad].compute_inline()
    AA, WW = s.cache_read(apad, "shared", [B]), s.cache_read(W, "shared", [B])
    AL, WL = s.cache_read(AA, "local", [B]), s.cache_read(WW, "local", [B])
    BL = s.cache_write(B, "local")

    tile, num_thread, vthread, step = 2, 4, 2, 4
    block = tile * num_thread
    thread_x, thread_y = te.thread_axis((0, num_thread), "threadIdx.x"), te.thread_axis((0, num_thread), "threadIdx.y")
    thread_xz, thread_yz = (
        te.thread_axis((0, vthread), "vthread", name="vx"),
        te.thread_axis((0, vthread), "vthread", name="vy"),
    )

    hi, wi, fi, ni = s[B].op.axis
    bz = s[B].fuse(hi, wi)
    by, fi = s[B].split(fi, factor=block)
    bx, ni = s[B].split(ni, factor=block)
    s[B].bind(bz, te.thread_axis("blockIdx.z"))
    s[B].bind(by, te.thread_axis("blockIdx.y"))
    s[B].bind(bx, te.thread_axis("blockIdx.x"))
    tyz, fi = s[B].split(fi, nparts=vthread)
    txz, ni = s[B].split(ni, nparts=vthread)
    ty, fi = s[B].split(fi, nparts=num_thread)
    tx, ni = s[B].split(ni, nparts=num_thread)
    s[B].reorder(bz, by, bx, tyz, txz, ty, tx, fi, ni)
    s[B].bind(tyz, thread_yz)
    s[B].bind(txz, thread_xz)
    s[B].bind(ty, thread_y)
    s[B].bind(tx, thread_x)

    s[BL].compute_at(s[B], tx)
    yi, xi, fi, ni = s[BL].op.axis
    ry, rx, rc = s[BL].op.reduce_axis
    rco, rci = s[BL].split(rc, factor=step)
    s[BL].reorder(rco, ry, rx, rci, fi, ni)
    s[AA].compute_at(s[BL], rx)
    s[WW].compute_at(s[BL], rx)
    s[AL].compute_at(s[BL], rci)
    s[WL].compute_at(s[BL], rci)

    for shared in (AA, WW):
        _, _, ci, inner = s[shared].op.axis
        ty, ci = s[shared].split(ci, nparts=num_thread)
        tx, inner = s[shared].split(inner, nparts=num_thread)
        _, inner = s[shared].split(inner, factor=2)
        s[shared].reorder(ty, tx, ci, inner)
        s[shared].bind(ty, thread_y)
        s[shared].bind(tx, thread_x)
        s[shared].vectorize(inner)
    return s, [A, W, B]


def depthwise(channels: int, size: int, stride: int) -> Scheduled:
    """CHW by (C, 3, 3): a block computes one channel from an image and a filter in shared memory."""
    out = (size - 1) // stride + 1
    A, W = te.placeholder((channels, size, size), name="A"), te.placeholder((channels, 3, 3), name="W")
    apad = te.compute(
        (channels, size + 2, size + 2),
        lambda c, y, x: te.if_then_else(
            te.all(y >= 1, y < size + 1, x >= 1, x < size + 1), A[c, y - 1, x - 1], te.const(0.0, "float32")
        ),
        name="padded",
    )
    ry, rx = te.reduce_axis((0, 3), "ry"), te.reduce_axis((0, 3), "rx")
    B = te.compute(
        (channels, out, out),
        lambda c, y, x: te.sum(apad[c, y * stride + ry, x * stride + rx] * W[c, ry, rx], axis=[ry, rx]),
        name="B",
    )
    relu = te.compute(B.shape, lambda *i: te.max(B(*i), 0.0), name="relu")

    s = te.create_schedule(relu.op)
    s[apad].compute_inline()
    AA, WW = s.cache_read(apad, "shared", [B]), s.cache_read(W, "shared", [B])
    c, y, x = relu.op.axis
    s[relu].bind(c, te.thread_axis("blockIdx.x"))
    yo, ty = s[relu].split(y, factor=4)
    xo, tx = s[relu].split(x, factor=8)
    s[relu].reorder(c, ty, tx, yo, xo)
    s[relu].bind(ty, te.thread_axis("threadIdx.y"))
    s[relu].bind(tx, te.thread_axis("threadIdx.x"))
    s[B].compute_at(s[relu], xo)
    for axis in B.op.reduce_axis:
        s[B].unroll(axis)
    for shared in (AA, WW):
        s[shared].compute_at(s[relu], c)
    return s, [A, W, relu]


def winograd(size: int, channels: int, filters: int) -> Scheduled:
    """CHW by (F, C, 3, 3), padded by one, tiles of 2 x 2: transform, multiply, transform back. Four kernels."""
    tiles = (size + 1) // 2
    A, W = te.placeholder((channels, size, size), name="A"), te.placeholder((filters, channels, 3, 3), name="W")
    apad = te.compute(
        (channels, 2 * tiles + 2, 2 * tiles + 2),
        lambda c, y, x: te.if_then_else(
            te.all(y >= 1, y < size + 1, x >= 1, x < size + 1), A[c, y - 1, x - 1], te.const(0.0, "float32")
        ),
        name="padded",
    )

    def matrix(name: str, rows: list[list[float]]) -> te.Tensor:
        """A constant matrix, as selections that unrolled loops decide."""

        def element(i: te.IterVar, j: te.IterVar) -> te.Expr:
            value: te.Expr = te.const(0.0, "float32")
            for y, row in enumerate(rows):
                for x, number in enumerate(row):
                    if number:
                        value = te.select(te.all(i == y, j == x), te.const(number, "float32"), value)
            return value

        return te.compute((len(rows), len(rows[0])), element, name=name)

    G = matrix("G", [[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])
    BT = matrix("BT", [[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
    AT = matrix("AT", [[1, 1, 1, 0], [0, 1, -1, -1]])

    r, q = te.reduce_axis((0, 3), "r"), te.reduce_axis((0, 3), "q")
    U = te.compute(
        (4, 4, channels, filters), lambda e, n, c, f: te.sum(W[f, c, r, q] * G[e, r] * G[n, q], axis=[r, q]), name="U"
    )
    r, q = te.reduce_axis((0, 4), "r"), te.reduce_axis((0, 4), "q")
    V = te.compute(
        (4, 4, channels, tiles, tiles),
        lambda e, n, c, y, x: te.sum(apad[c, y * 2 + r, x * 2 + q] * BT[e, r] * BT[n, q], axis=[r, q]),
        name="V",
    )
    k = te.reduce_axis((0, channels), "k")
    M = te.compute(
        (4, 4, filters, tiles, tiles),
        lambda e, n, f, y, x: te.sum(U[e, n, k, f] * V[e, n, k, y, x], axis=k),
        name="M",
    )
    r, q = te.reduce_axis((0, 4), "r"), te.reduce_axis((0, 4), "q")
    Y = te.compute(
        (filters, tiles, tiles, 2, 2),
        lambda f, y, x, e, n: te.sum(M[r, q, f, y, x] * AT[e, r] * AT[n, q], axis=[r, q]),
        name="Y",
    )
    B = te.compute((filters, size, size), lambda f, y, x: Y[f, y // 2, x // 2, y % 2, x % 2], name="B")

    s = te.create_schedule(B.op)
    for stage in (apad, G, BT, AT):
        s[stage].compute_inline()

    def kernel(stage: te.Tensor, outer: int) -> te.IterVar:
        """The first `outer` axes over blocks, the rest over 16 threads."""
        axes = list(s[stage].op.axis)
        block, rest = s[stage].fuse(*axes[:outer]), s[stage].fuse(*axes[outer:])
        _, thread = s[stage].split(rest, factor=16)
        s[stage].bind(block, te.thread_axis("blockIdx.x"))
        s[stage].bind(thread, te.thread_axis("threadIdx.x"))
        return thread

    kernel(U, 2)
    kernel(V, 3)
    kernel(M, 3)
    thread = kernel(B, 1)
    s[Y].compute_at(s[B], thread)
    for stage in (U, V):
        for axis in s[stage].op.reduce_axis:
            s[stage].unroll(axis)
    return s, [A, W, B]


@pytest.mark.parametrize("target", TARGETS)
def test_direct(target: str) -> None:
    def expected(a: Exact, w: Exact):
        return [(convolve(a, w, 4), 4 * np.sqrt(9 * 8) * 2.0**-24 * convolve(np.abs(a), np.abs(w), 4))]

    check(lambda: direct(4, 8, 13, 16), target, expected)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("stride", [1, 2])
def test_depthwise(target: str, stride: int) -> None:
    size = 11
    out = (size - 1) // stride + 1

    def channelwise(a: Exact, w: Exact) -> Exact:
        one = [convolve(a[c, :, :, None, None], w[c, :, :, None, None], out, stride) for c in range(len(a))]
        return np.stack(one)[..., 0, 0]

    def expected(a: Exact, w: Exact):
        bound = 4 * 3 * testing.unit_roundoff("float32") * channelwise(np.abs(a), np.abs(w))
        return [(np.maximum(channelwise(a, w), 0), bound)]

    check(lambda: depthwise(5, size, stride), target, expected)


@pytest.mark.parametrize("target", TARGETS)
def test_winograd(target: str) -> None:
    size, channels, filters = 7, 3, 5

    def chw(a: Exact, w: Exact) -> Exact:
        return convolve(a.transpose(1, 2, 0)[..., None], w.transpose(2, 3, 1, 0), size)[..., 0].transpose(2, 0, 1)

    def expected(a: Exact, w: Exact):
        # The transformations add, of each element of the result, numbers up to the largest of a tile: of 16 data 16
        # sums by coefficients up to 1, of 9 weights up to 9/4, and of the products 9 in the end.
        largest = np.abs(a).max() * np.abs(w).max()
        return [
            (chw(a, w), (9 + 16 + channels + 9) * testing.unit_roundoff("float32") * 9 * 4 * 2.25 * channels * largest)
        ]

    check(lambda: winograd(size, channels, filters), target, expected)
