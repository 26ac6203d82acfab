"""Programs built for the processor compute what NumPy computes in float64, and write every element of their outputs."""

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.runtime import host_program

POISON = 0xFF  # NaN as every float, -1 as an integer


def guarded(shape, dtype):
    """A poisoned array with at least 64 poisoned bytes on either side."""
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.full(size + 192, POISON, "u1")
    return np.ndarray(shape, dtype, memory, 64 + -memory.ctypes.data % 64)


def run(tensors, arrays, outputs):
    """Builds the program for the processor and runs it on poisoned outputs, which it returns."""
    f = tw.build(te.create_schedule([t.op for t in outputs]), [*tensors, *outputs], target="cpu", name="program")
    out = []
    for tensor in outputs:
        dtype = np.dtype(tensor.dtype)
        shape = tuple(int(str(extent)) for extent in tensor.shape)
        out.append(guarded(shape, dtype))
    f(*arrays, *out)
    for array in out:
        first = array.ctypes.data - array.base.ctypes.data
        around = np.delete(array.base, np.s_[first : first + array.nbytes])
        assert (around == POISON).all(), "written beside the output"
    return out if len(out) > 1 else out[0]


@pytest.fixture
def rng():
    return np.random.default_rng(7)


SIZES = [
    (1, 1, 1),
    (1, 17, 5),
    (3, 5, 7),
    (13, 1, 31),
    (17, 33, 29),
    (64, 64, 64),
    (65, 127, 63),
    (31, 100, 1),
    (5, 3, 257),
]


def matmul(m, n, k):
    a = te.placeholder((m, k), name="A")
    b = te.placeholder((k, n), name="B")
    r = te.reduce_axis((0, k), name="k")
    return a, b, te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")


@pytest.mark.sample(5)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_matmul(rng, size):
    m, n, k = size
    x, y = rng.standard_normal((m, k), "f4"), rng.standard_normal((k, n), "f4")
    a, b, c = matmul(m, n, k)
    np.testing.assert_allclose(run([a, b], [x, y], [c]), x.astype("f8") @ y.astype("f8"), rtol=1e-4, atol=1e-4)


def test_matmul_with_symbolic_extents(rng):
    m, n, k = te.var("m"), te.var("n"), te.var("k")
    a, b, c = matmul(m, n, k)
    f = tw.build(te.create_schedule(c.op), [a, b, c], target="cpu", name="program")
    for rows, columns, depth in SIZES:
        x, y = rng.standard_normal((rows, depth), "f4"), rng.standard_normal((depth, columns), "f4")
        z = np.full((rows, columns), np.nan, "f4")
        f(x, y, z)
        np.testing.assert_allclose(z, x.astype("f8") @ y.astype("f8"), rtol=1e-4, atol=1e-4)


@pytest.mark.sample(4)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_matmul_of_transposed(rng, size):
    m, n, k = size
    x, y = rng.standard_normal((m, k), "f4"), rng.standard_normal((n, k), "f4")
    a, b = te.placeholder((m, k), name="A"), te.placeholder((n, k), name="B")
    r = te.reduce_axis((0, k), name="k")
    c = te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[j, r], axis=r), name="C")
    np.testing.assert_allclose(run([a, b], [x, y], [c]), x.astype("f8") @ y.astype("f8").T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "channels, filters, size, stride", [(3, 5, 9, 1), (4, 16, 14, 1), (2, 17, 13, 2), (1, 1, 33, 1)]
)
def test_conv_with_padding(rng, channels, filters, size, stride):
    x, w = rng.standard_normal((channels, size, size), "f4"), rng.standard_normal((filters, channels, 3, 3), "f4")
    out = (size - 1) // stride + 1
    a, b = te.placeholder(x.shape, name="A"), te.placeholder(w.shape, name="W")
    padded = te.compute(
        (channels, size + 2, size + 2),
        lambda c, i, j: te.if_then_else(
            te.all(i >= 1, i < size + 1, j >= 1, j < size + 1), a[c, i - 1, j - 1], te.const(0, "float32")
        ),
        name="padded",
    )
    c, u, v = (te.reduce_axis((0, n), name=name) for n, name in ((channels, "c"), (3, "u"), (3, "v")))
    conv = te.compute(
        (filters, out, out),
        lambda f, i, j: te.sum(padded[c, i * stride + u, j * stride + v] * b[f, c, u, v], axis=[c, u, v]),
        name="conv",
    )
    wide = np.pad(x.astype("f8"), ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), axis=(1, 2))[:, ::stride, ::stride]
    expected = np.einsum("cijuv,fcuv->fij", windows, w.astype("f8"))
    np.testing.assert_allclose(run([a, b], [x, w], [conv]), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (7, 33), (16, 64), (3, 1000)], ids=str)
