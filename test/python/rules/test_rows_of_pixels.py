"""Convolutions whose windows do not overlap, as matmuls of pixels."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from rules.test_classes import integers
from tilewright import te, testing

Program = tuple[list[te.Tensor], te.Tensor]


def moved(ptx: str) -> Counter[str]:
    """The instructions that multiply, and those that copy tiles or store elements."""
    return Counter(
        re.findall(
            r"wgmma\.mma_async|mma\.sync|cp\.async\.bulk\.tensor\.\dd\.\w+|cp\.async\.c\w|st\.global|ldmatrix", ptx
        )
    )


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


@pytest.mark.sample(2)
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
