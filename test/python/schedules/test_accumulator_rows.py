"""Reductions of the rows of an accumulator, from te to numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest
from mlir import ir
from mlir.passmanager import PassManager

import tilewright as tw
from tilewright import te, testing
from tilewright.errors import CompileError
from tilewright.instructions import wgmma
from tilewright.ir import context
from tilewright.runtime.ndarray import as_dtype


def rows_of_matmul(
    reduce,
    m=128,
    n=64,
    k=128,
    dtype="bfloat16",
    out_dtype="float32",
    element=lambda C, i, j: C[i, j],
):
    """R[i] = reduce over j of element(A B^T, i, j), and its schedule."""
    A, B = te.placeholder((m, k), dtype, name="A"), te.placeholder((n, k), dtype, name="B")
    d = te.reduce_axis((0, k), name="d")
    C = te.compute((m, n), lambda i, j: te.sum(A[i, d].astype(out_dtype) * B[j, d].astype(out_dtype), axis=d), name="C")
    j = te.reduce_axis((0, n), name="j")
    R = te.compute((m,), lambda i: reduce(element(C, i, j), axis=j), name="R")
    s = te.create_schedule(R.op)
    rows = s.cache_write(R, "local")
    block, i = s[R].split(R.op.axis[0], factor=m)
    s[R].bind(block, te.thread_axis("blockIdx.x"))
    s[R].env_threads([te.thread_axis((0, 128), "threadIdx.x")])
    warpgroup, i = s[R].split(i, factor=64)
    s[R].bind(warpgroup, te.thread_axis("threadIdx.y"))
    s[rows].compute_at(s[R], warpgroup)
    s[C].set_scope("local")
    s[C].compute_at(s[R], warpgroup)
    size = 128 // np.dtype(as_dtype(dtype)).itemsize
    loaded = [s.cache_read(tensor, "shared", [C]) for tensor in (A, B)]
    ko, ki = s[C].split(d, factor=size)
    s[C].reorder(ko, *s[C].op.axis, ki)
    for stage in loaded:
        s[stage].compute_at(s[C], ko)
        s[stage].copy_by("tma")
    s[C].software_pipeline(ko, 2)
    s[C].specialize(ko)
    s[C].tensorize(s[C].op.axis[0], wgmma(dtype, out_dtype, n=n, k=size, transpose_b=True))
    return s, [A, B, R], rows


def integers(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(as_dtype(dtype))


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("reduce", "exact"), [(te.max, np.max), (te.min, np.min), (te.sum, np.sum)], ids=["max", "min", "sum"]
)
@pytest.mark.parametrize(("dtype", "out_dtype"), [("bfloat16", "float32"), ("int8", "int32")])
def test_rows_of_an_accumulator_are_reduced(reduce, exact, dtype, out_dtype):
    s, args, _ = rows_of_matmul(reduce, dtype=dtype, out_dtype=out_dtype)
    a, b = integers((128, 128), dtype, 0), integers((64, 128), dtype, 1)
    (made,) = testing.run(tw.build(s, args, target="sim", name="rows"), [a, b], [((128,), out_dtype)])
    np.testing.assert_array_equal(made, exact(a.astype("int64") @ b.astype("int64").T, axis=1))


def test_what_is_reduced_may_be_computed():
    s, args, _ = rows_of_matmul(te.sum, element=lambda C, i, j: te.abs(C[i, j]) * 2.0)
    a, b = integers((128, 128), "bfloat16", 2), integers((64, 128), "bfloat16", 3)
    (made,) = testing.run(tw.build(s, args, target="sim", name="rows"), [a, b], [((128,), "float32")])
    np.testing.assert_array_equal(made, np.abs(a.astype("int64") @ b.astype("int64").T).sum(1) * 2)


def test_a_row_maximum_reaches_ptx():
    s, args, _ = rows_of_matmul(te.max)
    ptx = tw.build(s, args, target=tw.Target("cuda", arch="sm_90a"), name="rows").ptx
    assert ptx.count("shfl.sync.bfly") == 4  # two rows a thread, four threads a row
    assert "max.NaN.f32" in ptx


def test_a_row_may_be_reduced_in_parts():
    s, args, rows = rows_of_matmul(te.max)
    outer, _ = s[rows].split(s[rows].op.reduce_axis[0], factor=32)
    s[rows].reorder(outer, *s[rows].op.axis)
    a, b = integers((128, 128), "bfloat16", 4), integers((64, 128), "bfloat16", 5)
    (made,) = testing.run(tw.build(s, args, target="sim", name="rows"), [a, b], [((128,), "float32")])
    np.testing.assert_array_equal(made, (a.astype("int64") @ b.astype("int64").T).max(1))


HERE = "stage 'R.local' of the accumulator of 'C': "


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"element": lambda C, i, j: C[i, j] + C[j, i], "m": 64}, "expected a reduction of each row of a warpgroup's accumulator to one element"),
        ({"dtype": "float16", "out_dtype": "float16"}, "expected rows of f32 or i32 to reduce, got 'f16'"),
    ],
)  # fmt: skip
def test_what_is_no_reduction_of_rows_is_refused(options, message):
    s, args, _ = rows_of_matmul(te.max, **options)
    with pytest.raises(CompileError) as raised:
        tw.lower(s, args, stage="gpu", target=tw.Target("cuda", arch="sm_90a"))
    first = str(raised.value).splitlines()[0]
    assert first.startswith(__file__)
    assert first.endswith(f": error: wgmma: {HERE}{message}")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            r"memref\.store %cst\S*, (%alloca_\d+\[%arg\d+\] : memref<64xf32)",
            r"memref.store %unknown, \1",
            "expected a reduction that begins with a constant",
        ),
        (
            r"memref\.store %cst\S*, %alloca_\d+\[%arg\d+\] : memref<64xf32.*\n",
            "",
            "expected a reduction that begins with a constant",
        ),
        (
            r"to %c64 (step %c1 \{\n\s+%\d+ = memref\.load %alloca_\d+\[%arg\d+\] : memref<64xf32)",
            r"to %c2 \1",
            "expected loops that go through all 64 rows and 64 columns of a warpgroup's accumulator",
        ),
    ],
)
def test_loops_that_are_no_reduction_of_rows_are_refused(old, new, message):
    s, args, _ = rows_of_matmul(te.max)
    text = str(tw.lower(s, args, stage="loops", target=tw.Target("cuda", arch="sm_90a")))
    text = text.replace("func.func @main(", "func.func @main(%unknown: f32, ")
    changed = re.sub(old, new, text)
    assert changed != text
    with context():
        module = ir.Module.parse(changed)
        with pytest.raises(ir.MLIRError) as raised:
            PassManager.parse("builtin.module(func.func(raise-to-tile-ops))").run(module.operation)
    assert f"wgmma: {HERE}{message}" in str(raised.value)
