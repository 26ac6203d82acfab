"""Operations of random shapes, types and options: never refused, and right, on the simulator and on the processor."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright import ops, testing
from tilewright.runtime.ndarray import as_dtype

FLOATS = ("float32", "float16", "bfloat16")
FEW, MANY = 5, 200


class Draw:
    """Random decisions of a seed, and arrays of small integers, which all types hold."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def number(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high, endpoint=True))

    def of(self, *values: Any) -> Any:
        return values[self.number(0, len(values) - 1)]

    def shape(self, low: int, high: int, most: int = 12, least: int = 0) -> tuple[int, ...]:
        return tuple(self.number(least, most) for _ in range(self.number(low, high)))

    def array(self, shape: tuple[int, ...], dtype: str, largest: int = 3) -> Any:
        least = 0 if dtype.startswith("uint") else -largest
        return self.rng.integers(least, largest, shape, endpoint=True).astype(as_dtype(dtype))


Case = tuple[Callable[[str], Any], Any, float]
"""What computes it on a target, the exact result, and how far in units of rounding it may be off."""


def exact(x: Any) -> Any:
    return x.astype("float64")


def elementwise(d: Draw) -> Case:
    name, dtype = d.of("relu", "sigmoid", "silu", "tanh", "gelu"), d.of(*FLOATS)
    x = d.array(d.shape(0, 4), dtype)
    erf = np.vectorize(math.erf, otypes=["float64"])
    functions = {
        "relu": lambda v: np.maximum(v, 0), "sigmoid": lambda v: 1 / (1 + np.exp(-v)), "tanh": np.tanh,
        "silu": lambda v: v / (1 + np.exp(-v)), "gelu": lambda v: v / 2 * (1 + erf(v / 2**0.5)) if v.size else v,
    }  # fmt: skip
    return lambda t: getattr(ops, name)(x, target=t), functions[name](exact(x)), 4


def added(d: Draw) -> Case:
    shape, dtype = d.shape(0, 4), d.of(*FLOATS, "int32", "int8")
    other = tuple(1 if d.number(0, 2) == 0 else n for n in shape)[d.number(0, len(shape)) if shape else 0 :]
    x, y = d.array(shape, dtype), d.array(other, dtype)
    return lambda t: ops.add(x, y, target=t), exact(x) + exact(y), 1


def reduction(d: Draw) -> Case:
    shape, dtype = d.shape(1, 4, least=1), d.of(*FLOATS, "int32")
    name = d.of("sum", "max", "min", *(("mean",) if dtype in FLOATS else ()))
    axis = d.of(None, d.number(-len(shape), len(shape) - 1), tuple(range(d.number(1, len(shape)))))
    keepdims = d.of(False, True)
    x = d.array(shape, dtype, 1)
    value = getattr(np, name)(exact(x), axis=axis, keepdims=keepdims)
    return lambda t: getattr(ops, name)(x, axis=axis, keepdims=keepdims, target=t), value, 4


def place(d: Draw) -> Case:
    x = d.array(d.shape(1, 3, 40, 1), d.of(*FLOATS, "int32"))
    name, axis = d.of("argmax", "argmin"), d.number(-x.ndim, x.ndim - 1)
    return lambda t: getattr(ops, name)(x, axis=axis, target=t), getattr(np, name)(exact(x), axis=axis), 0


def running(d: Draw) -> Case:
    x = d.array(d.shape(1, 3), d.of("float32", "int32"))
    axis = d.number(-x.ndim, x.ndim - 1)
    return lambda t: ops.cumsum(x, axis=axis, target=t), exact(x).cumsum(axis), 0


def softmax(d: Draw) -> Case:
    x = d.array(d.shape(1, 4, 20), d.of(*FLOATS))
    axis, name = d.number(-x.ndim, x.ndim - 1), d.of("softmax", "log_softmax")
    largest = exact(x).max(axis, keepdims=True) if x.size else 0
    e = np.exp(exact(x) - largest)
    total = e.sum(axis, keepdims=True)
    value = e / total if name == "softmax" else exact(x) - largest - np.log(total)
    return lambda t: getattr(ops, name)(x, axis=axis, target=t), value, 8


