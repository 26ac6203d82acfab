"""A compiled model: one function, and everything that can be asked about it."""

from __future__ import annotations

import sys
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
from .types import TensorType

__all__ = ["Model", "Plan", "PlannedBuffer", "fitting"]

_ALIGNMENT = 64


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
    of PyTorch where an input is one, otherwise as arrays of NumPy.
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
        as_tensors = any(map(_is_tensor, (*arrays, *named.values())))
        given = self._checked(arrays, named)
        extents: dict[str, int] = {}
        for (name, kind), array in zip(self.inputs, given):
            self._bind(name, kind, array.shape, extents)
        values: dict[ir.Value, np.ndarray] = dict(self._constants)
        values.update(zip(self._arguments, given))
        arena = _aligned(self.plan.arena_bytes)
        for group in self.groups:
            results = []
            for value, kind, offset in zip(group.results, group.types, group.offsets):
                shape = tuple(_number(extent, extents) for extent in kind.shape)
                dtype = _numpy_dtype(kind.dtype)
                if offset >= 0:
                    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
                    array = arena[offset : offset + size].view(dtype).reshape(shape)
                else:
                    array = np.empty(shape, dtype)
                values[value] = array
                results.append(array)
            numbers = (extents[symbol.name] for symbol in group.symbols)
            group.function(*(values[value] for value in group.inputs), *results, *numbers)
        outputs = tuple(np.array(values[value]) if self._is_given(value) else values[value] for value in self._outputs)
        if self._stored:
            outputs = tuple(
                array.view(_numpy_dtype(self._stored[name])) if name in self._stored else array
                for (name, _), array in zip(self.outputs, outputs)
            )
        if as_tensors:
            from .torch_tensors import tensor_of

            outputs = tuple(map(tensor_of, outputs))
        return outputs[0] if len(outputs) == 1 else outputs

    def _is_given(self, value: ir.Value) -> bool:
        """Whether an output is an input or a weight as it is: the caller gets a copy."""
        return value in self._arguments or value in self._constants

    def _checked(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> list[np.ndarray]:
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

    def _array(self, name: str, kind: TensorType, given: Any) -> np.ndarray:
        if isinstance(given, np.generic):
            given = np.asarray(given)
        if _is_tensor(given):
            given = _array_of_tensor(self.name, name, given)
        if not isinstance(given, np.ndarray):
            if not hasattr(given, "__dlpack__"):
                raise TypeError(f"{self.name}: input {name!r}: expected an array, got {type(given).__name__}")
            given = np.from_dlpack(given)
        expected = self._stored.get(name, kind.dtype)
        if given.dtype.name != expected:
            raise TypeError(f"{self.name}: input {name!r}: expected {expected}, got {given.dtype.name}")
        if name in self._stored:
            given = np.ascontiguousarray(given).view(np.uint8).reshape(given.shape)
        return fitting(given)

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


def _is_tensor(given: Any) -> bool:
    """Whether it is a tensor of PyTorch; who has one has imported torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(given, torch.Tensor)


def _array_of_tensor(model: str, name: str, tensor: Any) -> np.ndarray:
    from .torch_tensors import array_of

    if tensor.device.type != "cpu":
        raise ValueError(f"{model}: input {name!r}: expected a tensor on cpu, got one on {tensor.device}")
    return array_of(tensor)


def fitting(array: np.ndarray) -> np.ndarray:
    """An array as compiled programs take them: row-major and aligned. One that is not is copied."""
    if array.flags.c_contiguous and array.ctypes.data % 16 == 0:
        return array
    held = _aligned(array.nbytes).view(array.dtype).reshape(array.shape)
    held[...] = array
    return held


def _aligned(size: int) -> np.ndarray:
    """Bytes whose address is a multiple of 64."""
    held = np.empty(size + _ALIGNMENT, np.uint8)
    begin = -held.ctypes.data % _ALIGNMENT
    return held[begin : begin + size]


def _numpy_dtype(name: str) -> np.dtype:
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)


def _number(extent: int | Expr, extents: Mapping[str, int]) -> int:
    """What an extent is in a call."""
    if isinstance(extent, int):
        return int(extent)
    from .extent_values import evaluate

    return evaluate(extent, extents)
