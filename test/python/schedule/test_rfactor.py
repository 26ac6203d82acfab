"""rfactor: one reduction becomes two, on the simulator and the CPU, against NumPy in float64."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import ScheduleError, te, testing


def row_sums(m, n, reducer=te.sum, dtype="float32"):
    A = te.placeholder((m, n), name="A", dtype=dtype)
    k = te.reduce_axis((0, n), "k")
    B = te.compute((m,), lambda i: reducer(A[i, k], axis=k), name="B")
    return te.create_schedule(B.op), A, B


def check_sums(func, a, axis=1):
    exact = a.astype(np.float64)
    (b,) = testing.run(func, [a], [(exact.sum(axis=axis).shape, "float32")])
    bound = a.shape[axis] * testing.unit_roundoff("float32") * np.abs(exact).sum(axis=axis)
    testing.assert_within(b, exact.sum(axis=axis), bound)


def tutorial(m, n):
    """The row sum of TVM's tutorial on reductions."""
    s, A, B = row_sums(m, n)
    _, ki = s[B].split(B.op.reduce_axis[0], factor=16)
    BF = s.rfactor(B, ki)
    xo, xi = s[B].split(s[B].op.axis[0], factor=32)
    s[B].bind(xo, te.thread_axis("blockIdx.x"))
    s[B].bind(xi, te.thread_axis("threadIdx.y"))
    tx = te.thread_axis("threadIdx.x")
    s[B].bind(s[B].op.reduce_axis[0], tx)
    s[BF].compute_at(s[B], s[B].op.reduce_axis[0])
    return s, A, B, BF


@pytest.mark.parametrize("target", ["sim", "cpu"])
@pytest.mark.parametrize(("m", "n"), [(64, 128), (37, 125), (5, 7), (1, 16)])
def test_tvms_tutorial(target: str, m: int, n: int) -> None:
    s, A, B, _ = tutorial(m, n)
    a = np.random.default_rng(0).standard_normal((m, n), dtype=np.float32)
    check_sums(tw.build(s, [A, B], target=target, name="row_sum"), a)


def test_of_the_tutorial_comes_a_cubin() -> None:
    s, A, B, _ = tutorial(64, 125)
    assert "shfl.sync" in tw.build(s, [A, B], target="cuda -arch=sm_90a", name="row_sum").ptx


def test_axes_of_the_tutorial() -> None:
    s, _, B, BF = tutorial(64, 125)
    assert [axis.name for axis in BF.op.axis] == ["k.inner", "i"]
    assert [axis.name for axis in s[BF].op.reduce_axis] == ["k.outer"]
    assert [axis.name for axis in s[B].op.reduce_axis] == ["k.inner"]
    assert BF.shape == (16, 64)
    text = str(s)
    assert "B.rf[0, 0] += A[i.outer*32 + i.inner, t0] if t0 < 125 else 0.0" in text
    assert "for k.inner in range(16):  # threadIdx.x" in text


@pytest.mark.sample(5)
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8"])
@pytest.mark.parametrize(("reducer", "name"), [(te.sum, "sum"), (te.prod, "prod"), (te.max, "max"), (te.min, "min")])
def test_each_reducer_with_its_identity(reducer, name: str, dtype: str) -> None:
    """Odd extents: the elements beyond the end count as the identity. A stage of its own, through memory."""
    s, A, B = row_sums(6, 45, reducer, dtype)
    ko, _ = s[B].split(B.op.reduce_axis[0], factor=8)
    BF = s.rfactor(B, ko, factor_axis=-1)
    assert BF.shape == (6, 6)
    s[BF].bind(s[BF].op.axis[0], te.thread_axis("blockIdx.x"))
    s[BF].bind(s[BF].op.axis[1], te.thread_axis("threadIdx.x"))
    s[B].bind(s[B].op.axis[0], te.thread_axis("threadIdx.x"))
    a = np.random.default_rng(1).integers(1, 3, (6, 45)).astype(dtype)
    (b,) = testing.run(tw.build(s, [A, B], target="sim", name="reduced"), [a], [((6,), dtype)])
    exact = getattr(np, name)(a.astype(object), axis=1)
    modulus = 2 ** (8 * np.dtype(dtype).itemsize)
    wrapped = [int(one) % modulus if np.dtype(dtype).kind != "f" else float(one) for one in exact]
    np.testing.assert_array_equal(b, np.array(wrapped).astype(dtype))


