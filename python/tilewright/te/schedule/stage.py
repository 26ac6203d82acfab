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
    """A stage: ``s[C]``. Its methods are the primitives; each names the loops that it makes after those it takes."""

    __slots__ = ()
