"""Reductions across threads by reducers of the user's own."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing


@pytest.mark.parametrize("threads", [8, 32, 128])
def test_a_reducer_that_computes_with_its_right_operand_alone(threads):
    """What is combined across threads is every operation between the parts and the result."""
    X = te.placeholder((3, 256), name="X")
    k = te.reduce_axis((0, 256), name="k")
    squares = te.comm_reducer(
        lambda a, b: (a[0] + b[0], te.max(a[1], te.abs(b[1]))),
        lambda t0, t1: (te.const(0.0, t0), te.const(0.0, t1)),
        name="squares",
    )
    total, largest = te.compute((3,), lambda i: squares((X[i, k], te.exp(X[i, k])), axis=k), name="Y")
    s = te.create_schedule(total.op)
    _, inner = s[total].split(k, factor=threads)
    s[total].bind(total.op.axis[0], te.thread_axis("blockIdx.x"))
    s[total].bind(inner, te.thread_axis("threadIdx.x"))
    x = np.random.default_rng(7).standard_normal((3, 256)).astype("float32")
    got = testing.run(tw.build(s, [X, total, largest], "sim", "f"), [x], [((3,), "float32"), ((3,), "float32")])
    np.testing.assert_allclose(got[0], x.sum(1, dtype="float64"), atol=1e-4)
    np.testing.assert_allclose(got[1], np.exp(x).max(1), rtol=1e-6)


@pytest.mark.parametrize("threads", [8, 32, 128])
def test_a_reducer_of_weighted_parts(threads):
    """The log of a sum of exponentials as one reducer: both operands are scaled by exponentials of their own."""
    X = te.placeholder((3, 256), name="X")
    k = te.reduce_axis((0, 256), name="k")

    def combine(a, b):
        m = te.max(a[1], b[1])
        return a[0] * te.exp(a[1] - m) + b[0] * te.exp(b[1] - m), m

    merge = te.comm_reducer(combine, lambda t0, t1: (te.const(0.0, t0), te.const(-1e30, t1)), name="merge")
    one = te.const(1.0, "float32")
    total, largest = te.compute((3,), lambda i: merge((one, X[i, k]), axis=k), name="Y")
    s = te.create_schedule(total.op)
    _, inner = s[total].split(k, factor=threads)
    s[total].bind(total.op.axis[0], te.thread_axis("blockIdx.x"))
    s[total].bind(inner, te.thread_axis("threadIdx.x"))
    x = (5 * np.random.default_rng(8).standard_normal((3, 256))).astype("float32")
    got = testing.run(tw.build(s, [X, total, largest], "sim", "f"), [x], [((3,), "float32"), ((3,), "float32")])
    np.testing.assert_allclose(got[0], np.exp(x - x.max(1, keepdims=True)).sum(1), rtol=1e-5)
