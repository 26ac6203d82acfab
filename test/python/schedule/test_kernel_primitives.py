"""prefetch, env_threads and pad_einsum."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import CompileError, ScheduleError, te, testing

TARGETS = ["sim", "cpu"]


def refused(call) -> str:
    with pytest.raises((CompileError, ScheduleError)) as caught:
        call()
    return str(caught.value).split("error: ", 1)[1].split("\n")[0]


def lowered(s, *args) -> str:
    return refused(lambda: tw.lower(s, list(args), stage="loops"))


def replays(s, output):
    again = te.create_schedule(output.op)
    te.Trace.from_json(s.trace().to_json()).apply(again)
    assert again.ir() == s.ir()


def row_sums(rows=64, columns=256):
    A = te.placeholder((rows, columns), name="A")
    k = te.reduce_axis((0, columns), name="k")
    B = te.compute((rows,), lambda i: te.sum(A[i, k], axis=k), name="B")
    return A, B


def check_sums(s, A, B, target):
    a = np.random.default_rng(0).integers(-4, 5, A.shape).astype(np.float32)
    (b,) = testing.run(tw.build(s, [A, B], target=target), [a], [(B.shape, "float32")])
    np.testing.assert_array_equal(b, a.sum(1))


# prefetch


def prefetched(offset=1, rows=60):
    A, B = row_sums(rows)
    s = te.create_schedule(B.op)
    io, ii = s[B].split(B.op.axis[0], factor=8)
    s[B].bind(io, te.thread_axis("blockIdx.x"))
    s[B].prefetch(A, ii, offset)
    return s, A, B


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("offset", [0, 1, 3, 9])
def test_prefetch_changes_nothing(target: str, offset: int) -> None:
    s, A, B = prefetched(offset)
    check_sums(s, A, B, target)
    replays(s, B)


def test_prefetch_asks_for_each_line() -> None:
    s, A, B = prefetched(rows=64)
    ptx = tw.build(s, [A, B], target="cuda -arch=sm_90a").ptx
    assert ptx.count("prefetch.L2") == 256 * 4 // 128
    assert "ld.global.nc" in ptx, "the input is still one that is only read"
    assert "\n        prefetch(A[i.outer*8 + i.inner + 1, prefetch1*32])\n" in str(s)
    assert "A fetched ahead for 1 iterations later" in s.explain(B.op.axis[0])


def test_nothing_is_fetched_from_beyond_the_tensor() -> None:
    s, *_ = prefetched(rows=60)
    assert "        t0 = i.outer*8 + i.inner + 1\n        if t0 < 60:\n          prefetch(A[t0, " in str(s)
    s, *_ = prefetched(offset=8)
    assert "prefetch(" not in str(s), "no iteration has one that comes so much later"


def test_prefetch_with_a_cache() -> None:
    # The copy reads the input, in a loop of the stage that it is attached to.
    A, B = row_sums()
    s = te.create_schedule(B.op)
    AA = s.cache_read(A, "shared", [B])
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    ko, _ = s[B].split(B.op.reduce_axis[0], factor=32)
    s[AA].compute_at(s[B], ko)
    assert refused(lambda: s[AA].prefetch(A, ko, 1)).startswith("prefetch: expected an axis of stage 'A.shared'")
    s[B].prefetch(AA, ko, 1)
    assert lowered(s, A, B) == (
        "prefetch of 'A.shared': expected a tensor in global memory, which caches lie before, got one in shared memory"
    )


def test_what_cannot_be_prefetched() -> None:
    A, B = row_sums()
    other = te.placeholder((4,), name="other")
    s = te.create_schedule(B.op)
    assert refused(lambda: s[B].prefetch(other, B.op.axis[0], 1)) == (
        "prefetch: expected a tensor of this schedule, got 'other'"
    )
    with pytest.raises(TypeError, match="prefetch: expected a tensor, got 'A'$"):
        s[B].prefetch("A", B.op.axis[0], 1)
    s[B].prefetch(A, B.op.axis[0], 1)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    assert lowered(s, A, B) == (
        "prefetch of 'A': expected a loop whose iterations come one after the other, got 'i', which is bound to threadIdx.x"
    )
    s = te.create_schedule(B.op)
    s[B].prefetch(A, B.op.axis[0], 1)
    s[B].split(B.op.axis[0], factor=4)
    assert lowered(s, A, B) == "prefetch of 'A': expected a loop of stage 'B', got axis 'i', which was split afterwards"
    # Where it is the compiler that takes the loop, to share it among threads, that is what is said.
    s = te.create_schedule(B.op)
    block, thread = s[B].split(B.op.axis[0], factor=4)
    shared = s.cache_read(A, "shared", [B])
    s[B].bind(block, te.thread_axis("blockIdx.x"))
    s[B].bind(thread, te.thread_axis("threadIdx.x"))
    s[shared].compute_at(s[B], block)
    s[shared].prefetch(A, s[shared].op.axis[0], 1)
    assert lowered(s, A, B) == (
        "prefetch of 'A': expected a loop of stage 'A.shared', got axis 'ax0', which the threads of the block share, as stage "
        "'A.shared' binds none of its loops to them: bind those that they are to share"
    )
    s = te.create_schedule(B.op)
    s[B].prefetch(B, B.op.axis[0], 1)
    assert lowered(s, A, B) == "prefetch of 'B': expected a tensor that stage 'B' reads, got another"
    n = te.var("n")
    A = te.placeholder((8, n), name="A")
    k = te.reduce_axis((0, n), name="k")
    B = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    s[B].prefetch(A, B.op.axis[0], 1)
    assert lowered(s, A, B) == (
        "prefetch of 'A': expected an iteration of loop 'i' to read a constant number of elements of it, got a number that is "
        "not known along dimension 1"
    )


# env_threads


@pytest.mark.parametrize("target", TARGETS)
def test_env_threads_fill_a_buffer_together(target: str) -> None:
    A, B = row_sums()
    s = te.create_schedule(B.op)
    AA = s.cache_read(A, "shared", [B])
    io, _ = s[B].split(B.op.axis[0], factor=8)
    s[B].bind(io, te.thread_axis("blockIdx.x"))
    s[AA].compute_at(s[B], io)
    s[B].env_threads([te.thread_axis((0, 8), "threadIdx.y"), te.thread_axis((0, 16), "threadIdx.x")])
    check_sums(s, A, B, target)
    replays(s, B)
    assert str(s).count("# threadIdx.x") == 1, "the copy's"


def test_env_threads_are_the_kernels() -> None:
    A, B = row_sums()
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].env_threads(te.thread_axis((0, 64), "threadIdx.x"))
    function = tw.build(s, [A, B], target="cuda -arch=sm_90a")
    assert ".reqntid 64" in function.ptx or ".maxntid 64" in function.ptx
    check_sums(s, A, B, "sim")


@pytest.mark.parametrize("target", TARGETS)
def test_env_threads_of_loops_that_are_bound(target: str) -> None:
    A, B = row_sums()
    s = te.create_schedule(B.op)
    io, ii = s[B].split(B.op.axis[0], factor=8)
    s[B].bind(io, te.thread_axis("blockIdx.x"))
    s[B].bind(ii, te.thread_axis("threadIdx.x"))
    s[B].env_threads([te.thread_axis((0, 8), "blockIdx.x"), te.thread_axis((0, 8), "threadIdx.x")])
    check_sums(s, A, B, target)


@pytest.mark.parametrize("target", TARGETS)
def test_env_threads_of_a_scan(target: str) -> None:
    """As TVM's examples of recurrences have it: the scan's kernel has the threads that its steps share."""
    X = te.placeholder((16, 32), name="X")
    state = te.placeholder((16, 32), name="state")
    init = te.compute((1, 32), lambda _, i: X[0, i], name="init")
    update = te.compute((16, 32), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    scan = te.scan(init, update, state, inputs=[X], name="scan")
    s = te.create_schedule(scan.op)
    for stage in (init, update):
        s[stage].bind(stage.op.axis[1], te.thread_axis("threadIdx.x"))
    s[scan].env_threads([te.thread_axis((0, 32), "threadIdx.x")])
    x = np.random.default_rng(0).integers(-4, 5, (16, 32)).astype(np.float32)
    (y,) = testing.run(tw.build(s, [X, scan], target=target), [x], [((16, 32), "float32")])
    np.testing.assert_array_equal(y, np.cumsum(x, axis=0))


def test_env_threads_that_cannot_be() -> None:
    A, B = row_sums()
    s = te.create_schedule(B.op)
    with pytest.raises(TypeError, match="env_threads: expected te.thread_axis"):
        s[B].env_threads([B.op.axis[0]])
    with pytest.raises(
        ValueError, match=r"expected thread axes with an extent, te.thread_axis\(\(0, n\), \"threadIdx.x\"\)"
    ):
        s[B].env_threads([te.thread_axis("threadIdx.x")])
    assert refused(lambda: s[B].env_threads(te.thread_axis((0, 2), "vthread"))) == (
        "env_threads: expected a block or thread index, got vthread"
    )
    s[B].env_threads([te.thread_axis((0, 4), "blockIdx.x")])
    assert lowered(s, A, B) == (
        "env_threads of stage 'B': expected a loop bound to blockIdx.x, as blocks do not compute the same side by side, got "
        "none"
    )
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    s[B].env_threads([te.thread_axis((0, 32), "threadIdx.x")])
    assert lowered(s, A, B) == (
        "env_threads of stage 'B': expected loops on threadIdx.x of extent 32, got axis 'i' of stage 'B' of 64"
    )
    s = te.create_schedule(B.op)
    AA = s.cache_read(A, "shared", [B])
    s[AA].compute_at(s[B], B.op.axis[0])
    s[AA].env_threads([te.thread_axis((0, 32), "threadIdx.x")])
    assert lowered(s, A, B) == (
        "env_threads of stage 'A.shared': expected a stage that is computed at the root, as a kernel is, got one that is "
        "computed at a loop of stage 'B'"
    )


# pad_einsum


def einsum(n=61, m=37, depth=50, dtype="float32"):
    A = te.placeholder((n, depth), dtype, name="A")
    B = te.placeholder((depth, m), dtype, name="B")
    k = te.reduce_axis((0, depth), name="k")
    C = te.compute((n, m), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    return A, B, C


def bind_all(s, stage):
    """One thread an element."""
    fused = stage.fuse(*stage.op.axis) if len(stage.op.axis) > 1 else stage.op.axis[0]
    outer, inner = stage.split(fused, factor=64)
    stage.bind(outer, te.thread_axis("blockIdx.x"))
    stage.bind(inner, te.thread_axis("threadIdx.x"))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("inlines", [False, True])
def test_pad_einsum(target: str, inlines: bool) -> None:
    A, B, C = einsum()
    s = te.create_schedule(C.op)
    A_pad, B_pad, C_pad = s[C].pad_einsum([16, 16, 8])
    assert (A_pad.shape, B_pad.shape, C_pad.shape) == ((64, 56), (56, 48), (64, 48))
    for padded in (A_pad, B_pad):
        if inlines:
            s[padded].compute_inline()
        else:
            bind_all(s, s[padded])
    bind_all(s, s[C])
    io, jo, ii, ji = s[C_pad].tile(*C_pad.op.axis, 16, 16)
    ko, ki = s[C_pad].split(C_pad.op.reduce_axis[0], factor=8, disable_predication=True)
    s[C_pad].bind(io, te.thread_axis("blockIdx.y"))
    s[C_pad].bind(jo, te.thread_axis("blockIdx.x"))
    s[C_pad].bind(ii, te.thread_axis("threadIdx.y"))
    s[C_pad].bind(ji, te.thread_axis("threadIdx.x"))
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(x.shape).astype(np.float32) for x in (A, B))
    (c,) = testing.run(tw.build(s, [A, B, C], target=target), [a, b], [(C.shape, "float32")])
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-4, atol=1e-4)
    replays(s, C)


def test_a_padded_sum_is_tensorized() -> None:
    """What pad_einsum is for: tiles of an intrinsic are whole."""
    from tilewright import tir

    a, b = te.placeholder((8,), name="a"), te.placeholder((8, 4), name="b")
    k = te.reduce_axis((0, 8), name="k")
    c = te.compute((4,), lambda j: te.sum(a[k] * b[k, j], axis=k), name="c")

    def fcompute(ins, outs):
        def write(clears):
            ib = tir.ir_builder.create()
            out = ib.buffer_ptr(outs[0])
            with ib.for_range(0, 4, name="j") as j:
                if clears:
                    out[j] = 0.0
                else:
                    with ib.for_range(0, 8, name="k") as kk:
                        out[j] = out[j] + ins[0][kk] * ins[1][kk, j]
            return ib.get()

        return None, write(True), write(False)

    vecmat = te.decl_tensor_intrin(c.op, fcompute, name="vecmat")
    A, B, C = einsum(10, 10, 10)
    s = te.create_schedule(C.op)
    A_pad, B_pad, C_pad = s[C].pad_einsum([1, 4, 8])
    for stage in (s[A_pad], s[B_pad], s[C]):
        bind_all(s, stage)
    s[C_pad].bind(C_pad.op.axis[0], te.thread_axis("blockIdx.x"))
    jo, ji = s[C_pad].split(C_pad.op.axis[1], factor=4)
    ko, ki = s[C_pad].split(C_pad.op.reduce_axis[0], factor=8)
    s[C_pad].reorder(jo, ko, ji, ki)
    s[C_pad].tensorize(ji, vecmat)
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-4, 5, t.shape).astype(np.float32) for t in (A, B))
    (z,) = testing.run(tw.build(s, [A, B, C], target="sim"), [x, y], [(C.shape, "float32")])
    np.testing.assert_array_equal(z, x @ y)


def test_infinities_meet_no_zeros() -> None:
    # 0 * inf is no number: an operand without the axis that grows would meet the zeros of the others.
    x = te.placeholder((4,), name="x")
    A = te.placeholder((4, 5), name="A")
    k = te.reduce_axis((0, 5), name="k")
    C = te.compute((4,), lambda i: te.sum(x[i] * A[i, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    s[C].pad_einsum([1, 4])
    assert lowered(s, x, A, C) == (
        "pad_einsum: stage 'C': expected all that is multiplied to have the reduction axis 'k', which grows from 5 to 8, got an "
        "operand without"
    )
    s = te.create_schedule(C.op)
    x_pad, A_pad, C_pad = s[C].pad_einsum([8, 1])
    for one in (x_pad, A_pad, C_pad, C):
        s[one].bind(one.op.axis[0], te.thread_axis("blockIdx.x"))
    values = np.array([1, np.inf, 2, -np.inf], np.float32), np.ones((4, 5), np.float32)
    (c,) = testing.run(tw.build(s, [x, A, C], target="sim"), list(values), [((4,), "float32")])
    np.testing.assert_array_equal(c, [5, np.inf, 10, -np.inf])


def test_what_is_no_einsum() -> None:
    A, B, C = einsum()
    s = te.create_schedule(C.op)
    assert refused(lambda: s[C].pad_einsum([16, 16])) == (
        "pad_einsum: expected 3 numbers, one an axis (i, j, k), got 2"
    )
    assert refused(lambda: s[C].pad_einsum([16, 16, 0])) == "pad_einsum: expected multiples of at least 1, got 0"
    with pytest.raises(TypeError, match="pad_einsum: expected a list of numbers, one an axis, got 16$"):
        s[C].pad_einsum(16)
    s[C].split(C.op.axis[0], factor=4)
    assert refused(lambda: s[C].pad_einsum([16, 16, 8])) == (
        "pad_einsum: expected to stand before the axes of stage 'C' are used"
    )
    s = te.create_schedule(C.op)
    CL = s.cache_write(C, "local")
    assert refused(lambda: s[CL].pad_einsum([16, 16, 8])) == (
        "pad_einsum: expected the stage of a te.compute as it is, got 'C.local', which the schedule made"
    )
    D = te.compute((4,), lambda i: A[i, i] * 2, name="D")
    s = te.create_schedule(D.op)
    assert refused(lambda: s[D].pad_einsum([16])) == (
        "pad_einsum: expected a contraction, got 'D', which reduces nothing"
    )
    k = te.reduce_axis((0, 50), name="k")
    for body, reason in (
        (lambda i: te.sum(A[i, k] * A[k, i], axis=k), "pad_einsum: expected A to be read at one place, got two"),
        (lambda i: te.sum(A[i + 1, k], axis=k), "pad_einsum: expected reads at axes, each once, got A[i + 1, k]"),
        (lambda i: te.sum(A[k, k], axis=k), "pad_einsum: expected reads at axes, each once, got A[k, k]"),
    ):
        E = te.compute((4,), body, name="E")
        s = te.create_schedule(E.op)
        assert refused(lambda: s[E].pad_einsum([16, 8])) == reason  # noqa: B023
    for body, reason in (
        (lambda i: te.max(A[i, k], axis=k), "expected a contraction, got another reduction"),
        (lambda i: te.sum(A[i, k] + 1, axis=k), "expected a contraction of elements, got 'arith.addf'"),
    ):
        F = te.compute((4,), body, name="F")
        s = te.create_schedule(F.op)
        s[F].pad_einsum([16, 8])
        assert lowered(s, A, F) == f"pad_einsum: stage 'F': {reason}"


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_pad_einsum_of_symbolic_extents(target: str) -> None:
    m, n = te.var("m", max=64), te.var("n")
    A, B = te.placeholder((m, n), "int32", name="A"), te.placeholder((n, 6), "int32", name="B")
    k = te.reduce_axis((0, n), name="k")
    C = te.compute((m, 6), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    *copies, total = s[C].pad_einsum([8, 1, 4])
    for copy in copies:
        s[copy].compute_inline()
    (outer, inner), (ko, ki) = s[total].split(total.op.axis[0], 8), s[total].split(total.op.reduce_axis[0], 4)
    s[total].reorder(outer, ko, ki, inner)
    if target == "sim":
        s[total].bind(outer, te.thread_axis("blockIdx.x"))
        s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
    f = tw.build(s, [A, B, C], target)
    for rows, length in ((8, 4), (13, 7), (1, 1), (64, 33)):
        a, b = (
            np.random.default_rng(rows).integers(-9, 9, shape).astype("int32")
            for shape in ((rows, length), (length, 6))
        )
        out = np.full((rows, 6), -1, "int32")
        f(a, b, out)
        np.testing.assert_array_equal(out, a @ b)
