"""Conversions from and to the narrow floats, exhaustively, against ml_dtypes."""

from __future__ import annotations

import functools

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from tilewright import te

# NumPy warns of the NaN and the overflows that are tested here.
pytestmark = pytest.mark.filterwarnings("ignore:.* encountered in cast:RuntimeWarning")

F8 = {"float8_e4m3fn": ml_dtypes.float8_e4m3fn, "float8_e5m2": ml_dtypes.float8_e5m2}
NARROW = {**F8, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
DTYPES = {**NARROW, "float32": np.float32, "float64": np.float64}


@functools.cache
def conversion(source: str, to: str) -> tw.Function:
    """Converts any number of elements, so in vectors and in what is left over of them."""
    n = te.var("n")
    A = te.placeholder((n,), dtype=source, name="A")
    B = te.compute((n,), lambda i: A[i].astype(to), name="B")
    return tw.build(te.create_schedule(B.op), [A, B], target="cpu", name="convert")


def convert(values: np.ndarray, to: str) -> np.ndarray:
    source = next(name for name, dtype in DTYPES.items() if values.dtype == dtype)
    result = np.zeros(values.shape, DTYPES[to])
    conversion(source, to)(values, result)
    return result


def bits(values: np.ndarray) -> np.ndarray:
    return values.view(f"u{values.dtype.itemsize}")


def assert_same(got: np.ndarray, expected: np.ndarray, of: np.ndarray) -> None:
    """Bit by bit, but for NaN, of which there are many."""
    is_nan = np.isnan(expected.astype("f8"))
    np.testing.assert_array_equal(np.isnan(got.astype("f8")), is_nan)
    different = ~is_nan & (bits(got) != bits(expected))
    assert not different.any(), (of[different][:5], got[different][:5], expected[different][:5])


def every(dtype: str) -> np.ndarray:
    kind = np.dtype(NARROW[dtype])
    return np.arange(2 ** (8 * kind.itemsize), dtype=f"u{kind.itemsize}").view(kind)


def edges(dtype: str, wide: type) -> np.ndarray:
    """All values of the narrow type, all midpoints between two of them, and the neighbours of each on either side in
    the wide type; also the first that is too large, and what is special."""
    finite = every(dtype).astype("f8")
    finite = np.unique(finite[np.isfinite(finite)])
    step = finite[-1] - finite[-2]
    beyond = finite[-1] + step * np.array([0.5, 1, 1.5, 2, 4])
    points = np.concatenate([finite, (finite[1:] + finite[:-1]) / 2, beyond, -beyond]).astype(wide)
    info = np.finfo(wide)
    special = np.array(
        [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, info.max, info.min, info.tiny, info.smallest_subnormal]
    )
    both = [np.nextafter(points, wide(np.inf)), np.nextafter(points, wide(-np.inf))]
    return np.concatenate([points, *both, special.astype(wide), -special.astype(wide)])


@pytest.mark.parametrize("wide", ["float16", "float32", "float64"])
@pytest.mark.parametrize("dtype", F8)
def test_every_f8_is_widened(dtype: str, wide: str) -> None:
    values = every(dtype)
    # float64 holds every value exactly, whichever way it is reached.
    assert_same(convert(values, wide), values.astype("f8").astype(DTYPES[wide]), values)


@pytest.mark.parametrize("dtype", F8)
def test_every_f8_survives_the_way_there_and_back(dtype: str) -> None:
    values = every(dtype)
    assert_same(convert(convert(values, "float32"), dtype), values, values)


@pytest.mark.parametrize("source", ["float16", "bfloat16"])
@pytest.mark.parametrize("dtype", F8)
def test_every_16_bit_float_is_narrowed(dtype: str, source: str) -> None:
    values = every(source)
    assert_same(convert(values, dtype), values.astype("f4").astype(NARROW[dtype]), values)


@pytest.mark.parametrize("dtype", NARROW)
def test_f32_is_rounded_to_nearest_even(dtype: str) -> None:
    values = edges(dtype, np.float32)
    assert_same(convert(values, dtype), values.astype(NARROW[dtype]), values)


@pytest.mark.parametrize("dtype", NARROW)
def test_f64_is_rounded_once(dtype: str) -> None:
    # The neighbours of a midpoint in f64 are the midpoint in f32, which rounds to even, and that may be the wrong side.
    values = edges(dtype, np.float64)
    assert_same(convert(values, dtype), once_rounded(values, dtype), values)


def once_rounded(values: np.ndarray, dtype: str) -> np.ndarray:
    """Rounding of f64 by a search in all values: NumPy's own way to bfloat16 and f8 may lead through f32."""
    kind = np.dtype(NARROW[dtype])
    codes = np.arange(2 ** (8 * kind.itemsize - 1), dtype=f"u{kind.itemsize}")
    numbers = codes.view(kind).astype("f8")
    codes, numbers = codes[np.isfinite(numbers)], numbers[np.isfinite(numbers)]
    step = numbers[-1] - numbers[-2]
    magnitude = np.abs(values)
    above = np.minimum(np.searchsorted(numbers, magnitude), len(numbers) - 1)
    below = np.maximum(above - 1, 0)
    middle = (numbers[above] + numbers[below]) / 2
    up = (magnitude > middle) | ((magnitude == middle) & (codes[above] % 2 == 0))
    code = np.where(up, codes[above], codes[below])
    # Beyond: half a step past the largest value is nearer to what the next would be, and so is the tie if that is even.
    limit = numbers[-1] + step / 2
    too_large = (magnitude > limit) | ((magnitude == limit) & (codes[-1] % 2 == 1))
    code = np.where(too_large, codes[-1] + 1, code)
    code = np.where(np.isnan(values), codes[-1] + (1 if dtype == "float8_e4m3fn" else 2), code)
    sign = np.signbit(values).astype(code.dtype) << (8 * kind.itemsize - 1)
    return (code.astype(sign.dtype) | sign).astype(f"u{kind.itemsize}").view(kind)


@pytest.mark.parametrize("dtype", NARROW)
def test_the_search_agrees_with_ml_dtypes(dtype: str) -> None:
    values = edges(dtype, np.float32)
    assert_same(once_rounded(values.astype("f8"), dtype), values.astype(NARROW[dtype]), values)
