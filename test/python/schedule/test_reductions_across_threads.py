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


@pytest.mark.parametrize("threads", [8, 32])
def test_a_reducer_with_if_then_else(threads):
    """A combiner reads no tensor: its choices are selects, which threads can combine by."""
    X = te.placeholder((5, 40), "int64", name="X")
    k = te.reduce_axis((0, 40), name="k")
    argmin = te.comm_reducer(
        lambda a, b: (te.if_then_else(a[1] <= b[1], a[0], b[0]), te.if_then_else(a[1] <= b[1], a[1], b[1])),
        lambda t0, t1: (te.const(-1, t0), te.max_value(t1)),
        name="argmin",
    )
    at, least = te.compute((5,), lambda i: argmin((k.astype("int64"), X[i, k]), axis=k), name="Y")
    s = te.create_schedule(at.op)
    _, inner = s[at].split(k, factor=threads)
    s[at].bind(at.op.axis[0], te.thread_axis("blockIdx.x"))
    s[at].bind(inner, te.thread_axis("threadIdx.x"))
    x = np.random.default_rng(9).permutation(200).reshape(5, 40).astype("int64")
    got = testing.run(tw.build(s, [X, at, least], "sim", "f"), [x], [((5,), "int64"), ((5,), "int64")])
    assert (got[0] == x.argmin(1)).all() and (got[1] == x.min(1)).all()
