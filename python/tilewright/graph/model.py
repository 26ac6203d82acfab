"""A compiled model: one function, and everything that can be asked about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mlir import ir

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..target import Target
from ..te import Expr, Var
from .groups import Group
from .memory import memory_of
from .types import TensorType

__all__ = ["Model", "Plan", "PlannedBuffer"]


@dataclass(frozen=True, slots=True)
class PlannedBuffer:
    """A result of a group in the arena: where it lies, its bytes, and from which group to which it lives."""

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
    """The memory of a call: the arena, in bytes, and the results of groups in it."""

    arena_bytes: int
    buffers: tuple[PlannedBuffer, ...]

    def __str__(self) -> str:
        return "\n".join([f"arena: {self.arena_bytes} bytes", *map(str, self.buffers)])


class Model:
    """A model compiled to one function. Call it with its inputs, in their order or by name.

    NumPy's arrays and any that speak DLPack are taken. One output is returned as it is, several as a tuple: as tensors
    of PyTorch where an input is one, otherwise as arrays of NumPy. For target cuda, inputs in the processor's memory
    are copied to the GPU; where no input is NumPy's or PyTorch's, outputs are `tw.nd` arrays there.
    """

    name: str
    target: Target
    inputs: tuple[tuple[str, TensorType], ...]
    groups: tuple[Group, ...]
    plan: Plan
    outputs: tuple[tuple[str, TensorType], ...]

    def __init__(
        self, name: str, target: Target, inputs: Sequence[tuple[str, TensorType]],
        outputs: Sequence[tuple[str, ir.Value, TensorType]], arguments: Sequence[ir.Value], groups: Sequence[Group],
        constants: Mapping[ir.Value, np.ndarray], plan: Plan, texts: Mapping[str, str],
        stored: Mapping[str, str],
    ) -> None:  # fmt: skip
        self.name, self.target = name, target
        self.inputs, self.groups, self.plan = tuple(inputs), tuple(groups), plan
        self.outputs = tuple((each, kind) for each, _, kind in outputs)
        self._outputs = [value for _, value, _ in outputs]
        self._arguments, self._constants, self._texts = list(arguments), dict(constants), dict(texts)
        self._stored = dict(stored)
        self._memory = memory_of(target)
        self._placed: dict[ir.Value, Any] | None = None
        for group in self.groups:
            group.compile(target)

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that `ir` shows: the model as it was imported, and its groups."""
        return tuple(self._texts)

    def ir(self, stage: str) -> str:
        """The IR of a stage as text, which `tilewright-opt` reads again."""
        if stage not in self._texts:
            raise ValueError(f"expected a stage of a model ({', '.join(self._texts)}), got {stage!r}")
        return self._texts[stage]

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}: {kind}" for name, kind in self.inputs)
        outputs = ", ".join(f"{name}: {kind}" for name, kind in self.outputs)
        return f"<tilewright.Model {self.name}({inputs}) -> ({outputs}) for {self.target}>"

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Runs the model."""
        given = self._checked(arrays, named)
        extents: dict[str, int] = {}
        for (name, kind), array in zip(self.inputs, given):
            self._bind(name, kind, array.shape, extents)
        values = self._run(given, extents)
        memory = self._memory
        outputs = [memory.copy(values[one]) if self._is_given(one) else values[one] for one in self._outputs]
        for position, (name, _) in enumerate(self.outputs):
            if name in self._stored:
                outputs[position] = memory.viewed(outputs[position], self._stored[name])
        sources = [*arrays, *named.values()]
        results = tuple(memory.returned(one, sources) for one in outputs)
        return results[0] if len(results) == 1 else results

    def _run(self, given: Sequence[Any], extents: Mapping[str, int]) -> dict[ir.Value, Any]:
        """The tensors of a call by their values in the IR."""
        memory = self._memory
        if self._placed is None:
            self._placed = {value: memory.constant(array) for value, array in self._constants.items()}
        values: dict[ir.Value, Any] = dict(self._placed)
        values.update(zip(self._arguments, given))
        arena = memory.arena(self.plan.arena_bytes)
        for group in self.groups:
            self._run_group(group, values, extents, arena)
        return values

    def _run_group(self, group: Group, values: dict[ir.Value, Any], extents: Mapping[str, int], arena: Any) -> None:
        results = []
        for value, kind, offset in zip(group.results, group.types, group.offsets):
            shape = tuple(_number(extent, extents) for extent in kind.shape)
            if offset >= 0:
                values[value] = self._memory.part(arena, offset, shape, kind.dtype)
            else:
                values[value] = self._memory.empty(shape, kind.dtype)
            results.append(values[value])
        numbers = (extents[symbol.name] for symbol in group.symbols)
        group.function(*(values[value] for value in group.inputs), *results, *numbers)

    def _is_given(self, value: ir.Value) -> bool:
        """Whether an output is an input or a weight as it is: the caller gets a copy."""
        return value in self._arguments or value in self._constants

    def _checked(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        names = [name for name, _ in self.inputs]
        given = dict(zip(names, arrays))
        if len(arrays) > len(names) or (set(named) - set(names)) or (set(named) & set(given)):
            told = f"{len(arrays)} and {', '.join(map(repr, named))}" if named else str(len(arrays))
            raise TypeError(f"{self.name}: expected {len(names)} inputs ({', '.join(names) or 'none'}), got {told}")
        given.update(named)
        missing = [name for name in names if name not in given]
        if missing:
            raise TypeError(f"{self.name}: expected {len(names)} inputs, got none for {', '.join(map(repr, missing))}")
        return [self._array(name, kind, given[name]) for name, kind in self.inputs]

    def _array(self, name: str, kind: TensorType, given: Any) -> Any:
        expected = self._stored.get(name, kind.dtype)
        array = self._memory.given(f"{self.name}: input {name!r}", given)
        if array.dtype.name != expected:
            raise TypeError(f"{self.name}: input {name!r}: expected {expected}, got {array.dtype.name}")
        return self._memory.viewed(array, "uint8") if name in self._stored else array

    def _bind(self, name: str, kind: TensorType, shape: Sequence[int], extents: dict[str, int]) -> None:
        """Checks the shape of an input; a symbol is what its first extent says."""
        if len(shape) != kind.rank:
            raise ValueError(f"{self.name}: input {name!r}: expected {kind.rank} dimensions, got shape {tuple(shape)}")
        for d, (extent, got) in enumerate(zip(kind.shape, shape)):
            if isinstance(extent, Var):
                extents.setdefault(extent.name, got)
            wanted = _number(extent, extents)
            if wanted != got:
                symbol = "" if isinstance(extent, int) else f" ({extent})"
                raise ValueError(
                    f"{self.name}: input {name!r}, dimension {d}: expected {wanted}{symbol}, got shape {tuple(shape)}"
                )


def _number(extent: int | Expr, extents: Mapping[str, int]) -> int:
    """What an extent is in a call."""
    if isinstance(extent, int):
        return int(extent)
    from .extent_values import evaluate

    return evaluate(extent, extents)
