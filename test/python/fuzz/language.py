"""What the text of random programs is made of, for te and for NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright import te

# All integers up to here, and no further, are numbers of the type.
LARGEST = {
    "float32": 2**24, "float64": 2**53, "float16": 2**11, "int32": 2**31 - 1, "int8": 127, "int64": 2**53,
    "bfloat16": 2**8, "int16": 2**15 - 1, "uint8": 2**8 - 1, "uint16": 2**16 - 1, "uint32": 2**32 - 1, "uint64": 2**53,
    "bool": 1, "float8_e4m3fn": 16, "float8_e5m2": 8,
}  # fmt: skip
DTYPES = tuple(dtype for dtype in LARGEST if dtype != "bool" and "float8" not in dtype)
"""Those with arithmetic."""


class Inexact(Exception):
    """A program would compute what a type does not have."""


def holds(values: NDArray[Any], dtype: str) -> bool:
    """True where a type has all of the values, and all integers between."""
    is_natural = dtype == "bool" or dtype.startswith("uint")
    return bool(np.abs(values).max(initial=0) <= LARGEST[dtype] and not (is_natural and np.min(values, initial=0) < 0))


class Exact(np.ndarray):
    """A tensor's exact values. What `if_then_else` does not take may be read beyond the ends."""

    def __getitem__(self, indices: Any) -> Any:  # type: ignore[override]
        given = indices if isinstance(indices, tuple) else (indices,)
        if 0 in self.shape:
            return np.zeros(np.broadcast_shapes(*(np.shape(index) for index in given)))
        clipped = tuple(np.clip(index, 0, extent - 1) for index, extent in zip(given, self.shape))
        return np.asarray(self)[tuple(index.astype(np.int64) for index in clipped)]


def _first_largest(pair: tuple[NDArray[Any], NDArray[Any]], axes: tuple[int, ...]) -> tuple[Any, Any]:
    index, value = (np.moveaxis(part, axes, range(-len(axes), 0)) for part in np.broadcast_arrays(*pair))
    index, value = (part.reshape(*part.shape[: part.ndim - len(axes)], -1) for part in (index, value))
    largest = value.max(axis=-1, keepdims=True)
    return np.where(value == largest, index, np.inf).min(axis=-1), largest[..., 0]


def two_totals(pair: Sequence[NDArray[Any]], axes: tuple[int, ...]) -> tuple[Any, Any]:
    """Sums of two at once."""
    left, right = (part.sum(axis=axes) for part in np.broadcast_arrays(*pair))
    return left, right


def _cast(value: NDArray[Any], dtype: str) -> NDArray[np.float64]:
    if not holds(value, dtype):
        raise Inexact
    return value + 0.0


def _of_integers(operation: Any) -> Any:
    """An operation on integers, of floats that are integers."""
    return lambda *values: operation(*(np.asarray(value).astype(np.int64) for value in values)).astype(np.float64)


def _truncdiv(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y))


IN_NUMPY: dict[str, Any] = {
    "floordiv": _of_integers(np.floor_divide), "floormod": _of_integers(np.remainder), "truncdiv": _of_integers(_truncdiv),
    "truncmod": _of_integers(lambda x, y: x - y * _truncdiv(x, y)), "bits_and": _of_integers(np.bitwise_and),
    "bits_or": _of_integers(np.bitwise_or), "bits_xor": _of_integers(np.bitwise_xor), "bits_not": _of_integers(np.invert),
    "shifted_left": _of_integers(np.left_shift), "shifted_right": _of_integers(np.right_shift),
    "either": lambda *tests: np.logical_or.reduce(np.broadcast_arrays(*tests)), "negated": np.logical_not,
    "maximum": np.maximum, "minimum": np.minimum, "where": np.where, "if_then_else": np.where, "absolute": np.abs,
    "both": lambda *tests: np.logical_and.reduce(np.broadcast_arrays(*tests)), "cast": _cast,
    "total": lambda value, axes: value.sum(axis=axes), "product": lambda value, axes: value.prod(axis=axes),
    "largest": lambda value, axes: value.max(axis=axes), "least": lambda value, axes: value.min(axis=axes),
    "first_largest": _first_largest, "two_totals": two_totals,
}  # fmt: skip


def _combine(x: Any, y: Any) -> Any:
    left = te.any(x[1] > y[1], te.all(x[1] == y[1], x[0] < y[0]))
    return te.select(left, x[0], y[0]), te.select(left, x[1], y[1])


_TWO_SUMS = te.comm_reducer(
    lambda x, y: (x[0] + y[0], x[1] + y[1]), lambda t0, t1: (te.const(0, t0), te.const(0, t1)), name="two_sums"
)
_ARGMAX = te.comm_reducer(_combine, lambda t0, t1: (te.const(2**30, t0), te.min_value(t1)), name="argmax")
IN_TE: dict[str, Any] = {
    "floordiv": te.floordiv, "floormod": te.floormod, "truncdiv": te.truncdiv, "truncmod": te.truncmod,
    "bits_and": lambda x, y: x & y, "bits_or": lambda x, y: x | y, "bits_xor": lambda x, y: x ^ y, "bits_not": lambda x: ~x,
    "shifted_left": lambda x, y: x << y, "shifted_right": lambda x, y: x >> y, "either": te.any, "negated": lambda x: ~x,
    "te": te, "maximum": te.max, "minimum": te.min, "where": te.select, "if_then_else": te.if_then_else,
    "absolute": te.abs, "both": te.all, "cast": lambda value, dtype: value.astype(dtype),
    "total": lambda value, axes: te.sum(value, axis=axes), "product": lambda value, axes: te.prod(value, axis=axes),
    "largest": lambda value, axes: te.max(value, axis=axes), "least": lambda value, axes: te.min(value, axis=axes),
    "first_largest": lambda pair, axes: _ARGMAX(pair, axis=axes),
    "two_totals": lambda pair, axes: _TWO_SUMS(pair, axis=axes),
}  # fmt: skip
