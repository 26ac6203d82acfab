"""The primitives of TVM v0.19's stages that are hints, checks or shorthands."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import CompileError, ScheduleError, te, testing


def doubled(shape=(64,)):
    A = te.placeholder(shape, name="A")
    B = te.compute(shape, lambda *axes: A(*axes) * 2.0, name="B")
    return te.create_schedule(B.op), A, B


def replayed(s, B):
    again = te.create_schedule(B.op)
    s.trace().apply(again)
    assert again.ir() == s.ir()
    return str(s.trace()).splitlines()[-1]


def refused(call) -> str:
    with pytest.raises((CompileError, ScheduleError)) as caught:
        call()
    return str(caught.value).split("error: ", 1)[1].split("\n")[0]


def check_doubled(s, A, B, target):
    a = np.arange(np.prod(A.shape), dtype=np.float32).reshape(A.shape)
    (b,) = testing.run(tw.build(s, [A, B], target=target, name="doubled"), [a], [(A.shape, "float32")])
    np.testing.assert_array_equal(b, 2 * a)


def test_parallel_is_for_the_cpu() -> None:
    s, A, B = doubled()
    s[B].parallel(B.op.axis[0])
    assert str(s) == "for i0 in range(64):  # B, parallel\n  B[i0] = A[i0] * 2.0"
    assert replayed(s, B) == "s[B].parallel(i0)"
    check_doubled(s, A, B, "cpu")
    assert refused(lambda: tw.build(s, [A, B], target="sim")) == (
        "parallel: expected a loop bound to a block or thread index, for a GPU has no threads of a CPU: "
        'use s[B].bind(i0, te.thread_axis("blockIdx.x"))'
    )
    assert refused(lambda: s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))) == (
        "bind: axis 'i0' of stage 'B': expected a plain loop, got one that is parallel"
    )
    k = te.reduce_axis((0, 64), "k")
    C = te.compute((1,), lambda i: te.sum(A[k], axis=k), name="C")
    assert refused(lambda: te.create_schedule(C.op)[C].parallel(k)) == (
        "parallel: expected a spatial axis, got the reduction axis 'k': its iterations depend on each other"
    )


@pytest.mark.parametrize(("steps", "unrolled"), [(0, ""), (3, ""), (4, "k"), (20, "jk"), (40, "ijk")])
def test_auto_unroll_writes_out_what_is_short(steps: int, unrolled: str) -> None:
    """k makes 4 stores, j 20 and i 40."""
    A = te.placeholder((2, 5, 4), name="A")
    B = te.compute((2, 5, 4), lambda i, j, k: A[i, j, k] * 2.0, name="B")
    s = te.create_schedule(B.op)
    one, i = s[B].split(B.op.axis[0], nparts=1)
    s[B].bind(one, te.thread_axis("blockIdx.x"))
    s[B].pragma(i, "auto_unroll_max_step", steps)
    s[B].pragma(i, "unroll_explicit", True)
    loops = [line.strip() for line in str(s).splitlines() if "for" in line and "blockIdx" not in line]
    assert "".join(line[4] for line in loops if "unrolled" in line) == unrolled
    assert replayed(s, B) == f's[B].pragma(i_inner, "auto_unroll_max_step", {steps})'
    check_doubled(s, A, B, "sim")


def test_what_of_pragma_is_refused() -> None:
    s, _, B = doubled()
    with pytest.raises(ValueError) as caught:
        s[B].pragma(B.op.axis[0], "import_c", "int x;")
    assert str(caught.value).endswith("pragma: expected auto_unroll_max_step or unroll_explicit, got 'import_c'")
    with pytest.raises(TypeError) as typed:
        s[B].pragma(B.op.axis[0], "auto_unroll_max_step", "many")
    assert str(typed.value).endswith("pragma: expected an integer as auto_unroll_max_step, got 'many'")
    assert refused(lambda: s[B].pragma(B.op.axis[0], "auto_unroll_max_step", -1)) == (
        "auto_unroll: expected a number of steps of at least 0, got -1"
    )


def test_a_split_without_predicates_must_divide() -> None:
    s, A, B = doubled()
    io, ii = s[B].split(B.op.axis[0], factor=16, disable_predication=True)
    s[B].bind(io, te.thread_axis("blockIdx.x"))
    assert replayed(s, B).startswith("s[B].bind")
    assert "split(i0, factor=16, disable_predication=True)" in str(s.trace())
    check_doubled(s, A, B, "sim")


@pytest.mark.parametrize(
    ("extent", "options", "text"),
    [
        (64, {"factor": 48}, "48 and an extent of 64"),
        (64, {"nparts": 10}, "10 and an extent of 64"),
        (te.var("n"), {"factor": 16}, "16 and a symbolic extent"),
    ],
)
def test_a_split_without_predicates_that_does_not_divide(extent, options, text: str) -> None:
    s, A, B = doubled((extent,))
    s[B].split(B.op.axis[0], **options, disable_predication=True)
    assert refused(lambda: tw.lower(s, [A, B], stage="loops")) == (
        f"split: expected a number that divides axis 'i0' for disable_predication, got {text}"
    )


def test_a_split_without_predicates_of_which_a_part_is_split_with_some() -> None:
    s, A, B = doubled((64,))
    outer, inner = s[B].split(B.op.axis[0], factor=4, disable_predication=True)
    block, thread = s[B].split(outer, factor=5)
    s[B].bind(block, te.thread_axis("blockIdx.x"))
    s[B].bind(thread, te.thread_axis("threadIdx.x"))
    assert "i0.outer.outer*5 + i0.outer.inner < 16:" in str(s)
    check_doubled(s, A, B, "sim")


def row_sum():
    A = te.placeholder((6, 100), name="A")
    k = te.reduce_axis((0, 100), "k")
    B = te.compute((6,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    _, ki = s[B].split(k, factor=16)
    BF = s.rfactor(B, ki)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    tx = te.thread_axis("threadIdx.x")
    s[B].bind(s[B].op.reduce_axis[0], tx)
    s[BF].compute_at(s[B], s[B].op.reduce_axis[0])
    return s, A, B, BF, tx


def test_store_predicate_of_a_reduction_across_threads() -> None:
    """As TVM's tutorial on reductions has it."""
    s, A, B, _, tx = row_sum()
    s[B].set_store_predicate(tx.var.equal(0))
    assert replayed(s, B) == 's[B].set_store_predicate(te.thread_axis("threadIdx.x").equal(0))'
    a = np.random.default_rng(0).integers(-9, 9, (6, 100)).astype(np.float32)
    (b,) = testing.run(tw.build(s, [A, B], target="sim", name="row_sum"), [a], [((6,), "float32")])
    np.testing.assert_array_equal(b, a.sum(axis=1))


