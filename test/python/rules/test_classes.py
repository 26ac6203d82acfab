"""What rules make of each class of programs: the rule that is meant for it, its result, and that it compiles to PTX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing
from tilewright.runtime.ndarray import as_dtype
from tilewright.te import Tensor

DEVICES = ("T4", "A100", "H200")


@dataclass
class Case:
    """A program, its inputs, and its exact results."""

    inputs: list[Tensor]
    outputs: list[Tensor]
    arrays: list[Any]
    exact: list[Any]

    def rules(self, target: str) -> list[str]:
        plan = tw.auto_schedule(self.outputs, target).plan
        assert plan is not None
        return [decision.rule for decision in plan]


def integers(shape: Sequence[int], dtype: str = "float32", seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(-3, 4, tuple(shape)).astype(as_dtype(dtype))


def rows(function: Callable[[Tensor], Sequence[Tensor]], exact: Callable[[Any], Sequence[Any]], *shape: int) -> Case:
    X = te.placeholder(shape, name="X")
    x = integers(shape)
    return Case([X], list(function(X)), [x], list(exact(x.astype("float64"))))


def total(*axes: int) -> Callable[[Tensor], list[Tensor]]:
    def function(X: Tensor) -> list[Tensor]:
        ks = {axis: te.reduce_axis((0, X.shape[axis]), f"k{axis}") for axis in axes}

        def element(*at: Any) -> Any:
            rest = iter(at)
            return te.sum(X[tuple(ks[d] if d in ks else next(rest) for d in range(X.ndim))], axis=list(ks.values()))

        return [te.compute(tuple(n for d, n in enumerate(X.shape) if d not in axes), element, name="Y")]

    return function


def softmax(X: Tensor) -> list[Tensor]:
    n, m = X.shape
    j, k = te.reduce_axis((0, m), "j"), te.reduce_axis((0, m), "k")
    largest = te.compute((n,), lambda i: te.max(X[i, j], axis=j), name="largest")
    power = te.compute((n, m), lambda i, j: te.exp(X[i, j] - largest[i]), name="power")
    whole = te.compute((n,), lambda i: te.sum(power[i, k], axis=k), name="whole")
    return [te.compute((n, m), lambda i, j: power[i, j] / whole[i], name="Y")]


def softmax_exact(x: Any) -> list[Any]:
    e = np.exp(x - x.max(1, keepdims=True))
    return [e / e.sum(1, keepdims=True)]


def squares_of_shifted(X: Tensor) -> list[Tensor]:
    n, m = X.shape
    j, k = te.reduce_axis((0, m), "j"), te.reduce_axis((0, m), "k")
    largest = te.compute((n,), lambda i: te.max(X[i, j], axis=j), name="largest")
    centred = te.compute((n, m), lambda i, j: X[i, j] - largest[i], name="centred")
    square = te.compute((n,), lambda i: te.sum(centred[i, k] * centred[i, k], axis=k), name="square")
    return [te.compute((n, m), lambda i, j: centred[i, j] + square[i], name="Y")]


def squares_exact(x: Any) -> list[Any]:
    centred = x - x.max(1, keepdims=True)
    return [centred + (centred**2).sum(1, keepdims=True)]


def first_largest(X: Tensor) -> list[Tensor]:
    def combine(x: Any, y: Any) -> Any:
        takes = te.any(x[1] > y[1], te.all(x[1] == y[1], x[0] < y[0]))
        return te.select(takes, x[0], y[0]), te.select(takes, x[1], y[1])

    argmax = te.comm_reducer(combine, lambda i, v: (te.const(2**31 - 1, i), te.min_value(v)), name="argmax")
    k = te.reduce_axis((0, X.shape[1]), "k")
    place, _ = te.compute((X.shape[0],), lambda i: argmax((k.astype("int32"), X[i, k]), axis=k), name="largest")
    return [te.compute((X.shape[0],), lambda i: place[i] + 0, name="place")]


def matmul(
    m: int, n: int, k: int, *, dtype: str = "float32", a: bool = False, b: bool = False, batch: Sequence[int] = (),
    acc: str = "", epilogue: Callable[[Any], Any] | None = None, prologue: Callable[[Any], Any] | None = None,
) -> Case:  # fmt: skip
    A = te.placeholder((*batch, *((k, m) if a else (m, k))), dtype, name="A")
    B = te.placeholder((*batch, *((n, k) if b else (k, n))), dtype, name="B")
    r = te.reduce_axis((0, k), "r")
    acc = acc or dtype
    left = A if prologue is None else te.compute(A.shape, lambda *at: prologue(A[at]), name="left")

    def element(*at: Any) -> Any:
        *some, i, j = at
        x, y = left[(*some, r, i) if a else (*some, i, r)], B[(*some, j, r) if b else (*some, r, j)]
        return te.sum(x.astype(acc) * y.astype(acc) if acc != dtype else x * y, axis=r)

    C = te.compute((*batch, m, n), element, name="C")
    out = C if epilogue is None else te.compute(C.shape, lambda *at: epilogue(C[at]), name="D")
    x, y = integers(A.op.shape, dtype), integers(B.op.shape, dtype, 1)
    left_exact = x.astype("float64") if prologue is None else prologue(x.astype("float64"))
    whole = (left_exact.swapaxes(-1, -2) if a else left_exact) @ (
        y.astype("float64").swapaxes(-1, -2) if b else y.astype("float64")
    )
    return Case([A, B], [out], [x, y], [whole if epilogue is None else epilogue(whole)])


def convolution(
    shape: Sequence[int], filters: int, kernel: int, *, stride: int = 1, pad: int = 0, dilation: int = 1,
    groups: int = 1, last: bool = False,
) -> Case:  # fmt: skip
    """Of one to three dimensions: `shape` is batch, channels, then the image."""
    n, c, *image = shape
    d, of_group, made = len(image), c // groups, filters // groups
    order = (lambda n, c, *at: (n, *at, c)) if last else (lambda n, c, *at: (n, c, *at))
    X = te.placeholder(order(n, c, *image), name="X")
    W = te.placeholder((filters, of_group, *[kernel] * d), name="W")
    padded = [extent + 2 * pad for extent in image]

    def within(*at: Any) -> Any:
        b, ch, *place = (at[0], at[-1], *at[1:-1]) if last else at
        inside = te.all(*(te.all(p >= pad, p < extent + pad) for p, extent in zip(place, image)))
        return te.if_then_else(inside, X[order(b, ch, *(p - pad for p in place))], 0.0)

    P = te.compute(order(n, c, *padded), within, name="P") if pad else X
    out = [(extent - dilation * (kernel - 1) - 1) // stride + 1 for extent in padded]
    rc = te.reduce_axis((0, of_group), "rc")
    rk = [te.reduce_axis((0, kernel), f"r{i}") for i in range(d)]

    def element(*at: Any) -> Any:
        b, f, *place = (at[0], at[-1], *at[1:-1]) if last else at
        ch = rc if groups == 1 else te.indexdiv(f, made) * of_group + rc
        return te.sum(
            P[order(b, ch, *(p * stride + r * dilation for p, r in zip(place, rk)))] * W[(f, rc, *rk)], axis=[rc, *rk]
        )

    Y = te.compute(order(n, filters, *out), element, name="Y")
    x, w = integers((n, c, *image)), integers(W.op.shape, seed=1)
    big = np.pad(x.astype("float64"), [(0, 0), (0, 0), *[(pad, pad)] * d])
    exact = np.zeros((n, filters, *out))
    for f in range(filters):
        g = f // made
        for offset in np.ndindex(*[kernel] * d):
            window = tuple(
                slice(o * dilation, o * dilation + (size - 1) * stride + 1, stride) for o, size in zip(offset, out)
            )
            part = big[(slice(None), slice(g * of_group, (g + 1) * of_group), *window)]
            exact[:, f] += np.tensordot(part, w[(f, slice(None), *offset)].astype("float64"), ([1], [0]))
    if last:
        x, exact = np.moveaxis(x, 1, -1), np.moveaxis(exact, 1, -1)
    return Case([X, W], [Y], [np.ascontiguousarray(x), w], [exact])


def transposed(*shape: int) -> Case:
    X = te.placeholder(shape, name="X")
    Y = te.compute(shape[::-1], lambda *at: X[at[::-1]] * 2, name="Y")
    x = integers(shape)
    return Case([X], [Y], [x], [2.0 * x.T])


def images(n: int, h: int, w: int, c: int) -> Case:
    """What lies channels last, added to what lies channels first."""
    X, Z = te.placeholder((n, h, w, c), name="X"), te.placeholder((n, c, h, w), name="Z")
    T = te.compute(Z.shape, lambda n, c, h, w: X[n, h, w, c], name="T")
    Y = te.compute(Z.shape, lambda *at: Z[at] + T[at], name="Y")
    x, z = integers(X.op.shape), integers(Z.op.shape, seed=1)
    return Case([X, Z], [Y], [x, z], [z.astype("float64") + x.transpose(0, 3, 1, 2)])


def gathered() -> Case:
    X, at_rows = te.placeholder((20, 33), name="X"), te.placeholder((9,), "int32", name="rows")
    Y = te.compute((9, 33), lambda i, j: X[te.min(te.max(at_rows[i], 0), 19), j], name="Y")
    x, at = integers((20, 33)), np.arange(9, dtype="int32") * 2
    return Case([X, at_rows], [Y], [x, at], [x[at]])


def concatenated() -> Case:
    A, B = te.placeholder((4, 24), name="A"), te.placeholder((7, 24), name="B")
    Y = te.compute((11, 24), lambda i, j: te.if_then_else(i < 4, A[i, j], B[i - 4, j]), name="Y")
    a, b = integers((4, 24)), integers((7, 24), seed=1)
    return Case([A, B], [Y], [a, b], [np.concatenate([a, b])])


def pooled() -> Case:
    X = te.placeholder((2, 5, 16, 16), name="X")
    y, x = te.reduce_axis((0, 3), "y"), te.reduce_axis((0, 3), "x")
    Y = te.compute((2, 5, 7, 7), lambda n, c, i, j: te.max(X[n, c, i * 2 + y, j * 2 + x], axis=[y, x]), name="Y")
    given = integers((2, 5, 16, 16))
    windows = np.lib.stride_tricks.sliding_window_view(given, (3, 3), (2, 3))[:, :, ::2, ::2]
    return Case([X], [Y], [given], [windows.max((-1, -2))])


def several() -> Case:
    X = te.placeholder((30, 50), name="X")
    k = te.reduce_axis((0, 50), "k")
    total = te.compute((30,), lambda i: te.sum(X[i, k], axis=k), name="total")
    twice = te.compute((30, 50), lambda i, j: X[i, j] * 2 + total[i], name="twice")
    x = integers((30, 50))
    return Case([X], [total, twice], [x], [x.sum(1), 2.0 * x + x.sum(1, keepdims=True)])


def no_axes() -> Case:
    X = te.placeholder((), name="X")
    return Case([X], [te.compute((), lambda: X() + 1, name="Y")], [np.float32(3)], [np.float64(4)])


CASES: dict[str, tuple[Callable[[], Case], str]] = {
    "chain": (lambda: rows(lambda X: [te.compute(X.shape, lambda *at: te.exp(X[at] * 0.0) + X[at])], lambda x: [1 + x], 33, 64), "elementwise"),
    "no axes": (no_axes, "elementwise"),
    "no elements": (lambda: rows(total(1), lambda x: [x.sum(1)], 5, 0), "an element a thread"),
    "transpose": (lambda: transposed(70, 45), "transpose through shared memory"),
    "transpose of three": (lambda: transposed(40, 3, 50), "transpose through shared memory"),
    "transpose of images": (lambda: images(2, 3, 40, 35), "transpose through shared memory"),
    "gather": (gathered, "elementwise"),
    "concatenate": (concatenated, "elementwise"),
    "rows": (lambda: rows(total(1), lambda x: [x.sum(1)], 37, 300), "reduction"),
    "columns": (lambda: rows(total(0), lambda x: [x.sum(0)], 300, 37), "reduction"),
    "middle": (lambda: rows(total(1), lambda x: [x.sum(1)], 5, 60, 9), "reduction"),
    "all": (lambda: rows(total(0, 1), lambda x: [x.sum()], 30, 40), "reduction"),
    "two of three": (lambda: rows(total(0, 2), lambda x: [x.sum((0, 2))], 9, 10, 11), "reduction"),
    "few long rows": (lambda: rows(total(1), lambda x: [x.sum(1)], 3, 70000), "reduction in parts"),
    "few long columns": (lambda: rows(total(0), lambda x: [x.sum(0)], 5000, 70), "reduction in parts"),
    "one long row": (lambda: rows(total(0), lambda x: [x.sum(0)], 70000), "reduction in parts"),
    "softmax": (lambda: rows(softmax, softmax_exact, 10, 200), "reduction"),
    "softmax of long rows": (lambda: rows(softmax, softmax_exact, 2, 70000), "reduction in parts"),
    "a map of several kernels": (lambda: rows(squares_of_shifted, squares_exact, 2, 70000), "reduction in parts"),
    "argmax": (lambda: rows(first_largest, lambda x: [x.argmax(1)], 6, 500), "reduction"),
    "argmax of long rows": (lambda: rows(first_largest, lambda x: [x.argmax(1)], 2, 70000), "reduction in parts"),
    "pool": (pooled, "reduction"),
    "several outputs": (several, "reduction"),
    "matmul": (lambda: matmul(60, 50, 40), "tiles of vectors"),
    "matmul of a transposed": (lambda: matmul(33, 65, 17, a=True), "tiles of vectors"),
    "matmul of b transposed": (lambda: matmul(33, 65, 17, b=True), "tiles of vectors"),
    "matmul of float64": (lambda: matmul(40, 40, 24, dtype="float64"), "tiles in shared memory"),
    "matmul of int32": (lambda: matmul(40, 40, 24, dtype="int32"), "tiles in shared memory"),
    "batches": (lambda: matmul(20, 30, 12, batch=(3, 2)), "tiles of vectors"),
    "epilogue": (lambda: matmul(40, 48, 24, b=True, epilogue=lambda v: v * 2 + 1), "tiles of vectors"),
    "prologue": (lambda: matmul(40, 48, 24, prologue=lambda v: v * 2 - 1), "tiles of vectors"),
    "float16": (lambda: matmul(100, 72, 50, dtype="float16", acc="float32"), "tensor cores"),
    "bfloat16 of b transposed": (lambda: matmul(60, 72, 64, dtype="bfloat16", acc="float32", b=True), "tensor cores"),
    "float16 of a transposed, odd": (lambda: matmul(33, 65, 17, dtype="float16", acc="float32", a=True), "tensor cores"),
    "float16, both transposed": (lambda: matmul(56, 64, 64, dtype="float16", acc="float32", a=True, b=True), "tensor cores"),
    "int8": (lambda: matmul(3, 200, 72, dtype="int8", acc="int32", b=True), "reduction"),
    "int8 of more rows": (lambda: matmul(24, 128, 32, dtype="int8", acc="int32", b=True), "tensor cores"),
    "batches of float16": (
        lambda: matmul(40, 48, 64, dtype="float16", acc="float32", batch=(2, 3), epilogue=lambda v: v * 2), "tensor cores"
    ),
    "prologue of float16": (
        lambda: matmul(40, 48, 64, dtype="float16", acc="float32", prologue=lambda v: v * 2), "tensor cores"
    ),
    "matvec": (lambda: matmul(70, 1, 300), "reduction"),
    "convolution": (lambda: convolution((1, 8, 10, 10), 16, 3, pad=1), "tiles of vectors"),
    "convolution, stride 2": (lambda: convolution((2, 3, 13, 13), 9, 3, stride=2, pad=1), "tiles of vectors"),
    "convolution, dilated": (lambda: convolution((1, 4, 12, 12), 8, 3, dilation=2, pad=2), "tiles of vectors"),
    "convolution, even kernel": (lambda: convolution((1, 4, 9, 9), 8, 2, pad=1), "tiles of vectors"),
    "convolution, channels last": (lambda: convolution((1, 8, 10, 10), 16, 3, pad=1, last=True), "tiles of vectors"),
    "convolution of one dimension": (lambda: convolution((2, 6, 40), 8, 5, pad=2), "tiles of vectors"),
    "convolution of three": (lambda: convolution((1, 4, 6, 6, 6), 8, 3, pad=1), "tiles of vectors"),
    "convolution of few results": (lambda: convolution((2, 8, 6, 6), 16, 3), "tiles in shared memory"),
    "groups": (lambda: convolution((1, 8, 10, 10), 12, 3, groups=2), "reduction"),
    "depthwise": (lambda: convolution((1, 8, 10, 10), 8, 3, groups=8, pad=1), "reduction"),
}  # fmt: skip


@pytest.mark.sample(24)
@pytest.mark.parametrize("target", ["sim", "cpu"])
@pytest.mark.parametrize("name", CASES)
def test_results(name: str, target: str) -> None:
    make, rule = CASES[name]
    case = make()
    s = tw.auto_schedule(case.outputs, target)
    if target == "sim":
        assert s.plan is not None and rule in [decision.rule for decision in s.plan], str(s.plan)
    function = tw.build(s, [*case.inputs, *case.outputs], target, "scheduled")
    shapes = [(tuple(map(int, one.shape)), one.dtype) for one in case.outputs]
    for got, exact in zip(testing.run(function, case.arrays, shapes), case.exact):
        bound = 1e-6 if "softmax" in name else 0
        np.testing.assert_allclose(got.astype("float64"), exact, rtol=0, atol=bound)


@pytest.mark.sample(36)
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", CASES)
def test_compiles(name: str, device: str) -> None:
    case = CASES[name][0]()
    target = tw.Target("cuda", device=device)
    function = tw.build(tw.auto_schedule(case.outputs, target), [*case.inputs, *case.outputs], target, "scheduled")
    assert f".target {target.arch}" in function.ptx
    if CASES[name][1] == "tensor cores":
        assert ("mma.sync" in function.ptx) == (device != "T4")


def test_symbolic_extents() -> None:
    n = te.var("n")
    X = te.placeholder((n, 40), name="X")
    k = te.reduce_axis((0, 40), "k")
    mean = te.compute((n,), lambda i: te.sum(X[i, k], axis=k), name="mean")
    Y = te.compute((n, 40), lambda i, j: X[i, j] * 40 - mean[i], name="Y")
    for target in ("sim", "cpu"):
        function = tw.build(tw.auto_schedule(Y, target), [X, Y], target, "centred")
        for count in (0, 1, 77):
            x = integers((count, 40))
            (got,) = testing.run(function, [x], [((count, 40), "float32")])
            np.testing.assert_array_equal(got, 40 * x - x.sum(1, keepdims=True))
