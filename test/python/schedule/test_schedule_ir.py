"""The IR that a schedule becomes, and what its methods return."""

from tilewright import te
from tilewright.te.emit import emit_module


def matmul(n=64):
    A = te.placeholder((n, n), name="A")
    B = te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    C = te.compute((n, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    return A, B, C


def primitives(s):
    return [line.strip() for line in s.ir().splitlines()[1:-1]]


def test_a_schedule_of_matmul():
    A, B, C = matmul()
    s = te.create_schedule(C.op)
    CL = s.cache_write(C, "local")
    AS = s.cache_read(A, "shared", [CL])
    AL = s.cache_read(AS, "local", CL)
    io, jo, ii, ji = s[C].tile(*C.op.axis, 16, 8)
    s[C].reorder(jo, io)
    s[C].bind(io, te.thread_axis("blockIdx.y"))
    s[C].bind(ii, te.thread_axis((0, 16), "threadIdx.y"))
    s[C].bind(ji, te.thread_axis("threadIdx.x", 8))
    s[CL].compute_at(s[C], ji)
    (k,) = s[CL].op.reduce_axis
    ko, ki = s[CL].split(k, nparts=4)
    s[CL].unroll(ki)
    s[AS].compute_at(s[CL], ko)
    s[AL].compute_at(s[CL], ki)
    fused = s[AS].fuse(*s[AS].op.axis)
    outer, inner = s[AS].split(fused, factor=4)
    s[AS].vectorize(inner)
    s[AL].set_scope("local")
    assert [axis.name for axis in (io, jo, ii, ji, ko, ki, fused, outer, inner)] == [
        "i.outer", "j.outer", "i.inner", "j.inner", "k.outer", "k.inner",
        "ax0.ax1.fused", "ax0.ax1.fused.outer", "ax0.ax1.fused.inner",
    ]  # fmt: skip
    assert primitives(s) == [
        '%C = schedule.stage "C"',
        '%C_local = schedule.cache_write %C in <local> as "C.local"',
        '%A_shared = schedule.cache_read "A" in <shared> for %C_local as "A.shared"',
        '%A_shared_local = schedule.cache_read "A.shared" in <local> for %C_local as "A.shared.local"',
        '%i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis',
        "%i_outer, %j_outer, %i_inner, %j_inner = schedule.tile %i, %j by 16, 8",
        "schedule.reorder %j_outer, %i_outer",
        "schedule.bind %i_outer to <blockIdx.y>",
        "schedule.bind %i_inner to <threadIdx.y> extent 16",
        "schedule.bind %j_inner to <threadIdx.x> extent 8",
        "schedule.compute_at %C_local at %C, %j_inner",
        '%i_0, %j_1 = schedule.axes %C_local ["i", "j"] : !schedule.axis, !schedule.axis',
        '%k = schedule.reduce_axes %C_local ["k"] : !schedule.axis',
        "%k_outer, %k_inner = schedule.split %k into 4",
        "schedule.unroll %k_inner",
        "schedule.compute_at %A_shared at %C_local, %k_outer",
        "schedule.compute_at %A_shared_local at %C_local, %k_inner",
        '%ax0, %ax1 = schedule.axes %A_shared ["ax0", "ax1"] : !schedule.axis, !schedule.axis',
        "%ax0_ax1_fused = schedule.fuse %ax0, %ax1",
        "%ax0_ax1_fused_outer, %ax0_ax1_fused_inner = schedule.split %ax0_ax1_fused by 4",
        "schedule.vectorize %ax0_ax1_fused_inner",
        "schedule.set_scope %A_shared_local to <local>",
    ]


def test_emit_puts_the_schedule_beside_its_function():
    A, B, C = matmul()
    s = te.create_schedule(C)
    s[C].split(C.op.axis[0], 8)
    for name in ("first", "second"):  # a schedule can be emitted again
        module = emit_module(s, [A, B, C], name)
        function, of = module.body
        assert function.operation.attributes["sym_name"].value == name
        assert of.operation.name == "schedule.of" and of.operation.attributes["function"].value == name
        assert "schedule.split %i by 8" in str(of)


def test_locations_are_the_users_lines():
    A, B, C = matmul()
    s = te.create_schedule(C.op)
    s[C].vectorize(C.op.axis[1])
    text = emit_module(s, [A, B, C]).operation.get_asm(enable_debug_info=True, use_local_scope=True)
    (line,) = [line for line in text.splitlines() if "schedule.vectorize" in line]
    vectorize = test_locations_are_the_users_lines.__code__.co_firstlineno + 3
    assert line.endswith(f'loc("j"("{__file__}":{vectorize}:0))')


def test_cache_write_leaves_the_copy_its_spatial_axes():
    A, B, C = matmul()
    s = te.create_schedule(C.op)
    i, j = C.op.axis
    (k,) = C.op.reduce_axis
    CL = s.cache_write(C, "local")
    assert s[C].op.axis == (i, j) and s[C].op.reduce_axis == ()
    assert [axis.name for axis in CL.op.axis] == ["i", "j"] and CL.op.axis != (i, j)
    assert s[CL].op.reduce_axis == (k,)
    s[C].split(i, 8)
    s[CL].split(k, 8)  # the user's own k is the computing stage's
    assert s[s[C].op] is s[C] is s[C.op]
    assert [line.split(" = ")[1] for line in primitives(s) if "split" in line] == [
        "schedule.split %i by 8",
        "schedule.split %k by 8",
    ]


def test_cache_write_after_axes_were_only_looked_up():
    A, B, C = matmul()
    s = te.create_schedule(C.op)
    try:
        s[C].split(C.op.axis[0], 0)
    except Exception:
        pass
    s.cache_write(C, "local")
    assert primitives(s) == ['%C = schedule.stage "C"', '%C_local = schedule.cache_write %C in <local> as "C.local"']


def test_cache_names_are_unique():
    A, B, C = matmul()
    D = te.compute((64, 64), lambda i, j: C[i, j] + A[i, j], name="D")
    s = te.create_schedule(D.op)
    first = s.cache_read(A, "shared", [C])
    second = s.cache_read(A, "shared", [D])
    assert (first.name, second.name) == ("A.shared", "A.shared_1")
    assert [stage.name for stage in s.stages] == ["C", "D", "A.shared", "A.shared_1"]


def test_cache_read_of_an_inlined_stage_and_compute_at_through_others():
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] + 1, name="B")
    C = te.compute((64,), lambda i: B[i] * 2, name="C")
    s = te.create_schedule(C.op)
    s[B].compute_inline()
    BS = s.cache_read(B, "shared", [C])
    o, i = s[C].split(C.op.axis[0], 8)
    s[BS].compute_at(s[C], o)
    s[B].compute_at(s[C], o)  # C needs B by way of B.shared
    s[B].compute_root()
    assert primitives(s)[-2:] == ["schedule.compute_at %B at %C, %i_outer", "schedule.compute_root %B"]


