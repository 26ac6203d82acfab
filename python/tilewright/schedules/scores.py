"""What attention computes of a query and a key: which heads there are, the score, and whether a weight is dropped."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..te import Expr, Tensor, all, const, exp2, if_then_else, log2, max, min, reinterpret, select, tanh
from .extents import are_equal, may_be_none

_LOG2_E = 1.4426950408889634

__all__ = [
    "Dropout",
    "heads_of",
    "if_any",
    "in_window",
    "logarithm_of",
    "of_head",
    "of_page",
    "of_place",
    "score",
    "tanh_in_registers",
]


def _is_one(extent: Any) -> bool:
    return isinstance(extent, int) and extent == 1


def heads_of(q: Tensor, k: Tensor, v: Tensor) -> list[Any]:
    """The extents before the last two of the result: those of q, and of k and v where q's is broadcast."""
    return [
        next((extent for extent in extents if not _is_one(extent)), 1)
        for extents in zip(*(one.shape[:-2] for one in (q, k, v)), strict=True)
    ]


def of_head(x: Tensor, outer: Sequence[Any], *last: Any, heads: Sequence[Any]) -> Expr:
    """An element of `x` that a head of the result needs, which is at `outer` among all `heads`.

    Extents of 1 are broadcast. Where `x` has fewer heads, each is that of several which follow one another.
    """
    places = list(outer)
    if outer:
        own, all_heads = x.shape[-3], heads[-1]
        if not (_is_one(own) or are_equal(own, all_heads)):
            places[-1] = outer[-1] // (all_heads // own)
    return x(*(0 if _is_one(extent) else place for extent, place in zip(x.shape, places, strict=False)), *last)


def of_page(x: Tensor, pages: Tensor, outer: Sequence[Any], key: Any, column: Any, *, heads: Sequence[Any]) -> Expr:
    """An element of keys or values, pages x heads x page x width, of sequence and head `outer`.

    Row b of `pages` has the numbers of the pages of sequence b. Behind the last of them this one is read again.
    """
    batch, head = outer
    page: Any = x.shape[-2]
    number = pages(batch, min(key // page, pages.shape[-1] - 1))
    return x(number, head // (heads[-1] // x.shape[-3]), key % page, column)


def of_place(mask: Tensor, *places: Any) -> Expr:
    """A mask's element of a head, a query and a key, where extents of 1 and leading ones may be left out."""
    own = places[len(places) - mask.ndim :]
    return mask(*(0 if extent == 1 else place for extent, place in zip(mask.shape, own, strict=True)))


def if_any(value: Expr, *extents: Any) -> Expr:
    """What is read of a tensor; 0 where one of its extents is 0."""
    known = [extent > 0 for extent in extents if may_be_none(extent)]
    return if_then_else(all(*known), value, const(0, value.dtype)) if known else value


def score(
    raw: Expr, i: Expr, j: Expr, *, mask: Expr | None, scale: float, before: int | None, behind: int | None,
    offset: int | Expr, softcap: float | None, slope: Expr | None = None, in_registers: bool = False, unit: float = 1.0,
) -> Expr:  # fmt: skip
    """The score of query i and key j from their dot product; minus infinity where it is masked.

    Query i sees keys from i + offset - `before` to i + offset + `behind`, and those where a `mask` of bools is true. A
    mask of floats is added, and `slope` times how far key j is behind query i's place, which is negative before it.
    Scores that warpgroups have `in_registers` take a tanh without branches, which is within 3e-6. The score is divided
    by the `unit`.
    """

    def times(x: Expr, factor: float) -> Expr:
        return x if factor == 1.0 else x * factor

    if softcap is None:
        value = times(raw, scale / unit)
    elif in_registers:
        value = times(tanh_in_registers(raw, scale / softcap), softcap / unit)
    else:
        value = times(tanh(times(raw, scale) * (1.0 / softcap)), softcap / unit)
    if slope is not None:
        value = value + times(slope.astype(value.dtype), 1.0 / unit) * (j - (i + offset)).astype(value.dtype)
    if mask is not None and mask.dtype != "bool":
        value = value + times(mask.astype(value.dtype), 1.0 / unit)
    lowest = const(float("-inf"), value.dtype)
    if mask is not None and mask.dtype == "bool":
        value = select(mask, value, lowest)
    for condition in in_window(i, j, before=before, behind=behind, offset=offset):
        value = select(condition, value, lowest)
    return value


def logarithm_of(unit: Expr, total: Expr, sink: Expr | None) -> Expr:
    """By 2, of a row's exponentials that sum up to `total` times 2 to the power of `unit`, and of that of a `sink`."""
    if sink is None:
        return unit + log2(total)
    own = sink.astype(total.dtype) * _LOG2_E
    away = own - unit
    most = max(away, const(0.0, total.dtype))
    both = unit + most + log2(total * exp2(-most) + exp2(away - most))
    # The unit of a row that sees no key is none.
    return select(total == const(0.0, total.dtype), own, both)


def in_window(i: Expr, j: Expr, *, before: int | None, behind: int | None, offset: int | Expr) -> list[Expr]:
    """The conditions under which query i sees key j by their places alone."""
    seen = [] if behind is None else [j <= i + (offset + behind)]
    return seen if before is None else [*seen, j >= i + (offset - before)]


def tanh_in_registers(x: Expr, factor: float) -> Expr:
    """The tanh of a float32 times a factor, as 1 - 2 / (exp(2 x) + 1).

    The first reciprocal is within 0.051. Newton's steps leave errors of one sign: so much more than 2 has them of both.
    """
    total = exp2(min(x * (2 * _LOG2_E * factor), const(80.0, "float32"))) + 1.0
    inverse = reinterpret(const(0x7EF311C7, "int32") - reinterpret(total, "int32"), "float32")
    for two in (2.00126, 2.0000009):
        inverse = inverse * (two - total * inverse)
    return 1.0 - 2.0 * inverse


class Dropout(NamedTuple):
    """Which weights are dropped at random: a hash of the seed and of the place says so, and nothing is stored."""

    p: float
    seed: Tensor  # of int32, without dimensions

    @classmethod
    def of(cls, p: float, seed: Tensor | None) -> Dropout | None:
        return None if seed is None or p == 0.0 else cls(p, seed)

    def of_weight(
        self, weight: Expr, outer: Sequence[Any], i: Any, j: Any, *, heads: Sequence[Any], queries: Any
    ) -> Expr:
        """0 for one that is dropped; the others grow, so that their expectation stays what it was."""
        row: Any = const(0, "int32")
        for place, extent in zip((*outer, i), (*heads, queries), strict=True):
            row = row * extent + place
        key = _hashed(row.astype("uint32") + _hashed(self.seed().astype("uint32")))
        stays = _hashed(j.astype("uint32") ^ key) >= np.uint32(builtins.min(round(self.p * 2.0**32), 2**32 - 1))
        return select(stays, weight * (1.0 / (1.0 - self.p)), const(0.0, weight.dtype))


def _hashed(x: Any) -> Any:
    """Mixes the bits of a uint32 (lowbias32)."""
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)
    return x ^ (x >> np.uint32(16))
