"""What ends the import of a node, beside an error in it."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import CompileError, TilewrightError

__all__ = ["AlreadyFailed", "NeedsInput"]


class NeedsInput(CompileError):
    """The values of inputs of the model decide shapes, and are not known."""

    names: tuple[str, ...]

    def __init__(self, label: str, names: Sequence[str]) -> None:
        told = ", ".join(map(repr, names))
        super().__init__(
            f"{label}: expected the value of input {told}, which decides shapes, among constants=, got none",
            stage="graph",
        )
        self.names = tuple(names)


class AlreadyFailed(TilewrightError):
    """What a node needs was told to be wrong."""
