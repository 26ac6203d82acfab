"""The kernels beside a matmul's or a convolution's own: those that write workspaces, and that read them."""

from __future__ import annotations

from ..te import IterVar, Tensor, thread_axis
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


def _through_shared(
    s: Schedule, copied: Tensor, source: Tensor, columns: int, align: tuple[int, int]
) -> list[tuple[Stage, IterVar, IterVar]]:
    """A block copies a tile of 64 rows through shared memory: each of the two stages, with the axes of its tile."""
    read, stage = s.cache_read(source, "shared", [copied]), s[copied]
    *outer, i, j = stage.op.axis
    row, i = stage.split(i, factor=64)
    column, j = stage.split(j, factor=columns)
    stage.reorder(*outer, row, column, i, j)
    block = stage.fuse(*outer, row, column)
    stage.bind(block, thread_axis("blockIdx.x"))
    s[read].compute_at(stage, block)
    slow, fast = s[read].op.axis[-2:]
    s[read].storage_align(slow, *align)
    return [(stage, i, j), (s[read], slow, fast)]


def transposing_copy(s: Schedule, copied: Tensor, source: Tensor) -> None:
    """A separate kernel that writes `copied`, whose last two axes are those of `source` in the other order.

    A block moves a tile of 32 x 64 elements through shared memory. It reads along the rows of `source` and writes along
    the rows of `copied`. Rows in shared memory begin an odd number of elements apart.
    """
    for stage, slow, fast in _through_shared(s, copied, source, 32, (2, 1)):
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
    for stage, slow, fast in _through_shared(s, turned, source, 64, (8, 4)):
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
