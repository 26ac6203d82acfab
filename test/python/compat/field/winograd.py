"""topi's convolution by Winograd's transforms, and pooling to a size."""

from __future__ import annotations

import numpy as np

from compat.field import flat, inputs, padded, program, random, same_pad, windows
from tilewright import te

# Of F(2x2, 3x3): tiles of 4 x 4 become 2 x 2.
G = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])
B = np.array([[1, 0, 0, 0], [0, 1, -1, 1], [-1, 1, 1, 0], [0, 0, 0, -1]])
A = np.array([[1, 0], [1, 1], [1, -1], [0, -1]])


def const_matrix(matrix: np.ndarray, name: str) -> te.Tensor:
    """topi.utils.const_matrix: the elements by a chain of choices."""

    def element(i, j):
        now = te.const(0.0, "float32")
        for row in range(matrix.shape[0]):
            for column in range(matrix.shape[1]):
                here = te.all(i.equal(row), j.equal(column))
                now = te.if_then_else(here, te.const(float(matrix[row, column]), "float32"), now)
        return now

    return te.compute(matrix.shape, element, name=name)


@program((1, 2, 4, 3), (2, 3, 5, 2), (1, 1, 6, 4))
def conv2d_winograd_nchw(n, ci, size, co):
    x, w = random(n, ci, size, size), random(co, ci, 3, 3)
    data, kernel = inputs(x, w)
    tiles = -(-size // 2)
    count = n * tiles * tiles
    border = same_pad(data, 1, (2, 3))
    packed = te.compute(
        (ci, count, 4, 4),
        lambda c, p, eps, nu: te.if_then_else(
            te.all(p // tiles % tiles * 2 + eps < size + 2, p % tiles * 2 + nu < size + 2),
            border[p // (tiles * tiles), c, p // tiles % tiles * 2 + eps, p % tiles * 2 + nu],
            te.const(0.0, "float32"),
        ),
        name="d",
    )
    rows, columns = (te.reduce_axis((0, 3), name=name) for name in ("r_kh", "r_kw"))
    of_kernel = const_matrix(G, "G")
    kernel_pack = te.compute(
        (4, 4, ci, co),
        lambda eps, nu, c, f: te.sum(
            kernel[f, c, rows, columns] * of_kernel[eps, rows] * of_kernel[nu, columns], axis=[rows, columns]
        ),
        name="kernel_pack",
    )
    of_data = const_matrix(B, "B")
    ra, rb = (te.reduce_axis((0, 4), name=name) for name in ("r_a", "r_b"))
    data_pack = te.compute(
        (4, 4, ci, count),
        lambda eps, nu, c, p: te.sum(packed[c, p, ra, rb] * of_data[ra, eps] * of_data[rb, nu], axis=[ra, rb]),
        name="data_pack",
    )
    rc = te.reduce_axis((0, ci), name="ci")
    gemm = te.compute(
        (4, 4, co, count),
        lambda eps, nu, f, p: te.sum(kernel_pack[eps, nu, rc, f] * data_pack[eps, nu, rc, p], axis=rc),
        name="bgemm",
    )
    of_result = const_matrix(A, "A")
    ra, rb = (te.reduce_axis((0, 4), name=name) for name in ("r_a", "r_b"))
    inverse = te.compute(
        (co, count, 2, 2),
        lambda f, p, vh, vw: te.sum(gemm[ra, rb, f, p] * of_result[ra, vh] * of_result[rb, vw], axis=[ra, rb]),
        name="inverse",
    )
    out = te.compute(
        (n, co, size, size),
        lambda b, f, h, v: inverse[f, b * tiles * tiles + h // 2 * tiles + v // 2, h % 2, v % 2],
        name="output",
        tag="conv2d_nchw_winograd",
    )
    s = te.create_schedule(out.op)
    for stage in (border, of_kernel, of_data, of_result):
        s[stage].compute_inline()
    # The transforms: a thread a tile, whose sums are unrolled.
    for stage in (kernel_pack, data_pack, inverse):
        for axis in stage.op.reduce_axis:
            s[stage].unroll(axis)
        flat(s, stage, 16)
    flat(s, packed)
    # The batched matmul: a block a matrix, a tile of it in local memory.
    local = s.cache_write(gemm, "local")
    eps, nu, f, p = s[gemm].op.axis
    block = s[gemm].fuse(eps, nu)
    by, fi = s[gemm].split(f, factor=4)
    bx, pi = s[gemm].split(p, factor=8)
    s[gemm].reorder(block, by, bx, fi, pi)
    s[gemm].bind(block, te.thread_axis("blockIdx.z"))
    s[gemm].bind(by, te.thread_axis("blockIdx.y"))
    s[gemm].bind(bx, te.thread_axis("blockIdx.x"))
    s[gemm].bind(fi, te.thread_axis("threadIdx.y"))
    s[gemm].bind(pi, te.thread_axis("threadIdx.x"))
    s[local].compute_at(s[gemm], pi)
    flat(s, out)
    expected = np.einsum("ncyxij,fcij->nfyx", windows(padded(x, 1, (2, 3)), (3, 3), 1), w)
    return s, [data, kernel, out], [x, w], [expected]


@program((1, 2, 7, 3), (2, 1, 5, 4), (1, 3, 6, 6))
def adaptive_average_pool(n, channels, size, out):
    """Windows of different extents: the largest, of which what is beyond the own one counts as 0."""
    x = random(n, channels, size, size)
    (data,) = inputs(x)
    most = max(-(-(i + 1) * size // out) - i * size // out for i in range(out))
    ry, rx = (te.reduce_axis((0, most), name=name) for name in ("ry", "rx"))

    def begin(i):
        return i * size // out

    def extent(i):
        return ((i + 1) * size + out - 1) // out - begin(i)

    total = te.compute(
        (n, channels, out, out),
        lambda b, c, y, v: te.sum(
            te.if_then_else(
                te.all(ry < extent(y), rx < extent(v)), data[b, c, begin(y) + ry, begin(v) + rx], te.const(0.0)
            ),
            axis=[ry, rx],
        ),
        name="adaptive_pool_sum",
    )
    pooled = te.compute(
        (n, channels, out, out),
        lambda b, c, y, v: total[b, c, y, v] / (extent(y) * extent(v)).astype("float32"),
        name="adaptive_pool",
    )
    s = te.create_schedule(pooled.op)
    fused = s[pooled].fuse(*pooled.op.axis)
    bx, tx = s[pooled].split(fused, factor=16)
    s[pooled].bind(bx, te.thread_axis("blockIdx.x"))
    s[pooled].bind(tx, te.thread_axis("threadIdx.x"))
    s[total].compute_at(s[pooled], tx)
    ends = [(i * size // out, -(-(i + 1) * size // out)) for i in range(out)]
    expected = np.stack([np.stack([x[:, :, a:b, c:d].mean((2, 3)) for c, d in ends], -1) for a, b in ends], -2)
    return s, [data, pooled], [x], [expected.astype("float32")]


@program((3, 7), (2, 20), (1, 1))
def argsort_of_rows(rows, n):
    """Where the elements of a sorted row come from: equal ones keep their order."""
    x = np.round(random(rows, n) * 4).astype("float32")
    (data,) = inputs(x)
    k, r = te.reduce_axis((0, n), name="k"), te.reduce_axis((0, n), name="r")
    rank = te.compute(
        (rows, n),
        lambda i, j: te.sum(
            te.any(data[i, k] < data[i, j], te.all(data[i, k].equal(data[i, j]), k < j)).astype("int32"), axis=k
        ),
        name="rank",
    )
    order = te.compute(
        (rows, n), lambda i, j: te.sum(te.select(rank[i, r].equal(j), r.astype("int32"), 0), axis=r), name="argsort"
    )
    s = te.create_schedule(order.op)
    tx = te.thread_axis("threadIdx.x")
    s[order].bind(order.op.axis[0], te.thread_axis("blockIdx.x"))
    s[order].bind(order.op.axis[1], tx)
    s[rank].compute_at(s[order], order.op.axis[0])
    s[rank].set_scope("shared")
    s[rank].bind(rank.op.axis[1], tx)
    return s, [data, order], [x], [np.argsort(x, axis=1, kind="stable").astype("int32")]
