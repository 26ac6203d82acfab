"""What schedules of v0.19 say beyond its tutorials: each against NumPy, on the processor and on the simulator."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import ScheduleError, te

TARGETS = ["cpu", "sim"]
BLOCK, THREAD = "blockIdx.x", "threadIdx.x"
RNG = np.random.default_rng(19)


def integers(*shape, dtype="float32"):
    """Small integers, of which sums are exact in any order."""
    return RNG.integers(-8, 8, shape).astype(dtype)


def check(s, args, inputs, want, target):
    """Builds the schedule and compares its one output with what it should be, element by element."""
    want = np.asarray(want)
    out = np.full(want.shape, 77).astype(want.dtype)
    tw.build(s, args, target)(*inputs, out)
    np.testing.assert_array_equal(out, want)


def row_sum(*shape):
    A = te.placeholder(shape, name="A")
    k = te.reduce_axis((0, shape[-1]), "k")
    return A, te.compute(shape[:-1], lambda *i: te.sum(A(*i, k), axis=k), name="B")


@pytest.mark.sample(5)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(64,), (1, 64), (3, 50), (1, 1, 7), (2, 5, 33)])
@pytest.mark.parametrize("factor", [None, 16])
def test_a_reduction_of_which_only_the_reduction_axis_is_bound(target, shape, factor) -> None:
    A, B = row_sum(*shape)
    s = te.create_schedule(B.op)
    axis = B.op.reduce_axis[0]
    if factor:
        _, axis = s[B].split(axis, factor=factor)
    s[B].bind(axis, te.thread_axis(THREAD))
    a = integers(*shape)
    check(s, [A, B], [a], a.sum(-1), target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [7, 64])
def test_a_factored_sum_of_everything(target, n) -> None:
    """As TVM's tutorial on reductions, of one row: the parts are computed at the axis of threads."""
    A, B = row_sum(n)
    s = te.create_schedule(B.op)
    _, ki = s[B].split(B.op.reduce_axis[0], factor=16)
    BF = s.rfactor(B, ki)
    tx = te.thread_axis(THREAD)
    s[B].bind(s[B].op.reduce_axis[0], tx)
    s[BF].compute_at(s[B], s[B].op.reduce_axis[0])
    s[B].set_store_predicate(tx.var.equal(0))
    a = integers(n)
    check(s, [A, B], [a], a.sum(), target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("factor", [None, 4])
def test_a_stage_without_axes_binds_what_fuse_of_nothing_makes(target, factor) -> None:
    A = te.placeholder((), name="A")
    B = te.compute((), lambda: A() * 2 + 1, name="B")
    s = te.create_schedule(B.op)
    axis = s[B].fuse()
    if factor:
        _, axis = s[B].split(axis, factor=factor)
    s[B].bind(axis, te.thread_axis(THREAD))
    check(s, [A, B], [np.array(3, "float32")], np.float32(7), target)
    again = te.create_schedule(B.op)
    s.trace().apply(again)
    assert again.ir() == s.ir()
    assert "s[B].fuse()" in str(s.trace())


@pytest.mark.parametrize("target", TARGETS)
def test_fuse_of_nothing_is_around_all_loops(target) -> None:
    A, B = row_sum(3, 8)
    s = te.create_schedule(B.op)
    outer = s[B].fuse(s[B].fuse(), B.op.axis[0])
    s[B].bind(outer, te.thread_axis(BLOCK))
    s[B].bind(s[B].fuse(), te.thread_axis(THREAD))
    assert str(s).splitlines()[0] == "for singleton in range(1):  # B, threadIdx.x"
    a = integers(3, 8)
    check(s, [A, B], [a], a.sum(-1), target)


@pytest.mark.parametrize("target", TARGETS)
def test_a_sum_of_everything_computed_at_its_reader(target) -> None:
    A, B = row_sum(40)
    C = te.compute((), lambda: B() * 2, name="C")
    s = te.create_schedule(C.op)
    axis = s[C].fuse()
    s[C].bind(axis, te.thread_axis(BLOCK))
    s[B].compute_at(s[C], axis)
    s[B].bind(B.op.reduce_axis[0], te.thread_axis(THREAD))
    a = integers(40)
    check(s, [A, C], [a], a.sum() * 2, target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0), (1, 2, 0)])
