"""Splits by numbers that a call gives."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import ScheduleError, te

TARGETS = ["sim", "cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
RNG = np.random.default_rng(11)


def integers(*shape):
    return RNG.integers(-8, 8, shape).astype("float32")


def run(function, target, inputs, shape):
    device = tw.device("cuda" if target == "cuda" else "cpu")
    given = [one if isinstance(one, int) else tw.nd.array(one, device) for one in inputs]
    out = tw.nd.array(np.full(shape, np.nan, "float32"), device)
    function(*given, out)
    return out.numpy()


def doubled(m):
    A = te.placeholder((m,), name="A")
    return A, te.compute((m,), lambda i: A[i] * 2 + 1, name="B")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("by", ["factor", "nparts"])
def test_a_split_by_a_number_that_a_call_gives(target, by) -> None:
    """One below 1 counts as 1."""
    if target == "cuda" and not tw.cuda(0).exist:
        pytest.skip("no GPU here")
    m, n = te.var("m"), te.var("n")
    A, B = doubled(m)
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], **{by: n})
    s[B].bind(outer, te.thread_axis("blockIdx.x"))
    s[B].bind(inner, te.thread_axis("threadIdx.x"))
    function = tw.build(s, [n, A, B], target)
    for size in (1, 7, 48, 100):
        for number in (-2, 0, 1, 3, 16, 200):
            a = integers(size)
            np.testing.assert_array_equal(run(function, target, [number, a], (size,)), a * 2 + 1)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("columns", [1, 10, 64, 100])
def test_loops_split_by_an_extent(target, columns) -> None:
    if target == "cuda" and not tw.cuda(0).exist:
        pytest.skip("no GPU here")
    n = te.var("n")
    A = te.placeholder((70, n), name="A")
    k = te.reduce_axis((0, n), "k")
    B = te.compute((70,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], factor=n)
    s[B].split(k, nparts=n)
    s[B].bind(outer, te.thread_axis("blockIdx.x"))
    s[B].bind(inner, te.thread_axis("threadIdx.x"))
    a = integers(70, columns)
    np.testing.assert_array_equal(run(tw.build(s, [A, B], target), target, [a], (70,)), a.sum(1))


def test_what_a_schedule_tells_of_such_a_split() -> None:
    m, n = te.var("m"), te.var("n")
    A, B = doubled(m)
    C = te.compute((m, n), lambda i, j: B[i], name="C")
    s = te.create_schedule(C.op)
    outer, inner = s[B].split(B.op.axis[0], factor=n)
    assert str(s).splitlines()[1:4] == [
        "for i.outer in range(ceildiv(m, max(n, 1))):  # B",
        "  for i.inner in range(max(n, 1)):",
        "    if i.outer * max(n, 1) + i.inner < m:",
    ]
    assert 'schedule.split %i by_symbol "n"' in s.ir()
    assert "i_outer, i_inner = s[B].split(i, factor=n)" in str(s.trace())
    (relation,) = s[B].relations
    assert relation.factor is n and relation.nparts is None
    again = te.create_schedule(C.op)
    s.trace().apply(again)
    assert again.ir() == s.ir() and str(again) == str(s)
    A, B = doubled(m)
    with pytest.raises(
        ValueError, match="expected a program with te.var 'n', by which the trace splits, got one without"
    ):
        s.trace().apply(te.create_schedule(te.compute((m, 4), lambda i, j: B[i], name="C").op))
    assert [outer, inner] == list(s[s.stages[0].op].leaf_iter_vars)


def test_the_number_is_among_the_arguments() -> None:
    n = te.var("n")
    A, B = doubled(100)
    s = te.create_schedule(B.op)
    s[B].split(B.op.axis[0], factor=n)
    assert "range(max(n, 1))" in str(s)  # an argument of its own
    with pytest.raises(ScheduleError) as caught:
        tw.lower(s, [A, B])
    assert (
        "error: split: expected a symbolic extent of an argument or a number among the arguments, got 'n', which is neither\n"
        in str(caught.value)
    )


@pytest.mark.parametrize(
    ("text", "factor"),
    [
        ("split: expected an integer or a te.var as factor, got n * 2: pass a te.var for it", lambda n: n * 2),
        ("split: expected an integer or a te.var of int32 or int64 as factor, got x", lambda n: te.var("x", "float32")),
        ("split: expected an integer as factor, got 2.5", lambda n: 2.5),
    ],
)
def test_what_is_no_number_is_refused(text, factor) -> None:
    A, B = doubled(100)
    s = te.create_schedule(B.op)
    with pytest.raises(TypeError) as caught:
        s[B].split(B.op.axis[0], factor=factor(te.var("n")))
    assert str(caught.value).endswith(f": {text}")


def test_two_of_one_name_are_refused() -> None:
    A, B = doubled(te.var("n"))
    s = te.create_schedule(B.op)
    with pytest.raises(ScheduleError) as caught:
        s[B].split(B.op.axis[0], factor=te.var("n"))
    assert str(caught.value).endswith(
        "error: split: expected a te.var with a name of its own, got 'n', as another is called, too"
    )


@pytest.mark.parametrize("what", ["cache_write", "rfactor"])
def test_stages_that_loops_make_want_numbers(what) -> None:
    n = te.var("n")
    A = te.placeholder((8, n), name="A")
    k = te.reduce_axis((0, n), "k")
    B = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    _, inner = s[B].split(k if what == "rfactor" else B.op.axis[0], factor=n)
    name = "k" if what == "rfactor" else "i"
    with pytest.raises(ScheduleError) as caught:
        s.rfactor(B, inner) if what == "rfactor" else s.cache_write(B, "local")
    assert str(caught.value).endswith(
        f"error: expected the loops of stage 'B' to be split by numbers here, got '{name}' split by 'n': split it afterwards"
    )


def test_no_predicates_for_a_number_that_nobody_knows() -> None:
    n = te.var("n")
    A, B = doubled(n)
    s = te.create_schedule(B.op)
    s[B].split(B.op.axis[0], factor=n, disable_predication=True)
    assert (
        "split: expected a number that divides axis 'i' for disable_predication, got 'n' and a symbolic extent"
        in str(s)
    )


def test_a_thread_axis_has_the_extent_of_what_is_bound() -> None:
    n = te.var("n")
    with pytest.raises(TypeError) as caught:
        te.thread_axis((0, n), "threadIdx.x")
    assert str(caught.value).endswith(
        "te.thread_axis threadIdx.x: expected an integer extent, got n: leave it out, for the axis that is bound says it"
    )
