"""The kernels beside a matmul's or a convolution's own: those that write workspaces, and that read them."""

from __future__ import annotations

from ..te import Tensor, thread_axis
from ..te.schedule import Schedule, Stage
from .extents import divisor_of

__all__ = ["add_up", "copy", "transposing_copy", "turning_copy"]


def copy(stage: Stage) -> None:
    """A kernel of its own, in which neighbouring threads have neighbouring elements, eight of them at once."""
    *outer, row, column = stage.op.axis
    row = stage.fuse(*outer, row) if outer else row
    row, y = stage.split(row, factor=8)
    column, x = stage.split(column, factor=256)
    turn, x = stage.split(x, factor=32)
    stage.reorder(row, column, y, x, turn)
    stage.unroll(turn)
    for axis, tag in ((stage.fuse(row, column), "blockIdx.x"), (y, "threadIdx.y"), (x, "threadIdx.x")):
        stage.bind(axis, thread_axis(tag))


def transposing_copy(s: Schedule, copied: Tensor, source: Tensor) -> None:
    """A separate kernel that writes `copied`, whose last two axes are those of `source` in the other order.

    A block moves a tile of 32 x 64 elements through shared memory. It reads along the rows of `source` and writes along
    the rows of `copied`. Rows in shared memory begin an odd number of elements apart.
    """
    read = s.cache_read(source, "shared", [copied])
    *outer, i, j = s[copied].op.axis
    row, i = s[copied].split(i, factor=64)
    column, j = s[copied].split(j, factor=32)
    s[copied].reorder(*outer, row, column, i, j)
    block = s[copied].fuse(*outer, row, column)
    s[copied].bind(block, thread_axis("blockIdx.x"))
    s[read].compute_at(s[copied], block)
    s[read].storage_align(s[read].op.axis[-2], 2, 1)
    for stage, slow, fast in ((s[copied], i, j), (s[read], *s[read].op.axis[-2:])):
        turn, y = stage.split(slow, factor=8)
        wide, x = stage.split(fast, factor=32)
        stage.reorder(turn, wide, y, x)
        stage.unroll(turn)
        stage.unroll(wide)
        stage.bind(y, thread_axis("threadIdx.y"))
        stage.bind(x, thread_axis("threadIdx.x"))


def turning_copy(s: Schedule, turned: Tensor, source: Tensor) -> None:
    """The same of elements of 8 bits, in any order within 16 rows of `source`: four at once are read and written.

    Rows in shared memory begin an odd number of words apart.
    """
    read = s.cache_read(source, "shared", [turned])
    *outer, i, j = s[turned].op.axis
    row, i = s[turned].split(i, factor=64)
    column, j = s[turned].split(j, factor=64)
    s[turned].reorder(*outer, row, column, i, j)
    block = s[turned].fuse(*outer, row, column)
    s[turned].bind(block, thread_axis("blockIdx.x"))
    s[read].compute_at(s[turned], block)
    s[read].storage_align(s[read].op.axis[-2], 8, 4)
    for stage, slow, fast in ((s[turned], i, j), (s[read], *s[read].op.axis[-2:])):
        fast, four = stage.split(fast, factor=4)
        turn, thread = stage.split(stage.fuse(slow, fast), factor=256)
        stage.unroll(turn)
        stage.bind(thread, thread_axis("threadIdx.x"))
        stage.vectorize(four)


def add_up(s: Schedule, C: Tensor, total: Tensor) -> None:
    """A separate kernel, in which a thread adds two neighbours."""
    width = 2 if divisor_of(C.shape[-1]) % 2 == 0 else 1
    *outer, row, column = s[C].op.axis
    row = s[C].fuse(*outer, row) if outer else row
    block, column = s[C].split(column, factor=128 * width)
    thread, column = s[C].split(column, factor=width)
    s[C].bind(s[C].fuse(row, block), thread_axis("blockIdx.x"))
    s[C].bind(thread, thread_axis("threadIdx.x"))
    s[total].set_scope("local")
    s[total].compute_at(s[C], thread)
    (p,) = s[total].op.reduce_axis
    s[total].reorder(p, *s[total].op.axis)
    s[total].unroll(p)
    if width > 1:
        s[C].vectorize(column)
        s[total].vectorize(s[total].op.axis[-1])
