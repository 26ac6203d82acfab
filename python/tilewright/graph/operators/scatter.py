"""Operators that write at places that data gives.

Each element of the result looks for the updates that are for it, so that none is written twice at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import te
from ...errors import TilewrightValueError as ValueError
from ...te import Expr, Tensor
from .common import operator, same

_COMBINE: dict[str, tuple[Callable[..., Expr], Callable[[Any, Any], Expr], Callable[[str], Any]]] = {
    "add": (te.sum, lambda a, b: a + b, lambda dtype: te.const(0, dtype)),
    "mul": (te.prod, lambda a, b: a * b, lambda dtype: te.const(1, dtype)),
    "max": (te.max, lambda a, b: te.max(a, b), te.min_value),
    "min": (te.min, lambda a, b: te.min(a, b), te.max_value),
}


def _scattered(
    name: str, x: Tensor, reduction: str, axes: Callable[[], list[Any]], is_for: Callable[[Any, Any], Expr],
    place: Callable[[Any], Expr], update: Callable[[Any, Any], Expr], update_at: Callable[[Any, Any], Expr],
) -> Tensor:  # fmt: skip
    """`x` with updates.

    `axes` are new axes of what updates each element. `is_for(i, k)` is whether the update at `k` is for the element at
    `i`, and `update(i, k)` is its value; `place` numbers them, and `update_at(i, place)` is the one with a number.
    """
    k = axes()
    if reduction != "none" and reduction not in _COMBINE:
        raise ValueError(f"{name}: expected a reduction (none, {', '.join(_COMBINE)}), got {reduction!r}")
    if not k:  # the only update is of no index

        def element(*i: Any) -> Expr:
            one = update(i, k) if reduction == "none" else _COMBINE[reduction][1](x(*i), update(i, k))
            return te.if_then_else(is_for(i, k), one, x(*i))

        return te.compute(x.shape, element, name=name)
    if reduction == "none":
        last = te.compute(
            x.shape,
            lambda *i: te.max(te.if_then_else(is_for(i, k), place(k), te.const(-1, "int64")), axis=k),
            name=f"{name}_last",
        )
        return te.compute(
            x.shape, lambda *i: te.if_then_else(last(*i) >= 0, update_at(i, te.max(last(*i), 0)), x(*i)), name=name
        )
    reducer, combine, neutral = _COMBINE[reduction]
    updates = te.compute(
        x.shape,
        lambda *i: reducer(te.if_then_else(is_for(i, k), update(i, k), neutral(x.dtype)), axis=k),
        name=f"{name}_updates",
    )
    return te.compute(x.shape, lambda *i: combine(x(*i), updates(*i)), name=name)


@operator
def scatter_elements(x: Tensor, indices: Tensor, updates: Tensor, *, axis: int, reduction: str) -> Tensor:
    """`x` with updates at the indices along an axis; of several for one element the last stays, or all are combined."""

    def place_of(i: Any, k: Any) -> list[Any]:
        return [k if d == axis else i[d] for d in range(x.ndim)]

    def is_for(i: Any, k: Any) -> Expr:
        inside = [
            i[d] < indices.shape[d] for d in range(x.ndim) if d != axis and not same(x.shape[d], indices.shape[d])
        ]
        index = indices(*place_of(i, k[0]))
        wrapped = te.select(index < 0, index + x.shape[axis], index)
        return te.all(*inside, wrapped == i[axis].astype(indices.dtype))

    def number(k: Sequence[Expr]) -> Expr:
        return k[0].astype("int64")

    return _scattered(
        "scatter_elements", x, reduction,
        lambda: [te.reduce_axis((0, indices.shape[axis]), name="update")],
        is_for, number, lambda i, k: updates(*place_of(i, k[0])), lambda i, place: updates(*place_of(i, place)),
    )  # fmt: skip


@operator
def scatter_nd(x: Tensor, indices: Tensor, updates: Tensor, *, reduction: str) -> Tensor:
    """`x` with updates of the slices that tuples of indices name; of several the last stays, or all are combined."""
    length = indices.shape[-1]
    if not isinstance(length, int):
        raise ValueError(f"scatter_nd: expected tuples of indices of a known length, got {length}")
    outer = indices.shape[:-1]

    def is_for(i: Any, k: Any) -> Expr:
        conditions: list[Expr] = []
        for d in range(length):
            index = indices(*k, d)
            conditions.append(te.select(index < 0, index + x.shape[d], index) == i[d].astype(indices.dtype))
        return te.all(*conditions)

    def number(k: Any) -> Expr:
        flat: Any = te.const(0, "int64")
        for axis, extent in zip(k, outer):
            flat = flat * extent + axis.astype("int64")
        return flat

    def update_at(i: Any, place: Any) -> Expr:
        named: list[Any] = []
        for extent in reversed(outer):
            named.insert(0, te.floormod(place, extent))
            place = te.floordiv(place, extent)
        return updates(*named, *i[length:])

    def axes() -> list[Any]:
        return [te.reduce_axis((0, extent), name=f"update{d}") for d, extent in enumerate(outer)]

    return _scattered(
        "scatter_nd", x, reduction, axes, is_for, number, lambda i, k: updates(*k, *i[length:]), update_at
    )