@pytest.mark.parametrize("target", ["sim", "cpu"])
def test_column_sums(target: str) -> None:
    """Blocks of 32 columns, the rows of each distributed among 8 rows of threads, as the reader of 125 rows needs them."""
    m, n = 125, 70
    A = te.placeholder((m, n), name="A")
    k = te.reduce_axis((0, m), "k")
    B = te.compute((n,), lambda j: te.sum(A[k, j], axis=k), name="B")
    s = te.create_schedule(B.op)
    _, ki = s[B].split(B.op.reduce_axis[0], nparts=16)[::-1]
    BF = s.rfactor(B, ki)
    bx, tx = s[B].split(s[B].op.axis[0], factor=32)
    s[B].bind(bx, te.thread_axis("blockIdx.x"))
    s[B].bind(tx, te.thread_axis("threadIdx.x"))
    s[B].bind(s[B].op.reduce_axis[0], te.thread_axis("threadIdx.y"))
    s[BF].compute_at(s[B], s[B].op.reduce_axis[0])
    a = np.random.default_rng(2).standard_normal((m, n), dtype=np.float32)
    check_sums(tw.build(s, [A, B], target=target, name="column_sum"), a, axis=0)


@pytest.mark.parametrize("target", ["sim", "cpu"])
@pytest.mark.parametrize("n", [100, 96])
def test_argmax(target: str, n: int) -> None:
    m = 9
    A = te.placeholder((m, n), name="A")
    k = te.reduce_axis((0, n), "k")

    def combine(x, y):
        left = te.any(x[1] > y[1], te.all(x[1] == y[1], x[0] < y[0]))
        return te.select(left, x[0], y[0]), te.select(left, x[1], y[1])

    argmax = te.comm_reducer(combine, lambda i, v: (te.const(2**31 - 1, i), te.min_value(v)), name="argmax")
    index, value = te.compute((m,), lambda i: argmax((k, A[i, k]), axis=k), name="T")
    s = te.create_schedule(index.op)
    _, ki = s[index].split(index.op.reduce_axis[0], factor=32)
    factored = s.rfactor(index, ki)
    assert [one.dtype for one in factored] == ["int32", "float32"]
    s[index].bind(s[index].op.axis[0], te.thread_axis("blockIdx.x"))
    s[index].bind(s[index].op.reduce_axis[0], te.thread_axis("threadIdx.x"))
    s[factored[0]].compute_at(s[index], s[index].op.reduce_axis[0])
    func = tw.build(s, [A, index, value], target=target, name="argmax")
    a = np.random.default_rng(3).integers(0, 20, (m, n)).astype(np.float32)
    got, largest = testing.run(func, [a], [((m,), "int32"), ((m,), "float32")])
    np.testing.assert_array_equal(got, a.argmax(axis=1))
    np.testing.assert_array_equal(largest, a.max(axis=1))
    assert str(s.trace()).splitlines()[4] == "T_rf = s.rfactor(T, k_inner, factor_axis=0)"
    again = te.create_schedule(index.op)
    s.trace().apply(again)
    assert again.ir() == s.ir()


def test_several_axes_fused_split_and_left_alone() -> None:
    """p and q are fused and split; r is no part of it and stays whole. Neither split divides."""
    A = te.placeholder((3, 5, 7, 4), name="A")
    p, q, r = (te.reduce_axis((0, extent), name) for extent, name in ((5, "p"), (7, "q"), (4, "r")))
    B = te.compute((3,), lambda i: te.sum(A[i, p, q, r] * (p + 1).astype("float32"), axis=[p, q, r]), name="B")
    s = te.create_schedule(B.op)
    s[B].reorder(r, p, q)
    outer, inner = s[B].split(s[B].fuse(p, q), factor=8)
    _, low = s[B].split(inner, factor=3)
    BF = s.rfactor(B, low, factor_axis=1)
    assert [axis.name for axis in s[BF].op.reduce_axis] == ["r", "p.q.fused.outer", "p.q.fused.inner.outer"]
    assert s[BF].op.reduce_axis[1] is outer
    assert BF.shape == (3, 3)
    for stage in (B, BF):
        s[stage].bind(s[stage].op.axis[0], te.thread_axis("blockIdx.x"))
    again = te.create_schedule(B.op)
    s.trace().apply(again)
    assert again.ir() == s.ir()
    a = np.random.default_rng(4).integers(-9, 9, (3, 5, 7, 4)).astype(np.float32)
    (b,) = testing.run(tw.build(s, [A, B], target="sim", name="reduced"), [a], [((3,), "float32")])
    np.testing.assert_array_equal(b, np.einsum("ipqr,p->i", a, np.arange(1, 6)))


def test_the_whole_axis_leaves_no_reduction() -> None:
    s, A, B = row_sums(4, 10)
    BF = s.rfactor(B, B.op.reduce_axis[0])
    assert s[BF].op.reduce_axis == ()
    s[BF].bind(s[BF].op.axis[0], te.thread_axis("threadIdx.x"))
    s[B].bind(s[B].op.axis[0], te.thread_axis("threadIdx.x"))
    a = np.random.default_rng(5).standard_normal((4, 10), dtype=np.float32)
    check_sums(tw.build(s, [A, B], target="sim", name="row_sum"), a)


