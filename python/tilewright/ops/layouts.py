"""Operations whose arrays may have strides: no copy is made of a view whose last axis is dense."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import as_dtype, item_bytes
from ..runtime.arrays import is_of_torch
from ..target import Target
from .operator import Operand, Operator, Scheduled, frozen, is_on_gpu
from .strides import row_major, strides_of

__all__ = ["StridedOperator", "empty_like", "operand_of", "strided_operator"]

_ALIGNMENT = 16
_Once = Callable[[dict[str, Any]], dict[str, Any]]
_Shape = Callable[..., tuple[int, ...]]
_Beside = Callable[..., tuple[Operand, ...]]


def operand_of(array: Any, name: str) -> Operand:
    """What is known of an array, with its strides and what divides its address."""
    operand, strides = Operand.of(array, name), strides_of(array)
    if strides is None:
        return operand
    address = array.data_ptr() if is_of_torch(array) else array.ctypes.data
    align = _ALIGNMENT if address % _ALIGNMENT == 0 else item_bytes(operand.dtype)
    return Operand(operand.shape, operand.dtype, strides, align)


class StridedOperator(Operator):
    """An operation that reads arrays of any strides, without a copy. Its option `strides` are those of the result."""

    def __init__(
        self, make: Callable[..., Scheduled], shape: _Shape | None, once: _Once, beside: _Beside | None
    ) -> None:
        """`shape` is that of the result, of the operands by name; None for results that are row-major. `once` gives
        arrays that repeat less. `beside` has the row-major results beside the first."""
        super().__init__(make)
        self._shape, self._once, self._beside = shape, once, beside

    def _run(self, *arrays: Any, target: Target | str | None = None, out: Any = None, **options: Any) -> Any:
        given, rest = self._split(arrays, options)
        is_placed = out is not None and (self._shape is None or self._beside is not None)
        if is_placed or all(strides_of(array) is None for array in (*given.values(), out)):
            return super()._run(*arrays, target=target, out=out, **options)
        # Strides that a schedule cannot have, as of a reversed axis, are copied.
        given = {name: array if strides_of(array) else row_major(array) for name, array in given.items()}
        operands = self._laid(given)
        where = "cpu" if target is None and not any(map(is_on_gpu, given.values())) else target
        first, shapes = next(iter(given.values())), dict(operands)
        if out is None and self._shape is not None:
            out = empty_like(first, self._shape(**shapes))
        if (strides := strides_of(out)) is not None:
            rest["strides"] = strides
        fewer = self._once(given)
        if fewer is not given:
            given, operands = fewer, self._laid(fewer)
        function = self._function(operands, frozen(rest), Target(where) if where is not None else Target("cuda"))
        if self._shape is None:
            return function(*given.values())
        others = [_empty(first, one) for one in (self._beside(**shapes) if self._beside is not None else ())]
        function(*given.values(), out, *others)
        return (out, *others) if others else out

    def _laid(self, given: dict[str, Any]) -> tuple[tuple[str, Operand], ...]:
        return tuple((name, operand_of(array, f"{self.__name__}: {name}")) for name, array in given.items())


def empty_like(array: Any, shape: tuple[int, ...]) -> Any:
    """A new array whose axes follow one another in memory as those of another do."""
    strides = strides_of(array)
    order = sorted(range(len(shape)), key=lambda axis: -strides[axis]) if strides else list(range(len(shape)))
    permuted = [shape[axis] for axis in order]
    back = [order.index(axis) for axis in range(len(shape))]
    if is_of_torch(array):
        return array.new_empty(permuted).permute(back)
    return np.empty(permuted, as_dtype(str(array.dtype))).transpose(back)  # pyright: ignore[reportUnknownVariableType]


def _empty(array: Any, operand: Operand) -> Any:
    """A new row-major array of another one's library."""
    if is_of_torch(array):
        return array.new_empty(operand.shape, dtype=getattr(sys.modules["torch"], operand.dtype))
    return np.empty(operand.shape, as_dtype(operand.dtype))


def strided_operator(
    shape: _Shape | None, once: _Once, beside: _Beside | None = None
) -> Callable[[Callable[..., Scheduled]], StridedOperator]:
    """Makes an operation, whose result has this shape of the operands, of a function that makes a schedule."""
    return lambda make: StridedOperator(make, shape, once, beside)
