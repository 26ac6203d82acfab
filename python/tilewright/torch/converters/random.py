"""Operators whose results are random."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph import Value
from ...graph.operators.common import accumulator
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


@converter("normal_functional.default", "prims.normal.default")
def _normal(call: Call, _: Any, mean: Any = 0.0, std: Any = 1.0, *rest: Any) -> Value:
    numbers = call.random.normal(call.shape, call.dtype)
    return call.op("add", call.op("mul", numbers, call.constant(std, numbers)), call.constant(mean, numbers))


@converter("prims._uniform_helper.default", "prims.uniform.default")
def _uniform(call: Call, _: Any, low: Any = 0.0, high: Any = 1.0, *rest: Any) -> Value:
    numbers = call.random.uniform(call.shape, call.dtype)
    return call.op("add", call.op("mul", numbers, call.constant(high - low, numbers)), call.constant(low, numbers))


@converter("multinomial.default")
def _multinomial(call: Call, weights: Value, count: int, replacement: bool = False, *_: Any) -> Value:
    """Without replacement, those of the largest quotients of a weight and an exponential number. With it, a number from
    0 to the weights' sum has as many running sums below it as its place."""
    axis, classes = weights.rank - 1, weights.shape[-1]
    weights = call.cast(weights, "float64")
    if not replacement or count == 1:
        numbers = call.random.uniform(weights.shape, "float64")
        exponential = call.op("neg", call.op("log1p", call.op("neg", numbers)))
        least = call.constant(np.finfo(np.float64).tiny, "float64")
        keys = call.op("div", weights, call.op("max", exponential, least))
        return call.builder.ops("topk", keys, k=call.number(count, "the number of samples"), axis=axis, largest=True)[1]
    running = call.op("cumsum", weights, axis=axis, exclusive=False, reverse=False)
    total = call.op("reduce_sum", weights, axes=[axis], keepdims=True)
    number = call.op("mul", call.random.uniform(call.shape, "float64"), total)
    outer = list(weights.shape[:-1])
    below = call.op(
        "less_equal", call.reshape(running, [*outer, 1, classes]), call.reshape(number, [*outer, count, 1])
    )  # fmt: skip
    place = call.op("reduce_sum", call.cast(below, "int64"), axes=[axis + 1], keepdims=False)
    return call.op("min", place, call.constant(call.number(classes, "the number of classes") - 1, "int64"))


@converter("bernoulli.p", "bernoulli.default")
def _bernoulli(call: Call, x: Value, *given: Any) -> Value:
    probability = given[0] if call.target == "bernoulli.p" else x
    return call.cast(call.random.below(call.shape, probability), call.dtype)


@converter("native_dropout.default")
def _dropout(call: Call, x: Value, probability: float, train: bool | None) -> Any:
    if probability == 0 or (train is not None and not train):
        return x, call.expand(call.constant(True, "bool"), call.shape)
    mask = call.random.below(call.shape, 1 - probability)
    wide = accumulator(x.dtype)
    scale = call.constant(0 if probability == 1 else 1 / (1 - probability), wide)
    kept = call.op("mul", call.cast(x, wide), scale)
    return call.cast(call.op("where", mask, kept, call.constant(0, wide)), x.dtype), mask