def test_neighbours_fuse_in_any_order_of_the_arguments(target, order) -> None:
    """TVM's fuse(inner, outer) swaps the two: the nest decides what is slow."""
    A = te.placeholder((3, 4, 5), name="A")
    B = te.compute((3, 4, 5), lambda i, j, k: A[i, j, k] + 1, name="B")
    s = te.create_schedule(B.op)
    axes = B.op.axis
    fused = s[B].fuse(*(axes[one] for one in order))
    assert fused.name == ".".join("ijk"[one] for one in order) + ".fused"
    s[B].bind(fused, te.thread_axis(THREAD))
    # The nest decides: k is the fastest, i the slowest.
    assert f"t0 = {fused.name}//5\n  t1 = t0//4\n  t2 = t0%4\n  B[t1, t2, {fused.name}%5]" in str(s)
    a = integers(3, 4, 5)
    check(s, [A, B], [a], a + 1, target)


def test_loops_that_are_no_neighbours_do_not_fuse() -> None:
    A = te.placeholder((3, 4, 5), name="A")
    B = te.compute((3, 4, 5), lambda i, j, k: A[i, j, k] + 1, name="B")
    s = te.create_schedule(B.op)
    i, _, k = B.op.axis
    with pytest.raises(ScheduleError, match="expected neighbouring loops, got 'k' and 'i' apart: reorder them first"):
        s[B].fuse(k, i)


@pytest.mark.parametrize("target", TARGETS)
def test_a_reduction_factored_by_loops_fused_in_the_other_order(target) -> None:
    A = te.placeholder((4, 6, 5), name="A")
    k, r = te.reduce_axis((0, 6), "k"), te.reduce_axis((0, 5), "r")
    B = te.compute((4,), lambda i: te.sum(A[i, k, r] * (r + 1).astype("float32"), axis=[k, r]), name="B")
    s = te.create_schedule(B.op)
    fused = s[B].fuse(r, k)
    _, inner = s[B].split(fused, factor=8)
    BF = s.rfactor(B, inner)
    s[B].bind(B.op.axis[0], te.thread_axis(BLOCK))
    s[B].bind(s[B].op.reduce_axis[0], te.thread_axis(THREAD))
    s[BF].compute_at(s[B], s[B].op.reduce_axis[0])
    a = integers(4, 6, 5)
    check(s, [A, B], [a], (a * np.arange(1, 6, dtype="float32")).sum((1, 2)), target)


def chain(n):
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * 2, name="B")
    return A, B, te.compute((n,), lambda i: B[i] + 1, name="C")


@pytest.mark.sample(6)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("first", ["inline", "root", "at"])
@pytest.mark.parametrize("second", ["inline", "root", "at"])
def test_the_last_place_of_a_stage_counts(target, first, second) -> None:
    A, B, C = chain(40)
    s = te.create_schedule(C.op)
    outer, inner = s[C].split(C.op.axis[0], factor=16)
    s[C].bind(outer, te.thread_axis(BLOCK))
    s[C].bind(inner, te.thread_axis(THREAD))
    places = {
        "inline": s[B].compute_inline,
        "root": s[B].compute_root,
        "at": lambda: s[B].compute_at(s[C], outer),
    }
    places[first]()
    places[second]()
    if second == "root":
        s[B].bind(B.op.axis[0], te.thread_axis(THREAD))
    nest = str(s)
    assert ("# B" in nest) == (second != "inline")
    assert ("B: global" in nest, "B: shared" in nest) == (second == "root", second == "at")
    a = integers(40)
    check(s, [A, C], [a], a * 2 + 1, target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [16, 50])
