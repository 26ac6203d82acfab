"""Programs that follow their schedule on the processor compute what NumPy computes, for every primitive."""

import numpy as np
import pytest

import tilewright as tw
from tilewright import te

SIZES = [(16, 16, 16), (33, 31, 29), (7, 64, 5), (1, 17, 40)]


@pytest.fixture(autouse=True)
def two_threads():
    tw.set_num_threads(2)
    yield
    tw.set_num_threads(None)


def matmul(m, n, k):
    a = te.placeholder((m, k), name="A")
    b = te.placeholder((k, n), name="B")
    r = te.reduce_axis((0, k), name="k")
    return a, b, te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")


def split(s, C):
    s[C].split(C.op.axis[0], factor=4)
    s[C].split(C.op.axis[1], nparts=3)
    s[C].split(C.op.reduce_axis[0], factor=5)


def reorder(s, C):
    s[C].reorder(C.op.reduce_axis[0], C.op.axis[1], C.op.axis[0])


def tile(s, C):
    io, jo, ii, ji = s[C].tile(*C.op.axis, 8, 8)
    ko, ki = s[C].split(C.op.reduce_axis[0], factor=4)
    s[C].reorder(io, jo, ko, ii, ki, ji)
    s[C].vectorize(ji)
    s[C].unroll(ki)


def fuse(s, C):
    s[C].parallel(s[C].fuse(*C.op.axis))


def parallel(s, C):
    s[C].parallel(C.op.axis[0])


def parallel_inside(s, C):
    s[C].reorder(C.op.reduce_axis[0], *C.op.axis)
    s[C].parallel(C.op.axis[1])


def parallel_twice(s, C):
    s[C].parallel(C.op.axis[0])
    s[C].parallel(C.op.axis[1])


def vectorize(s, C):
    s[C].reorder(C.op.axis[0], C.op.reduce_axis[0], C.op.axis[1])
    s[C].vectorize(C.op.axis[1])


def vectorize_parts(s, C):
    _, ji = s[C].split(C.op.axis[1], factor=6)
    s[C].reorder(C.op.axis[0], C.op.reduce_axis[0], ji)
    s[C].vectorize(ji)


def unroll(s, C):
    s[C].unroll(C.op.reduce_axis[0])
    s[C].unroll(C.op.axis[1])


def cache_write(s, C):
    W = s.cache_write(C, "global")
    io, jo, ii, ji = s[C].tile(*C.op.axis, 8, 8)
    s[W].compute_at(s[C], jo)
    i, j = s[W].op.axis
    (k,) = s[W].op.reduce_axis
    ko, ki = s[W].split(k, factor=4)
    s[W].reorder(ko, i, ki, j)
    s[W].unroll(ki)
    s[W].vectorize(j)
    s[C].vectorize(ji)
    s[C].parallel(io)


def cache_read(s, C):
    A, B = s[C].op.input_tensors
    io, jo, ii, ji = s[C].tile(*C.op.axis, 8, 8)
    s[s.cache_read(A, "local", [C])].compute_at(s[C], ii)
    s[s.cache_read(B, "shared", [C])].compute_at(s[C], jo)
    s[C].parallel(io)


def rfactor(s, C):
    _, ki = s[C].split(C.op.reduce_axis[0], factor=4)
    F = s.rfactor(C, ki)
    s[F].parallel(s[F].op.axis[0])


def storage_align(s, C):
    A, _ = s[C].op.input_tensors
    read = s.cache_read(A, "global", [C])
    s[read].storage_align(read.op.axis[0], 16, 3)
    s[read].compute_at(s[C], s[C].tile(*C.op.axis, 4, 4)[1])


def pragma(s, C):
    s[C].pragma(C.op.axis[1], "auto_unroll_max_step", 16)
    s[C].pragma(C.op.axis[0], "unroll_explicit", False)


