"""What virtual threads' neighbours among the primitives refuse, with the user's line."""

from __future__ import annotations

import inspect

import pytest

import tilewright as tw
from tilewright import te
from tilewright.errors import ScheduleError


def tiled(dtype: str = "float32"):
    A = te.placeholder((32, 32), name="A", dtype=dtype)
    B = te.compute((32, 32), lambda i, j: A[j, i], name="B")
    s = te.create_schedule(B.op)
    shared = s.cache_read(A, "shared", [B])
    io, jo, ii, ji = s[B].tile(*B.op.axis, 8, 8)
    for axis, tag in ((io, "blockIdx.y"), (jo, "blockIdx.x"), (ii, "threadIdx.y"), (ji, "threadIdx.x")):
        s[B].bind(axis, te.thread_axis(tag))
    return s, [A, B], shared, jo


def refused(s, args, target: str = "sim") -> str:
    with pytest.raises(ScheduleError) as error:
        tw.build(s, args, target=target, name="f")
    return str(error.value)


def here(offset: int) -> str:
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    return f"{__file__}:{frame.f_back.f_lineno + offset}"


def test_launch_bounds_of_an_attached_stage() -> None:
    s, args, shared, jo = tiled()
    s[shared].compute_at(s[args[1]], jo)
    s[shared].launch_bounds(2)
    assert (
        "launch_bounds: expected a stage that is computed at the root, got stage 'A.shared', which is computed at a loop "
        "of stage 'B'"
    ) in refused(s, args)


def test_storage_align_at_the_root() -> None:
    s, args, shared, jo = tiled()
    s[shared].compute_at(s[args[1]], jo)
    s[args[1]].storage_align(args[1].op.axis[0], 32, 1)
    line = here(-1)
    assert refused(s, args).startswith(
        f"{line}: error: storage_align: expected a stage that is computed at a loop of another, got stage 'B', whose "
        "tensor is row-major"
    )


def test_storage_align_that_no_padding_gives() -> None:
    s, args, shared, jo = tiled()
    s[shared].compute_at(s[args[1]], jo)
    s[shared].storage_align(s[shared].op.axis[1], 32, 2)
    line = here(-1)
    assert refused(s, args).startswith(
        f"{line}: error: storage_align: expected a distance along axis 'ax1' that can be 2 more than a multiple of 32, "
        "got multiples of 1"
    )


def test_storage_align_of_an_extent_that_depends_on_sizes() -> None:
    n = te.var("n", min=1)
    A = te.placeholder((4, 8, n), name="A")
    B = te.compute((4, 8, n), lambda i, j, k: A[i, j, k] + 1, name="B")
    C = te.compute((4, 8, n), lambda i, j, k: B[i, j, k] * 2, name="C")
    s = te.create_schedule(C.op)
    s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].compute_at(s[C], C.op.axis[0])
    s[B].storage_align(B.op.axis[1], 7, 0)
    line = here(-1)
    assert refused(s, [A, C]).startswith(
        f"{line}: error: storage_align: expected constant extents within axis 'j', got one that depends on sizes"
    )


def test_double_buffer_at_the_root() -> None:
    s, args, shared, jo = tiled()
    s[shared].compute_at(s[args[1]], jo)
    s[args[1]].double_buffer()
    line = here(-1)
    assert refused(s, args).startswith(
        f"{line}: error: double_buffer: expected a stage that is computed at a loop of another, got stage 'B', which is "
        "computed at the root"
    )


def test_double_buffer_of_a_stage_that_each_thread_has() -> None:
    s, args, shared, jo = tiled()
    s[shared].compute_at(s[args[1]], jo)
    s[shared].set_scope("local")
    s[shared].double_buffer()
    line = here(-1)
    assert refused(s, args).startswith(
        f"{line}: error: double_buffer: expected a stage in shared memory, got 'A.shared' in local memory"
    )


def test_asynchronous_copies_of_too_few_bytes() -> None:
    A = te.placeholder((32, 32), name="A", dtype="float16")
    k = te.reduce_axis((0, 32), "k")
    B = te.compute((32,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    shared = s.cache_read(A, "shared", [B])
    io, ii = s[B].split(B.op.axis[0], factor=8)
    s[B].bind(io, te.thread_axis("blockIdx.x"))
    s[B].bind(ii, te.thread_axis("threadIdx.x"))
    ko, _ = s[B].split(B.op.reduce_axis[0], factor=8)
    s[shared].compute_at(s[B], ko)
    s[B].software_pipeline(ko, 2, use_async=True)
    assert (
        "software_pipeline: expected copies of 4, 8 or 16 bytes that lie together, as only these can be asynchronous, got "
        "2: vectorize the stage that copies"
    ) in refused(s, [A, B])