def norm(d: Draw) -> Case:
    x = d.array(d.shape(1, 4, 20, 1), d.of(*FLOATS))
    axis, centred = d.number(-x.ndim, x.ndim - 1), d.of(False, True)
    gamma = d.array((x.shape[axis],), x.dtype.name) if d.number(0, 1) else None
    v = exact(x) - (exact(x).mean(axis, keepdims=True) if centred else 0)
    value = v / np.sqrt((v * v).mean(axis, keepdims=True) + 0.5)
    if gamma is not None:
        value = value * exact(gamma).reshape([-1 if place == axis % x.ndim else 1 for place in range(x.ndim)])
    call = ops.layer_norm if centred else ops.rms_norm
    return lambda t: call(x, gamma, axis=axis, epsilon=0.5, target=t), value, 16


def matmul(d: Draw) -> Case:
    dtype = d.of("float32", "float16", "bfloat16", "int8", "float8_e4m3fn")
    M, N, K = (d.of(d.number(0, 5), d.number(1, 40), 16 * d.number(1, 3)) for _ in range(3))
    batch = d.of((), (), (d.number(1, 3),))
    ta, tb = d.of(False, True), d.of(False, True)
    a = d.array((*batch, *((K, M) if ta else (M, K))), dtype)
    b = d.array((*batch, *((N, K) if tb else (K, N))), dtype)
    bias = d.array((N,), "float32") if dtype != "int8" and d.number(0, 1) else None
    value = (exact(a).swapaxes(-1, -2) if ta else exact(a)) @ (exact(b).swapaxes(-1, -2) if tb else exact(b))
    value = value + (exact(bias) if bias is not None else 0)
    return lambda t: ops.matmul(a, b, bias, transpose_a=ta, transpose_b=tb, target=t), value, 1


def vector(d: Draw) -> Case:
    dtype, M, K = d.of(*FLOATS), d.number(0, 40), d.number(0, 40)
    a, x, y = d.array((M, K), dtype), d.array((K,), dtype), d.array((M,), dtype)
    if d.number(0, 1):
        return lambda t: ops.matvec(a, x, target=t), exact(a) @ exact(x), 0
    return lambda t: ops.vecmat(y, a, target=t), exact(y) @ exact(a), 0


def layer(d: Draw) -> Case:
    dtype = d.of("float32", "float16", "bfloat16")
    x, N = d.array(d.shape(1, 3, 20), dtype), d.number(0, 40)
    w, bias = d.array((N, x.shape[-1]), dtype), d.array((N,), dtype)
    value = np.maximum(exact(x) @ exact(w).T + exact(bias), 0)
    return lambda t: ops.linear(x, w, bias, activation="relu", target=t), value, 1