def test_a_loop_that_a_stage_is_computed_at_can_be_split(target, n) -> None:
    """TVM moves the stage to the inner of the two loops."""
    A, B, C = chain(n)
    s = te.create_schedule(C.op)
    s[B].compute_at(s[C], C.op.axis[0])
    outer, inner = s[C].split(C.op.axis[0], factor=8)
    s[C].bind(outer, te.thread_axis(BLOCK))
    s[C].bind(inner, te.thread_axis(THREAD))
    lines = str(s).splitlines()
    assert lines[1].strip().startswith("for i.inner") and lines[2].strip() == "B: local float32[1]"
    a = integers(n)
    check(s, [A, C], [a], a * 2 + 1, target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("at", [0, 1])
def test_a_loop_that_a_stage_is_computed_at_can_be_fused(target, at) -> None:
    A = te.placeholder((6, 7), name="A")
    B = te.compute((6, 7), lambda i, j: A[i, j] * 2, name="B")
    C = te.compute((6, 7), lambda i, j: B[i, j] + 1, name="C")
    s = te.create_schedule(C.op)
    s[B].compute_at(s[C], C.op.axis[at])
    fused = s[C].fuse(*C.op.axis)
    s[C].bind(fused, te.thread_axis(THREAD))
    assert str(s).splitlines()[1].strip() == "B: local float32[1, 1]"
    a = integers(6, 7)
    check(s, [A, C], [a], a * 2 + 1, target)


def test_a_stage_after_another_stays_in_its_loop_that_is_split() -> None:
    A, B, C = chain(32)
    s = te.create_schedule(C.op)
    s[C].reverse_compute_at(s[B], B.op.axis[0])
    outer, inner = s[B].split(B.op.axis[0], factor=8)
    s[B].bind(outer, te.thread_axis(BLOCK))
    s[B].bind(inner, te.thread_axis(THREAD))
    a = integers(32)
    check(s, [A, C], [a], a * 2 + 1, "sim")


@pytest.mark.sample(8)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("how", ["serial", "threads", "factored"])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_a_reduction_begins_with_a_number(target, how, name) -> None:
    """It counts once, however the axis is split among threads."""
    n, init = 6, 3.0
    A = te.placeholder((5, n), name="A")
    k = te.reduce_axis((0, n), "k")
    B = te.compute((5,), lambda i: getattr(te, name)(A[i, k], axis=k, init=init), name="B")
    s = te.create_schedule(B.op)
    schedule_reduction(s, B, how)
    a = integers(5, n)
    want = {
        "sum": a.sum(1) + init,
        "prod": a.prod(1) * init,
        "max": a.max(1).clip(init),
        "min": np.minimum(a.min(1), init),
    }
    check(s, [A, B], [a], want[name], target)


def schedule_reduction(s, B, how):
    if how == "factored":
        _, inner = s[B].split(B.op.reduce_axis[0], factor=4)
        BF = s.rfactor(B, inner)
        s[B].bind(s[B].op.reduce_axis[0], te.thread_axis(THREAD))
        s[BF].compute_at(s[B], s[B].op.reduce_axis[0])
    elif how == "threads":
        _, inner = s[B].split(B.op.reduce_axis[0], factor=4)
        s[B].bind(inner, te.thread_axis(THREAD))
    s[B].bind(B.op.axis[0], te.thread_axis(BLOCK))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("how", ["serial", "threads", "factored"])
def test_a_sum_begins_with_an_element_of_a_tensor(target, how) -> None:
    A, D = te.placeholder((5, 3, 7), "int32", name="A"), te.placeholder((5,), "int32", name="D")
    r, k = te.reduce_axis((1, 3), "r"), te.reduce_axis((0, 7), "k")
    B = te.compute((5,), lambda i: te.sum(A[i, r, k], axis=[r, k], init=D[i], where=k > 0), name="B")
    s = te.create_schedule(B.op)
    schedule_reduction(s, B, how)
    a, d = integers(5, 3, 7, dtype="int32"), integers(5, dtype="int32")
    check(s, [A, D, B], [a, d], (a[:, 1:, 1:].sum((1, 2)) + d).astype("int32"), target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("how", ["serial", "threads"])
def test_a_reduction_of_tuples_begins_with_a_tuple(target, how) -> None:
    A = te.placeholder((4, 9), name="A")
    k = te.reduce_axis((0, 9), "k")
    argmax = te.comm_reducer(
        lambda x, y: (te.select(x[1] >= y[1], x[0], y[0]), te.select(x[1] >= y[1], x[1], y[1])),
        lambda t0, t1: (te.const(-1, t0), te.min_value(t1)),
        name="argmax",
    )
    at, value = te.compute((4,), lambda i: argmax((k, A[i, k]), axis=k, init=(-5, 2.0)), name="B")
    s = te.create_schedule(at.op)
    schedule_reduction(s, at, how)
    a = integers(4, 9) - 4
    a[1, 3] = 50
    out = [np.zeros(4, "int32"), np.zeros(4, "float32")]
    tw.build(s, [A, at, value], target)(a, *out)
    np.testing.assert_array_equal(out[1], a.max(1).clip(2))
    np.testing.assert_array_equal(out[0], np.where(a.max(1) > 2, a.argmax(1), -5))


@pytest.mark.parametrize(
    ("text", "init"),
    [
        ("te.argmax: expected 2 values as init, got 1", (1,)),
        ("te.argmax: expected an init of float32, got int32", (1, te.const(2, "int32"))),
    ],
)
def test_an_init_that_does_not_fit_is_refused(text, init) -> None:
    A = te.placeholder((9,), name="A")
    k = te.reduce_axis((0, 9), "k")
    reducer = te.comm_reducer(lambda x, y: x, lambda t0, t1: (te.const(0, t0), te.const(0, t1)), name="argmax")
    with pytest.raises((TypeError, ValueError), match=text):
        reducer((k, A[k]), axis=k, init=init)


@pytest.mark.parametrize(("name", "dtype"), [("float", "float32"), ("int", "int32"), ("uint", "uint32")])
def test_types_without_bits_have_32(name, dtype) -> None:
    A = te.placeholder((4,), name, name="A")
    assert A.dtype == te.const(1, name).dtype == A[0].astype(name).dtype == dtype
    B = te.compute((4,), lambda i: A[i].astype(name) + te.const(1, name), name="B")
    check(te.create_schedule(B.op), [A, B], [np.arange(4).astype(dtype)], np.arange(1, 5).astype(dtype), "cpu")
    with pytest.raises(TypeError, match="expected a dtype"):
        te.placeholder((4,), float)


def test_a_target_has_a_host() -> None:
    target = tw.target.Target("cuda", host="llvm")
    assert target.kind.name == "cuda"
    assert tw.target.Target(tw.target.Target("cuda"), host=tw.target.Target("llvm")) == target


@pytest.mark.sample(5)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("m", "n"), [(8, 12), (7, 13), (33, 5)])
@pytest.mark.parametrize("how", ["split", "reorder", "tile", "fuse"])
@pytest.mark.parametrize("reduces", [False, True])
def test_a_cache_has_the_layout_of_the_loops(target, m, n, how, reduces) -> None:
    """TVM: a split, fuse or reorder before cache_write changes how the tensor lies."""
    A = te.placeholder((m, n, 6), name="A")
    k = te.reduce_axis((0, 6), "k")
    B = te.compute((m, n), lambda i, j: te.sum(A[i, j, k], axis=k) if reduces else A[i, j, 2] * 3, name="B")
    s = te.create_schedule(B.op)
    i, j = B.op.axis
    ceil = lambda extent: -(-extent // 4)  # noqa: E731
    if how == "split":
        s[B].split(i, factor=4)
        shape, names = (ceil(m), 4, n), ["i.outer.c", "i.inner.c", "j.c"]
    elif how == "reorder":
        s[B].reorder(j, i)
        shape, names = (n, m), ["j.c", "i.c"]
    elif how == "tile":
        s[B].tile(i, j, 4, 4)
        shape, names = (ceil(m), ceil(n), 4, 4), ["i.outer.c", "j.outer.c", "i.inner.c", "j.inner.c"]
    else:
        s[B].split(s[B].fuse(i, j), nparts=4)
        shape, names = (4, ceil(m * n)), ["i.j.fused.outer.c", "i.j.fused.inner.c"]
    BC = s.cache_write(B, "global")
    assert BC.shape == shape and [axis.name for axis in s[BC].op.axis] == names
    assert str(s).splitlines()[0] == f"B.global: global float32[{', '.join(map(str, shape))}]"
    # Both have their axes anew.
    s[BC].bind(s[BC].op.axis[0], te.thread_axis(BLOCK))
    s[BC].bind(s[BC].op.axis[1], te.thread_axis(THREAD))
    s[B].bind(s[B].fuse(*s[B].op.axis), te.thread_axis(THREAD))
    a = integers(m, n, 6)
    check(s, [A, B], [a], a.sum(2) if reduces else a[:, :, 2] * 3, target)
    again = te.create_schedule(B.op)
    s.trace().apply(again)
    assert again.ir() == s.ir()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [16, 30])
def test_readers_read_the_new_layout_where_the_old_one_is_inlined(target, n) -> None:
    A = te.placeholder((n, 6), name="A")
    B = te.compute((n, 6), lambda i, j: A[i, j] * 3, name="B")
    C = te.compute((n, 6), lambda i, j: B[i, j] + 1, name="C")
    s = te.create_schedule(C.op)
    outer, inner = s[B].split(B.op.axis[0], factor=8)
    s[B].reorder(outer, B.op.axis[1], inner)
    BC = s.cache_write(B, "global")
    s[B].compute_inline()
    for stage in (BC, C):
        s[stage].bind(s[stage].op.axis[0], te.thread_axis(THREAD))
    lines = str(s).replace(" ", "")
    assert "B.global[i//8,j,i%8]+1.0" in lines and "#B\n" not in lines
    a = integers(n, 6)
    check(s, [A, C], [a], a * 3 + 1, target)


@pytest.mark.parametrize("n", [5, 32])
def test_a_cache_of_a_symbolic_extent_has_the_layout_of_the_loops(n) -> None:
    m = te.var("m")
    A = te.placeholder((m,), name="A")
    B = te.compute((m,), lambda i: A[i] * 3, name="B")
    s = te.create_schedule(B.op)
    s[B].split(B.op.axis[0], factor=8)
    BC = s.cache_write(B, "global")
    s[BC].bind(s[BC].op.axis[0], te.thread_axis(BLOCK))
    s[BC].bind(s[BC].op.axis[1], te.thread_axis(THREAD))
    s[B].bind(B.op.axis[0], te.thread_axis(BLOCK))
    a = integers(n)
    check(s, [A, B], [a], a * 3, "sim")


def test_loops_that_are_used_otherwise_have_no_cache() -> None:
    A, B, C = chain(16)
    s = te.create_schedule(C.op)
    outer, _ = s[B].split(B.op.axis[0], factor=4)
    s[B].unroll(outer)
    with pytest.raises(ScheduleError) as caught:
        s.cache_write(B, "global")
    assert (
        "expected to stand before the loops of stage 'B' are used for more than to split, fuse and reorder its "
        in str(caught.value)
    )
    s = te.create_schedule(C.op)
    outer, _ = s[C].split(C.op.axis[0], factor=4)
    s[B].compute_at(s[C], outer)
    with pytest.raises(ScheduleError, match="expected to stand before the loops of stage 'C' are used"):
        s.cache_write(C, "local")


@pytest.mark.parametrize("how", ["parallel", "unroll", "vectorize", "loop_partition"])
def test_what_is_said_of_a_loop_may_be_said_again(how) -> None:
    A, B, C = chain(32)
    s = te.create_schedule(C.op)
    _, inner = s[C].split(C.op.axis[0], factor=4)
    for _ in range(2):
        getattr(s[C], how)(inner)
    a, out = integers(32), np.zeros(32, "float32")
    tw.build(s, [A, C], "cpu")(a, out)
    np.testing.assert_array_equal(out, a * 2 + 1)


def test_of_what_is_said_of_a_loop_the_last_counts() -> None:
    A, B, C = chain(32)
    s = te.create_schedule(C.op)
    _, inner = s[C].split(C.op.axis[0], factor=4)
    s[C].unroll(inner)
    s[C].vectorize(inner)
    assert "range(4):  # vectorized" in str(s)
    s[C].unroll(inner)
    assert "range(4):  # unrolled" in str(s)
    s[C].parallel(inner)
    assert "range(4):  # parallel" in str(s)
    tx = te.thread_axis(THREAD)
    s = te.create_schedule(C.op)
    s[C].bind(C.op.axis[0], tx)
    s[C].bind(C.op.axis[0], tx)
    s[B].compute_inline()
    a = integers(32)
    check(s, [A, C], [a], a * 2 + 1, "sim")


def test_a_parallel_loop_can_be_split_and_fused() -> None:
    """The outer loop is parallel then."""
    A = te.placeholder((8, 6), name="A")
    B = te.compute((8, 6), lambda i, j: A[i, j] + 1, name="B")
    s = te.create_schedule(B.op)
    i, j = B.op.axis
    s[B].parallel(i)
    outer, inner = s[B].split(i, factor=4)
    assert str(s).splitlines()[:2] == ["for i.outer in range(2):  # B, parallel", "  for i.inner in range(4):"]
    s[B].fuse(outer, inner)
    assert str(s).splitlines()[0] == "for i.outer.i.inner.fused in range(8):  # B, parallel"
    a, out = integers(8, 6), np.zeros((8, 6), "float32")
    tw.build(s, [A, B], "cpu")(a, out)
    np.testing.assert_array_equal(out, a + 1)


@pytest.mark.parametrize("extent", [4.0, 9 / 2])
def test_a_computed_shape_may_be_a_quotient(extent) -> None:
    """TVM's te.compute cuts floats to integers, so that n / 2 of Python 3 is an extent."""
    A = te.placeholder((9,), name="A")
    B = te.compute((extent,), lambda i: A[i * 2], name="B")
    assert B.shape == (4,)
    check(te.create_schedule(B.op), [A, B], [np.arange(9, dtype="float32")], np.arange(0, 8, 2, "float32"), "cpu")


@pytest.mark.parametrize("extent", [float("nan"), float("inf")])
def test_a_quotient_that_is_no_extent_is_refused(extent) -> None:
    A = te.placeholder((9,), name="A")
    with pytest.raises((ValueError, TypeError), match="compute B: dimension 0: expected an integer or te.var, got "):
        te.compute((extent,), lambda i: A[i], name="B")


@pytest.mark.sample(6)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("extent", [1, 5, 8, 31])
@pytest.mark.parametrize("by", ["factor", "nparts"])
def test_a_split_of_fewer_iterations_keeps_these(target, extent, by) -> None:
    """As TVM's bounds: no iterations that are all predicated off."""
    A = te.placeholder((extent, 3), name="A")
    B = te.compute((extent, 3), lambda i, j: A[i, j] + 1, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[1], te.thread_axis(BLOCK))
    s[B].split(B.op.axis[0], **{by: 32})
    nest = str(s)
    assert "if" not in nest and ("range(32)" not in nest) and (extent == 1 or f"range({extent})" in nest)
    a = integers(extent, 3)
    check(s, [A, B], [a], a + 1, target)


@pytest.mark.parametrize("mark", ["bind", "vectorize"])
def test_threads_and_vectors_have_the_extent_that_was_said(mark) -> None:
    A = te.placeholder((5, 3), name="A")
    B = te.compute((5, 3), lambda i, j: A[i, j] + 1, name="B")
    s = te.create_schedule(B.op)
    _, inner = s[B].split(B.op.axis[0], factor=8)
    if mark == "bind":
        s[B].bind(inner, te.thread_axis(THREAD))
    else:
        s[B].bind(B.op.axis[1], te.thread_axis(BLOCK))
        s[B].vectorize(inner)
    assert "in range(8):" in str(s)
    a = integers(5, 3)
    check(s, [A, B], [a], a + 1, "sim")


@pytest.mark.parametrize(
    ("m", "n", "factor"), [(6, 64, 32), (6, 64, 16), (5, 48, 16), (4, 7, 7), (3, 10, 4), (8, 8, 64)]
)
def test_a_stage_at_fused_loops_computes_what_is_read(m, n, factor) -> None:
    """Of a row no more than the iterations of the inner loop read, where these stay in one row."""
    A = te.placeholder((m, n), name="A")
    B = te.compute((m, n), lambda i, j: A[i, j] * 2, name="B")
    C = te.compute((m, n), lambda i, j: B[i, j] + 1, name="C")
    s = te.create_schedule(C.op)
    outer, inner = s[C].split(s[C].fuse(*C.op.axis), factor=factor)
    s[C].bind(outer, te.thread_axis(BLOCK))
    s[C].bind(inner, te.thread_axis(THREAD))
    s[B].compute_at(s[C], outer)
    buffer = next(line.strip() for line in str(s).splitlines() if "B: shared" in line)
    if n % factor == 0:
        assert buffer == f"B: shared float32[1, {factor}]"
    a = integers(m, n)
    check(s, [A, C], [a], a * 2 + 1, "sim")


@pytest.mark.parametrize("n", [1, 20, 256])
@pytest.mark.parametrize("shared", [False, True])
def test_threads_along_a_symbolic_extent(n, shared) -> None:
    rows, columns = te.var("m"), te.var("n")
    A = te.placeholder((rows, columns), name="A")
    B = te.compute((rows, columns), lambda i, j: A[i, 0] * A[i, j] + 1, name="B")
    s = te.create_schedule(B.op)
    i, j = B.op.axis
    s[B].bind(i, te.thread_axis(BLOCK))
    s[B].bind(j, te.thread_axis(THREAD))
    if shared:
        first = te.compute((rows, 1), lambda i, j: A[i, 0] * 2, name="first")
        B = te.compute((rows, columns), lambda i, j: first[i, 0] * A[i, j] + 1, name="B")
        s = te.create_schedule(B.op)
        i, j = B.op.axis
        s[B].bind(i, te.thread_axis(BLOCK))
        s[B].bind(j, te.thread_axis(THREAD))
        s[first].compute_at(s[B], i)
    a = integers(3, n)
    check(s, [A, B], [a], (2 if shared else 1) * a[:, :1] * a + 1, "sim")
    function = tw.build(s, [A, B], "sim")
    nothing = np.zeros((3, 0), "float32"), np.zeros((3, 0), "float32")
    function(*nothing)
    kernel = tw.build(s, [A, B], tw.Target("cuda", arch="sm_90a"))
    assert ".maxntid 1024" in kernel.ptx if isinstance(getattr(kernel, "ptx", None), str) else kernel.cubin


def test_more_threads_than_a_block_may_have_are_refused_at_the_launch() -> None:
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] + 1, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis(THREAD))
    function = tw.build(s, [A, B], "sim")
    with pytest.raises(tw.TilewrightError, match="1025"):
        function(np.zeros(1025, "float32"), np.zeros(1025, "float32"))


