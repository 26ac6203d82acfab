"""Gradients, computed on the processor in float64, against finite differences."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.runtime import host_program

RNG = np.random.default_rng(7)


def evaluate(output, inputs, arrays):
    """The value of a tensor."""
    s = te.create_schedule(output.op)
    out = np.empty([extent if isinstance(extent, int) else arrays[0].shape[0] for extent in output.shape])
    used = [(one, each) for one, each in zip(inputs, arrays)]
    tw.build(s, [*(one for one, _ in used), output], "cpu")(*(each for _, each in used), out)
    return out


def check(build, arrays, *, tolerance: float = 1e-7):
    """The gradients of `build(*placeholders)` are what central differences say."""
    inputs = [te.placeholder(each.shape, "float64", name=f"X{i}") for i, each in enumerate(arrays)]
    output = build(*inputs)
    weights = RNG.uniform(-1, 1, tuple(output.shape))
    head = te.placeholder(output.shape, "float64", name="head")
    gradients = te.gradient(output, inputs, head)
    s = te.create_schedule([one.op for one in gradients])
    results = [np.full(each.shape, np.nan) for each in arrays]
    tw.build(s, [*inputs, head, *gradients], "cpu")(*arrays, weights, *results)

    forward = tw.build(te.create_schedule(output.op), [*inputs, output], "cpu")

    def loss(values):
        out = np.empty(tuple(output.shape))
        forward(*values, out)
        return float((out * weights).sum())

    step = 1e-5
    for number, (each, result) in enumerate(zip(arrays, results)):
        expected = np.empty_like(each)
        for at in np.ndindex(each.shape):
            moved = []
            for sign in (1, -1):
                values = [one.copy() for one in arrays]
                values[number][at] += sign * step
                moved.append(loss(values))
            expected[at] = (moved[0] - moved[1]) / (2 * step)
        # The differences' own error: a third derivative times step squared, and rounding over step.
        np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance, err_msg=f"input {number}")
    return gradients


def uniform(*shape: int, low: float = 0.2, high: float = 0.8):
    return RNG.uniform(low, high, shape)


def matmul(A, B):
    k = te.reduce_axis((0, A.shape[1]), name="k")
    return te.compute((A.shape[0], B.shape[1]), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")


def conv(stride: int, pad: int, dilation: int = 1):
    def build(X, W):
        n, c, h, w = X.shape
        f, _, r, s = W.shape
        P = te.compute(
            (n, c, h + 2 * pad, w + 2 * pad),
            lambda b, ch, y, x: te.if_then_else(
                te.all(y >= pad, y - pad < h, x >= pad, x - pad < w), X[b, ch, y - pad, x - pad], 0.0
            ),
            name="P",
        )
        ch, ry, rx = (te.reduce_axis((0, n), name=name) for n, name in ((c, "ch"), (r, "ry"), (s, "rx")))
        height, width = ((h + 2 * pad - dilation * (r - 1) - 1) // stride + 1 for h, r in ((h, r), (w, s)))
        return te.compute(
            (n, f, height, width),
            lambda b, ff, y, x: te.sum(
                P[b, ch, y * stride + ry * dilation, x * stride + rx * dilation] * W[ff, ch, ry, rx], axis=[ch, ry, rx]
            ),
            name="Y",
        )

    return build


def test_matmul_is_two_matmuls() -> None:
    dA, dB = check(matmul, [uniform(4, 5), uniform(5, 3)])
    assert str(dA.op.body[0]) == "sum(head[i0, j] * X1[i1, j], axis=[j])"
    assert str(dB.op.body[0]) == "sum(head[i, i1] * X0[i, i0], axis=[i])"


@pytest.mark.sample(2)
@pytest.mark.parametrize(("stride", "pad", "dilation"), [(1, 0, 1), (1, 1, 1), (2, 1, 1), (3, 0, 1), (1, 2, 2)])
def test_conv2d(stride: int, pad: int, dilation: int) -> None:
    check(conv(stride, pad, dilation), [uniform(1, 2, 6, 5), uniform(2, 2, 3, 2)])


def test_broadcast_and_sharing() -> None:
    """A bias, a tensor that is read in three places, and a tensor between that two others read."""

    def build(A, b):
        S = te.compute(A.shape, lambda i, j: A[i, j] * A[i, j] + b[j] * A[i, 0], name="S")
        return te.compute(A.shape, lambda i, j: S[i, j] / (S[i, j] + b[j]) - A[i, j], name="T")

    check(build, [uniform(3, 4), uniform(4)])


def test_sums_over_parts() -> None:
    def build(A):
        k = te.reduce_axis((1, 4), name="k")
        return te.compute((3,), lambda i: te.sum(A[i, k] * A[i, k - 1], axis=k, where=k != 2), name="B")

    check(build, [uniform(3, 5)])


def test_softmax() -> None:
    def build(X):
        k, r = te.reduce_axis((0, 5), name="k"), te.reduce_axis((0, 5), name="r")
        largest = te.compute((3,), lambda i: te.max(X[i, k], axis=k), name="largest")
        power = te.compute((3, 5), lambda i, j: te.exp(X[i, j] - largest[i]), name="power")
        total = te.compute((3,), lambda i: te.sum(power[i, r], axis=r), name="total")
        return te.compute((3, 5), lambda i, j: power[i, j] / total[i], name="Y")

    check(build, [uniform(3, 5, low=-1, high=1)])


@pytest.mark.parametrize("reducer", [te.max, te.min])
def test_max_and_min(reducer) -> None:
    def build(X):
        k = te.reduce_axis((0, 5), name="k")
        return te.compute((3,), lambda i: reducer(X[i, k] * X[i, k] - X[i, k], axis=k), name="Y")

    check(build, [uniform(3, 5)])


@pytest.mark.parametrize("low", [0, 2])
@pytest.mark.parametrize("reducer", [te.max, te.min])
@pytest.mark.parametrize("by_rules", [False, True])
def test_elements_that_an_fma_computes_in_one_loop(monkeypatch, by_rules, reducer, low) -> None:
    """The multiplication and the subtraction are one operation in one loop, and two in another."""
    monkeypatch.setattr(host_program, "optimizes", True)
    x = te.placeholder((64, low + 5), "float64", name="x")
    k = te.reduce_axis((low, low + 5), name="k")
    y = te.compute((64,), lambda i: reducer(x[i, k] * x[i, k] - x[i, k], axis=k), name="y")
    head = te.placeholder((64,), "float64", name="head")
    (gradient,) = te.gradient(y, x, head)
    s = tw.auto_schedule(gradient, "cpu") if by_rules else te.create_schedule(gradient.op)
    array, weights, got = uniform(64, low + 5, high=1.5), uniform(64), np.full((64, low + 5), np.nan)
    tw.build(s, [x, head, gradient], "cpu")(array, weights, got)
    values = (array * array - array)[:, low:]
    place = low + (values.argmax(1) if reducer is te.max else values.argmin(1))
    expected = np.zeros_like(got)
    rows = np.arange(64)
    expected[rows, place] = weights * (2 * array[rows, place] - 1)
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-15)


def test_reads_at_other_indices() -> None:
    """What no gather follows from: reshapes, strided reads, and elements that are picked."""
    at = te.placeholder((6,), "int32", name="at")

    def reshaped(A):
        return te.compute((3, 4), lambda i, j: A[(i * 4 + j) // 6, (i * 4 + j) % 6] * 2, name="R")

    check(reshaped, [uniform(2, 6)])
    check(lambda A: te.compute((3,), lambda i: A[2 * i] * A[6 - 3 * i], name="R"), [uniform(7)])
    check(lambda A: te.compute((4,), lambda i: A[3 - i] * A[i,], name="R"), [uniform(4)])

    A = te.placeholder((4,), "float64", name="A")
    R = te.compute((6,), lambda i: A[at[i]] * A[at[i]], name="R")
    head = te.placeholder((6,), "float64", name="head")
    (dA,) = te.gradient(R, A, head)
    a, picked, weights, out = uniform(4), np.array([0, 2, 2, 3, 0, 2], "int32"), uniform(6), np.empty(4)
    tw.build(te.create_schedule(dA.op), [A, at, head, dA], "cpu")(a, picked, weights, out)
    expected = np.zeros(4)
    np.add.at(expected, picked, 2 * a[picked] * weights)
    np.testing.assert_allclose(out, expected, rtol=1e-13)


UNARY = {
    **dict.fromkeys("exp exp2 log log2 log10 log1p sqrt rsqrt sigmoid tanh sin cos tan sinh cosh asin acos".split(), 0),
    **dict.fromkeys("atan asinh atanh erf floor ceil trunc round nearbyint abs".split(), 0),
    "acosh": 1,
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", UNARY)
def test_functions(name: str) -> None:
    function, shift = getattr(te, name), UNARY[name]
    # Away from where floor and its like step.
    array = np.array([0.21, 0.34, 0.47, 0.61, 0.72, 0.83])
    check(lambda X: te.compute((6,), lambda i: function(X[i] + float(shift)) * X[i], name="Y"), [array], tolerance=1e-6)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "function",
    [te.power, te.atan2, te.fmod, te.max, te.min, te.logaddexp, te.div, lambda a, b: te.select(a > b, a * b, a)],
)
def test_functions_of_two(function) -> None:
    a, b = np.array([0.3, 0.9, 0.5, 0.77]), np.array([0.6, 0.2, 0.8, 0.31])
    check(lambda A, B: te.compute((4,), lambda i: function(A[i], B[i]), name="Y"), [a, b], tolerance=1e-6)


def test_jacobians() -> None:
    """Without a head: the output's extents before the input's."""
    A, B = te.placeholder((2, 3), "float64", name="A"), te.placeholder((3, 2), "float64", name="B")
    C = matmul(A, B)
    (dA,) = te.gradient(C, [A])
    assert dA.shape == (2, 2, 2, 3)
    b, out = uniform(3, 2), np.empty((2, 2, 2, 3))
    tw.build(te.create_schedule(dA.op), [B, dA], "cpu")(b, out)
    np.testing.assert_allclose(out, np.einsum("ip,kj->ijpk", np.eye(2), b), rtol=1e-14)


def test_tensors_between_and_tensors_that_play_no_part() -> None:
    A, B = (te.placeholder((4,), "float64", name=name) for name in "AB")
    S = te.compute((4,), lambda i: A[i] * 3, name="S")
    T = te.compute((4,), lambda i: S[i] * S[i], name="T")
    head = te.placeholder((4,), "float64", name="head")
    dS, dB = te.gradient(T, [S, B], head)
    a, h, s_out, b_out = uniform(4), uniform(4), np.empty(4), np.empty(4)
    tw.build(te.create_schedule([dS.op, dB.op]), [A, head, dS, dB], "cpu")(a, h, s_out, b_out)
    np.testing.assert_allclose(s_out, 6 * a * h, rtol=1e-14)
    np.testing.assert_array_equal(b_out, np.zeros(4))


def test_symbolic_extents() -> None:
    n = te.var("n")
    A, head = te.placeholder((n, 3), "float64", name="A"), te.placeholder((n,), "float64", name="head")
    k = te.reduce_axis((0, 3), name="k")
    B = te.compute((n,), lambda i: te.sum(A[i, k] * A[i, k], axis=k), name="B")
    (dA,) = te.gradient(B, [A], head)
    function = tw.build(te.create_schedule(dA.op), [A, head, dA], "cpu")
    for extent in (1, 6):
        a, h, out = uniform(extent, 3), uniform(extent), np.empty((extent, 3))
        function(a, h, out)
        np.testing.assert_allclose(out, 2 * a * h[:, None], rtol=1e-14)


def test_gradients_are_scheduled_as_any_compute() -> None:
    A, B = te.placeholder((16, 24), name="A"), te.placeholder((24, 8), name="B")
    C = matmul(A, B)
    head = te.placeholder(C.shape, name="head")
    dA, _ = te.gradient(C, [A, B], head)
    s = te.create_schedule(dA.op)
    io, jo, ii, ji = s[dA].tile(*dA.op.axis, 8, 8)
    for axis, thread in ((io, "blockIdx.y"), (jo, "blockIdx.x"), (ii, "threadIdx.y"), (ji, "threadIdx.x")):
        s[dA].bind(axis, te.thread_axis(thread))
    b, h, out = uniform(24, 8).astype("float32"), uniform(16, 8).astype("float32"), np.empty((16, 24), "float32")
    tw.build(s, [B, head, dA], "sim")(b, h, out)
    np.testing.assert_allclose(out, h.astype("float64") @ b.astype("float64").T, rtol=1e-6)
    assert tw.build(s, [B, head, dA], tw.Target("cuda", arch="sm_90a")).cubin


def test_what_has_no_gradient() -> None:
    A = te.placeholder((4, 4), "float64", name="A")
    N = te.placeholder((4,), "int32", name="N")
    k = te.reduce_axis((0, 4), name="k")
    product = te.compute((4,), lambda i: te.prod(A[i, k], axis=k), name="P")
    total = te.compute((4,), lambda i: te.sum(A[i, k], axis=k), name="S")
    for call, kind, message in (
        (
            lambda: te.gradient(product, [A]),
            TypeError,
            "te.gradient of P: expected a reduction by te.sum, te.max or te.min, got te.prod (",
        ),
        (lambda: te.gradient(total, [N]), TypeError, "te.gradient: expected an input of floats, got N of int32"),
        (lambda: te.gradient(total, [3]), TypeError, "te.gradient: expected a tensor as input, got 3"),
        (
            lambda: te.gradient(total, [A], A),
            None,
            None,
        ),
        (
            lambda: te.gradient(total, [A], te.placeholder((3,), "float64", name="head")),
            ValueError,
            "te.gradient: expected a head of float64 whose last extents are (4,), got head of float64 and (3,)",
        ),
    ):
        if kind is None:
            assert call()[0].shape == (4, 4, 4), "a head with an extent before the output's"
            continue
        with pytest.raises(kind, match=re.escape(message)) as raised:
            call()
        assert str(raised.value).startswith(f"{__file__}:"), "the user's line"
