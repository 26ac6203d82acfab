"""Bools and narrow floats in kernels: the simulator agrees with NumPy and ml_dtypes to the bit, and cubins come out."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from tilewright import te

CUDA = tw.Target("cuda", arch="sm_75")  # what this has, every architecture has
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NaNs and infinities are among the values
NARROW = ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"]


def numpy_dtype(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name, name))


def elementwise(function, *dtypes: str, n: int, lanes: int = 1):
    """A program of one stage over `n` elements, 64 threads a block with `lanes` elements each."""
    inputs = [te.placeholder((n,), dtype, name=f"A{i}") for i, dtype in enumerate(dtypes)]
    B = te.compute((n,), lambda i: function(*(a[i] for a in inputs)), name="B")
    s = te.create_schedule(B.op)
    block, inner = s[B].split(B.op.axis[0], factor=64 * lanes)
    thread, lane = s[B].split(inner, factor=lanes)
    s[B].bind(block, te.thread_axis("blockIdx.x"))
    s[B].bind(thread, te.thread_axis("threadIdx.x"))
    s[B].vectorize(lane)
    return s, [*inputs, B]


def run(function, *arrays: np.ndarray, lanes: int = 1) -> np.ndarray:
    """What the simulator computes of `arrays`; the same program must also become a cubin."""
    s, tensors = elementwise(function, *(a.dtype.name for a in arrays), n=len(arrays[0]), lanes=lanes)
    assert tw.build(s, tensors, target=CUDA).cubin
    out = np.zeros(len(arrays[0]), numpy_dtype(tensors[-1].dtype))
    tw.build(s, tensors, target="sim")(*arrays, out)
    return out


def assert_same(got: np.ndarray, expected: np.ndarray) -> None:
    """The same bits, but for NaNs, which are all one."""
    assert got.dtype == expected.dtype
    wide, wanted = got.astype("f8"), expected.astype("f8")
    same = (wide == wanted) & (np.signbit(wide) == np.signbit(wanted)) | np.isnan(wide) & np.isnan(wanted)
    assert same.all(), (np.flatnonzero(~same)[:5], got[~same][:5], expected[~same][:5])


def all_values(name: str) -> np.ndarray:
    """Every value of a type of 8 or 16 bits."""
    dtype = numpy_dtype(name)
    return np.arange(1 << 8 * dtype.itemsize, dtype=f"u{dtype.itemsize}").view(dtype)


def values_to_round(name: str, to: str) -> np.ndarray:
    """Values of f32 or f64 from which rounding to `to` is hard: ties, their neighbours, the ends of its range."""
    dtype, narrow = np.dtype(name), all_values(to).astype(name)
    finite = np.unique(narrow[np.isfinite(narrow)])
    middle = (finite[1:] + finite[:-1]) / dtype.type(2)
    ends = np.float64(
        [2.0, 448.0, 464.0, 480.0, 57344.0, 61440.0, 65504.0, 65520.0, 3.4e38, np.inf, np.nan, 0.0, 1e-30]
    ).astype(name)
    near = np.concatenate([finite, middle, ends, -ends])
    values = np.concatenate([near, np.nextafter(near, dtype.type(np.inf)), np.nextafter(near, -dtype.type(np.inf))])
    random = np.random.default_rng(3).integers(0, 1 << 32, 4096, "u4").view("f4").astype(name)
    values = np.concatenate([values, random])
    return np.resize(values, -(-len(values) // 1024) * 1024)


def rounded(values: np.ndarray, to: str) -> np.ndarray:
    """`values` rounded once. ml_dtypes rounds an f64 to f32 first: here to odd, which does no harm."""
    near = values.astype("f4")
    if values.dtype == np.float64:
        inexact = np.isfinite(values) & (near.astype("f8") != values)
        bits = near.view("u4") - (inexact & (np.abs(near.astype("f8")) > np.abs(values))) | inexact
        near = bits.astype("u4").view("f4")
    return near.astype(numpy_dtype(to))


@pytest.mark.sample(5)
@pytest.mark.parametrize("lanes", [1, 4, 16])
@pytest.mark.parametrize("dtype", NARROW)
def test_widening(dtype: str, lanes: int) -> None:
    values = np.resize(all_values(dtype), 1024) if numpy_dtype(dtype).itemsize == 1 else all_values(dtype)
    assert_same(run(lambda x: x.astype("float32"), values, lanes=lanes), values.astype("f4"))


@pytest.mark.sample(6)
@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("to", NARROW)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_narrowing(dtype: str, to: str, lanes: int) -> None:
    values = values_to_round(dtype, to)
    assert_same(run(lambda x: x.astype(to), values, lanes=lanes), rounded(values, to))


@pytest.mark.parametrize("source, to", [("float16", "float8_e4m3fn"), ("bfloat16", "float8_e5m2"), ("float16", "bfloat16"),  # noqa: E501
                                        ("bfloat16", "float16"), ("float8_e5m2", "float8_e4m3fn")])  # fmt: skip
def test_between_narrow_types(source: str, to: str) -> None:
    values = np.resize(all_values(source), max(1024, len(all_values(source))))
    assert_same(run(lambda x: x.astype(to), values), rounded(values, to))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("lanes", [1, 8])
def test_arithmetic_rounds_after_each_operation(dtype: str, lanes: int) -> None:
    rng = np.random.default_rng(5)
    x, y = (rng.standard_normal(1024).astype(numpy_dtype(dtype)) for _ in range(2))
    assert_same(run(lambda a, b: a / b - b, x, y, lanes=lanes), x / y - y)


def test_scaled_storage() -> None:
    """A product of f8 by f8, accumulated in f32, as quantised layers have it."""
    rng = np.random.default_rng(6)
    a = rng.standard_normal((32, 48)).astype(ml_dtypes.float8_e4m3fn)
    b = rng.standard_normal((48, 16)).astype(ml_dtypes.float8_e5m2)
    A, B = te.placeholder((32, 48), "float8_e4m3fn", "A"), te.placeholder((48, 16), "float8_e5m2", "B")
    k = te.reduce_axis((0, 48), "k")
    C = te.compute(
        (32, 16), lambda i, j: te.sum(A[i, k].astype("float32") * B[k, j].astype("float32"), axis=k), name="C"
    )
    s = te.create_schedule(C.op)
    shared = s.cache_read(A, "shared", [C])
    i, j = C.op.axis
    s[C].bind(i, te.thread_axis("blockIdx.x"))
    s[C].bind(j, te.thread_axis("threadIdx.x"))
    s[shared].compute_at(s[C], i)
    fetch, thread = s[shared].split(s[shared].op.axis[1], factor=16)
    s[shared].bind(thread, te.thread_axis("threadIdx.x"))
    assert tw.build(s, [A, B, C], target=CUDA).cubin
    c = np.zeros((32, 16), "f4")
    tw.build(s, [A, B, C], target="sim")(a, b, c)
    np.testing.assert_allclose(c, a.astype("f8") @ b.astype("f8"), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("lanes", [1, 4, 16])
def test_bools(lanes: int) -> None:
    rng = np.random.default_rng(8)
    x, y = rng.standard_normal((2, 1024)).astype("f4")
    p, q = rng.integers(0, 2, (2, 1024)).astype(bool)
    with_bools = [
        (lambda a, b, c, d: a < b, x < y),
        (lambda a, b, c, d: te.all(c, d), p & q),
        (lambda a, b, c, d: te.any(c, d, a > 0.5), p | q | (x > 0.5)),
        (lambda a, b, c, d: te.select(c, a, b), np.where(p, x, y)),
        (lambda a, b, c, d: te.select(c, d, a > b), np.where(p, q, x > y)),
        (lambda a, b, c, d: c.astype("int32") + d.astype("int32"), p.astype("i4") + q),
    ]
    for function, expected in with_bools:
        assert_same(run(function, x, y, p, q, lanes=lanes), expected)


def test_any_byte_but_0_is_true() -> None:
    bytes_ = np.arange(256, dtype="u1")
    got = run(lambda x: te.select(x, te.const(1.0), te.const(0.0)), bytes_.view(bool))
    np.testing.assert_array_equal(got, (bytes_ != 0).astype("f4"))


def test_bools_in_shared_memory_and_between_kernels() -> None:
    x = np.random.default_rng(9).standard_normal((16, 64)).astype("f4")
    A = te.placeholder((16, 64), name="A")
    positive = te.compute((16, 64), lambda i, j: A[i, j] > 0.0, name="positive")
    r = te.reduce_axis((0, 64), "r")
    count = te.compute((16, 64), lambda i, j: te.sum(te.select(positive[i, r], 1.0, 0.0), axis=r), name="count")
    expected = np.repeat((x > 0).sum(1, keepdims=True), 64, axis=1).astype("f4")
    for inside in (False, True):
        s = te.create_schedule(count.op)
        for stage in ([] if inside else [positive]) + [count]:
            s[stage].bind(stage.op.axis[0], te.thread_axis("blockIdx.x"))
            s[stage].bind(stage.op.axis[1], te.thread_axis("threadIdx.x"))
        if inside:
            s[positive].set_scope("shared")
            s[positive].compute_at(s[count], count.op.axis[0])
            s[positive].bind(positive.op.axis[1], te.thread_axis("threadIdx.x"))
        assert tw.build(s, [A, count], target=CUDA).cubin
        out = np.zeros((16, 64), "f4")
        tw.build(s, [A, count], target="sim")(x, out)
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("arch", ["sm_75", "sm_90a"])
@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "uint8", "bool", "int16", "float32"]
)
def test_vectors_are_accessed_at_once(dtype: str, arch: str) -> None:
    """16 bytes a thread are one load and one store of four words."""
    lanes = 16 // numpy_dtype(dtype).itemsize
    s, tensors = elementwise(lambda x: x, dtype, n=4096, lanes=lanes)
    ptx = tw.build(s, tensors, target=tw.Target("cuda", arch=arch)).ptx
    accesses = re.findall(r"\b(?:ld|st)\.global\S*", ptx)
    assert accesses == ["ld.global.nc.v4.b32", "st.global.v4.b32"]
