"""Extents of 0 and arrays without dimensions are ordinary: on every target, in operations and in exports."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from tilewright import ops, te

CUDA = tw.Target("cuda", arch="sm_90a")
TARGETS = pytest.mark.parametrize("target", ["cpu", "sim"])


def bind(s: Any, Y: Any, factor: int = 32) -> None:
    fused = s[Y].fuse(*Y.op.axis) if len(Y.op.axis) > 1 else Y.op.axis[0]
    block, thread = s[Y].split(fused, factor=factor)
    s[Y].bind(block, te.thread_axis("blockIdx.x"))
    s[Y].bind(thread, te.thread_axis("threadIdx.x"))


def check(s: Any, tensors: Any, arrays: Any, expected: Any, target: str) -> None:
    """The last array is written; for cuda it must compile."""
    tw.build(s, tensors, target)(*arrays)
    np.testing.assert_array_equal(arrays[-1], expected)
    if target == "sim":
        assert tw.build(s, tensors, CUDA).cubin


@TARGETS
@pytest.mark.parametrize("shape", [(0,), (4, 0), (0, 4), (0, 0), (3, 0, 5)])
def test_nothing_is_computed_where_there_is_nothing(shape: tuple[int, ...], target: str) -> None:
    A = te.placeholder(shape, name="A")
    B = te.compute(shape, lambda *at: A[at] + 1, name="B")
    s = te.create_schedule(B.op)
    bind(s, B)
    check(s, [A, B], [np.empty(shape, "float32"), np.empty(shape, "float32")], np.empty(shape, "float32"), target)
    if target == "sim":
        assert "gpu.launch_func" not in str(tw.lower(s, [A, B], stage="gpu"))


@pytest.mark.sample(7)
@TARGETS
@pytest.mark.parametrize(
    ("reduce", "dtype", "identity"),
    [(te.sum, "float32", 0), (te.prod, "float64", 1), (te.max, "float16", -np.inf), (te.min, "float32", np.inf),
     (te.max, "int32", -(2**31)), (te.min, "uint8", 255), (te.max, "uint16", 0), (te.sum, "int64", 0)],
)  # fmt: skip
def test_a_reduction_of_nothing_is_the_identity(reduce: Any, dtype: str, identity: Any, target: str) -> None:
    A = te.placeholder((4, 0), dtype, name="A")
    k = te.reduce_axis((0, 0), "k")
    B = te.compute((4,), lambda i: reduce(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    bind(s, B)
    check(s, [A, B], [np.empty((4, 0), dtype), np.full(4, 7, dtype)], np.full(4, identity, dtype), target)


@TARGETS
def test_reducers_of_ones_own_have_their_identity(target: str) -> None:
    A = te.placeholder((4, 0), name="A")
    k = te.reduce_axis((3, 3), "k")
    argmax = te.comm_reducer(
        lambda x, y: (te.select(x[1] >= y[1], x[0], y[0]), te.select(x[1] >= y[1], x[1], y[1])),
        lambda a, b: (te.const(-1, a), te.min_value(b)),
    )
    at, value = te.compute((4,), lambda i: argmax((k, A[i, k]), axis=k), name="B")
    s = te.create_schedule(at.op)
    bind(s, at)
    found = np.full(4, 7, "int32")
    check(s, [A, at, value], [np.empty((4, 0), "float32"), found, np.full(4, 7, "float32")], -np.inf, target)
    assert (found == -1).all()


@TARGETS
@pytest.mark.parametrize("extents", [(0, 4, 4), (4, 0, 4), (4, 4, 0), (0, 0, 0)])
def test_a_tiled_product(extents: tuple[int, int, int], target: str) -> None:
    """Splits, tiles in shared memory and an accumulator, as for any other extents."""
    M, N, K = extents
    A, B = te.placeholder((M, K), name="A"), te.placeholder((K, N), name="B")
    k = te.reduce_axis((0, K), "k")
    C = te.compute((M, N), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    shared, local = s.cache_read(A, "shared", [C]), s.cache_write(C, "local")
    i, j = s[C].op.axis
    by, ty = s[C].split(i, factor=8)
    bx, tx = s[C].split(j, factor=8)
    s[C].reorder(by, bx, ty, tx)
    for axis, tag in ((by, "blockIdx.y"), (bx, "blockIdx.x"), (ty, "threadIdx.y"), (tx, "threadIdx.x")):
        s[C].bind(axis, te.thread_axis(tag))
    s[local].compute_at(s[C], tx)
    outer, _ = s[local].split(local.op.reduce_axis[0], factor=4)
    s[shared].compute_at(s[local], outer)
    arrays = [np.ones((M, K), "float32"), np.ones((K, N), "float32"), np.full((M, N), 7, "float32")]
    check(s, [A, B, C], arrays, np.zeros((M, N)), target)


@TARGETS
def test_a_reduction_of_nothing_across_threads(target: str) -> None:
    A = te.placeholder((4, 0), name="A")
    k = te.reduce_axis((0, 0), "k")
    B = te.compute((4,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(s[B].split(B.op.reduce_axis[0], factor=32)[1], te.thread_axis("threadIdx.x"))
    check(s, [A, B], [np.empty((4, 0), "float32"), np.full(4, 7, "float32")], np.zeros(4), target)


@TARGETS
def test_stages_without_elements_on_the_way(target: str) -> None:
    A = te.placeholder((4, 0), name="A")
    S = te.compute((4, 0), lambda i, j: A[i, j] * 2, name="S")
    k = te.reduce_axis((0, 0), "k")
    B = te.compute((4,), lambda i: te.sum(S[i, k], axis=k), name="B")
    C = te.compute((4,), lambda i: B[i] + 1.0, name="C")
    s = te.create_schedule(C.op)
    for stage in (S, B, C):
        bind(s, stage)
    check(s, [A, C], [np.empty((4, 0), "float32"), np.full(4, 7, "float32")], np.ones(4), target)


@TARGETS
@pytest.mark.parametrize("extent", [0, 5])
def test_symbolic_extents_may_be_0(extent: int, target: str) -> None:
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    k = te.reduce_axis((0, n), "k")
    B = te.compute((1,), lambda i: te.max(A[k], axis=k), name="B")
    s = te.create_schedule(B.op)
    bind(s, B)
    check(s, [A, B], [np.ones(extent, "float32"), np.full(1, 7, "float32")], [1 if extent else -np.inf], target)


@TARGETS
def test_arrays_without_dimensions(target: str) -> None:
    A, scale = te.placeholder((8,), name="A"), te.placeholder((), name="scale")
    T = te.compute((), lambda: A[3] + scale[()], name="T")
    B = te.compute((8,), lambda i: A[i] * T[()], name="B")
    s = te.create_schedule(B.op)
    s[T].compute_inline()
    bind(s, B)
    a = np.arange(8, dtype="float32")
    check(s, [A, scale, B], [a, np.array(2, "float32"), np.empty(8, "float32")], a * 5, target)


def test_results_without_dimensions() -> None:
    A = te.placeholder((8,), name="A")
    k = te.reduce_axis((0, 8), "k")
    B = te.compute((), lambda: te.sum(A[k], axis=k), name="B")
    function = tw.build(te.create_schedule(B.op), [A, B], "cpu")
    out = np.array(0, "float32")
    function(np.ones(8, "float32"), out)
    assert out == 8
    assert function(np.ones(8, "float32")).shape == ()


@pytest.mark.sample(8)
@TARGETS
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int8"])
@pytest.mark.parametrize("extents", [(0, 32, 32), (32, 0, 32), (32, 32, 0)])
def test_matmul(extents: tuple[int, int, int], dtype: str, target: str) -> None:
    M, N, K = extents
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    a, b = np.ones((M, K), kind), np.ones((K, N), kind)
    got = ops.matmul(a, b, target=target)
    assert got.shape == (M, N) and (np.asarray(got).astype("float32") == 0).all()
    bias = np.arange(N).astype("float32")
    if dtype == "float16":
        got = ops.matmul(a, b, bias, activation="relu", target=target)
        np.testing.assert_array_equal(got, np.broadcast_to(bias, (M, N)))


@pytest.mark.sample(2)
@TARGETS
@pytest.mark.parametrize("shape", [(0, 8), (8, 0)])
def test_operations(shape: tuple[int, int], target: str) -> None:
    x = np.ones(shape, "float32")
    row, column = np.ones(shape[1], "float32"), np.ones(shape[0], "float32")
    results = {
        "softmax": (ops.softmax(x, target=target), shape),
        "layer_norm": (ops.layer_norm(x, row, row, target=target), shape),
        "rms_norm": (ops.rms_norm(x, row, target=target), shape),
        "gelu": (ops.gelu(x, target=target), shape),
        "add": (ops.add(x, x, target=target), shape),
        "transpose": (ops.transpose(x, target=target), shape[::-1]),
        "row_sum": (ops.row_sum(x, target=target), shape[:1]),
        "column_sum": (ops.column_sum(x, target=target), shape[1:]),
        "matvec": (ops.matvec(x, row, target=target), shape[:1]),
        "vecmat": (ops.vecmat(column, x, target=target), shape[1:]),
    }
    for name, (got, expected) in results.items():
        assert got.shape == expected, name
        assert (got == 0).all(), name


@pytest.mark.sample(3)
@TARGETS
@pytest.mark.parametrize(("batch", "channels", "filters"), [(0, 8, 8), (1, 0, 8), (1, 8, 0)])
def test_convolutions(batch: int, channels: int, filters: int, target: str) -> None:
    x, w = np.ones((batch, channels, 4, 4), "float32"), np.ones((filters, channels, 3, 3), "float32")
    got = ops.conv2d(x, w, target=target)
    assert got.shape == (batch, filters, 4, 4) and (got == 0).all()
    x, w = np.ones((batch, 4, 4, channels), "float16"), np.ones((filters, 3, 3, channels), "float16")
    got = ops.conv2d(x, w, np.ones(filters, "float16"), target=target)
    assert got.shape == (batch, 4, 4, filters) and (got == 1).all()


def test_exports(tmp_path: Any) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")
    A = te.placeholder((4, 0), name="A")
    k = te.reduce_axis((0, 0), "k")
    B = te.compute((4,), lambda i: te.max(A[i, k], axis=k), name="B")
    path = tmp_path / "empty.so"
    tw.build(te.create_schedule(B.op), [A, B], "cpu", name="largest").export_library(str(path))
    loaded = tvm_ffi.load_module(str(path))
    out = np.full(4, 7, "float32")
    loaded.largest(tvm_ffi.from_dlpack(np.empty((4, 0), "float32")), tvm_ffi.from_dlpack(out))
    assert (out == -np.inf).all()
