"""Operators that move elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph import Value
from ...guards import is_listed
from ...te import Expr, Var
from ...te import expr as te_expr
from ..call import Call, converter, of_shape


@converter("view.default", "_unsafe_view.default", "reshape.default", "squeeze.dim", "squeeze.dims", "squeeze.default",
           "unsqueeze.default", "_reshape_copy.default", "view_copy.default", "flatten.using_ints")  # fmt: skip
def _view(call: Call, x: Value, *_: Any) -> Value:
    return call.reshape(x, call.shape)


@converter("expand.default", "expand_copy.default")
def _expand(call: Call, x: Value, *_: Any) -> Value:
    return call.expand(x, call.shape)


@converter("permute.default", "permute_copy.default")
def _permute(call: Call, x: Value, dims: Sequence[int]) -> Value:
    return call.op("transpose", x, permutation=[call.axis(d, x.rank) for d in dims])


@converter("transpose.int", "t.default")
def _transpose(call: Call, x: Value, first: int = 0, second: int = 1) -> Value:
    order = list(range(x.rank))
    if x.rank >= 2:
        a, b = call.axis(first, x.rank), call.axis(second, x.rank)
        order[a], order[b] = order[b], order[a]
    return call.op("transpose", x, permutation=order)


_END = 2**62
"""Where a slice that has no end ends, or behind that."""


def sliced(call: Call, x: Value, axis: int, start: Any, size: Any, step: int = 1) -> Value:
    """So many elements along an axis."""
    extents = {one.name for one in (*x.shape, size) if isinstance(one, Var)}
    if _may_be_negative(start) or not _symbols(start) <= extents:  # or the kernel would not have the number
        first, zero = call.number_of(start), call.constant(0, "int64")
        negative = call.op("less", first, zero)
        first = call.op("add", first, call.op("where", negative, call.number_of(x.shape[axis]), zero))
        places = call.op("iota", shape=[size], axis=0, to="int64")
        places = call.op("mul", places, call.constant(step, places))
        return call.op("gather", x, call.op("add", places, call.op("max", first, zero)), axis=axis)
    sizes = [size if d == axis else extent for d, extent in enumerate(x.shape)]
    return call.op(
        "slice", x, starts=[start if d == axis else 0 for d in range(x.rank)],
        steps=[step if d == axis else 1 for d in range(x.rank)], sizes=sizes,
    )  # fmt: skip


def _symbols(extent: Any) -> set[str]:
    """The symbols of an extent."""
    if isinstance(extent, Var):
        return {extent.name}
    parts: Sequence[Any] = getattr(extent, "args", ())
    return set[str]().union(*map(_symbols, parts))


def _may_be_negative(extent: Any) -> bool:
    """Whether a number counts from the end: it is negative where the symbols are positive, or may be."""
    if isinstance(extent, int):
        return extent < 0
    if not isinstance(extent, te_expr.Call):
        return isinstance(extent, te_expr.Const) and extent.value < 0
    first, *rest = extent.args
    if extent.op == "sub":
        return isinstance(first, te_expr.Const) or _may_be_negative(first)
    return _may_be_negative(first) or extent.op not in ("add", "max") and any(map(_may_be_negative, rest))


def _start(call: Call, start: Any, extent: Any) -> Any:
    """Where a slice begins: counted from the end, and cut, as Python has it."""
    if start is None:
        return 0
    if not isinstance(start, int):
        return start
    if isinstance(extent, int):
        return min(max(start + extent if start < 0 else start, 0), extent)
    return extent + start if start < 0 else start


@converter("slice.Tensor")
def _slice(call: Call, x: Value, dim: int, start: Any, end: Any, step: Any) -> Value:
    axis = call.axis(dim, x.rank)
    if isinstance(start, Expr) and step == 1 and (end is None or isinstance(end, int) and end >= _END):
        start = x.shape[axis] - call.shape[axis]
    return sliced(call, x, axis, _start(call, start, x.shape[axis]), call.shape[axis], step)


@converter("select.int")
def _select(call: Call, x: Value, dim: int, index: Any) -> Value:
    axis = call.axis(dim, x.rank)
    place = index + x.shape[axis] if isinstance(index, int) and index < 0 else index
    return call.reshape(sliced(call, x, axis, place, 1), call.shape)


@converter("split_with_sizes.default", "split.Tensor", "split_with_sizes_copy.default")
def _split(call: Call, x: Value, sizes: Any, dim: int) -> Any:
    axis = call.axis(dim, x.rank)
    if not is_listed(sizes):
        sizes = [one.shape[axis] for one in call.types]
    start: Any = 0
    parts: list[Value] = []
    for size in sizes:
        parts.append(sliced(call, x, axis, start, size))
        start = start + size
    return parts


@converter("unbind.int")
def _unbind(call: Call, x: Value, dim: int) -> Any:
    axis = call.axis(dim, x.rank)
    rest = [extent for d, extent in enumerate(x.shape) if d != axis]
    return [call.reshape(sliced(call, x, axis, i, 1), rest) for i in range(len(call.types))]


@converter("cat.default")
def _cat(call: Call, tensors: Sequence[Value], dim: int = 0) -> Value:
    rank = len(call.shape)
    parts = [call.cast(one, call.dtype) for one in tensors if one.rank == rank]  # torch skips empty vectors
    made = parts[0] if len(parts) == 1 else call.op("concat", *parts, axis=call.axis(dim, rank))
    return made if all(isinstance(one, int) for one in made.shape) else of_shape(call, made, call.shape)


@converter("flip.default")
def _flip(call: Call, x: Value, dims: Sequence[int]) -> Value:
    for axis in call.axes(dims, x.rank) if dims else []:
        starts = [x.shape[d] - 1 if d == axis else 0 for d in range(x.rank)]
        if x.shape[axis] == 0:
            continue
        steps = [-1 if d == axis else 1 for d in range(x.rank)]
        x = call.op("slice", x, starts=starts, steps=steps, sizes=list(x.shape))
    return x


@converter("roll.default")
def _roll(call: Call, x: Value, shifts: Any, dims: Any) -> Value:
    if not dims:
        flat = call.reshape(x, [math.prod(x.shape)])
        return call.reshape(_rolled(call, flat, 0, shifts[0]), x.shape)
    for shift, dim in zip(shifts, dims):
        x = _rolled(call, x, call.axis(dim, x.rank), shift)
    return x


def _rolled(call: Call, x: Value, axis: int, shift: int) -> Value:
    extent = x.shape[axis]
    if not isinstance(extent, int):
        places = call.op("iota", shape=[extent], axis=0, to="int64")
        places = call.op("mod", call.op("sub", places, call.constant(shift, places)), call.constant(extent, places))
        return call.op("gather", x, places, axis=axis)
    shift = shift % extent if extent else 0
    if not shift:
        return x
    parts = sliced(call, x, axis, extent - shift, shift), sliced(call, x, axis, 0, extent - shift)
    return call.op("concat", *parts, axis=axis)


@converter("repeat.default")
def _repeat(call: Call, x: Value, repeats: Sequence[Any]) -> Value:
    x = call.reshape(x, [1] * (len(repeats) - x.rank) + list(x.shape))
    if any(extent == 0 for extent in call.shape):
        return call.op("expand", call.constant(0, x), shape=call.shape)
    if all(isinstance(one, int) for one in repeats):
        return call.op("tile", x, repeats=list(repeats))
    if any(extent != 1 for extent, times in zip(x.shape, repeats) if not isinstance(times, int)):
        pairs = list(zip(repeats, x.shape))
        x = call.reshape(x, [part for _, extent in pairs for part in (1, extent)])
        x = call.expand(x, [part for pair in pairs for part in pair])
        return call.reshape(x, call.shape)
    return call.expand(x, call.shape)


def _pads(rank: int, pad: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    before: list[Any] = [0] * rank
    after: list[Any] = [0] * rank
    for i in range(len(pad) // 2):
        before[rank - 1 - i], after[rank - 1 - i] = pad[2 * i], pad[2 * i + 1]
    return before, after


@converter("constant_pad_nd.default")
def _constant_pad(call: Call, x: Value, pad: Sequence[Any], value: Any = 0) -> Value:
    before, after = _pads(x.rank, pad)
    for axis, (low, high) in enumerate(zip(before, after)):  # a negative padding cuts
        if not isinstance(low, int) or not isinstance(high, int):
            x = _around(call, x, axis, low, high, value)
            before[axis] = after[axis] = 0
            continue
        cut = max(-low, 0), max(-high, 0)
        if any(cut):
            x = sliced(call, x, axis, cut[0], x.shape[axis] - cut[0] - cut[1])
    low, high = [max(one, 0) for one in before], [max(one, 0) for one in after]
    return call.op("pad", x, call.constant(value, x), before=low, after=high, mode="constant")


def _around(call: Call, x: Value, axis: int, low: Any, high: Any, value: Any) -> Value:
    """A tensor with so many elements of a value before and after it, which may be symbols."""
    parts: list[Value] = []
    for count in (low, None, high):
        if count is None:
            parts.append(x)
        elif not isinstance(count, int) or count:
            shape = [count if d == axis else extent for d, extent in enumerate(x.shape)]
            parts.append(call.expand(call.constant(value, x), shape))
    return call.op("concat", *parts, axis=axis)


def _padding(mode: str) -> Any:
    def convert(call: Call, x: Value, pad: Sequence[int]) -> Value:
        before, after = _pads(x.rank, pad)
        return call.op("pad", x, call.constant(0, x), before=before, after=after, mode=mode)

    return convert


def _circular_pad(call: Call, x: Value, pad: Sequence[Any]) -> Value:
    for axis, (low, high) in enumerate(zip(*_pads(x.rank, pad))):
        cut = max(-low, 0), max(-high, 0)  # a negative padding cuts
        extent = x.shape[axis] - cut[0] - cut[1]
        x = sliced(call, x, axis, cut[0], extent) if any(cut) else x
        before = [sliced(call, x, axis, extent - low, low)] if low > 0 else []
        after = [sliced(call, x, axis, 0, high)] if high > 0 else []
        if before or after:
            x = call.op("concat", *before, x, *after, axis=axis)
    return x


@converter("pad.default")
def _pad(call: Call, x: Value, pad: Sequence[Any], mode: str, value: Any) -> Value:
    if mode == "constant":
        return _constant_pad(call, x, pad, 0 if value is None else value)
    if mode == "circular":
        return _circular_pad(call, x, pad)
    return _padding({"reflect": "reflect", "replicate": "edge"}[mode])(call, x, pad)


for _rank in (1, 2, 3):
    converter(f"reflection_pad{_rank}d.default")(_padding("reflect"))
    converter(f"replication_pad{_rank}d.default")(_padding("edge"))


@converter("tril.default", "triu.default")
def _triangle(call: Call, x: Value, diagonal: int = 0) -> Value:
    return call.op("trilu", x, k=diagonal, upper=call.target == "triu.default")


@converter("diagonal.default")
def _diagonal(call: Call, x: Value, offset: int, dim1: int, dim2: int) -> Value:
    first, second = call.axis(dim1, x.rank), call.axis(dim2, x.rank)
    rest = [d for d in range(x.rank) if d not in (first, second)]
    x = call.op("transpose", x, permutation=[*rest, first, second])
    *lead, rows, columns = x.shape
    count = call.shape[-1]
    flat = call.reshape(x, [*lead, rows * columns])
    if not all(isinstance(extent, int) for extent in (rows, columns, count)):
        first_place = offset if offset >= 0 else columns * -offset
        along = call.op("iota", shape=[count], axis=0, to="int64")
        along = call.op("mul", along, call.constant(columns + 1, "int64"))
        along = call.op("add", along, call.constant(first_place, "int64"))
        return call.op("gather", flat, along, axis=flat.rank - 1)
    numbers = np.arange(int(count))
    chosen: Any = (numbers + max(-offset, 0)) * int(columns) + numbers + max(offset, 0)
    if count == 0:
        return sliced(call, flat, flat.rank - 1, 0, 0)
    if count == 1:
        return sliced(call, flat, flat.rank - 1, int(chosen[0]), 1)
    return call.op("gather", flat, call.array(chosen), axis=flat.rank - 1)


def _strided(call: Call, x: Value, size: Sequence[Any], stride: Sequence[Any], offset: Any) -> Value:
    """The elements at places that are computed, as extents are symbolic."""
    places = call.constant(offset, "int64")
    for d, step in enumerate(stride):
        along = call.op("iota", shape=list(size), axis=d, to="int64")
        places = call.op("add", places, call.op("mul", along, call.constant(step, "int64")))
    return call.op("gather", call.reshape(x, [math.prod(x.shape)]), places, axis=0)


def _places_of(call: Call, x: Value, size: Sequence[Any], stride: Sequence[Any], offset: Any) -> np.ndarray:
    """The numbers of the elements that a view of memory has."""
    places = np.full(tuple(size), offset or 0, np.int64)
    for d, (extent, step) in enumerate(zip(size, stride)):
        along = np.arange(int(extent), dtype=np.int64) * int(step)
        places += along.reshape([-1 if e == d else 1 for e in range(len(size))])
    if places.size and places.max() >= math.prod(x.shape):
        raise call.error("expected elements of its operand, got a view of memory beyond it")
    return places


@converter("as_strided.default")
def _as_strided(call: Call, x: Value, size: Sequence[Any], stride: Sequence[Any], offset: Any = None) -> Value:
    if not _are_known(x, size, stride, offset):
        return _strided(call, x, size, stride, offset or 0)
    places = _places_of(call, x, size, stride, offset)
    flat = call.reshape(x, [math.prod(x.shape)])
    if places.size == 1:
        return call.reshape(sliced(call, flat, 0, int(places.reshape(())), 1), size)  # pyright: ignore[reportUnknownArgumentType]
    return call.op("gather", flat, call.array(places), axis=0)  # pyright: ignore[reportUnknownArgumentType]


@converter("as_strided_scatter.default")
def _as_strided_scatter(
    call: Call, x: Value, source: Value, size: Sequence[Any], stride: Sequence[Any], offset: Any = None
) -> Value:
    if not _are_known(x, size, stride, offset):
        raise call.error(f"expected extents that are numbers, got {tuple(map(str, (*x.shape, *size)))}")
    places = _places_of(call, x, size, stride, offset).reshape(-1, 1)
    if not places.size:
        return x
    flat, updates = call.reshape(x, [math.prod(x.shape)]), call.reshape(source, [len(places)])
    made = call.op("scatter_nd", flat, call.reshape(call.array(places), places.shape), updates, reduction="none")
    return call.reshape(made, x.shape)


def _are_known(x: Value, size: Sequence[Any], stride: Sequence[Any], offset: Any) -> bool:
    return all(isinstance(one, int) for one in (*x.shape, *size, *stride, offset or 0))