def test_store_predicates_that_would_leave_elements_out() -> None:
    s, A, B, _, tx = row_sum()
    for predicate, text in (
        (tx.var + 1 == 4, "threadIdx.x + 1 == 4"),
        (True, "True"),
        (tx.var.equal(tx), "threadIdx.x == threadIdx.x"),
    ):
        with pytest.raises(ValueError) as caught:
            s[B].set_store_predicate(predicate)
        assert str(caught.value).endswith(
            "set_store_predicate: expected comparisons of thread indices with numbers, such as "
            f'te.thread_axis("threadIdx.x").equal(0), got {text}'
        )
    with pytest.raises(ValueError) as caught:
        s[B].set_store_predicate(te.all(tx < 3, tx > 4))
    assert str(caught.value).endswith(
        "set_store_predicate: expected threads that there are, got none of threadIdx.x for which "
        "(threadIdx.x < 3) & (threadIdx.x > 4): nothing would be stored"
    )
    assert refused(lambda: s[B].set_store_predicate(te.thread_axis("blockIdx.x").equal(0))) == (
        "set_store_predicate: expected threadIdx.x, threadIdx.y or threadIdx.z, got blockIdx.x"
    )
    s[B].set_store_predicate(tx.var.equal(16))
    assert refused(lambda: tw.lower(s, [A, B], stage="loops")) == (
        "set_store_predicate: expected a thread that there is, got those of threadIdx.x from 16 on, of 16: nothing would "
        "be stored"
    )
    for limit, which in ((1, "thread 0"), (63, "some threads")):
        s, A, B = doubled()
        s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
        tx, ty = te.thread_axis("threadIdx.x"), te.thread_axis("threadIdx.y")
        s[B].set_store_predicate(te.all(ty.equal(0), tx < limit))
        assert refused(lambda s=s, A=A, B=B: tw.lower(s, [A, B], stage="loops")) == (
            "set_store_predicate: expected a thread index that is the same for all elements of stage 'B', got threadIdx.x, "
            f"to which axis 'i0' is bound: only the elements of {which} would be stored"
        )


@pytest.mark.parametrize("predicate", ["tx < 4", "tx >= 3", "te.all(tx > 2, 9 > tx)", "tx.equal(5)", "tx <= 0"])
def test_store_predicates_by_ranges_of_threads(predicate: str) -> None:
    """Of threads that have the same sum it does not matter which of them store it."""
    s, A, B, BF, tx = row_sum()
    s[B].set_store_predicate(eval(predicate, {"tx": tx.var, "te": te}))
    # A thread's own part stays its own.
    s[BF].set_store_predicate(tx.equal(0))
    again = te.create_schedule(B.op)
    s.trace().apply(again)
    assert again.ir() == s.ir()
    a = np.random.default_rng(0).integers(-9, 9, (6, 100)).astype(np.float32)
    (b,) = testing.run(tw.build(s, [A, B], target="sim", name="row_sum"), [a], [((6,), "float32")])
    np.testing.assert_array_equal(b, a.sum(axis=1))


