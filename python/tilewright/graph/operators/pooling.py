"""Operators on windows of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ...te import Expr, Tensor
from .common import accumulator, operator
from .contractions import places, window_extents
from .movement import padded


def _pool(
    name: str, x: Tensor, kernel: Sequence[int], strides: Sequence[int], before: Sequence[int], after: Sequence[int],
    dilations: Sequence[int], outside: Any, reducer: Any, acc: str,
) -> Tensor:  # fmt: skip
    image = padded(x, [0, 0, *before], [0, 0, *after], outside, f"{name}_padded")
    window = [te.reduce_axis((0, size), name=f"k{d}") for d, size in enumerate(kernel)]

    def value(n: Any, c: Any, *i: Any) -> Expr:
        return reducer(image(n, c, *places(i, window, strides, dilations)).astype(acc), axis=window)

    extents = window_extents(x.shape[2:], kernel, strides, before, after, dilations)
    pooled = te.compute([*x.shape[:2], *extents], value, name=name)
    if acc == x.dtype:
        return pooled
    return te.compute(pooled.shape, lambda *i: pooled(*i).astype(x.dtype), name=f"{name}_cast")


@operator
def max_pool(
    x: Tensor, *, kernel: Sequence[int], strides: Sequence[int], before: Sequence[int], after: Sequence[int],
    dilations: Sequence[int],
) -> Tensor:  # fmt: skip
    """The largest element of each window."""
    lowest = te.min_value(x.dtype)
    return _pool("max_pool", x, kernel, strides, before, after, dilations, lowest, te.max, x.dtype)


@operator
def sum_pool(
    x: Tensor, *, kernel: Sequence[int], strides: Sequence[int], before: Sequence[int], after: Sequence[int],
    dilations: Sequence[int],
) -> Tensor:  # fmt: skip
    """The sum of each window; what is outside counts as 0."""
    zero = te.const(0, x.dtype)
    return _pool("sum_pool", x, kernel, strides, before, after, dilations, zero, te.sum, accumulator(x.dtype))


@operator
def max_pool_indices(
    x: Tensor, *, kernel: Sequence[int], strides: Sequence[int], before: Sequence[int], after: Sequence[int],
    dilations: Sequence[int], column_major: bool,
) -> Tensor:  # fmt: skip
    """Where the largest element of each window is: its index in the flattened tensor, the first of equal ones."""
    best = max_pool(x, kernel=kernel, strides=strides, before=before, after=after, dilations=dilations)
    window = [te.reduce_axis((0, size), name=f"k{d}") for d, size in enumerate(kernel)]
    none = te.max_value("int64")

    def value(n: Any, c: Any, *i: Any) -> Expr:
        at = [p - low for p, low in zip(places(i, window, strides, dilations), before)]
        inside = [condition for p, e in zip(at, x.shape[2:]) for condition in (p >= 0, p < e)]
        flat: Any = n * x.shape[1] + c
        order = list(zip(at, x.shape[2:]))
        spatial: Any = 0
        count: Any = 1
        for place, extent in reversed(order) if column_major else order:
            spatial = spatial * extent + place
            count = count * extent
        place = (flat * count + spatial).astype("int64")
        is_best = te.all(*inside, x(n, c, *at) == best(n, c, *i))
        return te.min(te.if_then_else(is_best, place, none), axis=window)

    return te.compute(best.shape, value, name="max_pool_indices")
