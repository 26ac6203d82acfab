"""Computes that are written into a scan, as a schedule knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...messages.location import user_source
from ..expr import IterVar
from .checks import schedule_error
from .stage import Stage
from .stage_handles import StageHandles

if TYPE_CHECKING:
    from mlir import ir

__all__ = ["WrittenStage"]


class WrittenStage(Stage):
    """A compute between a scan's state and its update: it is computed where the update reads it.

    Where TVM would have it computed says nothing here.
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        return self.op.name

    @property
    def handle(self) -> ir.Value:
        raise schedule_error(
            user_source(),
            f"expected a stage with loops of its own, got '{self.name}', which is computed where the update of a scan "
            "reads it",
        )

    def compute_at(self, parent: StageHandles, scope: IterVar) -> None:
        """What holds anyway."""

    def compute_inline(self) -> None:
        """What holds anyway."""

    def compute_root(self) -> None:
        """Nothing: a compute in a scan has no loops of its own."""

    def set_scope(self, scope: str) -> None:
        """Nothing: it has no tensor of its own."""
