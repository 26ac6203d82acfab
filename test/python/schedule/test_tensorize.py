"""tensorize: intrinsics as TVM v0.19's scripts declare them, what they take the place of, and what is refused."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import tilewright as tvm
from tilewright import CompileError, ScheduleError, te, testing

TARGETS = ["sim", "cpu"]


@cache  # it is proved when it is made
def gemv(rows: int, columns: int, *, parts="body reset update", name="gemv", dtype="float32", kind="unroll"):
    """TVM's tutorial's intrinsic, with its statements in place of calls of C."""
    a = te.placeholder((columns,), dtype, name="a")
    b = te.placeholder((rows, columns), dtype, name="b")
    k = te.reduce_axis((0, columns), name="k")
    c = te.compute((rows,), lambda i: te.sum(a[k] * b[i, k], axis=k), name="c")
    buffers = {
        a: tvm.tir.decl_buffer(a.shape, a.dtype, name="A", offset_factor=1, strides=[1]),
        b: tvm.tir.decl_buffer(b.shape, b.dtype, name="B", offset_factor=1, strides=[te.var("s1"), 1]),
        c: tvm.tir.decl_buffer(c.shape, c.dtype, name="C", offset_factor=1, strides=[1]),
    }

    def intrin_func(ins, outs):
        aa, bb = ins
        cc = outs[0]

        def _body(clears: bool, adds: bool):
            ib = tvm.tir.ir_builder.create()
            out = ib.buffer_ptr(cc)
            with ib.for_range(0, rows, name="r") as r:
                if clears:
                    out[r] = 0.0
                if adds:
                    with ib.for_range(0, columns, name="c", kind=kind) as c:
                        out[r] = out[r] + aa[c] * bb[r, c]
            return ib.get()

        made = {"body": _body(True, True), "reset": _body(True, False), "update": _body(False, True)}
        return tuple(made[part] if part in parts else None for part in ("body", "reset", "update"))

    return te.decl_tensor_intrin(c.op, intrin_func, binds=buffers, name=name)


def matmul(n=32, m=32, depth=48, dtype="float32"):
    A = te.placeholder((n, depth), dtype, name="A")
    B = te.placeholder((m, depth), dtype, name="B")
    k = te.reduce_axis((0, depth), name="k")
    C = te.compute((n, m), lambda i, j: te.sum(A[i, k] * B[j, k], axis=k), name="C")
    return A, B, C


def check_matmul(s, A, B, C, target):
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(x.shape).astype(np.float32) for x in (A, B))
    (c,) = testing.run(tvm.build(s, [A, B, C], target=target), [a, b], [(C.shape, "float32")])
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64).T, rtol=1e-4, atol=1e-4)


def tensorized(intrinsic, *, rows=16, columns=None, depth=48):
    A, B, C = matmul(depth=depth)
    s = te.create_schedule(C.op)
    x, y = C.op.axis
    (z,) = C.op.reduce_axis
    yo, yi = s[C].split(y, factor=rows)
    s[C].bind(x, te.thread_axis("blockIdx.x"))
    s[C].bind(yo, te.thread_axis("threadIdx.x"))
    if columns is None:
        s[C].reorder(x, yo, yi, z)
    else:
        zo, zi = s[C].split(z, factor=columns)
        s[C].reorder(x, yo, zo, yi, zi)
    s[C].tensorize(yi, intrinsic)
    return s, A, B, C


@pytest.mark.sample(2)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("parts", ["body", "reset update"])
def test_a_tile_with_the_whole_reduction(target: str, parts: str) -> None:
    check_matmul(*tensorized(gemv(16, 48, parts=parts)), target)


@pytest.mark.sample(2)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("parts", ["body reset update", "reset update", "body update"])
def test_a_tile_with_a_part_of_the_reduction(target: str, parts: str) -> None:
    check_matmul(*tensorized(gemv(16, 16, parts=parts), columns=16), target)


@pytest.mark.parametrize("target", TARGETS)
def test_a_sum_over_lanes(target: str) -> None:
    """The elements of a vectorized loop are added to one sum: they must not be lanes."""
    check_matmul(*tensorized(gemv(16, 16, kind="vectorize"), columns=16), target)


def test_the_first_part_is_computed_by_the_body_where_there_is_no_reset() -> None:
    s, *_ = tensorized(gemv(16, 16, parts="body update"), columns=16)
    assert str(s).splitlines()[:6] == [
        "for i in range(32):  # C, blockIdx.x",
        "  for j.outer in range(2):  # threadIdx.x",
        "    for k.outer in range(3):",
        "      if k.outer == 0:",
        "        for r in range(16):",
        "          C[i, r + j.outer*16] = 0.0",
    ]


@pytest.mark.parametrize("target", TARGETS)
def test_a_tile_of_caches(target: str) -> None:
    # The buffers are a thread's own and a block's, whose rows are set apart.
    A, B, C = matmul()
    s = te.create_schedule(C.op)
    CL = s.cache_write(C, "local")
    BB = s.cache_read(B, "shared", [CL])
    x, y = C.op.axis
    yo, yi = s[C].split(y, factor=8)
    s[C].bind(x, te.thread_axis("blockIdx.x"))
    s[C].bind(yo, te.thread_axis("threadIdx.x"))
    s[CL].compute_at(s[C], yo)
    zo, zi = s[CL].split(CL.op.reduce_axis[0], factor=16)
    s[CL].reorder(zo, *CL.op.axis, zi)
    s[BB].compute_at(s[CL], zo)
    s[BB].storage_align(BB.op.axis[0], 32, 1)
    s[CL].tensorize(CL.op.axis[1], gemv(8, 16))
    check_matmul(s, A, B, C, target)


@pytest.mark.parametrize("target", TARGETS)
def test_axes_of_one_element_count_as_not_there(target: str) -> None:
    # The tile has the axes i, of one element, and j.
    A, B, C = matmul()
    s = te.create_schedule(C.op)
    x, y = C.op.axis
    (z,) = C.op.reduce_axis
    xo, xi = s[C].split(x, factor=1)
    yo, yi = s[C].split(y, factor=8)
    s[C].reorder(xo, yo, xi, yi, z)
    s[C].bind(xo, te.thread_axis("blockIdx.x"))
    s[C].bind(yo, te.thread_axis("threadIdx.x"))
    s[C].tensorize(xi, gemv(8, 48))
    check_matmul(s, A, B, C, target)


def windows(size: int, name="windows", at=lambda x, i: (x[i], x[i + 1], x[i + 2])):
    x = te.placeholder((size + 2,), name="x")
    y = te.compute((size,), lambda i: x[i] + x[i + 1] * x[i + 2], name="y")

    def fcompute(ins, outs):
        ib = tvm.tir.ir_builder.create()
        out = ib.buffer_ptr(outs[0])
        with ib.for_range(0, size, name="w") as i:
            a, b, c = at(ins[0], i)
            out[i] = a + b * c
        return ib.get()

    return te.decl_tensor_intrin(y.op, fcompute, name=name)


@pytest.mark.parametrize("target", TARGETS)
def test_windows_of_an_input(target: str) -> None:
    A = te.placeholder((8, 34), name="A")
    B = te.compute((8, 32), lambda i, j: A[i, j] + A[i, j + 1] * A[i, j + 2], name="B")
    s = te.create_schedule(B.op)
    jo, ji = s[B].split(B.op.axis[1], factor=8)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(jo, te.thread_axis("threadIdx.x"))
    s[B].tensorize(ji, windows(8))
    a = np.random.default_rng(1).standard_normal((8, 34)).astype(np.float32)
    (b,) = testing.run(tvm.build(s, [A, B], target=target), [a], [(B.shape, "float32")])
    np.testing.assert_allclose(b, a[:, :-2] + a[:, 1:-1] * a[:, 2:], rtol=1e-4)


@pytest.mark.parametrize("target", TARGETS)
def test_statements(target: str) -> None:
    """Choices, a thread's own buffers, and loops that begin elsewhere."""
    x = te.placeholder((6,), "int32", name="x")
    y = te.compute((6,), lambda i: te.select(x[i] > 0, x[i] * 3, x[i] - 1), name="y")

    def fcompute(ins, outs):
        ib = tvm.tir.ir_builder.create()
        out, own = ib.buffer_ptr(outs[0]), ib.allocate("int32", (6,), name="own")
        with ib.for_range(0, 6, name="p") as i:
            own[i] = ins[0][i]
        with ib.for_range(1, 6, name="q") as i:
            with ib.if_scope(own[i] > 0):
                out[i] = own[i] * 3
            with ib.else_scope():
                out[i] = own[i] - 1
        out[0] = te.select(ins[0].vload([0]) > 0, own[0] * 3, own[0] - 1)
        return ib.get()

    triple = te.decl_tensor_intrin(y.op, fcompute, name="triple")
    A = te.placeholder((4, 6), "int32", name="A")
    B = te.compute((4, 6), lambda i, j: te.select(A[i, j] > 0, A[i, j] * 3, A[i, j] - 1), name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    s[B].tensorize(B.op.axis[1], triple)
    a = np.random.default_rng(2).integers(-5, 5, (4, 6)).astype(np.int32)
    (b,) = testing.run(tvm.build(s, [A, B], target=target), [a], [(B.shape, "int32")])
    np.testing.assert_array_equal(b, np.where(a > 0, a * 3, a - 1))


def test_the_kernel_for_cuda() -> None:
    s, *args = tensorized(gemv(16, 16), columns=16)
    assert "fma.rn.f32" in tvm.build(s, args, target="cuda -arch=sm_90a").ptx


def test_trace_and_explain() -> None:
    s, A, B, C = tensorized(gemv(16, 16), columns=16)
    assert str(s.trace()).splitlines()[-1] == "s[C].tensorize(j_inner, gemv)"
    again = te.create_schedule(C.op)
    te.Trace.from_json(s.trace().to_json()).apply(again)
    assert again.ir() == s.ir() and str(again) == str(s)
    assert "the loops from here on computed by intrinsic gemv" in s.explain(C.op.axis[1])


# What is refused.


def refused(call) -> str:
    with pytest.raises((CompileError, ScheduleError)) as caught:
        call()
    return str(caught.value).split("error: ", 1)[1].split("\n")[0]


def lowered(s, *args) -> str:
    return refused(lambda: tvm.lower(s, list(args), stage="loops"))


@pytest.mark.sweep
def test_another_computation() -> None:
    A, B, C = matmul()
    k = te.reduce_axis((0, 48), name="k")
    D = te.compute((32, 32), lambda i, j: te.sum(A[i, k] + B[j, k], axis=k), name="D")
    s = te.create_schedule(D.op)
    s[D].bind(D.op.axis[0], te.thread_axis("blockIdx.x"))
    s[D].tensorize(D.op.axis[1], gemv(32, 48))
    assert lowered(s, A, B, D) == (
        "tensorize of stage 'D' by 'gemv': expected 'arith.mulf', as the intrinsic describes, got 'arith.addf'"
    )


def test_other_extents() -> None:
    s, *args = tensorized(gemv(16, 24))
    assert lowered(s, *args) == (
        "tensorize of stage 'C' by 'gemv': expected tiles of extents 16, reduced over 24, as the intrinsic describes, "
        "got 1, 16, reduced over 48"
    )


def test_tiles_that_reach_over_the_end() -> None:
    s, *args = tensorized(gemv(12, 48), rows=12)
    assert lowered(s, *args) == (
        "tensorize of stage 'C' by 'gemv': expected tiles that are whole, got tiles at the end of an axis that reach over "
        "it: split by numbers that divide the extents, or pad them"
    )


@pytest.mark.sweep
def test_reads_at_other_indices() -> None:
    A = te.placeholder((32, 48), name="A")
    B = te.placeholder((48, 32), name="B")
    k = te.reduce_axis((0, 48), name="k")
    C = te.compute((32, 32), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
    s[C].tensorize(C.op.axis[1], gemv(32, 48))
    assert lowered(s, A, B, C) == (
        "tensorize of stage 'C' by 'gemv': expected a read at the indices of 'b', as the intrinsic describes, got one at "
        "indices that change in another way within a tile"
    )


def test_windows_at_another_distance() -> None:
    A = te.placeholder((8, 36), name="A")
    B = te.compute((8, 32), lambda i, j: A[i, j] + A[i, j + 1] * A[i, j + 4], name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].tensorize(B.op.axis[1], windows(32))
    assert lowered(s, A, B) == (
        "tensorize of stage 'B' by 'windows': expected one tensor at one place for all reads of 'x', as the intrinsic "
        "describes, got another for one of them"
    )


def test_other_types_and_reductions() -> None:
    A, B, C = matmul(dtype="float64")
    s = te.create_schedule(C.op)
    s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
    s[C].tensorize(C.op.axis[1], gemv(32, 48))
    assert lowered(s, A, B, C).endswith(
        "expected a reduction that starts from the same, as the intrinsic describes, got another"
    )
    A = te.placeholder((8, 34), name="A")
    k = te.reduce_axis((0, 34), name="k")
    D = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name="D")
    s = te.create_schedule(D.op)
    s[D].tensorize(D.op.axis[0], windows(8))
    assert lowered(s, A, D).endswith("expected tiles of extents 8, as the intrinsic describes, got 8, reduced over 34")


def test_parts_that_are_missing() -> None:
    s, *args = tensorized(gemv(16, 16, parts="body"), columns=16)
    assert lowered(s, *args) == (
        "tensorize of stage 'C' by 'gemv': expected an intrinsic with an update, and a reset or a body for what comes first, "
        "as a tile has a part of the reduction, got one without"
    )
    s, *args = tensorized(gemv(16, 48, parts="update"))
    assert lowered(s, *args) == (
        "tensorize of stage 'C' by 'gemv': expected an intrinsic with a body, or with reset and update, got one with neither"
    )


@pytest.mark.sweep
def test_loops_of_the_tile_are_plain() -> None:
    s, A, B, C = tensorized(gemv(16, 48))
    s[C].unroll(C.op.reduce_axis[0])
    assert lowered(s, A, B, C) == (
        "tensorize of stage 'C' by 'gemv': expected plain loops in the tile, which the intrinsic takes the place of, got 'k' on "
        "unroll"
    )
    s, A, B, C = tensorized(gemv(16, 48))
    BB = s.cache_read(B, "local", [C])
    s[BB].compute_at(s[C], C.op.reduce_axis[0])
    assert lowered(s, A, B, C) == (
        "tensorize of stage 'C' by 'gemv': expected no stage at a loop of the tile, got stage 'B.local' at 'k'"
    )
    s = te.create_schedule(C.op)
    s[C].tensorize(s[C].fuse(*C.op.axis), gemv(16, 48))
    assert lowered(s, A, B, C) == (
        "tensorize of stage 'C' by 'gemv': expected loops in the tile that are of one axis each, got the fused 'i.j.fused'"
    )
    s = te.create_schedule(C.op)
    s[C].vectorize(C.op.axis[1])
    assert refused(lambda: s[C].tensorize(C.op.axis[1], gemv(32, 48))) == (
        "tensorize: axis 'j' of stage 'C': expected a loop that nothing else was said of, got one of an earlier "
        "vectorize"
    )
    s = te.create_schedule(C.op)
    s[C].tensorize(C.op.axis[1], gemv(32, 48))
    assert refused(lambda: s[C].split(C.op.axis[1], factor=4)) == (
        "split: axis 'j' of stage 'C': expected a plain loop, got one that is tensorized"
    )


def test_a_decomposed_reduction() -> None:
    s, A, B, C = tensorized(gemv(16, 48))
    s[C].decompose_reduction(C.op.axis[0])
    assert lowered(s, A, B, C) == (
        "tensorize of stage 'C' by 'gemv': expected the intrinsic to set its results to the identity, got decompose_reduction "
        "of the stage"
    )


def test_elements_that_lie_apart() -> None:
    A, B, C = matmul()
    s = te.create_schedule(C.op)
    x, y = C.op.axis
    yo, yi = s[C].split(y, factor=4)
    s[C].reorder(x, yi, yo)
    s[C].bind(x, te.thread_axis("blockIdx.x"))
    s[C].tensorize(yo, gemv(8, 48))
    assert lowered(s, A, B, C) == (
        "tensorize of stage 'C' by 'gemv': expected tiles that are blocks, got axis 'j', of which a tile has elements that lie "
        "apart or a number that is not known"
    )


def test_a_description_that_reads_a_part() -> None:
    x = te.placeholder((10,), name="x")
    y = te.compute((8,), lambda i: x[i] * 2, name="y")

    def fcompute(ins, outs):
        ib = tvm.tir.ir_builder.create()
        with ib.for_range(0, 8) as i:
            ib.buffer_ptr(outs[0])[i] = ins[0][i] * 2
        return ib.get()

    double = te.decl_tensor_intrin(y.op, fcompute, name="double")
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] * 2, name="B")
    s = te.create_schedule(B.op)
    s[B].tensorize(B.op.axis[0], double)
    assert lowered(s, A, B) == (
        "tensorize of stage 'B' by 'double': expected a description that reads the whole of each input, got input 0, of extent "
        "10 along dimension 0, which it reads from 0 to 7"
    )
    P, Q = te.compute((8,), lambda i: (A[i] * 2, A[i] * 2), name="PQ")
    s = te.create_schedule(P.op)
    s[P].tensorize(P.op.axis[0], windows(8))
    assert lowered(s, A, P, Q) == (
        "tensorize of stage 'PQ' by 'windows': expected 1 results, as the intrinsic describes, got 2"
    )


def test_a_scan_and_a_prefetch() -> None:
    X = te.placeholder((16, 32), name="X")
    state = te.placeholder((16, 32), name="state")
    init = te.compute((1, 32), lambda _, i: X[0, i], name="init")
    update = te.compute((16, 32), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    scan = te.scan(init, update, state, inputs=[X], name="scan")
    s = te.create_schedule(scan.op)
    s[update].tensorize(update.op.axis[1], windows(32))
    assert lowered(s, X, scan).endswith("by 'windows': expected a stage whose elements are independent, got a scan")
    s, A, B, C = tensorized(gemv(16, 48))
    s[C].prefetch(B, C.op.reduce_axis[0], 1)
    assert lowered(s, A, B, C) == ("prefetch of 'B': expected a loop around what an intrinsic computes, got 'k' in it")


def test_what_is_no_intrinsic() -> None:
    _, _, C = matmul()
    s = te.create_schedule(C.op)
    with pytest.raises(TypeError, match="tensorize: expected an intrinsic of te.decl_tensor_intrin, got None$"):
        s[C].tensorize(C.op.axis[1], None)
    with pytest.raises(TypeError, match=r"intrinsic gemv: expected 2 parts of tensors, got 1$"):
        gemv(4, 4)(1)
