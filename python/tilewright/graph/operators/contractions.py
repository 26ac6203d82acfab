"""Contractions: matmul, einsum and convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ...errors import TilewrightValueError as ValueError
from ...te import Expr, Tensor
from .common import Extent, at, broadcast_shapes, digits, elements, is_one, operator, same, sums_in, untransposed
from .movement import padded


def _as(value: Expr, dtype: str) -> Expr:
    return value if value.dtype == dtype else value.astype(dtype)


def _rounded(total: Tensor, to: str, name: str) -> Tensor:
    """A contraction in the type of its result."""
    return total if total.dtype == to else te.compute(total.shape, lambda *i: total(*i).astype(to), name=name)


@operator
def matmul(a: Tensor, b: Tensor, *, acc: str, to: str) -> Tensor:
    """Matmul of the last two dimensions, accumulated in `acc`; the others are broadcast. An `acc` of "tf32" is float32
    whose factors tensor cores may round."""
    if not same(a.shape[-1], b.shape[-2]):
        raise ValueError(f"expected as many rows of b as columns of a, {a.shape[-1]}, got {b.shape[-2]}")
    batch = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    k = te.reduce_axis((0, a.shape[-1]), name="k")
    sums, notes = sums_in(acc)

    def read(tensor: Tensor, outer: Sequence[Any], row: Any, column: Any) -> Expr:
        shape = [*batch, *tensor.shape[-2:]]
        # Schedules for tensor cores read either layout of an operand where it is.
        return _as(untransposed(at(tensor, [*outer, row, column], shape)), sums)

    def value(*i: Any) -> Expr:
        *outer, row, column = i
        return te.sum(read(a, outer, row, k) * read(b, outer, k, column), axis=k)

    total = te.compute([*batch, a.shape[-2], b.shape[-1]], value, name="matmul", attrs=notes)
    return _rounded(total, to, "matmul_cast")


@operator
def einsum(*inputs: Tensor, equation: str) -> Tensor:
    """The sum of products that an equation in Einstein's notation gives; `...` is not in it any more."""
    left, right = equation.replace(" ", "").split("->")
    extents: dict[str, Extent] = {}
    for term, tensor in zip(left.split(","), inputs):
        for letter, extent in zip(term, tensor.shape):
            if letter not in extents or is_one(extents[letter]):
                extents[letter] = extent
            elif not is_one(extent) and not same(extent, extents[letter]):
                raise ValueError(f"einsum: {letter!r}: expected {extents[letter]}, got {extent}")
    reduced = {c: te.reduce_axis((0, e), name=f"k_{c}") for c, e in extents.items() if c not in right}

    def value(*i: Any) -> Expr:
        place: dict[str, Any] = dict(zip(right, i)) | reduced
        product: Any = None
        for term, tensor in zip(left.split(","), inputs):
            read = tensor(*[
                0 if is_one(extent) and not is_one(extents[letter]) else place[letter]
                for letter, extent in zip(term, tensor.shape)
            ])  # fmt: skip
            product = read if product is None else product * read
        return te.sum(product, axis=list(reduced.values())) if reduced else product

    return te.compute([extents[letter] for letter in right], value, name="einsum")


