"""Operators that write at places that data gives.

On a GPU each element of the result looks for the updates that are for it, so that none is written twice at once. Where
there are many of both, the updates are sorted first, so that it knows where its own are. On a processor each thread has
a part of the result, and goes through all updates in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from ... import te, tir
from ...errors import TilewrightValueError as ValueError
from ...te import Expr, Tensor
from .common import accumulator, digits, elements, from_start, operator, same
from .sorting import MOST_SORTED, order_of

_COMBINE: dict[str, tuple[Callable[..., Expr], Callable[[Any, Any], Expr], Callable[[str], Any]]] = {
    "add": (te.sum, lambda a, b: a + b, lambda dtype: te.const(0, dtype)),
    "mul": (te.prod, lambda a, b: a * b, lambda dtype: te.const(1, dtype)),
    "max": (te.max, lambda a, b: te.max(a, b), te.min_value),
    "min": (te.min, lambda a, b: te.min(a, b), te.max_value),
}


_FEW = 1 << 14
"""On a processor, too, each element looks for its updates where there are so few pairs of the two."""

_MANY = 1 << 28
"""On a GPU, updates are sorted where there are more pairs of an element and an update, or nobody knows how many."""

_COMPARED = 32
"""Each element is compared with so many updates in any case: it takes no longer than to read and to write it."""

_THREADS, _AT_ONCE = 256, 8
"""The threads of a block, and how many updates each has on their way."""

_PARTS = 8
"""So many parts threads of a processor have of a result."""

_LINE = 16
"""The fewest columns of a part, which are a line of a cache or more."""


def _reduction(name: str, reduction: str) -> Callable[[Any, Any], Any]:
    """What an element becomes by an update."""
    if reduction != "none" and reduction not in _COMBINE:
        raise ValueError(f"{name}: expected a reduction (none, {', '.join(_COMBINE)}), got {reduction!r}")
    return (lambda a, b: b) if reduction == "none" else _COMBINE[reduction][1]


def _is_few(x: Tensor, updates: Any) -> bool:
    pairs = elements([*x.shape, updates])
    return isinstance(pairs, int) and pairs <= _FEW


def _scattered(
    name: str, x: Tensor, reduction: str, axes: Callable[[], list[Any]], is_for: Callable[[Any, Any], Expr],
    place: Callable[[Any], Expr], update: Callable[[Any, Any], Expr], update_at: Callable[[Any, Any], Expr],
) -> Tensor:  # fmt: skip
    """`x` with updates.

    `axes` are new axes of what updates each element. `is_for(i, k)` is whether the update at `k` is for the element at
    `i`, and `update(i, k)` is its value; `place` numbers them, and `update_at(i, place)` is the one with a number.
    """
    k = axes()
    _reduction(name, reduction)
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


@contextmanager
def _parts(ib: Any, extent: Any, least: int = 1) -> Generator[tuple[Any, Any]]:
    """Threads, each with a part of an extent: where the part begins and ends."""
    with ib.for_range(0, _PARTS, name="part", kind="parallel") as part:
        whole = te.const(0, "int64") + extent
        size = ib.let("size", te.max((whole + (_PARTS - 1)) // _PARTS, te.const(least, "int64")))
        begin = ib.let("begin", te.min(part * size, extent))
        yield begin, ib.let("end", te.min(begin + size, extent))


@contextmanager
def _nest(ib: Any, shape: Sequence[Any]) -> Generator[list[Any]]:
    """Loops over a shape."""
    with ExitStack() as stack:
        yield [stack.enter_context(ib.for_range(0, extent, name=f"i{d}")) for d, extent in enumerate(shape)]


def _copied(ib: Any, x: Any, out: Any, shape: Sequence[Any]) -> None:
    if not shape:
        out[()] = x[()]
        return
    with ib.for_range(0, shape[0], name="row", kind="parallel") as row, _nest(ib, shape[1:]) as rest:
        out[(row, *rest)] = x[(row, *rest)]


def _elements_in_order(ins: Sequence[Any], made: Any, axis: int, combine: Callable[[Any, Any], Any]) -> Any:
    """`scatter_elements` by statements: each thread has rows or columns of the result, or a part of its axis."""
    ib = tir.ir_builder.create()
    x, indices, updates = map(ib.buffer_ptr, ins)
    out = ib.buffer_ptr(made)
    shape, places = made.shape, ins[1].shape
    _copied(ib, x, out, shape)

    def update(k: Sequence[Any], begin: Any, end: Any) -> None:
        index = ib.let("index", from_start(indices[tuple(k)], shape[axis]).astype("int64"))
        at = (*k[:axis], index, *k[axis + 1 :])
        with ib.if_scope(te.all(index >= begin, index < end)):
            out[at] = combine(out[at], updates[tuple(k)])

    if axis:
        with ib.for_range(0, places[0], name="row", kind="parallel") as row, _nest(ib, places[1:]) as rest:
            update([row, *rest], 0, shape[axis])
    elif len(places) > 1 and not (isinstance(places[1], int) and places[1] < 2 * _LINE):
        with _parts(ib, places[1], _LINE) as (begin, end), ib.for_range(0, places[0], name="i0") as i:
            with ib.for_range(begin, end, name="i1") as j, _nest(ib, places[2:]) as rest:
                update([i, j, *rest], 0, shape[0])
    else:
        with _parts(ib, shape[0]) as (begin, end), _nest(ib, places) as k:
            update(k, begin, end)
    return ib.get()


def _slices_in_order(ins: Sequence[Any], made: Any, length: int, combine: Callable[[Any, Any], Any]) -> Any:
    """`scatter_nd` by statements: each thread has a part of the first dimension."""
    ib = tir.ir_builder.create()
    x, indices, updates = map(ib.buffer_ptr, ins)
    out = ib.buffer_ptr(made)
    shape, outer = made.shape, ins[1].shape[:-1]
    _copied(ib, x, out, shape)
    with _parts(ib, shape[0]) as (begin, end), _nest(ib, outer) as k:
        at: list[Any] = []
        inside: list[Any] = []
        for d in range(length):
            at.append(ib.let(f"index{d}", from_start(indices[(*k, d)], shape[d]).astype("int64")))
            inside += [at[d] >= (0 if d else begin), at[d] < (shape[d] if d else end)]
        with ib.if_scope(te.all(*inside)), _nest(ib, shape[length:]) as rest:
            out[(*at, *rest)] = combine(out[(*at, *rest)], updates[(*k, *rest)])
    return ib.get()


def _is_sorted(x: Tensor, updates: Any) -> bool:
    """Whether each element finds its updates by their order, as nothing says that there are few pairs of the two."""
    pairs = elements([*x.shape, updates])
    return pairs > _MANY if isinstance(pairs, int) else not isinstance(updates, int) or updates > _COMPARED


def _whole(extent: Any) -> Any:
    """An extent in 64 bits."""
    return te.const(extent, "int64") if isinstance(extent, int) else extent.astype("int64")


def _sorted_in_threads(
    x: Tensor, updates: Tensor, reduction: str, named: int, index_of: Callable[[list[Any]], list[Any]]
) -> Tensor:
    """`x` with updates, on a GPU: they are sorted by the slice that each is for, and each element has its own in order.

    A slice is named by the first `named` dimensions of `x`. `index_of(at)` is the name of the one that the update at
    `at`, a place in the other dimensions of `updates`, is for.
    """
    outer = updates.shape[: updates.ndim - (x.ndim - named)]
    names, inner = x.shape[:named], x.shape[named:]
    count, slices, width = (elements(some) for some in (outer, names, inner))
    places = "int32" if not isinstance(count, int) or count <= MOST_SORTED else "int64"
    nowhere = _whole(slices)  # the slice of an update that is outside of `x`

    def number(row: Any, place: Any, column: Any) -> Expr:
        total, inside = te.const(0, "int64"), list[Expr]()
        for one, extent in zip(index_of(digits(place, outer)), names):
            total = total * extent + one.astype("int64")
            inside += [one >= 0, one < extent]
        return te.select(te.all(*inside), total, nowhere)

    numbers = te.compute((1, count, 1), number, name="slices")
    order = order_of(numbers, largest=False, in_threads=True)

    def threads(ib: Any, work: Any) -> Any:
        block, thread = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
        ib.scope_attr(block, "thread_extent", (work + (_THREADS - 1)) // _THREADS)
        ib.scope_attr(thread, "thread_extent", _THREADS)
        return block.astype("int64") * _THREADS + thread

    def first_of_each(ins: Sequence[Any], outs: Sequence[Any]) -> Any:
        ib = tir.ir_builder.create()
        numbers, order, begins = ib.buffer_ptr(ins[0]), ib.buffer_ptr(ins[1]), ib.buffer_ptr(outs[0])
        at = threads(ib, slices + 1)
        with ib.if_scope(at <= slices):
            low, high = (ib.allocate("int64", (1,), name=name, scope="local") for name in ("low", "high"))
            low[0], high[0] = te.const(0, "int64"), _whole(count)
            steps = (count if isinstance(count, int) else MOST_SORTED).bit_length()
            with ib.for_range(0, steps, name="step"), ib.if_scope(low[0] < high[0]):
                middle = ib.let("middle", (low[0] + high[0]) // 2)
                is_before = ib.let("is_before", numbers[0, order[0, middle], 0] < at)
                low[0] = te.select(is_before, middle + 1, low[0])
                high[0] = te.select(is_before, high[0], middle)
            begins[at] = low[0].astype(places)
        return ib.get()

    begins = te.extern((slices + 1,), [numbers, order], first_of_each, name="first_updates", dtype=places)

    def combined(ins: Sequence[Any], outs: Sequence[Any]) -> Any:
        ib = tir.ir_builder.create()
        x_, order, begins, updates_ = map(ib.buffer_ptr, ins)
        made = ib.buffer_ptr(outs[0])
        element = threads(ib, slices * width)
        with ib.if_scope(element < slices * width):
            slice_ = ib.let("slice", element // width)
            column = ib.let("column", element % width)
            beside = digits(column, inner)
            at = (*digits(slice_, names), *beside)
            begin, end = (ib.let(name, begins[slice_ + n].astype("int64")) for n, name in enumerate(("begin", "end")))

            def update(place: Any) -> Any:
                return updates_[(*digits(ib.let("update", order[0, place]), outer), *beside)]

            if reduction == "none":
                made[at] = x_[at]
                with ib.if_scope(begin < end):
                    made[at] = update(end - 1)
                return ib.get()
            _, combine, neutral = _COMBINE[reduction]
            dtype = accumulator(x.dtype)
            total = ib.allocate(dtype, (1,), name="total", scope="local")
            total[0] = x_[at].astype(dtype)
            with ib.for_range(0, (end - begin + (_AT_ONCE - 1)) // _AT_ONCE, name="turn") as turn:
                first = ib.let("first", begin + turn * _AT_ONCE)
                some = [ib.let("value", update(te.min(first + i, end - 1))) for i in range(_AT_ONCE)]
                for i, value in enumerate(some):
                    total[0] = combine(total[0], te.select(first + i < end, value.astype(dtype), neutral(dtype)))
            made[at] = total[0].astype(x.dtype)
        return ib.get()

    return te.extern(x.shape, [x, order, begins, updates], combined, name="scattered", dtype=x.dtype)


@operator
def scatter_elements(
    x: Tensor, indices: Tensor, updates: Tensor, *, axis: int, reduction: str, by_threads: bool
) -> Tensor:
    """`x` with updates at the indices along an axis; of several for one element the last stays, or all are combined."""
    combine = _reduction("scatter_elements", reduction)
    if not by_threads and not _is_few(x, indices.shape[axis]):
        return te.extern(
            x.shape, [x, indices, updates], lambda ins, outs: _elements_in_order(ins, outs[0], axis, combine),
            name="scatter_elements", dtype=x.dtype,
        )  # fmt: skip

    if by_threads and _is_sorted(x, indices.shape[axis]):

        def element_of(at: list[Any]) -> list[Any]:
            return [from_start(indices(*at), x.shape[d]) if d == axis else at[d] for d in range(x.ndim)]

        return _sorted_in_threads(x, updates, reduction, x.ndim, element_of)

    def place_of(i: Any, k: Any) -> list[Any]:
        return [k if d == axis else i[d] for d in range(x.ndim)]

    def is_for(i: Any, k: Any) -> Expr:
        inside = [
            i[d] < indices.shape[d] for d in range(x.ndim) if d != axis and not same(x.shape[d], indices.shape[d])
        ]
        index = from_start(indices(*place_of(i, k[0])), x.shape[axis])
        return te.all(*inside, index == i[axis].astype(indices.dtype))

    def number(k: Sequence[Expr]) -> Expr:
        return k[0].astype("int64")

    return _scattered(
        "scatter_elements", x, reduction,
        lambda: [te.reduce_axis((0, indices.shape[axis]), name="update")],
        is_for, number, lambda i, k: updates(*place_of(i, k[0])), lambda i, place: updates(*place_of(i, place)),
    )  # fmt: skip


@operator
def scatter_nd(x: Tensor, indices: Tensor, updates: Tensor, *, reduction: str, by_threads: bool) -> Tensor:
    """`x` with updates of the slices that tuples of indices name; of several the last stays, or all are combined."""
    length = indices.shape[-1]
    if not isinstance(length, int):
        raise ValueError(f"scatter_nd: expected tuples of indices of a known length, got {length}")
    outer = indices.shape[:-1]
    combine = _reduction("scatter_nd", reduction)
    if not by_threads and length and not _is_few(x, elements(outer)):
        return te.extern(
            x.shape, [x, indices, updates], lambda ins, outs: _slices_in_order(ins, outs[0], length, combine),
            name="scatter_nd", dtype=x.dtype,
        )  # fmt: skip

    if by_threads and length and _is_sorted(x, elements(outer)):

        def slice_of(at: list[Any]) -> list[Any]:
            return [from_start(indices(*at, d), x.shape[d]) for d in range(length)]

        return _sorted_in_threads(x, updates, reduction, length, slice_of)

    def is_for(i: Any, k: Any) -> Expr:
        conditions: list[Expr] = []
        for d in range(length):
            conditions.append(from_start(indices(*k, d), x.shape[d]) == i[d].astype(indices.dtype))
        return te.all(*conditions)

    def number(k: Any) -> Expr:
        flat: Any = te.const(0, "int64")
        for axis, extent in zip(k, outer):
            flat = flat * extent + axis.astype("int64")
        return flat

    def update_at(i: Any, place: Any) -> Expr:
        return updates(*digits(place, outer), *i[length:])

    def axes() -> list[Any]:
        return [te.reduce_axis((0, extent), name=f"update{d}") for d, extent in enumerate(outer)]

    return _scattered(
        "scatter_nd", x, reduction, axes, is_for, number, lambda i, k: updates(*k, *i[length:]), update_at
    )
