"""Operators that move elements, and those that make them of nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ...errors import TilewrightValueError as ValueError
from ...te import Expr, Tensor
from .common import Extent, at, broadcast_shapes, elements, in_range, is_one, operator, same

__all__ = ["padded"]


@operator
def iota(*, shape: Sequence[Extent], axis: int, to: str) -> Tensor:
    """The position along one dimension."""
    return te.compute(shape, lambda *i: i[axis].astype("int64").astype(to), name="iota")


def _groups(source: Sequence[Extent], target: Sequence[Extent]) -> list[tuple[list[int], list[int]]]:
    """Which dimensions of a shape became which of another with as many elements: as few together as can be."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(source) and j < len(target):
        if same(source[i], target[j]):
            groups.append(([i], [j]))
            i, j = i + 1, j + 1
            continue
        if is_one(source[i]):
            groups.append(([i], []))
            i += 1
            continue
        if is_one(target[j]):
            groups.append(([], [j]))
            j += 1
            continue
        left, right = [i], [j]
        p, q = source[i], target[j]
        while isinstance(p, int) and isinstance(q, int) and p != q:
            if p < q:
                if left[-1] + 1 == len(source):
                    break
                left.append(left[-1] + 1)
                p = p * source[left[-1]]
            else:
                if right[-1] + 1 == len(target):
                    break
                right.append(right[-1] + 1)
                q = q * target[right[-1]]
        if not (isinstance(p, int) and isinstance(q, int) and p == q):
            left, right = list(range(i, len(source))), list(range(j, len(target)))
        groups.append((left, right))
        i, j = left[-1] + 1, right[-1] + 1
    if i < len(source) or j < len(target):
        groups.append((list(range(i, len(source))), list(range(j, len(target)))))
    return groups


@operator
def reshape(x: Tensor, *, shape: Sequence[Extent]) -> Tensor:
    """The same elements in row-major order in another shape."""
    before, after = elements(x.shape), elements(shape)
    if isinstance(before, int) and isinstance(after, int) and before != after:
        raise ValueError(f"reshape: expected a shape of {before} elements, got {after}, {tuple(shape)}")
    groups = _groups(x.shape, shape)

    def element(*axes: Any) -> Expr:
        if isinstance(after, int) and after == 0:
            return x(*[0] * x.ndim)
        indices: list[Any] = [0] * x.ndim
        for source, target in groups:
            if len(source) == len(target) == 1:
                indices[source[0]] = axes[target[0]]
                continue
            place: Any = 0
            for d in target:
                place = axes[d] if isinstance(place, int) else place * shape[d] + axes[d]
            for d in reversed(source):
                if is_one(x.shape[d]):
                    continue
                if all(is_one(x.shape[other]) for other in source if other < d):
                    indices[d] = place
                    break
                indices[d] = place % x.shape[d]
                place = place // x.shape[d]
        return x(*indices)

    return te.compute(shape, element, name="reshape")


@operator
def expand(x: Tensor, *, shape: Sequence[Extent]) -> Tensor:
    """Broadcast together with a shape."""
    whole = broadcast_shapes(x.shape, shape)
    return te.compute(whole, lambda *i: at(x, i, whole), name="expand")


@operator
def transpose(x: Tensor, *, permutation: Sequence[int]) -> Tensor:
    """The dimensions in the order of the permutation."""
    place = {d: position for position, d in enumerate(permutation)}
    shape = [x.shape[d] for d in permutation]
    return te.compute(shape, lambda *i: x(*[i[place[d]] for d in range(x.ndim)]), name="transpose")


@operator
def concat(*inputs: Tensor, axis: int) -> Tensor:
    """One behind the other along an axis."""
    first = inputs[0].shape
    for number, one in enumerate(inputs):
        for d, (extent, wanted) in enumerate(zip(one.shape, first)):
            if d != axis and not same(extent, wanted):
                raise ValueError(f"concat: operand {number}, dimension {d}: expected {wanted}, got {extent}")
    begins: list[Extent] = [0]
    for one in inputs:
        begins.append(one.shape[axis] if same(begins[-1], 0) else begins[-1] + one.shape[axis])
    shape = [*first[:axis], begins[-1], *first[axis + 1 :]]
    parts = [(begin, one) for begin, one in zip(begins, inputs) if not same(one.shape[axis], 0)] or [(0, inputs[0])]

    def element(*axes: Any) -> Expr:
        def read(begin: Extent, one: Tensor) -> Expr:
            place = axes[axis] if same(begin, 0) else axes[axis] - begin
            return one(*axes[:axis], place, *axes[axis + 1 :])

        result = read(*parts[-1])
        for (end, _), part in reversed(list(zip(parts[1:], parts))):
            result = te.if_then_else(axes[axis] < end, read(*part), result)
        return result

    return te.compute(shape, element, name="concat")


@operator
def slice_(x: Tensor, *, starts: Sequence[Extent], steps: Sequence[int], sizes: Sequence[Extent]) -> Tensor:
    """In each dimension the elements from a start on, in steps."""

    def place(axis: Any, start: Extent, step: int) -> Any:
        index = axis if step == 1 else axis * step
        return index if same(start, 0) else index + start

    return te.compute(
        sizes,
        lambda *i: x(*[place(axis, start, step) for axis, start, step in zip(i, starts, steps)]),
        name="slice",
    )


