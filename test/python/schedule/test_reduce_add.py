"""Sums to which blocks add their parts (`bind(..., reduce_add=True)`): right, seen everywhere, and what is refused."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from split_k import matmul_that_adds
from tilewright import te, testing
from tilewright.errors import ScheduleError

Scheduled = tuple[te.Schedule, list[te.Tensor]]
SM_90A = "cuda -arch=sm_90a"


def rows(n: Any, m: Any, dtype: str = "float32", *, order: str = "io ko ii ki", bound: str = "ii") -> Scheduled:
    """The sum of each row, of which each block adds up 32 elements of 32 rows."""
    A = te.placeholder((n, m), dtype, name="A")
    k = te.reduce_axis((0, m), name="k")
    C = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    loops: dict[str, Any] = {}
    loops["ko"], loops["ki"] = s[C].split(k, factor=32)
    loops["io"], loops["ii"] = s[C].split(C.op.axis[0], factor=32)
    s[C].reorder(*(loops[name] for name in order.split()))
    s[C].bind(loops["io"], te.thread_axis("blockIdx.x"))
    s[C].bind(loops["ko"], te.thread_axis("blockIdx.y"), reduce_add=True)
    s[C].bind(loops[bound], te.thread_axis("threadIdx.x"))
    return s, [A, C]


@pytest.mark.sample(3)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("bound", ["ii", "ki"])
@pytest.mark.parametrize("order", ["io ko ii ki", "ko io ii ki", "io ii ki ko"])
def test_sums_of_rows(order: str, bound: str, dtype: str) -> None:
    """Each thread adds its sum, or one of those that reduce together; nothing is left of what was there."""
    for n, m in ((64, 96), (70, 100), (5, 7)):
        func = tw.build(*rows(n, m, dtype, order=order, bound=bound), target="sim", name="f")
        a = (9 * np.random.default_rng(n).standard_normal((n, m))).astype(dtype)
        c = np.full(n, 77, dtype)
        for _ in range(2):
            func(a, c)
            np.testing.assert_allclose(c, a.astype("float64").sum(1), atol=1e-3)


def test_symbolic_extents() -> None:
    func = tw.build(*rows(te.var("n"), te.var("m")), target="sim", name="f")
    for n, m in ((1, 1), (1025, 40), (3, 200), (0, 5), (5, 0)):
        a, c = np.random.default_rng(m).standard_normal((n, m)).astype("float32"), np.full(n, 5, "float32")
        func(a, c)
        np.testing.assert_allclose(c, a.astype("float64").sum(1), atol=1e-4)


def test_two_sums_at_once_that_another_stage_reads() -> None:
    A = te.placeholder((4, 3, 100), name="A")
    k = te.reduce_axis((0, 100), name="k")
    both = te.comm_reducer(
        lambda a, b: (a[0] + b[0], b[1] + a[1]), lambda s, t: (te.const(0, s), te.const(0, t)), name="both"
    )
    S, T = te.compute((3, 4), lambda i, j: both((A[j, i, k], A[j, i, k] * A[j, i, k]), axis=k), name="S")
    D = te.compute((3, 4), lambda i, j: S[i, j] - T[i, j], name="D")
    s = te.create_schedule(D.op)
    block, _ = s[S].split(k, factor=20)
    s[S].bind(block, te.thread_axis("blockIdx.x"), reduce_add=True)
    s[S].bind(S.op.axis[1], te.thread_axis("threadIdx.x"))
    s[D].bind(D.op.axis[0], te.thread_axis("blockIdx.x"))
    a = np.random.default_rng(0).standard_normal((4, 3, 100)).astype("float32")
    (got,) = testing.run(tw.build(s, [A, D], "sim", "f"), [a], [((3, 4), "float32")])
    np.testing.assert_allclose(got, (a.astype("float64") - a.astype("float64") ** 2).sum(2).T, atol=1e-3)


@pytest.mark.sample(2)
@pytest.mark.parametrize("is_copied", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "int8"])
def test_a_matmul_whose_blocks_share_k(dtype: str, is_copied: bool) -> None:
    """One kernel beside that of the zeros, and no workspace: TMA adds tiles, or each thread its elements."""
    s, tensors = matmul_that_adds(256, 64, 1024, dtype, parts=4, is_copied=is_copied)
    func = tw.build(s, tensors, target="sim", name="f")
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-9, 10, shape).astype(dtype) for shape in ((256, 1024), (64, 1024)))
    c = np.full((256, 64), 3, "int32" if dtype == "int8" else "float32")
    for _ in range(2):
        func(a, b, c)
        np.testing.assert_array_equal(c, a.astype("int64") @ b.astype("int64").T)
    ptx = tw.build(s, tensors, target=SM_90A, name="f").ptx
    wanted = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group" if is_copied else "atom.global.add"
    assert wanted in ptx


def test_it_is_told_everywhere() -> None:
    s, tensors = rows(64, 96)
    assert "C[i.outer*32 + i.inner] += C.acc  # by blocks together" in str(s)
    assert "for k.outer in range(3):  # blockIdx.y" in str(s)
    assert 's[C].bind(k_outer, te.thread_axis("blockIdx.y"), reduce_add=True)' in str(s.trace())
    assert "whose blocks add their parts" in s.explain(tensors[1].op.reduce_axis[0])
    func = tw.build(s, tensors, target=SM_90A, name="f")
    assert "atom.global.add.f32" in func.ptx
    assert "atomicAdd(&C[bx * 32 + tx], C_local);" in func.source("cuda")
    assert "tma_add_2d(" in tw.build(
        *matmul_that_adds(128, 64, 256, "float16", parts=2, is_copied=True), target=SM_90A, name="f"
    ).source("cuda")


def line(offset: int) -> str:
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    return f"{__file__}:{frame.f_back.f_lineno + offset}: error: bind: expected "


def refused(s: te.Schedule, tensors: list[te.Tensor]) -> str:
    with pytest.raises(ScheduleError) as error:
        tw.build(s, tensors, target="sim", name="f")
    return str(error.value).splitlines()[0]


def reduced(reducer: Any = te.sum, dtype: str = "float32") -> tuple[te.Schedule, te.Tensor, te.Tensor, Any]:
    A = te.placeholder((8, 64), dtype, name="A")
    k = te.reduce_axis((0, 64), name="k")
    C = te.compute((8,), lambda i: reducer(A[i, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    return s, A, C, s[C].split(k, factor=32)[0]


def test_an_axis_or_an_index_of_another_kind() -> None:
    s, _, C, outer = reduced()
    with pytest.raises(ScheduleError) as error:
        s[C].bind(outer, te.thread_axis("blockIdx.x"))
    assert str(error.value) == line(-1) + (
        "a spatial axis on blockIdx.x, got the reduction axis 'k.outer': blocks combine what they computed with "
        "reduce_add alone"
    )
    for axis, tag, got in (
        (C.op.axis[0], "blockIdx.x", "'i' on blockIdx.x"),
        (outer, "threadIdx.x", "'k.outer' on threadIdx.x"),
        (outer, "vthread", "'k.outer' on vthread"),
    ):
        with pytest.raises(ScheduleError) as error:
            s[C].bind(axis, te.thread_axis(tag), reduce_add=True)
        assert str(error.value) == line(-1) + f"a reduction axis on a block index for reduce_add, got {got}"


@pytest.mark.parametrize(
    ("reducer", "dtype", "message"),
    [
        (te.max, "float32", "a sum for reduce_add, got stage 'C', which is reduced in another way"),
        (te.prod, "int32", "a sum for reduce_add, got stage 'C', which is reduced in another way"),
        (te.sum, "float16", "sums of 32 or 64 bits for reduce_add, got those of 'f16' of stage 'C'"),
        (te.sum, "int8", "sums of 32 or 64 bits for reduce_add, got those of 'i8' of stage 'C'"),
    ],
)
def test_what_is_no_sum_of_such_numbers(reducer: Any, dtype: str, message: str) -> None:
    s, A, C, outer = reduced(reducer, dtype)
    s[C].bind(outer, te.thread_axis("blockIdx.x"), reduce_add=True)
    assert refused(s, [A, C]) == line(-1) + message


def test_a_stage_in_the_loops_of_another() -> None:
    s, A, C, outer = reduced()
    D = te.compute((8,), lambda i: C[i] + 1, name="D")
    s = te.create_schedule(D.op)
    outer, _ = s[C].split(C.op.reduce_axis[0], factor=32)
    s[C].bind(outer, te.thread_axis("blockIdx.x"), reduce_add=True)
    expected = line(-1)
    s[C].compute_at(s[D], D.op.axis[0])
    assert refused(s, [A, D]) == expected + (
        "a stage that is computed at the root for reduce_add, got stage 'C', which is computed at a loop of stage 'D'"
    )


def test_a_stage_that_follows_it() -> None:
    s, A, C, _ = reduced()
    D = te.compute((8,), lambda i: C[i] + 1, name="D")
    s = te.create_schedule(D.op)
    outer, _ = s[C].split(C.op.reduce_axis[0], factor=32)
    s[C].bind(outer, te.thread_axis("blockIdx.x"), reduce_add=True)
    expected = line(-1)
    s[D].reverse_compute_at(s[C], C.op.axis[0])
    assert refused(s, [A, D]) == expected + (
        "no stage that is computed after it in its loops for reduce_add, got stage 'D'"
    )


def test_more_sums_than_registers() -> None:
    A = te.placeholder((64, 64, 64), name="A")
    k = te.reduce_axis((0, 64), name="k")
    C = te.compute((64, 64), lambda i, j: te.sum(A[i, j, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    outer, inner = s[C].split(k, factor=32)
    s[C].reorder(outer, inner, *C.op.axis)
    s[C].bind(outer, te.thread_axis("blockIdx.x"), reduce_add=True)
    assert refused(s, [A, C]) == line(-1) + (
        "loops of constant extents, without an index, over at most 1024 elements inside the reduction of stage 'C' for "
        "reduce_add, as a thread has its sums in registers"
    )
