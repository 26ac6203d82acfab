"""Reductions that follow others in one loop: `rolling_update`."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing


def softmax(rows: int, columns: int, dtype: str = "float32", scale: float = 1.0, inline: bool = False):
    S = te.placeholder((rows, columns), dtype, name="S")
    j, k = te.reduce_axis((0, columns), name="j"), te.reduce_axis((0, columns), name="k")
    M = te.compute((rows,), lambda i: te.max(S[i, j].astype("float32"), axis=j), name="M")
    E = te.compute((rows, columns), lambda i, c: te.exp((S[i, c].astype("float32") - M[i]) * scale), name="E")
    if inline:
        L = te.compute((rows,), lambda i: te.sum(E[i, k], axis=k), name="L")
    else:
        L = te.compute((rows,), lambda i: te.sum(te.exp((S[i, k].astype("float32") - M[i]) * scale), axis=k), name="L")
    P = te.compute((rows, columns), lambda i, c: E[i, c] / L[i], name="P")
    s = te.create_schedule(P.op)
    s[E].compute_inline()
    s[L].rolling_update(k, of=M)
    return s, [S, P], (M, L, k)


def expected(scores: np.ndarray, scale: float = 1.0) -> np.ndarray:
    wide = scores.astype("float64")
    exponentials = np.exp((wide - wide.max(1, keepdims=True)) * scale)
    return exponentials / exponentials.sum(1, keepdims=True)


def run(s, args, inputs, shape, target, dtype="float32"):
    (made,) = testing.run(tw.build(s, args, target=target, name="rolled"), inputs, [(shape, dtype)])
    return made


@pytest.mark.sample(4)
@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize(("rows", "columns"), [(3, 1), (5, 7), (4, 100)])
@pytest.mark.parametrize("inline", [False, True])
def test_one_pass_softmax(target, rows, columns, inline):
    s, args, (M, L, _) = softmax(rows, columns, scale=0.5, inline=inline)
    if target == "sim":
        for stage in (L, args[-1]):
            s[stage].bind(s[stage].op.axis[0], te.thread_axis("blockIdx.x"))
    scores = (40 * np.random.default_rng(0).standard_normal((rows, columns))).astype("float32")
    np.testing.assert_allclose(
        run(s, args, [scores], scores.shape, target), expected(scores, 0.5), rtol=2e-5, atol=1e-9
    )
    assert 'te.compute "M"' not in str(tw.lower(s, args, stage="linalg", target=target)).replace("te.stage", "")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_scores_of_16_bits(dtype):
    s, args, _ = softmax(4, 33, dtype)
    from tilewright.runtime.ndarray import as_dtype

    scores = np.random.default_rng(1).standard_normal((4, 33)).astype(as_dtype(dtype))
    made = run(s, args, [scores], scores.shape, "cpu")
    np.testing.assert_allclose(made, expected(scores.astype("float32")), rtol=2e-5)


def test_splits_merge_by_the_same_repair():
    """rfactor of the merged reduction: parts of the row are reduced apart, and merged."""
    rows, columns = 3, 50
    s, args, (M, L, k) = softmax(rows, columns)
    ko, ki = s[L].split(k, nparts=4)
    s.rfactor(L, ko)
    scores = (20 * np.random.default_rng(2).standard_normal((rows, columns))).astype("float32")
    np.testing.assert_allclose(run(s, args, [scores], scores.shape, "cpu"), expected(scores), rtol=2e-5, atol=1e-9)


def test_threads_reduce_together():
    rows, columns = 3, 128
    s, args, (M, L, k) = softmax(rows, columns)
    ko, ki = s[L].split(k, factor=32)
    s[L].bind(s[L].op.axis[0], te.thread_axis("blockIdx.x"))
    s[L].bind(ki, te.thread_axis("threadIdx.x"))
    P = args[-1]
    s[P].bind(P.op.axis[0], te.thread_axis("blockIdx.x"))
    scores = (20 * np.random.default_rng(3).standard_normal((rows, columns))).astype("float32")
    np.testing.assert_allclose(run(s, args, [scores], scores.shape, "sim"), expected(scores), rtol=2e-5, atol=1e-9)


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_masked_scores_count_nothing_and_empty_rows_are_zero(target):
    """A sum over values, as of attention: rows that are masked away are zero, never NaN."""
    rows, keys, width = 4, 24, 5
    Q, V = te.placeholder((rows, keys), name="Q"), te.placeholder((keys, width), name="V")
    mask = te.placeholder((rows, keys), "bool", name="mask")
    S = te.compute((rows, keys), lambda i, j: te.if_then_else(mask[i, j], Q[i, j], float("-inf")), name="S")
    j, k = te.reduce_axis((0, keys), name="j"), te.reduce_axis((0, keys), name="k")
    M = te.compute((rows,), lambda i: te.max(S[i, j], axis=j), name="M")
    out = te.compute((rows, width), lambda i, d: te.sum(te.exp(S[i, k] - M[i]) * V[k, d], axis=k), name="O")
    s = te.create_schedule(out.op)
    s[out].rolling_update(k, of=M)
    if target == "sim":
        for stage in (S, out):
            s[stage].bind(s[stage].op.axis[0], te.thread_axis("blockIdx.x"))
    rng = np.random.default_rng(4)
    q, v = rng.standard_normal((rows, keys)).astype("float32"), rng.standard_normal((keys, width)).astype("float32")
    m = rng.integers(0, 2, (rows, keys)).astype(bool)
    m[1] = False
    m[2] = True
    made = run(s, [Q, V, mask, out], [q, v, m], (rows, width), target)
    wide = np.where(m, q.astype("float64"), -np.inf)
    weights = np.exp(wide - np.where(m.any(1), wide.max(1), 0)[:, None])
    np.testing.assert_allclose(made, weights @ v, rtol=1e-4, atol=1e-5)
    assert (made[1] == 0).all()


@pytest.mark.parametrize("target", ["cpu"])
def test_a_maximum_of_differences(target):
    """max_j (c_j - 2 x) with x = min_j c_j: the repair is a sum."""
    A = te.placeholder((6, 40), name="A")
    j, k = te.reduce_axis((0, 40), name="j"), te.reduce_axis((0, 40), name="k")
    M = te.compute((6,), lambda i: te.min(A[i, j], axis=j), name="M")
    R = te.compute((6,), lambda i: te.max(A[i, k] - 2 * M[i], axis=k), name="R")
    s = te.create_schedule(R.op)
    s[R].rolling_update(k, of=M)
    a = np.random.default_rng(5).standard_normal((6, 40)).astype("float32")
    np.testing.assert_allclose(run(s, [A, R], [a], (6,), target), a.max(1) - 2 * a.min(1), rtol=1e-5, atol=1e-6)


def test_a_schedule_with_it_is_rebuilt_from_its_trace():
    s, args, (M, L, k) = softmax(4, 16)
    text = str(s.trace())
    assert "s[L].rolling_update(k, M)" in text
    from tilewright.te.schedule.trace import Trace

    again, *_ = softmax_without_schedule(4, 16)
    Trace.from_json(s.trace().to_json()).apply(again)
    assert again.ir() == s.ir()


def softmax_without_schedule(rows, columns):
    s, args, made = softmax(rows, columns)
    return te.create_schedule(args[-1].op), args, made


def test_misuse():
    s, args, (M, L, k) = softmax(4, 16)
    with pytest.raises(tw.ScheduleError, match=r"rolling_update: expected a reduction axis of 'L' \(k\), got i$"):
        s[L].rolling_update(L.op.axis[0], of=M)
    with pytest.raises(tw.ScheduleError, match="expected another stage than 'L', got the stage itself"):
        s[L].rolling_update(k, of=L)
