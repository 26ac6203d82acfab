"""Softmax of rows that are too long for registers: the maximum and the sum in one pass over memory."""

from __future__ import annotations

from typing import Any

from ..target import Target
from ..te import Expr, Tensor, abs, comm_reducer, compute, const, exp, max, reduce_axis, select

__all__ = ["is_long", "largest_and_total"]

# The longest row that a block keeps in registers, so that each element is read once.
_KEPT = 40960
# Below all that is finite: what it is subtracted from is no infinity less infinity.
_LEAST = {"float32": -3.4028234663852886e38, "float64": -1.7976931348623157e308}


def is_long(X: Tensor, axis: int, target: Target | None) -> bool:
    """Whether a GPU has to read rows along an axis more than once."""
    extent = X.shape[axis]
    is_gpu = target is None or target.kind != "cpu"
    return is_gpu and isinstance(extent, int) and extent > _KEPT and all_static(X)


def all_static(X: Tensor) -> bool:
    return all(isinstance(extent, int) for extent in X.shape)


def _merged(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    """The maximum of both, and their sums relative to it. One of the two factors is 1, the other this power."""
    power = exp(-abs(a[0] - b[0]))
    is_first = a[0] >= b[0]
    return select(is_first, a[0], b[0]), select(is_first, a[1] + b[1] * power, a[1] * power + b[1])


def largest_and_total(X: Tensor, axis: int, acc: str) -> tuple[Tensor, Tensor]:
    """Of each row along an axis the largest element, and the sum of the powers of all relative to it.

    The results have all axes but this one. A row with NaN or positive infinity has NaN as its sum, as the sum of
    exp(x - largest) is. The largest element of no element is the least finite number, so that what is minus infinity
    counts as nothing.
    """
    extent = X.shape[axis]
    k = reduce_axis((0, extent), "k")
    online = comm_reducer(_merged, lambda a, b: (const(_LEAST[a], a), const(0, b)), name="online")

    def row(*at: Any) -> tuple[Expr, ...]:
        value = X(*at[:axis], k, *at[axis:]).astype(acc)
        finite = max(value, const(_LEAST[acc], acc))
        return online((value, 1.0 + (finite - finite)), axis=k)

    shape = [one for place, one in enumerate(X.shape) if place != axis]
    largest, total = compute(shape, row, name="online")
    return largest, total
