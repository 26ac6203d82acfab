"""What is refused only in the compiler, where the extents are known: each with the full text and the user's line."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing
from tilewright.errors import CompileError


def refused(s, args, target: str = "sim") -> str:
    """The first line of what a build says, without the file's folder."""
    with pytest.raises(CompileError) as error:
        tw.build(s, args, target=target, name="f")
    return str(error.value).splitlines()[0].removeprefix(f"{__file__}:")


def line(offset: int = 0) -> int:
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    return frame.f_back.f_lineno + offset


def chain(n=64):
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * 2, name="B")
    C = te.compute((n,), lambda i: B[i] + 1, name="C")
    return A, B, C


def test_a_follower_that_does_not_read_its_producer_any_more() -> None:
    A, B, C = chain()
    s = te.create_schedule(C.op)
    outer, _ = s[B].split(B.op.axis[0], factor=16)
    s[C].reverse_compute_at(s[B], outer)
    at = line(-1)
    s.cache_read(B, "global", [C])
    assert refused(s, [A, C]) == (
        f"{at}: error: reverse_compute_at: expected a stage that reads stage 'B', got stage 'C'"
    )


@pytest.mark.parametrize("scope", ["shared", "local"])
def test_a_followed_stage_whose_tensor_others_read_too(scope: str) -> None:
    A, B, C = chain()
    at = inspect.getsourcelines(chain)[1] + 2
    D = te.compute((64,), lambda i: B[63 - i] + C[i], name="D")
    s = te.create_schedule(D.op)
    outer, _ = s[B].split(B.op.axis[0], factor=16)
    s[C].reverse_compute_at(s[B], outer)
    s[B].set_scope(scope)
    assert refused(s, [A, D]) == (
        f"{at}: error: stage 'B' in {scope} memory: expected all that reads it to be computed in its loops, got stage 'D'"
    )


def test_a_followed_stage_of_blocks_without_a_constant_size() -> None:
    A, B, C = chain(te.var("n"))
    at = inspect.getsourcelines(chain)[1] + 2
    s = te.create_schedule(C.op)
    outer, _ = s[B].split(B.op.axis[0], nparts=4)
    s[C].reverse_compute_at(s[B], outer)
    s[B].set_scope("local")
    assert refused(s, [A, C]) == (
        f"{at}: error: stage 'B' in local memory: expected a constant number of elements in an iteration of its loops"
    )


def test_a_followed_stage_in_shared_memory_within_a_thread() -> None:
    A, B, C = chain()
    at = inspect.getsourcelines(chain)[1] + 2
    s = te.create_schedule(C.op)
    block, rest = s[B].split(B.op.axis[0], factor=16)
    thread, _ = s[B].split(rest, factor=2)
    s[B].bind(block, te.thread_axis("blockIdx.x"))
    s[B].bind(thread, te.thread_axis("threadIdx.x"))
    s[C].reverse_compute_at(s[B], thread)
    s[B].set_scope("shared")
    assert refused(s, [A, C]) == (
        f"{at}: error: stage 'B' in shared memory: expected what reads it to follow it outside the loops of threads, "
        "got it at loop 'i.inner.outer'"
    )


def test_unrolling_as_often_as_a_symbol_says() -> None:
    A, B, C = chain(te.var("n"))
    s = te.create_schedule(C.op)
    s[B].unroll(B.op.axis[0])
    at = line(-1)
    assert refused(s, [A, C]) == (
        f"{at}: error: unroll: expected axis 'i' of constant extent, got one that is symbolic"
    )


def test_decompose_reduction_around_a_stage() -> None:
    A = te.placeholder((8, 64), name="A")
    D = te.compute((8, 64), lambda i, j: A[i, j] * 2, name="D")
    k = te.reduce_axis((0, 64), "k")
    B = te.compute((8,), lambda i: te.sum(D[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    s[D].compute_at(s[B], B.op.axis[0])
    s[B].decompose_reduction(B.op.axis[0])
    at = line(-1)
    assert refused(s, [A, B]) == (
        f"{at}: error: decompose_reduction: expected no stage at a loop between it and the reduction, got stage 'D' at 'i'"
    )


def test_double_buffer_of_a_follower() -> None:
    A, B, C = chain()
    s = te.create_schedule(C.op)
    outer, _ = s[B].split(B.op.axis[0], factor=16)
    s[C].reverse_compute_at(s[B], outer)
    s[C].double_buffer()
    at = line(-1)
    assert refused(s, [A, C]) == (
        f"{at}: error: double_buffer: expected a stage that is computed at a loop of another, got stage 'C', which is "
        "computed after what it reads"
    )


def product(copy=None):
    """A product whose left matrix is in shared memory as `copy` computes it."""
    A, B = te.placeholder((32, 64), name="A"), te.placeholder((64, 32), name="B")
    k = te.reduce_axis((0, 64), "k")
    D = A if copy is None else te.compute((32, 64), lambda i, j: copy(A, i, j), name="D")
    C = te.compute((32, 32), lambda i, j: te.sum(D[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    if copy is None:
        D = s.cache_read(A, "shared", [C])
    else:
        s[D].set_scope("shared")
    i, j = C.op.axis
    s[C].bind(i, te.thread_axis("threadIdx.y"))
    s[C].bind(j, te.thread_axis("threadIdx.x"))
    ko, _ = s[C].split(C.op.reduce_axis[0], factor=16)
    s[D].compute_at(s[C], ko)
    return s, [A, B, C], D, ko


def test_asynchronous_copies_of_too_many_bytes() -> None:
    s, args, D, ko = product()
    _, lanes = s[D].split(s[D].op.axis[1], factor=8)
    s[D].vectorize(lanes)
    s[args[2]].software_pipeline(ko, 2, use_async=True)
    assert refused(s, args).endswith(
        "error: software_pipeline: expected copies of 4, 8 or 16 bytes that lie together, as only these can be "
        "asynchronous, got elements of several loads: vectorize an axis along which they lie together, by at most 16 bytes"
    )


def test_asynchronous_copies_of_elements_that_lie_apart() -> None:
    s, args, D, ko = product(lambda A, i, j: A[i, 63 - j])
    _, lanes = s[D].split(s[D].op.axis[1], factor=4)
    s[D].vectorize(lanes)
    s[args[2]].software_pipeline(ko, 2, use_async=True)
    assert refused(s, args).endswith(
        "error: software_pipeline: expected copies of 4, 8 or 16 bytes that lie together, as only these can be "
        "asynchronous, got elements of several loads: vectorize an axis along which they lie together, by at most 16 bytes"
    )


# Not refused: a loop of one iteration holds what is computed at it and the loops inside together in one kernel.


@pytest.mark.parametrize("scope", ["shared", "local"])
def test_a_stage_at_an_outermost_loop_of_one_iteration(scope: str) -> None:
    A, B, C = chain()
    s = te.create_schedule(C.op)
    outer, inner = s[C].split(C.op.axis[0], factor=64)
    s[C].bind(inner, te.thread_axis("threadIdx.x"))
    s[B].compute_at(s[C], outer)
    s[B].set_scope(scope)
    assert str(s).startswith(f"for i.outer in range(1):  # C\n  B: {scope} float32[64]\n")
    a = np.arange(64, dtype="float32")
    (c,) = testing.run(tw.build(s, [A, C], "sim"), [a], [((64,), "float32")])
    np.testing.assert_array_equal(c, 2 * a + 1)
