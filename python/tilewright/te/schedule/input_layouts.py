"""Where a caller's array has the elements of an input: `Stage.transform_layout` of an input."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from mlir import ir

from ...errors import TilewrightValueError as ValueError
from ...messages.location import Source
from ..extern_op import ExternOp
from ..tensor import CacheOp, PlaceholderOp
from .checks import schedule_error

if TYPE_CHECKING:
    from .schedule import Schedule

__all__ = ["InputLayout", "input_layout_texts", "input_layouts", "set_input_layout"]

_ATTRIBUTE = "schedule.input_layouts"
# So many elements are looked at one by one for two that have the same place.
_MOST_ELEMENTS = 1 << 22


class InputLayout:
    """The place of an element for its indices, and the shape of the array that has these places."""

    __slots__ = ("map", "shape")

    map: ir.AffineMap
    shape: tuple[int, ...]

    def __init__(self, layout: ir.AffineMap, extents: Sequence[int]) -> None:
        self.map = layout
        if layout.n_dims != len(extents) or layout.n_symbols:
            raise ValueError(f"expected a place for {len(extents)} indices and nothing else, got {layout}")
        ranges = [(0, extent - 1) for extent in extents]
        bounds = [_range(one, ranges) for one in layout.results]
        if any(least < 0 for least, _ in bounds):
            raise ValueError("expected places from 0 on, got places before that")
        self.shape = tuple(most + 1 for _, most in bounds)

    def has_places_of_their_own(self, extents: Sequence[int]) -> bool:
        """Whether no two elements have one place. Of very many elements that is not asked."""
        if prod(extents) > _MOST_ELEMENTS:
            return True
        indices = np.indices(extents).reshape(len(extents), -1)
        places = np.zeros(indices.shape[1], np.int64)
        for one, extent in zip(self.map.results, self.shape):
            places = places * extent + _value(one, indices)
        return len(np.unique(places)) == len(places)


def set_input_layout(schedule: Schedule, op: PlaceholderOp, layout: ir.AffineMap, source: Source) -> None:
    """Notes in the schedule's IR that the caller's array of an input has this layout."""
    name = schedule.names[op]
    what = f"transform_layout of the input '{name}': expected"
    extents = [extent for extent in op.shape if isinstance(extent, int)]
    if len(extents) != len(op.shape):
        raise schedule_error(source, f"{what} constant extents, got {list(op.shape)}")
    if not extents or 0 in extents:
        raise schedule_error(source, f"{what} elements along each axis, got {extents}")
    if op.strides is not None or op.given is not None:
        raise schedule_error(source, f"{what} an array that every call gives row-major, got another")
    for stage in schedule.stages:
        if op in schedule.graph.reads[stage.key] and isinstance(stage.op, (CacheOp, ExternOp)):
            is_copy = isinstance(stage.op, CacheOp)
            kind = "a copy of it, which cache_read has made" if is_copy else "the statements of an extern"
            raise schedule_error(
                source, f"{what} readers that are computed from its elements, got {kind}, '{stage.name}'"
            )
    try:
        made = InputLayout(layout, extents)
    except ValueError as error:
        raise schedule_error(source, f"transform_layout of the input '{name}': {error}") from None
    if not made.has_places_of_their_own(extents):
        raise schedule_error(source, f"{what} a place of its own for each element, got one place for several")
    known = _attributes(schedule)
    known[name] = ir.AffineMapAttr.get(layout)
    schedule.operation.attributes[_ATTRIBUTE] = ir.DictAttr.get(known, schedule.context)


def input_layouts(schedule: Schedule) -> dict[str, InputLayout]:
    """The layouts of inputs, by their names."""
    shapes = {name: [extent for extent in op.shape if isinstance(extent, int)] for op, name in schedule.names.items()}
    with schedule.context:
        return {
            name: InputLayout(ir.AffineMapAttr(attribute).value, shapes[name])
            for name, attribute in _attributes(schedule).items()
        }


def input_layout_texts(schedule: Schedule) -> dict[str, str]:
    """The affine map of each such input."""
    return {name: str(attribute) for name, attribute in _attributes(schedule).items()}


def _attributes(schedule: Schedule) -> dict[str, ir.Attribute]:
    if _ATTRIBUTE not in schedule.operation.attributes:
        return {}
    return {one.name: one.attr for one in ir.DictAttr(schedule.operation.attributes[_ATTRIBUTE])}


def _range(expr: Any, ranges: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The least and the greatest value of an affine expression of indices, each term of a sum by itself."""
    if isinstance(expr, ir.AffineConstantExpr):
        value = expr.value
        return value, value
    if isinstance(expr, ir.AffineDimExpr):
        return ranges[expr.position]
    (low, high), (least, most) = _range(expr.lhs, ranges), _range(expr.rhs, ranges)
    if isinstance(expr, ir.AffineAddExpr):
        return low + least, high + most
    if isinstance(expr, ir.AffineMulExpr):
        ends = [low * least, low * most, high * least, high * most]
        return min(ends), max(ends)
    if least != most or least < 1:
        raise ValueError(f"expected quotients and remainders by positive numbers, got {expr}")
    if isinstance(expr, ir.AffineModExpr):
        return (low % least, high % least) if low // least == high // least else (0, least - 1)
    if isinstance(expr, ir.AffineFloorDivExpr):
        return low // least, high // least
    return -(-low // least), -(-high // least)


def _value(expr: Any, indices: np.ndarray) -> np.ndarray:
    """The values of an affine expression where the indices have these."""
    if isinstance(expr, ir.AffineConstantExpr):
        return np.full(indices.shape[1], expr.value, np.int64)  # pyright: ignore[reportUnknownVariableType]
    if isinstance(expr, ir.AffineDimExpr):
        return indices[expr.position]
    left, right = _value(expr.lhs, indices), _value(expr.rhs, indices)
    if isinstance(expr, ir.AffineAddExpr):
        return left + right
    if isinstance(expr, ir.AffineMulExpr):
        return left * right
    if isinstance(expr, ir.AffineModExpr):
        return left % right
    return left // right if isinstance(expr, ir.AffineFloorDivExpr) else -(-left // right)
