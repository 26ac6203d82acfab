"""Vectorized axes whose extents the lanes do not divide: right on the simulator, wide in PTX where they may be."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import te

CUDA = tw.Target("cuda", arch="sm_90a")


def schedule(B, lanes: int, threads: int = 16):
    """The last axis by `lanes` in each of `threads`, what is above by blocks."""
    s = te.create_schedule(B.op)
    *rows, last = B.op.axis
    block, inner = s[B].split(last, factor=threads * lanes)
    thread, lane = s[B].split(inner, factor=lanes)
    s[B].bind(block, te.thread_axis("blockIdx.x"))
    s[B].bind(thread, te.thread_axis("threadIdx.x"))
    s[B].vectorize(lane)
    if rows:
        s[B].bind(rows[0], te.thread_axis("blockIdx.y"))
    return s


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_symbolic_extents(dtype: str, lanes: int) -> None:
    n = te.var("n")
    A = te.placeholder((n,), dtype, name="A")
    B = te.compute((n,), lambda i: A[i] + A[i], name="B")
    s = schedule(B, lanes)
    kernel = tw.build(s, [A, B], target="sim")
    for extent in (1, 3, 7, 63, 64, 65, 127, 128, 130, 1000):
        x = np.random.default_rng(extent).integers(-50, 50, extent).astype(dtype)
        y = np.zeros_like(x)
        kernel(x, y)
        np.testing.assert_array_equal(y, x + x)
    bits = lanes * np.dtype(dtype).itemsize * 8
    wide = {16: "v2.b8", 32: "b32", 64: "v2.b32", 128: "v4.b32", 256: "v4.b32"}[bits]
    ptx = tw.build(s, [A, B], target=CUDA).ptx
    assert f"ld.global.nc.{wide}" in ptx and f"st.global.{wide}" in ptx


@pytest.mark.parametrize("extent", [1, 5, 62, 64, 66, 100, 101, 127, 129, 1000])
def test_known_extents(extent: int) -> None:
    A = te.placeholder((3, extent), name="A")
    B = te.compute((3, extent), lambda i, j: A[i, j] * 2.0 + te.exp(A[i, j]), name="B")
    x = np.random.default_rng(extent).standard_normal((3, extent)).astype("f4")
    y = np.zeros_like(x)
    tw.build(schedule(B, 4), [A, B], target="sim")(x, y)
    np.testing.assert_allclose(y, x.astype("f8") * 2 + np.exp(x.astype("f8")), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shift", [-3, -1, 0, 1, 2, 4])
def test_padding(shift: int) -> None:
    """What lies outside is 0; the bounds fall between the lanes."""
    A = te.placeholder((2, 72), name="A")
    B = te.compute(
        (2, 72), lambda i, j: te.if_then_else(te.all(j + shift >= 0, j + shift < 72), A[i, j + shift], 0.0), name="B"
    )
    x = np.random.default_rng(1).standard_normal((2, 72)).astype("f4")
    y = np.full_like(x, np.nan)
    tw.build(schedule(B, 4), [A, B], target="sim")(x, y)
    expected = np.zeros_like(x)
    to = slice(max(0, -shift), 72 - max(0, shift))
    expected[:, to] = x[:, to.start + shift : to.stop + shift]
    np.testing.assert_array_equal(y, expected)
    assert tw.build(schedule(B, 4), [A, B], target=CUDA).cubin


def test_conditions_that_are_not_monotonic() -> None:
    A = te.placeholder((256,), name="A")
    B = te.compute((256,), lambda i: te.if_then_else(te.any(i % 32 < 20, i == 100), A[i], -A[i]), name="B")
    x, y = np.random.default_rng(2).standard_normal(256).astype("f4"), np.zeros(256, "f4")
    tw.build(schedule(B, 4), [A, B], target="sim")(x, y)
    i = np.arange(256)
    np.testing.assert_array_equal(y, np.where((i % 32 < 20) | (i == 100), x, -x))


def test_cooperative_fetch_of_an_odd_tile() -> None:
    """A shared tile that the threads fill by vectors, more than it has."""
    A = te.placeholder((8, 60), name="A")
    k = te.reduce_axis((0, 60), "k")
    B = te.compute((8, 32), lambda i, j: te.sum(A[i, k] * (j + 1).astype("float32"), axis=k), name="B")
    s = te.create_schedule(B.op)
    shared = s.cache_read(A, "shared", [B])
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(B.op.axis[1], te.thread_axis("threadIdx.x"))
    s[shared].compute_at(s[B], B.op.axis[0])
    fused = s[shared].fuse(*s[shared].op.axis)
    thread, lane = s[shared].split(fused, factor=4)
    rest, thread = s[shared].split(thread, factor=32)
    s[shared].bind(thread, te.thread_axis("threadIdx.x"))
    s[shared].vectorize(lane)
    x, y = np.random.default_rng(3).standard_normal((8, 60)).astype("f4"), np.zeros((8, 32), "f4")
    tw.build(s, [A, B], target="sim")(x, y)
    np.testing.assert_allclose(y, x.astype("f8").sum(1)[:, None] * np.arange(1, 33), rtol=1e-4, atol=1e-4)
    ptx = tw.build(s, [A, B], target=CUDA).ptx
    assert "ld.global.nc.v4.b32" in ptx and "st.shared.v4.b32" in ptx
