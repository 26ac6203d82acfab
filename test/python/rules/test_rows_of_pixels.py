"""Convolutions whose windows do not overlap, as matmuls of pixels: of one tap by warpgroups, of patches by cp.async."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from rules.test_classes import integers
from tilewright import te, testing
from tilewright.backend.cubin import link

HOPPER = "cuda -device=H200"
Program = tuple[list[te.Tensor], te.Tensor]


def of_one_tap(batch: int, rows: int, columns: int, channels: int, filters: int, layout: str, dtype: str) -> Program:
    """The images, filters, biases and other images of the results' shape; the sum of all, where that is positive."""
    B, c = te.placeholder((filters,), name="B"), te.reduce_axis((0, channels), "c")

    def shape(of: int) -> tuple[int, ...]:
        return (batch, of, rows, columns) if layout == "first" else (batch, rows, columns, of)

    X, R = te.placeholder(shape(channels), dtype, name="X"), te.placeholder(shape(filters), dtype, name="R")
    W = te.placeholder((filters, channels, 1, 1), dtype, name="W")
    place = 1 if layout == "first" else 3

    def total(*at: Any) -> Any:
        pixel = X(*at[:place], c, *at[place + 1 :])
        return te.sum(pixel.astype("float32") * W[at[place], c, 0, 0].astype("float32"), axis=c)

    Y = te.compute(shape(filters), total, name="Y")
    Z = te.compute(
        Y.shape, lambda *at: te.max(Y(*at) + B(at[place]) + R(*at).astype("float32"), 0.0).astype(dtype), name="Z"
    )
    return [X, W, B, R], Z


def moved(ptx: str) -> Counter[str]:
    """The instructions that multiply, and those that copy tiles or store elements."""
    return Counter(
        re.findall(
            r"wgmma\.mma_async|mma\.sync|cp\.async\.bulk\.tensor\.\dd\.\w+|cp\.async\.c\w|st\.global|ldmatrix", ptx
        )
    )


