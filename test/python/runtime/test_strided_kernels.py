"""Schedules on arguments that are not row-major: what needs rows that lie together and aligned has them, or says so."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import schedules, te
from tilewright.runtime.ndarray import as_dtype

CUDA = tw.Target("cuda", arch="sm_90a")
POISON = -77


def product(
    schedule: Callable[..., Any],
    strides: Callable[[te.Var, te.Var, te.Var], tuple[Any, Any, Any]],
    target: str | tw.Target,
    divisible_by: int = 8,
    size: tuple[int, int, int] = (128, 128, 64),
    dtype: str = "float16",
) -> tw.Function:
    """A ready product whose factors and result have strides."""
    s, tensors = schedule(*size, dtype, "float32")
    variables = (te.var(name, divisible_by=divisible_by) for name in ("lda", "ldb", "ldc"))
    given = strides(*variables)
    args = [tensor if own is None else te.strided(tensor, own) for tensor, own in zip(tensors, given)]
    return tw.build(s, args, target, name="mm")


def rows(a: te.Var, b: te.Var, c: te.Var) -> tuple[Any, Any, Any]:
    return (a, 1), (b, 1), (c, 1)


def known_rows(a: te.Var, b: te.Var, c: te.Var) -> tuple[Any, Any, Any]:
    return (72, 1), (144, 1), (152, 1)


@pytest.mark.parametrize("strides", [rows, known_rows])
@pytest.mark.parametrize("schedule", [schedules.matmul_mma, schedules.matmul_wgmma])
def test_tensor_cores(schedule: Callable[..., Any], strides: Callable[..., Any]) -> None:
    """Through shared memory by vectors, and by TMA, whose tensor maps have the strides of the call."""
    function = product(schedule, strides, "sim")
    choose = np.random.default_rng(4)

    def matrix(n: int, m: int, leading: int, dtype: str = "float16") -> np.ndarray:
        part = np.full((n, leading), POISON, as_dtype(dtype))[:, :m]
        part[:] = choose.standard_normal((n, m))
        return part

    a, b, c = matrix(128, 64, 72), matrix(64, 128, 144), matrix(128, 128, 152, "float32")
    c.base[:] = POISON
    function(a, b, c)
    assert np.allclose(c, a.astype("float64") @ b.astype("float64"), atol=1e-4)
    assert (c.base[:, 128:] == POISON).all()


def test_columns_of_one_matrix_by_the_copy_engine() -> None:
    """The result lies between the rows of a factor."""
    s, (A, B, C) = schedules.matmul_wgmma(128, 128, 64, "float16", "float16")
    ld = te.var("ld", divisible_by=8)
    function = tw.build(s, [te.strided(C, (ld, 1)), te.strided(A, (ld, 1)), B], "sim", name="mm")
    held = np.full((128, 256), POISON, "float16")
    a, c, b = held[:, 128:192], held[:, :128], np.eye(64, 128, dtype="float16")
    a[:] = np.random.default_rng(6).standard_normal(a.shape)
    before = a.copy()
    function(c, a, b)
    assert (c[:, :64] == before).all() and (c[:, 64:] == 0).all() and (a == before).all()
    assert (held[:, 192:] == POISON).all()


@pytest.mark.sweep
def test_vectors_are_as_wide_as_is_known() -> None:
    def copies(divisible_by: int) -> Counter[str]:
        s, (A, B, C) = schedules.matmul_mma(128, 128, 64, "float16", "float32")
        lda = te.var("lda", divisible_by=divisible_by)
        text = tw.build(s, [te.strided(A, (lda, 1)), B, C], CUDA, name="mm").ptx
        return Counter(re.findall(r"\tld\.global(?:\.nc)?\.(v4\.b32|v2\.b32|b16)", text))

    assert copies(8) == {"v4.b32": 16}
    assert copies(4) == {"v4.b32": 8, "v2.b32": 16}
    assert copies(1) == {"v4.b32": 8, "b16": 64}


@pytest.mark.sweep
def test_cp_async() -> None:
    """Copies of 16 bytes where it is known that they are aligned."""
    size = (256, 256, 512)
    assert product(schedules.matmul_mma, rows, CUDA, size=size).ptx.count("cp.async.cg.shared.global") == 48
    for strides, unit in ((rows, 1), (rows, 2), (lambda a, b, c: ((1, a), None, None), 8)):
        with pytest.raises(tw.ScheduleError) as caught:
            product(schedules.matmul_mma, strides, CUDA, unit, size)
        assert str(caught.value).partition("error: ")[2] == (
            "software_pipeline: expected copies of 4, 8 or 16 bytes that lie together, as only these can be asynchronous, "
            "got elements of several loads of A, of whose strides it is not known that elements lie together and aligned: "
            "the last must be 1, and te.var has divisible_by\n(lowering mm from loops to gpu)"
        )


def test_cp_async_of_single_elements() -> None:
    def build(strides: tuple[Any, Any]) -> tw.Function:
        A = te.placeholder((256, 256), strides=strides, name="A")
        B = te.compute((256, 256), lambda i, j: A[i, j] * 2, name="B")
        s = te.create_schedule(B.op)
        AS = s.cache_read(A, "shared", [B])
        outer, inner = s[B].split(B.op.axis[1], 64)
        s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
        s[B].bind(inner, te.thread_axis("threadIdx.x"))
        s[AS].compute_at(s[B], outer)
        s[AS].bind(s[AS].fuse(*s[AS].op.axis), te.thread_axis("threadIdx.x"))
        s[B].software_pipeline(outer, 2, use_async=True)
        return tw.build(s, [A, B], CUDA, name="f")

    assert "cp.async.ca" in build((te.var("ld"), 1)).ptx
    with pytest.raises(tw.ScheduleError) as caught:
        build((1, te.var("ld")))
    assert str(caught.value).partition("error: ")[2] == (
        "software_pipeline: expected to copy from rows of elements that lie side by side, got A, whose last stride is not 1\n"
        "(lowering f from loops to gpu)"
    )


@pytest.mark.parametrize(
    ("strides", "divisible_by", "message"),
    [
        (
            lambda a, b, c: ((1, a), None, None),
            8,
            "expected a tensor whose last stride is 1, as TMA copies rows, got A as "
            "'memref<128x64xbf16, strided<[1, ?]>>'",
        ),
        (
            lambda a, b, c: ((a, 1), None, None),
            2,
            "expected strides of multiples of 16 bytes, 8 elements of 'bf16', which TMA can step over, got one that "
            "may be any multiple of 2 (te.var has divisible_by) in dimension 0 of A",
        ),
        (
            lambda a, b, c: ((100, 1), None, None),
            8,
            "expected strides of multiples of 16 bytes, 8 elements of 'bf16', which TMA can step over, got 100 in "
            "dimension 0 of A",
        ),
    ],
    ids=["columns", "unknown", "known"],
)
def test_what_the_copy_engine_needs(strides: Callable[..., Any], divisible_by: int, message: str) -> None:
    with pytest.raises(tw.ScheduleError) as caught:
        product(schedules.matmul_wgmma, strides, CUDA, divisible_by, dtype="bfloat16")
    text = str(caught.value).partition("error: ")[2]
    assert text == f"copy_by: stage 'As': {message}\n(lowering mm from loops to gpu)"


def test_convolutions() -> None:
    """Images that are part of larger ones; steps of several elements need strides that are known."""

    def build(stride: int, strides: tuple[Any, ...]) -> tw.Function:
        s, (X, W, Y) = schedules.conv2d_wgmma(1, 64, 16, 64, 3, tile=(1, 8, 8, 64), stride=stride)
        return tw.build(s, [te.strided(X, strides), W, Y], "sim", name="conv")

    row, image = te.var("row", divisible_by=8), te.var("image", divisible_by=8)
    choose = np.random.default_rng(5)
    w = choose.standard_normal((64, 3, 3, 64)).astype("float16")
    held = np.full((1, 20, 24, 64), POISON, "float16")
    x = held[:, :16, :16]
    x[:] = choose.standard_normal(x.shape)
    plain = schedules.conv2d_wgmma(1, 64, 16, 64, 3, tile=(1, 8, 8, 64))
    expected = tw.build(*plain, target="sim", name="conv")(x.copy(), w)
    assert (build(1, (image, row, 64, 1))(x, w) == expected).all()
    with pytest.raises(tw.ScheduleError) as caught:
        build(2, (image, row, 64, 1))
    assert (
        str(caught.value)
        .partition("error: ")[2]
        .startswith(
            "copy_by: stage 'As': expected a copy of boxes of X as it is, for it has strides that only a call knows\n"
        )
    )


def test_what_takes_row_major_arrays_alone() -> None:
    A = te.placeholder((4, 8), strides=(16, 1), name="A")
    B = te.compute((4, 8), lambda i, j: A[i, j] * 2, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    function = tw.build(s, [A, B], CUDA, name="f")
    with pytest.raises(tw.CompileError, match="expected row-major arguments, got A, which has strides"):
        function.source("host")
    with pytest.raises(ValueError) as caught:
        tw.build(s, [A, B], CUDA, name="f", host="managed")
    assert str(caught.value) == (
        "f(A: float32[4, 8] strides (16, 1), B: float32[4, 8]): expected row-major arguments with host='managed', got "
        "A: float32[4, 8] strides (16, 1)"
    )


def test_rows_of_any_number_of_a_larger_matrix() -> None:
    """One kernel of symbolic extents and strides, by TMA."""
    n = te.var("n")
    s, tensors = schedules.matmul_wgmma(n, 128, 64, "bfloat16", "float32")
    strides = (te.var(name, divisible_by=8) for name in ("lda", "ldb", "ldc"))
    args = [te.strided(tensor, (stride, 1)) for tensor, stride in zip(tensors, strides)]
    function = tw.build(s, args, "sim", name="mm")
    choose = np.random.default_rng(7)
    b = choose.standard_normal((64, 136)).astype(as_dtype("bfloat16"))[:, :128]
    for rows in (1, 63, 129):
        a = choose.standard_normal((rows, 96)).astype(as_dtype("bfloat16"))[:, :64]
        held = np.full((rows + 3, 144), POISON, "float32")
        function(a, b, held[:rows, :128])
        assert np.allclose(held[:rows, :128], a.astype("float64") @ b.astype("float64"), atol=1e-4)
        assert (held[rows:] == POISON).all() and (held[:, 128:] == POISON).all()


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_parts_that_begin_anywhere(target: str) -> None:
    """Of less alignment, columns from any one on."""
    n, m, ld = te.var("n"), te.var("m"), te.var("ld", divisible_by=4)
    A = te.placeholder((n, m), strides=(ld, 1), name="A", align=4)
    C = te.compute((n, m), lambda i, j: A[i, j] * 2, name="C")
    s = te.create_schedule(C.op)
    if target == "sim":
        s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
        s[C].vectorize(s[C].split(C.op.axis[1], 4)[1])
    function = tw.build(s, [A, te.aligned(te.strided(C, (ld, 1)), 4)], target, name="f")
    whole, held = np.arange(320, dtype="float32").reshape(20, 16), np.full((20, 16), POISON, "float32")
    for first in range(4):
        held[:] = POISON
        function(whole[:, first : first + 9], held[:, first + 1 : first + 10])
        assert (held[:, first + 1 : first + 10] == 2 * whole[:, first : first + 9]).all()
        assert (held[:, : first + 1] == POISON).all() and (held[:, first + 10 :] == POISON).all()
