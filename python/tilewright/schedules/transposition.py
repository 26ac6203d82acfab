"""Tensors in another order."""

from __future__ import annotations

from ..te import Tensor, compute, placeholder, thread_axis
from ..te.schedule import Schedule, create_schedule
from .sizes import sizes

__all__ = ["transpose"]


@sizes(rows=0, columns=0)
def transpose(
    rows: int, columns: int, *, tile: tuple[int, int] = (64, 64), threads: int = 512
) -> tuple[Schedule, list[Tensor]]:
    """B[j, i] = A[i, j], float32, row-major.

    A thread block moves a tile; `tile` is its rows and columns of A. The tile is read along A's rows and written along
    B's rows, 16 bytes a thread. It is transposed in shared memory. Its rows there begin an odd number of words apart,
    so at most two threads of a warp access the same bank.

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
