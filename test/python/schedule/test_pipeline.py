"""Software pipelines: what is computed stays the same, with one barrier an iteration, and past the registers on request."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing
from tilewright.errors import ScheduleError


def product(size: int, *, copy: bool = True, step: int = 8):
    """A tiled matrix product; without `copy`, what is kept of A is computed from it."""
    A, B = te.placeholder((size, size), name="A"), te.placeholder((size, size), name="B")
    k = te.reduce_axis((0, size), "k")
    D = te.compute((size, size), lambda i, j: A[i, j] * 2.0, name="D") if not copy else A
    C = te.compute((size, size), lambda i, j: te.sum(D[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    left = s.cache_read(A, "shared", [C]) if copy else D
    if not copy:
        s[D].set_scope("shared")
    right = s.cache_read(B, "shared", [C])
    Cl = s.cache_write(C, "local")
    by, bx, ty, tx = s[C].tile(*s[C].op.axis, 16, 16)
    for axis, tag in ((by, "blockIdx.y"), (bx, "blockIdx.x"), (ty, "threadIdx.y"), (tx, "threadIdx.x")):
        s[C].bind(axis, te.thread_axis(tag))
    s[Cl].compute_at(s[C], tx)
    ko, ki = s[Cl].split(s[Cl].op.reduce_axis[0], factor=step)
    s[Cl].reorder(ko, ki, *s[Cl].op.axis)
    for stage in (left, right):
        s[stage].compute_at(s[Cl], ko)
    return s, [A, B, C], Cl, ko, ki, left


def check(s, args, size: int, factor: float = 1.0) -> str:
    func = tw.build(s, args, target="sim", name="product")
    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal((size, size), dtype=np.float32) for _ in range(2))
    (c,) = testing.run(func, [a, b], [((size, size), "float32")])
    bound = factor * testing.dot_bound(a, b, size)
    testing.assert_within(c, factor * (a.astype(np.float64) @ b.astype(np.float64)), bound)
    return func.ir("gpu")


@pytest.mark.parametrize("use_async", [False, True])
@pytest.mark.parametrize("stages", [2, 3, 4])
def test_stages(stages: int, use_async: bool) -> None:
    s, args, Cl, ko, *_ = product(48)
    s[Cl].software_pipeline(ko, stages, use_async)
    text = check(s, args, 48)
    assert f"memref<{stages}x16x8xf32, #gpu.address_space<workgroup>>" in text
    assert ("nvgpu.device_async_copy" in text) == use_async
    inside = text[text.index("schedule.pipeline") if "schedule.pipeline" in text else 0 :]
    assert inside.count("gpu.barrier") == 1


@pytest.mark.parametrize("use_async", [False, True])
def test_a_loop_shorter_than_the_pipeline(use_async: bool) -> None:
    s, args, Cl, ko, *_ = product(16, step=8)
    s[Cl].software_pipeline(ko, 4, use_async)
    check(s, args, 16)


@pytest.mark.parametrize("use_async", [False, True])
def test_extents_that_no_tile_divides(use_async: bool) -> None:
    s, args, Cl, ko, *_ = product(37)
    s[Cl].software_pipeline(ko, 3, use_async)
    check(s, args, 37)


def test_double_buffer_of_what_is_computed() -> None:
    s, args, *_, left = product(32, copy=False)
    s[left].double_buffer()
    assert "memref<2x16x8xf32, #gpu.address_space<workgroup>>" in check(s, args, 32, 2.0)


def test_asynchronous_copies_reach_the_ptx() -> None:
    s, args, Cl, ko, *_ = product(64)
    s[Cl].software_pipeline(ko, 3, use_async=True)
    ptx = tw.build(s, args, target="cuda -arch=sm_80", name="product").ptx
    assert "cp.async.ca.shared.global" in ptx
    assert "cp.async.wait_group" in ptx


def test_what_is_computed_can_not_be_copied_asynchronously() -> None:
    s, args, Cl, ko, *_ = product(32, copy=False)
    s[Cl].software_pipeline(ko, 2, use_async=True)
    with pytest.raises(ScheduleError) as error:
        tw.build(s, args, target="sim", name="product")
    assert (
        "error: software_pipeline: expected a stage that copies a global tensor, which can be done asynchronously, got one "
        "that computes its elements"
    ) in str(error.value)


def test_asynchronous_copies_need_sm_80() -> None:
    s, args, Cl, ko, *_ = product(32)
    s[Cl].software_pipeline(ko, 2, use_async=True)
    with pytest.raises(ScheduleError) as error:
        tw.build(s, args, target="cuda -arch=sm_75", name="product")
    assert "software_pipeline: expected an architecture from sm_80 on for asynchronous copies, got sm_75" in str(
        error.value
    )


def test_a_loop_that_fills_nothing() -> None:
    s, args, Cl, _, ki, _ = product(32)
    s[Cl].software_pipeline(ki, 2)
    with pytest.raises(ScheduleError) as error:
        tw.build(s, args, target="sim", name="product")
    assert "software_pipeline: expected a loop that fills shared buffers, got one that fills none" in str(error.value)
