"""The stages of attention in one kernel: tiles of its inputs, masked scores, their softmax, and results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..te import (
    Expr,
    IterVar,
    Tensor,
    compute,
    const,
    exp2,
    if_then_else,
    max,
    min,
    reduce_axis,
    select,
    sum,
)
from ..te import all as all_of
from .extents import may_be_less, may_be_none
from .key_splits import KeySplits, Written
from .key_tiles import KeyTiles
from .scores import Dropout, if_any, in_window, logarithm_of, of_place, score
from .softmax_kernel import LOG2_E, Stages, whole

__all__ = ["WIDTHS", "Attention"]


WIDTHS = 32  # columns of inputs and results are whole multiples of it in shared memory
# Of a row that is masked away whole the maximum counts as this, so that its exponentials are 0. No score is less.
_LEAST = -1e30


@dataclass(kw_only=True)
class Attention:
    """softmax(scale Q K^T) V with what masks, weights and places its scores, as `attention_of` has it."""

    Q: Tensor
    K: Tensor
    V: Tensor
    mask: Tensor | None
    lengths: Tensor | None
    slopes: Tensor | None
    sinks: Tensor | None
    written: Written | None
    scale: float
    before: int | None
    behind: int | None
    offset: int
    softcap: float | None
    rows: int  # of queries in a tile
    places: KeySplits
    listed: KeyTiles | None
    dropout: Dropout | None
    made: Stages
    axes: list[IterVar] = field(init=False)  # keys, of the maximum, of the sum and of the values
    maximum: Tensor = field(init=False)  # M
    total: Tensor = field(init=False)  # L
    weighted: Tensor = field(init=False)  # W

    def __post_init__(self) -> None:
        self.axes = [reduce_axis((0, self.made.keys), name=name) for name in ("jm", "jl", "jo")]

    @property
    def queries(self) -> Any:
        return self.Q.shape[-2]

    @property
    def keys(self) -> Any:
        own: Any = self.K.shape[-2]
        return own if self.places.pages is None else own * self.places.pages.shape[1]

    @property
    def depth(self) -> int:
        """Columns of queries and keys in shared memory."""
        width: Any = self.Q.shape[-1]
        return whole(width, WIDTHS)

    @property
    def results(self) -> int:
        """Columns of values and results in shared memory."""
        wide: Any = self.V.shape[-1]
        return whole(wide, WIDTHS)

    @property
    def shape(self) -> tuple[Any, ...]:
        return (*self.made.heads, self.made.rows, self.made.keys)

    @property
    def all_keys(self) -> Any:
        return self.places.end(True, self.made.keys)

    @property
    def unit(self) -> float:
        """What scores are counted in."""
        unit = self.scale if self.softcap is None else self.softcap
        return 1.0 if unit <= 0 or (self.mask is not None and self.mask.dtype != "bool") else unit

    @property
    def factor(self) -> float:
        """Exponentials are those of two: scores are multiplied once, by their unit and by this logarithm."""
        return self.unit * LOG2_E

    @property
    def has_end(self) -> bool:
        """Whether keys behind the last are masked away by that alone."""
        if self.lengths is not None:
            return self.behind is None or self.behind + self.offset > 0
        return may_be_less(self.keys, self.all_keys)

    @property
    def sees(self) -> bool:
        """Whether each row of a query sees a key: the last that it may see is there, and no other mask."""
        return (
            not may_be_none(self.keys)
            and self.written is None
            and self.mask is None
            and self.before is None
            and (self.behind is None or (self.offset + self.behind >= 0 and not self.places.is_split))
            and self.lengths is None
        )

    @property
    def is_masked(self) -> bool:
        """Whether a score is more than a dot product."""
        others = (self.softcap, self.slopes, self.written, self.mask, self.before, self.behind)
        return self.scale != self.unit or any(one is not None for one in others) or self.has_end

    def filled(self, x: Tensor, extents: tuple[int, int], name: str) -> Tensor:
        """The tensor in whole tiles, with zeros where it has no element."""
        of_keys, listed = x is not self.Q, self.listed
        is_transposed = self.is_transposed(x)

        def element(*at: Expr) -> Expr:
            *outer, row, column = (*at[:-2], *at[:-3:-1]) if is_transposed else at
            if listed is not None and of_keys:
                *outer, number = outer
                row = listed.key(outer, number * self.rows, row)
            value, place, bound = self.places.element(x, outer, row, column, of_keys=of_keys)
            ends = [(place, bound, self.places.end(of_keys, extents[0])), (column, x.shape[-1], extents[1])]
            there = [index < own for index, own, all_ in ends if own is not None and may_be_less(own, all_)]
            return if_then_else(all_of(*there), value, const(0, x.dtype)) if there else value

        of_tile = [self.made.rows // self.rows] if listed is not None and of_keys else []
        sides = extents[::-1] if is_transposed else extents
        return compute((*self.made.heads, *of_tile, *sides), element, name=name)

    def is_transposed(self, x: Tensor) -> bool:
        """Whether rows of keys or values lie side by side in memory."""
        return self.written is not None and x in self.written.transposed

    def read(self, x: Tensor, made: Tensor, query: tuple[Expr, ...], row: Expr, column: Expr) -> Expr:
        """An element of keys or values that a query needs, in float32: of what was `made` of them."""
        of_tile = [query[-1] // self.rows] if self.listed is not None else []
        sides = (column, row) if self.is_transposed(x) else (row, column)
        return made(*query[:-1], *of_tile, *sides).astype("float32")

    def scored(self, query: Tensor, name: str) -> Tensor:
        """Scores. Each reduction over the keys has its own, as its loop computes them."""
        d = reduce_axis((0, self.depth), name="d")
        key = self.filled(self.K, (self.made.keys, self.depth), f"K.{name}")
        raw = compute(
            self.shape,
            lambda *at: sum(query(*at[:-1], d).astype("float32") * self.read(self.K, key, at[:-1], at[-1], d), axis=d),
            name=name,
        )
        self.made.loaded.append((key, raw))
        self.made.scores.append(raw)
        if not self.is_masked:
            self.made.masked.append(None)
            return raw
        masked = compute(self.shape, lambda *at: self._score(raw, *at), name=f"{name}.masked")
        self.made.masked.append(masked)
        return masked

    def _score(self, raw: Tensor, *at: Expr) -> Expr:
        *outer, i, j = at
        places, listed, written = self.places, self.listed, self.written
        (head, query), key = places.head(outer, i), places.key(outer, j)
        if places.packed > 1 and (self.mask is not None or self.slopes is not None):
            head[-1] = min(head[-1], places.all_heads[-1] - 1)
        if listed is not None:
            key = listed.key(outer, i, j)
        ends = ((query, self.queries, self.made.rows), (key, self.keys, self.all_keys))
        there = [*head, *(min(place, most - 1) if may_be_less(most, all_) else place for place, most, all_ in ends)]
        own = None if self.mask is None else if_any(of_place(self.mask, *there), self.keys)
        masked = None if listed is None or written is None else written.mask
        if masked is not None:
            own = masked.sees((*outer, i, key), there)
        sides = (self.before, self.behind)
        if listed is not None and own is not None:
            # What is counted as whole no other condition cuts.
            window = in_window(query, key, before=self.before, behind=self.behind, offset=self.offset)
            seen = all_of(own, *window, *([key < self.keys] if self.has_end else []))
            own, sides = select(listed.is_whole(outer, i, j), True, seen), (None, None)
        end, first = self.keys, self.offset
        if self.lengths is not None:
            end = self.lengths(head[0])
            first = end + (self.offset - self.queries)
        if masked is not None and own is not None:
            value = masked.score(raw(*at), (*outer, i, key), there, own)
        elif written is not None:
            value = written.score(raw(*at), at, there)
        else:
            value = score(
                raw(*at), query, key, mask=own, scale=self.scale, before=sides[0], behind=sides[1], offset=first,
                softcap=self.softcap, slope=None if self.slopes is None else self.slopes(head[-1]),
                in_registers=True, unit=self.unit,
            )  # fmt: skip
        if listed is not None:
            return select(listed.is_visited(outer, i, j), value, const(float("-inf"), "float32"))
        return select(key < end, value, const(float("-inf"), "float32")) if self.has_end else value

    def _weight(self, scores: Tensor, *at: Expr) -> Expr:
        return exp2(scores(*at) * self.factor - self._unit_of(*at[:-1]))

    def _used(self, scores: Tensor, *at: Expr) -> Expr:
        """A weight as values are multiplied by it."""
        *outer, i, j = at
        value = self._weight(scores, *at)
        if self.dropout is not None:
            head, query = self.places.head(outer, i)
            value = self.dropout.of_weight(
                value, head, query, self.places.key(outer, j), heads=self.places.all_heads, queries=self.queries
            )  # fmt: skip
        return value.astype(self.Q.dtype)

    def softmax(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The maximum M of each row, its sum L of exponentials, its weights P, and W, the values times the weights."""
        query = self.filled(self.Q, (self.made.rows, self.depth), "Q.shared")
        self.made.queries.append(query)
        rows = self.shape[:-1]
        of_maximum, of_sum, of_values = (self.scored(query, name) for name in ("SM", "SL", "SO"))
        jm, jl, jo = self.axes
        self.maximum = compute(rows, lambda *row: max(of_maximum(*row, jm), axis=jm), name="M")
        self.total = compute(rows, lambda *row: sum(self._weight(of_sum, *row, jl), axis=jl), name="L")
        weights = compute(self.shape, lambda *at: self._used(of_values, *at), name="P")
        value = self.filled(self.V, (self.made.keys, self.results), "V.shared")
        self.weighted = compute(
            (*rows, self.results),
            lambda *at: sum(
                weights(*at[:-1], jo).astype("float32") * self.read(self.V, value, at[:-1], jo, at[-1]), axis=jo
            ),
            name="W",
        )  # fmt: skip
        self.made.loaded.append((value, self.weighted))
        return self.maximum, self.total, weights, self.weighted

    def _unit_of(self, *row: Expr) -> Expr:
        """The exponent, of two, of what the sum of a row is counted in."""
        largest = self.maximum(*row)
        return (largest if self.sees else max(largest, _LEAST)) * self.factor

    def _total_of(self, *row: Expr) -> Expr:
        total = self.total(*row)
        if self.sinks is None or self.places.is_split:
            return total
        return total + exp2(self.sinks(row[-2]).astype("float32") * LOG2_E - self._unit_of(*row))

    def result(self, *at: Expr) -> Expr:
        """An element of the result: of a split of keys, in float32."""
        total = self._total_of(*at[:-1])
        if not self.sees:
            total = select(total == 0.0, const(1, "float32"), total)
        value = self.weighted(*at) * (1 / total)
        return value if self.places.is_split else value.astype(self.Q.dtype)

    def logarithm(self, *row: Expr) -> Expr:
        """By 2, of the sum of a row's exponentials."""
        sink = None if self.sinks is None or self.places.is_split else self.sinks(row[-2])
        return logarithm_of(self._unit_of(*row), self.total(*row), sink)
