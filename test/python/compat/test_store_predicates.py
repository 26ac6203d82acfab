"""Predicates of stores as scripts write them beside a reduction across threads: the first thread, below the end."""

from __future__ import annotations

import re
from functools import reduce
from operator import mul

import numpy as np
import pytest

import tilewright as tvm
from tilewright import te

THREADS = 8


def reduction(shape, fused, end=None, by="factor"):
    """The sum along the last axis: each row by the threads along x, a row for each thread along y."""
    A = te.placeholder(shape, name="A")
    k = te.reduce_axis((0, shape[-1]), "k")
    B = te.compute(shape[:-1], lambda *i: te.sum(A(*i, k), axis=k), name="B")
    s = te.create_schedule(B.op)
    block, x, y = (
        te.thread_axis("blockIdx.x"),
        te.thread_axis((0, THREADS), "threadIdx.x"),
        te.thread_axis("threadIdx.y"),
    )
    _, ki = s[B].split(k, factor=THREADS)
    parts = s.rfactor(B, ki)
    s[B].bind(s[B].op.reduce_axis[0], x)
    s[parts].compute_at(s[B], s[B].op.reduce_axis[0])
    rows = s[B].fuse(*s[B].op.axis) if fused else s[B].op.axis[0]
    outer, inner = s[B].split(rows, **{by: THREADS})
    s[B].bind(inner, y)
    s[B].bind(outer, block)
    end = reduce(mul, B.shape) if end is None else end
    step = THREADS if by == "factor" else -(-shape[0] // THREADS)
    s[B].set_store_predicate(tvm.tir.all(x.equal(0), block * step + y < end))
    return s, A, B


@pytest.mark.parametrize("shape, fused", [((3, 5, 20), True), ((24, 7), False), ((4, 6, 33), True), ((1, 1, 9), True)])
def test_the_end_may_stand_beside_the_thread(shape, fused) -> None:
    s, A, B = reduction(shape, fused)
    a = np.random.default_rng(0).integers(-9, 9, shape).astype("float32")
    (got,) = tvm.testing.run(tvm.build(s, [A, B], "sim"), [a], [(shape[:-1], "float32")])
    np.testing.assert_array_equal(got, a.sum(-1))
    assert ".reg" in tvm.build(s, [A, B], tvm.Target("cuda", arch="sm_90a")).ptx


def test_the_end_of_parts_of_a_number() -> None:
    s, A, B = reduction((20, 9), fused=False, by="nparts")
    a = np.random.default_rng(0).integers(-9, 9, (20, 9)).astype("float32")
    (got,) = tvm.testing.run(tvm.build(s, [A, B], "sim"), [a], [((20,), "float32")])
    np.testing.assert_array_equal(got, a.sum(-1))


@pytest.mark.parametrize("rows", [5, 16])
def test_the_end_may_be_a_symbol(rows) -> None:
    n = te.var("n")
    s, A, B = reduction((n, 12), fused=False)
    a = np.random.default_rng(0).integers(-9, 9, (rows, 12)).astype("float32")
    (got,) = tvm.testing.run(tvm.build(s, [A, B], "sim"), [a], [((rows,), "float32")])
    np.testing.assert_array_equal(got, a.sum(-1))


@pytest.mark.parametrize("end", [te.var("m"), 14])
def test_an_end_before_the_axis_s_is_refused(end) -> None:
    """Elements from there on would never be stored."""
    with pytest.raises(ValueError) as caught:
        reduction((3, 5, 20), True, end)
    assert re.sub(r"^.*test_store_predicates\.py:\d+: ", "", str(caught.value)) == (
        "set_store_predicate: expected comparisons of thread indices with numbers, such as "
        f'te.thread_axis("threadIdx.x").equal(0), got blockIdx.x * 8 + threadIdx.y < {end}'
    )


def test_the_end_of_another_index_is_refused() -> None:
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i], name="B")
    s = te.create_schedule(B.op)
    block, x = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
    outer, inner = s[B].split(B.op.axis[0], factor=16)
    s[B].bind(outer, block)
    s[B].bind(inner, x)
    for wrong in (block * 8 + x, block * 16 + x + 1, x * 16 + block, block * 16 + te.thread_axis("threadIdx.y")):
        with pytest.raises(
            ValueError, match="set_store_predicate: expected comparisons of thread indices with numbers"
        ):
            s[B].set_store_predicate(wrong < 64)
    s[B].set_store_predicate(block * 16 + x < 64)
    s[B].set_store_predicate(block * 16 + x < 70)
