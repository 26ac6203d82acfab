"""Programs of kinds that users write: odd ranks, ties, masks, pairs, stages that read at computed places."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rule_programs import Made, check
from tilewright import te

NUMBERS = np.random.default_rng(5)


def floats(*shape: int) -> np.ndarray:
    return NUMBERS.standard_normal(shape).astype("float32")


def variance_of_middle_axes() -> Made:
    X = te.placeholder((3, 7, 11, 5, 4), name="X")
    j, k, u, v = (te.reduce_axis((0, n)) for n in (7, 5, 7, 5))
    total = te.compute((3, 11, 4), lambda a, b, c: te.sum(X[a, j, b, k, c], axis=[j, k]), name="total")
    mean = te.compute((3, 11, 4), lambda a, b, c: total[a, b, c] / 35.0, name="mean")

    def centred(a: Any, b: Any, c: Any) -> Any:
        return X[a, u, b, v, c] - mean[a, b, c]

    squares = te.compute((3, 11, 4), lambda *at: te.sum(centred(*at) * centred(*at), axis=[u, v]), name="squares")
    x = floats(3, 7, 11, 5, 4)
    return [X], [mean, squares], [x], [x.mean((1, 3)), x.var((1, 3)) * 35]


def least_of_equal_ones() -> Made:
    X, k = te.placeholder((33, 257), "int32", name="X"), te.reduce_axis((0, 257), name="k")

    def earlier(a: Any, b: Any) -> Any:
        is_a = te.any(a[1] < b[1], te.all(a[1] == b[1], a[0] < b[0]))
        return te.if_then_else(is_a, a[0], b[0]), te.if_then_else(is_a, a[1], b[1])

    argmin = te.comm_reducer(earlier, lambda a, b: (te.max_value(a), te.max_value(b)), name="argmin")
    place, value = te.compute((33,), lambda i: argmin((k.astype("int32"), X[i, k]), axis=k), name="least")
    x = NUMBERS.integers(0, 4, (33, 257)).astype("int32")
    return [X], [place, value], [x], [x.argmin(1).astype("int32"), x.min(1)]


def rows_at_clamped_places() -> Made:
    T, P = te.placeholder((100, 16), name="T"), te.placeholder((40,), "int64", name="P")
    Y = te.compute((40, 16), lambda i, j: T[te.min(te.max(P[i], 0), 99), j] * 2.0, name="Y")
    t, i = floats(100, 16), NUMBERS.integers(-200, 300, (40,))
    i[:2] = 2**40, -(2**40)
    return [T, P], [Y], [t, i], [t[np.clip(i, 0, 99)] * 2]


def products_of_complex_pairs() -> Made:
    A, B = te.placeholder((17, 24, 2), name="A"), te.placeholder((24, 19, 2), name="B")
    k, u = te.reduce_axis((0, 24), name="k"), te.reduce_axis((0, 24), name="u")
    real = te.compute(
        (17, 19), lambda i, j: te.sum(A[i, k, 0] * B[k, j, 0] - A[i, k, 1] * B[k, j, 1], axis=k), name="real"
    )
    imaginary = te.compute(
        (17, 19), lambda i, j: te.sum(A[i, u, 0] * B[u, j, 1] + A[i, u, 1] * B[u, j, 0], axis=u), name="imaginary"
    )
    a, b = floats(17, 24, 2), floats(24, 19, 2)
    exact = (a[..., 0] + 1j * a[..., 1]) @ (b[..., 0] + 1j * b[..., 1])
    return [A, B], [real, imaginary], [a, b], [exact.real, exact.imag]


def stages_of_a_fourier_transform() -> Made:
    X = te.placeholder((5, 16, 2), name="X")

    def butterfly(A: te.Tensor, half: int) -> te.Tensor:
        def element(r: Any, t: Any, c: Any) -> Any:
            low = t % (2 * half)
            first, q = t - low + low % half, low % half
            angle = q.astype("float32") * (-math.pi / half)
            real, imaginary = A[r, first + half, 0], A[r, first + half, 1]
            turned = te.if_then_else(
                c == 0,
                real * te.cos(angle) - imaginary * te.sin(angle),
                imaginary * te.cos(angle) + real * te.sin(angle),
            )
            return te.if_then_else(low < half, A[r, first, c] + turned, A[r, first, c] - turned)

        return te.compute(A.shape, element, name=f"butterfly{half}")

    made = te.compute(
        X.shape, lambda r, t, c: X[r, sum(((t >> bit) & 1) << (3 - bit) for bit in range(4)), c], name="reversed"
    )
    for half in (1, 2, 4, 8):
        made = butterfly(made, half)
    x = floats(5, 16, 2)
    exact = np.fft.fft(x[..., 0] + 1j * x[..., 1], axis=1)
    return [X], [made], [x], [np.stack([exact.real, exact.imag], -1)]


def means_of_what_a_mask_leaves() -> Made:
    X, M = te.placeholder((21, 50), name="X"), te.placeholder((21, 50), "bool", name="M")
    k, u = te.reduce_axis((0, 50), name="k"), te.reduce_axis((0, 50), name="u")
    count = te.compute((21,), lambda i: te.sum(M[i, k].astype("int32"), axis=k), name="count")
    total = te.compute((21,), lambda i: te.sum(te.if_then_else(M[i, u], X[i, u], 0.0), axis=u), name="total")
    mean = te.compute((21,), lambda i: total[i] / te.max(count[i], 1).astype("float32"), name="mean")
    above = te.compute((21, 50), lambda i, j: te.all(M[i, j], X[i, j] > mean[i]), name="above")
    x, m = NUMBERS.integers(-8, 9, (21, 50)).astype("float32"), NUMBERS.random((21, 50)) < 0.3
    m[3] = False
    exact = np.where(m, x, 0).sum(1, dtype="float32") / np.maximum(m.sum(1), 1).astype("float32")
    return [X, M], [mean, above], [x, m], [exact, m & (x > exact[:, None])]


def counts_of_bins() -> Made:
    X, k = te.placeholder((1000,), "int32", name="X"), te.reduce_axis((0, 1000), name="k")
    H = te.compute((32,), lambda b: te.sum((X[k] == b).astype("int32"), axis=k), name="H")
    x = NUMBERS.integers(0, 32, 1000).astype("int32")
    return [X], [H], [x], [np.bincount(x, minlength=32)]


def integers_beyond_32_bits() -> Made:
    X, k = te.placeholder((70,), "int64", name="X"), te.reduce_axis((0, 70), name="k")
    Y = te.compute((70,), lambda i: X[i] * 3000000000 + i.astype("int64") * 4000000000, name="Y")
    S = te.compute((1,), lambda _: te.sum(Y[k], axis=k), name="S")
    x = NUMBERS.integers(-(2**29), 2**29, 70)
    exact = x * 3000000000 + np.arange(70) * 4000000000
    return [X], [Y, S], [x], [exact, exact.sum(keepdims=True)]


def all_axes_of_seven() -> Made:
    shape = (2, 3, 1, 4, 2, 3, 5)
    X, axes = te.placeholder(shape, "float64", name="X"), [te.reduce_axis((0, n)) for n in shape]
    S = te.compute((), lambda: te.max(X(*axes), axis=axes), name="S")
    Y = te.compute(shape[::-1], lambda *at: X(*at[::-1]) - S(), name="Y")
    x = NUMBERS.standard_normal(shape)
    return [X], [S, Y], [x], [x.max(), x.transpose() - x.max()]


def medians_of_symbolic_rows() -> Made:
    n, m = te.var("n"), te.var("m")
    X, k = te.placeholder((n, m), name="X"), te.reduce_axis((0, n), name="k")

    def middle(i: Any, j: Any) -> Any:
        a, b, c = X[i, te.max(j - 1, 0)], X[i, j], X[i, te.min(j + 1, m - 1)]
        return te.max(te.min(a, b), te.min(te.max(a, b), c))

    Y = te.compute((n, m), middle, name="Y")
    S = te.compute((m,), lambda j: te.max(Y[k, j], axis=k), name="S")
    x = floats(13, 29)
    padded = np.pad(x, ((0, 0), (1, 1)), mode="edge")
    exact = np.median(np.stack([padded[:, :-2], x, padded[:, 2:]]), 0)
    return [X], [Y, S], [x], [exact, exact.max(0)]


PROGRAMS: list[Callable[[], Made]] = [
    variance_of_middle_axes, least_of_equal_ones, rows_at_clamped_places, products_of_complex_pairs,
    stages_of_a_fourier_transform, means_of_what_a_mask_leaves, counts_of_bins, integers_beyond_32_bits,
    all_axes_of_seven, medians_of_symbolic_rows,
]  # fmt: skip


@pytest.mark.parametrize("target", ["sim", "cpu"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs_of_users(program: Callable[[], Made], target: str) -> None:
    check(program, target)
