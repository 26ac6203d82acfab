"""Attention of 8-bit floats in one kernel of warpgroups, behind one that turns the values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import TilewrightValueError as ValueError
from ..te import (
    Expr,
    IterVar,
    Tensor,
    compute,
    const,
    create_schedule,
    exp2,
    if_then_else,
    max,
    reduce_axis,
    select,
    sum,
)
from ..te.schedule import Schedule
from .scores import heads_of, in_window, of_head
from .softmax_kernel import LOG2_E, Stages, schedule_online_softmax, whole
from .workspaces import turning_copy

__all__ = ["SCALED_ROWS", "attention_fp8_of"]

SCALED_ROWS = 128  # queries, or keys, that one scale is for
_DTYPE, _WIDTHS, _MAX_WIDTH = "float8_e4m3fn", 32, 256
# Weights are up to 2^8, of which e4m3 has the upper half of its range; the sum of weights has the same unit.
_UNIT = 8.0
# Of a row that is masked away whole the maximum counts as this.
_LEAST = -1e30


def _key_of(place: Any) -> Any:
    """The key at a place of the order in which wgmma reads weights of 8 bits from registers.

    A thread has two neighbours of each 8 scores of a row. As operand A it has four neighbours of each 16 weights. So
    place 16 q + 4 t + 2 m + e has key 16 q + 8 m + 2 t + e. The values are in the same order.
    """
    return place // 16 * 16 + place // 2 % 2 * 8 + place // 4 % 4 * 2 + place % 2


def attention_fp8_of(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    q_scales: Tensor,
    k_scales: Tensor,
    v_scales: Tensor,
    *,
    scale: float | None = None,
    before: int | None = None,
    behind: int | None = None,
    offset: int = 0,
    dtype: str = "bfloat16",
    tile: tuple[int, int] = (128, 128),
    stages: int = 2,
    registers: tuple[int, int] | None = None,
    blocks: int | None = None,
) -> tuple[Schedule, list[Tensor]]:
    """softmax(scale Q K^T) V of inputs of float8_e4m3fn, … x heads x queries x width each, to a result of `dtype`.

    A query is its elements times its scale. `q_scales`, … x heads x blocks, has one for each `SCALED_ROWS` queries of a
    head. So it is with keys and `k_scales`. That may also have one for all keys of a head, which takes a multiplication
    less a score. `v_scales` has one for each head of V. All are positive. K and V may have fewer heads than Q.
    Query i sees the keys from i + `offset` - `before` to i + `offset` + `behind`. A row that sees no key is 0.

    Scores and sums are of float32. The weights are rounded to float8_e4m3fn, in registers. wgmma takes 8-bit operands
    only along the dimension that is summed over. So a kernel before turns V, to … x heads x width x keys.
    """
    extents: list[Any] = [Q.shape[-1], V.shape[-1]]
    (width, wide), columns = extents, tile[1]
    for one in (Q, K, V):
        if one.dtype != _DTYPE:
            raise ValueError(f"expected Q, K and V of {_DTYPE}, got {one.dtype}")
    for given in (width, wide):
        if given % _WIDTHS or not _WIDTHS <= given <= _MAX_WIDTH:
            raise ValueError(f"expected a width of a multiple of {_WIDTHS} up to {_MAX_WIDTH}, got {given}")
    if columns % SCALED_ROWS and SCALED_ROWS % columns:
        raise ValueError(f"expected tiles of whole blocks of {SCALED_ROWS} keys, or parts of one, got {columns} keys")
    of = _Attention(
        Q, K, V, q_scales, k_scales, v_scales, width**-0.5 if scale is None else scale, before, behind, offset, tile
    )
    made = of.stages()
    turned = of.turned(made)
    axes = [reduce_axis((0, made.keys), name=name) for name in ("jm", "jl", "jo")]
    M, L, P = of.softmax(made, axes)
    W = of.weighted(made, P, turned, axes[2])
    stored = compute(W.shape, lambda *at: of.result(made, W, L, *at).astype(dtype), name="O.shared")
    last = compute((*made.heads, Q.shape[-2], wide), lambda *at: stored(*at), name="O")
    s = create_schedule(last.op)
    turning_copy(s, turned, V)
    schedule_online_softmax(s, made, (M, L, P, W, stored, last), axes, tile, stages, registers)
    s.launch(dependent=True)
    if blocks is not None:
        s[last].persistent(blocks)
    return s, [Q, K, V, q_scales, k_scales, v_scales, last]


@dataclass(frozen=True)
class _Attention:
    """What is computed, of tiles of queries and keys."""

    Q: Tensor
    K: Tensor
    V: Tensor
    q_scales: Tensor
    k_scales: Tensor
    v_scales: Tensor
    scale: float
    before: int | None
    behind: int | None
    offset: int
    tile: tuple[int, int]

    @property
    def queries(self) -> Any:
        return self.Q.shape[-2]

    @property
    def keys(self) -> Any:
        return self.K.shape[-2]

    @property
    def width(self) -> Any:
        return self.Q.shape[-1]

    @property
    def factor(self) -> float:
        return self.scale * LOG2_E

    @property
    def has_unit(self) -> bool:
        """All scores of a tile have one scale: their maximum is that of dot products."""
        scales: Any = self.k_scales.shape[-1]
        return scales == 1 and SCALED_ROWS % self.tile[0] == 0

    @property
    def sees(self) -> bool:
        """Whether each row sees a key."""
        return self.before is None and (self.behind is None or self.offset + self.behind >= 0)

    def stages(self) -> Stages:
        heads = heads_of(self.Q, self.K, self.V)
        return Stages(heads, whole(self.queries, self.tile[0]), whole(self.keys, self.tile[1]))

    def filled(self, made: Stages, x: Tensor, extent: int, of_all: int, name: str) -> Tensor:
        """Whole tiles, with zeros where `x` has no element."""

        def element(*at: Expr) -> Expr:
            *outer, row, column = at
            value = of_head(x, outer, row, column, heads=made.heads)
            return if_then_else(row < extent, value, const(0, _DTYPE)) if extent < of_all else value

        return compute((*made.heads, of_all, self.width), element, name=name)

    def scored(self, made: Stages, query: Tensor, name: str) -> Tensor:
        """Scores, each reduction over the keys its own."""
        d = reduce_axis((0, self.width), name="d")
        key = self.filled(made, self.K, self.keys, made.keys, f"K.{name}")
        shape = (*made.heads, made.rows, made.keys)
        raw = compute(
            shape,
            lambda *at: sum(query(*at[:-1], d).astype("float32") * key(*at[:-2], at[-1], d).astype("float32"), axis=d),
            name=name,
        )
        made.loaded.append((key, raw))
        made.scores.append(raw)

        def element(*at: Expr) -> Expr:
            *outer, i, j = at
            value = raw(*at)
            if not self.has_unit:
                value = value * (self.q_scale(made, outer, i) * self.k_scale(made, outer, j))
            seen = in_window(i, j, before=self.before, behind=self.behind, offset=self.offset)
            for condition in (*seen, *([j < self.keys] if self.keys < made.keys else [])):
                value = select(condition, value, const(float("-inf"), "float32"))
            return value

        if self.has_unit and self.before is None and self.behind is None and self.keys == made.keys:
            made.masked.append(None)
            return raw
        scaled = compute(shape, element, name=f"{name}.scaled")
        made.masked.append(scaled)
        return scaled

    def q_scale(self, made: Stages, outer: list[Any], row: Any) -> Expr:
        return self._scale(made, self.q_scales, outer, row, self.queries, self.tile[0])

    def k_scale(self, made: Stages, outer: list[Any], row: Any) -> Expr:
        return self._scale(made, self.k_scales, outer, row, self.keys, self.tile[1])

    def _scale(self, made: Stages, scales: Tensor, outer: list[Any], row: Any, extent: Any, rows: int) -> Expr:
        block = row // SCALED_ROWS if scales.shape[-1] > 1 else 0
        if scales.shape[-1] > 1 and whole(extent, rows) > whole(extent, SCALED_ROWS):
            block = if_then_else(row < extent, block, 0)
        own = [*outer]
        if own and scales.shape[-2] < made.heads[-1]:
            own[-1] = own[-1] // (made.heads[-1] // scales.shape[-2])
        return scales(*(0 if extent == 1 else place for extent, place in zip(scales.shape, own, strict=False)), block)

    def softmax(self, made: Stages, axes: list[IterVar]) -> tuple[Tensor, Tensor, Tensor]:
        """The maximum M of each row, its sum L of exponentials, and its weights P."""
        query = self.filled(made, self.Q, self.queries, made.rows, "Q.shared")
        made.queries.append(query)
        of_maximum, of_sum, of_values = (self.scored(made, query, name) for name in ("SM", "SL", "SO"))
        shape = (*made.heads, made.rows, made.keys)
        M = compute(shape[:-1], lambda *row: max(of_maximum(*row, axes[0]), axis=axes[0]), name="M")

        def weight(scores: Tensor, *at: Expr) -> Expr:
            largest = M(*at[:-1]) if self.sees else max(M(*at[:-1]), _LEAST)
            each: Any = self.factor
            if self.has_unit:
                *outer, i = at[:-1]
                # Positive, so that a score of minus infinity stays one.
                each = max(self.q_scale(made, outer, i) * self.k_scale(made, outer, 0) * self.factor, 1e-30)
            return exp2(scores(*at) * each - (largest * each - _UNIT))

        L = compute(shape[:-1], lambda *row: sum(weight(of_sum, *row, axes[1]), axis=axes[1]), name="L")
        P = compute(shape, lambda *at: weight(of_values, *at[:-1], _key_of(at[-1])).astype(_DTYPE), name="P")
        return M, L, P

    def turned(self, made: Stages) -> Tensor:
        """V as … x heads x width x keys, the keys in the order in which weights are read."""

        def element(*at: Expr) -> Expr:
            *outer, column, place = at
            key = _key_of(place)
            value = self.V(*outer, key, column)
            return if_then_else(key < self.keys, value, const(0, _DTYPE)) if self.keys < made.keys else value

        return compute((*self.V.shape[:-2], self.V.shape[-1], made.keys), element, name="V.turned")

    def weighted(self, made: Stages, P: Tensor, turned: Tensor, keys: IterVar) -> Tensor:
        """W, the values times the weights."""
        wide: Any = self.V.shape[-1]
        value = compute(
            (*made.heads, wide, made.keys),
            lambda *at: of_head(turned, at[:-2], *at[-2:], heads=made.heads),
            name="V.shared",
        )
        W = compute(
            (*made.heads, made.rows, wide),
            lambda *at: sum(
                P(*at[:-1], keys).astype("float32") * value(*at[:-2], at[-1], keys).astype("float32"), axis=keys
            ),
            name="W",
        )
        made.loaded.append((value, W))
        return W

    def result(self, made: Stages, W: Tensor, L: Tensor, *at: Expr) -> Expr:
        total = L(*at[:-1])
        if not self.sees:
            total = select(total == 0.0, const(1, "float32"), total)
        own = at[:-2]
        if own and self.v_scales.shape[-1] < made.heads[-1]:
            own = (*own[:-1], own[-1] // (made.heads[-1] // self.v_scales.shape[-1]))
        scales = self.v_scales
        scale = scales(*(0 if extent == 1 else place for extent, place in zip(scales.shape, own, strict=True)))
        return W(*at) * (scale / total)
