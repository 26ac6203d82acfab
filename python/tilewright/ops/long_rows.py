"""Rows that are too long for registers, in one pass over memory: maxima and sums, means and variances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from ..target import Target
from ..te import Expr, Tensor, abs, comm_reducer, compute, const, exp, max, reduce_axis, select, sum

__all__ = ["is_long", "largest_and_total", "mean_and_variance"]

# The longest row that a block keeps in registers, so that each element is read once.
_KEPT = 40960
# So many elements of a row tell about where its mean is.
_SAMPLE = 8192
# Below all that is finite: what it is subtracted from is no infinity less infinity.
_LEAST = {"float32": -3.4028234663852886e38, "float64": -1.7976931348623157e308}


def is_long(X: Tensor, axes: int | Sequence[int], target: Target | None) -> bool:
    """Whether a GPU has to read rows along an axis, or several, more than once."""
    is_gpu = target is None or target.kind != "cpu"
    return is_gpu and all_static(X) and prod(_extents(X, [axes] if isinstance(axes, int) else axes)) > _KEPT


def _extents(X: Tensor, axes: Sequence[int]) -> list[int]:
    return [extent for axis in axes if isinstance(extent := X.shape[axis], int)]


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


def mean_and_variance(X: Tensor, axes: Sequence[int], acc: str) -> Callable[..., tuple[Expr, Expr]]:
    """The mean and the variance of the elements along some axes, by the place of a row, which is 0 along these.

    One pass adds up the differences from about the mean, and their squares. That is the mean of the first 8192
    elements. Rounding errors are relative to the variance and the square of how far it is off. For n elements, that is
    at most sqrt(n / 8192) standard deviations.
    """
    extents = _extents(X, axes)
    some, left = list[int](), _SAMPLE
    for extent in extents[::-1]:
        some.insert(0, min(extent, left))
        left = left // extent if left > extent else 1
    shape = [1 if place in axes else extent for place, extent in enumerate(X.shape)]

    def at_element(at: Sequence[Any], element: Sequence[Any]) -> Expr:
        places = dict(zip(axes, element, strict=True))
        return X(*(places.get(place, one) for place, one in enumerate(at))).astype(acc)

    sampled = {axis: reduce_axis((0, extent), f"i{axis}") for axis, extent in zip(axes, some) if extent > 1}
    first = [sampled.get(axis, 0) for axis in axes]
    about = compute(shape, lambda *at: sum(at_element(at, first), axis=list(sampled.values())), name="about")
    both = comm_reducer(
        lambda a, b: (a[0] + b[0], a[1] + b[1]), lambda a, b: (const(0, a), const(0, b)), name="moments"
    )
    along = [reduce_axis((0, extent), f"k{axis}") for axis, extent in zip(axes, extents)]

    def moments(*at: Any) -> tuple[Expr, ...]:
        difference = at_element(at, along) - about(*at) * (1.0 / prod(some))
        return both((difference, difference * difference), axis=along)

    total, squares = compute(shape, moments, name="moments")
    scale = 1.0 / prod(extents)

    def of_row(*at: Any) -> tuple[Expr, Expr]:
        off = total(*at) * scale
        return about(*at) * (1.0 / prod(some)) + off, max(squares(*at) * scale - off * off, 0.0)

    return of_row
