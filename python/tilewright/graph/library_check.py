"""Whether a library computes what a group does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from .library_calls import LibraryCall

__all__ = ["is_right"]

_ROWS, _COLUMNS = 16, 256
"""So many rows and columns of each matrix are compared with float64: the first, the last, and others between."""
_TIMES = 8
"""A library's largest error is at most so many times that of the group's own kernel, or so many roundings."""
_MOST_ROUNDINGS, _MOST = 32, 1e-3
"""The error of the own kernel itself: more roundings, or more of the result's root mean square, are of something
else."""


def is_right(call: LibraryCall, own: Sequence[np.ndarray], result: np.ndarray) -> str:
    """What is wrong with a library's result, or "".

    Parameters
    ----------
    call
        What the library computed.
    own
        The inputs of the group, and the result of its own kernel.
    result
        The library's.
    """
    rows, columns = _spread(result.shape[-2], _ROWS), _spread(result.shape[-1], _COLUMNS)
    expected = _expected(call, own, rows, columns)
    mine, theirs = (np.asarray(each[..., rows, :][..., columns]) for each in (own[-1], result))
    if result.dtype.kind in "iu":
        return "" if np.array_equal(theirs, expected) and np.array_equal(mine, expected) else "wrong integers"
    size = math.sqrt(np.square(expected).mean()) or 1.0
    rounding = float(ml_dtypes.finfo(result.dtype).eps)  # pyright: ignore[reportUnknownArgumentType]
    errors = [float(np.abs(each.astype(np.float64) - expected).max(initial=0)) / size for each in (mine, theirs)]
    if not errors[0] <= max(_MOST_ROUNDINGS * rounding, _MOST):
        return f"the group's own kernel is off by {errors[0]:.2g} from what the library is to compute"
    if not errors[1] <= _TIMES * max(errors[0], rounding):
        return f"off by {errors[1]:.2g}, where the group's own kernel is off by {errors[0]:.2g}"
    return ""


def _spread(extent: int, most: int) -> list[int]:
    return sorted({(extent - 1) * i // (most - 1) for i in range(most)})


def _expected(
    call: LibraryCall, arrays: Sequence[np.ndarray], rows: Sequence[int], columns: Sequence[int]
) -> np.ndarray:
    """Some rows and columns of each matrix of the result, in double precision."""
    is_of_ints = arrays[-1].dtype.kind in "iu"

    def wide(array: np.ndarray) -> Any:
        return array.astype(np.int64 if is_of_ints else np.float64)

    def operand(place: int, order: Sequence[int] | None) -> Any:
        array: Any = arrays[place]
        return array if order is None else array.transpose(order)

    a, b = operand(call.a, call.a_order), operand(call.b, call.b_order)
    made = wide(a[..., rows, :]) @ wide(b[..., columns])
    if call.residual >= 0:
        made = made + wide(arrays[call.residual][..., rows, :][..., columns])
    if call.bias >= 0:
        made = made + wide(arrays[call.bias][..., columns])
    if call.epilogue == "relu":
        made = made.clip(0)
    elif call.epilogue == "gelu_tanh":
        inner: Any = np.tanh(0.7978845608028654 * (made + 0.044715 * made**3))
        made = 0.5 * made * (1 + inner)
    return made
