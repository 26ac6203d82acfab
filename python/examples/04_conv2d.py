"""A 3 x 3 convolution, padded by one on each side: the shape of a layer that TVM's users asked about.

The padding is a stage of its own, written with if_then_else, and inlined: the padded tensor exists nowhere. What a
block needs of it is fetched into shared memory, zeros included.

Run it: python 04_conv2d.py [sim|cpu|cuda]
"""

from __future__ import annotations

import sys

import numpy as np

import tilewright as tw
from tilewright import te, testing


def conv2d(channels: int, filters: int, height: int, width: int, *, block: int = 32, block_k: int = 8):
    """NCHW, batch 1. A block computes `block` filters of one row of the image; a thread, four filters of a pixel."""
    data = te.placeholder((1, channels, height, width), name="data")
    kernel = te.placeholder((filters, channels, 3, 3), name="kernel")
    pad = te.compute(
        (1, channels, height + 2, width + 2),
        lambda n, c, y, x: te.if_then_else(
            te.all(y >= 1, y < height + 1, x >= 1, x < width + 1), data[n, c, y - 1, x - 1], te.const(0.0, "float32")
        ),
        name="pad",
    )
    rc = te.reduce_axis((0, channels), name="rc")
    ry = te.reduce_axis((0, 3), name="ry")
    rx = te.reduce_axis((0, 3), name="rx")
    conv = te.compute(
        (1, filters, height, width),
        lambda n, f, y, x: te.sum(pad[n, rc, y + ry, x + rx] * kernel[f, rc, ry, rx], axis=[rc, ry, rx]),
        name="conv",
    )

    s = te.create_schedule(conv.op)
    s[pad].compute_inline()
    pad_shared = s.cache_read(pad, "shared", [conv])
    kernel_shared = s.cache_read(kernel, "shared", [conv])
    sum_local = s.cache_write(conv, "local")
    thread_y, thread_x = te.thread_axis("threadIdx.y"), te.thread_axis("threadIdx.x")

    n, f, y, x = s[conv].op.axis
    fo, f = s[conv].split(f, factor=block)
    ty, f = s[conv].split(f, factor=4)
    s[conv].reorder(n, fo, y, ty, x, f)
    s[conv].bind(fo, te.thread_axis("blockIdx.y"))
    s[conv].bind(y, te.thread_axis("blockIdx.x"))
    s[conv].bind(ty, thread_y)
    s[conv].bind(x, thread_x)

    s[sum_local].compute_at(s[conv], x)
    n, f, y, x = s[sum_local].op.axis
    rc, ry, rx = s[sum_local].op.reduce_axis
    rco, rci = s[sum_local].split(rc, factor=block_k)
    s[sum_local].reorder(rco, rci, ry, rx, n, y, x, f)
    s[sum_local].unroll(f)

    for shared in (pad_shared, kernel_shared):
        s[shared].compute_at(s[sum_local], rco)
        fused = s[shared].fuse(*s[shared].op.axis)
        fused, tx = s[shared].split(fused, factor=width)
        _, ty = s[shared].split(fused, factor=block // 4)
        s[shared].bind(ty, thread_y)
        s[shared].bind(tx, thread_x)
    return s, [data, kernel, conv]


def reference(data: np.ndarray, kernel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The convolution in float64, and the bound on float32's rounding."""
    filters, channels = kernel.shape[:2]
    height, width = data.shape[2:]
    padded = np.pad(data[0], ((0, 0), (1, 1), (1, 1)))
    columns = np.stack([padded[:, y : y + height, x : x + width] for y in range(3) for x in range(3)], axis=1)
    columns, rows = columns.reshape(channels * 9, -1), kernel.reshape(filters, channels * 9)
    exact = rows.astype(np.float64) @ columns.astype(np.float64)
    shape = (1, filters, height, width)
    return exact.reshape(shape), testing.dot_bound(rows, columns, channels * 9).reshape(shape)


def check(target: str, channels: int, filters: int, height: int, width: int, **tiles: int) -> None:
    """Builds it for `target` and compares with NumPy in float64."""
    s, args = conv2d(channels, filters, height, width, **tiles)
    func = tw.build(s, args, target=target, name="conv2d")

    rng = np.random.default_rng(4)
    data = rng.standard_normal((1, channels, height, width), dtype=np.float32)
    kernel = rng.standard_normal((filters, channels, 3, 3), dtype=np.float32)
    (got,) = testing.run(func, [data, kernel], [((1, filters, height, width), "float32")])
    testing.assert_within(got, *reference(data, kernel))


def test_conv2d(target: str) -> None:
    if target == "sim":
        check(target, 8, 8, 5, 5, block=8, block_k=4)
    else:
        check(target, 1024, 1024, 13, 13)


if __name__ == "__main__":
    where = sys.argv[1] if len(sys.argv) > 1 else "sim"
    check(where, *((16, 32, 13, 13) if where == "sim" else (1024, 1024, 13, 13)))
    print("conv2d: right")
