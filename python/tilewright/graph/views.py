"""Tensors that are other tensors' memory, read in another order: what slices, reshapes and transposes make."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from mlir import ir

from ..te import Var
from .definitions import attributes_of, operators_in
from .types import TensorType, from_ir

__all__ = ["Part", "Parts", "View", "laid_out_by", "parts_in", "view_of"]

_RESHAPES_IN_PLACE = np.lib.NumpyVersion(version("numpy")) >= "2.1.0"


@dataclass(frozen=True, slots=True)
class Part:
    """A value outside of groups that is row-major memory of another one: all of it, or from an element on."""

    of: Any  # an ir.Value, which pyright takes for a descriptor
    type: TensorType
    begin: int
    is_whole: bool


class Parts(dict[ir.Value, Part]):
    """The values of a model that are views outside of groups, by their values in the IR, in their order."""

    def root_of(self, value: ir.Value, through_slices: bool = True) -> ir.Value:
        """The value whose memory a value is; the last one that is all of it where slices are not gone through."""
        while value in self and (self[value].is_whole or through_slices):
            value = self[value].of
        return value


def parts_in(function: ir.Operation, symbols: Mapping[str, Var]) -> Parts:
    """The values of a model that `view-reshapes` has taken out of groups."""
    found = Parts()
    for operation in operators_in(function.regions[0].blocks[0]):
        begin, of = 0, operation.operands[0]
        is_slice = operation.name == "graph.slice"
        if is_slice:
            starts = attributes_of(operation, symbols)["starts"]
            for start, extent in zip(starts, ir.RankedTensorType(of.type).shape, strict=True):
                begin = begin * extent + start
        found[operation.result] = Part(of, from_ir(operation.result.type, symbols), begin, not is_slice)
    return found


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
    shape = tuple(ir.RankedTensorType(result.type).shape)
    try:
        if _RESHAPES_IN_PLACE:
            return array.reshape(shape, copy=False)
        made = array.view()
        made.shape = shape  # deprecated since NumPy 2.5
    except (AttributeError, ValueError):
        return None
    return made


def _unbacked(shape: Sequence[int]) -> np.ndarray:
    """An array of bytes that has no memory: only its strides count."""
    strides = [math.prod(shape[d + 1 :]) for d in range(len(shape))]
    return np.lib.stride_tricks.as_strided(np.empty(1, np.int8), shape, strides)
