"""Programs of every kind on arguments that are not row-major, beside NumPy, with what lies between the rows left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, tir
from tilewright.runtime.ndarray import as_dtype

POISON = -77
TARGETS = pytest.mark.parametrize("target", ["cpu", "sim"])
N, M, LD, LDC = te.var("n"), te.var("m"), te.var("ld"), te.var("ldc")


def build(outputs: list[te.Tensor], args: list[Any], target: str, bound: list[te.Tensor] | None = None) -> tw.Function:
    s = te.create_schedule([output.op for output in outputs])
    for stage in bound or outputs if target != "cpu" else ():
        outer, inner = s[stage].split(s[stage].op.axis[-1], 4)
        s[stage].bind(outer, te.thread_axis("blockIdx.x"))
        s[stage].bind(inner, te.thread_axis("threadIdx.x"))
    return tw.build(s, args, target, name="f")


def part(shape: tuple[int, int], leading: int, dtype: str = "float32", fill: float | None = None) -> np.ndarray:
    """A matrix that is part of one with longer rows."""
    whole = np.full((shape[0], leading), POISON, as_dtype(dtype))
    own = whole[:, : shape[1]]
    own[:] = np.random.default_rng(shape[1]).integers(0, 2 if dtype == "bool" else 50, shape) if fill is None else fill
    return own


def has_own_gaps(array: np.ndarray) -> bool:
    """Whether nothing was written between the rows."""
    assert isinstance(array.base, np.ndarray)
    poison = np.full(1, POISON, array.dtype)
    return bool((array.base[:, array.shape[1] :] == poison).all())


@TARGETS
def test_bools_and_several_outputs(target: str) -> None:
    A = te.placeholder((N, M), "bool", strides=(LD, 1), name="A")
    B = te.placeholder((N, M), strides=(None, 1), name="B")
    C = te.compute((N, M), lambda i, j: te.if_then_else(A[i, j], B[i, j], -B[i, j]), name="C")
    D = te.compute((N, M), lambda i, j: C[i, j] > 10, name="D")
    f = build([C, D], [A, B, te.strided(C, (LDC, 1)), te.strided(D, (None, 1))], target)
    a, b = part((5, 7), 9, "bool"), part((5, 7), 8)
    c, d = part((5, 7), 16, fill=POISON), part((5, 7), 20, "bool", fill=True)
    f(a, b, c, d)
    expected = np.where(a, b, -b)
    assert (c == expected).all() and (d == (expected > 10)).all() and has_own_gaps(c) and has_own_gaps(d)


@TARGETS
def test_outputs_that_later_stages_read(target: str) -> None:
    A = te.placeholder((N, M), strides=(None, None), name="A")
    B = te.compute((N, M), lambda i, j: A[i, j] + 1, name="B")
    k = te.reduce_axis((0, M), name="k")
    C = te.compute((N, N), lambda i, j: te.sum(B[i, k] * B[j, k], axis=k), name="C")
    f = build([B, C], [A, te.strided(B, (LD, 1)), te.strided(C, (LDC, 1))], target)
    a = np.random.default_rng(0).random((9, 6)).astype("float32").T[:5]
    b, c = part((5, 9), 12, fill=POISON), part((5, 5), 8, fill=POISON)
    f(a, b, c)
    expected = (a + 1).astype("float64")
    assert np.allclose(b, expected) and np.allclose(c, expected @ expected.T) and has_own_gaps(b) and has_own_gaps(c)


@TARGETS
def test_scans(target: str) -> None:
    """Each step reads what the one before wrote into the output's rows."""
    X = te.placeholder((N, M), strides=(LD, 1), name="X")
    first = te.compute((1, M), lambda i, j: X[0, j], name="first")
    S = te.placeholder((N, M), name="S")
    step = te.compute((N, M), lambda t, j: S[t - 1, j] + X[t, j], name="step")
    R = te.scan(first, step, S, inputs=[X], name="R")
    f = build([R], [X, te.strided(R, (LDC, 1))], target, [first, step])
    x, r = part((5, 7), 9), part((5, 7), 16, fill=POISON)
    f(x, r)
    assert (r == np.cumsum(x, 0)).all() and has_own_gaps(r)