def test_row_softmax(rng, shape):
    m, n = shape
    x = (rng.standard_normal(shape, "f4") * 10).astype("f4")
    a = te.placeholder(shape, name="A")
    k, q = te.reduce_axis((0, n), name="k"), te.reduce_axis((0, n), name="q")
    top = te.compute((m,), lambda i: te.max(a[i, k], axis=k), name="top")
    e = te.compute(shape, lambda i, j: te.exp(a[i, j] - top[i]), name="e")
    total = te.compute((m,), lambda i: te.sum(e[i, q], axis=q), name="total")
    b = te.compute(shape, lambda i, j: e[i, j] / total[i], name="B")
    p = np.exp(x.astype("f8") - x.max(1, keepdims=True))
    np.testing.assert_allclose(run([a], [x], [b]), p / p.sum(1, keepdims=True), rtol=2e-5, atol=1e-9)


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (7, 33), (16, 64), (3, 1000)], ids=str)
def test_argmax(rng, shape):
    m, n = shape
    x = rng.integers(-9, 9, shape).astype("f4")
    a = te.placeholder(shape, name="A")

    def combine(p, q):
        first = te.any(p[1] > q[1], te.all(p[1] == q[1], p[0] < q[0]))
        return te.select(first, p[0], q[0]), te.select(first, p[1], q[1])

    argmax = te.comm_reducer(combine, lambda t0, t1: (te.max_value(t0), te.min_value(t1)), name="argmax")
    k = te.reduce_axis((0, n), name="k")
    at, value = te.compute((m,), lambda i: argmax((k, a[i, k]), axis=k), name="B")
    where, most = run([a], [x], [at, value])
    np.testing.assert_array_equal(where, x.argmax(1))
    np.testing.assert_array_equal(most, x.max(1))


@pytest.mark.sample(12)
@pytest.mark.parametrize("n", [1, 3, 15, 16, 17, 100, 1025])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int8", "uint8"])
def test_vector_add(rng, n, dtype):
    x, y = ((rng.standard_normal(n) * 40).astype("i4").astype(dtype) for _ in range(2))
    a, b = te.placeholder((n,), dtype=dtype, name="A"), te.placeholder((n,), dtype=dtype, name="B")
    np.testing.assert_array_equal(run([a, b], [x, y], [te.compute((n,), lambda i: a[i] + b[i], name="C")]), x + y)


@pytest.mark.parametrize("n", [1, 17, 64])
def test_bools(rng, n):
    x, y = rng.standard_normal(n, "f4"), rng.standard_normal(n, "f4")
    a, b = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")
    np.testing.assert_array_equal(run([a, b], [x, y], [te.compute((n,), lambda i: a[i] < b[i], name="C")]), x < y)


@pytest.mark.parametrize("n", [3, 17, 64])
def test_gather_transpose_and_reversal(rng, n):
    x = rng.standard_normal((n, n + 2), "f4")
    at = rng.integers(0, n, n + 1).astype("i4")
    a, i = te.placeholder(x.shape, name="A"), te.placeholder(at.shape, dtype="int32", name="I")
    rows = te.compute((n + 1, n + 2), lambda r, c: a[i[r], n + 1 - c], name="rows")
    turned = te.compute((n + 2, n), lambda r, c: a[c, r], name="turned")
    got, other = run([a, i], [x, at], [rows, turned])
    np.testing.assert_array_equal(got, x[at][:, ::-1])
    np.testing.assert_array_equal(other, x.T)


