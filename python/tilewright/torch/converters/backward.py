"""Gradients of convolutions, which are convolutions, and of pooling."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from ...graph import Value
from ...graph.operators.common import accumulator
from ..call import Call, converter
from .contractions import known_filters


def _swapped(call: Call, x: Value) -> Value:
    return call.op("transpose", x, permutation=[1, 0, *range(2, x.rank)])


@converter("convolution_backward.default")
def _convolution_backward(
    call: Call, grad: Value, x: Value, w: Value, bias_sizes: Any, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], transposed: bool, output_padding: Sequence[int], groups: int, mask: Sequence[bool],
) -> Any:  # fmt: skip
    del bias_sizes
    rank = w.rank - 2
    if x.rank != w.rank:
        raise call.error("expected the gradient of a convolution of a batch")
    strides, before, dilations = (
        [int(one) for one in (each if len(each) == rank else list(each) * rank)] for each in (stride, padding, dilation)
    )
    wide, acc = accumulator(x.dtype), call.builder.accumulator("conv", x.dtype)
    dx = dw = db = None
    after: list[int]
    if mask[0] and transposed:
        after = [low - int(more) for low, more in zip(before, output_padding)]
        images = _cut(call, grad, after)
        dx = call.op(
            "conv", images, w, strides=strides, before=before, after=[max(one, 0) for one in after],
            dilations=dilations, groups=groups, acc=acc, to=x.dtype,
        )  # fmt: skip
    elif mask[0]:
        known_filters(call, w)
        # As many rows as x has: those that no window reaches get zeros.
        after = []
        for d in range(rank):
            made = (grad.shape[2 + d] - 1) * strides[d] + (w.shape[2 + d] - 1) * dilations[d] + 1 - before[d]
            rest = made - x.shape[2 + d]
            # Windows do not reach up to stride - 1 rows. How many is not known of symbolic extents; some rows are cut.
            after.append(rest if isinstance(rest, int) else before[d] - (strides[d] - 1))
        dx = call.op(
            "conv_transpose", grad, w, strides=strides, before=before, after=after, dilations=dilations,
            groups=groups, acc=acc, to=x.dtype,
        )  # fmt: skip
        dx = _first(call, dx, [*dx.shape[:2], *x.shape[2:]])
    if mask[1]:
        grads, images = (x, grad) if transposed else (grad, x)
        dw = _filters(call, grads, images, w, strides, before, dilations, groups, acc)
    if mask[2]:
        axes = [0, *range(2, grad.rank)]
        db = call.cast(call.op("reduce_sum", call.cast(grad, wide), axes=axes, keepdims=False), x.dtype)
    return dx, dw, db


def _filters(
    call: Call, grad: Value, x: Value, w: Value, strides: list[int], before: list[int], dilations: list[int],
    groups: int, acc: str,
) -> Value:  # fmt: skip
    """The gradient of the filters: x with the batch as its channels, convolved with the gradient, for all groups."""
    rank = w.rank - 2
    inputs, outputs = w.shape[1], w.shape[0] // groups
    after: list[int] = []
    for d in range(rank):
        reach = (grad.shape[2 + d] - 1) * strides[d] + 1
        rest = (w.shape[2 + d] - 1) * dilations[d] + reach - (x.shape[2 + d] + before[d])
        # Of symbolic extents all rows are taken, and those of the result behind the filter are cut.
        after.append(rest if isinstance(rest, int) else before[d])
    images, grads, batch = _cut(call, x, after), grad, x.shape[0]
    if groups == 1:
        images, grads = _swapped(call, images), _swapped(call, grads)
    else:
        image, reach = list(images.shape[2:]), list(grads.shape[2:])
        images = _regrouped(call, images, [batch, groups, inputs], [2, 1, 0], [inputs, batch * groups, *image])
        grads = _regrouped(call, grads, [batch, groups, outputs], [1, 2, 0], [groups * outputs, batch, *reach])
    made = call.op(
        "conv", images, grads, strides=dilations, before=before, after=[max(one, 0) for one in after],
        dilations=strides, groups=groups, acc=acc, to=w.dtype,
    )  # fmt: skip
    made = _first(call, made, [*made.shape[:2], *w.shape[2:]])
    if groups == 1:
        return _swapped(call, made)
    return _regrouped(call, made, [inputs, groups, outputs], [1, 2, 0], w.shape)


def _regrouped(call: Call, x: Value, split: list[Any], order: list[int], shape: Sequence[Any]) -> Value:
    """A tensor whose first dimensions are split, put in another order, and joined as `shape` says."""
    rest = list(x.shape[2:])
    parts = call.reshape(x, [*split, *rest])
    moved = call.op("transpose", parts, permutation=[*order, *range(len(order), len(order) + len(rest))])
    return call.reshape(moved, shape)


def _cut(call: Call, images: Value, after: Sequence[int]) -> Value:
    """Images without the last places of their dimensions, where the padding behind these is negative."""
    if min(after) >= 0:
        return images
    return _first(call, images, [*images.shape[:2], *(e - max(-one, 0) for e, one in zip(images.shape[2:], after))])


def _first(call: Call, x: Value, sizes: Sequence[Any]) -> Value:
    """The first places of each dimension, as many as `sizes` says."""
    if list(map(str, sizes)) == list(map(str, x.shape)):
        return x
    return call.op("slice", x, starts=[0] * x.rank, steps=[1] * x.rank, sizes=list(sizes))


_MOST_WINDOWS = 16
"""Elements of an image look for their gradient in so many windows at most."""


@converter("max_pool2d_with_indices_backward.default")
def _max_pool_backward(
    call: Call, grad: Value, x: Value, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], ceil_mode: bool, places: Value,
) -> Value:  # fmt: skip
    del ceil_mode
    windows = [list(one) * (2 if len(one) == 1 else 1) for one in (kernel, stride or kernel, padding, dilation)]
    of_each = [-(-reach // step) for reach, step in zip(*windows[:2])]
    is_known = all(isinstance(one, int) for one in (*x.shape[-2:], *grad.shape[-2:]))
    if windows[3] == [1, 1] and is_known and of_each[0] * of_each[1] <= _MOST_WINDOWS:
        return _of_windows_of_each(call, grad, x, windows, places, of_each)
    outer, image, pooled = list(x.shape[:-2]), 1, 1
    for extent in x.shape[-2:]:
        image = image * extent
    for extent in grad.shape[-2:]:
        pooled = pooled * extent
    wide = accumulator(x.dtype)
    zeros = call.op("expand", call.constant(0, wide), shape=[*outer, image])
    updates = call.reshape(call.cast(grad, wide), [*outer, pooled])
    flat = call.reshape(places, [*outer, pooled])
    made = call.op("scatter_elements", zeros, flat, updates, axis=len(outer), reduction="add")
    return call.cast(call.reshape(made, x.shape), x.dtype)


def _of_windows_of_each(
    call: Call, grad: Value, x: Value, windows: Sequence[Sequence[int]], places: Value, of_each: Sequence[int]
) -> Value:  # fmt: skip
    """The gradient of an image's element: of all windows that it is in, those whose largest it is. `windows` are the
    kernel, the distances and the padding; of each dimension an element is in up to `of_each` windows."""
    _, stride, padding, _ = windows
    wide, outer = accumulator(x.dtype), list(x.shape[:-2])
    grad = call.cast(grad, wide)
    sizes, counts = ([call.number(one, "the extents of images") for one in of.shape[-2:]] for of in (x, grad))
    own = call.reshape(call.op("iota", shape=[sizes[0] * sizes[1]], axis=0, to="int64"), sizes)
    total: Value | None = None
    for numbers in product(*map(range, of_each)):
        # Of the windows that begin at an element or before it, the one so many windows before the last.
        before = [number * step - low for number, step, low in zip(numbers, stride, padding)]
        after = [size - count * step - low for size, count, step, low in zip(sizes, counts, stride, before)]

        def spread(one: Value, rest: int, before: list[int] = before, after: list[int] = after) -> Value:
            (rows, columns), (down, along) = one.shape[-2:], stride
            one = call.reshape(one, [*outer, rows, 1, columns, 1])
            one = call.reshape(
                call.expand(one, [*outer, rows, down, columns, along]), [*outer, rows * down, columns * along]
            )
            around = [[*[0] * len(outer), *some] for some in (before, after)]
            return call.op("pad", one, call.constant(rest, one), before=around[0], after=around[1], mode="constant")

        is_largest = call.op("equal", spread(places, -1), own)
        part = call.op("where", is_largest, spread(grad, 0), call.constant(0, wide))
        total = part if total is None else call.op("add", total, part)
    assert total is not None  # a window has an element
    return call.cast(total, x.dtype)


def _spread(call: Call, grad: Value, matrices: Sequence[np.ndarray]) -> Value:
    """The transpose of weighted sums along each of the last dimensions, whose weights are matrices."""
    wide = accumulator(grad.dtype)
    result = call.cast(grad, wide)
    for d, matrix in enumerate(matrices, grad.rank - len(matrices)):
        letters = "abcdefg"[: grad.rank]
        out = letters.replace(letters[d], "z")
        weights = call.reshape(call.array(matrix.astype(np.dtype(wide))), matrix.shape)
        result = call.op("einsum", result, weights, equation=f"{letters},{letters[d]}z->{out}")
    return call.cast(result, grad.dtype)


@converter("_adaptive_avg_pool2d_backward.default", "_adaptive_avg_pool3d_backward.default")
def _adaptive_backward(call: Call, grad: Value, x: Value) -> Value:
    matrices: list[Any] = []
    rank = 3 if "3d" in call.target else 2
    for size, extent in zip(grad.shape[-rank:], x.shape[-rank:]):
        size, extent = call.number(size, "the gradient's extents"), call.number(extent, "the image's extents")
        weights = np.zeros((size, extent))
        for i in range(size):
            begin, end = i * extent // size, -(-(i + 1) * extent // size)
            weights[i, begin:end] = 1 / (end - begin)
        matrices.append(weights)
    return _spread(call, grad, matrices)


@converter("avg_pool2d_backward.default", "avg_pool3d_backward.default")
def _avg_pool_backward(
    call: Call, grad: Value, x: Value, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int],
    ceil_mode: bool, count_include_pad: bool, divisor_override: int | None,
) -> Value:  # fmt: skip
    del ceil_mode
    rank = 3 if "3d" in call.target else 2
    sizes, lows, strides = (
        list(one) * (rank if len(one) == 1 else 1) for one in (kernel, padding, stride or kernel)
    )  # fmt: skip
    matrices: list[Any] = []
    for d in range(rank):
        count = call.number(grad.shape[grad.rank - rank + d], "the gradient's extents")
        extent = call.number(x.shape[x.rank - rank + d], "the image's extents")
        weights = np.zeros((count, extent))
        for i in range(count):
            begin = i * strides[d] - lows[d]
            end = begin + sizes[d]
            whole = min(end, extent + lows[d]) - begin
            inside = slice(max(begin, 0), min(end, extent))
            number = whole if count_include_pad else inside.stop - inside.start
            weights[i, inside] = 1.0 if divisor_override else 1 / number
        matrices.append(weights / (divisor_override if divisor_override and d == 0 else 1))
    return _spread(call, grad, matrices)