def vthread(s, C):
    s[C].bind(s[C].split(C.op.axis[0], nparts=2)[0], te.thread_axis("vthread"))


def decompose(s, C):
    s[C].decompose_reduction(C.op.axis[1])
    s[C].parallel(C.op.axis[0])


def loop_partition(s, C):
    jo, ji = s[C].split(C.op.axis[1], factor=8)
    s[C].reorder(C.op.axis[0], jo, C.op.reduce_axis[0], ji)
    s[C].loop_partition(jo)
    s[C].vectorize(ji)


def prefetch(s, C):
    s[C].prefetch(s[C].op.input_tensors[0], C.op.axis[0], 1)


SCHEDULES = [
    split, reorder, tile, fuse, parallel, parallel_inside, parallel_twice, vectorize, vectorize_parts, unroll,
    cache_write, cache_read, rfactor, storage_align, pragma, vthread, decompose, loop_partition, prefetch,
]  # fmt: skip


@pytest.mark.sample(4)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_matmul(schedule, size):
    m, n, k = size
    A, B, C = matmul(m, n, k)
    s = te.create_schedule(C.op)
    schedule(s, C)
    f = tw.build(s, [A, B, C], "cpu")
    assert "loops" in f.stages and "scf.for" in f.ir("loops")
    rng = np.random.default_rng(5)
    a, b = rng.integers(-9, 9, (m, k)).astype("f4"), rng.integers(-9, 9, (k, n)).astype("f4")
    c = np.full((m, n), np.nan, "f4")
    f(a, b, c)
    np.testing.assert_array_equal(c, a @ b)


def test_stages_of_a_program_that_follows_its_schedule():
    A, B, C = matmul(16, 16, 16)
    s = te.create_schedule(C.op)
    tile(s, C)
    f = tw.build(s, [A, B, C], "cpu")
    assert f.stages == ("te", "schedule", "linalg", "loops", "host")
    text = f.ir("loops")
    assert "schedule.vectorize" in text and "schedule.unroll" in text
    again = tw.build(text, target="cpu", start="loops")
    assert again.stages == ("loops", "host")
    rng = np.random.default_rng(0)
    a, b, c = (rng.integers(-9, 9, (16, 16)).astype("f4") for _ in range(3))
    again(a, b, c)
    np.testing.assert_array_equal(c, a @ b)


def without(s, C):
    pass


def inlined(s, C):
    s[s[C].op.input_tensors[0]].compute_inline()


def bound(s, C):
    i, j = C.op.axis
    s[C].bind(i, te.thread_axis("blockIdx.x"))
    s[C].bind(j, te.thread_axis("threadIdx.x"))


