"""Windows that overlap: depthwise convolutions, pools and stencils, in strips of results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing
from tilewright.rules.facts import Program
from tilewright.rules.windows import Windows, window_of
from tilewright.runtime.ndarray import as_dtype

H200 = "cuda -device=H200"


def padded(x: te.Tensor, extents: tuple[int, ...], before: tuple[int, ...]) -> te.Tensor:
    """x with zeros around it."""

    def element(*indices: te.Var) -> te.Expr:
        moved = [index - pad for index, pad in zip(indices, before)]
        inside = [te.all(one >= 0, one < extent) for one, extent, pad in zip(moved, x.shape, before) if pad]
        return te.if_then_else(te.all(*inside), x(*moved), te.const(0, x.dtype))

    return te.compute(extents, element, name="padded")


def depthwise(
    shape: tuple[int, int, int, int], kernel: int, stride: int, dilation: int, dtype: str = "float32"
) -> tuple[te.Tensor, list[te.Tensor], Callable[..., np.ndarray]]:
    """A depthwise convolution with a bias and a maximum, and the same in NumPy."""
    n, c, h, w = shape
    pad = dilation * (kernel // 2)
    X, W = te.placeholder(shape, dtype, name="X"), te.placeholder((c, kernel, kernel), dtype, name="W")
    bias = te.placeholder((c,), name="bias")
    around = padded(X, (n, c, h + 2 * pad, w + 2 * pad), (0, 0, pad, pad))
    ky, kx = te.reduce_axis((0, kernel), "ky"), te.reduce_axis((0, kernel), "kx")
    out = [(extent + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1 for extent in (h, w)]
    sums = te.compute(
        (n, c, *out),
        lambda b, d, i, j: te.sum(
            around[b, d, i * stride + ky * dilation, j * stride + kx * dilation].astype("float32")
            * W[d, ky, kx].astype("float32"),
            axis=[ky, kx],
        ),
        name="sums",
    )
    Y = te.compute((n, c, *out), lambda b, d, i, j: te.max(sums[b, d, i, j] + bias[d], 0.0), name="Y")

    def wanted(x: np.ndarray, weights: np.ndarray, b: np.ndarray) -> np.ndarray:
        around = np.pad(x.astype("float64"), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        made = np.zeros((n, c, *out))
        for y in range(kernel):
            for z in range(kernel):
                part = around[:, :, y * dilation :, z * dilation :][:, :, ::stride, ::stride][:, :, : out[0], : out[1]]
                made += part * weights[:, y, z].astype("float64")[:, None, None]
        return np.maximum(made + b[:, None, None], 0)

    return Y, [X, W, bias], wanted


def rule_of(Y: te.Tensor, target: str = H200) -> dict[str, tuple[str, ...]]:
    return {one.rule: one.stages for one in tw.auto_schedule(Y, target).plan.decisions}


@pytest.mark.parametrize(
    ("shape", "kernel", "stride", "dilation", "dtype"),
    [
        ((2, 3, 9, 11), 3, 1, 1, "float32"),
        ((1, 2, 14, 14), 5, 1, 1, "float16"),
        ((1, 2, 15, 17), 3, 2, 1, "float32"),
        ((1, 3, 8, 8), 7, 1, 1, "float32"),
        ((1, 2, 13, 9), 5, 1, 2, "float32"),
    ],
)
def test_depthwise_convolutions(
    shape: tuple[int, int, int, int], kernel: int, stride: int, dilation: int, dtype: str
) -> None:
    Y, args, wanted = depthwise(shape, kernel, stride, dilation, dtype)
    assert set(rule_of(Y)["windows"]) == {"Y", "sums", "padded"}
    random = np.random.default_rng(0)
    given = [random.integers(-3, 4, arg.shape).astype(arg.dtype) for arg in args]
    s = tw.auto_schedule(Y, "sim -device=H200")
    (got,) = testing.run(tw.build(s, [*args, Y], target="sim", name="f"), given, [(Y.shape, Y.dtype)])
    np.testing.assert_array_equal(got, wanted(*given))


@pytest.mark.parametrize("results", [1, 2, 4, 7, 8])
def test_settings(results: int) -> None:
    Y, args, wanted = depthwise((1, 2, 9, 10), 3, 1, 1)
    s = tw.auto_schedule(Y, "sim -device=H200", settings={"Y": {"results": results, "threads": 32}})
    given = [np.random.default_rng(1).integers(-3, 4, arg.shape).astype(arg.dtype) for arg in args]
    (got,) = testing.run(tw.build(s, [*args, Y], target="sim", name="f"), given, [(Y.shape, Y.dtype)])
    np.testing.assert_array_equal(got, wanted(*given))


def blur(shape: tuple[int, ...], axes: tuple[int, ...], taps: int = 3) -> te.Tensor:
    """The largest of windows along some axes."""
    X = te.placeholder(shape, name="X")
    k = {axis: te.reduce_axis((0, taps), f"k{axis}") for axis in axes}
    out = tuple(extent - (taps - 1 if axis in axes else 0) for axis, extent in enumerate(shape))
    return te.compute(
        out,
        lambda *i: te.max(X(*(i[a] + k[a] if a in k else i[a] for a in range(len(shape)))), axis=list(k.values())),
        name="Y",
    )


@pytest.mark.parametrize(
    ("shape", "axes"),
    [((40,), (0,)), ((3, 21), (1,)), ((12, 7), (0,)), ((2, 9, 8, 3), (1, 2)), ((2, 6, 7, 8), (1, 2, 3))],
)
def test_windows_along_any_axes(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    Y = blur(shape, axes)
    (X,) = Y.op.input_tensors
    x = np.random.default_rng(2).integers(-99, 100, shape).astype("float32")
    s = tw.auto_schedule(Y, "sim -device=H200", rules=[Windows(4)])
    assert [one.rule for one in s.plan.decisions] == ["windows"]
    function = tw.build(s, [X, Y], target="sim", name="f")
    (got,) = testing.run(function, [x], [(Y.shape, Y.dtype)])
    wanted = np.lib.stride_tricks.sliding_window_view(x, (3,) * len(axes), axes).max(tuple(range(-len(axes), 0)))
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("symbolic", ["batch", "width"])
def test_extents_that_are_symbols(symbolic: str) -> None:
    """Strips are along an axis with a constant extent."""
    n, w = (te.var("n"), 9) if symbolic == "batch" else (2, te.var("w"))
    X, W = te.placeholder((n, 3, 12, w), name="X"), te.placeholder((3, 3, 3), name="W")
    ky, kx = te.reduce_axis((0, 3), "ky"), te.reduce_axis((0, 3), "kx")

    def element(b: te.Var, c: te.Var, i: te.Var, j: te.Var) -> te.Expr:
        inside = te.all(i >= 1, i < 13, j >= 1, j < w + 1)
        return te.if_then_else(inside, X[b, c, i - 1, j - 1], te.const(0.0))

    around = te.compute((n, 3, 14, w + 2), element, name="padded")
    Y = te.compute(
        (n, 3, 12, w), lambda b, c, i, j: te.sum(around[b, c, i + ky, j + kx] * W[c, ky, kx], axis=[ky, kx]), name="Y"
    )
    s = tw.auto_schedule(Y, "sim -device=H200")
    assert [(one.rule, set(one.stages)) for one in s.plan.decisions] == [("windows", {"Y", "padded"})]
    function = tw.build(s, [X, W, Y], target="sim", name="f")
    for size in (1, 7):
        shape = (size, 3, 12, 9) if symbolic == "batch" else (2, 3, 12, size)
        x, weights = (np.random.default_rng(size).integers(-3, 4, one).astype("float32") for one in (shape, (3, 3, 3)))
        (got,) = testing.run(function, [x, weights], [(shape, "float32")])
        wide = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))
        np.testing.assert_array_equal(got, np.einsum("bcijyx,cyx->bcij", wide, weights))


def test_the_strip_is_not_along_the_last_axis() -> None:
    why = tw.auto_schedule(blur((64, 256, 64, 64), (2, 3)), H200).plan.decisions[0].why
    assert why == "windows of 9 elements overlap along i2: 16 results read 18 elements for each of 3"


def channels_last(n: int, size: int, channels: int, kernel: int, stride: int) -> tuple[te.Tensor, list[te.Tensor]]:
    """A depthwise convolution in bfloat16, with results of this type."""
    pad, out = kernel // 2, (size + 2 * (kernel // 2) - kernel) // stride + 1
    X = te.placeholder((n, size, size, channels), "bfloat16", name="X")
    W = te.placeholder((channels, kernel, kernel), "bfloat16", name="W")
    around = padded(X, (n, size + 2 * pad, size + 2 * pad, channels), (0, pad, pad, 0))
    ky, kx = te.reduce_axis((0, kernel), "ky"), te.reduce_axis((0, kernel), "kx")

    def total(b: te.Var, i: te.Var, j: te.Var, c: te.Var) -> te.Expr:
        element = around[b, i * stride + ky, j * stride + kx, c].astype("float32")
        return te.sum(element * W[c, ky, kx].astype("float32"), axis=[ky, kx])

    sums = te.compute((n, out, out, channels), total, name="sums")
    return te.compute(sums.shape, lambda *at: sums[at].astype("bfloat16"), name="Y"), [X, W]


@pytest.mark.parametrize(("size", "channels", "kernel", "stride"), [(9, 6, 3, 1), (9, 10, 3, 2), (8, 34, 5, 2)])
def test_neighbouring_channels_of_a_thread(size: int, channels: int, kernel: int, stride: int) -> None:
    Y, (X, W) = channels_last(2, size, channels, kernel, stride)
    settings = {"Y": {"results": 4, "threads": 32, "lanes": 2}}
    func = tw.build(tw.auto_schedule(Y, "sim -device=H200", settings=settings), [X, W, Y], "sim -device=H200")
    x, w = (np.random.default_rng(0).integers(-2, 3, one.shape).astype(as_dtype("bfloat16")) for one in (X, W))
    (got,) = testing.run(func, [x, w], [(Y.shape, "bfloat16")])
    pad = kernel // 2
    around = np.pad(x.astype("float64"), ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(around, (kernel, kernel), axis=(1, 2))[:, ::stride, ::stride]
    exact = np.einsum("nyxcij,cij->nyxc", windows, w.astype("float64"))
    np.testing.assert_array_equal(got, exact.astype(as_dtype("bfloat16")))


def test_two_channels_a_thread_where_threads_are_many() -> None:
    """Loads of 16 bits are few at once; two channels of 16 bits come with one load."""

    def settings(*sizes: int) -> dict[str, object]:
        return tw.auto_schedule(channels_last(*sizes)[0], H200).plan.decisions[0].settings

    assert settings(32, 112, 96, 3, 2) == {"results": 8, "threads": 128, "lanes": 2}
    assert settings(32, 112, 95, 3, 2)["lanes"] == settings(1, 56, 144, 3, 1)["lanes"] == 1
    Y, args = channels_last(32, 112, 96, 3, 2)
    ptx = tw.build(tw.auto_schedule(Y, H200), [*args, Y], H200).ptx
    # 17 pixels in a row of windows, and three weights of each of both channels, which are no neighbours.
    assert ptx.count("ld.global.nc.b32") == 17 and ptx.count("st.global.b32") == 8


def test_windows_that_do_not_overlap_are_reductions() -> None:
    X = te.placeholder((8, 64, 64), name="X")
    ky, kx = te.reduce_axis((0, 2), "ky"), te.reduce_axis((0, 2), "kx")
    Y = te.compute((8, 32, 32), lambda c, i, j: te.max(X[c, 2 * i + ky, 2 * j + kx], axis=[ky, kx]), name="Y")
    assert list(rule_of(Y)) == ["reduction"]


def test_what_windows_read_is_a_kernel_of_its_own_where_it_costs_much() -> None:
    X = te.placeholder((64, 64, 64), name="X")
    E = te.compute(X.shape, lambda *i: te.exp(te.exp(te.exp(X(*i)))), name="E")
    k = te.reduce_axis((0, 5), "k")
    Y = te.compute((64, 60, 64), lambda c, i, j: te.sum(E[c, i + k, j], axis=k), name="Y")
    assert rule_of(Y) == {"elementwise": ("E",), "windows": ("Y",)}


def test_a_convolution_over_channels_is_none() -> None:
    X, W = te.placeholder((4, 8, 20, 20), name="X"), te.placeholder((16, 8, 3, 3), name="W")
    c, ky, kx = (te.reduce_axis((0, extent), name) for extent, name in ((8, "c"), (3, "ky"), (3, "kx")))
    Y = te.compute(
        (4, 16, 18, 18),
        lambda b, d, i, j: te.sum(X[b, c, i + ky, j + kx] * W[d, c, ky, kx], axis=[c, ky, kx]),
        name="Y",
    )
    assert "windows" not in rule_of(Y)


def test_window_of() -> None:
    Y = blur((4, 30, 30), (1, 2))
    (stage,) = Program([Y.op])
    window = window_of(stage)
    assert window is not None and window.strip is Y.op.axis[1]
    assert (window.taps, window.stride, window.dilation, window.loads(4)) == (3, 1, 1, 6)
