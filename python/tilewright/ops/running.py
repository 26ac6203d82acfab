"""Running sums as a GPU computes them: in chunks, and those of chunks' sums before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..te import Expr, Tensor, compute, const, if_then_else, indexdiv, indexmod, prod, reduce_axis, sum

__all__ = ["running_sums"]

# So many elements are one of the next level, whose running sums come first.
_CHUNK = 16


def running_sums(
    X: Tensor, acc: str, axis: int, exclusive: bool = False, reverse: bool = False, *, is_product: bool = False
) -> Tensor:
    """Running sums, or products, in parallel: those of the chunks', and in each chunk those of the elements before.

    This takes more additions than a serial loop, but less time.
    """
    extent = X.shape[axis]
    assert isinstance(extent, int)
    neutral = 1 if is_product else 0

    def read(at: Sequence[Any], place: Any) -> Expr:
        place = extent - 1 - place if reverse else place
        return X(*at[:axis], place, *at[axis + 1 :]).astype(acc)

    base = None
    if extent > _CHUNK:
        chunks = -(-extent // _CHUNK)
        k = reduce_axis((0, _CHUNK), "k")

        def of_chunk(*at: Any) -> Expr:
            place = at[axis] * _CHUNK + k
            value = read(at, place)
            value = if_then_else(place < extent, value, neutral) if extent % _CHUNK else value
            return (prod if is_product else sum)(value, axis=k)

        totals = compute((*X.shape[:axis], chunks, *X.shape[axis + 1 :]), of_chunk, name="totals")
        base = running_sums(totals, acc, axis, exclusive=True, is_product=is_product)

    def element(*at: Any) -> Expr:
        place = extent - 1 - at[axis] if reverse else at[axis]
        within = indexmod(place, _CHUNK)
        value = base(*at[:axis], indexdiv(place, _CHUNK), *at[axis + 1 :]) if base is not None else const(neutral, acc)
        for other in range(min(_CHUNK, extent)):
            is_before = other < within if exclusive else other <= within
            part = if_then_else(is_before, read(at, place - within + other), neutral)
            value = value * part if is_product else value + part
        return value

    return compute(X.shape, element, name="running")