@TARGETS
def test_externs(target: str) -> None:
    def body(ins: list[Any], outs: list[Any]) -> Any:
        ib = tir.ir_builder.create()
        a, c = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        if target != "cpu":
            ib.scope_attr(te.thread_axis("blockIdx.x"), "thread_extent", 1)
        with ib.for_range(0, 8, "i") as i, ib.for_range(0, 16, "j") as j:
            c[i, j] = a[i, j] * 2.0
        return ib.get()

    A = te.placeholder((8, 16), strides=(LD, 1), name="A")
    C = te.extern((8, 16), [A], body, name="C", dtype="float32")
    f = tw.build(te.create_schedule(C.op), [A, te.strided(C, (1, LDC))], target, name="f")
    a, held = part((8, 16), 20), np.full((16, 12), POISON, "float32")
    f(a, held.T[:8])
    assert (held.T[:8] == 2 * a).all() and (held[:, 8:] == POISON).all()


@TARGETS
def test_optional_inputs(target: str) -> None:
    A = te.placeholder((N, M), strides=(LD, 1), name="A")
    B = te.placeholder((N, M), strides=(None, 1), name="B", optional=True)
    C = te.compute((N, M), lambda i, j: te.if_given(B, A[i, j] + B[i, j], A[i, j]), name="C")
    f = build([C], [A, B, te.strided(C, (LD, 1))], target)
    a, b, c = part((5, 7), 9), part((5, 7), 12), part((5, 7), 9, fill=POISON)
    assert "B: float32[n, m] strides (B.stride0, 1) or None" in str(f.signature)
    for given in (b, None):
        f(a, given, c)
        assert (c == (a if given is None else a + given)).all() and has_own_gaps(c)


@TARGETS
def test_results_of_one_reduction(target: str) -> None:
    A = te.placeholder((N, M), strides=(1, LD), name="A")
    k = te.reduce_axis((0, M), name="k")
    argmax = te.comm_reducer(
        lambda x, y: (te.if_then_else(x[1] >= y[1], x[0], y[0]), te.if_then_else(x[1] >= y[1], x[1], y[1])),
        lambda t0, t1: (te.const(-1, t0), te.min_value(t1)),
        name="argmax",
    )
    at, most = te.compute((N,), lambda i: argmax((k.astype("int32"), A[i, k]), axis=k), name="V")
    f = build([at], [A, te.strided(at, (2,)), te.strided(most, (None,))], target)
    assert "V.v0: int32[n] strides (2,)" in str(f.signature)
    a = np.random.default_rng(0).random((9, 16)).astype("float32").T[:13]
    i, v = np.full(26, POISON, "int32"), np.full(39, POISON, "float32")
    f(a, i[::2], v[::3])
    assert (i[::2] == a.argmax(1)).all() and (v[::3] == a.max(1)).all()
    assert (i[1::2] == POISON).all() and (v[1::3] == POISON).all() and (v[2::3] == POISON).all()


@TARGETS
def test_narrow_floats_and_computed_indices(target: str) -> None:
    A = te.placeholder((N, M), "float16", strides=(None, None), name="A")
    B = te.placeholder((N, M), "bfloat16", strides=(1, LDC), name="B")
    index = te.placeholder((N,), "int32", strides=(None,), name="index")
    C = te.compute((N, M), lambda i, j: A[index[i], M - 1 - j].astype("float32") + B[i, j].astype("float32"), name="C")
    f = build([C], [A, B, index, te.strided(C, (None, None))], target)
    choose = np.random.default_rng(0)
    a = choose.random((40, 64)).astype("float16")[::2, ::3][:, :21]
    b = choose.random((21, 24)).astype(as_dtype("bfloat16")).T[:20]
    at = choose.integers(0, 20, 40).astype("int32")[::2]
    held = np.full((20, 42), POISON, "float32")
    f(a, b, at, held[:, ::2])
    assert (held[:, ::2] == a[at][:, ::-1].astype("float32") + b.astype("float32")).all()
    assert (held[:, 1::2] == POISON).all()
