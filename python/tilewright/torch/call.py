"""One call of an operator of ATen, as its converter sees it, and the table of converters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from ..errors import CompileError
from ..graph import GraphBuilder, TensorType, Value
from ..graph.numbers import number_of
from ..graph.random import RandomNumbers
from ..guards import is_listed, is_sequence
from ..te import Expr
from .dtypes import dtype_name
from .extents import Extents, SymbolicFloat

__all__ = ["CONVERTERS", "Call", "Converter", "converter", "of_shape", "real_dtype", "refused", "whole"]

Converter = Callable[..., Any]

CONVERTERS: dict[str, Converter] = {}
"""By operator and overload, as `add.Tensor`, what makes operators of the graph of a call: it gets the arguments in the
order of the schema."""

_RANDOM = "its result is random"
refused: dict[str, str] = {}
"""Operators that cannot be compiled, and why."""


_PARTS = {torch.complex32: torch.float16, torch.complex64: torch.float32, torch.complex128: torch.float64}


def real_dtype(dtype: torch.dtype) -> torch.dtype:
    """The type of the parts of a complex number; other types are as they are.

    >>> real_dtype(torch.complex64)
    torch.float32
    """
    return _PARTS.get(dtype, dtype)


def converter(*operators: str) -> Callable[[Converter], Converter]:
    """Puts a function into `CONVERTERS` for some operators."""

    def put(function: Converter) -> Converter:
        CONVERTERS.update(dict.fromkeys(operators, function))
        return function

    return put


class Call:
    """A call: what it is named, the types of its results, and what its converter needs to make operators."""

    builder: GraphBuilder
    extents: Extents
    target: str
    label: str

    def __init__(
        self, builder: GraphBuilder, extents: Extents, target: str, label: str, result: Any,
        random: RandomNumbers | None = None,
    ) -> None:  # fmt: skip
        self.builder, self.extents, self.target, self.label, self._result = builder, extents, target, label, result
        self._random = random

    @property
    def random(self) -> RandomNumbers:
        """What makes random numbers; where the graph has no seed, these are refused."""
        if self._random is None:
            raise self.error(f"cannot be compiled: {_RANDOM}")
        return self._random

    def type(self, number: int = 0) -> TensorType:
        """The type of a result."""
        made: Any = self._result[number] if is_listed(self._result) else self._result
        return TensorType(self.extents.shape(made.shape), dtype_name(real_dtype(made.dtype)))

    @property
    def types(self) -> list[TensorType]:
        """The types of the results, where they are a list."""
        return [self.type(number) for number in range(len(self._result))]

    def counted(self, count: Value, number: int = 0, dim: int = 0) -> int | Expr:
        """The extent of a result in a dimension that data decide: a symbol that stands for `count` from here on."""
        made: Any = self._result[number] if is_listed(self._result) else self._result
        return self.extents.counted(self.builder, made.shape[dim], count)

    def take(self, x: Value) -> None:
        """The result is a number of Python: the element of a tensor that has one."""
        made: Any = self._result
        x = self.reshape(x, [])
        if isinstance(made, torch.SymInt):
            self.extents.counted(self.builder, made, self.cast(x, "int64"))
        elif isinstance(made, torch.SymFloat):
            self.extents.floats[str(made.node.expr)] = self.cast(x, "float64")  # pyright: ignore[reportUnknownArgumentType]
        else:
            raise self.error(f"expected an integer or a float as a number that data decide, got {x.dtype}")

    @property
    def is_complex(self) -> bool:
        """Whether the first result is complex; `type` is that of its parts."""
        made: Any = self._result[0] if is_listed(self._result) else self._result
        return made.dtype in _PARTS

    @property
    def shape(self) -> list[Any]:
        """The extents of the first result."""
        return list(self.type().shape)

    @property
    def dtype(self) -> str:
        """The element type of the first result."""
        return self.type().dtype

    def error(self, message: str) -> CompileError:
        """An error that names the call."""
        return CompileError(f"{self.label}: {message}", stage="graph")

    def op(self, name: str, *operands: Value, **attributes: Any) -> Value:
        """An operator of the graph with one result."""
        return self.builder.op(name, *operands, **attributes)

    def constant(self, value: object, like: Value | str) -> Value:
        """A number as a constant of the type of a tensor."""
        dtype = like if isinstance(like, str) else like.dtype
        if isinstance(value, Expr):
            return self.cast(self.number_of(value), dtype)
        if isinstance(value, SymbolicFloat):
            return self.cast(self.float_of(value.expr), dtype)
        with np.errstate(all="ignore"):
            return self.builder.constant(np.asarray(value).astype(np.dtype(dtype)))

    def number_of(self, extent: int | Expr) -> Value:
        """An extent as a tensor of one int64."""
        return number_of(self.builder, extent)

    def float_of(self, expr: Any) -> Value:
        """A float that is computed of symbolic sizes, an expression of sympy, as a tensor of one float64."""
        return self.extents.float_of(expr)

    def array(self, value: np.ndarray) -> Value:
        """A constant of several elements."""
        if value.size == 1:
            return self.builder.constant(value)
        return self.builder.weight(f"constant{len(self.builder.weights)}", np.ascontiguousarray(value))

    def cast(self, x: Value, to: str) -> Value:
        """A tensor in another element type."""
        if x.dtype == to:
            return x
        if to == "bool":
            return self.op("not_equal", x, self.constant(0, x))
        return self.op("cast", x, to=to, saturate=True)

    def reshape(self, x: Value, shape: Sequence[Any]) -> Value:
        """A tensor in another shape."""
        return self.op("reshape", x, shape=list(shape))

    def expand(self, x: Value, shape: Sequence[Any]) -> Value:
        """A tensor broadcast to a shape."""
        return x if list(map(str, x.shape)) == list(map(str, shape)) else self.op("expand", x, shape=list(shape))

    def axis(self, axis: int, rank: int) -> int:
        """An axis counted from 0."""
        return axis % rank if rank else 0

    def axes(self, axes: Any, rank: int) -> list[int]:
        """Axes counted from 0, in order; all of them where none are given."""
        if axes is None or is_sequence(axes) and not axes:
            return list(range(rank))
        return sorted({self.axis(one, rank) for one in ([axes] if isinstance(axes, int) else axes)})

    def number(self, extent: Any, what: str) -> int:
        """An extent that has to be known."""
        if not isinstance(extent, int):
            raise self.error(f"{what}: expected a number, got {extent}")
        return extent


def dtype_of_torch(dtype: torch.dtype | None, default: str) -> str:
    """NumPy's name of an optional element type."""
    return default if dtype is None else dtype_name(dtype)


def whole(call: Call, x: Value, name: str) -> Value:
    """An input in its own shape, of the dimensions of `Extents.parts`."""
    wanted = [*call.shape, 2] if call.is_complex else call.shape
    if list(map(str, x.shape)) == list(map(str, wanted)):
        return x
    if len(x.shape) != len(wanted):
        symbols = {str(one): one for one in x.shape}
        places = [symbols.get(f"{name}__{d}", extent) for d, extent in enumerate(wanted)]
        x = call.reshape(x, places)
    return of_shape(call, x, wanted)


def of_shape(call: Call, x: Value, wanted: Sequence[Any]) -> Value:
    """A tensor whose shape is written in another way, such as n for the sum of n // 2 and (n + 1) // 2."""
    if list(map(str, x.shape)) == list(map(str, wanted)):
        return x
    return call.op("slice", x, starts=[0] * x.rank, steps=[1] * x.rank, sizes=list(wanted))
