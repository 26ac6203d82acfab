"""Operators whose results are random."""

from __future__ import annotations

from typing import Any

from ...graph import Value
from ..call import Call, converter


@converter("rand.default", "rand_like.default")
def _rand(call: Call, *_: Any) -> Value:
    return call.random.uniform(call.shape, call.dtype)


@converter("randn.default", "randn_like.default")
def _randn(call: Call, *_: Any) -> Value:
    return call.random.normal(call.shape, call.dtype)


@converter("randint.low", "randint.default", "randint_like.default", "randint_like.low_dtype")
def _randint(call: Call, *given: Any) -> Value:
    bounds = given[1:] if call.target.startswith("randint_like") else given
    low, high = (bounds[0], bounds[1]) if "low" in call.target else (0, bounds[0])
    if not 0 < call.number(high, "high") - call.number(low, "low") < 2**32:
        raise call.error(f"expected 0 < high - low < 2**32, got {low} and {high}")
    return call.random.integers(call.shape, low, high, call.dtype)


@converter("randperm.default")
def _randperm(call: Call, count: Any, *_: Any) -> Value:
    return call.random.permutation(call.number(count, "n"), call.dtype)


@converter("bernoulli.p", "bernoulli.default")
def _bernoulli(call: Call, x: Value, *given: Any) -> Value:
    probability = given[0] if call.target == "bernoulli.p" else x
    return call.cast(call.random.below(call.shape, probability), call.dtype)


@converter("native_dropout.default")
def _dropout(call: Call, x: Value, probability: float, train: bool | None) -> Any:
    if probability == 0 or (train is not None and not train):
        return x, call.expand(call.constant(True, "bool"), call.shape)
    mask = call.random.below(call.shape, 1 - probability)
    wide = "float32" if x.dtype in ("float16", "bfloat16") else x.dtype
    scale = call.constant(0 if probability == 1 else 1 / (1 - probability), wide)
    kept = call.op("mul", call.cast(x, wide), scale)
    return call.cast(call.op("where", mask, kept, call.constant(0, wide)), x.dtype), mask
