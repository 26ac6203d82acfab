"""Operators that read images between their elements, and that put windows together again."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ... import te
from ...errors import TilewrightValueError as ValueError
from ...te import Expr, Tensor
from .common import accumulator, operator


def _reflected(place: Expr, low: float, high: float) -> Expr:
    """A coordinate folded back into a range."""
    width = high - low
    if width <= 0:
        return place * 0.0
    away = te.abs(place - low)
    folded = te.floormod(away, te.const(2 * width, place.dtype))
    return te.min(folded, 2 * width - folded) + low


@operator
def grid_sample(x: Tensor, grid: Tensor, *, mode: str, padding: str, align_corners: bool) -> Tensor:
    """The elements of images at the places that a grid gives, in coordinates from -1 to 1, interpolated.

    `padding` is what is outside: "zeros", "border" or "reflection". The grid's last dimension has the innermost
    coordinate first.
    """
    spatial = [extent for extent in x.shape[2:] if isinstance(extent, int)]
    rank = x.ndim - 2
    if len(spatial) < rank:
        raise ValueError(f"grid_sample: expected images of extents that are known, got {tuple(x.shape[2:])}")
    acc = accumulator(grid.dtype)

    def fitted(place: Expr, extent: Any) -> Expr:
        if padding == "border":
            return te.max(te.min(place, float(extent - 1)), 0.0)
        if padding == "reflection":
            return _reflected(place, 0.0 if align_corners else -0.5, extent - 1 if align_corners else extent - 0.5)
        return place

    def read(n: Any, c: Any, places: Sequence[Expr]) -> Expr:
        """The element at whole coordinates."""
        indices, inside = list[Expr](), list[Expr]()
        for place, extent in zip(places, spatial):
            place = fitted(place, extent) if mode == "cubic" else place
            if padding == "zeros":
                inside += [place >= 0.0, place <= float(extent - 1)]
            indices.append(te.max(te.min(place.astype("int32"), extent - 1), 0))
        element = x(n, c, *indices).astype(acc)
        return te.select(te.all(*inside), element, te.const(0, acc)) if inside else element

    def value(n: Any, c: Any, *i: Any) -> Expr:
        at: list[Any] = []
        for d, extent in enumerate(spatial):
            given = grid(n, *i, rank - 1 - d).astype(acc)
            scaled = (given + 1.0) / 2.0 * float(extent - 1) if align_corners else ((given + 1.0) * extent - 1.0) / 2.0
            at.append(scaled if mode == "cubic" else fitted(scaled, extent))
        if mode == "nearest":
            return read(n, c, [te.nearbyint(one) for one in at]).astype(x.dtype)
        taps = (-1, 0, 1, 2) if mode == "cubic" else (0, 1)
        below = [te.floor(one) for one in at]
        weights = [_weights(one - low, mode) for one, low in zip(at, below)]
        total: Any = None
        for offsets in itertools.product(range(len(taps)), repeat=rank):
            term = read(n, c, [low + float(taps[k]) for low, k in zip(below, offsets)])
            for weight, k in zip(weights, offsets):
                term = term * weight[k]
            total = term if total is None else total + term
        return total.astype(x.dtype)

    return te.compute([*x.shape[:2], *grid.shape[1:-1]], value, name="grid_sample")


def _weights(t: Expr, mode: str) -> list[Expr]:
    """How much each neighbour counts at a distance `t` from the lower one."""
    if mode == "linear":
        return [1.0 - t, t]
    a = -0.75

    def inner(d: Expr) -> Expr:
        return ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0

    def outer(d: Expr) -> Expr:
        return ((d - 5.0) * d + 8.0) * d * a - 4.0 * a

    return [outer(t + 1.0), inner(t), inner(1.0 - t), outer(2.0 - t)]


@operator
def col2im(
    x: Tensor, *, image: Sequence[int], kernel: Sequence[int], strides: Sequence[int], before: Sequence[int],
    after: Sequence[int], dilations: Sequence[int],
) -> Tensor:  # fmt: skip
    """The sum of the columns of windows, [N, C * kernel, windows], at their places in images."""
    size = 1
    for extent in kernel:
        size *= extent
    counts = [
        (extent + low + high - (k - 1) * dilation - 1) // stride + 1
        for extent, k, stride, low, high, dilation in zip(image, kernel, strides, before, after, dilations)
    ]
    window = [te.reduce_axis((0, k), name=f"k{d}") for d, k in enumerate(kernel)]

    def value(n: Any, c: Any, *i: Any) -> Expr:
        conditions: list[Expr] = []
        column: Any = 0
        row: Any = c
        for place, k, extent, stride, low, dilation, count in zip(
            i, window, kernel, strides, before, dilations, counts
        ):
            start = place + low - k * dilation
            number = te.floordiv(start, stride) if stride > 1 else start
            if stride > 1:
                conditions.append(te.floormod(start, stride) == 0)
            conditions += [number >= 0, number < count]
            column = column * count + number
            row = row * extent + k
        zero = te.const(0, x.dtype)
        return te.sum(te.if_then_else(te.all(*conditions), x(n, row, column), zero), axis=window)

    return te.compute([x.shape[0], x.shape[1] // size, *image], value, name="col2im")
