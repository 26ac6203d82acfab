"""Operators that reduce, scan or order elements along dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import te
from ...te import Expr, Tensor
from .common import accumulator, operator
from .sorting import best_of_sorted

_MOST_RANKED, _MOST_RANKED_ON_PROCESSOR = 1024, 16
"""So many elements are ranked, each by itself, which threads of a GPU do at once; more are sorted."""

_REDUCERS: dict[str, Callable[..., Expr]] = {"sum": te.sum, "prod": te.prod, "max": te.max, "min": te.min}


def reduced(
    name: str, x: Tensor, axes: Sequence[int], keepdims: bool, element: Callable[[Expr], Expr] | None = None,
    reducer: str = "sum",
) -> Tensor:  # fmt: skip
    """`x` reduced over dimensions; each element goes through `element` before."""
    rest = [d for d in range(x.ndim) if d not in axes]
    shape = [1 if d in axes else x.shape[d] for d in range(x.ndim)] if keepdims else [x.shape[d] for d in rest]
    over = {d: te.reduce_axis((0, x.shape[d]), name=f"k{d}") for d in sorted(axes)}

    def value(*i: Any) -> Expr:
        place = dict(zip(rest, i)) if not keepdims else {d: i[d] for d in rest}
        read = x(*[over[d] if d in over else place[d] for d in range(x.ndim)])
        read = element(read) if element is not None else read
        return _REDUCERS[reducer](read, axis=list(over.values())) if over else read

    return te.compute(shape, value, name=name)


def _converted(x: Tensor, to: str, name: str) -> Tensor:
    return x if x.dtype == to else te.compute(x.shape, lambda *i: x(*i).astype(to), name=name)


def _register(reducer: str) -> None:
    def made(x: Tensor, *, axes: Sequence[int], keepdims: bool) -> Tensor:
        sums = reducer in ("sum", "prod")
        # Bools have no order of their own: the largest is whether one is true.
        acc = "uint8" if x.dtype == "bool" else accumulator(x.dtype) if sums else x.dtype
        name = f"reduce_{reducer}"
        if acc == x.dtype:
            return reduced(name, x, axes, keepdims, reducer=reducer)
        return _converted(reduced(name, x, axes, keepdims, lambda e: e.astype(acc), reducer), x.dtype, f"{name}_cast")

    made.__name__ = f"reduce_{reducer}"
    made.__doc__ = f"The {reducer} over some dimensions."
    operator(made)


for _reducer in _REDUCERS:
    _register(_reducer)


def _place_of(name: str, x: Tensor, axis: int, keepdims: bool, select_last: bool, largest: bool) -> Tensor:
    """Where the best element along an axis is: NaN, where there is one, as NumPy has it."""
    best = reduced(f"{name}_best", x, [axis], True, reducer="max" if largest else "min")
    extent = x.shape[axis]
    k = te.reduce_axis((0, extent), name="k")
    shape = [1 if d == axis else e for d, e in enumerate(x.shape) if keepdims or d != axis]

    def value(*i: Any) -> Expr:
        rest = [*i[:axis], *i[axis + 1 :]] if keepdims else list(i)
        element = x(*rest[:axis], k, *rest[axis:])
        wanted = best(*rest[:axis], 0, *rest[axis:])
        found = element == wanted
        if x.dtype.startswith(("float", "bfloat")):
            found = found | te.isnan(element)
        place = k.astype("int64")
        none = te.const(-1, "int64") if select_last else te.max_value("int64")
        return (te.max if select_last else te.min)(te.select(found, place, none), axis=k)

    return te.compute(shape, value, name=name)


@operator
def argmax(x: Tensor, *, axis: int, keepdims: bool, select_last: bool) -> Tensor:
    """Where the largest element along an axis is: the first or the last of equal ones."""
    return _place_of("argmax", x, axis, keepdims, select_last, largest=True)


@operator
def argmin(x: Tensor, *, axis: int, keepdims: bool, select_last: bool) -> Tensor:
    """Where the smallest element along an axis is: the first or the last of equal ones."""
    return _place_of("argmin", x, axis, keepdims, select_last, largest=False)


def _cumulative(
    name: str, x: Tensor, axis: int, exclusive: bool, reverse: bool, identity: int,
    combine: Callable[[Expr, Expr], Expr],
) -> Tensor:  # fmt: skip
    """A recurrence, whose first axis is the one along which it goes; of 16 bits in float32."""
    extent = x.shape[axis]
    rest = [e for d, e in enumerate(x.shape) if d != axis]
    acc = accumulator(x.dtype)
    neutral = te.const(identity, acc)

    def read(t: Any, others: Sequence[Any]) -> Expr:
        place = extent - 1 - t if reverse else t
        value = x(*others[:axis], place, *others[axis:])
        return value if acc == x.dtype else value.astype(acc)

    def first(t: Any, *others: Any) -> Expr:
        if exclusive or isinstance(extent, int):
            return neutral if exclusive else read(t, others)
        return te.if_then_else(extent > 0, read(t, others), neutral)

    def later(t: Any, *others: Any) -> Expr:
        return combine(state(t - 1, *others), read(t - 1 if exclusive else t, others))

    state = te.placeholder((extent, *rest), acc, name=f"{name}_state")
    init = te.compute((1, *rest), first, name=f"{name}_first")
    update = te.compute((extent, *rest), later, name=f"{name}_update")
    scanned = te.scan(init, update, state, name=f"{name}_scan")

    def element(*i: Any) -> Expr:
        value = scanned(extent - 1 - i[axis] if reverse else i[axis], *i[:axis], *i[axis + 1 :])
        return value if acc == x.dtype else value.astype(x.dtype)

    return te.compute(x.shape, element, name=name)


@operator
def cumsum(x: Tensor, *, axis: int, exclusive: bool, reverse: bool) -> Tensor:
    """The sum of the elements up to each one along an axis."""
    return _cumulative("cumsum", x, axis, exclusive, reverse, 0, lambda a, b: a + b)


@operator
def cumprod(x: Tensor, *, axis: int, exclusive: bool, reverse: bool) -> Tensor:
    """The product of the elements up to each one along an axis."""
    return _cumulative("cumprod", x, axis, exclusive, reverse, 1, lambda a, b: a * b)


@operator
def topk(x: Tensor, *, k: int, axis: int, largest: bool, by_threads: bool) -> tuple[Tensor, Tensor]:
    """The k best elements along an axis, in order, and where they are: all of them where k is -1.

    Of equal ones the first comes first. NaN is the largest. Of some elements each finds its rank, how many come before
    it, by itself; more, or a symbolic number, are sorted.
    """
    extent = x.shape[axis]
    count = extent if k == -1 else k
    if not isinstance(extent, int) or extent > (_MOST_RANKED if by_threads else _MOST_RANKED_ON_PROCESSOR):
        return best_of_sorted(x, count, axis, largest, by_threads)
    other = te.reduce_axis((0, extent), name="other")

    def rank_of(*i: Any) -> Expr:
        mine, theirs = x(*i), x(*i[:axis], other, *i[axis + 1 :])
        better, same = theirs > mine if largest else theirs < mine, theirs == mine
        if "float" in x.dtype:
            more, less = (theirs, mine) if largest else (mine, theirs)
            better = te.any(better, te.all(te.isnan(more), less == less))
            same = te.any(same, te.all(te.isnan(mine), te.isnan(theirs)))
        first = te.all(same, other < i[axis])
        return te.sum(te.select(better | first, te.const(1, "int64"), te.const(0, "int64")), axis=other)

    rank = te.compute(x.shape, rank_of, name="rank")
    place = te.reduce_axis((0, extent), name="place")
    shape = [count if d == axis else e for d, e in enumerate(x.shape)]

    def position_of(*i: Any) -> Expr:
        found = rank(*i[:axis], place, *i[axis + 1 :]) == i[axis].astype("int64")
        return te.sum(te.select(found, place.astype("int64"), te.const(0, "int64")), axis=place)

    positions = te.compute(shape, position_of, name="positions")
    values = te.compute(shape, lambda *i: x(*i[:axis], positions(*i), *i[axis + 1 :]), name="values")
    return values, positions


def _shifted(x: Tensor, axis: int) -> tuple[Tensor, Callable[..., Expr]]:
    """The largest element along an axis, and the exponential of an element over its own, in float32 at least."""
    acc = accumulator(x.dtype)
    largest = reduced("largest", x, [axis], True, reducer="max")

    def exponential(*i: Any) -> Expr:
        return te.exp(x(*i).astype(acc) - largest(*i[:axis], 0, *i[axis + 1 :]).astype(acc))

    return largest, exponential


@operator
def softmax(x: Tensor, *, axis: int) -> Tensor:
    """exp(x) over its sum along an axis. All elements of a row share one division."""
    _, exponential = _shifted(x, axis)
    e = te.compute(x.shape, exponential, name="exponentials")
    total = reduced("total", e, [axis], True)
    return te.compute(
        x.shape, lambda *i: (e(*i) * (1 / total(*i[:axis], 0, *i[axis + 1 :]))).astype(x.dtype), name="softmax"
    )


@operator
def log_softmax(x: Tensor, *, axis: int) -> Tensor:
    """The logarithm of softmax."""
    largest, exponential = _shifted(x, axis)
    acc = accumulator(x.dtype)
    e = te.compute(x.shape, exponential, name="exponentials")
    total = reduced("total", e, [axis], True)

    def value(*i: Any) -> Expr:
        place = (*i[:axis], 0, *i[axis + 1 :])
        return (x(*i).astype(acc) - largest(*place).astype(acc) - te.log(total(*place))).astype(x.dtype)

    return te.compute(x.shape, value, name="log_softmax")
