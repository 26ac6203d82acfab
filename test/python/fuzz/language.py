"""What the text of random programs is made of, for te and for NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright import te


class Exact(np.ndarray):
    """A tensor's exact values. What `if_then_else` does not take may be read beyond the ends."""

    def __getitem__(self, indices: Any) -> Any:  # type: ignore[override]
        given = indices if isinstance(indices, tuple) else (indices,)
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


IN_NUMPY: dict[str, Any] = {
    "maximum": np.maximum, "minimum": np.minimum, "where": np.where, "if_then_else": np.where, "absolute": np.abs,
    "both": lambda *tests: np.logical_and.reduce(np.broadcast_arrays(*tests)), "cast": lambda value, dtype: value + 0.0,
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
    "te": te, "maximum": te.max, "minimum": te.min, "where": te.select, "if_then_else": te.if_then_else,
    "absolute": te.abs, "both": te.all, "cast": lambda value, dtype: value.astype(dtype),
    "total": lambda value, axes: te.sum(value, axis=axes), "product": lambda value, axes: te.prod(value, axis=axes),
    "largest": lambda value, axes: te.max(value, axis=axes), "least": lambda value, axes: te.min(value, axis=axes),
    "first_largest": lambda pair, axes: _ARGMAX(pair, axis=axes),
    "two_totals": lambda pair, axes: _TWO_SUMS(pair, axis=axes),
}  # fmt: skip