@pytest.mark.parametrize("n", [5, 20, 32])
def test_a_store_predicate_that_only_leaves_out_threads_without_elements(n: int) -> None:
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * 2, name="B")
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], factor=32)
    tx = te.thread_axis("threadIdx.x")
    s[B].bind(outer, te.thread_axis("blockIdx.x"))
    s[B].bind(inner, tx)
    s[B].set_store_predicate(tx.var < n)
    a = np.random.default_rng(0).integers(-9, 9, n).astype(np.float32)
    (b,) = testing.run(tw.build(s, [A, B], target="sim", name="twice"), [a], [((n,), "float32")])
    np.testing.assert_array_equal(b, a * 2)


def chain():
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] * 2.0, name="B")
    C = te.compute((64,), lambda i: B[i] + 1.0, name="C")
    D = te.compute((64,), lambda i: C[i] * B[i], name="D")
    return te.create_schedule(D.op), A, B, C, D


@pytest.mark.parametrize("target", ["sim", "cpu"])
def test_a_group_is_computed_at_a_loop_together(target: str) -> None:
    s, A, B, C, D = chain()
    group = s.create_group(outputs=C, inputs=A)
    assert repr(group) == "group(B, C)"
    outer, inner = s[D].split(D.op.axis[0], factor=16)
    s[D].bind(outer, te.thread_axis("blockIdx.x"))
    group.compute_at(s[D], outer)
    assert [line.split("# ")[-1] for line in str(s).splitlines() if "for" in line][1:3] == ["B", "C"]
    replayed(s, D)
    a = np.arange(64, dtype=np.float32)
    (d,) = testing.run(tw.build(s, [A, D], target=target, name="group"), [a], [((64,), "float32")])
    np.testing.assert_array_equal(d, (2 * a + 1) * 2 * a)


def test_what_is_in_a_group() -> None:
    s, A, B, C, D = chain()
    assert repr(s.create_group(outputs=D, inputs=B)) == "group(C, D)"
    assert repr(s.create_group(outputs=[D], inputs=[B], include_inputs=True)) == "group(B, C, D)"
    copy = s.cache_read(B, "shared", [C, D])
    assert repr(s.create_group(outputs=C, inputs=A)) == "group(B, B.shared, C)"
    # What is computed in another of the group stays there.
    group = s.create_group(outputs=C, inputs=B)
    assert repr(group) == "group(B.shared, C)"
    s[copy].compute_at(s[C], C.op.axis[0])
    group.compute_at(s[D], D.op.axis[0])
    assert s.ir().count("schedule.compute_at %B_shared") == 1
    group.compute_root()
    assert s.ir().count("schedule.compute_root") == 1
    assert refused(lambda: s.create_group(outputs=B, inputs=C)) == (
        "create_group: expected inputs that the outputs need, got 'C'"
    )
    with pytest.raises(TypeError) as caught:
        s.create_group(outputs="C", inputs=A)
    assert str(caught.value).endswith("create_group: expected a tensor, got 'C'")


def test_normalize_is_the_schedule() -> None:
    s, _, _ = doubled()
    assert s.normalize() is s


def test_loop_partition() -> None:
    """The part without predicates has none in the IR, can be vectorized, and all parts compute what one loop did."""
    A = te.placeholder((100, 37), name="A")
    padded = te.compute(
        (102, 39),
        lambda i, j: te.if_then_else(te.all(i >= 1, i < 101, j >= 1, j < 38), A[i - 1, j - 1], 0.0),
        name="P",
    )
    B = te.compute((100, 37), lambda i, j: padded[i, j] + padded[i + 2, j + 2], name="B")
    s = te.create_schedule(B.op)
    s[padded].compute_inline()
    io, ii = s[B].split(B.op.axis[0], factor=16)
    s[B].bind(io, te.thread_axis("blockIdx.x"))
    s[B].bind(ii, te.thread_axis("threadIdx.x"))
    j = B.op.axis[1]
    s[B].loop_partition(j)
    assert str(s).count("for j in") == 3
    assert replayed(s, B).endswith("s[B].loop_partition(j)")
    assert "the iterations that need no predicates apart from the others" in s.explain(j)
    func = tw.build(s, [A, B], target="sim")
    assert func.ir("loops").count('schedule.axis = #schedule.axis<"j" of "B">') == 3
    a = np.random.default_rng(0).standard_normal((100, 37)).astype(np.float32)
    (b,) = testing.run(func, [a], [((100, 37), "float32")])
    p = np.pad(a, 1)
    np.testing.assert_array_equal(b, p[:100, :37] + p[2:, 2:])
    assert refused(lambda: s[B].vectorize(j)) == (
        "vectorize: axis 'j' of stage 'B': expected a plain loop, got one that is partitioned"
    )
