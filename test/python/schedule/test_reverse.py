"""reverse_compute_at, reverse_compute_inline and decompose_reduction, against NumPy on the simulator and the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import CompileError, ScheduleError, te, testing

TARGETS = ["sim", "cpu"]


def bind(s, stage, **axes):
    for tag, axis in axes.items():
        s[stage].bind(axis, te.thread_axis(tag.replace("_", ".")))


def gemm_with_epilogue(m, n, k):
    A, B, V = te.placeholder((m, k), name="A"), te.placeholder((k, n), name="B"), te.placeholder((n,), name="V")
    r = te.reduce_axis((0, k), "k")
    C = te.compute((m, n), lambda i, j: te.sum(A[i, r] * B[r, j], axis=r), name="C")
    D = te.compute((m, n), lambda i, j: te.max(C[i, j] + V[j], 0.0), name="D")
    return te.create_schedule(D.op), [A, B, V, D], C, D


def check_gemm(s, args, target, m, n, k):
    rng = np.random.default_rng(0)
    a, b, v = (rng.standard_normal(shape, dtype=np.float32) for shape in ((m, k), (k, n), (n,)))
    func = tw.build(s, args, target=target, name="gemm")
    (d,) = testing.run(func, [a, b, v], [((m, n), "float32")])
    exact = np.maximum(a.astype(np.float64) @ b.astype(np.float64) + v, 0)
    testing.assert_within(d, exact, testing.dot_bound(a, b, k) + testing.unit_roundoff("float32") * (np.abs(exact) + 1))
    return func


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("m", "n"), [(32, 48), (37, 29)])
def test_an_epilogue_in_the_threads_of_a_matmul(target: str, m: int, n: int) -> None:
    s, args, C, D = gemm_with_epilogue(m, n, 20)
    io, ii = s[C].split(C.op.axis[0], factor=8)
    jo, ji = s[C].split(C.op.axis[1], factor=8)
    s[C].reorder(io, jo, ii, ji)
    bind(s, C, blockIdx_y=io, blockIdx_x=jo, threadIdx_y=ii, threadIdx_x=ji)
    s[D].reverse_compute_at(s[C], ji)
    func = check_gemm(s, args, target, m, n, 20)
    if target == "sim":
        # One kernel, and what the thread summed stays in its registers.
        assert "kernel1" not in func.ir("gpu")
        assert func.ir("gpu").count("memref.alloc()") == 0


@pytest.mark.parametrize("m", [32, 37])
def test_an_epilogue_of_a_block_through_shared_memory(m: int) -> None:
    """The threads of the epilogue are others than those that summed."""
    n = 40
    s, args, C, D = gemm_with_epilogue(m, n, 20)
    io, ii = s[C].split(C.op.axis[0], factor=8)
    jo, ji = s[C].split(C.op.axis[1], factor=8)
    s[C].reorder(io, jo, ii, ji)
    bind(s, C, blockIdx_y=io, blockIdx_x=jo, threadIdx_y=ii, threadIdx_x=ji)
    s[D].reverse_compute_at(s[C], jo)
    bind(s, D, threadIdx_x=D.op.axis[0], threadIdx_y=D.op.axis[1])
    func = check_gemm(s, args, "sim", m, n, 20)
    assert "gpu.barrier" in func.ir("gpu")
    assert "memref<8x8xf32, #gpu.address_space<workgroup>>" in func.ir("gpu")
    again = te.create_schedule(D.op)
    s.trace().apply(again)
    assert again.ir() == s.ir()


def test_a_chain_of_followers_and_a_producer_of_the_follower() -> None:
    n = 50
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * 2.0, name="B")
    P = te.compute((n,), lambda i: A[i] + 5.0, name="P")
    C = te.compute((n,), lambda i: B[i] * P[i], name="C")
    D = te.compute((n,), lambda i: C[i] - 1.0, name="D")
    s = te.create_schedule(D.op)
    bo, bi = s[B].split(B.op.axis[0], factor=16)
    bind(s, B, blockIdx_x=bo)
    s[C].reverse_compute_at(s[B], bo)
    s[D].reverse_compute_at(s[C], C.op.axis[0])
    s[P].compute_at(s[C], C.op.axis[0])
    a = np.random.default_rng(1).standard_normal(n, dtype=np.float32)
    (d,) = testing.run(tw.build(s, [A, D], target="sim", name="chain"), [a], [((n,), "float32")])
    exact = a.astype(np.float64) * 2 * (a + 5) - 1
    testing.assert_within(d, exact, 1e-6 * (np.abs(exact) + 10))


def test_a_producer_that_others_read_too_stays_whole() -> None:
    n = 64
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * 2.0, name="B")
    C = te.compute((n,), lambda i: B[i] + 1.0, name="C")
    D = te.compute((n,), lambda i: B[n - 1 - i] + C[i], name="D")
    s = te.create_schedule(D.op)
    bo, _ = s[B].split(B.op.axis[0], factor=16)
    bind(s, B, blockIdx_x=bo)
    s[C].reverse_compute_at(s[B], bo)
    bind(s, D, threadIdx_x=D.op.axis[0])
    a = np.arange(n, dtype=np.float32)
    (d,) = testing.run(tw.build(s, [A, D], target="sim", name="both"), [a], [((n,), "float32")])
    np.testing.assert_array_equal(d, 2 * a[::-1] + 2 * a + 1)


def refused(call) -> str:
    with pytest.raises((CompileError, ScheduleError)) as caught:
        call()
    return str(caught.value).split("error: ", 1)[1].split("\n")[0]


def lowered(s, args):
    return refused(lambda: tw.lower(s, args, stage="loops"))


def test_reverse_compute_at_refuses() -> None:
    s, args, C, D = gemm_with_epilogue(32, 32, 8)
    s[D].reverse_compute_at(s[C], C.op.reduce_axis[0])
    assert lowered(s, args) == ("reverse_compute_at: expected a loop of stage 'C' around its reduction, got 'k' in it")
    s, args, C, D = gemm_with_epilogue(32, 33, 8)
    fo, _ = s[C].split(s[C].fuse(*C.op.axis), factor=16)
    s[D].reverse_compute_at(s[C], fo)
    assert lowered(s, args) == (
        "reverse_compute_at: expected each iteration of loop 'i.j.fused.outer' to compute a block of stage 'C', "
        "got loops that fuse or split their axes in another way"
    )
    s, args, C, D = gemm_with_epilogue(100, 8, 8)
    io, ii = s[C].split(C.op.axis[0], factor=32)
    s[C].split(ii, factor=5)
    s[D].reverse_compute_at(s[C], io)
    assert "to compute a block of stage 'C'" in lowered(s, args)

    A = te.placeholder((8, 8), name="A")
    B = te.compute((8, 8), lambda i, j: A[i, j] * 2.0, name="B")
    C = te.compute((8, 8), lambda i, j: B[i, 7 - j], name="C")
    s = te.create_schedule(C.op)
    s[C].reverse_compute_at(s[B], B.op.axis[0])
    assert lowered(s, [A, C]) == (
        "reverse_compute_at: expected stage 'C' to read stage 'B' at its axes, each once, got other indices: "
        "use compute_at of stage 'B'"
    )
    assert refused(lambda: s[B].reverse_compute_at(s[C], C.op.axis[0])) == (
        "reverse_compute_at: expected a stage that 'B' reads, got stage 'C'"
    )
    assert refused(lambda: s[C].reverse_compute_at(s[C], C.op.axis[0])) == (
        "reverse_compute_at: expected a producer of stage 'C', got the stage itself"
    )
    assert refused(lambda: s[C].reverse_compute_at(s[B], C.op.axis[0])).startswith(
        "reverse_compute_at: expected an axis of stage 'B' (i, j), got 'i' of stage 'C'"
    )

    P = te.compute((8, 8), lambda i, j: B[i, j] + 1.0, name="P")
    D = te.compute((8, 8), lambda i, j: B[i, j] + P[i, j], name="D")
    s = te.create_schedule(D.op)
    s[D].reverse_compute_at(s[B], B.op.axis[0])
    assert lowered(s, [A, D]) == (
        "reverse_compute_at: expected stage 'D' to read what is computed before stage 'B', got stage 'P'"
    )
    s = te.create_schedule(D.op)
    s[B].compute_at(s[D], D.op.axis[0])
    s[P].reverse_compute_at(s[B], B.op.axis[0])
    assert lowered(s, [A, D]) == (
        "reverse_compute_at: expected a producer that is computed at the root, got stage 'B', which is computed at a loop "
        "of stage 'D'"
    )


@pytest.mark.parametrize("target", TARGETS)
def test_reverse_compute_inline(target: str) -> None:
    A, V = te.placeholder((20, 30), name="A"), te.placeholder((30,), name="V")
    B = te.compute((20, 30), lambda i, j: A[i, j] * 2.0 + i.astype("float32"), name="B")
    C = te.compute((20, 30), lambda y, x: te.exp(B[y, x]) + V[x], name="C")
    s = te.create_schedule(C.op)
    bx, tx = s[B].split(B.op.axis[1], factor=16)
    bind(s, B, blockIdx_x=bx, threadIdx_x=tx)
    s[C].reverse_compute_inline()
    a = np.random.default_rng(2).standard_normal((20, 30), dtype=np.float32) / 4
    v = np.arange(30, dtype=np.float32)
    func = tw.build(s, [A, V, C], target=target, name="f")
    (c,) = testing.run(func, [a, v], [((20, 30), "float32")])
    exact = np.exp(a.astype(np.float64) * 2 + np.arange(20)[:, None]) + v
    testing.assert_within(c, exact, 1e-5 * exact)
    if target == "sim":
        assert "memref.alloc" not in func.ir("loops")
    again = te.create_schedule(C.op)
    s.trace().apply(again)
    assert again.ir() == s.ir()


def test_reverse_compute_inline_refuses() -> None:
    s, args, C, D = gemm_with_epilogue(8, 8, 8)
    s[D].reverse_compute_inline()
    assert lowered(s, args) == (
        "reverse_compute_inline: expected an elementwise producer, got stage 'C', which reduces: use reverse_compute_at"
    )
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] * 2.0, name="B")
    C = te.compute((8,), lambda i: B[7 - i], name="C")
    s = te.create_schedule(C.op)
    s[C].reverse_compute_inline()
    assert lowered(s, [A, C]) == (
        "reverse_compute_inline: expected reads of stage 'B' at the stage's own axes in their order, got other indices: "
        "use compute_inline of stage 'B'"
    )
    k = te.reduce_axis((0, 8), "k")
    S = te.compute((1,), lambda i: te.sum(B[k], axis=k), name="S")
    s = te.create_schedule(S.op)
    s[S].reverse_compute_inline()
    assert lowered(s, [A, S]) == (
        "reverse_compute_inline: expected an elementwise stage, got 'S', which reduces: use compute_inline of stage 'B'"
    )
    E = te.compute((8,), lambda i: B[i] + 1.0, name="E")
    s = te.create_schedule([E.op, C.op])
    s[E].reverse_compute_inline()
    assert lowered(s, [A, E, C]) == (
        "reverse_compute_inline: expected the only reader of stage 'B', got another, stage 'C'"
    )
    s = te.create_schedule([E.op, B.op])
    s[E].reverse_compute_inline()
    assert lowered(s, [A, E, B]) == (
        "reverse_compute_inline: expected the only reader of stage 'B', got an output of the program"
    )
    assert refused(lambda: te.create_schedule(B.op)[B].reverse_compute_inline()) == (
        "reverse_compute_inline: expected stage 'B' to read one stage, got none"
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_decompose_reduction(target: str, at: int) -> None:
    """Before the loop over rows of a thread, before that over columns, and where it is anyway."""
    m, n, k = 12, 10, 30
    s, args, C, D = gemm_with_epilogue(m, n, k)
    io, ii = s[C].split(C.op.axis[0], factor=5)
    bind(s, C, blockIdx_x=io)
    bind(s, D, threadIdx_x=D.op.axis[0])
    loop = [ii, C.op.axis[1], C.op.reduce_axis[0]][at]
    s[C].decompose_reduction(loop)
    check_gemm(s, args, target, m, n, k)
    again = te.create_schedule(D.op)
    s.trace().apply(again)
    assert again.ir() == s.ir()


def test_decompose_reduction_refuses() -> None:
    s, args, C, D = gemm_with_epilogue(8, 8, 8)
    s[D].decompose_reduction(D.op.axis[0])
    assert lowered(s, args) == "decompose_reduction: expected a stage with a reduction, got 'D'"
    s, args, C, D = gemm_with_epilogue(8, 8, 8)
    _, ki = s[C].split(C.op.reduce_axis[0], factor=4)
    s[C].decompose_reduction(ki)
    assert lowered(s, args) == (
        "decompose_reduction: expected a loop around the whole reduction of stage 'C', got 'k.inner' inside its loop "
        "'k.outer'"
    )
    s[C].decompose_reduction(C.op.axis[0])
    s[C].bind(ki, te.thread_axis("threadIdx.x"))
    assert lowered(s, args) == (
        "decompose_reduction: expected a reduction by one thread, got axis 'k.inner' bound to threadIdx.x"
    )
    s, args, C, D = gemm_with_epilogue(8, 8, 8)
    s[C].decompose_reduction(C.op.axis[0])
    s[C].split(C.op.axis[0], factor=4)
    assert lowered(s, args) == (
        "decompose_reduction: expected a loop of stage 'C', got axis 'i', which was split afterwards"
    )