@pytest.mark.parametrize("reduction, dtype", [(r, d) for r in ("sum", "max", "min") for d in ("float32", "int32")])
def test_reduction_to_a_scalar_row_and_column(rng, reduction, dtype):
    x = (rng.standard_normal((19, 37)) * 50).astype(dtype)
    a = te.placeholder(x.shape, dtype=dtype, name="A")
    reduce = getattr(te, reduction)
    k, q = te.reduce_axis((0, 37), name="k"), te.reduce_axis((0, 19), name="q")
    by_row = te.compute((19,), lambda i: reduce(a[i, k], axis=k), name="by_row")
    by_column = te.compute((37,), lambda j: reduce(a[q, j], axis=q), name="by_column")
    for got, axis in zip(run([a], [x], [by_row, by_column]), (1, 0)):
        np.testing.assert_allclose(got, getattr(np, reduction)(x.astype("f8"), axis=axis), rtol=1e-4, atol=1e-4)


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    "dtype, wide", [("float16", "float32"), ("float64", "float64"), ("int8", "int32"), ("int32", "int32")]
)
@pytest.mark.parametrize("size", SIZES[:5], ids=str)
def test_matmul_of_other_types(rng, size, dtype, wide):
    m, n, k = size
    x, y = rng.integers(-3, 4, (m, k)).astype(dtype), rng.integers(-3, 4, (k, n)).astype(dtype)
    a, b = te.placeholder((m, k), dtype=dtype, name="A"), te.placeholder((k, n), dtype=dtype, name="B")
    r = te.reduce_axis((0, k), name="k")
    c = te.compute((m, n), lambda i, j: te.sum(a[i, r].astype(wide) * b[r, j].astype(wide), axis=r), name="C")
    np.testing.assert_array_equal(run([a, b], [x, y], [c]), x.astype("f8") @ y.astype("f8"))


def test_an_output_that_another_output_reads(rng):
    x = rng.standard_normal((5, 19), "f4")
    a = te.placeholder(x.shape, name="A")
    k = te.reduce_axis((0, 19), name="k")
    top = te.compute((5,), lambda i: te.max(a[i, k], axis=k), name="top")
    below = te.compute(x.shape, lambda i, j: a[i, j] - top[i], name="below")
    most, rest = run([a], [x], [top, below])
    np.testing.assert_array_equal(most, x.max(1))
    np.testing.assert_array_equal(rest, x - x.max(1, keepdims=True))


def test_division_happens_only_where_it_may(rng):
    x, y = rng.integers(-50, 50, 37).astype("i4"), rng.integers(0, 4, 37).astype("i4")
    a, b = te.placeholder((37,), dtype="int32", name="A"), te.placeholder((37,), dtype="int32", name="B")
    c = te.compute(
        (37,), lambda i: te.if_then_else(b[i] != 0, te.floordiv(a[i], b[i]), te.const(-99, "int32")), name="C"
    )
    np.testing.assert_array_equal(run([a, b], [x, y], [c]), np.where(y == 0, -99, x // np.where(y == 0, 1, y)))


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (1, 1), (3, 200), (17, 31)], ids=str)
def test_sums_of_symbolic_extents_even_none(rng, shape):
    m, n = te.var("m"), te.var("n")
    a = te.placeholder((m, n), name="A")
    k = te.reduce_axis((0, n), name="k")
    b = te.compute((m,), lambda i: te.sum(a[i, k], axis=k), name="B")
    f = tw.build(te.create_schedule(b.op), [a, b], target="cpu", name="program")
    x, y = rng.standard_normal(shape, "f4"), np.full(shape[0], np.nan, "f4")
    f(x, y)
    np.testing.assert_allclose(y, x.astype("f8").sum(1), rtol=1e-4, atol=1e-4)


@pytest.mark.sample(10)
@pytest.mark.parametrize(
    "wide, narrow",
    [("int64", "int8"), ("int64", "int16"), ("uint64", "uint32"), ("int32", "int8"), ("int32", "int16"),
     ("int16", "int8"), ("float32", "float8_e4m3fn"), ("float64", "float32")],
)  # fmt: skip
@pytest.mark.parametrize("columns", [9, 17, 33, 65])
def test_one_narrower_element_is_left_of_a_row(rng, wide, narrow, columns):
    """LLVM stores a whole vector where a mask leaves one lane of a truncated one."""
    x = rng.integers(0, 8, (3, columns)).astype(wide)
    a = te.placeholder(x.shape, dtype=wide, name="A")
    b = te.compute(x.shape, lambda i, j: a[i, j].astype(narrow), name="B")
    np.testing.assert_array_equal(run([a], [x], [b]).astype("f8"), x)


def test_loops_are_optimized_here():
    """In most other folders LLVM leaves them as they are, which is all that small programs need (conftest.py)."""
    assert host_program.optimizes
