"""How far the functions of te are off, on the processor and on the simulator, which runs the very expansions that a GPU
does. The bounds are those of docs/numbers.md.

The error is in units of the last place of the true result, which is computed with 64 bits of precision. A GPU's own 2^x
of f32 adds to `exp`, `exp2`, `tanh`, `erf` and `sigmoid` what that unit is off: two units at most, by NVIDIA's tables.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from tilewright import te

Exact = np.longdouble
pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.skipif(np.finfo(Exact).nmant < 63, reason="needs a long double of 64 bits of precision"),
]

TARGETS = ("sim", "cpu")
# What a function is, on long doubles.
UNARY = {
    "exp": np.exp, "exp10": lambda x: np.power(Exact(10), x.astype(Exact)), "exp2": np.exp2, "tanh": np.tanh, "sinh": np.sinh, "cosh": np.cosh, "log": np.log, "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "sin": np.sin,
    "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "erf": lambda x: np.vectorize(math.erf)(x.astype("f8")).astype(Exact),
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "nearbyint": np.rint, "abs": np.abs,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + Exact(0.5)), x),
}  # fmt: skip
BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "div": np.divide, "power": np.power,
    "atan2": np.arctan2, "logaddexp": np.logaddexp, "fmod": np.fmod, "floordiv": np.floor_divide, "floormod": np.mod,
    "max": np.maximum, "min": np.minimum,
}  # fmt: skip
# NumPy's own steps, in the type itself.
AS_NUMPY = ("fmod", "floordiv", "floormod", "max", "min", "add", "subtract", "multiply", "div")


def read_bounds() -> dict[str, tuple[float, float]]:
    """For each function the bounds for float32 and float64, from the table of docs/numbers.md."""
    text = (Path(__file__).parents[3] / "docs" / "numbers.md").read_text()
    rows = re.findall(r"^\| (`.*`) \| ([0-9.]+) \| ([0-9.]+) \|$", text, re.MULTILINE)
    return {name: (float(f32), float(f64)) for names, f32, f64 in rows for name in re.findall(r"te\.(\w+)", names)}


BOUNDS = read_bounds()


def test_the_table_has_every_function() -> None:
    """Those of floats; the others are exact, or conditions."""
    others = """all any bitwise_and bitwise_not bitwise_or bitwise_xor ceildiv const dp4a if_given if_then_else indexdiv indexmod
        is_given isfinite isinf isnan left_shift max_value min_value popcount reinterpret right_shift select size_var thread_axis truncdiv
        truncmod var""".split()
    assert sorted(BOUNDS) == sorted([*UNARY, *BINARY])
    assert sorted([*te.functions.__all__, "max", "min"]) == sorted([*UNARY, *BINARY, *others])


def special_values(dtype: str) -> np.ndarray:
    info = np.finfo(dtype)
    positive = [0.0, np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal, info.tiny / 4, 1.0,
                1 + info.eps, 1 - info.epsneg, 0.5, 1.5, 2.0, 2.5, 3.0, 10.0, 100.0, 1e3, 1e10, 1e22, 1e30, np.pi, np.pi / 2, np.pi / 4,
                65535.5, 65536.5, 2.0**30 + 1,
                88.7, 88.73, 103.9, 104.0, 709.78, 709.79, 745.1, 745.2, 1024.0, 1075.0,
                # next to multiples of pi / 2 as hardly any others
                16367173 * 2.0**72, 6381956970095103 * 2.0**797]  # fmt: skip
    values = np.array(positive, "f8").astype(dtype)
    return np.concatenate([values, -values])


def samples(dtype: str, count: int, seed: int) -> np.ndarray:
    """Special values, any bits, ordinary numbers, those between -1.2 and 1.2, those up to the bounds of exponentials."""
    rng = np.random.default_rng(seed)
    special = special_values(dtype)
    quarter = count // 4
    unsigned = f"u{np.dtype(dtype).itemsize}"
    values = np.concatenate([
        special,
        rng.integers(0, np.iinfo(unsigned).max, quarter, unsigned, endpoint=True).view(dtype),
        rng.standard_normal(quarter) * np.exp2(rng.uniform(-20, 8, quarter)),
        rng.uniform(-1.2, 1.2, quarter),
        rng.uniform(-1.0, 1.0, quarter) * rng.choice([110.0, 800.0], quarter),
    ])  # fmt: skip
    return values[:count].astype(dtype)


def build(function, dtypes: list[str], count: int, lanes: int = 1, target: str = "sim"):
    inputs = [te.placeholder((count,), dtype, name=f"A{i}") for i, dtype in enumerate(dtypes)]
    B = te.compute((count,), lambda i: function(*(a[i] for a in inputs)), name="B")
    s = te.create_schedule(B.op)
    out = np.zeros(count, np.dtype(getattr(ml_dtypes, B.dtype, B.dtype)))
    if target == "cpu":
        return tw.build(s, [*inputs, B], "cpu"), out
    block, inner = s[B].split(B.op.axis[0], factor=256)
    thread, lane = s[B].split(inner, factor=lanes)
    s[B].bind(block, te.thread_axis("blockIdx.x"))
    s[B].bind(thread, te.thread_axis("threadIdx.x"))
    s[B].vectorize(lane)
    return tw.build(s, [*inputs, B], target=tw.Target("sim", checks=False)), out


def compute(function, *arrays: np.ndarray, lanes: int = 1, target: str = "sim") -> np.ndarray:
    kernel, out = build(function, [array.dtype.name for array in arrays], len(arrays[0]), lanes, target)
    kernel(*arrays, out)
    return out


def assert_within(bound: float, got: np.ndarray, exact: np.ndarray, *arrays: np.ndarray) -> None:
    """The error is at most `bound`; infinities, NaNs and the signs of zeros are right."""
    rounded = exact.astype(got.dtype)
    info = np.finfo(got.dtype)
    unit = np.spacing(np.maximum(np.abs(rounded), info.tiny)).astype(Exact)
    error = np.abs(got.astype(Exact) - exact) / unit
    same = (got == rounded) & (np.signbit(got) == np.signbit(rounded)) | np.isnan(got) & np.isnan(exact)
    isolated = ~np.isfinite(got) | ~np.isfinite(rounded) | (exact == 0)
    error = np.where(isolated, np.where(same, 0, np.inf), error)
    worst = int(np.argmax(error))
    where = [array[worst] for array in arrays]
    assert error[worst] <= bound, (
        f"{float(error[worst]):.3f} units at {where}: got {got[worst]!r}, expected {exact[worst]!r}"
    )


def check_unary(name: str, dtype: str, count: int, seed: int, target: str) -> None:
    x = samples(dtype, count, seed)
    bound = BOUNDS[name][dtype == "float64"]
    assert_within(bound, compute(getattr(te, name), x, target=target), UNARY[name](x.astype(Exact)), x)


def check_binary(name: str, dtype: str, count: int, seed: int, target: str) -> None:
    x, y = samples(dtype, count, seed), np.random.default_rng(seed).permutation(samples(dtype, count, seed + 1))
    special = special_values(dtype)
    pairs = min(count, len(special) ** 2)
    x[:pairs], y[:pairs] = np.repeat(special, len(special))[:pairs], np.tile(special, len(special))[:pairs]
    function = BINARY[name]
    got = compute(getattr(te, name), x, y, target=target)
    exact = function(x, y).astype(Exact) if name in AS_NUMPY else function(x.astype(Exact), y.astype(Exact))
    if name in ("max", "min"):  # of zeros either
        got, exact = got + 0.0, exact + 0.0
    if name == "logaddexp":  # what it is off counts beside the operands: the result may be 0
        size = np.maximum(np.maximum(np.abs(x), np.abs(y)), np.dtype(dtype).type(0.5))
        isolated = ~np.isfinite(exact) | ~np.isfinite(size)
        off = np.where(isolated, 0, np.abs(got - exact) / np.spacing(np.where(isolated, 1, size)).astype(Exact))
        assert off.max() <= BOUNDS[name][dtype == "float64"], (off.max(), x[off.argmax()], y[off.argmax()])
        np.testing.assert_array_equal(got[isolated], exact[isolated].astype(dtype))
        return
    assert_within(BOUNDS[name][dtype == "float64"], got, exact, x, y)


@pytest.mark.parametrize("lanes", [1, 4])
def test_erf_beside_one(lanes: int) -> None:
    """Half the work, as what it loses of small numbers does not count: 1.4e-7 of a sum of up to 2."""
    x = samples("float32", 8192, seed=3)
    got = compute(lambda a: 1.0 + te.erf(a), x, lanes=lanes)
    exact = 1 + UNARY["erf"](x)
    assert np.array_equal(np.isnan(got), np.isnan(x))
    assert np.nanmax(np.abs(got - exact)) <= 1.4e-7
    assert (got[x == np.inf] == 2).all() and (got[x == -np.inf] == 0).all()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("factor, slope", [(0.5, 0.5**0.5), (1.0, 0.3)])
def test_gelu(factor: float, slope: float, lanes: int, target: str) -> None:
    """A product of x and 1 + erf(c x) is computed in one: within 1.2e-7 of x, and of 1 where x is smaller."""
    x = samples("float32", 8192, seed=3)
    got = compute(lambda a: a * factor * (1.0 + te.erf(a * slope)), x, lanes=lanes, target=target)
    with np.errstate(invalid="ignore"):
        exact = factor * x.astype(Exact) * (1 + UNARY["erf"](x * np.float32(slope)))
    inside = np.abs(x) < 1e38
    off = np.abs(got - exact)[inside] / np.maximum(np.abs(x[inside].astype(Exact)), 1)
    assert off.max() <= 1.2e-7 * 2 * factor, (off.max(), x[inside][off.argmax()])
    assert (got[x == np.inf] == np.inf).all() and (got[x == -np.inf] == 0).all() and np.isnan(got[np.isnan(x)]).all()


@pytest.mark.sample(12)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, dtype: str, target: str) -> None:
    check_unary(name, dtype, 1 << 15, seed=1, target=target)


@pytest.mark.sample(12)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, dtype: str, target: str) -> None:
    check_binary(name, dtype, 1 << 15, seed=2, target=target)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_densely(name: str, dtype: str, target: str) -> None:
    for seed in range(3, 7):
        (check_unary if name in UNARY else check_binary)(name, dtype, 1 << 20, seed, target)


def assert_rounded(got: np.ndarray, wide: np.ndarray, *arrays: np.ndarray) -> None:
    """What f32 computes, rounded: off by half a unit and what f32 is off."""
    kind = got.dtype
    rounded = wide.astype("f4").astype(kind)
    near = [np.nextafter(rounded, kind.type(end)) for end in (-np.inf, np.inf)]
    same = (got == rounded) | np.isnan(got) & np.isnan(rounded)
    # Next to a tie the other neighbour is as good.
    tie = np.abs(np.abs(wide - got.astype("f8")) - np.abs(wide - rounded.astype("f8"))) <= np.abs(wide) * 2.0**-21
    wrong = ~(same | ((got == near[0]) | (got == near[1])) & tie)
    assert not wrong.any(), (*(array[wrong][:3] for array in arrays), got[wrong][:3], rounded[wrong][:3])


@pytest.mark.sample(12)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", UNARY)
def test_every_number_of_16_bits(name: str, dtype: str, target: str) -> None:
    x = np.arange(1 << 16, dtype="u2").view(np.dtype(getattr(ml_dtypes, dtype, dtype)))
    assert_rounded(compute(getattr(te, name), x, target=target), UNARY[name](x.astype("f8")), x)


@pytest.mark.sample(12)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", BINARY)
def test_pairs_of_16_bits(name: str, dtype: str, target: str) -> None:
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 1 << 16, (2, 1 << 15), "u2").view(kind)
    if name == "logaddexp":  # of ordinary numbers: near 0 what is lost beside the operands is more than half a unit
        x, y = (np.abs(rng.standard_normal((2, 1 << 15))) * 8).astype(kind)
    wide = BINARY[name](x.astype("f4" if name in AS_NUMPY else "f8"), y.astype("f4" if name in AS_NUMPY else "f8"))
    assert_rounded(compute(getattr(te, name), x, y, target=target), wide.astype("f8"), x, y)


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", ["exp", "log", "sin", "tan", "asin", "erf", "sinh", "power", "atan2", "fmod"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lanes_compute_what_scalars_do(name: str, dtype: str) -> None:
    arrays = [samples(dtype, 4096, seed) for seed in range(2 if name in BINARY else 1)]
    function = getattr(te, name)
    np.testing.assert_array_equal(compute(function, *arrays, lanes=4), compute(function, *arrays))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_predicates(dtype: str) -> None:
    x = special_values(dtype)
    x = np.resize(x, 256)
    for name in ("isnan", "isfinite", "isinf"):
        np.testing.assert_array_equal(compute(getattr(te, name), x), getattr(np, name)(x))


@pytest.mark.parametrize("exponent, bound", [(-1.0, 0.5), (1.0, 0.0), (2.0, 0.5), (3.0, 1.6), (0.5, 1.2)])
def test_known_powers(exponent: float, bound: float) -> None:
    x = samples("float64", 1 << 12, 9)
    assert_within(
        bound, compute(lambda a: te.power(a, te.const(exponent, "float64")), x), x.astype(Exact) ** Exact(exponent), x
    )


@pytest.mark.sample(4)
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint32"])
@pytest.mark.parametrize("target", ["sim", "cpu"])
def test_integer_powers(dtype: str, target: str) -> None:
    rng = np.random.default_rng(10)
    x = rng.integers(-5 if dtype[0] == "i" else 0, 6, 256).astype(dtype)
    y = rng.integers(0, min(np.iinfo(dtype).max, 1000), 256).astype(dtype)
    bits = np.iinfo(dtype).bits
    exact = [pow(int(a), int(b), 1 << bits) for a, b in zip(x, y)]
    expected = np.array(exact, f"u{bits // 8}" if bits < 64 else "u8").view(dtype)
    kernel, out = build(te.power, [dtype, dtype], 256)
    if target == "cpu":
        A, B = te.placeholder((256,), dtype, "A"), te.placeholder((256,), dtype, "B")
        C = te.compute((256,), lambda i: te.power(A[i], B[i]), name="C")
        kernel = tw.build(te.create_schedule(C.op), [A, B, C], target="cpu")
    kernel(x, y, out)
    np.testing.assert_array_equal(out, expected)


def test_negative_integer_powers_round_towards_0() -> None:
    x = np.resize(np.int32([1, -1, -1, 2, -3, 0]), 256)
    y = np.resize(np.int32([-3, -3, -4, -1, -2, -1]), 256)
    np.testing.assert_array_equal(compute(te.power, x, y), np.resize(np.int32([1, -1, 1, 0, 0, 0]), 256))
