"""One stage of a schedule: a computed or cached tensor, its loops and where it is computed."""

from __future__ import annotations

from .asynchronous_primitives import AsynchronousPrimitives
from .inspection import Inspection
from .layout_primitives import LayoutPrimitives
from .loop_primitives import LoopPrimitives
from .memory_primitives import MemoryPrimitives
from .place_primitives import PlacePrimitives
from .tile_primitives import TilePrimitives

__all__ = ["Stage"]


class Stage(
    LoopPrimitives,
    PlacePrimitives,
    MemoryPrimitives,
    LayoutPrimitives,
    AsynchronousPrimitives,
    TilePrimitives,
    Inspection,
):
    """A stage: ``s[C]``. Its methods are the primitives; each names the loops that it makes after those it takes.

    A primitive raises ScheduleError where what it requires does not hold. It raises TypeError for an argument of
    another type, and ValueError for a number or word that it does not take. The error names the line of the call.

    >>> from tilewright import te
    >>> A = te.placeholder((8,), name="A")
    >>> B = te.compute((8,), lambda i: A[i] * 2, name="B")
    >>> s = te.create_schedule(B.op)
    >>> stage = s[B]
    >>> stage.op
    ComputeOp(B)
    >>> block, thread = stage.split(stage.op.axis[0], factor=4)
    >>> stage.bind(thread, te.thread_axis("threadIdx.x"))
    """

    __slots__ = ()
