"""Every name of te, computed by one program on the processor and one on the simulator, against NumPy in float64."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes  # noqa: F401  names bfloat16 to NumPy
import numpy as np
import pytest
from numpy.typing import NDArray

import tilewright as tw
from tilewright import te
from tilewright.te import Expr, Tensor

Arrays = Mapping[str, NDArray[Any]]
Element = Callable[..., Expr]
SIZE = 48
RNG = np.random.default_rng(0)

INPUTS: Arrays = {
    "unit": RNG.uniform(-0.95, 0.95, SIZE),
    "positive": RNG.uniform(0.1, 20, SIZE),
    "over1": RNG.uniform(1.05, 20, SIZE),
    "wide": np.concatenate([RNG.uniform(-6, 6, SIZE - 8), [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.0, -0.0]]),
    "other": RNG.uniform(0.2, 3, SIZE) * RNG.choice([-1, 1], SIZE),
    "special": np.resize([np.nan, np.inf, -np.inf, 0.0, -1.5], SIZE),
    "n": RNG.integers(-40, 40, SIZE, "int32"),
    "m": RNG.integers(1, 7, SIZE, "int32") * RNG.choice([-1, 1], SIZE).astype("int32"),
    "bits": RNG.integers(0, 2**32, SIZE, "uint32"),
    "shift": RNG.integers(0, 32, SIZE, "uint32"),
    "flag": RNG.integers(0, 2, SIZE).astype("bool"),
    "square": RNG.uniform(-2, 2, (SIZE, 12)),
}


def halves_away(x: NDArray[Any]) -> NDArray[Any]:
    return np.trunc(x + np.copysign(0.5, x))


# Of each name the inputs, what te is asked for, and what NumPy has.
ELEMENTWISE: dict[str, tuple[str, Element, Callable[..., Any]]] = {
    "exp": ("wide", te.exp, np.exp),
    "exp2": ("wide", te.exp2, np.exp2),
    "exp10": ("wide", te.exp10, lambda x: 10.0**x),
    "dp4a": ("bits bits", te.dp4a, lambda x, _: (x.view("uint8").reshape(-1, 4).astype("uint32") ** 2).sum(axis=1)),
    "erf": ("wide", te.erf, np.vectorize(math.erf)),
    "tanh": ("wide", te.tanh, np.tanh),
    "sigmoid": ("wide", te.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    "log": ("positive", te.log, np.log),
    "log2": ("positive", te.log2, np.log2),
    "log10": ("positive", te.log10, np.log10),
    "log1p": ("positive", te.log1p, np.log1p),
    "tan": ("unit", te.tan, np.tan),
    "cos": ("wide", te.cos, np.cos),
    "cosh": ("wide", te.cosh, np.cosh),
    "sin": ("wide", te.sin, np.sin),
    "sinh": ("wide", te.sinh, np.sinh),
    "asin": ("unit", te.asin, np.arcsin),
    "acos": ("unit", te.acos, np.arccos),
    "atan": ("wide", te.atan, np.arctan),
    "asinh": ("wide", te.asinh, np.arcsinh),
    "acosh": ("over1", te.acosh, np.arccosh),
    "atanh": ("unit", te.atanh, np.arctanh),
    "atan2": ("wide other", te.atan2, np.arctan2),
    "sqrt": ("positive", te.sqrt, np.sqrt),
    "rsqrt": ("positive", te.rsqrt, lambda x: 1 / np.sqrt(x)),
    "floor": ("wide", te.floor, np.floor),
    "ceil": ("wide", te.ceil, np.ceil),
    "trunc": ("wide", te.trunc, np.trunc),
    "round": ("wide", te.round, halves_away),
    "nearbyint": ("wide", te.nearbyint, np.rint),
    "abs": ("wide", te.abs, np.abs),
    "power": ("positive other", te.power, np.power),
    "fmod": ("wide other", te.fmod, np.fmod),
    "logaddexp": ("wide other", te.logaddexp, np.logaddexp),
    "isnan": ("special", te.isnan, np.isnan),
    "isfinite": ("special", te.isfinite, np.isfinite),
    "isinf": ("special", te.isinf, np.isinf),
    "popcount": ("bits", te.popcount, np.vectorize(lambda x: int(x).bit_count() if hasattr(int, "bit_count") else bin(x).count("1"))),
    "add": ("wide other", te.add, np.add),
    "subtract": ("wide other", te.subtract, np.subtract),
    "multiply": ("wide other", te.multiply, np.multiply),
    "division": ("wide other", lambda x, y: x / y, np.divide),
    "div": ("n m", te.div, lambda a, b: np.trunc(a / b)),
    "indexdiv": ("n m", te.indexdiv, np.floor_divide),
    "indexmod": ("n m", te.indexmod, np.mod),
    "truncdiv": ("n m", te.truncdiv, lambda a, b: np.trunc(a / b)),
    "truncmod": ("n m", te.truncmod, np.fmod),
    "floordiv": ("n m", te.floordiv, np.floor_divide),
    "floormod": ("n m", te.floormod, np.mod),
    "floordiv_operator": ("n m", lambda a, b: a // b, np.floor_divide),
    "floormod_operator": ("n m", lambda a, b: a % b, np.mod),
    "ceildiv": ("n m", te.ceildiv, lambda a, b: np.ceil(a / b)),
    "bitwise_and": ("bits shift", te.bitwise_and, np.bitwise_and),
    "bitwise_or": ("bits shift", te.bitwise_or, np.bitwise_or),
    "bitwise_xor": ("bits shift", te.bitwise_xor, np.bitwise_xor),
    "bitwise_not": ("bits", te.bitwise_not, np.invert),
    "left_shift": ("bits shift", te.left_shift, np.left_shift),
    "right_shift": ("bits shift", te.right_shift, np.right_shift),
    "max": ("wide other", te.max, np.maximum),
    "min": ("n m", te.min, np.minimum),
    "any": ("wide other flag", lambda x, y, f: te.any(x > y, te.all(f, y < 1)), lambda x, y, f: (x > y) | f & (y < 1)),
    "all": ("wide other flag", lambda x, y, f: te.all(x != y, f, x >= y), lambda x, y, f: (x != y) & f & (x >= y)),
    "not": ("flag", lambda f: ~f, np.logical_not),
    "select": ("wide other", lambda x, y: te.select(x <= y, x, y * 2), lambda x, y: np.where(x <= y, x, y * 2)),
    "if_then_else": (
        "wide other",
        lambda x, y: te.if_then_else(x.equal(y), x, -y),
        lambda x, y: np.where(x == y, x, -y),
    ),
    "const": ("n", lambda n: n * te.const(3, "int32") + te.const(True, "bool").astype("int32"), lambda n: n * 3 + 1),
    "astype": ("wide", lambda x: x.astype("int32").astype("float32") * te.const(0.5, "float32"), lambda x: np.trunc(x) / 2),
    "bfloat16": ("wide", lambda x: x.astype("bfloat16").astype("float64"), lambda x: x.astype("bfloat16").astype("float64")),
}  # fmt: skip


def combine_larger(x: tuple[Expr, Expr], y: tuple[Expr, Expr]) -> tuple[Expr, Expr]:
    left = te.any(x[1] > y[1], te.all(x[1].equal(y[1]), x[0] < y[0]))
    return te.select(left, x[0], y[0]), te.select(left, x[1], y[1])


def reductions(square: Tensor) -> dict[str, Tensor]:
    """A number a row, of each kind of reduction."""
    width = square.shape[1]
    larger = te.comm_reducer(combine_larger, lambda i, v: (te.const(2**31 - 1, i), te.min_value(v)), name="larger")
    product = te.comm_reducer(lambda x, y: x * y, lambda t: te.const(1, t), name="product")

    def over(element: Callable[[Expr, Expr], Any], name: str) -> Any:
        k = te.reduce_axis((0, width), name="k")
        return te.compute((SIZE,), lambda i: element(i, k), name=name)

    where, value = over(lambda i, k: larger((k, square[i, k]), axis=k), "argmax")
    return {
        "sum": over(lambda i, k: te.sum(square[i, k], axis=k), "sum"),
        "reduced_max": over(lambda i, k: te.max(square[i, k], axis=k), "reduced_max"),
        "reduced_min": over(lambda i, k: te.min(square[i, k], axis=k), "reduced_min"),
        "prod": over(lambda i, k: te.prod(square[i, k], axis=k), "prod"),
        "sum_where": over(lambda i, k: te.sum(square[i, k], axis=k, where=k % 2 > 0), "sum_where"),
        "comm_reducer": over(lambda i, k: product(square[i, k], axis=k), "comm_reducer"),
        "argmax": where,
        "argmax_value": value,
    }


REDUCED: dict[str, Callable[[NDArray[Any]], Any]] = {
    "sum": lambda x: x.sum(axis=1),
    "reduced_max": lambda x: x.max(axis=1),
    "reduced_min": lambda x: x.min(axis=1),
    "prod": lambda x: x.prod(axis=1),
    "sum_where": lambda x: x[:, 1::2].sum(axis=1),
    "comm_reducer": lambda x: x.prod(axis=1),
    "argmax": lambda x: x.argmax(axis=1),
    "argmax_value": lambda x: x.max(axis=1),
}
LIMITS = "int8 int16 int32 int64 uint8 uint16 uint32 float16 bfloat16 float32 float64".split()


def others(inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What is made in another way than by a function of elements."""
    wide, n = inputs["wide"], inputs["n"]

    @te.tag_scope(tag="injective")
    def reversed_(X: Tensor) -> Tensor:
        return te.compute((SIZE,), lambda i: X[SIZE - 1 - i], name="reversed", attrs={"layout": "N"})

    low, high = te.compute((SIZE,), lambda *i: (wide(*i) - 1, wide(*i) * n(*i).astype("float64")), name="tuple")
    made = {
        "tag_scope": reversed_(wide),
        "tuple_low": low,
        "tuple_high": high,
        # Reads beyond the ends must not happen.
        "padded": te.compute(
            (SIZE,),
            lambda i: te.if_then_else(
                te.all(i >= 3, i < SIZE - 2), wide[i - 3] + wide[i + 2], te.const(0.0, "float64")
            ),
            name="padded",
        ),
        "gather": te.compute((SIZE,), lambda i: wide[te.floormod(n[i], SIZE)], name="gather"),
    }
    for dtype in LIMITS:
        for which, limit in (("min", te.min_value), ("max", te.max_value)):
            name = f"{which}_value_{dtype}"
            made[name] = te.compute((SIZE,), lambda i, limit=limit, dtype=dtype: limit(dtype), name=name)
    return made


