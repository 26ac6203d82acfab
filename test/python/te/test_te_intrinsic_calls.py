"""Intrinsics that a compute calls: what they describe is computed, and they do it where a schedule says so."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, tir


def adding(n: int) -> te.TensorIntrin:
    x, y = te.placeholder((n,), name="x"), te.placeholder((n,), name="y")
    z = te.compute((n,), lambda i: x[i] + y[i], name="z")

    def statements(ins, outs):
        ib = tir.ir_builder.create()
        out = ib.buffer_ptr(outs[0])
        with ib.for_range(0, n, name="i") as i:
            out[i] = ins[0][i] + ins[1][i]
        return ib.get()

    return te.decl_tensor_intrin(z.op, statements, "adding")


def gemv(m: int, n: int) -> te.TensorIntrin:
    w, x = te.placeholder((m, n), name="w"), te.placeholder((n,), name="x")
    k = te.reduce_axis((0, n), name="k")
    z = te.compute((m,), lambda i: te.sum(w[i, k] * x[k], axis=k), name="z")

    def statements(ins, outs):
        def reset():
            ib = tir.ir_builder.create()
            out = ib.buffer_ptr(outs[0])
            with ib.for_range(0, m, name="i") as i:
                out[i] = 0.0
            return ib.get()

        def update():
            ib = tir.ir_builder.create()
            out = ib.buffer_ptr(outs[0])
            with ib.for_range(0, m, name="i") as i, ib.for_range(0, n, name="k") as k:
                out[i] = out[i] + ins[0][i, k] * ins[1][k]
            return ib.get()

        return None, reset(), update()

    return te.decl_tensor_intrin(z.op, statements, name="gemv")


@pytest.mark.sample(4)
@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize("tensorized", [False, True])
@pytest.mark.parametrize(("rows", "size"), [(1, 4), (6, 8), (13, 16)])
def test_a_tile_of_each_row(rows: int, size: int, tensorized: bool, target: str) -> None:
    A, B = (te.placeholder((rows, 3 * size), name=name) for name in "AB")
    intrin = adding(size)
    C = te.compute(
        (rows, 3, size),
        lambda i, j: intrin(A[i, j * size : (j + 1) * size], B[i, j * size : j * size + size]),
        name="C",
    )
    assert isinstance(C.op, te.TensorComputeOp) and C.op.intrin is intrin and C.op.schedulable_ndim == 2
    assert [axis.name for axis in C.op.axis] == ["i", "j", "ax0"]
    s = te.create_schedule(C.op)
    s[C].bind(C.op.axis[0], te.thread_axis("threadIdx.x"))
    if tensorized:
        s[C].tensorize(C.op.axis[2], intrin)
    a, b = np.random.default_rng(0).normal(size=(2, rows, 3 * size)).astype("float32")
    out = np.empty((rows, 3, size), "float32")
    tw.build(s, [A, B, C], target)(a, b, out)
    np.testing.assert_array_equal(out, (a + b).reshape(rows, 3, size))


@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize("tensorized", [False, True])
def test_a_reduction_around_it(tensorized: bool, target: str) -> None:
    n, length, factor = 5, 24, 8
    W, X = te.placeholder((n * 4, length), name="W"), te.placeholder((length,), name="X")
    k = te.reduce_axis((0, length // factor), name="k")
    intrin = gemv(4, factor)
    C = te.compute(
        (n, 4),
        lambda i: intrin(
            W[i * 4 : i * 4 + 4, k * factor : (k + 1) * factor], X[k * factor : (k + 1) * factor], reduce_axis=k
        ),
        name="C",
    )
    s = te.create_schedule(C.op)
    s[C].bind(C.op.axis[0], te.thread_axis("threadIdx.x"))
    if tensorized:
        s[C].reorder(C.op.axis[0], k, C.op.axis[1], C.op.reduce_axis[1])
        s[C].tensorize(C.op.axis[1], intrin)
    w, x = np.random.default_rng(0).normal(size=(n * 4, length)).astype("float32"), np.ones(length, "float32")
    out = np.empty((n, 4), "float32")
    tw.build(s, [W, X, C], target)(w, x, out)
    np.testing.assert_allclose(out, (w @ x).reshape(n, 4), rtol=1e-5, atol=1e-5)


def test_products_of_bytes_as_topi_declares_them() -> None:
    x, y = te.placeholder((4,), "int8", name="x"), te.placeholder((4,), "int8", name="y")
    k = te.reduce_axis((0, 4), name="k")
    z = te.compute((1,), lambda i: te.sum(x[k].astype("int32") * y[k].astype("int32"), axis=k), name="z")

    def statements(ins, outs):
        def part(before):
            ib = tir.ir_builder.create()
            ib.emit(outs[0].vstore(0, tir.dp4a(ins[0].vload(0, "int8x4"), ins[1].vload(0, dtype="int8x4"), before)))
            return ib.get()

        return part(0), outs[0].vstore(0, tir.const(0, "int32")), part(outs[0].vload(0))

    intrin = te.decl_tensor_intrin(z.op, statements, name="dp4a")
    A, B = te.placeholder((6, 16), "int8", name="A"), te.placeholder((6, 16), "int8", name="B")
    r = te.reduce_axis((0, 16), name="r")
    C = te.compute((6,), lambda i: te.sum(A[i, r].astype("int32") * B[i, r].astype("int32"), axis=r), name="C")
    s = te.create_schedule(C.op)
    ro, ri = s[C].split(r, factor=4)
    io, ii = s[C].split(C.op.axis[0], factor=1)
    s[C].reorder(io, ro, ii, ri)
    s[C].bind(io, te.thread_axis("threadIdx.x"))
    s[C].tensorize(ii, intrin)
    a, b = np.random.default_rng(0).integers(-128, 128, (2, 6, 16), "int8")
    out = np.empty(6, "int32")
    tw.build(s, [A, B, C], "sim")(a, b, out)
    np.testing.assert_array_equal(out, (a.astype("int32") * b).sum(axis=1))


A = te.placeholder((8, 16), name="A")
N = te.var("n")


@pytest.mark.parametrize(
    ("kind", "message", "call"),
    [
        (TypeError, "intrinsic adding: expected 2 parts of tensors, got 1", lambda f: f(A[0, 0:4])),
        (TypeError, "intrinsic adding: expected a part of a tensor, such as A[i, 0:16], got A[0, 0]",
         lambda f: f(A[0, 0], A[0, 0:4])),
        (ValueError, "intrinsic adding: expected a part of [4] elements for x, got [5]", lambda f: f(A[0, 0:5], A[0, 0:4])),
        (ValueError, "intrinsic adding: expected a part of [4] elements for x, got [8, 16]", lambda f: f(A, A)),
        (ValueError, "index 1 of A: expected a slice without a step, got 2", lambda f: f(A[0, 0:8:2], A[0, 0:4])),
        (ValueError, "index 1 of A: expected a slice of a constant extent, got 0:n", lambda f: f(A[0, 0:N], A[0, 0:4])),
        (ValueError, "intrinsic adding: expected no reduce_axis, for it describes no reduction",
         lambda f: f(A[0, 0:4], A[0, 0:4], reduce_axis=te.reduce_axis((0, 4)))),
        (ValueError, "compute C: expected the last extents to be those of intrinsic adding, [4], got [5]",
         lambda f: te.compute((8, 5), lambda i: f(A[i, 0:4], A[i, 4:8]), name="C")),
        (ValueError, "compute C: expected a function of 2 axes, one a dimension, got 1 parameters",
         lambda f: te.compute((8, 4), lambda i: A[i, 0], name="C")),
        (ValueError, "intrinsic other: expected one of te.decl_tensor_intrin to be called, got a trace's",
         lambda f: te.TensorIntrin("other", "")(A[0, 0:4])),
    ],
)  # fmt: skip
def test_what_is_refused(kind: type[Exception], message: str, call) -> None:
    with pytest.raises(kind, match=rf"test_te_intrinsic_calls.py:\d+: {re.escape(message)}$"):
        call(adding(4))
