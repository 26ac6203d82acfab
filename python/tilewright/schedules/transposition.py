"""Tensors in another order."""

from __future__ import annotations

from ..te import Tensor, compute, placeholder, thread_axis
from ..te.schedule import Schedule, create_schedule

__all__ = ["transpose"]


def transpose(
    rows: int, columns: int, *, tile: tuple[int, int] = (64, 64), threads: int = 512
) -> tuple[Schedule, list[Tensor]]:
    """B[j, i] = A[i, j], float32, row-major.

    A block of threads moves a tile: `tile` says how many rows and columns of A. It is read along A's rows and written
    along B's, both 16 bytes a thread, and changes direction in shared memory. There its rows begin an odd number of
    words apart, so that the threads of a warp touch different banks, or two at most the same one.

    >>> import tilewright as tw
    >>> func = tw.build(*transpose(64, 96), target="cuda -arch=sm_90a", name="transpose")
    >>> "ld.global.nc.v4" in func.ptx and "st.global.v4" in func.ptx
    True
    """
    A = placeholder((rows, columns), name="A")
    At = compute((columns, rows), lambda j, i: A[i, j], name="At")
    B = compute((columns, rows), lambda j, i: At[j, i], name="B")
    s = create_schedule(B.op)
    j, i = B.op.axis
    bj, j = s[B].split(j, factor=tile[1])
    bi, i = s[B].split(i, factor=tile[0])
    s[B].reorder(bj, bi, j, i)
    # Neighbouring blocks read neighbouring tiles of a row of A.
    block = s[B].fuse(bj, bi)
    s[B].bind(block, thread_axis("blockIdx.x"))
    s[At].set_scope("shared")
    s[At].compute_at(s[B], block)
    s[At].storage_align(s[At].op.axis[0], 2, 1)

    for tensor, slow, fast in ((B, j, i), (At, s[At].op.axis[1], s[At].op.axis[0])):
        fast, four = s[tensor].split(fast, factor=4)
        s[tensor].reorder(slow, fast, four)
        turn, thread = s[tensor].split(s[tensor].fuse(slow, fast), factor=threads)
        s[tensor].unroll(turn)
        s[tensor].bind(thread, thread_axis("threadIdx.x"))
        s[tensor].vectorize(four)
    return s, [A, B]