def limit_of(name: str) -> Any:
    which, _, dtype = name.partition("_value_")
    info = np.iinfo(dtype) if "int" in dtype else ml_dtypes.finfo(dtype)
    if "int" in dtype:
        return getattr(info, which)
    return -np.inf if which == "min" else np.inf


OTHERS: dict[str, Callable[[Arrays], Any]] = {
    "tag_scope": lambda a: a["wide"][::-1],
    "tuple_low": lambda a: a["wide"] - 1,
    "tuple_high": lambda a: a["wide"] * a["n"],
    "padded": lambda a: np.concatenate([np.zeros(3), a["wide"][: SIZE - 5] + a["wide"][5:], np.zeros(2)]),
    "gather": lambda a: a["wide"][a["n"] % SIZE],
} | {
    f"{which}_value_{dtype}": lambda a, name=f"{which}_value_{dtype}": np.full(SIZE, limit_of(name), object)
    for dtype in LIMITS
    for which in ("min", "max")
}


@pytest.fixture(scope="module", params=["cpu", "sim"])
def results(request: pytest.FixtureRequest) -> Arrays:
    """What a program with a stage for each name computes."""
    inputs = {name: te.placeholder(array.shape, array.dtype.name, name=name) for name, array in INPUTS.items()}
    outputs: dict[str, Tensor] = {}
    for name, (names, element, _) in ELEMENTWISE.items():
        given = [inputs[each] for each in names.split()]
        outputs[name] = te.compute((SIZE,), lambda i, given=given, f=element: f(*(X[i] for X in given)), name=name)
    outputs |= reductions(inputs["square"]) | others(inputs)
    s = te.create_schedule(list(dict.fromkeys(one.op for one in outputs.values())))
    for one in outputs.values():
        if one.value_index == 0:
            s[one].bind(one.op.axis[0], te.thread_axis("threadIdx.x"))
    function = tw.build(s, [*inputs.values(), *outputs.values()], request.param, name="table")
    arrays = [np.empty(SIZE, one.dtype) for one in outputs.values()]
    function(*INPUTS.values(), *arrays)
    return dict(zip(outputs, arrays))


@pytest.mark.sweep
@pytest.mark.parametrize("name", [*ELEMENTWISE, *REDUCED, *OTHERS])
def test_name(name: str, results: Arrays) -> None:
    if name in ELEMENTWISE:
        names, _, reference = ELEMENTWISE[name]
        expected = reference(*(INPUTS[each] for each in names.split()))
    else:
        expected = REDUCED[name](INPUTS["square"]) if name in REDUCED else OTHERS[name](INPUTS)
    got = results[name]
    if got.dtype == np.float64:
        np.testing.assert_allclose(got, np.asarray(expected, np.float64), rtol=1e-13, atol=1e-15)
    else:
        np.testing.assert_array_equal(got.astype(object), np.asarray(expected).astype(object))


def test_every_function_is_in_the_table() -> None:
    # Which no element is computed by, or only one of an input that may be missing.
    rest = {"var", "size_var", "thread_axis", "min_value", "max_value", "if_given", "is_given", "reinterpret"}
    assert set(te.functions.__all__) - rest <= ELEMENTWISE.keys()