def window_extents(
    shape: Sequence[Extent], kernel: Sequence[Extent], strides: Sequence[int], before: Sequence[int],
    after: Sequence[int], dilations: Sequence[int],
) -> list[Extent]:  # fmt: skip
    """How many windows there are along each spatial dimension.

    >>> window_extents((7,), (3,), (2,), (1,), (1,), (1,))
    [4]
    """
    result: list[Extent] = []
    for extent, size, stride, low, high, dilation in zip(shape, kernel, strides, before, after, dilations):
        room = extent + (low + high) - (size - 1) * dilation - 1
        if isinstance(room, int):
            result.append(max(room // stride + 1, 0))
        else:
            result.append((room if stride == 1 else room // stride) + 1)
    return result


def places(axes: Sequence[Any], offsets: Sequence[Any], strides: Sequence[int], dilations: Sequence[int]) -> list[Any]:
    """Where the elements of a window are: the window's axes and those within it."""
    return [
        (axis if stride == 1 else axis * stride) + (offset if dilation == 1 else offset * dilation)
        for axis, offset, stride, dilation in zip(axes, offsets, strides, dilations)
    ]


@operator
def conv(
    x: Tensor, w: Tensor, *, strides: Sequence[int], before: Sequence[int], after: Sequence[int],
    dilations: Sequence[int], groups: int, acc: str, to: str, by_threads: bool,
) -> Tensor:  # fmt: skip
    """Convolution of images NC… with filters OI…, accumulated in `acc`."""
    extents = window_extents(x.shape[2:], w.shape[2:], strides, before, after, dilations)
    in_phases = not by_threads and strides[-1] > 1 and isinstance(x.shape[-1], int)
    if in_phases:
        image = _phases(x, strides[-1], before, after)
    else:
        image = padded(x, [0, 0, *before], [0, 0, *after], te.const(0, x.dtype), "conv_padded")
    # Filters of a group share what they read: for a processor groups are an axis of their own.
    by_groups = not by_threads and groups > 1 and not same(w.shape[0], groups)
    made = convolution(
        image, w, extents, strides, dilations, groups, acc, to, "conv", by_groups=by_groups, in_phases=in_phases
    )
    if not by_groups:
        return made
    each = w.shape[0] // groups

    def filter_of_group(n: Any, o: Any, *at: Any) -> Expr:
        return made(n, o // each, o % each, *at)

    return te.compute([made.shape[0], w.shape[0], *extents], filter_of_group, name="conv_filters")


def _phases(x: Tensor, stride: int, before: Sequence[int], after: Sequence[int]) -> Tensor:
    """The padded images NC…, whose rows are stride x numbers: first all pixels at multiples of the stride. So what
    neighbours in a row of results read lies together."""
    *heights, length = [size + low + high for size, low, high in zip(x.shape[2:], before, after)]
    assert isinstance(length, int)

    def pixel(n: Any, c: Any, *at: Any) -> Expr:
        *found, phase, number = at
        found, inside = [*found, number * stride + phase], list[Expr]()
        for d, (low, high, size) in enumerate(zip(before, after, x.shape[2:])):
            inside += [found[d] >= low] if low > 0 else []
            found[d] = found[d] - low if low else found[d]
            if high > 0 or d == len(heights) and length % stride:
                inside.append(found[d] < size)
        read = x(n, c, *found)
        return te.if_then_else(te.all(*inside), read, te.const(0, x.dtype)) if inside else read

    return te.compute([*x.shape[:2], *heights, stride, -(-length // stride)], pixel, name="conv_phases")


def conv_of_channels_last(
    x: Tensor, w: Tensor, *, strides: Sequence[int], before: Sequence[int], after: Sequence[int],
    dilations: Sequence[int], groups: int, acc: str, to: str,
) -> Tensor:  # fmt: skip
    """`conv` of images N…C, whose result is N…O."""
    extents = window_extents(x.shape[1:-1], w.shape[2:], strides, before, after, dilations)
    image = padded(x, [0, *before, 0], [0, *after, 0], te.const(0, x.dtype), "conv_padded")
    return convolution(image, w, extents, strides, dilations, groups, acc, to, "conv", channels_last=True)


def conv_of_channels_together(
    x: Tensor, w: Tensor, *, strides: Sequence[int], before: Sequence[int], after: Sequence[int],
    dilations: Sequence[int], acc: str, to: str, filters_last: bool,
) -> Tensor:  # fmt: skip
    """`conv_of_channels_last` with filters …IO if those are last, and else O…I, in one group."""
    sizes, filters = (w.shape[:-2], w.shape[-1]) if filters_last else (w.shape[1:-1], w.shape[0])
    extents = window_extents(x.shape[1:-1], sizes, strides, before, after, dilations)
    image = padded(x, [0, *before, 0], [0, *after, 0], te.const(0, x.dtype), "conv_padded")
    window = [te.reduce_axis((0, size), name=f"k{d}") for d, size in enumerate(sizes)]
    channel = te.reduce_axis((0, x.shape[-1]), name="channel")
    sums, notes = sums_in(acc)

    def value(n: Any, *at: Any) -> Expr:
        pixel = image(n, *places(at[:-1], window, strides, dilations), channel)
        weight = w(*window, channel, at[-1]) if filters_last else w(at[-1], *window, channel)
        return te.sum(_as(pixel, sums) * _as(weight, sums), axis=[*window, channel])

    total = te.compute([x.shape[0], *extents, filters], value, name="conv", attrs=notes)
    return _rounded(total, to, "conv_cast")


@operator
def windows(
    x: Tensor, *, kernel: Sequence[int], strides: Sequence[int], before: Sequence[int], after: Sequence[int],
    dilations: Sequence[int],
) -> Tensor:  # fmt: skip
    """The windows of images N…C, one a row: its places one behind the other, with the channels of each together."""
    sizes, channels = x.shape[1:-1], x.shape[-1]
    extents = window_extents(sizes, kernel, strides, before, after, dilations)

    def element(row: Any, column: Any) -> Expr:
        image, *first = digits(row, [x.shape[0], *extents])
        *offsets, channel = digits(column, [*kernel, channels])
        found = places(first, offsets, strides, dilations)
        inside: list[Expr] = []
        for d, (low, size, count) in enumerate(zip(before, sizes, extents)):
            found[d] = found[d] - low if low else found[d]
            inside += [found[d] >= 0] if low > 0 else []
            if (count - 1) * strides[d] + (kernel[d] - 1) * dilations[d] - low >= size:
                inside.append(found[d] < size)
        read = x(image, *found, channel)
        return te.if_then_else(te.all(*inside), read, te.const(0, x.dtype)) if inside else read

    return te.compute([elements([x.shape[0], *extents]), elements([*kernel, channels])], element, name="windows")


def convolution(
    image: Tensor, w: Tensor, extents: Sequence[Extent], strides: Sequence[int], dilations: Sequence[int],
    groups: int, acc: str, to: str, name: str, *, channels_last: bool = False, by_groups: bool = False,
    in_phases: bool = False,
) -> Tensor:  # fmt: skip
    """A convolution of what is padded already, of images NC… or, with channels last, N…C.

    `by_groups`, the result is N, groups, channels of a group, …. `in_phases`, a row of an image is stride x numbers:
    first all pixels at multiples of the stride.
    """
    channel = te.reduce_axis((0, w.shape[1]), name="channel")
    window = [te.reduce_axis((0, size), name=f"k{d}") for d, size in enumerate(w.shape[2:])]
    each = w.shape[0] // groups

    def places_of(at: Sequence[Any]) -> list[Any]:
        found = places(at, window, strides, dilations)
        if in_phases:
            offset = window[-1] * dilations[-1]
            found[-1:] = [te.indexmod(offset, strides[-1]), at[-1] + te.indexdiv(offset, strides[-1])]
        return found

    sums, notes = sums_in(acc)
    if by_groups:
        inputs = w.shape[1]

        def of_group(n: Any, g: Any, o: Any, *at: Any) -> Expr:
            pixel = image(n, g * inputs + channel, *places_of(at))
            weight = w(g * each + o, channel, *window)
            return te.sum(_as(pixel, sums) * _as(weight, sums), axis=[channel, *window])

        total = te.compute([image.shape[0], groups, each, *extents], of_group, name=name, attrs=notes)
        return _rounded(total, to, f"{name}_cast")
    shape = [*extents, w.shape[0]] if channels_last else [w.shape[0], *extents]

    def value(n: Any, *at: Any) -> Expr:
        o, i = (at[-1], at[:-1]) if channels_last else (at[0], at[1:])
        read = channel if groups == 1 else (o // each) * w.shape[1] + channel
        if groups > 1 and same(w.shape[1], 1):
            read = o if same(each, 1) else o // each
        at_ = places_of(i)
        pixel = image(n, *at_, read) if channels_last else image(n, read, *at_)
        # What is summed goes through images as they lie in memory.
        axes = [*window, channel] if channels_last else [channel, *window]
        return te.sum(_as(pixel, sums) * _as(w(o, channel, *window), sums), axis=axes)

    total = te.compute([image.shape[0], *shape], value, name=name, attrs=notes)
    return _rounded(total, to, f"{name}_cast")
