"""Operations whose arrays may have strides: no copy is made of a view whose last axis is dense."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import as_dtype, item_bytes
from ..runtime.arrays import is_of_torch
from ..target import Target
from .operator import Operand, Operator, Scheduled, frozen, is_on_gpu
from .strides import row_major, strides_of

__all__ = ["StridedOperator", "empty_like", "strided_operator"]

_ALIGNMENT = 16


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

    def __init__(self, make: Callable[..., Scheduled], shape: Callable[..., tuple[int, ...]]) -> None:
        """`shape` is that of the result, of the operands by name."""
        super().__init__(make)
        self._shape = shape

    def _run(self, *arrays: Any, target: Target | str | None = None, out: Any = None, **options: Any) -> Any:
        given, rest = self._split(arrays, options)
        if all(strides_of(array) is None for array in (*given.values(), out)):
            return super()._run(*arrays, target=target, out=out, **options)
        # Strides that a schedule cannot have, as of a reversed axis, are copied.
        given = {name: array if strides_of(array) else row_major(array) for name, array in given.items()}
        operands = tuple((name, operand_of(array, f"{self.__name__}: {name}")) for name, array in given.items())
        where = "cpu" if target is None and not any(map(is_on_gpu, given.values())) else target
        if out is None:
            first = next(iter(given.values()))
            out = empty_like(first, self._shape(**dict(operands)))
        if (strides := strides_of(out)) is not None:
            rest["strides"] = strides
        function = self._function(operands, frozen(rest), Target(where) if where is not None else Target("cuda"))
        function(*given.values(), out)
        return out


def empty_like(array: Any, shape: tuple[int, ...]) -> Any:
    """A new array whose axes follow one another in memory as those of another do."""
    strides = strides_of(array)
    order = sorted(range(len(shape)), key=lambda axis: -strides[axis]) if strides else list(range(len(shape)))
    permuted = [shape[axis] for axis in order]
    back = [order.index(axis) for axis in range(len(shape))]
    if is_of_torch(array):
        return array.new_empty(permuted).permute(back)
    return np.empty(permuted, as_dtype(str(array.dtype))).transpose(back)  # pyright: ignore[reportUnknownVariableType]


def strided_operator(shape: Callable[..., tuple[int, ...]]) -> Callable[[Callable[..., Scheduled]], StridedOperator]:
    """Makes an operation, whose result has this shape of the operands, of a function that makes a schedule."""
    return lambda make: StridedOperator(make, shape)
