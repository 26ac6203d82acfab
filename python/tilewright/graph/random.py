"""Random numbers as operators of the graph: each is a function of a seed, of which call it is, and of its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .builder import GraphBuilder, Value

__all__ = ["RandomNumbers"]

_DIGITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}


class RandomNumbers:
    """Makes tensors of random numbers in a graph: Widynski's generator "squares" of 64 bits, which counts.

    Parameters
    ----------
    builder
        What the operators are made with.
    seed
        A tensor of one int64: the same seed gives the same numbers, each call others.
    """

    def __init__(self, builder: GraphBuilder, seed: Value) -> None:
        self._builder, self._calls = builder, 0
        self._seed = builder.op("bitcast", seed, to="uint64")

    def _number(self, value: int) -> Value:
        return self._builder.constant(np.uint64(value))

    def _shifted(self, name: str, x: Value, by: int) -> Value:
        return self._builder.op(name, x, self._number(by))

    def _key(self) -> Value:
        """A key of a call: the seed and the call's number, mixed as splitmix64 does, and odd."""
        op = self._builder.op
        self._calls += 1
        x = op("add", self._seed, self._number(self._calls * 0x9E3779B97F4A7C15 % 2**64))
        for by, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = op("mul", op("xor", x, self._shifted("shift_right", x, by)), self._number(factor))
        return op("or", op("xor", x, self._shifted("shift_right", x, 31)), self._number(1))

    def words(self, shape: Sequence[Any]) -> Value:
        """Words of 64 bits, as uint64."""
        op, key = self._builder.op, self._key()
        count: Any = 1
        for extent in shape:
            count = count * extent
        places = op("add", op("iota", shape=[count], axis=0, to="uint64"), self._number(1))
        x = y = op("mul", places, key)
        z = op("add", y, key)
        for added in (y, z, y):
            x = op("add", op("mul", x, x), added)
            x = op("or", self._shifted("shift_right", x, 32), self._shifted("shift_left", x, 32))
        x = before = op("add", op("mul", x, x), z)
        x = op("or", self._shifted("shift_right", x, 32), self._shifted("shift_left", x, 32))
        last = self._shifted("shift_right", op("add", op("mul", x, x), y), 32)
        return op("reshape", op("xor", before, last), shape=list(shape))

    def uniform(self, shape: Sequence[Any], dtype: str) -> Value:
        """Numbers from 0 to 1, without 1: multiples of the distance of the type's numbers below 1."""
        digits = _DIGITS[dtype]
        wide = "float64" if dtype == "float64" else "float32"
        whole = self._builder.op("cast", self._shifted("shift_right", self.words(shape), 64 - digits), to="int64",
                                 saturate=True)  # fmt: skip
        number = self._builder.op("cast", whole, to=wide, saturate=True)
        scale = self._builder.constant(np.asarray(2.0**-digits).astype(wide))
        return self._cast(self._builder.op("mul", number, scale), dtype)

    def normal(self, shape: Sequence[Any], dtype: str) -> Value:
        """Numbers of mean 0 and variance 1, by Box and Muller."""
        op = self._builder.op
        wide = "float64" if dtype == "float64" else "float32"

        def number(value: float) -> Value:
            return self._builder.constant(np.asarray(value).astype(wide))

        radius = op("sub", number(1), self.uniform(shape, wide))  # from 0, without it, to 1
        angle = op("mul", self.uniform(shape, wide), number(2 * np.pi))
        radius = op("sqrt", op("mul", op("log", radius), number(-2)))
        return self._cast(op("mul", radius, op("cos", angle)), dtype)

    def integers(self, shape: Sequence[Any], low: int, high: int, dtype: str) -> Value:
        """Whole numbers from `low` to `high`, without that; their number is less than 2**32."""
        op = self._builder.op
        word = op("mul", self._shifted("shift_right", self.words(shape), 32), self._number(high - low))
        found = op("cast", self._shifted("shift_right", word, 32), to="int64", saturate=True)
        return self._cast(op("add", found, self._builder.constant(np.int64(low))), dtype)

    def below(self, shape: Sequence[Any], probability: Value | float) -> Value:
        """Whether a number from 0 to 1 is less than a probability."""
        number = self.uniform(shape, "float32")
        if not isinstance(probability, Value):
            probability = self._builder.constant(np.float32(probability))
        return self._builder.op("less", number, self._cast(probability, "float32"))

    def permutation(self, count: int, dtype: str) -> Value:
        """The numbers from 0 to `count`, without that, in a random order."""
        keys = self._builder.op("bitcast", self.words([count]), to="int64")
        return self._cast(self._builder.ops("topk", keys, k=count, axis=0, largest=False)[1], dtype)

    def _cast(self, x: Value, to: str) -> Value:
        return x if x.dtype == to else self._builder.op("cast", x, to=to, saturate=True)
