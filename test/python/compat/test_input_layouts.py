"""transform_layout of inputs, as v0.19's tests of it have it: the caller's array lies as the schedule says."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import ScheduleError, te, testing

TARGETS = ["sim", "cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
RNG = np.random.default_rng(5)


def integers(*shape):
    return RNG.integers(-8, 8, shape).astype("float32")


def bound(s, B):
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))


def run(s, args, target, inputs, shape):
    if target == "cuda" and not tw.cuda(0).exist:
        pytest.skip("no GPU here")
    (out,) = testing.run(tw.build(s, args, target), inputs, [(shape, "float32")])
    return out


LAYOUTS = [
    (lambda i, j, k: [i, j, k], lambda a: a),
    (lambda i, j, k: [k, i, j], lambda a: a.transpose(2, 0, 1)),
    (lambda i, j, k: [i * 6 + j, k], lambda a: a.reshape(24, 8)),
    (lambda i, j, k: [(i * 6 + j) * 8 + k], lambda a: a.reshape(-1)),
    (lambda i, j, k: [i * 6 + j, k // 4, k % 4], lambda a: a.reshape(24, 2, 4)),
    (lambda *i: [i[1] // 2, i[0], i[2], i[1] % 2], lambda a: a.reshape(4, 3, 2, 8).transpose(1, 0, 3, 2)),
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
def test_the_caller_s_array_lies_as_the_schedule_says(target, layout) -> None:
    places, arrange = LAYOUTS[layout]
    A = te.placeholder((4, 6, 8), name="A")
    B = te.compute((4, 6, 8), lambda i, j, k: A[i, j, k] * 2, name="B")
    s = te.create_schedule(B.op)
    s[A].transform_layout(places)
    bound(s, B)
    a = integers(4, 6, 8)
    np.testing.assert_array_equal(run(s, [A, B], target, [np.ascontiguousarray(arrange(a))], a.shape), a * 2)
    again = te.create_schedule(B.op)
    s.trace().apply(again)
    assert again.ir() == s.ir() and str(again) == str(s)


@pytest.mark.parametrize("target", ["sim", "cpu"])
@pytest.mark.parametrize("n", [4, 10])
def test_an_array_may_be_padded(target, n) -> None:
    """Tiles of 4: what lies behind the last element is never read."""
    A = te.placeholder((n, n), name="A")
    B = te.compute((n - 2, n), lambda i, j: A[i, j] + A[i + 2, n - 1 - j], name="B")
    s = te.create_schedule(B.op)
    s[A].transform_layout(lambda i, j: [i // 4, j, i % 4])
    bound(s, B)
    a = integers(n, n)
    tiles = -(-n // 4)
    padded = np.full((4 * tiles, n), np.nan, "float32")
    padded[:n] = a
    given = np.ascontiguousarray(padded.reshape(tiles, 4, n).transpose(0, 2, 1))
    np.testing.assert_array_equal(run(s, [A, B], target, [given], (n - 2, n)), a[:-2] + a[2:, ::-1])


@pytest.mark.parametrize("target", ["sim", "cpu"])
def test_an_index_that_is_data(target) -> None:
    A, at = te.placeholder((6, 4), name="A"), te.placeholder((5,), "int32", name="at")
    B = te.compute((5, 4), lambda i, j: A[at[i], j], name="B")
    s = te.create_schedule(B.op)
    s[A].transform_layout(lambda i, j: [j, i])
    bound(s, B)
    a, rows = integers(6, 4), np.array([3, 0, 5, 5, 1], "int32")
    np.testing.assert_array_equal(run(s, [A, at, B], target, [np.ascontiguousarray(a.T), rows], (5, 4)), a[rows])


def test_an_array_of_the_declared_shape_is_refused_then() -> None:
    A = te.placeholder((4, 6), name="A")
    B = te.compute((4, 6), lambda i, j: A[i, j] * 2, name="B")
    s = te.create_schedule(B.op)
    s[A].transform_layout(lambda i, j: [j, i])
    with pytest.raises(ValueError) as caught:
        tw.build(s, [A, B], "cpu")(integers(4, 6), integers(4, 6))
    assert str(caught.value) == (
        "main(A: float32[6, 4], B: float32[4, 6]): argument 0 (A): expected extent 6 in dimension 0, got shape (4, 6)"
    )


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("transform_layout of the input 'A': expected a place of its own for each element, got one place for several",
         lambda i, j: [i]),
        ("transform_layout of the input 'A': expected places from 0 on, got places before that", lambda i, j: [i - 1, j]),
        ("transform_layout of the input 'A': expected a place for 2 indices and nothing else, got (d0) -> (d0)",
         "affine_map<(i) -> (i)>"),
        ("transform_layout of the input 'A': expected quotients and remainders by positive numbers, got d0 mod 0",
         "affine_map<(i, j) -> (i mod 0, j)>"),
    ],
)  # fmt: skip
def test_a_layout_that_has_no_places_is_refused(text, layout) -> None:
    A = te.placeholder((4, 6), name="A")
    B = te.compute((4, 6), lambda i, j: A[i, j] * 2, name="B")
    s = te.create_schedule(B.op)
    with pytest.raises(ScheduleError) as caught:
        s[A].transform_layout(layout)
    assert str(caught.value).endswith(f"error: {text}")


def swap(i, j):
    return [j, i]


def test_inputs_that_have_no_other_layout_are_refused() -> None:
    n = te.var("n")
    cases = [
        (te.placeholder((n, 6), name="A"), "constant extents, got [n, 6]"),
        (te.placeholder((0, 6), name="A"), "elements along each axis, got [0, 6]"),
        (te.placeholder((4, 6), name="A", strides=(8, 1)), "an array that every call gives row-major, got another"),
    ]
    for A, text in cases:
        B = te.compute((4, 6), lambda i, j, A=A: A[i, j] * 2, name="B") if A.shape[0] != 0 else te.compute(
            (0, 6), lambda i, j, A=A: A[i, j] * 2, name="B"
        )  # fmt: skip
        with pytest.raises(ScheduleError) as caught:
            te.create_schedule(B.op)[A].transform_layout(swap)
        assert str(caught.value).endswith(f"error: transform_layout of the input 'A': expected {text}")


def test_a_copy_and_another_layout_do_not_go_together() -> None:
    A = te.placeholder((4, 6), name="A")
    B = te.compute((4, 6), lambda i, j: A[i, j] * 2, name="B")
    s = te.create_schedule(B.op)
    s.cache_read(A, "shared", [B])
    with pytest.raises(ScheduleError) as caught:
        s[A].transform_layout(swap)
    assert str(caught.value).endswith(
        "error: transform_layout of the input 'A': expected readers that are computed from its elements, got a copy of it, "
        "which cache_read has made, 'A.shared'"
    )
    s = te.create_schedule(B.op)
    s[A].transform_layout(swap)
    with pytest.raises(ScheduleError) as caught:
        s.cache_read(A, "shared", [B])
    assert str(caught.value).endswith(
        "error: cache_read: expected an input that lies as it was declared, got 'A', which transform_layout has given "
        "another layout: a te.compute of its elements is a copy"
    )
    C = te.extern((4, 6), [A], lambda ins, outs: [outs[0].vstore((0, 0), ins[0][0, 0])], dtype="float32", name="C")
    with pytest.raises(ScheduleError) as caught:
        te.create_schedule(C.op)[A].transform_layout(swap)
    assert str(caught.value).endswith("got the statements of an extern, 'C'")


def test_what_an_input_is_asked_for_in_vain() -> None:
    A = te.placeholder((16,), name="A")
    B = te.compute((16,), lambda i: A[i] * 2, name="B")
    s = te.create_schedule(B.op)
    assert s[A].op is A.op and s[A.op] is s[A] and s[A].name == "A"
    for call in (s[A].compute_inline, s[A].compute_root):
        with pytest.raises(ScheduleError) as caught:
            call()
        assert str(caught.value).endswith(
            "error: expected a stage that is computed, got the input 'A', which lies as the caller's array does: give the "
            "te.placeholder that shape, or copy it by cache_read"
        )
    with pytest.raises(ScheduleError, match="expected an axis of stage 'A'"):
        s[A].split(B.op.axis[0], factor=4)
