"""Attention in one kernel of any extents, heads, strides, masks and tiles, on the simulator, beside float64."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing
from tilewright.runtime.ndarray import as_dtype
from tilewright.schedules.attention_memory import takes
from tilewright.schedules.online_softmax import attention_of

FEW, MANY = 8, 2000
SHARED, REGISTERS = 232448, 255


class Case:
    """What a seed draws."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.dtype = self.of("float16", "bfloat16")
        batch, heads, groups = self.of(1, 2), self.of(1, 2, 3), self.of(1, 1, 2, 4)
        queries = self.of(1, int(self.rng.integers(1, 140)))
        keys = int(self.rng.integers(1, 300))
        width, wide = (8 * int(self.rng.integers(1, 17)) for _ in range(2))
        self.lead = self.of((), (heads,), (batch, heads))
        groups = groups if self.lead else 1
        self.q = self.array(groups, queries, width)
        self.k, self.v = self.array(1, keys, width), self.array(1, keys, wide)
        self.mask: np.ndarray | None = None
        self.options: dict[str, Any] = {}
        if self.of(False, True):
            whole = (*self.q.shape[:-1], keys)
            shape = tuple(self.of(n, n, 1) for n in whole)[int(self.rng.integers(0, len(whole) - 1)) :]
            drawn = self.rng.standard_normal(shape)
            self.mask = drawn > 0.3 if self.of(False, True) else drawn.astype(as_dtype(self.of("float32", self.dtype)))
        self.put("before", self.of(0, 5, 70))
        self.put("behind", self.of(0, 3, 100))
        self.put("offset", self.of(keys - queries, -7, 20))
        self.put("softcap", self.of(0.5, 3.0))
        self.put("scale", self.of(-0.5, 0.0, 0.7))
        self.put("key_splits", int(self.rng.integers(2, 6)))
        self.put("stages", 3)
        tiles = [(rows, columns) for rows in (64, 128) for columns in (64, 128)]
        is_split, stages = "key_splits" in self.options, self.options.get("stages", 2)
        fitting = [one for one in tiles if takes(one, width, wide, SHARED, REGISTERS, stages, is_split=is_split)]
        self.options["tile"] = fitting[int(self.rng.integers(len(fitting)))]

    def of(self, *values: Any) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def put(self, name: str, value: Any) -> None:
        """An option, of which most have none."""
        if self.of(False, False, True):
            self.options[name] = value

    def array(self, groups: int, rows: int, columns: int) -> np.ndarray:
        """Whose axes but the last lie in any order."""
        shape = (*self.lead[:-1], self.lead[-1] * groups, rows, columns) if self.lead else (rows, columns)
        order = [*(int(axis) for axis in self.rng.permutation(len(shape) - 1)), len(shape) - 1]
        drawn = self.rng.standard_normal([shape[axis] for axis in order]).astype(as_dtype(self.dtype))
        return drawn.transpose(np.argsort(order))

    def exact(self) -> np.ndarray:
        q, k, v = (one.astype("float64") for one in (self.q, self.k, self.v))
        if q.ndim > 2:
            k, v = (np.repeat(one, q.shape[-3] // one.shape[-3], -3) for one in (k, v))
        scores = q @ k.swapaxes(-1, -2) * self.options.get("scale", q.shape[-1] ** -0.5)
        if cap := self.options.get("softcap"):
            scores = cap * np.tanh(scores / cap)
        if self.mask is not None:
            added = np.where(self.mask, 0, -np.inf) if self.mask.dtype == bool else self.mask.astype("float64")
            scores = scores + added
        away = np.arange(k.shape[-2]) - np.arange(q.shape[-2])[:, None] - self.options.get("offset", 0)
        behind, before = (self.options.get(side, 10**6) for side in ("behind", "before"))
        scores = np.where((away <= behind) & (away >= -before), scores, -np.inf)
        largest = scores.max(-1, keepdims=True)
        weights = np.exp(scores - np.where(largest == -np.inf, 0, largest))
        total = weights.sum(-1, keepdims=True)
        return weights @ v / np.where(total == 0, 1, total)

    def check(self) -> None:
        given = [self.q, self.k, self.v]
        tensors = [
            te.placeholder(one.shape, self.dtype, name=name, strides=[stride // one.itemsize for stride in one.strides])
            for one, name in zip(given, "QKV", strict=True)
        ]
        mask = None if self.mask is None else te.placeholder(self.mask.shape, str(self.mask.dtype), name="mask")
        s, args = attention_of(*tensors, mask, **self.options)
        func = tw.build(s, args, target=tw.Target("sim", checks=True), name="attention")
        out = np.full((*self.q.shape[:-1], self.v.shape[-1]), np.nan, as_dtype(self.dtype))
        func(*given, *([] if self.mask is None else [self.mask]), out)
        # The weights and the result are rounded once each.
        largest = np.abs(self.v.astype("float64")).max()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            testing.assert_within(out, self.exact(), 2 * testing.unit_roundoff(self.dtype) * largest + 2.0**-16)


def run(seeds: range) -> None:
    for seed in seeds:
        try:
            Case(seed).check()
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error


@pytest.mark.sample(1)
@pytest.mark.parametrize("first", range(0, FEW, 2))
def test_any_attention_in_one_kernel(first: int) -> None:
    run(range(first, first + 2))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, MANY, 50))
def test_many_attentions_in_one_kernel(first: int) -> None:
    run(range(first + 1000, first + 1050))