def test_twice_and_after_a_cache() -> None:
    s, A, B = row_sums(4, 1000)
    local = s.cache_write(B, "local")
    _, ki = s[local].split(s[local].op.reduce_axis[0], factor=100)
    F = s.rfactor(local, ki)
    _, kii = s[local].split(s[local].op.reduce_axis[0], factor=32)
    G = s.rfactor(local, kii)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[local].compute_at(s[B], B.op.axis[0])
    s[local].bind(s[local].op.reduce_axis[0], te.thread_axis("threadIdx.x"))
    s[G].compute_at(s[local], s[local].op.reduce_axis[0])
    s[F].compute_at(s[G], s[G].op.reduce_axis[0])
    a = np.random.default_rng(6).standard_normal((4, 1000), dtype=np.float32)
    check_sums(tw.build(s, [A, B], target="sim", name="row_sum"), a)


@pytest.mark.parametrize("by_parts", [False, True])
def test_symbolic_extents(by_parts: bool) -> None:
    n, m = te.var("n"), te.var("m")
    s, A, B = row_sums(m, n)
    ko, ki = s[B].split(B.op.reduce_axis[0], **({"nparts": 16} if by_parts else {"factor": 16}))
    BF = s.rfactor(B, ko if by_parts else ki)
    s[B].bind(s[B].op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(s[B].op.reduce_axis[0], te.thread_axis("threadIdx.x"))
    s[BF].compute_at(s[B], s[B].op.reduce_axis[0])
    func = tw.build(s, [A, B], target="sim", name="row_sum")
    for shape in ((3, 45), (1, 16), (2, 3)):
        check_sums(func, np.random.default_rng(7).standard_normal(shape, dtype=np.float32))


def refused(call) -> str:
    with pytest.raises(ScheduleError) as caught:
        call()
    return str(caught.value).split("rfactor: ", 1)[1].split("\n")[0]


def test_what_is_refused() -> None:
    s, A, B = row_sums(4, 64)
    ko, ki = s[B].split(B.op.reduce_axis[0], factor=16)
    assert refused(lambda: s.rfactor(B, B.op.axis[0])) == "expected a reduction axis of stage 'B', got 'i' of 'B'"
    assert refused(lambda: s.rfactor(B, B.op.reduce_axis[0])) == (
        "axis 'k' of stage 'B': expected a loop, got an axis that was already split"
    )
    assert refused(lambda: s.rfactor(B, ki, factor_axis=2)) == "expected a factor_axis from -2 to 1, got 2"
    assert refused(lambda: s.rfactor(A, ki)) == "expected a stage, got the input 'A', which is not computed"
    s[B].unroll(ko)
    assert refused(lambda: s.rfactor(B, ki)) == (
        "expected to stand before the loops of stage 'B' are used for more than to split and fuse its reduction axes"
    )
    C = te.compute((4, 64), lambda i, j: A[i, j] + 1.0, name="C")
    assert refused(lambda: te.create_schedule(C.op).rfactor(C, C.op.axis[0])) == (
        "expected a stage with a reduction, got 'C'"
    )


def test_the_axes_that_were_factored_are_gone() -> None:
    s, _, B = row_sums(4, 64)
    ko, ki = s[B].split(B.op.reduce_axis[0], factor=16)
    s.rfactor(B, ki)
    with pytest.raises(ScheduleError) as caught:
        s[B].unroll(ko)
    assert str(caught.value).endswith(
        "unroll: expected an axis of stage 'B' (i, k.inner), got 'k.outer' of stage 'B.rf'"
    )
    assert s.explain(ki).splitlines()[0].startswith("axis k.inner of stage B, ")


@pytest.mark.parametrize("target", ["sim", "cpu"])
def test_a_number_beside_singletons_of_other_stages(target: str) -> None:
    """The loop of one iteration that a number has is no loop of the reduction that is factored."""
    A = te.placeholder((96,), name="A")
    k = te.reduce_axis((0, 96), "k")
    total = te.compute((), lambda: te.sum(A[k], axis=k), name="total")
    Y = te.compute((), lambda: total() * 2.0, name="Y")
    s = te.create_schedule(Y.op)
    s[Y].bind(s[Y].fuse(), te.thread_axis("blockIdx.x"))
    _, inner = s[total].split(total.op.reduce_axis[0], factor=32)
    parts = s.rfactor(total, inner)
    for tensor in (parts, total):
        s[tensor].bind(s[tensor].fuse(*tensor.op.axis[:0]), te.thread_axis("blockIdx.x"))
    a = np.random.default_rng(0).integers(-9, 9, 96).astype("float32")
    (found,) = testing.run(tw.build(s, [A, Y], target=target, name="twice"), [a], [((), "float32")])
    assert float(found) == 2 * a.sum()
