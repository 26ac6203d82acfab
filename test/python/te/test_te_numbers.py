"""What numbers mean: one meaning on all targets, as an element and as an index, at the edges of each type."""

from __future__ import annotations

import inspect
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from tilewright import te

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

CPU, SIM = tw.Target("cpu"), tw.Target("sim", checks=False)
TARGETS = pytest.mark.parametrize("target", [CPU, SIM], ids=["cpu", "sim"])
SIGNED = ("int8", "int16", "int32", "int64")
INTEGERS = (*SIGNED, "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")


def kind_of(dtype: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, dtype, dtype))


def computed(function: Any, *arrays: Any, target: Any, count: int | None = None) -> Any:
    """`function` of an index and the tensors."""
    count = len(arrays[0]) if count is None else count
    inputs = [te.placeholder(each.shape, each.dtype.name, name=f"X{i}") for i, each in enumerate(arrays)]
    Y = te.compute((count,), lambda i: function(i, *inputs), name="Y")
    s = te.create_schedule(Y.op)
    block, thread = s[Y].split(Y.op.axis[0], factor=64)
    s[Y].bind(block, te.thread_axis("blockIdx.x"))
    s[Y].bind(thread, te.thread_axis("threadIdx.x"))
    out = np.empty(count, kind_of(Y.dtype))
    tw.build(s, [*inputs, Y], target)(*arrays, out)
    return out


def of_elements(function: Any, *arrays: Any, target: Any) -> Any:
    return computed(lambda i, *tensors: function(*(one[i] for one in tensors)), *arrays, target=target)


def pairs(values: Any) -> tuple[Any, Any]:
    return np.repeat(values, len(values)), np.tile(values, len(values))


def edges(dtype: str) -> Any:
    info = np.iinfo(dtype)
    numbers = {0, 1, 2, 3, 7, 100, info.max, info.max - 1, info.min, info.min + 1}
    numbers |= {-1, -2, -7, -100} if info.min else set()
    return np.array(sorted(numbers), dtype)


def wrapped(numbers: list[int], dtype: str) -> Any:
    info = np.iinfo(dtype)
    return np.array([(each - info.min) % (1 << info.bits) + info.min for each in numbers], dtype)


