"""Buffers of scope "warp": what the lanes of a warp exchange lies in their registers, and goes between them by shuffles."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing

TARGETS = ["sim", "cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
BLOCK, THREAD = "blockIdx.x", "threadIdx.x"
RNG = np.random.default_rng(3)


def check(s, args, inputs, want, target):
    if target == "cuda" and not tw.cuda(0).exist:
        pytest.skip("no GPU here")
    (out,) = testing.run(tw.build(s, args, target), inputs, [(want.shape, want.dtype.name)])
    np.testing.assert_array_equal(out, want)


def exchanges(s, args, shuffles=True):
    """In registers, and so without shared memory and barriers; or in shared memory."""
    ptx = tw.build(s, args, "cuda -arch=sm_90a").ptx
    assert ("shfl.sync" in ptx, ".shared" in ptx, "bar.sync" in ptx or "barrier.sync" in ptx) == (
        (True, False, False) if shuffles else (False, True, True)
    )


def neighbours(n, lanes=32, dtype="float32", scope="warp"):
    """v0.19's test_lower_warp_memory: each lane fetches an element, and reads its neighbour's."""
    A = te.placeholder((n,), dtype, name="A")
    B = te.compute((n,), lambda i: A[i // lanes * lanes + (i + 1) % lanes] + te.const(1, dtype), name="B")
    s = te.create_schedule(B.op)
    AW = s.cache_read(A, scope, [B])
    outer, inner = s[B].split(B.op.axis[0], factor=lanes)
    s[B].bind(outer, te.thread_axis(BLOCK))
    s[B].bind(inner, te.thread_axis(THREAD))
    s[AW].compute_at(s[B], outer)
    _, lane = s[AW].split(s[AW].op.axis[0], factor=lanes)
    s[AW].bind(lane, te.thread_axis(THREAD))
    i = np.arange(n)
    a = RNG.integers(0, 8, n).astype(dtype)
    return s, [A, B], [a], (a[i // lanes * lanes + (i + 1) % lanes] + 1).astype(dtype)


@pytest.mark.sample(6)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("lanes", "dtype"),
    [(32, "float32"), (32, "float16"), (32, "int8"), (32, "float64"), (8, "float32"), (2, "int32")],
)
def test_a_lane_reads_its_neighbour_s_element(target, lanes, dtype) -> None:
    s, args, inputs, want = neighbours(128, lanes, dtype)
    assert f"A.warp: warp {dtype}[{lanes}]" in str(s)
    check(s, args, inputs, want, target)
    exchanges(s, args)


@pytest.mark.sample(4)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("m", "rows", "k"), [(16, 4, 64), (15, 4, 64), (6, 2, 32), (5, 1, 128)])
def test_each_warp_has_its_own(target, m, rows, k) -> None:
    """Rows backwards: k elements of a warp are in k / 32 registers of each lane."""
    A = te.placeholder((m, k), name="A")
    B = te.compute((m, k), lambda i, j: A[i, k - 1 - j] * 2, name="B")
    s = te.create_schedule(B.op)
    AW = s.cache_read(A, "warp", [B])
    block, row = s[B].split(B.op.axis[0], factor=rows)
    _, lane = s[B].split(B.op.axis[1], factor=32)
    s[B].bind(block, te.thread_axis(BLOCK))
    s[B].bind(row, te.thread_axis("threadIdx.y"))
    s[B].bind(lane, te.thread_axis(THREAD))
    s[AW].compute_at(s[B], row)
    _, lane = s[AW].split(s[AW].op.axis[1], factor=32)
    s[AW].bind(lane, te.thread_axis(THREAD))
    a = RNG.integers(0, 8, (m, k)).astype("float32")
    check(s, [A, B], [a], a[:, ::-1] * 2, target)
    exchanges(s, [A, B])
    assert ".local" not in tw.build(s, [A, B], "cuda -arch=sm_90a").ptx


@pytest.mark.sample(6)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [20, 32, 50])
@pytest.mark.parametrize("computed", [False, True])
def test_lanes_beyond_the_end_take_part(target, n, computed) -> None:
    """The shuffle stands before the predicate that keeps them from storing."""
    A = te.placeholder((n,), name="A")
    P = te.compute((n,), lambda i: A[i] * 3, name="P")
    B = te.compute((n,), lambda i: (P if computed else A)[i // 32 * 32 + (i % 32) // 2] + 1, name="B")
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], factor=32)
    s[B].bind(outer, te.thread_axis(BLOCK))
    s[B].bind(inner, te.thread_axis(THREAD))
    if computed:
        AW = P
        s[P].set_scope("warp")
    else:
        AW = s.cache_read(A, "warp", [B])
    s[AW].compute_at(s[B], outer)
    _, lane = s[AW].split(s[AW].op.axis[0], factor=32)
    s[AW].bind(lane, te.thread_axis(THREAD))
    a = RNG.integers(0, 8, n).astype("float32")
    i = np.arange(n)
    check(s, [A, B], [a], a[i // 32 * 32 + i % 32 // 2] * (3 if computed else 1) + 1, target)
    exchanges(s, [A, B])


@pytest.mark.parametrize("target", TARGETS)
def test_a_lane_that_does_not_know_the_register_chooses(target) -> None:
    """Which of the two registers of its neighbour a lane reads is its own affair."""
    A = te.placeholder((4, 64), name="A")
    B = te.compute((4, 64), lambda i, j: A[i, j * 37 % 64] + 1, name="B")
    s = te.create_schedule(B.op)
    AW = s.cache_read(A, "warp", [B])
    _, lane = s[B].split(B.op.axis[1], factor=32)
    s[B].bind(B.op.axis[0], te.thread_axis(BLOCK))
    s[B].bind(lane, te.thread_axis(THREAD))
    s[AW].compute_at(s[B], B.op.axis[0])
    _, lane = s[AW].split(s[AW].op.axis[1], factor=32)
    s[AW].bind(lane, te.thread_axis(THREAD))
    a = RNG.integers(0, 8, (4, 64)).astype("float32")
    check(s, [A, B], [a], a[:, np.arange(64) * 37 % 64] + 1, target)
    exchanges(s, [A, B])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("rows", [1, 4])
def test_where_a_lane_cannot_ask_the_others_shared_memory_serves(target, rows) -> None:
    """An index that is data; each warp has its part of the buffer."""
    A, at = te.placeholder((8, 32), name="A"), te.placeholder((32,), "int32", name="at")
    B = te.compute((8, 32), lambda i, j: A[i, at[j]] + 1, name="B")
    s = te.create_schedule(B.op)
    AW = s.cache_read(A, "warp", [B])
    block, row = s[B].split(B.op.axis[0], factor=rows)
    s[B].bind(block, te.thread_axis(BLOCK))
    s[B].bind(row, te.thread_axis("threadIdx.y"))
    s[B].bind(B.op.axis[1], te.thread_axis(THREAD))
    s[AW].compute_at(s[B], row)
    s[AW].bind(s[AW].op.axis[1], te.thread_axis(THREAD))
    a, places = RNG.integers(0, 8, (8, 32)).astype("float32"), RNG.integers(0, 32, 32).astype("int32")
    check(s, [A, at, B], [a, places], a[:, places] + 1, target)
    exchanges(s, [A, at, B], shuffles=False)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("lanes", [48, 64])
def test_more_threads_than_a_warp_has_use_shared_memory(target, lanes) -> None:
    s, args, inputs, want = neighbours(192, lanes)
    check(s, args, inputs, want, target)
    exchanges(s, args, shuffles=False)


@pytest.mark.parametrize("target", TARGETS)
def test_a_buffer_that_no_loop_is_bound_for_is_filled_by_the_lanes(target) -> None:
    A = te.placeholder((6, 64), name="A")
    B = te.compute((6, 64), lambda i, j: A[i, 63 - j] * 2, name="B")
    s = te.create_schedule(B.op)
    AW = s.cache_read(A, "warp", [B])
    block, row = s[B].split(B.op.axis[0], factor=2)
    _, lane = s[B].split(B.op.axis[1], factor=32)
    s[B].bind(block, te.thread_axis(BLOCK))
    s[B].bind(row, te.thread_axis("threadIdx.y"))
    s[B].bind(lane, te.thread_axis(THREAD))
    s[AW].compute_at(s[B], row)
    a = RNG.integers(0, 8, (6, 64)).astype("float32")
    check(s, [A, B], [a], a[:, ::-1] * 2, target)
    exchanges(s, [A, B])


def test_threads_of_other_warps_do_not_fill_a_warp_s_buffer() -> None:
    A = te.placeholder((8, 32), name="A")
    B = te.compute((8, 32), lambda i, j: A[i, 31 - j] * 2, name="B")
    s = te.create_schedule(B.op)
    AW = s.cache_read(A, "warp", [B])
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.y"))
    s[B].bind(B.op.axis[1], te.thread_axis(THREAD))
    s[AW].compute_at(s[B], B.op.axis[0])
    _, inner = s[AW].split(s[AW].op.axis[1], factor=8)
    s[AW].bind(inner, te.thread_axis("threadIdx.y"))
    assert (
        "bind: expected no axis of stage 'A.warp' on threadIdx.y, as each of the threads along that has its own in warp "
        "memory, got 'ax1.inner'" in str(s)
    )
