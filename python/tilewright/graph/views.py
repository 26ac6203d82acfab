"""Tensors that are other tensors' memory, read in another order: what slices, reshapes and transposes make."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mlir import ir

from ..te import Var
from .definitions import attributes_of

__all__ = ["View", "laid_out_by", "view_of"]


@dataclass(frozen=True, slots=True)
class View:
    """Elements of a row-major tensor as a tensor of that shape. Strides, and where it begins, are in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    begin: int

    @property
    def is_whole(self) -> bool:
        """Whether it is row-major itself."""
        expected = 1
        for extent, stride in zip(reversed(self.shape), reversed(self.strides)):
            if extent != 1 and stride != expected:
                return False
            expected *= extent
        return self.begin == 0

    def of(self, array: np.ndarray) -> np.ndarray:
        """The view of an array."""
        size = array.itemsize
        begin = array.reshape(-1)[self.begin :]
        return np.lib.stride_tricks.as_strided(begin, self.shape, [stride * size for stride in self.strides])


def view_of(shape: Sequence[int], operations: Iterable[ir.Operation], symbols: Mapping[str, Var]) -> View | None:
    """What the operations, one behind the other, make of a row-major tensor; None where they need a copy."""
    whole = _unbacked(shape)
    made: Any = whole
    for operation in operations:
        options = attributes_of(operation, symbols)
        if operation.name == "graph.slice":
            starts, steps, sizes = (options[name] for name in ("starts", "steps", "sizes"))
            if any(step < 1 for step in steps):
                return None
            made = made[
                tuple(slice(at, at + step * size, step) for at, step, size in zip(starts, steps, sizes, strict=True))
            ]
        else:
            made = _moved(made, operation.name, options.get("permutation"), operation.result)
        if made is None:
            return None
    begin = made.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return View(made.shape, made.strides, begin)


def laid_out_by(shape: Sequence[int], operations: Sequence[ir.Operation], symbols: Mapping[str, Var]) -> View | None:
    """How a tensor of `shape` lies if the operations, one behind the other, make a row-major tensor of it; None where
    they need a copy."""
    last = ir.RankedTensorType(operations[-1].result.type)
    made: Any = _unbacked(last.shape)
    for operation in reversed(operations):
        permutation = attributes_of(operation, symbols).get("permutation")
        inverse = None if permutation is None else [int(one) for one in np.argsort(permutation)]
        made = _moved(made, operation.name, inverse, operation.operands[0])
        if made is None:
            return None
    return View(made.shape, made.strides, 0) if made.shape == tuple(shape) else None


def _moved(array: Any, name: str, permutation: Sequence[int] | None, result: ir.Value) -> Any:
    """An array reshaped or transposed without a copy; None where there is none."""
    if name == "graph.transpose":
        return array.transpose(permutation)
    if name != "graph.reshape":
        return None
    made = array.view()
    try:
        made.shape = tuple(ir.RankedTensorType(result.type).shape)
    except AttributeError:
        return None
    return made


def _unbacked(shape: Sequence[int]) -> np.ndarray:
    """An array of bytes that has no memory: only its strides count."""
    strides = [math.prod(shape[d + 1 :]) for d in range(len(shape))]
    return np.lib.stride_tricks.as_strided(np.empty(1, np.int8), shape, strides)