def test_cache_write_of_several_outputs():
    A = te.placeholder((8,), name="A")
    B, C = te.compute((8,), lambda i: (A[i] + 1, A[i] + 2), name="B")
    s = te.create_schedule([B, C])
    cached = s.cache_write([B, C], "local")
    assert [tensor.name for tensor in cached] == ["B.local.v0", "B.local.v1"]
    assert s.outputs == (B.op,)


def test_stages_and_scopes():
    A, B, C = matmul()
    s = te.create_schedule(C.op)
    AS = s.cache_read(A, "shared", [C])
    assert (s[AS].scope, s[C].scope, s[C].is_output, s[AS].is_output) == ("shared", "global", True, False)
    assert repr(s[AS]) == "stage(A.shared)"
    assert s.normalize() is s


def test_one_reduction_axis_in_two_stages():
    A = te.placeholder((8, 8), name="A")
    k = te.reduce_axis((0, 8), "k")
    B = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name="B")
    C = te.compute((8,), lambda i: te.max(A[k, i], axis=k), name="C")
    s = te.create_schedule([B, C])
    s[B].split(k, 2)
    s[C].split(k, 4)
    assert [line.split(" = ")[1] for line in primitives(s) if "split" in line] == [
        "schedule.split %k by 2",
        "schedule.split %k_1 by 4",
    ]
