"""Random numbers as arguments: what is compiled, the run time's table and an account of the rules in Python agree."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from fuzz.outcomes import outcome
from tilewright import te

TYPES = ("float64", "float32", "int64", "int32", "int8", "uint64", "uint16", "bool")
JUNK = (None, "1", b"1", [1], (1.0,), np.zeros(2), np.zeros(()), 1j)


def program() -> tw.Function:
    """Writes down what it is given."""
    n = te.var("n", divisible_by=2, min=2, max=64)
    numbers = [te.var(f"x_{dtype}", dtype) for dtype in TYPES]
    A = te.placeholder((n,), "int32", name="A")
    results = [
        te.compute((n,), lambda i, x=x: te.select(A[i] >= 0, x.astype(x.dtype), x.astype(x.dtype)), name=f"C_{x.name}")
        for x in numbers
    ]
    schedule = te.create_schedule([result.op for result in results])
    return tw.build(schedule, [n, *numbers, A, *results], "cpu", name="note")


def random_number(choose: random.Random, dtype: str) -> Any:
    kind = choose.random()
    if kind < 0.03:
        return choose.choice(JUNK)
    if kind < 0.08:
        return choose.choice((True, 1, 1.0, np.bool_(True), np.int8(1), np.float16(1)))
    if dtype == "bool":
        return choose.choice((True, False, np.bool_(False)))
    if "float" in dtype:
        value = choose.choice(
            (0.0, -0.0, 1.5, 1e30, 3.5e38, -1e300, math.inf, -math.inf, 1e-45, 7, -3, 1 << 63, 1 << 64)
        )
        return choose.choice((value, np.float64(value))) if abs(value) < 1e300 else value
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    return choose.choice(
        (low, high, low - 1 if kind < 0.12 else low, high + 1 if kind < 0.12 else high, 0, 5, low // 2)
    )


def fits(value: Any, dtype: str) -> bool:
    is_bool, is_int = isinstance(value, (bool, np.bool_)), isinstance(value, (int, np.integer))
    if dtype == "bool" or is_bool:
        return is_bool and dtype == "bool"
    if "float" not in dtype:
        return is_int and np.iinfo(dtype).min <= value <= np.iinfo(dtype).max
    if is_int:
        return abs(int(value)) < 1 << 63 or 0 <= int(value) < 1 << 64
    if not isinstance(value, (float, np.floating)):
        return False
    with np.errstate(over="ignore"):
        return not np.isinf(np.dtype(dtype).type(value)) or math.isinf(value)


def check(seeds: range) -> None:
    function = program()
    bind, good = function.signature.bind, 0
    text = str(function.signature)
    for seed in seeds:
        choose = random.Random(seed)
        n = choose.choice((2, 4, 4, 4, 64, 3, 0, 66, -2, 4.0, True)) if choose.random() < 0.2 else 4
        numbers = [random_number(choose, dtype) for dtype in TYPES]
        results = [np.zeros(4, dtype) for dtype in TYPES]
        args = [n, *numbers, np.ones(4, "int32"), *results]
        told = outcome(function, args)
        where = f"seed {seed}: {n}, {numbers}: {told}"
        is_good = type(n) is int and n == 4 and all(map(fits, numbers, TYPES))
        assert (told is None) == is_good, where
        assert outcome(lambda *each: bind(each), args) == told, where
        if told is not None:
            assert told[0] in (TypeError, ValueError) and told[1].startswith(f"{text}: argument "), where
            continue
        good += 1
        for dtype, number, result in zip(TYPES, numbers, results):
            assert result.tobytes() == np.full(4, number, dtype).tobytes(), f"{where}: {dtype}"
    assert good > len(seeds) // 20, "too few calls went through to mean anything"


@pytest.mark.sweep
def test_random_numbers() -> None:
    check(range(2000))


@pytest.mark.slow
def test_a_million_random_numbers() -> None:
    check(range(1_000_000))
