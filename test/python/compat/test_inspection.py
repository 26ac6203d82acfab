"""What scripts read of tensors, axes, stages and schedules."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tvm
from tilewright import te

IterVar = tvm.tir.IterVar


def chain():
    A = te.placeholder((64, 32), name="A")
    B = te.compute((64, 32), lambda i, j: A[i, j] * 2, name="B")
    C = te.compute((64, 32), lambda i, j: B[i, j] + 1, name="C")
    return A, B, C, te.create_schedule(C.op)


def product(m: int = 64, n: int = 48, k: int = 32):
    A, B = te.placeholder((m, k), name="A"), te.placeholder((k, n), name="B")
    axis = te.reduce_axis((0, k), name="k")
    return A, B, te.compute((m, n), lambda i, j: te.sum(A[i, axis] * B[axis, j], axis=axis), name="C")


def test_shapes_and_axes() -> None:
    n = te.var("n")
    A = te.placeholder((n, 32), name="A")
    k = te.reduce_axis((2, 10), name="k")
    B = te.compute((n, 32), lambda i, j: te.sum(A[i, j] * k.astype("float32"), axis=k), name="B")
    assert A.shape[0] is n and A.shape[1].value == 32 and A.shape[1].dtype == "int32"
    assert isinstance(A.shape[1], tvm.tir.IntImm) and not isinstance(A.shape[0], tvm.tir.IntImm)
    assert (A.shape[1] // 4 + 1).value == 9 and (2 * A.shape[1]).value == 64 and (100 - A.shape[1]).value == 68
    assert (-A.shape[1]).value == -32 and A.shape[1] / 64 == 0.5 and type(A.shape[1].value) is int
    i, j = B.op.axis
    assert (j.dom.min, j.dom.extent.value, j.dom[1]) == (0, 32, 32) and i.dom.extent is n
    assert (k.dom.min, k.dom.extent.value) == (2, 8) and te.thread_axis("threadIdx.x").dom is None
    assert te.thread_axis((0, 8), "threadIdx.x").dom.extent.value == 8
    assert B.op.axis + [k] == [i, j, k] and [k] + B.op.axis == [k, i, j] and isinstance(B.op.axis, tvm.ir.Array)
    assert (*B.op.axis, *B.op.reduce_axis) == B.op.axis + B.op.reduce_axis and list(B.op.axis) == [i, j]
    assert (i.iter_type, k.iter_type) == (IterVar.DataPar, IterVar.CommReduce)
    thread = te.thread_axis("threadIdx.x")
    assert (thread.iter_type, thread.thread_tag, i.thread_tag) == (IterVar.ThreadIndex, "threadIdx.x", "")
    assert B.op.outputs[0] is B and B.op.dtype == "float32" and n.name_hint == "n"
    assert B.op.body[0].axis[0] is k and B.op.body[0].value_index == 0


def test_a_schedule() -> None:
    A, B, C, s = chain()
    assert list(s.outputs) == [C.op] and s.outputs[0].name == "C"
    assert [stage.op.name for stage in s.stages] == ["B", "C"]
    assert s.stage_map[B.op] is s[B] and set(s.stage_map) >= {B.op, C.op}
    assert s.groups == () and s[B].group is None
    group = s.create_group(outputs=B, inputs=A)
    assert s.groups == (group,) and s[B].group is group and s[C].group is None
    cache = s.cache_write(C, "local")
    assert s[C].origin_op is C.op and s[C].op is not C.op and s[cache].origin_op is cache.op
    assert s.stage_map[C.op] is s[C] is s.stage_map[s[C].op] and s[C].is_output and s[cache].scope == "local"


def test_axes_of_a_stage() -> None:
    _, _, C = product()
    s = te.create_schedule(C.op)
    i, j = C.op.axis
    (k,) = C.op.reduce_axis
    assert s[C].leaf_iter_vars == s[C].all_iter_vars == [i, j, k] and s[C].relations == []
    assert s[C].iter_var_attrs == {}
    io, jo, ii, ji = s[C].tile(i, j, 16, 8)
    ko, ki = s[C].split(k, nparts=4)
    s[C].reorder(ko, ii, ki, ji)
    f = s[C].fuse(io, jo)
    assert s[C].leaf_iter_vars == [f, ko, ii, ki, ji]
    assert s[C].all_iter_vars == [i, j, k, io, jo, ii, ji, ko, ki, f]
    first, second, third, fourth = s[C].relations
    assert isinstance(first, te.schedule.Split) and (first.parent, first.outer, first.inner) == (i, io, ii)
    assert (first.factor, first.nparts, second.factor) == (16, None, 8)
    assert (third.parent, third.nparts, third.factor) == (k, 4, None)
    assert isinstance(fourth, te.schedule.Fuse) and (fourth.outer, fourth.inner, fourth.fused) == (io, jo, f)


def test_three_axes_fuse_two_at_a_time() -> None:
    A = te.placeholder((4, 5, 6), name="A")
    B = te.compute((4, 5, 6), lambda i, j, k: A[i, j, k] + 1, name="B")
    s = te.create_schedule(B.op)
    i, j, k = B.op.axis
    f = s[B].fuse(i, j, k)
    first, second = s[B].relations
    assert first.outer is i and first.inner is j and first.fused.name == "i.j.fused"
    assert second.outer.name == "i.j.fused" and second.inner is k and second.fused is f
    assert s[B].leaf_iter_vars == [f]


def test_what_is_said_of_axes() -> None:
    _, B, C, s = chain()
    i, j = C.op.axis
    jo, ji = s[C].split(j, factor=4)
    tx = te.thread_axis((0, 64), "threadIdx.x")
    s[C].bind(i, tx)
    s[C].vectorize(ji)
    s[C].unroll(jo)
    s[B].compute_at(s[C], jo)
    s[B].storage_align(B.op.axis[0], 8, 1)
    s[B].pragma(B.op.axis[1], "auto_unroll_max_step", 16)
    attrs = s[C].iter_var_attrs
    assert attrs[i].bind_thread is tx and attrs[i].iter_type == IterVar.ThreadIndex
    assert (attrs[ji].iter_type, attrs[jo].iter_type) == (IterVar.Vectorized, IterVar.Unrolled)
    assert j not in attrs
    attrs = s[B].iter_var_attrs
    assert (attrs[B.op.axis[0]].dim_align_factor, attrs[B.op.axis[0]].dim_align_offset) == (8, 1)
    inner = attrs[B.op.axis[1]]
    assert (inner.pragma_keys, inner.pragma_values) == (["auto_unroll_max_step"], [16])


def test_where_a_stage_is() -> None:
    _, B, C, s = chain()
    assert (s[B].attach_type, s[B].attach_ivar, s[B].attach_stage) == (1, None, None)
    s[B].compute_at(s[C], C.op.axis[0])
    assert s[B].attach_type == 4 and s[B].attach_ivar is C.op.axis[0] and s[B].attach_stage is s[C]
    s[B].compute_root()
    assert (s[B].attach_type, s[B].attach_stage) == (1, None) and s[C].attach_type == 1
    _, B, C, s = chain()
    s[B].compute_inline()
    assert (s[B].attach_type, s[B].attach_ivar, s[B].attach_stage) == (2, None, None)


def test_stages_are_inlined_by_what_they_compute() -> None:
    A, b = te.placeholder((8, 6), name="A"), te.placeholder((6,), name="b")
    X = te.compute((8, 6), lambda i, j: A[i, j] * 2, name="X")
    Y = te.compute((8, 6), lambda i, j: X[i, j] + b[j], name="Y")
    Z = te.compute((6, 8), lambda i, j: Y[j, i] - 1, name="Z")
    k = te.reduce_axis((0, 8), name="k")
    S = te.compute((6,), lambda i: te.sum(Z[i, k], axis=k), name="S")
    T = te.compute((6,), lambda i: te.exp(S[i]), name="T")

    def left(inline) -> list[str]:
        s = te.create_schedule(T.op)
        inline(s)
        return [stage.op.name for stage in s.stages if stage.attach_type != 2]

    assert left(te.schedule.AutoInlineElemWise) == ["Y", "Z", "S", "T"]
    assert left(te.schedule.AutoInlineBroadcast) == ["Z", "S", "T"]
    assert left(te.schedule.AutoInlineInjective) == ["S", "T"]
    s = te.create_schedule(T.op)
    s[X].split(X.op.axis[0], factor=4)
    te.schedule.AutoInlineInjective(s)
    assert s[X].attach_type == 1 and s[Y].attach_type == 2, "what is scheduled stays"
    with pytest.raises(
        TypeError, match=r"test_inspection.py:\d+: AutoInlineInjective: expected a schedule, got Tensor"
    ):
        te.schedule.AutoInlineInjective(T)


@pytest.mark.parametrize(("place", "computed"), [("A3", 32), ("A2", 1)])
def test_bounds_of_a_stage_that_threads_share(place: str, computed: int) -> None:
    """A stage in registers, computed before the loop in which threads share its reader out, has all that they read.

    TVM takes the part of its own thread alone. In the reader's loop it is that part here, too.
    """
    m = te.var("m")
    A = te.placeholder((m,), name="A")
    A1 = te.compute((m,), lambda i: A[i] * 2, name="A1")
    A2 = te.compute((m,), lambda i: A1[i] + 2, name="A2")
    A3 = te.compute((m,), lambda i: A2[i] + 3, name="A3")
    s = te.create_schedule(A3.op)
    s[A2].set_scope("shared")
    s[A1].set_scope("local")
    thread = te.thread_axis("threadIdx.x")
    bx, tx = s[A3].split(A3.op.axis[0], factor=32)
    s[A3].bind(bx, te.thread_axis("blockIdx.x"))
    s[A3].bind(tx, thread)
    s[A2].compute_at(s[A3], tx)
    _, xi = s[A2].split(A2.op.axis[0], nparts=1)
    s[A2].bind(xi, thread)
    s[A1].compute_at(*((s[A3], tx) if place == "A3" else (s[A2], xi)))
    bounds = te.schedule.InferBound(s.normalize())
    assert bounds[A1.op.axis[0]].extent.value == computed
    assert bounds[A2.op.axis[0]].extent.value == 32
    assert bounds[A3.op.axis[0]].extent is m and str(bounds[bx].extent) == "(m + 31) // 32"
    function = tvm.build(s, [A, A3], "sim")
    for n in (1, 31, 32, 33, 100):
        a = np.arange(n, dtype="float32")
        out = np.full(n, np.nan, "float32")
        function(a, out)
        np.testing.assert_array_equal(out, a * 2 + 5)


def test_bounds_of_axes_that_were_made() -> None:
    """No more than the axes have that they came of, whatever the parts have together."""
    n, m = te.var("n"), te.var("m")
    for shape, fused, part in (((n, m), "n * m", "(n * m + 3) // 4"), ((5, 6), "30", "8")):
        A = te.placeholder(shape, name="A")
        B = te.compute(shape, lambda i, j, A=A: A[i, j] * 2, name="B")
        s = te.create_schedule(B.op)
        f = s[B].fuse(*B.op.axis)
        outer, inner = s[B].split(f, factor=4)
        inner_outer, last = s[B].split(outer, factor=8)
        bounds = te.schedule.InferBound(s)
        assert [str(bounds[axis].extent) for axis in (f, outer, inner, last)] == [fused, part, "4", "8"]
        assert str(bounds[inner_outer].extent) == ("1" if fused == "30" else "((n * m + 3) // 4 + 7) // 8")


def test_bounds() -> None:
    _, B, C, s = chain()
    i, j = C.op.axis
    jo, ji = s[C].split(j, factor=10)
    s[B].compute_at(s[C], jo)
    bounds = te.schedule.InferBound(s.normalize())
    assert bounds[i].extent.value == 64 and bounds[jo].extent == 4 and bounds[ji].extent == 10
    assert bounds[j].extent == 32, "of the 40 that the parts have"
    assert [bounds[axis].extent for axis in B.op.axis] == [1, 10]
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    D = te.compute((n,), lambda i: A[i] + 1, name="D")
    assert te.schedule.InferBound(te.create_schedule(D.op))[D.op.axis[0]].extent is n
    with pytest.raises(TypeError, match=r"InferBound: expected a schedule, got "):
        te.schedule.InferBound(D)
    with pytest.raises(AttributeError, match="use tvm.lower"):
        te.schedule.ScheduleOps  # noqa: B018


def test_groups_in_groups() -> None:
    """As TVM's tests of groups: a group that is made of another's stages and more has the other."""
    A, B, C, _ = chain()
    D = te.compute((64, 32), lambda i, j: C[i, j] * 3, name="D")
    s = te.create_schedule(D.op)
    inner = s.create_group(outputs=C, inputs=B)
    outer = s.create_group(outputs=C, inputs=B, include_inputs=True)
    assert set(s.groups) == {inner, outer} and (s[B].group, s[C].group, s[D].group) == (outer, inner, None)
    assert inner.group is outer and outer.group is None
    assert (outer.num_child_stages, inner.num_child_stages) == (2, 1)
    assert outer.attach_stage is None
    outer.compute_at(s[D], D.op.axis[1])
    assert outer.attach_stage is s[D] and inner.attach_stage is s[D]
    again = s.create_group(outputs=C, inputs=B)
    assert inner.group is again and again.group is outer and s[C].group is inner


def test_what_things_are() -> None:
    A, B, C, s = chain()
    assert isinstance(A[0], te.TensorSlice) and not isinstance(A[0, 0], te.TensorSlice) and A[0].dtype == "float32"
    single = s[C].fuse()
    (relation,) = s[C].relations
    assert isinstance(relation, te.schedule.Singleton) and relation.iter is single
    assert isinstance(tvm.target.Target("cuda").kind, tvm.target.TargetKind)
    (derivative,) = te.autodiff.gradient(te.compute((4,), lambda i: A[i, 0] * 3, name="D"), [A])
    assert derivative.shape == (4, 64, 32)


def test_kinds_of_axes_have_the_numbers_of_tvm() -> None:
    kinds = ["DataPar", "ThreadIndex", "CommReduce", "Ordered", "Opaque", "Unrolled", "Vectorized", "Parallelized"]
    assert [getattr(IterVar, kind) for kind in [*kinds, "Tensorized"]] == list(range(9))
    _, _, C = product()
    s = te.create_schedule(C.op)
    i, j = C.op.axis
    (k,) = C.op.reduce_axis
    x = te.placeholder((8,), name="x")
    y = te.compute((8,), lambda n: x[n] * 2, name="y")
    ins, outs = (tvm.tir.decl_buffer((8,), name=name) for name in ("a", "b"))

    def body(given, made):
        ib = tvm.tir.ir_builder.create()
        a, b = ib.buffer_ptr(given[0]), ib.buffer_ptr(made[0])
        with ib.for_range(0, 8) as n:
            b[n] = a[n] * 2
        return ib.get()

    intrin = te.decl_tensor_intrin(y.op, body, binds={x: ins, y: outs}, name="twice")
    D = te.compute((64, 8), lambda i, j: C[i, j] * 2, name="D")
    s = te.create_schedule(D.op)
    s[D].tensorize(D.op.axis[1], intrin)
    assert s[D].iter_var_attrs[D.op.axis[1]].iter_type == IterVar.Tensorized
    assert (i.iter_type, k.iter_type) == (IterVar.DataPar, IterVar.CommReduce)
    assert te.thread_axis("threadIdx.x").iter_type == IterVar.ThreadIndex


def test_bounds_beside_stages_of_which_nothing_was_said() -> None:
    """A stage whose handle no primitive made is compared with none."""
    m, n = te.var("m"), te.var("n")
    X = te.compute((m, n), lambda i, j: te.const(1, "float32"), name="X")
    state = te.placeholder((m, n))
    first = te.compute((1, n), lambda _, i: X[0, i])
    update = te.compute((m, n), lambda t, i: state[t - 1, i] + X[t, i])
    scan = te.scan(first, update, state)
    s = te.create_schedule(scan.op)
    copy = s.cache_read(X, "local", update)
    outer, _ = s[update].split(update.op.axis[1], factor=4)
    s[copy].compute_at(s[update], outer)
    assert te.schedule.InferBound(s.normalize())[copy.op.axis[1]].extent.value == 4


def test_extents_of_constants() -> None:
    n = tvm.runtime.convert(12)
    A = te.compute((n, n * 2), lambda i, j: 1, name="A")
    B = te.compute((n - 2, 2 * n - 2), lambda i, j: A[i + 1, j + 1] + A[i, j] + A[i + 2, j], name="B")
    assert (A.shape, B.shape) == ((12, 24), (10, 22))
    s = te.create_schedule(B.op)
    s[A].compute_at(s[B], B.op.axis[1])
    bounds = te.schedule.InferBound(s)
    assert [bounds[axis].extent.value for axis in A.op.axis] == [3, 2]


def test_notes_of_an_operation() -> None:
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: A[i], attrs={"hello": 1, "arr": [10, 12], "is": True, "layout": "NCHW"})
    assert B.op.attrs == {"hello": 1, "arr": [10, 12], "is": True, "layout": "NCHW"}
    assert (B.op.attrs["hello"].value, B.op.attrs["arr"][1].value, B.op.attrs["is"]) == (1, 12, True)
