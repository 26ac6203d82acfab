"""Where the results of groups lie in the memory of a call."""

from __future__ import annotations

from dataclasses import dataclass

from .types import TensorType

__all__ = ["Plan", "PlannedBuffer"]


@dataclass(frozen=True, slots=True)
class PlannedBuffer:
    """A result in the arena that `tw.compile` plans: its place, its bytes, and from which group to which it lives."""

    name: str
    type: TensorType
    offset: int
    bytes: int
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.offset:>10} +{self.bytes:<10} groups {self.first}-{self.last}  {self.name} {self.type}"


@dataclass(frozen=True, slots=True)
class Plan:
    """The memory of a call of what `tw.compile` makes: the arena, in bytes, and the results of groups in it."""

    arena_bytes: int
    buffers: tuple[PlannedBuffer, ...]

    @property
    def live_bytes(self) -> int:
        """The most bytes that results need at once: no arena is smaller."""
        groups = {buffer.first for buffer in self.buffers}
        return max((sum(one.bytes for one in self.buffers if one.first <= i <= one.last) for i in groups), default=0)

    def __str__(self) -> str:
        head = f"arena: {self.arena_bytes} bytes, of which {self.live_bytes} are live at once"
        return "\n".join([head, *map(str, self.buffers)])
