"""Pooling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph import Value
from ...graph.operators.common import accumulator
from ..call import Call, converter, of_shape


def _each(values: Sequence[int], rank: int) -> list[int]:
    return [int(one) for one in values] * (rank if len(values) == 1 else 1)


class _Windows:
    """The windows of a pooling of images, to which a batch is added where there is none."""

    def __init__(
        self, call: Call, x: Value, rank: int, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int],
        dilation: Sequence[int], ceil_mode: bool,
    ) -> None:  # fmt: skip
        self.x = call.reshape(x, [1, *x.shape]) if x.rank == rank + 1 else x
        self.kernel, self.padding = _each(kernel, rank), _each(padding, rank)
        self.strides = _each(stride, rank) if stride else self.kernel
        self.dilations = _each(dilation, rank)
        self.after = list(self.padding)
        for d, extent in enumerate(self.x.shape[2:]):
            if ceil_mode and not isinstance(extent, int):
                self.after[d] += self.strides[d] - 1  # one window more than there may be: `made` leaves it out
            elif ceil_mode:
                size = int(extent)
                reach = (self.kernel[d] - 1) * self.dilations[d] + 1
                room = size + 2 * self.padding[d]
                count = math.ceil((room - reach) / self.strides[d]) + 1
                if (count - 1) * self.strides[d] >= size + self.padding[d]:
                    count -= 1
                self.after[d] += max((count - 1) * self.strides[d] + reach - room, 0)

    def made(self, call: Call, x: Value) -> Value:
        """What windows make, of those that PyTorch has."""
        return of_shape(call, x, [*x.shape[:2], *call.shape[-len(self.kernel) :]])

    @property
    def attributes(self) -> dict[str, Any]:
        return {
            "kernel": self.kernel, "strides": self.strides, "before": self.padding, "after": self.after,
            "dilations": self.dilations,
        }  # fmt: skip


def _max_pool(rank: int) -> Any:
    def convert(
        call: Call, x: Value, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int],
        dilation: Sequence[int], ceil_mode: bool,
    ) -> Any:  # fmt: skip
        windows = _Windows(call, x, rank, kernel, stride, padding, dilation, ceil_mode)
        best = windows.made(call, call.op("max_pool", windows.x, **windows.attributes))
        places = windows.made(call, call.op("max_pool_indices", windows.x, **windows.attributes, column_major=False))
        count: Any = 1
        for extent in windows.x.shape[2:]:
            count = count * extent
        inside = call.op("mod", places, call.constant(count, places))
        return call.reshape(best, call.shape), call.reshape(inside, call.shape)

    return convert


def _avg_pool(rank: int) -> Any:
    def convert(
        call: Call, x: Value, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], ceil_mode: bool,
        count_include_pad: bool, divisor_override: int | None = None,
    ) -> Value:  # fmt: skip
        wide = accumulator(call.dtype)
        windows = _Windows(call, x, rank, kernel, stride, padding, [1], ceil_mode)
        total = windows.made(call, call.op("sum_pool", call.cast(windows.x, wide), **windows.attributes))
        if divisor_override:
            count = call.constant(divisor_override, wide)
        elif not any(windows.padding) and windows.after == windows.padding:
            count = call.constant(math.prod(windows.kernel), wide)
        elif all(isinstance(extent, int) for extent in windows.x.shape[2:]):
            counts = _counts(windows, count_include_pad)
            count = call.array(counts.astype(np.dtype(wide))[None, None])
            if count.rank != total.rank:
                count = call.reshape(count, counts.shape)
        else:
            count = call.cast(_symbolic_counts(call, windows, total.shape[2:], count_include_pad), wide)
        if "float" in wide:
            return call.cast(call.reshape(call.op("div", total, count), call.shape), call.dtype)
        return call.reshape(call.op("div", total, count), call.shape)

    return convert


def _counts(windows: _Windows, include_pad: bool) -> np.ndarray:
    """How many elements each window has that count."""
    total = np.ones((), np.int64)
    for d, extent in enumerate(windows.x.shape[2:]):
        size, low, stride, kernel = int(extent), windows.padding[d], windows.strides[d], windows.kernel[d]
        count = (size + low + windows.after[d] - kernel) // stride + 1
        begin = np.arange(count) * stride - low
        end = np.minimum(begin + kernel, size + low if include_pad else size)
        begin = begin if include_pad else np.maximum(begin, 0)
        total = total[..., None] * (end - begin)
    return total


def _symbolic_counts(call: Call, windows: _Windows, made: Sequence[Any], include_pad: bool) -> Value:
    """`_counts` of an image whose extents are symbolic, and so are those that are made."""
    total = call.constant(1, "int64")
    for d, (size, count) in enumerate(zip(windows.x.shape[2:], made)):
        low = windows.padding[d]
        begin = _progression(call, count, windows.strides[d], -low)
        last = call.constant(size + low if include_pad else size, "int64")
        end = call.op("min", call.op("add", begin, call.constant(windows.kernel[d], "int64")), last)
        begin = begin if include_pad else call.op("max", begin, call.constant(0, "int64"))
        along = call.reshape(call.op("sub", end, begin), [count, *[1] * (len(made) - 1 - d)])
        total = call.op("mul", total, along)
    return total


def _progression(call: Call, count: Any, step: Any, first: int = 0) -> Value:
    """Integers, each a step more than the one before."""
    places = call.op("mul", call.op("iota", shape=[count], axis=0, to="int64"), call.constant(step, "int64"))
    return call.op("add", places, call.constant(first, "int64"))


for _rank in (1, 2, 3):
    converter(f"max_pool{_rank}d_with_indices.default")(_max_pool(_rank))
    converter(f"avg_pool{_rank}d.default")(_avg_pool(_rank))


@converter("_adaptive_avg_pool2d.default", "_adaptive_avg_pool3d.default", "adaptive_avg_pool1d.default")
def _adaptive(call: Call, x: Value, sizes: Sequence[int]) -> Value:
    rank = len(sizes)
    wide = accumulator(call.dtype)
    result = call.cast(x, wide)
    for d, size in enumerate(sizes, x.rank - rank):
        extent = x.shape[d]
        if extent == size:
            continue
        # Means of segments of one dimension: a matmul with a matrix of their weights.
        matrix = _segments(call, size, extent, wide)
        letters = "abcdefg"[: x.rank]
        out = letters.replace(letters[d], "z")
        result = call.op("einsum", result, matrix, equation=f"{letters},z{letters[d]}->{out}")
    return call.cast(result, call.dtype)


def _segments(call: Call, size: int, extent: Any, dtype: str) -> Value:
    """The weights of the elements of a dimension in the means of its segments."""
    if isinstance(extent, int):
        weights = np.zeros((size, extent), np.float64)
        for i in range(size):
            begin, end = i * extent // size, -(-(i + 1) * extent // size)
            weights[i, begin:end] = 1 / (end - begin)
        return call.reshape(call.array(weights.astype(np.dtype(dtype))), weights.shape)
    count = call.constant(size, "int64")
    begin = call.reshape(call.op("div", _progression(call, size, extent), count), [size, 1])
    end = call.op("add", _progression(call, size, extent, size - 1), call.constant(extent, "int64"))
    end = call.reshape(call.op("div", end, count), [size, 1])
    places = _progression(call, extent, 1)
    inside = call.op("and", call.op("less_equal", begin, places), call.op("less", places, end))
    share = call.op("div", call.constant(1, dtype), call.cast(call.op("sub", end, begin), dtype))
    return call.op("where", inside, share, call.constant(0, dtype))
