"""How much of a GPU's memory a call of a model takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ..dtypes import itemsize
from ..errors import DriverError
from ..te import Var
from .extent_values import shape_of
from .types import TensorType
from .views import Parts

if TYPE_CHECKING:
    from mlir import ir

    from .groups import Group
    from .model import Model

__all__ = ["OUT_OF_MEMORY", "MemoryNeeds", "explained", "lives_of", "needs_of"]

OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY


@dataclass(frozen=True, slots=True)
class MemoryNeeds:
    """The bytes that a call takes. Of symbolic extents `arena` is what is live at once: no arena is smaller."""

    weights: int
    inputs: int
    outputs: int
    arena: int

    def __str__(self) -> str:
        parts = (self.weights, "weights"), (self.inputs, "inputs"), (self.outputs, "outputs"), (self.arena, "the arena")
        total = sum(size for size, _ in parts)
        return f"{total} bytes ({', '.join(f'{size} for {what}' for size, what in parts)})"


def needs_of(model: Model, extents: Mapping[str, int]) -> MemoryNeeds:
    """What a call takes in which the symbols have these values."""

    def size(kind: TensorType) -> int:
        return math.prod(shape_of(kind.shape, extents)) * itemsize(kind.dtype)

    return MemoryNeeds(
        sum(array.nbytes for array in model.constants.values()),
        sum(size(kind) for _, kind in model.inputs),
        sum(size(kind) for _, kind in model.outputs),
        max(model.plan.arena_bytes, _live_bytes(model, size)),
    )


def lives_of(
    groups: Sequence[Group], outputs: Sequence[ir.Value], parts: Parts
) -> dict[ir.Value, int]:  # fmt: skip
    """By result of a group, the last group that reads it, also through views. Parts that are outputs are copied at the
    end."""
    last = {value: i for i, group in enumerate(groups) for value in group.results}
    for i, group in enumerate(groups):
        last.update({parts.root_of(value): i for value in group.inputs})
    last.update({parts.root_of(value): len(groups) - 1 for value in outputs})
    return last


def _live_bytes(model: Model, size: Callable[[TensorType], int]) -> int:
    """The most bytes that results of groups take at once, but for those that are outputs."""
    last = lives_of(model.groups, model.results, model.parts)
    outputs = {model.parts.root_of(value, through_slices=False) for value in model.results}
    changes = [0] * (len(model.groups) + 1)
    for i, group in enumerate(model.groups):
        for value, kind in zip(group.results, group.types):
            if value not in outputs:
                changes[i] += size(kind)
                changes[last[value] + 1] -= size(kind)
    return max(accumulate(changes), default=0)


def explained(error: DriverError, model: Model, arrays: Sequence[Any]) -> DriverError:
    """The error of a driver that has no memory left, with what the model's plan needs for these inputs."""
    extents: dict[str, int] = {}
    for (_, kind), array in zip(model.inputs, arrays):
        for extent, got in zip(kind.shape, getattr(array, "shape", ())):
            if isinstance(extent, Var):
                extents.setdefault(extent.name, int(got))
    detail = f"{error.detail}; a call of {model.name} needs {needs_of(model, extents)}"
    return DriverError(error.call, error.code, error.name, detail)
