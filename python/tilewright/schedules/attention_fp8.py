"""Attention of 8-bit floats in one kernel of warpgroups, behind one that turns the values."""

from __future__ import annotations

from typing import Any

from ..errors import TilewrightValueError as ValueError
from ..te import Expr, Tensor, compute, const, create_schedule, exp2, if_then_else, max, reduce_axis, select, sum
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
    rows, columns = tile
    extents: list[Any] = [*Q.shape[-2:], K.shape[-2], V.shape[-1]]
    queries, width, keys, wide = extents
    for one in (Q, K, V):
        if one.dtype != _DTYPE:
            raise ValueError(f"expected Q, K and V of {_DTYPE}, got {one.dtype}")
    for given in (width, wide):
        if given % _WIDTHS or not _WIDTHS <= given <= _MAX_WIDTH:
            raise ValueError(f"expected a width of a multiple of {_WIDTHS} up to {_MAX_WIDTH}, got {given}")
    if columns % SCALED_ROWS and SCALED_ROWS % columns:
        raise ValueError(f"expected tiles of whole blocks of {SCALED_ROWS} keys, or parts of one, got {columns} keys")
    scale = float(width**-0.5) if scale is None else scale
    factor = scale * LOG2_E
    heads = heads_of(Q, K, V)
    made = Stages(heads, whole(queries, rows), whole(keys, columns))
    shape = (*heads, made.rows, made.keys)
    # What all scores of a tile have: their maximum is that of dot products.
    has_unit = k_scales.shape[-1] == 1 and SCALED_ROWS % rows == 0

    def filled(x: Tensor, extent: int, of_all: int, name: str) -> Tensor:
        def element(*at: Expr) -> Expr:
            *outer, row, column = at
            value = of_head(x, outer, row, column, heads=heads)
            return if_then_else(row < extent, value, const(0, _DTYPE)) if extent < of_all else value

        return compute((*heads, of_all, width), element, name=name)

    query = filled(Q, queries, made.rows, "Q.shared")
    made.queries.append(query)

    def scored(name: str) -> Tensor:
        d = reduce_axis((0, width), name="d")
        key = filled(K, keys, made.keys, f"K.{name}")
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
            if not has_unit:
                value = value * (of_scale(q_scales, outer, i, queries) * of_scale(k_scales, outer, j, keys))
            seen = in_window(i, j, before=before, behind=behind, offset=offset)
            for condition in (*seen, *([j < keys] if keys < made.keys else [])):
                value = select(condition, value, const(float("-inf"), "float32"))
            return value

        if has_unit and before is None and behind is None and keys == made.keys:
            made.masked.append(None)
            return raw
        scaled = compute(shape, element, name=f"{name}.scaled")
        made.masked.append(scaled)
        return scaled

    def of_scale(scales: Tensor, outer: list[Any], row: Any, extent: int) -> Expr:
        block = row // SCALED_ROWS if scales.shape[-1] > 1 else 0
        if scales.shape[-1] > 1 and whole(extent, rows if scales is q_scales else columns) > whole(extent, SCALED_ROWS):
            block = if_then_else(row < extent, block, 0)
        own = [*outer]
        if own and scales.shape[-2] < heads[-1]:
            own[-1] = own[-1] // (heads[-1] // scales.shape[-2])
        return scales(*(0 if extent == 1 else place for extent, place in zip(scales.shape, own, strict=False)), block)

    sees = before is None and (behind is None or offset + behind >= 0)

    def weight(S: Tensor, *at: Expr) -> Expr:
        largest = M(*at[:-1]) if sees else max(M(*at[:-1]), _LEAST)
        each: Any = factor
        if has_unit:
            *outer, i = at[:-1]
            # Positive, so that a score of minus infinity stays one.
            each = max(of_scale(q_scales, outer, i, queries) * of_scale(k_scales, outer, 0, keys) * factor, 1e-30)
        return exp2(S(*at) * each - (largest * each - _UNIT))

    axes = [reduce_axis((0, made.keys), name=name) for name in ("jm", "jl", "jo")]
    of_maximum, of_sum, of_values = scored("SM"), scored("SL"), scored("SO")
    M = compute(shape[:-1], lambda *row: max(of_maximum(*row, axes[0]), axis=axes[0]), name="M")
    L = compute(shape[:-1], lambda *row: sum(weight(of_sum, *row, axes[1]), axis=axes[1]), name="L")
    P = compute(shape, lambda *at: weight(of_values, *at[:-1], _key_of(at[-1])).astype(_DTYPE), name="P")

    def turned_element(*at: Expr) -> Expr:
        *outer, column, place = at
        key = _key_of(place)
        value = V(*outer, key, column)
        return if_then_else(key < keys, value, const(0, _DTYPE)) if keys < made.keys else value

    turned = compute((*V.shape[:-2], wide, made.keys), turned_element, name="V.turned")
    value = compute(
        (*heads, wide, made.keys), lambda *at: of_head(turned, at[:-2], *at[-2:], heads=heads), name="V.shared"
    )
    W = compute(
        (*shape[:-1], wide),
        lambda *at: sum(
            P(*at[:-1], axes[2]).astype("float32") * value(*at[:-2], at[-1], axes[2]).astype("float32"), axis=axes[2]
        ),
        name="W",
    )
    made.loaded.append((value, W))

    def result(*at: Expr) -> Expr:
        total = L(*at[:-1])
        if not sees:
            total = select(total == 0.0, const(1, "float32"), total)
        own = at[:-2]
        if own and v_scales.shape[-1] < heads[-1]:
            own = (*own[:-1], own[-1] // (heads[-1] // v_scales.shape[-1]))
        scale_of = v_scales(*(0 if extent == 1 else place for extent, place in zip(v_scales.shape, own, strict=True)))
        return (W(*at) * (scale_of / total)).astype(dtype)

    stored = compute(W.shape, result, name="O.shared")
    last = compute((*heads, queries, wide), lambda *at: stored(*at), name="O")
    s = create_schedule(last.op)
    turning_copy(s, turned, V)
    schedule_online_softmax(s, made, (M, L, P, W, stored, last), axes, tile, stages, registers)
    s.launch(dependent=True)
    if blocks is not None:
        s[last].persistent(blocks)
    return s, [Q, K, V, q_scales, k_scales, v_scales, last]