def padded(x: Tensor, before: Sequence[int], after: Sequence[int], value: Any, name: str = "padded") -> Tensor:
    """`x` with so many elements of `value` around it; where there are none, `x` itself."""
    if not any(before) and not any(after):
        return x
    shape = [low + extent + high for low, extent, high in zip(before, x.shape, after)]

    def element(*axes: Any) -> Expr:
        places = [axis - low if low else axis for axis, low in zip(axes, before)]
        inside: list[Expr] = []
        for axis, place, low, high, extent in zip(axes, places, before, after, x.shape):
            if low > 0:
                inside.append(axis >= low)
            if high > 0:
                inside.append(place < extent)
        return te.if_then_else(te.all(*inside), x(*places), value) if inside else x(*places)

    return te.compute(shape, element, name=name)


@operator
def pad(x: Tensor, value: Tensor, *, before: Sequence[int], after: Sequence[int], mode: str) -> Tensor:
    """With elements before and after: of `value`, or of `x` itself."""
    if mode == "constant":
        if not any(before) and not any(after):
            return te.compute(x.shape, lambda *i: x(*i), name="pad")
        return padded(x, before, after, value(), "pad")
    shape = [low + extent + high for low, extent, high in zip(before, x.shape, after)]

    def place(axis: Any, low: int, extent: Extent) -> Any:
        index, last = axis - low, extent - 1
        if mode == "edge":
            return te.max(te.min(index, last), 0)
        if mode == "wrap":
            return te.floormod(index, extent)
        if same(extent, 1):
            return 0
        # "reflect": the elements in their order, and back, without the ends twice.
        folded = te.floormod(index, last * 2)
        return te.min(folded, last * 2 - folded)

    def element(*axes: Any) -> Expr:
        return x(*[
            axis if low == high == 0 else place(axis, low, extent)
            for axis, low, high, extent in zip(axes, before, after, x.shape)
        ])  # fmt: skip

    return te.compute(shape, element, name="pad")


@operator
def tile(x: Tensor, *, repeats: Sequence[int]) -> Tensor:
    """Repeated along each dimension."""
    shape = [extent * times for extent, times in zip(x.shape, repeats)]
    # An extent of 0 stays 0, and nothing is read.
    is_same = [times == 1 or isinstance(extent, int) and extent == 0 for extent, times in zip(x.shape, repeats)]
    return te.compute(
        shape,
        lambda *i: x(*[a if same else te.floormod(a, e) for a, same, e in zip(i, is_same, x.shape)]),
        name="tile",
    )


@operator
def gather(x: Tensor, indices: Tensor, *, axis: int) -> Tensor:
    """The slices along an axis that the indices name. An index beyond the ends is that of the end."""
    shape = [*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]]
    last = axis + indices.ndim
    return te.compute(
        shape,
        lambda *i: x(*i[:axis], in_range(indices(*i[axis:last]), x.shape[axis]), *i[last:]),
        name="gather",
    )


@operator
def gather_elements(x: Tensor, indices: Tensor, *, axis: int) -> Tensor:
    """For each index the element at its place with the index along the axis."""
    return te.compute(
        indices.shape,
        lambda *i: x(*i[:axis], in_range(indices(*i), x.shape[axis]), *i[axis + 1 :]),
        name="gather_elements",
    )


@operator
def gather_nd(x: Tensor, indices: Tensor, *, batch_dims: int) -> Tensor:
    """The slices that tuples of indices name."""
    tuples = indices.ndim - 1
    length = indices.shape[-1]
    if not isinstance(length, int):
        raise ValueError(f"gather_nd: expected tuples of indices of a known length, got {length}")
    shape = [*indices.shape[:-1], *x.shape[batch_dims + length :]]

    def element(*axes: Any) -> Expr:
        named = [in_range(indices(*axes[:tuples], d), x.shape[batch_dims + d]) for d in range(length)]
        return x(*axes[:batch_dims], *named, *axes[tuples:])

    return te.compute(shape, element, name="gather_nd")


@operator
def reverse_sequence(x: Tensor, lengths: Tensor, *, time_axis: int, batch_axis: int) -> Tensor:
    """The first elements of each sequence in reverse order."""

    def element(*axes: Any) -> Expr:
        length, time = lengths(axes[batch_axis]), axes[time_axis]
        place = te.select(time < length, length - 1 - time, time)
        return x(*axes[:time_axis], in_range(place, x.shape[time_axis]), *axes[time_axis + 1 :])

    return te.compute(x.shape, element, name="reverse_sequence")


@operator
def trilu(x: Tensor, *, k: int, upper: bool) -> Tensor:
    """The upper or lower triangle of matrices, 0 elsewhere."""
    zero = te.const(False if x.dtype == "bool" else 0, x.dtype)

    def element(*axes: Any) -> Expr:
        row, column = axes[-2], axes[-1]
        inside = column >= row + k if upper else column <= row + k
        return te.select(inside, x(*axes), zero)

    return te.compute(x.shape, element, name="trilu")
