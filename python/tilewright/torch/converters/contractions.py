"""Matmuls and convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph import Value
from ...graph.operators.common import accumulator
from ..call import Call, converter

__all__ = ["known_filters"]


def _matmul(call: Call, a: Value, b: Value, to: str) -> Value:
    return call.op("matmul", a, b, acc=call.builder.accumulator("matmul", call.dtype), to=to)


@converter("mm.default", "bmm.default")
def _mm(call: Call, a: Value, b: Value) -> Value:
    return _matmul(call, a, b, call.dtype)


@converter("_int_mm.default")
def _int_mm(call: Call, a: Value, b: Value) -> Value:
    return call.op("matmul", a, b, acc="int32", to="int32")


@converter("mv.default")
def _mv(call: Call, a: Value, b: Value) -> Value:
    return call.reshape(_matmul(call, a, call.reshape(b, [*b.shape, 1]), call.dtype), call.shape)


@converter("dot.default", "vdot.default")
def _dot(call: Call, a: Value, b: Value) -> Value:
    left, right = call.reshape(a, [1, *a.shape]), call.reshape(b, [*b.shape, 1])
    return call.reshape(_matmul(call, left, right, call.dtype), [])


@converter("addmm.default", "baddbmm.default")
def _addmm(call: Call, c: Value, a: Value, b: Value, beta: Any, alpha: Any) -> Value:
    wide = accumulator(call.dtype)
    result = _matmul(call, a, b, wide)
    if alpha != 1:
        result = call.op("mul", result, call.constant(alpha, wide))
    if beta == 0:
        return call.cast(result, call.dtype)
    c = call.cast(c, wide)
    if beta != 1:
        c = call.op("mul", c, call.constant(beta, wide))
    return call.cast(call.op("add", result, c), call.dtype)


def known_filters(call: Call, w: Value) -> None:
    """Refuses filters whose size is symbolic: the transpose of a convolution has a filter for each phase."""
    for extent in w.shape[2:]:
        call.number(extent, "the filters' size")


@converter("convolution.default")
def _convolution(
    call: Call, x: Value, w: Value, bias: Value | None, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], transposed: bool, output_padding: Sequence[int], groups: int,
) -> Value:  # fmt: skip
    rank = w.rank - 2
    unbatched = x.rank == w.rank - 1
    if unbatched:
        x = call.reshape(x, [1, *x.shape])

    def each(values: Sequence[int]) -> list[int]:
        return [call.number(one, "padding") for one in (values if len(values) == rank else list(values) * rank)]

    if transposed:
        known_filters(call, w)
    before = each(padding)
    after = [low - more for low, more in zip(before, each(output_padding))] if transposed else before
    wide = accumulator(call.dtype)
    to = wide if bias is not None else call.dtype
    result = call.op(
        "conv_transpose" if transposed else "conv", x, w, strides=each(stride), before=before, after=list(after),
        dilations=each(dilation), groups=groups, acc=call.builder.accumulator("conv", call.dtype), to=to,
    )  # fmt: skip
    if bias is not None:
        channels = call.cast(call.reshape(bias, [*bias.shape, *[1] * rank]), wide)
        result = call.cast(call.op("add", result, channels), call.dtype)
    return call.reshape(result, call.shape) if unbatched else result


def _distance(call: Call, away: Value, p: float) -> Value:
    """The norm of the last dimension."""
    size = call.op("abs", away)
    axes = [away.rank - 1]
    if p == float("inf"):
        return call.op("reduce_max", size, axes=axes, keepdims=False)
    if p == 0:
        ones = call.cast(call.op("not_equal", size, call.constant(0, size)), size.dtype)
        return call.op("reduce_sum", ones, axes=axes, keepdims=False)
    if p == 1:
        return call.op("reduce_sum", size, axes=axes, keepdims=False)
    if p == 2:
        return call.op("sqrt", call.op("reduce_sum", call.op("mul", away, away), axes=axes, keepdims=False))
    total = call.op("reduce_sum", call.op("pow", size, call.constant(p, size)), axes=axes, keepdims=False)
    return call.op("pow", total, call.constant(1 / p, total))


@converter("_cdist_forward.default")
def _cdist(call: Call, a: Value, b: Value, p: float, mode: int | None) -> Value:
    del mode
    left = call.reshape(a, [*a.shape[:-1], 1, a.shape[-1]])
    right = call.reshape(b, [*b.shape[:-2], 1, *b.shape[-2:]])
    return _distance(call, call.op("sub", left, right), p)


@converter("_pdist_forward.default")
def _pdist(call: Call, x: Value, p: float) -> Value:
    rows, columns = np.triu_indices(call.number(x.shape[0], "the rows"), 1)
    if len(rows) < 2:
        raise call.error(f"expected at least 3 rows, got {x.shape[0]}")
    left = call.op("gather", x, call.array(rows), axis=0)
    return _distance(call, call.op("sub", left, call.op("gather", x, call.array(columns), axis=0)), p)


@converter("_grouped_mm.default", "transformers.grouped_mm_fallback.default")
def _grouped_mm(
    call: Call, x: Value, weight: Value, ends: Value | None, bias: Value | None = None, *_: Any
) -> Value:  # fmt: skip
    """Each row times the matrix of its group; or of two matrices, for each group its columns times its rows."""
    if ends is None or bias is not None or x.rank != 2 or weight.rank not in (2, 3):
        raise call.error("expected a matrix, matrices of groups, where each group ends, and no bias")
    if weight.rank == 2:
        columns = call.op("transpose", x, permutation=[1, 0])
        return call.cast(_of_each_group(call, columns, weight, ends), call.dtype)
    return call.cast(_by_groups(call, x, weight, ends, "sk,skn->sn"), call.dtype)


@converter("transformers.grouped_mm_fallback_backward.default")
def _grouped_mm_gradients(call: Call, x: Value, weight: Value, ends: Value, gradient: Value) -> list[Value]:
    to_x = _by_groups(call, gradient, weight, ends, "sn,skn->sk")
    return [call.cast(to_x, x.dtype), call.cast(_of_each_group(call, x, gradient, ends), weight.dtype)]


def _groups(call: Call, rows: Any, ends: Value) -> Value:
    """The group of each row: the number of groups that end at the row or before."""
    places = call.op("iota", shape=[rows, 1], axis=0, to=ends.dtype)
    over = call.op("less_equal", call.reshape(ends, [1, *ends.shape]), places)
    return call.op("reduce_sum", call.cast(over, "int64"), axes=[1], keepdims=False)


def _by_groups(call: Call, x: Value, weight: Value, ends: Value, equation: str) -> Value:
    """Each row times the matrix of its group, and zeros behind the last group."""
    group, acc = _groups(call, x.shape[0], ends), accumulator(x.dtype)
    matrices = call.cast(call.op("gather", weight, group, axis=0), acc)
    made = call.op("einsum", call.cast(x, acc), matrices, equation=equation)
    beyond = call.op("greater_equal", group, call.constant(weight.shape[0], "int64"))
    return call.op("where", call.reshape(beyond, [x.shape[0], 1]), call.constant(0, made), made)


def _of_each_group(call: Call, a: Value, b: Value, ends: Value) -> Value:
    """For each group the transposed rows of `a` times the rows of `b`, which are of the group."""
    (count,), rows, acc = ends.shape, a.shape[0], accumulator(a.dtype)
    numbers = call.op("iota", shape=[count, 1], axis=0, to="int64")
    own = call.op("equal", call.reshape(_groups(call, rows, ends), [1, rows]), numbers)
    own = call.reshape(own, [count, rows, 1])
    # Zeros in both: the other rows may have infinities.
    alone = [call.op("where", own, call.cast(one, acc), call.constant(0, acc)) for one in (a, b)]
    return call.op("einsum", *alone, equation="gsk,gsn->gkn")
