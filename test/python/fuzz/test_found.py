"""What fuzzing found, each as small as it gets."""

from __future__ import annotations

import inspect

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
        f"{__file__}:{caught.traceback[0].lineno - 1}: error: bind: expected each thread to read what it "
        "stored itself of stage 'B', of which it keeps its part in local memory, got other elements in stage 'C'\n"
        f"{__file__}:{caught.traceback[0].lineno - 8}: note: stage 'C' is computed here\n(lowering f from loops to gpu)"
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


def test_a_pipeline_that_fetches_one_element() -> None:
    """Its store stands in no loop, and is gone once the element is in a register."""
    A, B = te.placeholder((1, 14), name="A"), te.placeholder((14, 16), name="B")
    k = te.reduce_axis((0, 14), "k")
    C = te.compute((1, 16), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    shared = s.cache_read(A, "shared", [C])
    s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
    s[shared].compute_at(s[C], k)
    s[C].software_pipeline(k, 3)
    a, b = np.arange(14, dtype="float32").reshape(1, 14), np.ones((14, 16), "float32")
    (c,) = testing.run(tw.build(s, [A, B, C], target="sim"), [a, b], [((1, 16), "float32")])
    np.testing.assert_array_equal(c, a @ b)


@pytest.mark.parametrize("columns", [1, 5])
def test_a_reduction_that_is_computed_an_iteration_ahead(columns: int) -> None:
    """What it is summed up in goes ahead with it."""
    A = te.placeholder((9, columns, 20), name="A")
    k = te.reduce_axis((0, 20), "k")
    B = te.compute((9, columns), lambda i, j: te.sum(A[i, j, k], axis=k), name="B")
    C = te.compute((9, columns), lambda i, j: B[i, j] * 2, name="C")
    s = te.create_schedule(C.op)
    one, i = s[C].split(C.op.axis[0], nparts=1)
    s[C].bind(one, te.thread_axis("blockIdx.x"))
    s[B].set_scope("shared")
    s[B].compute_at(s[C], i)
    s[B].double_buffer()
    a = np.arange(180 * columns, dtype="float32").reshape(9, columns, 20)
    (c,) = testing.run(tw.build(s, [A, C], target="sim"), [a], [((9, columns), "float32")])
    np.testing.assert_array_equal(c, 2 * a.sum(axis=2))


def test_a_decomposed_reduction_whose_loop_is_a_pipeline() -> None:
    """Of the loops that it becomes, one fills the shared buffer."""
    A = te.placeholder((8, 12), name="A")
    k = te.reduce_axis((0, 12), "k")
    B = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    shared = s.cache_read(A, "shared", [B])
    one, i = s[B].split(B.op.axis[0], nparts=1)
    s[B].bind(one, te.thread_axis("blockIdx.x"))
    s[B].reorder(k, i)
    s[shared].compute_at(s[B], i)
    s[B].software_pipeline(i, 2)
    a = np.arange(96, dtype="float32").reshape(8, 12)
    (b,) = testing.run(tw.build(s, [A, B], target="sim"), [a], [((8,), "float32")])
    np.testing.assert_array_equal(b, a.sum(axis=1))


@pytest.mark.parametrize("whose", ["B", "C"])
def test_a_follower_sees_what_its_block_computed(whose: str) -> None:
    A = te.placeholder((6, 7), name="A")
    B = te.compute((6, 7), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((6, 7), lambda i, j: B[i, j] * 2, name="C")
    s = te.create_schedule([B.op, C.op])
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[C].reverse_compute_at(s[B], B.op.axis[0])
    s[B if whose == "B" else C].bind((B if whose == "B" else C).op.axis[1], te.thread_axis("blockIdx.y"))
    with pytest.raises(tw.ScheduleError) as caught:
        tw.build(s, [A, B, C], target="sim", name="f")
    assert str(caught.value) == (
        f"{__file__}:{caught.traceback[0].lineno - 2}: error: reverse_compute_at: expected all that one iteration of loop 'i' "
        f"computes to be computed by one block, got axis 'j' of stage '{whose}' in it bound to blockIdx.y\n"
        "(lowering f from linalg to loops)"
    )


def test_what_cannot_be_inlined_is_an_error_of_the_schedule() -> None:
    A = te.placeholder((8,), name="A")
    k = te.reduce_axis((0, 8), "k")
    B = te.compute((1,), lambda i: te.sum(A[k], axis=k), name="B")
    s = te.create_schedule(B.op)
    s.cache_read(A, "global", [B])
    s[B].reverse_compute_inline()
    with pytest.raises(tw.ScheduleError) as caught:
        tw.build(s, [A, B], target="sim", name="f")
    assert str(caught.value) == (
        f"{__file__}:{caught.traceback[0].lineno - 1}: error: reverse_compute_inline: expected an elementwise stage, got 'B', "
        "which reduces: use compute_inline of stage 'A.global'\n(lowering f from te to linalg)"
    )


def followed_by_what_reads_it_backwards(scope: str | None):
    """Threads x compute a row together, in a loop of threads y."""
    A = te.placeholder((3, 8), name="A")
    B = te.compute((3, 8), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((3, 8), lambda i, j: B[i, j] * 2, name="C")
    s = te.create_schedule(C.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.y"))
    s[B].bind(B.op.axis[1], te.thread_axis("threadIdx.x"))
    line = inspect.currentframe().f_lineno - 1
    if scope is not None:
        s[B].set_scope(scope)
    s[C].reverse_compute_at(s[B], B.op.axis[0])
    _, thread = s[C].split(C.op.axis[1], factor=8)
    first, second = s[C].split(thread, factor=4)
    s[C].reorder(second, first)
    fused = s[C].fuse(second, first)
    s[C].bind(fused, te.thread_axis("threadIdx.x"))
    return s, [A, C], line


def test_what_threads_computed_together_is_read_by_a_follower() -> None:
    s, args, _ = followed_by_what_reads_it_backwards(None)
    a = np.arange(24, dtype="float32").reshape(3, 8)
    (c,) = testing.run(tw.build(s, args, target="sim"), [a], [((3, 8), "float32")])
    np.testing.assert_array_equal(c, (a + 1) * 2)


def test_what_threads_computed_together_is_in_no_local_memory() -> None:
    s, args, line = followed_by_what_reads_it_backwards("local")
    with pytest.raises(tw.ScheduleError) as caught:
        tw.build(s, args, target="sim", name="f")
    assert str(caught.value) == (
        f"{__file__}:{line}: error: bind: expected no axis of stage 'B' on a thread index in loop 'i', at which what reads it "
        "follows it, as each thread has a buffer of its own in local memory, got 'j' on threadIdx.x\n"
        "(lowering f from linalg to loops)"
    )


def test_what_is_inlined_has_no_loops() -> None:
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] + 1, name="B")
    C = te.compute((8,), lambda i: B[i] * 2, name="C")
    s = te.create_schedule(C.op)
    s[B].split(B.op.axis[0], factor=2)
    s[B].compute_inline()
    with pytest.raises(tw.ScheduleError) as caught:
        tw.build(s, [A, C], target="sim", name="f")
    assert str(caught.value) == (
        f"{__file__}:{caught.traceback[0].lineno - 2}: error: split: expected a stage with loops of its own, got 'B', which is "
        "inlined\n(lowering f from te to linalg)"
    )


def test_threads_that_exchange_values_by_global_memory_wait_for_each_other() -> None:
    A = te.placeholder((3, 8), name="A")
    B = te.compute((3, 8), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((3, 8), lambda i, j: B[i, j] * 2, name="C")
    s = te.create_schedule([B.op, C.op])
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(B.op.axis[1], te.thread_axis("threadIdx.x"))
    s[C].reverse_compute_at(s[B], B.op.axis[0])
    first, second = s[C].split(C.op.axis[1], factor=4)
    s[C].reorder(second, first)
    s[C].bind(s[C].fuse(second, first), te.thread_axis("threadIdx.x"))
    function = tw.build(s, [A, B, C], target="sim")
    a = np.arange(24, dtype="float32").reshape(3, 8)
    b, c = testing.run(function, [a], [((3, 8), "float32")] * 2)
    np.testing.assert_array_equal(b, a + 1)
    np.testing.assert_array_equal(c, (a + 1) * 2)
    assert function.ir("gpu").count("gpu.barrier") == 1


def test_what_a_follower_needs_by_way_of_others_is_computed_before() -> None:
    A = te.placeholder((6, 8), name="A")
    B = te.compute((6, 8), lambda i, j: A[i, j] + 1, name="B")
    D = te.compute((6, 8), lambda i, j: A[i, j] * 3, name="D")
    C = te.compute((6, 8), lambda i, j: B[i, j] - D[i, 7], name="C")
    s = te.create_schedule(C.op)
    cached = s.cache_read(D, "local", [C])
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[D].bind(D.op.axis[0], te.thread_axis("blockIdx.x"))
    s[C].reverse_compute_at(s[B], B.op.axis[0])
    s[cached].compute_at(s[C], C.op.axis[1])
    with pytest.raises(tw.ScheduleError) as caught:
        tw.build(s, [A, C], target="sim", name="f")
    assert str(caught.value) == (
        f"{__file__}:{caught.traceback[0].lineno - 2}: error: reverse_compute_at: expected stage 'C' to read what is computed "
        "before stage 'B', got stage 'D'\n(lowering f from linalg to loops)"
    )


def test_caches_of_stages_with_symbolic_extents() -> None:
    n = te.var("n")
    A = te.placeholder((n, 6), name="A")
    B = te.compute((n - 2, 6), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((n - 2, 6), lambda i, j: B[i, 5 - j] * 2, name="C")
    s = te.create_schedule(C.op)
    written = s.cache_write(C, "local")
    read = s.cache_read(B, "local", [written])
    s[B].compute_inline()
    s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
    s[written].compute_at(s[C], C.op.axis[0])
    s[read].compute_at(s[written], written.op.axis[0])
    a = np.arange(42, dtype="float32").reshape(7, 6)
    (c,) = testing.run(tw.build(s, [A, C], target="sim"), [a], [((5, 6), "float32")])
    np.testing.assert_array_equal(c, (a[:5, ::-1] + 1) * 2)


def test_a_pipeline_that_computes_one_element_a_thread() -> None:
    """What is computed of a fetched element is in its register, too."""
    A = te.placeholder((4, 3), name="A")
    B = te.compute((4, 3), lambda i, j: te.if_then_else(A[i, j] > 4, A[i, j] * 2, 0.0), name="B")
    s = te.create_schedule(B.op)
    shared = s.cache_write(B, "shared")
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    s[shared].compute_at(s[B], B.op.axis[1])
    s[shared].bind(shared.op.axis[0], te.thread_axis("threadIdx.x"))
    s[B].software_pipeline(B.op.axis[1], 2)
    a = np.arange(12, dtype="float32").reshape(4, 3)
    (b,) = testing.run(tw.build(s, [A, B], target="sim"), [a], [((4, 3), "float32")])
    np.testing.assert_array_equal(b, np.where(a > 4, a * 2, 0))


@pytest.mark.parametrize("use_async", [False, True])
def test_a_pipeline_over_a_whole_reduction_of_the_root(use_async: bool) -> None:
    A, B = te.placeholder((8, 14), name="A"), te.placeholder((14, 16), name="B")
    k = te.reduce_axis((0, 14), "k")
    C = te.compute((8, 16), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    a_shared, b_shared = s.cache_read(A, "shared", [C]), s.cache_read(B, "shared", [C])
    s[C].bind(C.op.axis[0], te.thread_axis("threadIdx.y"))
    s[C].bind(C.op.axis[1], te.thread_axis("threadIdx.x"))
    s[a_shared].compute_at(s[C], k)
    s[b_shared].compute_at(s[C], k)
    s[C].software_pipeline(k, 3, use_async)
    a, b = np.arange(112, dtype="float32").reshape(8, 14), np.arange(224, dtype="float32").reshape(14, 16)
    (c,) = testing.run(tw.build(s, [A, B, C], target="sim"), [a, b], [((8, 16), "float32")])
    np.testing.assert_array_equal(c, a @ b)


def test_what_virtual_threads_around_a_kernel_share() -> None:
    A = te.placeholder((4, 6), name="A")
    B = te.compute((4, 6), lambda i, j: A[i, j] * 2, name="B")
    s = te.create_schedule(B.op)
    shared = s.cache_read(A, "shared", [B])
    s[B].bind(B.op.axis[0], te.thread_axis("vthread"))
    s[B].bind(B.op.axis[1], te.thread_axis("blockIdx.x"))
    s[shared].compute_at(s[B], B.op.axis[0])
    with pytest.raises(tw.ScheduleError) as caught:
        tw.build(s, [A, B], target="sim", name="f")
    assert str(caught.value) == (
        f"{__file__}:{caught.traceback[0].lineno - 4}: error: vthread: expected stage 'A.shared' to be computed inside of a "
        "loop of blocks or threads, which have memory of their own, got it in axis 'B.i' on vthread, outside of them: "
        "reorder the loops\n(lowering f from loops to gpu)"
    )


def test_stages_that_are_computed_at_loops_of_each_other() -> None:
    A = te.placeholder((8, 8), name="A")
    B = te.compute((8, 8), lambda i, j: A[i, j] * 2, name="B")
    s = te.create_schedule(B.op)
    shared = s.cache_write(B, "shared")
    local = s.cache_read(A, "local", [shared])
    s[shared].compute_at(s[B], B.op.axis[0])
    s[B].reverse_compute_at(s[shared], shared.op.axis[0])
    s[local].compute_at(s[shared], shared.op.axis[1])
    with pytest.raises(tw.ScheduleError) as caught:
        tw.build(s, [A, B], target="sim", name="f")
    assert str(caught.value) == (
        f"{__file__}:{caught.traceback[0].lineno - 2}: error: reverse_compute_at: expected a producer that is computed at the "
        "root, got stage 'B.shared', which is computed at a loop of stage 'B'\n(lowering f from linalg to loops)"
    )


def test_a_prefetch_in_a_scan() -> None:
    """The scan reads its own state beside the tensor that is asked for, and the state has no name of an argument."""
    A = te.placeholder((6, 8), name="A", dtype="int32")
    state = te.placeholder((6, 8), name="state", dtype="int32")
    first = te.compute((1, 8), lambda t, i: A[t, i], name="first")
    update = te.compute((6, 8), lambda t, i: state[t - 1, i] + A[t, i], name="update")
    B = te.scan(first, update, state, name="B")
    s = te.create_schedule(B.op)
    t, i = s[B].op.axis
    s[first].bind(first.op.axis[1], te.thread_axis("threadIdx.x"))
    s[B].bind(i, te.thread_axis("threadIdx.x"))
    s[B].prefetch(A, t, 1)
    a = np.arange(48, dtype="int32").reshape(6, 8)
    (b,) = testing.run(tw.build(s, [A, B], target="sim"), [a], [((6, 8), "int32")])
    np.testing.assert_array_equal(b, a.cumsum(axis=0))


def test_the_names_of_shared_buffers_in_which_threads_reduce() -> None:
    A = te.placeholder((5, 60), name="A", dtype="int32")
    k = te.reduce_axis((0, 60), "k")
    B = te.compute((5,), lambda i: te.sum(A[i, k], axis=k), name="a_name_of_more_than_fifteen_letters")
    s = te.create_schedule(B.op)
    _, thread = s[B].split(k, factor=9)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    s[B].bind(thread, te.thread_axis("threadIdx.y"))
    function = tw.build(s, [A, B], target="sim")
    (launch,) = function.launch_config().launches
    assert launch.origin["shared"] == "a_name_of_more_than_fifteen_letters (180 bytes)"


@pytest.mark.parametrize("target", ["sim", "cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_reads_of_shared_memory_at_a_place_before_the_thread_s(target: str) -> None:
    """LLVM took the distance for one that is not negative, and put the copy behind the reads."""
    A = te.placeholder((35,), name="A", dtype="int8")
    B = te.compute((39,), lambda i: te.if_then_else(te.all(i >= 2, i < 37), A[i - 2], te.const(0, "int8")), name="B")
    s = te.create_schedule(B.op)
    result = s.cache_write(B, "shared")
    shared = s.cache_read(A, "shared", [result])
    outer, inner = s[B].split(B.op.axis[0], factor=3)
    s[B].reorder(inner, outer)
    s[B].bind(inner, te.thread_axis("blockIdx.x"))
    s[result].compute_at(s[B], outer)
    s[shared].compute_at(s[B], outer)
    if target == "cuda" and not tw.cuda(0).exist:
        pytest.skip("no GPU here")
    a = np.arange(-17, 18, dtype="int8")
    (b,) = testing.run(tw.build(s, [A, B], target=target), [a], [((39,), "int8")])
    np.testing.assert_array_equal(b, np.pad(a, 2))


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_a_number_that_is_converted_to_a_narrow_float_is_rounded(target: str) -> None:
    """Seed 1074 of the expressions: what the processor computes in float32 is rounded after each operation."""
    A = te.placeholder((4,), "bfloat16", name="A")
    U = te.placeholder((4,), "uint16", name="U")
    B = te.compute((4,), lambda i: te.abs(A[i]) - U[i].astype("bfloat16"), name="B")
    s = te.create_schedule(B.op)
    if target == "sim":
        s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    a, u = np.array([1, -2.25, 3.5, 0], "bfloat16"), np.array([259, 1001, 65535, 7], "uint16")
    (b,) = testing.run(tw.build(s, [A, U, B], target=target), [a, u], [((4,), "bfloat16")])
    np.testing.assert_array_equal(b, np.abs(a) - u.astype("bfloat16"))


@pytest.mark.parametrize("function", [te.floormod, te.floordiv])
def test_negative_indices_of_fused_loops_with_symbolic_extents(function) -> None:
    """Seed 1200 of the expressions: where the loops are fused, what is divided may still be negative."""
    n = te.var("n")
    A = te.placeholder((33, n), name="A")
    B = te.compute((33, n), lambda i, j: A[te.floormod(function(i - j * 3 - 12, 33), 33), 15], name="B")
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(s[B].fuse(*B.op.axis), factor=8)
    s[B].bind(outer, te.thread_axis("blockIdx.x"))
    s[B].bind(inner, te.thread_axis("threadIdx.x"))
    a = np.arange(33 * 16, dtype="float32").reshape(33, 16)
    (b,) = testing.run(tw.build(s, [A, B], target="sim"), [a], [((33, 16), "float32")])
    i, j = np.indices((33, 16))
    index = i - j * 3 - 12
    np.testing.assert_array_equal(b, a[(index % 33 if function is te.floormod else index // 33 % 33), 15])


@pytest.mark.parametrize(("shape", "factor"), [((7, 2, 8), 6), ((7, 3, 4), 6), ((5, 4, 6), 10)])
@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_a_cache_in_tiles_of_fused_loops(shape: tuple[int, int, int], factor: int, target: str) -> None:
    """Seed 3700: a tile of fused loops may reach into two rows of the slowest, though its start divides two rows' length."""
    A = te.placeholder(shape, "int32", name="A")
    B = te.compute(shape, lambda *index: A[index] + 1, name="B")
    s = te.create_schedule(B.op)
    local = s.cache_write(B, "local")
    outer, _ = s[B].split(s[B].fuse(*B.op.axis), factor=factor)
    s[local].compute_at(s[B], outer)
    s[B].bind(outer, te.thread_axis("blockIdx.x"))
    a = np.arange(np.prod(shape), dtype="int32").reshape(shape)
    (b,) = testing.run(tw.build(s, [A, B], target=target), [a], [(shape, "int32")])
    np.testing.assert_array_equal(b, a + 1)


@pytest.mark.parametrize("cast", ["", "int32"])
def test_lanes_that_are_gathered_lie_apart(cast: str) -> None:
    """Seed 644807: each lane reads its own index, so that lanes that count along the row are of different rows."""
    A, ids = te.placeholder((4, 3, 8), "int32", name="A"), te.placeholder((8, 8), "uint16", name="ids")

    def element(i: te.Expr, j: te.Expr) -> te.Expr:
        row = ids[i, j].astype(cast) if cast else ids[i, j]
        return A[i % 4, row % 3, j]

    B = te.compute((8, 8), element, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].vectorize(B.op.axis[1])
    a, at = np.arange(96, dtype="int32").reshape(4, 3, 8), np.arange(64).reshape(8, 8).astype("uint16") * 1031
    (b,) = testing.run(tw.build(s, [A, ids, B], target="sim"), [a, at], [((8, 8), "int32")])
    i, j = np.indices((8, 8))
    np.testing.assert_array_equal(b, a[i % 4, at % 3, j])


def test_reads_of_a_tensor_without_elements() -> None:
    """Seed 646589: a symbolic axis, which can only be 0, reads a tensor with a dimension of 0."""
    n = te.var("n")
    A, B = te.placeholder((5, n), name="A"), te.placeholder((3, 0), name="B")
    k = te.reduce_axis((0, n), "k")
    C = te.compute((5, 3), lambda i, j: te.sum(A[i, k] * B[j, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
    empty = np.zeros((5, 0), "float32"), np.zeros((3, 0), "float32")
    (c,) = testing.run(tw.build(s, [A, B, C], target="sim"), list(empty), [((5, 3), "float32")])
    np.testing.assert_array_equal(c, np.zeros((5, 3)))
    assert tw.build(s, [A, B, C], target="cuda -arch=sm_90a").cubin


@pytest.mark.parametrize("target", ["sim", "cpu"])
@pytest.mark.parametrize("with_reset", [False, True])
def test_a_tensorized_reduction_of_nothing(target: str, with_reset: bool) -> None:
    """An intrinsic without a reset sets the elements in the first iteration; here there is none."""
    X = te.placeholder((3, 2), name="X")
    q = te.reduce_axis((0, 2), "q")
    Y = te.compute((3,), lambda i: te.sum(X[i, q], axis=q), name="Y")

    def pair(ins: list[te.Buffer], outs: list[te.Buffer]) -> tuple[object, ...]:
        def made(begin: bool, add: bool) -> object:
            ib = tw.tir.ir_builder.create()
            x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
            with ib.for_range(0, 3, name="i") as i:
                if begin:
                    y[i] = 0.0
                if add:
                    with ib.for_range(0, 2, name="q") as k:
                        y[i] = y[i] + x[i, k]
            return ib.get()

        return made(True, True), made(True, False) if with_reset else None, made(False, True)

    n = te.var("n", divisible_by=2)
    A = te.placeholder((3, n), name="A")
    k = te.reduce_axis((0, n), "k")
    B = te.compute((3,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(k, factor=2)
    if target == "sim":
        one, i = s[B].split(B.op.axis[0], factor=3)
        s[B].bind(one, te.thread_axis("blockIdx.x"))
        s[B].reorder(outer, i, inner)
    else:
        (i,) = B.op.axis
        s[B].reorder(outer, i, inner)
    s[B].tensorize(i, te.decl_tensor_intrin(Y.op, pair))
    function = tw.build(s, [A, B], target=target)
    for columns in (0, 2, 6):
        a = np.arange(3 * columns, dtype="float32").reshape(3, columns)
        (b,) = testing.run(function, [a], [((3,), "float32")])
        np.testing.assert_array_equal(b, a.sum(axis=1))
