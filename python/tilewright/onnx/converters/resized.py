"""Where the elements of a resized image are, and resizing where the model computes that of symbolic extents."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ...graph import Value
from ...graph.numbers import number_of
from ...graph.operators.extents import Extent, normal
from ..node import Node

__all__ = ["coordinates", "count_of", "resized_by_places"]

_NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def count_of(extent: Extent, scale: float) -> Extent:
    """How many elements there are of an extent when it is scaled.

    The scale is the simplest fraction that float32 rounds to the number of the model: that is what was meant by it.

    >>> count_of(10, float(np.float32(2.3))), count_of(3, float(np.float32(5 / 3)))
    (23, 5)
    """
    limit, meant = 64, Fraction(scale)
    while (simple := meant.limit_denominator(limit)) != meant and np.float32(float(simple)) != np.float32(scale):
        limit *= 4
    return normal(extent * simple.numerator // simple.denominator)


class _Numbers:
    """Arithmetic of float64 on tensors and numbers."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def _of(self, value: Any) -> Value:
        return value if isinstance(value, Value) else self._node.constant(value, "float64")

    def extent(self, extent: Extent) -> Value:
        return self._node.cast(number_of(self._node.builder, extent), "float64")

    def __call__(self, name: str, *operands: Any) -> Value:
        return self._node.op_(name, *map(self._of, operands))


def coordinates(
    do: Callable[..., Any], mode: str, place: Any, size: Any, count: Any, scale: float | None
) -> Any:  # fmt: skip
    """Where in an image of `size` elements each of `count` elements of the result is.

    `do` computes with the numbers, by the name of an operator. Without a scale it is that of the counts.
    """
    wide = count if scale is None else do("mul", size, scale)
    factor = do("div", wide, size) if scale is None else scale
    moved = do("div", do("add", place, 0.5), factor)
    if mode == "asymmetric":
        return do("div", place, factor)
    if mode == "tf_half_pixel_for_nn":
        return moved
    if mode == "align_corners":
        steps = do("max", do("sub", wide, 1.0), 1e-300)  # 0 of a single element, which is at 0
        return do("div", do("mul", place, do("sub", size, 1.0)), steps)
    if mode == "half_pixel_symmetric":
        left_out = do("sub", 1.0, do("div", count, wide))
        moved = do("add", do("mul", do("div", size, 2.0), left_out), moved)
    half = do("sub", moved, 0.5)
    return do("where", do("equal", wide, 1.0), -0.5, half) if mode == "pytorch_half_pixel" else half


def resized_by_places(node: Node, x: Value, axis: int, count: Extent, scale: float | None) -> Value:
    """`x` with `count` elements along an axis, in the mode of the node; without a scale it is that of the counts."""
    if node.attr("antialias", 0):
        raise node.error(f"expected no antialias for an image of symbolic extents {x.type}")
    where = node.attr("coordinate_transformation_mode", "half_pixel")
    if where == "tf_crop_and_resize":
        raise node.error(
            f"expected another coordinate_transformation_mode than {where} for an image of symbolic extents"
        )
    size, do = x.shape[axis], _Numbers(node)
    place = node.op_("iota", shape=[count], axis=0, to="float64")
    at = coordinates(do, where, place, do.extent(size), do.extent(count), scale)
    last = do.extent(size - 1)

    def places(value: Value) -> Value:
        return node.cast(do("max", do("min", value, last), 0.0), "int64")

    if node.attr("mode", "nearest") == "nearest":
        mode = node.attr("nearest_mode", "round_prefer_floor")
        names = dict(zip(_NEAREST, ("ceil", "floor", "floor", "ceil")))
        moved = {"round_prefer_floor": -0.5, "round_prefer_ceil": 0.5}.get(mode)
        return node.op_("gather", x, places(do(names[mode], at if moved is None else do("add", at, moved))), axis=axis)
    left = do("floor", at)
    shape: list[Extent] = [1] * x.rank
    shape[axis] = count
    ratio = do("sub", at, left)
    if node.attr("mode") == "cubic":
        factors = _cubic_factors(node, do, ratio, left, last)
        neighbours = [node.op_("gather", x, places(do("add", left, float(d))), axis=axis) for d in range(-1, 3)]
        y = [
            node.op_("mul", each, node.cast(node.reshape(one, shape), x.dtype))
            for each, one in zip(neighbours, factors)
        ]
        return node.op_("add", node.op_("add", y[0], y[1]), node.op_("add", y[2], y[3]))
    ratio = node.cast(node.reshape(ratio, shape), x.dtype)
    first = node.op_("gather", x, places(left), axis=axis)
    second = node.op_("gather", x, places(do("add", left, 1.0)), axis=axis)
    return node.op_("add", first, node.op_("mul", ratio, node.op_("sub", second, first)))


def _cubic_factors(node: Node, do: _Numbers, ratio: Value, left: Value, last: Value) -> list[Value]:
    """The factors of the four elements around a place, which is so far behind the second one, `left`."""
    a = node.attr("cubic_coeff_a", -0.75)

    def polynomial(x: Value, *numbers: float) -> Value:
        total: Any = numbers[0]
        for number in numbers[1:]:
            total = do("add", do("mul", total, x), number)
        return total

    # The further ones are 1 to 2 away, the nearer ones at most 1.
    away = [do("add", ratio, 1.0), ratio, do("sub", 1.0, ratio), do("sub", 2.0, ratio)]
    far, near = (a, -5 * a, 8 * a, -4 * a), (a + 2, -(a + 3), 0.0, 1.0)
    factors = [polynomial(x, *(far if d in (0, 3) else near)) for d, x in enumerate(away)]
    if not node.attr("exclude_outside", 0):
        return factors
    for d in range(4):
        place = do("add", left, float(d - 1))
        is_inside = node.op_("and", do("greater_equal", place, 0.0), do("less_equal", place, last))
        factors[d] = do("where", is_inside, factors[d], 0.0)
    total = do("add", do("add", factors[0], factors[1]), do("add", factors[2], factors[3]))
    return [do("div", one, total) for one in factors]