@pytest.mark.sample(8)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("m", "n"), [(1, 1), (3, 40), (9, 130)])
@pytest.mark.parametrize("scope", [None, "global"])
@pytest.mark.parametrize("at", ["block", "thread"])
def test_a_stage_of_a_symbolic_size_at_a_loop(target, m, n, scope, at) -> None:
    """Each block, or each thread, has a part of a buffer in global memory."""
    rows, columns = te.var("m"), te.var("n")
    A = te.placeholder((rows, columns), name="A")
    B = te.compute((rows, columns), lambda i, j: A[i, j] * 2, name="B")
    k = te.reduce_axis((0, columns), "k")
    C = te.compute((rows,), lambda i: te.sum(B[i, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    if scope:
        s[B].set_scope(scope)
    outer, inner = s[C].split(C.op.axis[0], factor=4)
    s[C].bind(outer, te.thread_axis(BLOCK))
    s[C].bind(inner, te.thread_axis(THREAD))
    s[B].compute_at(s[C], outer if at == "block" else inner)
    first = str(s).splitlines()[0]
    assert first.startswith("B: global float32[") and first.endswith(", n]")
    a = integers(m, n)
    check(s, [A, C], [a], 2 * a.sum(1), target)


@pytest.mark.parametrize("n", [5, 100])
def test_a_reduction_of_a_symbolic_size_at_a_loop(n) -> None:
    columns = te.var("n")
    A = te.placeholder((4, columns, 6), name="A")
    k = te.reduce_axis((0, 6), "k")
    B = te.compute((4, columns), lambda i, j: te.sum(A[i, j, k], axis=k), name="B")
    C = te.compute((4, columns), lambda i, j: B[i, columns - 1 - j] + 1, name="C")
    s = te.create_schedule(C.op)
    i, j = C.op.axis
    _, inner = s[C].split(j, factor=32)
    s[C].bind(i, te.thread_axis(BLOCK))
    s[C].bind(inner, te.thread_axis(THREAD))
    s[B].compute_at(s[C], i)
    a = integers(4, n, 6)
    check(s, [A, C], [a], a.sum(2)[:, ::-1] + 1, "sim")


@pytest.mark.parametrize("size", [4, 50])
def test_a_stage_in_global_memory_at_a_loop(size) -> None:
    """Neighbouring blocks need some elements both: each has its own."""
    A = te.placeholder((size + 2,), name="A")
    B = te.compute((size + 2,), lambda i: A[i] * 2, name="B")
    C = te.compute((size,), lambda i: B[i] + B[i + 2], name="C")
    s = te.create_schedule(C.op)
    outer, inner = s[C].split(C.op.axis[0], factor=16)
    s[C].bind(outer, te.thread_axis(BLOCK))
    s[C].bind(inner, te.thread_axis(THREAD))
    s[B].set_scope("global")
    s[B].compute_at(s[C], outer)
    a = integers(size + 2)
    check(s, [A, C], [a], 2 * (a[:-2] + a[2:]), "sim")
    assert str(s).startswith(f"B: global float32[{-(-size // 16)}, {min(18, size + 2)}]")


def test_what_is_said_to_be_local_has_a_constant_size() -> None:
    n = te.var("n")
    A = te.placeholder((n, n), name="A")
    B = te.compute((n, n), lambda i, j: A[i, j] * 2, name="B")
    C = te.compute((n, n), lambda i, j: B[i, j] + 1, name="C")
    s = te.create_schedule(C.op)
    s[B].set_scope("local")
    s[B].compute_at(s[C], C.op.axis[0])
    assert (
        "in local memory: expected axis 'j' to need a constant number of elements here, got one that depends on a"
        in str(s)
    )


def test_the_bodies_of_stages_that_a_schedule_made() -> None:
    """As TVM's tutorial on reductions prints them."""
    A, B = row_sum(8, 64)
    s = te.create_schedule(B.op)
    _, ki = s[B].split(B.op.reduce_axis[0], factor=16)
    BF = s.rfactor(B, ki)
    assert str(s[BF].op.body[0]) == "sum(A[i0, k.outer * 16 + k.inner], axis=[k.outer])"
    assert str(s[B].op.body[0]) == "sum(B.rf[k.inner, i0], axis=[k.inner])"
    AS = s.cache_read(A, "shared", [BF])
    assert str(s[AS].op.body[0]) == "A[ax0, ax1]"
    BL = s.cache_write(BF, "local")
    assert str(s[BF].op.body[0]) == "B.rf.local[k.inner, i0]"
    assert str(s[BL].op.body[0]) == "sum(A[i0, k.outer * 16 + k.inner], axis=[k.outer])"


@pytest.mark.parametrize("scope", ["warp", "shared.dyn"])
@pytest.mark.parametrize("n", [64, 100])
def test_what_a_warp_exchanges_goes_through_shared_memory(scope, n) -> None:
    """As TVM's tests of warp memory: each lane fetches an element, and reads its neighbour's."""
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i // 32 * 32 + (i + 1) % 32 % te.min(32, n - i // 32 * 32)], name="B")
    s = te.create_schedule(B.op)
    AW = s.cache_read(A, scope, [B])
    tx = te.thread_axis(THREAD)
    outer, inner = s[B].split(B.op.axis[0], factor=32)
    s[B].bind(outer, te.thread_axis(BLOCK))
    s[B].bind(inner, tx)
    s[AW].compute_at(s[B], outer)
    _, lane = s[AW].split(s[AW].op.axis[0], factor=32)
    s[AW].bind(lane, tx)
    a = integers(n)
    i = np.arange(n)
    base = i // 32 * 32
    check(s, [A, B], [a], a[base + (i + 1) % 32 % np.minimum(32, n - base)], "sim")


def test_what_a_schedule_tells_of_singletons_and_of_loops_fused_in_the_other_order() -> None:
    A = te.placeholder((3, 4), name="A")
    B = te.compute((3, 4), lambda i, j: A[i, j] + 1, name="B")
    s = te.create_schedule(B.op)
    i, j = B.op.axis
    fused = s[B].fuse(j, i)
    one = s[B].fuse()
    assert list(s[B].leaf_iter_vars) == [one, fused]
    first, second = s[B].relations
    assert (first.outer, first.inner, first.fused) == (i, j, fused)
    assert second.iter is one
    assert list(s[A].leaf_iter_vars) == []
