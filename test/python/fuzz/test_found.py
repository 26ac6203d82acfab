"""What fuzzing found, each as small as it gets."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing


def test_a_stage_within_a_loop_of_threads_that_reduce_together() -> None:
    """Such a loop stands outside the loops of each thread's part, whatever order the schedule gave them."""
    A = te.placeholder((3, 40), name="A")
    k = te.reduce_axis((0, 40), "k")
    B = te.compute((3,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    local = s.cache_read(A, "local", [B])
    _, thread = s[B].split(B.op.reduce_axis[0], factor=8)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(thread, te.thread_axis("threadIdx.x"))
    s[local].compute_at(s[B], thread)
    a = np.arange(120, dtype="float32").reshape(3, 40)
    (b,) = testing.run(tw.build(s, [A, B], target="sim"), [a], [((3,), "float32")])
    np.testing.assert_array_equal(b, a.sum(axis=1))


def test_virtual_threads_whose_threads_reduce_together() -> None:
    """A kernel with many reductions across the same threads."""
    A = te.placeholder((12, 30), name="A", dtype="int32")
    k = te.reduce_axis((0, 30), "k")
    B = te.compute((12,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    block, virtual = s[B].split(B.op.axis[0], factor=6)
    _, thread = s[B].split(B.op.reduce_axis[0], factor=12)
    s[B].bind(block, te.thread_axis("blockIdx.x"))
    s[B].bind(virtual, te.thread_axis("vthread"))
    s[B].bind(thread, te.thread_axis("threadIdx.y"))
    a = np.arange(360, dtype="int32").reshape(12, 30)
    (b,) = testing.run(tw.build(s, [A, B], target="sim"), [a], [((12,), "int32")])
    np.testing.assert_array_equal(b, a.sum(axis=1))


def test_local_arrays_that_are_read_by_vectors_are_aligned() -> None:
    A = te.placeholder((64,), name="A", dtype="int64")
    B = te.compute((64,), lambda i: A[i] + 1, name="B")
    s = te.create_schedule(B.op)
    local = s.cache_write(B, "local")
    outer, inner = s[B].split(B.op.axis[0], factor=16)
    inner, lanes = s[B].split(inner, factor=2)
    s[B].bind(outer, te.thread_axis("threadIdx.x"))
    s[B].vectorize(lanes)
    s[local].compute_at(s[B], outer)
    function = tw.build(s, [A, B], target="sim")
    a = np.arange(64)
    (b,) = testing.run(function, [a], [((64,), "int64")])
    np.testing.assert_array_equal(b, a + 1)
    assert 'memref.alloca() {alignment = 16 : i64, te.stage = "B.local"}' in function.ir("gpu")


def test_threads_do_not_share_a_local_array() -> None:
    """Each would have computed a part of what all of it is read from."""
    A = te.placeholder((6, 8), name="A")
    B = te.compute((6, 8), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((6, 8), lambda i, j: B[i, 7 - j], name="C")
    s = te.create_schedule(C.op)
    s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
    s[C].bind(C.op.axis[1], te.thread_axis("threadIdx.x"))
    s[B].compute_at(s[C], C.op.axis[0])
    s[B].set_scope("local")
    s[B].bind(B.op.axis[1], te.thread_axis("threadIdx.x"))
    with pytest.raises(tw.ScheduleError) as caught:
        tw.build(s, [A, C], target="sim", name="f")
    assert str(caught.value) == (
        f"{__file__}:{caught.traceback[0].lineno - 1}: error: bind: expected no axis of stage 'B' on a thread index, as "
        "each thread has a buffer of its own in local memory, got 'j' on threadIdx.x\n(lowering f from linalg to loops)"
    )


def test_a_shuffle_is_left_to_no_thread_alone() -> None:
    """A loop in which all threads reduce together, to write what depends on no thread index."""
    A = te.placeholder((3, 1), name="A")
    k = te.reduce_axis((0, 1), "k")
    B = te.compute((1, 3), lambda i, j: te.sum(A[j, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    _, thread = s[B].split(k, factor=2)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(thread, te.thread_axis("threadIdx.x"))
    a = np.arange(3, dtype="float32").reshape(3, 1)
    (b,) = testing.run(tw.build(s, [A, B], target="sim"), [a], [((1, 3), "float32")])
    np.testing.assert_array_equal(b, a.T)
