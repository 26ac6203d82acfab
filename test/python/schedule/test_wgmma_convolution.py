"""Convolutions by wgmma as a user writes and schedules them: boxes of images, and what is refused of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import tilewright as tw
from tilewright import te
from tilewright.backend.cubin import link
from tilewright.instructions import wgmma

Scheduled = tuple[te.Schedule, list[te.Tensor]]


def convolution(
    tile: tuple[int, int, int] = (1, 8, 8),
    *,
    size: int = 8,
    kernel: int = 3,
    channels: int = 64,
    products: int = 64,
    warpgroups: int = 1,
    is_shared: bool = True,
    hwio: bool = False,
    split_rows: int | None = None,
    change: Callable[..., None] | None = None,
) -> Scheduled:
    """Y = X * W, 64 filters, images with a margin of zeros that a stage has. A step is a column of the kernel, or, unless what
    it fetches `is_shared` by its rows, a place."""
    margin, out = kernel // 2, -(-size // tile[1]) * tile[1]
    X = te.placeholder((tile[0], size, size, channels), "float16", name="X")
    W = te.placeholder((kernel, kernel, channels, 64) if hwio else (64, kernel, kernel, channels), "float16", name="W")

    def pixel(n: te.Expr, y: te.Expr, x: te.Expr, c: te.Expr) -> te.Expr:
        inside = te.all(y >= margin, y < size + margin, x > margin - 1, x <= size + margin - 1)
        return te.if_then_else(inside, X[n, y - margin, x - margin, c], 0)

    A = te.compute((tile[0], out + kernel - 1, out + kernel - 1, channels), pixel, name="A")
    r, q, c = (te.reduce_axis((0, extent), name) for extent, name in ((kernel, "r"), (kernel, "q"), (channels, "c")))
    B = te.compute(
        (kernel, kernel, channels, 64) if hwio else (kernel, kernel, 64, channels),
        (lambda r, q, c, f: W[r, q, c, f]) if hwio else (lambda r, q, f, c: W[f, r, q, c]),
        name="B",
    )
    P = te.compute(
        (tile[0], out, out, 64),
        lambda n, y, x, f: te.sum(
            A[n, y + r, x + q, c].astype("float32") * (B[r, q, c, f] if hwio else B[r, q, f, c]).astype("float32"),
            axis=[r, q, c],
        ),
        name="P",
    )
    Y = te.compute((tile[0], size, size, 64), lambda *at: P[at], name="Y")
    s = te.create_schedule(Y.op)
    n, y, x, f = Y.op.axis
    yo, y = s[Y].split(y, factor=tile[1])
    xo, x = s[Y].split(x, factor=tile[2])
    s[Y].reorder(yo, xo, n, y, x, f)
    block = s[Y].fuse(yo, xo)
    s[Y].bind(block, te.thread_axis("blockIdx.x"))
    s[Y].env_threads([te.thread_axis((0, 128), "threadIdx.x")])
    warpgroup, y = s[Y].split(y, nparts=warpgroups)
    s[Y].reorder(warpgroup, n, y)
    s[Y].bind(warpgroup, te.thread_axis("threadIdx.y"))
    s[P].set_scope("local")
    s[P].compute_at(s[Y], warpgroup)
    n, y, x, f = s[P].op.axis
    co, ci = s[P].split(c, factor=products)
    some = s[P].split(r, factor=split_rows) if split_rows else (r,)
    s[P].reorder(q, *some, co, n, y, x, f, ci)
    step = q if is_shared else s[P].fuse(q, *some)
    rows = (tile[0], tile[1] // warpgroups, tile[2])
    s[P].tensorize(n, wgmma("float16", "float32", n=64, k=products, rows=rows, transpose_b=not hwio))
    for stage in (A, B):
        s[stage].set_scope("shared")
        s[stage].compute_at(s[P], step)
        s[stage].copy_by("tma")
    s[P].software_pipeline(step, 2)
    s[P].specialize(step)
    if change is not None:
        change(s, A=A, B=B, P=P, Y=Y)
    return s, [X, W, Y]


def shape_of(tensor: te.Tensor) -> tuple[int, ...]:
    return tuple(int(str(extent)) for extent in tensor.shape)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"size": 11},
        {"tile": (1, 16, 8), "warpgroups": 2, "size": 13},
        {"channels": 128},
        {"hwio": True},
        {"kernel": 5, "size": 9},
        {"kernel": 1},
        {"is_shared": False, "tile": (2, 4, 8)},
    ],
    ids=str,
)
def test_boxes_of_images(options: dict[str, Any]) -> None:
    """By the simulator, which lays boxes out as the hardware does; integers are exact."""
    s, (X, W, Y) = convolution(**options)
    func = tw.build(s, [X, W, Y], target="sim", name="conv")
    random = np.random.default_rng(0)
    x, w = (random.integers(-4, 5, shape_of(tensor)).astype("float16") for tensor in (X, W))
    y = np.full(shape_of(Y), np.nan, "float32")
    func(x, w, y)
    kernel = options.get("kernel", 3)
    margin = kernel // 2
    padded = np.pad(x.astype("float64"), ((0, 0), (margin, margin), (margin, margin), (0, 0)))
    windows = sliding_window_view(padded, (kernel, kernel), axis=(1, 2))
    np.testing.assert_array_equal(
        y, np.einsum("nyxcij,ijcf->nyxf" if options.get("hwio") else "nyxcij,fijc->nyxf", windows, w.astype("float64"))
    )


def test_one_copy_for_all_rows_of_the_kernel() -> None:
    s, tensors = convolution(size=16)
    text = str(tw.lower(s, tensors, stage="gpu", target="cuda -arch=sm_90a"))
    assert "tile.encode %arg0 : memref<1x16x16x64xf16> -> <1x10x8x64xf16, swizzle = 128>" in text
    assert (
        "tile.encode %arg1 as [3, 3, 64, 64] strides [64, 192, 576, 1] steps [1, 1, 1, 1] : memref<64x3x3x64xf16> -> "
        "<1x3x64x64xf16, swizzle = 128>"
    ) in text
    assert "every 8 : <80x64xf16, swizzle = 128> -> <64x64xf16, swizzle = 128>" in text
    assert text.count("tile.tma_load") == 2 and text.count("tile.wgmma ") == 6
    cubin = link(tw.build(s, tensors, target="cuda -arch=sm_90a", name="conv").ptx, "sm_90a")
    assert not cubin.notes
    assert all(not one.spill_store_bytes and not one.stack_bytes for one in cubin.resources.values())


def test_one_in_two_pixels() -> None:
    X, W = te.placeholder((1, 16, 16, 64), "float16", name="X"), te.placeholder((64, 64), "float16", name="W")
    A = te.compute((8, 8, 64), lambda y, x, c: X[0, 2 * y, 2 * x, c], name="A")
    c = te.reduce_axis((0, 64), "c")
    P = te.compute(
        (8, 8, 64),
        lambda y, x, f: te.sum(A[y, x, c].astype("float32") * W[f, c].astype("float32"), axis=c),
        name="P",
    )
    Y = te.compute((8, 8, 64), lambda *at: P[at], name="Y")
    s = te.create_schedule(Y.op)
    block, _ = s[Y].split(Y.op.axis[0], nparts=1)
    s[Y].bind(block, te.thread_axis("blockIdx.x"))
    s[Y].env_threads([te.thread_axis((0, 128), "threadIdx.x")])
    s[P].set_scope("local")
    s[P].compute_at(s[Y], block)
    co, c = s[P].split(c, factor=64)
    y, x, f = P.op.axis
    s[P].reorder(co, y, x, f, c)
    s[P].tensorize(y, wgmma("float16", n=64, rows=(8, 8), transpose_b=True))
    for stage in (A, s.cache_read(W, "shared", [P])):
        s[stage].set_scope("shared")
        s[stage].compute_at(s[P], co)
        s[stage].copy_by("tma")
    s[P].software_pipeline(co, 2)
    s[P].specialize(co)
    text = str(tw.lower(s, [X, W, Y], stage="gpu", target="cuda -arch=sm_90a"))
    assert "as [1, 16, 16, 64] strides [16384, 1024, 64, 1] steps [1, 2, 2, 1] : memref<1x16x16x64xf16>" in text
    random = np.random.default_rng(1)
    x, w = (random.integers(-4, 5, shape_of(tensor)).astype("float16") for tensor in (X, W))
    y = np.full(shape_of(Y), np.nan, "float32")
    tw.build(s, [X, W, Y], target="sim", name="conv")(x, w, y)
    np.testing.assert_array_equal(y, np.einsum("yxc,fc->yxf", x[0, ::2, ::2].astype("float64"), w.astype("float64")))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"tile": (2, 4, 8)},
            "wgmma of stage 'P': expected rows or columns of operand A that lie one behind the other in buffer 'A' as those "
            "of the accumulator do: have a stage of its own hold them so",
        ),
        (
            {"tile": (1, 16, 4), "size": 16},
            "wgmma of stage 'P': expected operand A from a multiple of 8 rows of buffer 'A' on",
        ),
        (
            {"tile": (1, 16, 4), "size": 16, "kernel": 2},
            "copy_by: stage 'A': expected a multiple of 8 rows, after which the swizzle is the same again, got 68",
        ),
        (
            {"products": 32},
            "wgmma of stage 'P': expected operand A from a multiple of 32 columns of buffer 'A' on, in whole swizzle spans",
        ),
        (
            {"split_rows": 2},
            "wgmma of stage 'P': expected nothing but loops of constant extents between it and the pipelined loop, got a "
            "condition",
        ),
    ],
    ids=["images", "rows", "swizzle", "spans", "condition"],
)
def test_what_cannot_work_is_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(tw.CompileError) as error:
        tw.lower(*convolution(**options), stage="gpu", target="cuda -arch=sm_90a")
    assert re.sub(r"^.*?: (?=error)", "", str(error.value)).splitlines()[0] == f"error: {text}"


def test_rows_that_are_none_of_a_warpgroup() -> None:
    with pytest.raises(ValueError, match=re.escape("wgmma: expected axes of 64 rows together, got extents of (8, 4)")):
        wgmma("float16", n=64, rows=(8, 4))
