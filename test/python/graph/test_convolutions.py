"""Convolutions of 16-bit floats, which are matmuls of filters and windows where tensor cores are worth it."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.graph import GraphBuilder, TensorType, compile_graph
from tilewright.graph.operators import OPERATORS

# Images, filters, strides, margins before and after, dilations.
CASES = [
    ((2, 16, 4, 6), (16, 16, 1, 1), (1, 1), (0, 0), (0, 0), (1, 1)),
    ((1, 5, 9, 8), (18, 5, 3, 3), (2, 1), (1, 1), (1, 0), (1, 1)),
    ((1, 3, 11, 9), (16, 3, 2, 3), (1, 2), (0, 2), (3, 1), (2, 1)),
    ((1, 20, 8, 8), (16, 20, 1, 1), (2, 2), (0, 0), (0, 0), (1, 1)),
    ((1, 7, 40), (17, 7, 5), (2,), (2,), (2,), (1,)),
    ((1, 9, 8, 8), (16, 9, 2, 2), (1, 1), (-1, 1), (1, -1), (1, 1)),
]


def _expected(x: np.ndarray, w: np.ndarray, strides, before, after, dilations) -> np.ndarray:
    """The sum over all places in a window, each of an image that is shifted and thinned out."""
    margins = [(max(low, 0), max(high, 0)) for low, high in zip(before, after)]
    image = np.pad(x.astype(float), [(0, 0), (0, 0), *margins])
    cut = [slice(max(-low, 0), extent - max(-high, 0)) for low, high, extent in zip(before, after, image.shape[2:])]
    image = image[(slice(None), slice(None), *cut)]
    counts = [
        (extent - (size - 1) * dilation - 1) // stride + 1
        for extent, size, dilation, stride in zip(image.shape[2:], w.shape[2:], dilations, strides)
    ]
    total = np.zeros((x.shape[0], w.shape[0], *counts))
    for place in np.ndindex(*w.shape[2:]):
        part = [
            slice(at * dilation, at * dilation + (count - 1) * stride + 1, stride)
            for at, dilation, count, stride in zip(place, dilations, counts, strides)
        ]
        total += np.einsum("nc...,oc->no...", image[(slice(None), slice(None), *part)], w[(..., *place)].astype(float))
    return total


@pytest.mark.sample(4)
@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_convolution_of_halves_is_right(case, target: str) -> None:
    images, filters, strides, before, after, dilations = case
    rng = np.random.default_rng(5)
    x, w = (rng.integers(-3, 4, shape).astype("float16") for shape in (images, filters))
    kinds = [("x", TensorType(images, "float16")), ("w", TensorType(filters, "float16"))]
    with GraphBuilder("conv", kinds) as b:
        made = b.op(
            "conv", b.inputs["x"], b.inputs["w"], strides=strides, before=before, after=after, dilations=dilations,
            groups=1, acc="float32", to="float16",
        )  # fmt: skip
        graph = b.finish([("y", b.op("relu", made))])
    model = compile_graph(graph, target)
    wanted = np.maximum(_expected(x, w, strides, before, after, dilations), 0)
    np.testing.assert_array_equal(model(x, w), wanted.astype("float16"))  # small integers: sums are exact
    assert model.verify(x, w)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_tensor_cores_multiply_it(case) -> None:
    images, filters, strides, before, after, dilations = case
    x, w = te.placeholder(images, "bfloat16", name="x"), te.placeholder(filters, "bfloat16", name="w")
    (made,) = OPERATORS["conv"](
        x, w, strides=strides, before=before, after=after, dilations=dilations, groups=1, acc="float32", to="bfloat16",
        by_threads=True,
    )  # fmt: skip
    plan = tw.auto_schedule(made, "cuda -arch=sm_80").plan
    assert plan is not None and [decision.rule for decision in plan] == ["tensor cores"]
    assert plan.decisions[0].stages[:2] == ("conv_cast", "conv_product")
