"""Operators that read and write at places that data gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from ...graph import TensorType, Value
from ...graph.counts import flat, running_count
from ...graph.operators.common import accumulator
from ..call import Call, converter
from .counted import columns_of, mask_of

_MASKS = ("bool", "uint8")


@converter("embedding.default")
def _embedding(call: Call, weight: Value, indices: Value, *_: Any) -> Value:
    return call.op("gather", weight, indices, axis=0)


@converter("index_select.default")
def _index_select(call: Call, x: Value, dim: int, indices: Value) -> Value:
    if not x.rank:
        return x
    return call.reshape(call.op("gather", x, indices, axis=call.axis(dim, x.rank)), call.shape)


def _ranked(call: Call, *tensors: Value) -> list[Value]:
    """Tensors of no dimension as vectors of one element."""
    return [one if one.rank else call.reshape(one, [1]) for one in tensors]


@converter("gather.default")
def _gather(call: Call, x: Value, dim: int, indices: Value, *_: Any) -> Value:
    data, places = _ranked(call, x, indices)
    return call.reshape(call.op("gather_elements", data, places, axis=call.axis(dim, data.rank)), call.shape)


def _without_masks(call: Call, indices: Sequence[Value | None]) -> list[Value | None]:
    """Indices in which those of what a mask has as true stand for the mask."""
    ranks = [0 if one is None else one.rank if one.dtype in _MASKS else 1 for one in indices]
    indexed = [d for d, rank in enumerate(ranks) if rank]
    is_together = indexed == list(range(indexed[0], indexed[0] + len(indexed)))
    dim = indexed[0] if is_together else 0
    found: list[Value | None] = []
    for one in indices:
        found += columns_of(call, one, dim) if one is not None and one.dtype in _MASKS else [one]
    return found


def _places(call: Call, x: Value, indices: Sequence[Value | None]) -> tuple[list[int], Value, list[Any]]:
    """The dimensions that are indexed, tuples of indices, and the shape of the indices."""
    indexed = [d for d, one in enumerate(indices) if one is not None]
    given = [one for one in indices if one is not None]
    shape: list[Any] = []
    for one in given:
        rank = max(len(shape), one.rank)
        padded, own = [1] * (rank - len(shape)) + shape, [1] * (rank - one.rank) + list(one.shape)
        shape = [b if a == 1 else a for a, b in zip(padded, own)]
    columns = [
        call.reshape(call.expand(call.cast(one, "int64"), shape), [*shape, 1]) for one in given
    ]  # fmt: skip
    return indexed, columns[0] if len(columns) == 1 else call.op("concat", *columns, axis=len(shape)), shape


def _order(x: Value, indexed: Sequence[int]) -> list[int]:
    return [*indexed, *(d for d in range(x.rank) if d not in indexed)]


@converter("index.Tensor", "_unsafe_index.Tensor")
def _index(call: Call, x: Value, indices: Sequence[Value | None]) -> Value:
    indices = _without_masks(call, indices)
    indexed, places, shape = _places(call, x, indices)
    if len(indexed) == 1:
        (one,) = (index for index in indices if index is not None)
        return call.op("gather", x, one, axis=indexed[0])
    order = _order(x, indexed)
    data = x if order == list(range(x.rank)) else call.op("transpose", x, permutation=order)
    result = call.op("gather_nd", data, places, batch_dims=0)
    if indexed == list(range(indexed[0], indexed[0] + len(indexed))) and indexed[0]:
        # The dimensions of the indices stand where those that they index stood.
        front, rest = len(shape), result.rank - len(shape)
        before = indexed[0]
        permutation = [*range(front, front + before), *range(front), *range(front + before, front + rest)]
        result = call.op("transpose", result, permutation=permutation)
    return result


@converter("index_put.default", "_unsafe_index_put.default")
def _index_put(
    call: Call, x: Value, indices: Sequence[Value | None], values: Value, accumulate: bool = False, *_: Any
) -> Value:
    masks = [one for one in indices if one is not None and one.dtype in _MASKS]
    if len(masks) == len(indices) == 1:
        return _put_at_mask(call, x, masks[0], values, accumulate)
    if masks:
        raise call.error("expected a mask as the only index of what is written, got others beside it")
    indexed, places, shape = _places(call, x, indices)
    order = _order(x, indexed)
    moved = order != list(range(x.rank))
    data = call.op("transpose", x, permutation=order) if moved else x
    rest = list(data.shape[len(indexed) :])
    if indexed == list(range(indexed[0], indexed[0] + len(indexed))) and indexed[0]:
        before, middle = indexed[0], len(shape)
        whole = [*rest[:before], *shape, *rest[before:]]
        values = call.expand(values, whole)
        permutation = [*range(before, before + middle), *range(before), *range(before + middle, len(whole))]
        values = call.op("transpose", values, permutation=permutation)
    else:
        values = call.expand(values, [*shape, *rest])
    result = call.op("scatter_nd", data, places, values, reduction="add" if accumulate else "none")
    if moved:
        result = call.op("transpose", result, permutation=[order.index(d) for d in range(x.rank)])
    return result


def _put_at_mask(call: Call, x: Value, mask: Value, values: Value, accumulate: bool) -> Value:
    """Values where a mask is true: each the next one, or one for all."""
    rest = list(x.shape[mask.rank :])
    mask = mask_of(call, mask)
    if values.rank == len(rest) + 1 and values.shape[0] != 1:
        # Behind the last is one that nothing reads, for there may be none.
        values = call.expand(values, [values.shape[0], *rest])
        none = call.expand(call.constant(0, values), [1, *rest])
        running = running_count(call.builder, flat(call.builder, mask))
        place = call.op("sub", running, call.constant(1, running))
        put = call.op("gather", call.op("concat", values, none, axis=0), place, axis=0)
        put = call.reshape(put, x.shape)
    else:
        put = call.reshape(values, list(values.shape[1:])) if values.rank > len(rest) else values
    mask = call.reshape(mask, [*mask.shape, *[1] * len(rest)])
    return call.op("where", mask, call.op("add", x, put) if accumulate else put, x)


def _scatter(call: Call, x: Value, dim: int, indices: Value, source: Value, reduction: str) -> Value:
    data, places, updates = _ranked(call, x, indices, source)
    if list(map(str, updates.shape)) != list(map(str, places.shape)):
        updates = call.op(
            "slice", updates, starts=[0] * updates.rank, steps=[1] * updates.rank, sizes=list(places.shape)
        )  # fmt: skip
    axis = call.axis(dim, data.rank)
    rows = None if axis else _of_rows(call, data, places)
    if rows is not None:
        return call.reshape(call.op("scatter_nd", data, rows, updates, reduction=reduction), call.shape)
    made = call.op("scatter_elements", data, places, updates, axis=axis, reduction=reduction)
    return call.reshape(made, call.shape)


def _of_rows(call: Call, data: Value, places: Value) -> Value | None:
    """Indices of rows, as `scatter_nd` takes them, where each element of a row has the same one: a column expanded."""
    made_by = cast(Any, places.value).owner
    is_whole = list(map(str, data.shape[1:])) == list(map(str, places.shape[1:]))
    if getattr(made_by, "name", "") != "graph.expand" or not is_whole or places.rank < 2:
        return None
    shape: list[int] = list(made_by.operands[0].type.shape)
    if len(shape) != places.rank or shape[0] == 1 or any(extent != 1 for extent in shape[1:]):
        return None
    column = Value(made_by.operands[0], TensorType((places.shape[0], *[1] * (places.rank - 1)), places.dtype))
    return call.reshape(column, [places.shape[0], 1])


@converter("scatter.src")
def _scatter_src(call: Call, x: Value, dim: int, indices: Value, source: Value) -> Value:
    return _scatter(call, x, dim, indices, source, "none")


@converter("scatter.value")
def _scatter_value(call: Call, x: Value, dim: int, indices: Value, value: Any) -> Value:
    return _scatter(call, x, dim, indices, call.expand(call.constant(value, x), indices.shape), "none")


@converter("scatter_add.default")
def _scatter_add(call: Call, x: Value, dim: int, indices: Value, source: Value) -> Value:
    return _scatter(call, x, dim, indices, source, "add")


_REDUCTIONS = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min", "mean": "add"}


@converter("scatter_reduce.two")
def _scatter_reduce(
    call: Call, x: Value, dim: int, indices: Value, source: Value, reduce: str, include_self: bool
) -> Value:
    ones = call.expand(call.constant(1, x), indices.shape)
    base = x
    counts = _scatter(call, call.expand(call.constant(0, x), x.shape), dim, indices, ones, "add")
    hit = call.op("greater", counts, call.constant(0, x))
    if not include_self:
        if reduce in ("amax", "amin"):  # the first update stands for what is not included
            base = _scatter(call, x, dim, indices, source, "none")
        else:
            base = call.op("where", hit, call.constant(1 if reduce == "prod" else 0, x), x)
    result = _scatter(call, base, dim, indices, source, _REDUCTIONS[reduce])
    if reduce != "mean":
        return result
    counts = call.op("add", counts, call.constant(1, x)) if include_self else counts
    counts = call.op("max", counts, call.constant(1, x))
    if "float" in x.dtype:
        return call.op("div", result, counts)
    quotient, rest = call.op("div", result, counts), call.op("fmod", result, counts)
    return call.op("sub", quotient, call.cast(call.op("less", rest, call.constant(0, x)), x.dtype))


@converter("masked_scatter.default")
def _masked_scatter(call: Call, x: Value, mask: Value, source: Value) -> Value:
    count, given = math.prod(call.shape), math.prod(source.shape)
    flat = call.reshape(call.expand(mask, call.shape), [count])
    places = call.op("cumsum", call.cast(flat, "int64"), axis=0, exclusive=True, reverse=False)
    elements = call.reshape(source, [given])
    if not isinstance(given, int):  # an element more, as there may be none
        elements = call.op("concat", elements, call.expand(call.constant(0, source.dtype), [1]), axis=0)
    updates = call.op("gather", elements, places, axis=0)
    data = call.reshape(call.expand(x, call.shape), [count])
    return call.reshape(call.op("where", flat, updates, data), call.shape)


@converter("_embedding_bag.default", "_embedding_bag_forward_only.default")
def _embedding_bag(
    call: Call, weight: Value, indices: Value, offsets: Value, scaled: bool, mode: int, sparse: bool,
    factors: Value | None, include_last_offset: bool, padding: int,
) -> Any:  # fmt: skip
    """Sums or means of rows: a row is of the last bag that starts at it or before it. The largest are decomposed."""
    del scaled, sparse
    (count,), bags = indices.shape, call.shape[0]
    if include_last_offset:
        offsets = call.op("slice", offsets, starts=[0], steps=[1], sizes=[bags])
    acc = accumulator(weight.dtype)
    places = call.op("iota", shape=[count, 1], axis=0, to=offsets.dtype)
    started = call.op("less_equal", call.reshape(offsets, [1, bags]), places)
    bag = call.op("reduce_sum", call.cast(started, "int64"), axes=[1], keepdims=False)
    bag = call.op("sub", bag, call.constant(1, "int64"))
    used = call.op("not_equal", indices, call.constant(padding, indices))
    rows = call.cast(call.op("gather", weight, indices, axis=0), acc)
    if factors is not None:
        rows = call.op("mul", rows, call.reshape(call.cast(factors, acc), [count, 1]))
    rows = call.op("where", call.reshape(used, [count, 1]), rows, call.constant(0, acc))
    index = call.reshape(bag, [count, 1])
    nothing = call.op("expand", call.constant(0, acc), shape=call.shape)
    total = call.op("scatter_nd", nothing, index, rows, reduction="add")
    none = call.op("expand", call.constant(0, "int64"), shape=[bags])
    sizes = call.op("scatter_nd", none, index, call.cast(used, "int64"), reduction="add")
    if mode == 1:
        divisor = call.cast(call.op("max", sizes, call.constant(1, sizes)), acc)
        total = call.op("div", total, call.reshape(divisor, [bags, 1]))
    others: list[Value] = []
    for number, known in ((1, bag), (2, sizes), (3, None)):  # the last is of mode 'max' alone
        kind = call.type(number)
        if known is None or list(map(str, kind.shape)) != list(map(str, known.shape)):
            known = call.op("expand", call.constant(0, kind.dtype), shape=list(kind.shape))
        others.append(call.cast(known, kind.dtype))
    return (call.cast(total, call.dtype), *others)