def convolution(d: Draw) -> Case:
    dtype, rank = d.of(*FLOATS), d.number(1, 3)
    kernel, stride, pad, dilation = d.number(1, 4), d.number(1, 2), d.number(0, 2), d.number(1, 2)
    groups = d.of(1, 1, 2)
    c, f = groups * d.number(1, 3), groups * d.number(1, 3)
    size = dilation * (kernel - 1) + 1 + d.number(0, 4)
    x, w = d.array((d.number(1, 2), c, *[size] * rank), dtype, 1), d.array((f, c // groups, *[kernel] * rank), dtype, 1)
    padded = np.pad(exact(x), [(0, 0), (0, 0), *[(pad, pad)] * rank])
    out = (size + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
    value = np.zeros((x.shape[0], f, *[out] * rank))
    for one in range(f):
        g = one * groups // f
        for offset in np.ndindex(*[kernel] * rank):
            window = tuple(slice(o * dilation, o * dilation + (out - 1) * stride + 1, stride) for o in offset)
            part = padded[(slice(None), slice(g * c // groups, (g + 1) * c // groups), *window)]
            value[:, one] += np.tensordot(part, exact(w)[(one, slice(None), *offset)], ([1], [0]))
    options = {"stride": stride, "padding": pad, "dilation": dilation, "groups": groups}
    if d.number(0, 1):
        last = np.ascontiguousarray(np.moveaxis(x, 1, -1))
        return lambda t: ops.conv(last, w, layout="last", target=t, **options), np.moveaxis(value, 1, -1), 1
    return lambda t: ops.conv(x, w, target=t, **options), value, 1


def square(d: Draw) -> Case:
    dtype, kernel, c, f = d.of(*FLOATS), d.number(1, 4), d.number(0, 5), d.number(1, 9)
    size = d.number(kernel, 8)
    x, w = d.array((d.number(0, 2), c, size, size), dtype, 1), d.array((f, c, kernel, kernel), dtype, 1)
    margin = kernel // 2
    padded = np.pad(exact(x), [(0, 0), (0, 0), (margin, margin), (margin, margin)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), (2, 3))
    value = np.einsum("ncyxij,fcij->nfyx", windows, exact(w))
    if dtype == "float32":
        return lambda t: ops.conv2d(x, w, target=t), value, 0
    x, w = (np.ascontiguousarray(np.moveaxis(one, 1, -1)) for one in (x, w))
    return lambda t: ops.conv2d(x, w, target=t), np.moveaxis(value, 1, -1), 1


def pooled(d: Draw) -> Case:
    dtype, kernel = d.of(*FLOATS), d.number(1, 3)
    x = d.array((d.number(1, 2), d.number(1, 3), *[kernel + d.number(0, 5)] * 2), dtype)
    windows = np.lib.stride_tricks.sliding_window_view(exact(x), (kernel, kernel), (2, 3))[:, :, ::kernel, ::kernel]
    name = d.of("max_pool", "avg_pool")
    value = windows.max((-1, -2)) if name == "max_pool" else windows.mean((-1, -2))
    return lambda t: getattr(ops, name)(x, kernel=kernel, target=t), value, 2


def moved(d: Draw) -> Case:
    dtype = d.of(*FLOATS, "int8", "int64")
    x = d.array(d.shape(1, 4), dtype)
    axes = tuple(int(axis) for axis in d.rng.permutation(x.ndim))
    if d.number(0, 1):
        return lambda t: ops.permute(x, axes=axes, target=t), exact(x).transpose(axes), 0
    before, after = [d.number(0, 2) for _ in axes], [d.number(0, 2) for _ in axes]
    value = np.pad(exact(x), list(zip(before, after)), constant_values=1)
    return lambda t: ops.pad(x, before=before, after=after, value=1, target=t), value, 0


def gathered(d: Draw) -> Case:
    x = d.array(d.shape(1, 3, least=1), d.of(*FLOATS, "int8"))
    axis = d.number(0, x.ndim - 1)
    at = d.rng.integers(0, x.shape[axis], d.shape(1, 2)).astype(d.of("int32", "int64"))
    return lambda t: ops.gather(x, at, axis=axis, target=t), np.take(exact(x), at, axis), 0


def joined(d: Draw) -> Case:
    dtype, shape, axis = d.of(*FLOATS, "int8"), d.shape(1, 3), 0
    x, y = d.array(shape, dtype), d.array((d.number(0, 5), *shape[1:]), dtype)
    return lambda t: ops.concatenate(x, y, axis=axis, target=t), np.concatenate([exact(x), exact(y)]), 0


def turned(d: Draw) -> Case:
    dtype, half = d.of(*FLOATS), d.number(0, 6)
    x = d.array((*d.shape(0, 2, 4), d.number(0, 6), 2 * half), dtype)
    angles = d.rng.standard_normal((x.shape[-2], half)).astype("float32")
    cos, sin = np.cos(angles), np.sin(angles)
    first, second = exact(x)[..., :half], exact(x)[..., half:]
    value = np.concatenate([first * cos - second * sin, second * cos + first * sin], -1)
    return lambda t: ops.rope(x, cos, sin, target=t), value, 4


def scattered(d: Draw) -> Case:
    x = d.array(d.shape(1, 3, least=1), d.of("float32", "int32", "int64"))
    axis = d.number(-x.ndim, x.ndim - 1)
    shape = list(x.shape)
    shape[axis] = d.number(1, 8)
    updates = d.array(tuple(shape), str(x.dtype))
    index = d.rng.integers(-x.shape[axis], x.shape[axis], shape).astype(d.of("int32", "int64"))
    value = exact(x)
    places = list(np.indices(shape))
    places[axis] = index % x.shape[axis]
    np.add.at(value, tuple(places), exact(updates))
    return lambda t: ops.scatter_add(x, index, updates, axis=axis, target=t), value, 0


def ranked(d: Draw) -> Case:
    x = d.array(d.shape(1, 3, least=1), d.of(*FLOATS, "int8"))
    axis, largest = d.number(0, x.ndim - 1), bool(d.number(0, 1))
    k, which = d.number(0, x.shape[axis]), d.number(0, 1)
    order = np.argsort(-exact(x) if largest else exact(x), axis, kind="stable").take(np.arange(k), axis)
    value = order if which else np.take_along_axis(exact(x), order, axis)
    return lambda t: ops.top_k(x, k=k, axis=axis, largest=largest, target=t)[which], value, 0


def by_channel(d: Draw) -> Case:
    x = d.array(d.shape(2, 4, 6), d.of(*FLOATS))
    mean, gamma, beta = (d.array((x.shape[1],), "float32") for _ in range(3))
    variance = d.array((x.shape[1],), "float32") ** 2 + 1
    own = [exact(one).reshape(-1, *[1] * (x.ndim - 2)) for one in (mean, variance, gamma, beta)]
    value = (exact(x) - own[0]) / np.sqrt(own[1] + 1e-5) * own[2] + own[3]
    return lambda t: ops.batch_norm(x, mean, variance, gamma, beta, target=t), value, 8


def loss(d: Draw) -> Case:
    x = d.array((*d.shape(0, 2), d.number(1, 60)), d.of(*FLOATS))
    labels = d.rng.integers(0, x.shape[-1], x.shape[:-1]).astype(d.of("int32", "int64", "uint8"))
    largest = exact(x).max(-1, keepdims=True) if x.size else 0
    total = np.log(np.exp(exact(x) - largest).sum(-1, keepdims=True)) + largest
    value = (total - np.take_along_axis(exact(x), labels.astype("int64")[..., None], -1))[..., 0]
    return lambda t: ops.cross_entropy(x, labels, target=t), value, 8


def grouped(d: Draw) -> Case:
    groups, each = d.number(1, 4), d.number(1, 4)
    x = d.array((d.number(0, 3), groups * each, *d.shape(0, 2, 9, 1)), d.of(*FLOATS))
    gamma = d.array((groups * each,), x.dtype.name) if d.number(0, 1) else None
    v = exact(x).reshape(x.shape[0], groups, -1) if x.size else exact(x)
    v = v - (v.mean(-1, keepdims=True) if x.size else 0)
    value = (v / np.sqrt((v * v).mean(-1, keepdims=True) + 0.5) if x.size else v).reshape(x.shape)
    if gamma is not None:
        value = value * exact(gamma).reshape(-1, *[1] * (x.ndim - 2))
    return lambda t: ops.group_norm(x, gamma, groups=groups, epsilon=0.5, target=t), value, 16


def transposed(d: Draw) -> Case:
    dtype, rank = d.of(*FLOATS), d.number(1, 3)
    kernel, stride, dilation, groups = d.number(1, 3), d.number(1, 3), d.number(1, 2), d.of(1, 1, 2)
    c, f = groups * d.number(1, 3), d.number(1, 3)
    sizes = [d.number(1, 4) for _ in range(rank)]
    x, w = d.array((d.number(1, 2), c, *sizes), dtype, 1), d.array((c, f, *[kernel] * rank), dtype, 1)
    out = [(size - 1) * stride + (kernel - 1) * dilation + 1 for size in sizes]
    pad = d.number(0, min(2, (min(out) - 1) // 2))
    value = np.zeros((x.shape[0], groups * f, *out))
    for one in range(c):
        g = one * groups // c
        for offset in np.ndindex(*[kernel] * rank):
            at = tuple(slice(o * dilation, o * dilation + (n - 1) * stride + 1, stride) for o, n in zip(offset, sizes))
            part = np.multiply.outer(exact(w)[(one, slice(None), *offset)], exact(x)[:, one])
            value[(slice(None), slice(g * f, (g + 1) * f), *at)] += np.moveaxis(part, 0, 1)
    value = value[(..., *[slice(pad, n - pad) for n in out])]
    options = {"stride": stride, "padding": pad, "dilation": dilation, "groups": groups}
    return lambda t: ops.conv_transpose(x, w, target=t, **options), value, 1


def matrix(d: Draw) -> Case:
    """What takes matrices alone."""
    name = d.of("transpose", "embedding", "row_sum", "column_sum")
    x = d.array((d.number(0, 70), d.number(0, 70)), "float32" if "sum" in name else d.of(*FLOATS, "int8"))
    if name == "transpose":
        return lambda t: ops.transpose(x, target=t), exact(x).T, 0
    if name == "embedding":
        x = d.array((d.number(1, 9), d.number(0, 40)), x.dtype.name)
        tokens = d.rng.integers(0, len(x), d.shape(0, 2)).astype(d.of("int32", "int64"))
        return lambda t: ops.embedding(x, tokens, target=t), exact(x)[tokens], 0
    return lambda t: getattr(ops, name)(x, target=t), exact(x).sum(1 if name == "row_sum" else 0), 1


def wide(d: Draw) -> Case:
    """Rows that a block keeps in registers, or does not, and that several blocks share."""
    rows, columns = d.number(1, 3), round(10 ** d.rng.uniform(3, 5))
    x = d.array((rows, columns), d.of(*FLOATS))
    name = d.of("softmax", "sum", "cumsum", "layer_norm", "argmax", "sum of columns")
    if name == "softmax":
        e = np.exp(exact(x) - exact(x).max(1, keepdims=True))
        return lambda t: ops.softmax(x, target=t), e / e.sum(1, keepdims=True), 8
    if name == "argmax":
        return lambda t: ops.argmax(x, target=t), exact(x).argmax(1), 0
    if name == "layer_norm":
        v = exact(x) - exact(x).mean(1, keepdims=True)
        return lambda t: ops.layer_norm(x, epsilon=0.5, target=t), v / np.sqrt((v * v).mean(1, keepdims=True) + 0.5), 16
    if name == "sum of columns":
        return lambda t: ops.sum(x.T.copy(), axis=0, target=t), exact(x).sum(1), 1
    return lambda t: getattr(ops, name)(x, axis=1, target=t), getattr(exact(x), name)(1), 1


OPERATIONS = (
    elementwise, added, reduction, place, running, softmax, norm, matmul, vector, layer, convolution, square, pooled,
    moved, gathered, joined, turned, scattered, ranked, by_channel,
    loss, grouped, transposed, matrix, wide,
)  # fmt: skip


def check(make: Callable[[Draw], Case], seed: int, target: str) -> None:
    call, value, units = make(Draw(seed))
    got = call(target)
    assert got.shape == value.shape
    if not got.size:
        return
    roundoff = testing.unit_roundoff(got.dtype) if got.dtype.kind in "fV" else 0.0
    bound = np.abs(value) * roundoff * max(units, 1) + units * 2.0**-22
    testing.assert_within(got, value, bound)


@pytest.mark.sample(2)
@pytest.mark.parametrize("target", ["sim", "cpu"])
@pytest.mark.parametrize("make", OPERATIONS)
def test_operations(make: Callable[[Draw], Case], target: str) -> None:
    for seed in range(FEW):
        try:
            check(make, seed, target)
        except Exception as error:
            raise AssertionError(f"{make.__name__}, seed {seed}, {target}: {error}") from error


@pytest.mark.slow
@pytest.mark.parametrize("target", ["sim -arch=sm_75", "sim -arch=sm_80", "sim -device=H200", "cpu"])
@pytest.mark.parametrize("make", OPERATIONS)
def test_many_operations(make: Callable[[Draw], Case], target: str) -> None:
    for seed in range(100, 100 + MANY):
        try:
            check(make, seed, target)
        except Exception as error:
            raise AssertionError(f"{make.__name__}, seed {seed}, {target}: {error}") from error
