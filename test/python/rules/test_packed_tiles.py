"""Matmuls on a processor: every layout, extents that tiles do not divide, prologues, epilogues, batches, convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing

SHAPES = ((8, 64, 96), (127, 65, 77), (131, 96, 40), (5, 100, 333), (300, 16, 50), (256, 256, 128))


def product(M: int, N: int, K: int, layout: str, dtype: str = "float32", batch: int | None = None) -> Any:
    some = () if batch is None else (batch,)
    A = te.placeholder((*some, *((K, M) if layout[0] == "T" else (M, K))), dtype, "A")
    B = te.placeholder((*some, *((N, K) if layout[1] == "T" else (K, N))), dtype, "B")
    k = te.reduce_axis((0, K), "k")

    def element(*at: Any) -> te.Expr:
        *of, i, j = at
        a = A[(*of, k, i)] if layout[0] == "T" else A[(*of, i, k)]
        return te.sum(a * (B[(*of, j, k)] if layout[1] == "T" else B[(*of, k, j)]), axis=k)

    return A, B, te.compute((*some, M, N), element, name="C")


def rules(s: te.Schedule) -> list[str]:
    assert s.plan is not None
    return [decision.rule for decision in s.plan]


def integers(shape: tuple[int, ...], dtype: str = "float32", seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


@pytest.mark.sample(3)
@pytest.mark.parametrize("layout", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_layout(shape: tuple[int, int, int], layout: str) -> None:
    A, B, C = product(*shape, layout)
    s = tw.auto_schedule(C, "cpu")
    assert rules(s) == ["packed tiles"]
    a, b = integers(A.shape), integers(B.shape, seed=1)
    (got,) = testing.run(tw.build(s, [A, B, C], "cpu", "matmul"), [a, b], [(C.shape, "float32")])
    np.testing.assert_array_equal(got, (a.T if layout[0] == "T" else a) @ (b.T if layout[1] == "T" else b))


@pytest.mark.sample(2)
@pytest.mark.parametrize("tile", [(4, 32), (6, 64), (16, 16)])
@pytest.mark.parametrize("blocks", [1, 4])
def test_other_settings(tile: tuple[int, int], blocks: int) -> None:
    A, B, C = product(131, 100, 40, "NT")
    s = tw.auto_schedule(C, "cpu", settings={"C": {"tile": tile, "blocks": blocks}})
    a, b = integers(A.shape), integers(B.shape, seed=1)
    (got,) = testing.run(tw.build(s, [A, B, C], "cpu", "matmul"), [a, b], [(C.shape, "float32")])
    np.testing.assert_array_equal(got, a @ b.T)


def test_a_batch_with_prologue_and_epilogue_in_float64() -> None:
    A, B = te.placeholder((3, 70, 50), "float64", "A"), te.placeholder((3, 50, 40), "float64", "B")
    bias = te.placeholder((40,), "float64", "bias")
    twice = te.compute((3, 70, 50), lambda n, i, k: A[n, i, k] * 2.0 + 1.0, name="twice")
    k = te.reduce_axis((0, 50), "k")
    C = te.compute((3, 70, 40), lambda n, i, j: te.sum(twice[n, i, k] * B[n, k, j], axis=k), name="C")
    D = te.compute((3, 70, 40), lambda n, i, j: te.max(C[n, i, j] + bias[j], 0.0), name="D")
    s = tw.auto_schedule(D, "cpu")
    assert rules(s) == ["packed tiles"]
    a, b, c = (integers(one.shape, "float64", seed) for seed, one in enumerate((A, B, bias)))
    (got,) = testing.run(tw.build(s, [A, B, bias, D], "cpu", "layer"), [a, b, c], [(D.shape, "float64")])
    np.testing.assert_array_equal(got, np.maximum((2 * a + 1) @ b + c, 0))


@pytest.mark.parametrize(
    ("kernel", "stride", "rule"), [(1, 1, "packed tiles"), (3, 2, "packed tiles"), (3, 1, "as it is")]
)
def test_convolutions_whose_windows_do_not_overlap_in_vectors_are_matmuls(kernel: int, stride: int, rule: str) -> None:
    """Those of stride 1 are left to the compiler, which reads vectors of the rows that windows move along."""
    size, half = 15, kernel // 2
    x, w = te.placeholder((2, 16, size, size), name="x"), te.placeholder((24, 16, kernel, kernel), name="w")
    padded = te.compute(
        (2, 16, size + 2 * half, size + 2 * half),
        lambda n, c, y, z: te.if_then_else(
            te.all(y >= half, y < size + half, z >= half, z < size + half), x[n, c, y - half, z - half], 0.0
        ),
        name="padded",
    )
    c, ky, kx = te.reduce_axis((0, 16), "c"), te.reduce_axis((0, kernel), "ky"), te.reduce_axis((0, kernel), "kx")
    of = (size + 2 * half - kernel) // stride + 1
    y = te.compute(
        (2, 24, of, of),
        lambda n, f, i, j: te.sum(padded[n, c, i * stride + ky, j * stride + kx] * w[f, c, ky, kx], axis=[c, ky, kx]),
        name="y",
    )
    s = tw.auto_schedule(y, "cpu")
    assert rules(s)[-1] == rule
    a, b = integers((2, 16, size, size)), integers((24, 16, kernel, kernel), seed=1)
    f = tw.build(s, [x, w, y], "cpu", "conv")
    if rule == "packed tiles":
        assert ("w_matrix.pad" in f.ir("loops")) == (kernel > 1), "filters of 1 x 1 are a matrix as they are"
    (got,) = testing.run(f, [a, b], [((2, 24, of, of), "float32")])
    wide = np.pad(a, ((0, 0), (0, 0), (half, half), (half, half)))
    windows = np.lib.stride_tricks.sliding_window_view(wide, (kernel, kernel), (2, 3))[:, :, ::stride, ::stride]
    np.testing.assert_array_equal(got, np.einsum("ncijyx,fcyx->nfij", windows, b))


@pytest.mark.parametrize(("channels", "lanes"), [(32, 16), (12, 4), (3, 0)])
def test_windows_of_images_with_channels_last_are_copied_for_each_tile(channels: int, lanes: int) -> None:
    """No matrix of all windows is stored, and a pixel's channels are copied in vectors."""
    height, width, of = 9, 7, 5 * 4
    x, w = te.placeholder((2, height, width, channels), name="x"), te.placeholder((9 * channels, 40), name="w")

    def element(row: te.Expr, column: te.Expr) -> te.Expr:
        n, y, z = row // of, row % of // 4 * 2 - 1, row % 4 * 2 - 1
        y, z = y + column // channels // 3, z + column // channels % 3
        inside = te.all(y >= 0, y < height, z >= 0, z < width)
        return te.if_then_else(inside, x[n, y, z, column % channels], 0.0)

    windows = te.compute((2 * of, 9 * channels), element, name="pixels")
    k = te.reduce_axis((0, 9 * channels), "k")
    y = te.compute((2 * of, 40), lambda i, j: te.sum(windows[i, k] * w[k, j], axis=k), name="y")
    s = tw.auto_schedule(y, "cpu")
    assert rules(s) == ["packed tiles"]
    f = tw.build(s, [x, w, y], "cpu", "conv")
    text = f.ir("loops")
    assert f"memref<{2 * of}x{9 * channels}xf32>" not in text, text
    a, b = integers(x.shape), integers(w.shape, seed=1)
    (got,) = testing.run(f, [a, b], [(y.shape, "float32")])
    wide = np.pad(a, ((0, 0), (1, 1), (1, 1), (0, 0)))
    of_all = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), (1, 2))[:, ::2, ::2]
    exact = np.einsum("nijcyx,yxcf->nijf", of_all, b.reshape(3, 3, channels, 40))
    np.testing.assert_array_equal(got, exact.reshape(got.shape))
    copies = [line for line in str(s).splitlines() if "vectorize" in line and "k.inner" in line]
    assert f"{lanes})" in copies[0] if lanes else not copies, str(s)