@pytest.mark.parametrize("schedule", [without, inlined, bound])
def test_loops_of_the_compilers_own(schedule):
    """Where a schedule says nothing of loops, or speaks of a GPU."""
    A = te.placeholder((16, 24), name="A")
    B = te.compute((16, 24), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((16, 24), lambda i, j: B[i, j] * 2, name="C")
    s = te.create_schedule(C.op)
    schedule(s, C)
    f = tw.build(s, [A, C], "cpu")
    assert f.stages == ("te", "schedule", "linalg", "host")
    assert ("linalg.generic" in f.ir("linalg")) and (
        f.ir("linalg").count("linalg.generic") == 2 - (schedule is inlined)
    )
    message = (
        r"expected a stage of this program \(te, schedule, linalg, host\), got 'loops': target cpu has loops of a "
        r"schedule only where one changes the loops and binds none to a GPU's blocks or threads"
    )
    with pytest.raises(ValueError, match=message):
        tw.lower(s, [A, C], stage="loops", target="cpu")
    a = np.arange(16 * 24, dtype="f4").reshape(16, 24)
    c = np.empty_like(a)
    f(a, c)
    np.testing.assert_array_equal(c, (a + 1) * 2)


def test_loops_bound_to_threads_are_refused():
    A = te.placeholder((16,), name="A")
    B = te.compute((16,), lambda i: A[i] + 1, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    text = str(tw.lower(s, [A, B], stage="loops"))
    with pytest.raises(tw.CompileError, match="expected loops for target cpu, got a loop bound to threadIdx.x"):
        tw.build(text, target="cpu", start="loops")


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int8", "int32", "uint8", "bool"])
def test_dtypes(dtype):
    import ml_dtypes

    numpy_dtype = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    A = te.placeholder((37, 50), name="A", dtype=dtype)
    if dtype == "bool":
        B = te.compute(
            (37, 50), lambda i, j: te.if_then_else(A[i, j], te.const(0, "bool"), te.const(1, "bool")), name="B"
        )
    else:
        B = te.compute((37, 50), lambda i, j: A[i, j] + A[i, j], name="B")
    s = te.create_schedule(B.op)
    _, ji = s[B].split(B.op.axis[1], factor=16)
    s[B].vectorize(ji)
    s[B].parallel(B.op.axis[0])
    f = tw.build(s, [A, B], "cpu")
    a = np.random.default_rng(3).integers(0, 2 if dtype == "bool" else 50, (37, 50)).astype(numpy_dtype)
    b = np.zeros_like(a)
    f(a, b)
    np.testing.assert_array_equal(b, ~a if dtype == "bool" else a + a)


def test_symbolic_extents():
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    B = te.compute((n, m), lambda i, j: A[i, j] * 3, name="B")
    s = te.create_schedule(B.op)
    io, ii = s[B].split(B.op.axis[0], factor=5)
    s[B].unroll(ii)
    s[B].vectorize(B.op.axis[1])
    s[B].parallel(io)
    f = tw.build(s, [A, B], "cpu")
    for shape in ((1, 1), (4, 16), (17, 33), (0, 5), (64, 100)):
        a = np.random.default_rng(3).standard_normal(shape, "f4")
        b = np.full(shape, np.nan, "f4")
        f(a, b)
        np.testing.assert_array_equal(b, a * 3)


@pytest.mark.parametrize("extent", [2, 3, 5, 16, 63, 64, 65, 100, 128, 130, 1000])
def test_vectors_of_any_length(extent):
    A = te.placeholder((3, extent), name="A")
    B = te.compute((3, extent), lambda i, j: te.exp(A[i, j]) + j.astype("float32"), name="B")
    s = te.create_schedule(B.op)
    s[B].vectorize(B.op.axis[1])
    f = tw.build(s, [A, B], "cpu")
    a = np.random.default_rng(3).standard_normal((3, extent), "f4")
    b = np.full_like(a, np.nan)
    f(a, b)
    np.testing.assert_allclose(b, np.exp(a.astype("f8")) + np.arange(extent), rtol=1e-6)


def test_strided_arguments():
    A = te.placeholder((8, 12), name="A")
    B = te.compute((8, 12), lambda i, j: A[i, j] + 1, name="B")
    s = te.create_schedule(B.op)
    s[B].parallel(B.op.axis[0])
    s[B].vectorize(B.op.axis[1])
    f = tw.build(s, [te.strided(A, (te.var("ld"), 1)), te.strided(B, (te.var("le"), 1))], "cpu")
    a, b = np.arange(8 * 20, dtype="f4").reshape(8, 20), np.zeros((8, 17), "f4")
    f(a[:, :12], b[:, :12])
    np.testing.assert_array_equal(b[:, :12], a[:, :12] + 1)
    assert (b[:, 12:] == 0).all()


def test_large_local_buffers_are_on_the_heap():
    n = 1 << 16
    A = te.placeholder((4, n), name="A")
    B = te.compute((4, n), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((4, n), lambda i, j: B[i, n - 1 - j] * 2, name="C")
    s = te.create_schedule(C.op)
    s[B].set_scope("local")
    s[B].compute_at(s[C], C.op.axis[0])
    s[C].parallel(C.op.axis[0])
    f = tw.build(s, [A, C], "cpu")
    a = np.random.default_rng(3).standard_normal((4, n), "f4")
    c = np.empty_like(a)
    f(a, c)
    np.testing.assert_array_equal(c, (a[:, ::-1] + 1) * 2)


def test_scan_follows_its_schedule():
    m, n = 9, 40
    X = te.placeholder((m, n), name="X")
    state = te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    update = te.compute((m, n), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    scan = te.scan(init, update, state, inputs=[X], name="scan")
    s = te.create_schedule(scan.op)
    s[init].vectorize(init.op.axis[1])
    s[update].parallel(update.op.axis[1])
    f = tw.build(s, [X, scan], "cpu")
    assert "loops" in f.stages
    x = np.random.default_rng(3).integers(-9, 9, (m, n)).astype("f4")
    got = np.empty_like(x)
    f(x, got)
    np.testing.assert_array_equal(got, np.cumsum(x, axis=0))


def test_extern_beside_a_schedule():
    A = te.placeholder((32,), name="A")
    B = te.compute((32,), lambda i: A[i] + 1, name="B")

    def twice(ins, outs):
        ib = tw.tir.ir_builder.create()
        source, target = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        kept = ib.allocate("float32", (32,), name="kept")
        with ib.for_range(0, 32, name="i") as i:
            kept[i] = source[i] * 2.0
            target[i] = kept[i]
        return ib.get()

    C = te.extern((32,), [B], twice, name="C", dtype="float32")
    s = te.create_schedule(C.op)
    s[B].vectorize(s[B].split(B.op.axis[0], factor=8)[1])
    f = tw.build(s, [A, C], "cpu")
    a = np.arange(32, dtype="f4")
    c = np.empty_like(a)
    f(a, c)
    np.testing.assert_array_equal(c, (a + 1) * 2)


def gemv(m, n):
    """The intrinsic of the tutorial: a matrix by a vector."""
    a, b = te.placeholder((n,), name="a"), te.placeholder((m, n), name="b")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((m,), lambda i: te.sum(a[k] * b[i, k], axis=k), name="c")

    def intrinsic(ins, outs):
        def body(reset, update):
            ib = tw.tir.ir_builder.create()
            x, y, z = ib.buffer_ptr(ins[0]), ib.buffer_ptr(ins[1]), ib.buffer_ptr(outs[0])
            with ib.for_range(0, m, name="i") as i:
                if reset:
                    z[i] = 0.0
                if update:
                    with ib.for_range(0, n, name="k") as k:
                        z[i] = z[i] + x[k] * y[i * n + k]
            return ib.get()

        return body(True, True), body(True, False), body(False, True)

    return te.decl_tensor_intrin(c.op, intrinsic, name="gemv")


def test_tensorize():
    m, n, k = 12, 16, 24
    A, B = te.placeholder((m, k), name="A"), te.placeholder((n, k), name="B")
    r = te.reduce_axis((0, k), name="k")
    C = te.compute((m, n), lambda i, j: te.sum(A[i, r] * B[j, r], axis=r), name="C")
    s = te.create_schedule(C.op)
    i, j = C.op.axis
    jo, ji = s[C].split(j, factor=8)
    ro, ri = s[C].split(r, factor=8)
    s[C].reorder(i, jo, ro, ji, ri)
    s[C].tensorize(ji, gemv(8, 8))
    s[C].parallel(i)
    f = tw.build(s, [A, B, C], "cpu")
    assert "loops" in f.stages
    rng = np.random.default_rng(5)
    a, b = rng.integers(-9, 9, (m, k)).astype("f4"), rng.integers(-9, 9, (n, k)).astype("f4")
    c = np.full((m, n), np.nan, "f4")
    f(a, b, c)
    np.testing.assert_array_equal(c, a @ b.T)
