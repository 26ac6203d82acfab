"""What the trials so far say of the points that are left."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ..guards import is_listed, is_mapping
from .space import Choices

__all__ = ["Ranker"]

_LEAST = 16
"""Of fewer trials nothing is learned."""
_AGAIN = 8
"""What was learned is learned anew after so many more trials."""


class Ranker:
    """Predicts scores with LightGBM, where it is installed and has enough trials to learn from."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._choices: list[Choices] = []
        self._scores: list[float] = []
        self._model: Any = None
        self._names: list[str] = []
        self._words: dict[str, int] = {}
        self._learned = 0

    def add(self, choices: Choices, score: float | None) -> None:
        """A trial; None is the score of one that went wrong. Such a point is taken for a slow one."""
        self._choices.append(choices)
        self._scores.append(math.log(score) if score is not None else math.nan)

    def predict(self, points: Sequence[Choices]) -> list[float] | None:
        """A score for each point, or None where nothing was learned."""
        known = [one for one in self._scores if not math.isnan(one)]
        if len(known) < _LEAST or not points:
            return None
        if len(self._scores) >= self._learned + _AGAIN or not self._learned:
            try:
                lightgbm = import_module("lightgbm")
            except ImportError:
                return None
            self._names = sorted({name for one in self._choices for name, _ in self._features(one)})
            worst = max(known) + 1
            target = [worst if math.isnan(one) else one for one in self._scores]
            table = lightgbm.Dataset(self._table(self._choices), np.asarray(target), params={"verbose": -1})
            parameters = {
                "objective": "regression", "num_leaves": 15, "min_data_in_leaf": 3, "learning_rate": 0.1,
                "seed": self._seed, "num_threads": 1, "verbose": -1,
            }  # fmt: skip
            self._model = lightgbm.train(parameters, table, num_boost_round=80)
            self._learned = len(self._scores)
        return [math.exp(one) for one in self._model.predict(self._table(points))]

    def _table(self, points: Sequence[Choices]) -> np.ndarray[Any, np.dtype[np.float64]]:
        table = np.zeros((len(points), len(self._names)))
        places = {name: at for at, name in enumerate(self._names)}
        for row, one in enumerate(points):
            for name, value in self._features(one):
                if name in places:
                    table[row, places[name]] = value
        return table

    def _features(self, choices: Choices) -> Iterator[tuple[str, float]]:
        """Numbers by names: sizes by their logarithm, words by the order in which they first came."""
        todo: list[tuple[str, Any]] = list(choices.items())
        while todo:
            name, value = todo.pop()
            if is_mapping(value):
                todo.extend((f"{name}.{key}", one) for key, one in value.items())
            elif is_listed(value):
                todo.extend((f"{name}.{at}", one) for at, one in enumerate(value))
            elif isinstance(value, bool) or value is None:
                yield name, -1.0 if value is None else float(value)
            elif isinstance(value, (int, float)):
                yield name, math.copysign(math.log2(1 + abs(value)), value)
            else:
                yield name, float(self._words.setdefault(str(value), len(self._words)))