def truncdiv(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


DIVISIONS = {
    "floordiv": lambda a, b: a // b,
    "floormod": lambda a, b: a % b,
    "truncdiv": truncdiv,
    "truncmod": lambda a, b: a - truncdiv(a, b) * b,
}


# Integers.


@pytest.mark.sample(4)
@TARGETS
@pytest.mark.parametrize("dtype", INTEGERS)
def test_every_division_has_a_result(dtype: str, target: Any) -> None:
    """By zero all bits are set; the least number divided by -1 wraps around. The process goes on."""
    x, y = pairs(edges(dtype))
    a, b = ([int(each) for each in side] for side in (x, y))
    for name, exact in DIVISIONS.items():
        expected = wrapped([-1 if q == 0 else exact(p, q) for p, q in zip(a, b)], dtype)
        got = of_elements(getattr(te, name), x, y, target=target)
        np.testing.assert_array_equal(got, expected, err_msg=name)


@TARGETS
def test_a_select_guards_a_division(target: Any) -> None:
    x, y = pairs(edges("int32"))
    for choose in (te.select, te.if_then_else):
        got = of_elements(lambda a, b, choose=choose: choose(b != 0, te.truncdiv(a, b), 5), x, y, target=target)
        expected = wrapped([5 if q == 0 else truncdiv(p, q) for p, q in zip(x.tolist(), y.tolist())], "int32")
        np.testing.assert_array_equal(got, expected)


@TARGETS
def test_extents_and_indices_divided_by_zero(target: Any) -> None:
    """A number that a call gives may be zero, in a grid, too."""
    n, by = te.var("n"), te.var("by")
    A = te.placeholder((n,), "int32", name="A")
    B = te.compute((n,), lambda i: te.if_then_else(by > 0, A[te.indexdiv(i, by)], -1), name="B")
    s = te.create_schedule(B.op)
    s[B].bind(s[B].split(B.op.axis[0], factor=8)[0], te.thread_axis("blockIdx.x"))
    function = tw.build(s, [by, A, B], target)
    a, b = np.arange(20, dtype="int32"), np.empty(20, "int32")
    function(3, a, b)
    np.testing.assert_array_equal(b, a // 3)
    function(0, a, b)
    assert (b == -1).all()


def test_the_simulator_reports_a_division_by_zero() -> None:
    a, b = np.array([5, 6, 7, 8], "int32"), np.array([1, 0, 2, 0], "int32")
    line = 0

    def quotient(x: Any, y: Any) -> Any:
        nonlocal line
        line = inspect.currentframe().f_lineno + 1
        return x // y

    with pytest.raises(tw.SimulationError) as caught:
        of_elements(quotient, a, b, target="sim")
    assert str(caught.value) == (
        f"{__file__}:{line}: division of integers by zero, by thread (1, 0, 0) of block (0, 0, 0) in main_kernel0 "
        "(1 more like this)"
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: te.select(b != 0, te.truncdiv(a, b), 0),
        lambda a, b: te.select(b == 0, 0, te.floormod(a, b) + 1),
        lambda a, b: te.if_then_else(b != 0, te.floordiv(a, b), 0),
        lambda a, b: te.all(b != 0, te.truncmod(a, b) == 1).astype("int32"),
        lambda a, b: te.any(b == 0, te.truncmod(a, b) == 1).astype("int32"),
        lambda a, b: te.select(a > 6, te.select(b != 0, te.truncdiv(a, b), 1), te.select(b != 0, te.truncdiv(a, b), 2)),
    ],
)
def test_what_is_discarded_is_no_division_by_zero(function: Any) -> None:
    a, b = np.array([5, 6, 7, 8], "int32"), np.array([1, 0, 2, 0], "int32")
    got = of_elements(function, a, b, target="sim")
    np.testing.assert_array_equal(got, of_elements(function, a, b, target="cpu"))


def test_one_use_among_several_is_a_division_by_zero() -> None:
    def twice(a: Any, b: Any) -> Any:
        quotient = te.truncdiv(a, b)
        return te.select(b != 0, quotient, 0) + quotient

    a, b = np.array([5, 6], "int32"), np.array([1, 0], "int32")
    with pytest.raises(tw.SimulationError, match="division of integers by zero"):
        of_elements(twice, a, b, target="sim")


@pytest.mark.parametrize("lanes", [2, 4])
def test_lanes_divide_by_zero(lanes: int) -> None:
    A, B = (te.placeholder((16,), "int32", name=name) for name in "AB")
    C = te.compute((16,), lambda i: te.select(B[i] > 0, te.truncdiv(A[i], B[i]), 7), name="C")
    D = te.compute((16,), lambda i: te.truncdiv(A[i], B[i]), name="D")
    for Y, is_reported in ((C, False), (D, True)):
        s = te.create_schedule(Y.op)
        thread, lane = s[Y].split(Y.op.axis[0], factor=lanes)
        s[Y].bind(thread, te.thread_axis("threadIdx.x"))
        s[Y].vectorize(lane)
        a, b, out = np.arange(16, dtype="int32"), np.arange(16, dtype="int32") % 4, np.empty(16, "int32")
        expected = np.where(b == 0, 7 if Y is C else -1, a // np.maximum(b, 1))
        if is_reported:
            with pytest.raises(tw.SimulationError, match="division of integers by zero"):
                tw.build(s, [A, B, Y], "sim")(a, b, out)
            tw.build(s, [A, B, Y], SIM)(a, b, out)
        else:
            tw.build(s, [A, B, Y], "sim")(a, b, out)
        np.testing.assert_array_equal(out, expected)


def test_a_known_divisor_costs_nothing() -> None:
    def ptx(function: Any) -> str:
        A = te.placeholder((32,), "int32", name="A")
        B = te.compute((32,), lambda i: function(A[i]), name="B")
        s = te.create_schedule(B.op)
        s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
        return tw.build(s, [A, B], tw.Target("cuda", arch="sm_90a")).ptx

    assert "selp" not in ptx(lambda x: te.truncdiv(x, 7)) and "setp" not in ptx(lambda x: te.truncmod(x, 7))
    assert "selp" not in ptx(lambda x: x << 3) and "selp" not in ptx(lambda x: x >> 3)
    assert "selp" in ptx(lambda x: te.truncdiv(7, x)), "what is unknown is asked"


@pytest.mark.sample(6)
@TARGETS
@pytest.mark.parametrize("dtype", INTEGERS)
def test_every_shift_has_a_result(dtype: str, target: Any) -> None:
    """NumPy's: by the width or more nothing is left but the sign, and a negative number counts as more."""
    bits = np.iinfo(dtype).bits
    amounts = np.array([0, 1, bits - 1, bits, bits + 1, 100, *([-1, -100] if dtype[0] == "i" else [255])], dtype)
    values = edges(dtype)
    x, y = np.repeat(values, len(amounts)), np.tile(amounts, len(values))
    np.testing.assert_array_equal(of_elements(te.left_shift, x, y, target=target), x << y)
    np.testing.assert_array_equal(of_elements(te.right_shift, x, y, target=target), x >> y)


@pytest.mark.sample(2)
@TARGETS
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_float_becomes_an_integer(dtype: str, target: Any) -> None:
    """Towards zero; beyond the type its nearest number, NaN is 0."""
    numbers = [0.0, -0.5, 0.99, 1.5, -1.5, 126.9, 127.9, 128.0, -128.9, -129.0, 255.9, 256.0, 32767.9, 65535.0, 65536.0,
               2.0**31 - 1, 2.0**31, -(2.0**31), 2.0**32, 2.0**63, -(2.0**63), 2.0**64, 1e300, -1e300, np.inf, -np.inf, np.nan]  # fmt: skip
    x = np.array(numbers).astype(kind_of(dtype))
    for to in INTEGERS:
        info = np.iinfo(to)
        clamp = [
            0 if v != v else info.max if v > info.max else info.min if v < info.min else int(v) for v in map(float, x)
        ]
        got = of_elements(lambda a, to=to: a.astype(to), x, target=target)
        assert got.tolist() == clamp, to


# An index and an element are one number.


@pytest.mark.sample(3)
@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"])
def test_data_in_an_index_wraps_around_in_its_type(dtype: str, target: str) -> None:
    rng = np.random.default_rng(1)
    info = np.iinfo(dtype)
    p = np.concatenate([edges(dtype), rng.integers(info.min, info.max, 64, dtype, endpoint=True)])
    a = np.arange(256, dtype="float32")
    cases = {
        "times": lambda p: (p * 3) % 7,
        "plus": lambda p: (p + 100) % 101,
        "minus": lambda p: (p - 100) % 101,
        "squared": lambda p: (p * p) % 113,
        "quotient": lambda p: (p * 5 // 3) % 100,
    }
    for name, index in cases.items():
        expected = index(p.copy()).astype("int64")
        got = computed(lambda i, a, p, index=index: a[index(p[i])], a, p, target=target, count=len(p))
        np.testing.assert_array_equal(got, a[expected], err_msg=name)
        element = computed(lambda i, a, p, index=index: index(p[i]), a, p, target=target, count=len(p))
        np.testing.assert_array_equal(element, expected, err_msg=name)


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_an_axis_in_a_narrow_type_wraps_around(target: str) -> None:
    a = np.arange(300, dtype="float32")
    i = np.arange(200)
    cases = {
        "int8": (lambda i: (i * 5).astype("int8").astype("int32") + 128, (i * 5).astype("int8").astype("int32") + 128),
        "alone": (lambda i: te.max((i + 100).astype("int8"), te.const(0, "int8")), np.maximum((i + 100).astype("int8"), 0)),
        "uint8": (lambda i: (i * 5).astype("uint8"), (i * 5).astype("uint8")),
        "mixed": (lambda i: (i.astype("int8") * te.const(3, "int8")) % te.const(100, "int8"), (i.astype("int8") * np.int8(3)) % np.int8(100)),
    }  # fmt: skip
    for name, (index, expected) in cases.items():
        got = computed(lambda i, A, index=index: A[index(i)], a, target=target, count=200)
        np.testing.assert_array_equal(got, a[expected.astype("int64")], err_msg=name)
        element = computed(lambda i, A, index=index: index(i).astype("int32"), a, target=target, count=200)
        np.testing.assert_array_equal(element, expected.astype("int32"), err_msg=name)


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_a_large_axis_as_an_element_wraps_around_as_int32(target: str) -> None:
    i = np.arange(200, dtype="int64")
    a = np.zeros(200, "int32")
    got = computed(lambda i, A: (i * 100_000_000 + A[i]) % 1000, a, target=target)
    np.testing.assert_array_equal(got, (i * 100_000_000).astype("int32") % 1000)


def test_rows_of_neighbours_stay_affine() -> None:
    """What cannot wrap around, or lies outside of the tensor where it does, is left to the schedule to see through."""
    at = te.placeholder((64,), "int32", name="at")
    A = te.placeholder((16000,), name="A")
    reads = {
        "symbol(%1) + %j": lambda i, j: A[at[i] + j],
        "%j + symbol(%1) - 3": lambda i, j: A[at[i] + j - 3],
        "%j + (symbol(%1) mod 100) * 16": lambda i, j: A[at[i] % 100 * 16 + j],
        "%j + symbol(%2)": lambda i, j: A[at[i] * 16 + j],
    }
    for text, element in reads.items():
        B = te.compute((64, 16), element, name="B")
        found = str(tw.lower(te.create_schedule(B.op), [at, A, B], stage="te"))
        halves = text.split(" + ")
        assert f"[{text}]" in found or f"[{' + '.join(reversed(halves))}]" in found, found


# Floats.


@TARGETS
@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_are_divided_as_numpy_and_python_do(dtype: str, target: Any) -> None:
    kind = kind_of(dtype)
    rng = np.random.default_rng(3)
    numbers = [0.0, 1.0, 0.1, 3.0, 1e10, np.inf, np.nan, 1e-40, 6e-8, 0.5, 7.0, 1e38, 7.5, 2.0]
    x, y = pairs(np.array([*numbers, *(-one for one in numbers)]).astype(kind))
    bits = rng.integers(0, 256, (2, 4000 * kind.itemsize), "u1")
    x, y = np.concatenate([x, bits[0].view(kind)]), np.concatenate([y, bits[1].view(kind)])
    wide = "f4" if kind.itemsize == 2 else kind  # NumPy computes in float32 and rounds
    for name, exact in (("floordiv", np.floor_divide), ("floormod", np.mod)):
        expected = exact(x.astype(wide), y.astype(wide)).astype(kind)
        got = of_elements(getattr(te, name), x, y, target=target)
        same = (got == expected) & (np.signbit(got) == np.signbit(expected)) | np.isnan(got) & np.isnan(expected)
        assert same.all(), (name, x[~same][:3], y[~same][:3], got[~same][:3], expected[~same][:3])


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_large_and_small_quotients(target: str) -> None:
    x, y = np.array([1e10, 1.0, -1.0, 5.0]), np.array([3.0, 0.1, 1e300, -0.0])
    np.testing.assert_array_equal(of_elements(te.floormod, x, y, target=target), [1.0, 1.0 % 0.1, 1e300, np.nan])
    np.testing.assert_array_equal(of_elements(te.floordiv, x, y, target=target), [3333333333.0, 9.0, -1.0, -np.inf])


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_small_numbers_are_kept(target: str) -> None:
    x = np.array([1e-20, -1e-8, 1e-5, 3e-39, -0.0, 0.5, np.inf, -1.0, -2.0], "float32")
    got = of_elements(te.log1p, x, target=target)
    np.testing.assert_allclose(got, np.log1p(x), rtol=2e-7)
    assert np.signbit(got[4])
    low, high = np.array([-20.0, -30.0, -60.0], "float64"), np.array([0.0, 1e-9, -1e-20], "float64")
    np.testing.assert_allclose(of_elements(te.logaddexp, low, high, target=target), np.logaddexp(low, high), rtol=1e-15)


@TARGETS
def test_functions_of_16_bits_are_rounded_once(target: Any) -> None:
    x = np.arange(1 << 16, dtype="u2").view("float16")
    got = of_elements(te.sigmoid, x, target=target)
    exact = 1 / (1 + np.exp(-x.astype("float64")))
    assert np.array_equal(np.isnan(got), np.isnan(exact))
    ok = ~np.isnan(exact)
    error = np.abs(got[ok].astype("float64") - exact[ok]) / np.spacing(
        np.maximum(exact[ok].astype("float16"), np.float16(6.2e-5))
    )
    assert error.max() <= 0.51
