"""Buffers of more than 2**31 elements, and of more than 2**32: what is read and written beyond them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import tilewright as tw
from tilewright import te
from tilewright.runtime import cuda
from tilewright.te import Schedule, Tensor

MORE_THAN_31, MORE_THAN_32 = 2**31 + 4096, 2**32 + 4096
EXTENTS = [MORE_THAN_31, MORE_THAN_32]
COUNT = 96


def places(extent: int) -> NDArray[np.int64]:
    """The ends of a buffer, the neighbourhoods of 2**31 and 2**32, and others."""
    ends = [edge + d for edge in (0, 2**31, 2**32, extent) for d in range(-9, 9) if 0 <= edge + d < extent]
    others = np.random.default_rng(0).integers(0, extent, COUNT - len(ends))
    return np.concatenate([np.array(ends, "int64"), others])


def value_at(i: NDArray[np.int64]) -> NDArray[np.uint8]:
    return ((i * 7 + (i >> 20)) & 255).astype("uint8")


def bound(s: Schedule, tensor: Tensor, factor: int) -> None:
    outer, inner = s[tensor].split(tensor.op.axis[0], factor=factor)
    s[tensor].bind(outer, te.thread_axis("blockIdx.x"))
    s[tensor].bind(inner, te.thread_axis("threadIdx.x"))


def reading(extent: int, *, is_symbolic: bool) -> tuple[Schedule, list[Tensor]]:
    A = te.placeholder((te.var("n", "int64") if is_symbolic else extent,), "uint8", name="A")
    P = te.placeholder((COUNT,), "int64", name="P")
    Y = te.compute((COUNT,), lambda i: A[P[i]], name="Y")
    s = te.create_schedule(Y.op)
    bound(s, Y, 32)
    return s, [A, P, Y]


def writing(extent: int) -> tuple[Schedule, list[Tensor]]:
    def element(i: te.Var) -> te.Expr:
        wide = i.astype("int64")
        return ((wide * 7 + (wide >> 20)) & 255).astype("uint8")

    B = te.compute((extent,), element, name="B")
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], factor=4096)
    _, lanes = s[B].split(inner, factor=16)
    s[B].bind(outer, te.thread_axis("blockIdx.x"))
    s[B].bind(s[B].leaf_iter_vars[1], te.thread_axis("threadIdx.x"))
    s[B].vectorize(lanes)
    return s, [B]


@pytest.mark.parametrize("is_symbolic", [False, True], ids=["constant", "symbolic"])
@pytest.mark.parametrize("extent", EXTENTS)
def test_reading_on_the_simulator(extent: int, is_symbolic: bool) -> None:
    """Of the buffer, only the pages that are touched take memory."""
    s, args = reading(extent, is_symbolic=is_symbolic)
    at = places(extent)
    a = np.zeros(extent, "uint8")
    a[at] = value_at(at)
    for target in ("sim -checks=off", "sim -checks=off -gpu-indices=on", "cpu"):
        got = np.full(COUNT, 1, "uint8")
        tw.build(s, args, target=target, name="f")(a, at, got)
        np.testing.assert_array_equal(got, value_at(at))


@pytest.mark.gpu
@pytest.mark.parametrize("extent", EXTENTS)
def test_on_a_gpu(extent: int) -> None:
    if not cuda(0).exist:
        pytest.skip("no GPU here")
    device = tw.nd.cuda(0)
    big = tw.nd.empty((extent,), "uint8", device)
    s, args = writing(extent)
    tw.build(s, args, target="cuda", name="fill")(big)
    at = places(extent)
    for is_symbolic in (False, True):
        s, args = reading(extent, is_symbolic=is_symbolic)
        got = tw.nd.empty((COUNT,), "uint8", device)
        tw.build(s, args, target="cuda", name="read")(big, tw.nd.array(at, device), got)
        np.testing.assert_array_equal(got.numpy(), value_at(at))