# Rows that end within images or within a tile, tiles of several rows of an image or of whole images, and K and columns
# that are no tile.
SIZES = [
    (2, 5, 13, 64, 64, "last", "float16"),
    (2, 16, 16, 64, 128, "last", "bfloat16"),
    (3, 4, 18, 40, 64, "first", "float16"),
    (1, 5, 16, 72, 64, "first", "bfloat16"),
    (2, 13, 8, 264, 72, "first", "float16"),
    (3, 8, 8, 64, 64, "last", "float16"),
    (36, 2, 2, 64, 64, "last", "float16"),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize("size", SIZES)
def test_filters_of_one_tap_by_warpgroups(size: tuple[Any, ...]) -> None:
    """TMA copies tiles of pixels, which are several axes of the images, both to shared memory and from there."""
    *extents, layout, dtype = size
    inputs, Z = of_one_tap(*extents, layout, dtype)
    arrays = [integers(tuple(map(int, one.shape)), one.dtype, seed) for seed, one in enumerate(inputs)]
    for target in ("sim -device=H200", HOPPER):
        s = tw.auto_schedule(Z, target, settings={"Z": {"rule": "warpgroups"}})
        function = tw.build(s, [*inputs, Z], target, "conv")
        if target == HOPPER:
            found = moved(function.ptx)
            assert found.keys() >= {"wgmma.mma_async"} and not found.keys() & {"mma.sync", "st.global", "ldmatrix"}
            copies = [name.rsplit(".", 1)[1] for name in found if "tensor" in name]
            assert {"shared", "global"} == set(copies)
            continue
        shape = tuple(map(int, Z.shape))
        (got,) = testing.run(function, arrays, [(shape, dtype)])
        x, w, b, r = (one.astype("float64") for one in arrays)
        if layout == "first":
            exact = np.einsum("nchw,fc->nfhw", x, w[:, :, 0, 0]) + b[:, None, None] + r
        else:
            exact = np.einsum("nhwc,fc->nhwf", x, w[:, :, 0, 0]) + b + r
        np.testing.assert_array_equal(got.astype("float64"), np.maximum(exact, 0).astype(got.dtype).astype("float64"))


def of_patches(batch: int, channels: int, size: int, filters: int, patch: int, layout: str) -> Program:
    """The images, cut into patches, and the filters, of which each has a number for each patch."""
    across = size // patch
    c, i, j = te.reduce_axis((0, channels), "c"), te.reduce_axis((0, patch), "i"), te.reduce_axis((0, patch), "j")

    def product(pixel: te.Expr, weight: te.Expr, axes: list[te.IterVar]) -> te.Expr:
        return te.sum(pixel.astype("float32") * weight.astype("float32"), axis=axes)

    if layout == "first":
        X = te.placeholder((batch, channels, size, size), "float16", name="X")
        W = te.placeholder((filters, channels, patch, patch), "float16", name="W")
        return [X, W], te.compute(
            (batch, filters, across, across),
            lambda n, f, y, x: product(X[n, c, y * patch + i, x * patch + j], W[f, c, i, j], [c, i, j]),
            name="Y",
        )
    X = te.placeholder((batch, size, size, channels), "float16", name="X")
    W = te.placeholder((filters, patch, patch, channels), "float16", name="W")
    return [X, W], te.compute(
        (batch, across, across, filters),
        lambda n, y, x, f: product(X[n, y * patch + i, x * patch + j, c], W[f, i, j, c], [i, j, c]),
        name="Y",
    )


# Of vision transformers and of ConvNeXt: how many copies a K tile of the images takes, of 16, 8 and 4 bytes.
PATCHES = [
    ((2, 3, 64, 128, 16, "first"), "cg"),
    ((2, 24, 16, 48, 4, "first"), "ca"),
    ((2, 160, 16, 48, 2, "last"), "cg"),
    ((2, 192, 16, 32, 2, "first"), "ca"),
]


@pytest.mark.sweep
@pytest.mark.parametrize(("size", "copies"), PATCHES)
def test_patches(size: tuple[Any, ...], copies: str) -> None:
    """What of a patch lies together is copied by cp.async, some K tiles ahead."""
    inputs, Y = of_patches(*size)
    arrays = [integers(tuple(map(int, one.shape)), "float16", seed) for seed, one in enumerate(inputs)]
    s = tw.auto_schedule(Y, "cuda -device=A100")
    ptx = tw.build(s, [*inputs, Y], "cuda -device=A100", "patches").ptx
    assert moved(ptx)[f"cp.async.{copies}"] and "ld.global" not in ptx
    (got,) = testing.run(
        tw.build(tw.auto_schedule(Y, "sim -device=A100"), [*inputs, Y], "sim", "patches"),
        arrays,
        [(tuple(map(int, Y.shape)), "float32")],
    )
    n, size_of_patch = (size[0], size[4])
    across, (x, w) = size[2] // size_of_patch, (one.astype("float64") for one in arrays)
    if size[5] == "first":
        x = x.reshape(n, size[1], across, size_of_patch, across, size_of_patch)
        exact = np.einsum("ncyixj,fcij->nfyx", x, w)
    else:
        x = x.reshape(n, across, size_of_patch, across, size_of_patch, size[1])
        exact = np.einsum("nyixjc,fijc->nyxf", x, w)
    np.testing.assert_array_equal(got, exact)


RESNET = [
    ((32, 56, 56, 64, 256, "last"), "100352 rows, 256 columns, K 64"),
    ((32, 56, 56, 256, 64, "first"), "64 rows, 3136 columns, K 256"),
    ((32, 14, 14, 1024, 256, "last"), "6272 rows, 256 columns, K 1024"),
]


@pytest.mark.sweep
@pytest.mark.parametrize(("size", "extents"), RESNET)
def test_layers_of_resnet(size: tuple[Any, ...], extents: str) -> None:
    """Warpgroups are the faster by the model, and nothing is spilled."""
    *sizes, layout = size
    inputs, Z = of_one_tap(*sizes, layout, "float16")
    s = tw.auto_schedule(Z, HOPPER)
    batch = ", 32 of them" if layout == "first" else ""
    operands = "X_matrix, W_windows" if layout == "last" else "W_windows, X_matrix"
    assert (
        f"warpgroups: Z, Y_product, {operands}, Y: {extents}, float16 with sums in float32, rows of whole 16 bytes{batch} ("
        in s.explain()
    )
    linked = link(tw.build(s, [*inputs, Z], HOPPER, "conv").ptx, "sm_90a")
    assert not linked.notes
    assert {(kernel.spill_store_bytes, kernel.stack_bytes) for kernel in linked.resources.values()} == {(0, 0)}


def test_an_operation_of_one_tap() -> None:
    """Models have their convolutions by the same rules."""
    x, w = tw.ops.Operand((32, 56, 56, 64), "float16"), tw.ops.Operand((256, 64, 1, 1), "float16")
    s, tensors = tw.ops.conv.schedule(x, w, layout="last", target=tw.Target.of(HOPPER))
    assert "warpgroups: " in s.explain()
    assert moved(tw.build(s, tensors, HOPPER).ptx).keys() == {
        "wgmma.mma_async", "cp.async.bulk.tensor.2d.shared", "cp.async.bulk.tensor.2d.global",
    }  # fmt: skip
