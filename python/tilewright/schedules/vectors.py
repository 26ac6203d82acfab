"""Reductions along columns, and matrix-vector multiplications: the matrix is read once, 16 bytes a thread."""

from __future__ import annotations

from ..te import Tensor, compute, placeholder, reduce_axis, sum, thread_axis
from ..te.schedule import Schedule, create_schedule
from .sizes import sizes

__all__ = ["column_sum", "matvec", "vecmat"]


@sizes(M=0, K=0)
def matvec(M: int, K: int, *, dtype: str = "float32", warps: int = 4, unroll: int = 8) -> tuple[Schedule, list[Tensor]]:
    """y[i] = sum over k of A[i, k] x[k]: A and x in `dtype`, the sum and y in float32.

    A is `M` x `K`. A warp has a row. Its threads take 16 bytes each in turn, `unroll` times as many at once. Their sums
    are added by shuffles. A block has `warps` rows.

    >>> import tilewright as tw
    >>> func = tw.build(*matvec(64, 1024, dtype="bfloat16"), target="cuda -arch=sm_90a", name="matvec")
    >>> "ld.global.nc.v4" in func.ptx and "shfl.sync" in func.ptx
    True
    """
    lanes = _lanes(dtype)
    A, x = placeholder((M, K), dtype, "A"), placeholder((K,), dtype, "x")
    k = reduce_axis((0, K), "k")
    y = compute((M,), lambda i: sum(A[i, k].astype("float32") * x[k].astype("float32"), axis=k), name="y")
    s = create_schedule(y.op)
    block, row = s[y].split(y.op.axis[0], factor=warps)
    s[y].bind(block, thread_axis("blockIdx.x"))
    s[y].bind(row, thread_axis("threadIdx.y"))
    turn, lane = s[y].split(k, factor=lanes)
    turn, thread = s[y].split(turn, factor=32)
    s[y].bind(thread, thread_axis("threadIdx.x"))
    turn, at_once = s[y].split(turn, factor=unroll)
    s[y].unroll(at_once)
    s[y].unroll(lane)
    for tensor in (A, x):
        local = s.cache_read(tensor, "local", [y])
        s[local].compute_at(s[y], at_once)
        s[local].vectorize(s[local].op.axis[-1])
    return s, [A, x, y]


@sizes(K=0, N=1)
def vecmat(
    K: int,
    N: int,
    *,
    dtype: str = "float32",
    width: int = 16,
    groups: int = 64,
    split_k: int = 1,
    unroll: int = 8,
    lanes: int = 4,
) -> tuple[Schedule, list[Tensor]]:
    """y[j] = sum over k of x[k] B[k, j]: x and B in `dtype`, the sum and y in float32.

    B is `K` x `N`. Columns and rows are distributed by `width`, `groups`, `split_k`, `unroll` and `lanes` as in
    `column_sum`.

    >>> import tilewright as tw
    >>> func = tw.build(*vecmat(1024, 1024, dtype="bfloat16"), target="cuda -arch=sm_90a", name="vecmat")
    >>> ".reqntid 16, 64, 1" in func.ptx
    True
    """
    x, B = placeholder((K,), dtype, "x"), placeholder((K, N), dtype, "B")
    k = reduce_axis((0, K), "k")
    y = compute((N,), lambda j: sum(x[k].astype("float32") * B[k, j].astype("float32"), axis=k), name="y")
    s = create_schedule(y.op)
    _sum_columns(s, y, lanes, width, groups, split_k, unroll)
    return s, [x, B, y]


@sizes(rows=0, columns=1)
def column_sum(
    rows: int,
    columns: int,
    *,
    width: int | None = None,
    groups: int | None = None,
    split_k: int | None = None,
    unroll: int = 8,
    lanes: int = 4,
) -> tuple[Schedule, list[Tensor]]:
    """Y[j] = the sum of column j of X, float32.

    A block has `groups` groups of `width` threads. A thread has `lanes` columns. The groups take rows in turn, `unroll`
    rows at once, and their sums are added in shared memory. If the columns give too few blocks for a GPU, the rows are
    cut into `split_k` parts, whose sums a second kernel adds. By default there are 128 blocks or more.

    >>> import tilewright as tw
    >>> func = tw.build(*column_sum(256, 1024), target="cuda -arch=sm_90a", name="column_sum")
    >>> "ld.global.nc.v4" in func.ptx
    True
    """
    width = width or (8 if 4096 <= columns < 16384 else 32)
    groups = groups or (8 if columns >= 16384 else 32)
    split_k = split_k or max(1, min(-(-128 // -(-columns // (width * lanes))), rows // (groups * unroll)))
    X = placeholder((rows, columns), name="X")
    k = reduce_axis((0, rows), "k")
    Y = compute((columns,), lambda j: sum(X[k, j], axis=k), name="Y")
    s = create_schedule(Y.op)
    _sum_columns(s, Y, lanes, width, groups, split_k, unroll)
    return s, [X, Y]


def _sum_columns(s: Schedule, Y: Tensor, lanes: int, width: int, groups: int, split_k: int, unroll: int) -> None:
    columns = Y.shape[0]
    assert isinstance(columns, int)  # these schedules have no symbols
    width = min(width, -(-columns // lanes))
    summed = Y
    if split_k > 1:
        part, _ = s[Y].split(s[Y].op.reduce_axis[0], nparts=split_k)
        summed = s.rfactor(Y, part)
        block, thread = s[Y].split(s[Y].op.axis[0], factor=64)
        s[Y].bind(block, thread_axis("blockIdx.x"))
        s[Y].bind(thread, thread_axis("threadIdx.x"))
        s[Y].unroll(s[Y].op.reduce_axis[0])
    _, group = s[summed].split(s[summed].op.reduce_axis[-1], factor=groups)
    grouped = s.rfactor(summed, group)
    # The sums of the groups of threads go through shared memory.
    *part, j = s[summed].op.axis
    if part:
        s[summed].bind(part[0], thread_axis("blockIdx.y"))
    block, j = s[summed].split(j, factor=width * lanes)
    s[summed].bind(block, thread_axis("blockIdx.x"))
    turn, thread = s[summed].split(j, factor=width)
    s[summed].bind(thread, thread_axis("threadIdx.x"))
    s[summed].unroll(turn)
    s[summed].unroll(s[summed].op.reduce_axis[0])
    s[grouped].set_scope("shared")
    s[grouped].compute_at(s[summed], block)
    group, *_, j = s[grouped].op.axis
    thread, lane = s[grouped].split(j, factor=lanes)
    turn, at_once = s[grouped].split(s[grouped].op.reduce_axis[0], factor=unroll)
    s[grouped].reorder(group, thread, turn, at_once, lane)
    s[grouped].bind(group, thread_axis("threadIdx.y"))
    s[grouped].bind(thread, thread_axis("threadIdx.x"))
    s[grouped].unroll(at_once)
    s[grouped].vectorize(lane)


def _lanes(dtype: str) -> int:
    """Elements of 16 bytes."""
    return 4 if dtype == "float32" else 8
