"""Fits the numbers of the matmul cost model to what candidates took on a GPU.

`python bench/fit_matmul_model.py CANDIDATES.json [--device H100] [--seconds 60]`: the file is what
`bench/matmul_candidates.py` writes. First a least-squares fit of the logarithms of the times, in which near-best
candidates weigh more; then a random search for less regret. The regret of a problem is the time of the candidate that
the model takes for the fastest, over the time of the fastest. Numbers are printed, and with the regret that a fit to
half of the problems has on the other half; nothing is written. Needs SciPy.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from tilewright.devices import find
from tilewright.schedules.matmuls import cost_model
from tilewright.schedules.matmuls.problem import Choice, Problem

# Shares of a published rate, which are at most 1.
SHARES = ("_OF_MMA", "_OF_WGMMA", "_OF_MEMORY", "_OF_CACHE", "_TURNING", "_FLOAT8", "_STREAMED")
# By which factor a number may change in one fit.
FARTHEST = math.log(8)


class Model:
    """The model's numbers as a vector, and its estimates of all measured candidates."""

    def __init__(self, path: Path, device: str) -> None:
        self.device = find(device)
        self.candidates: list[tuple[Problem, Choice]] = []
        times, of = [], []
        for number, entry in enumerate(json.loads(path.read_text())["problems"]):
            problem = Problem(*(entry[name] for name in ("M", "N", "K", "dtype", "layout")))
            for row in entry["candidates"]:
                if "us" in row and row["right"]:
                    options = {key: tuple(v) if isinstance(v, list) else v for key, v in row["options"].items()}
                    self.candidates.append((problem, Choice(row["schedule"], options)))
                    times.append(row["us"])
                    of.append(number)
        self.times, self.of = np.array(times), np.array(of)
        self.names = [
            name for name in vars(cost_model) if name[1:].isupper() and isinstance(getattr(cost_model, name), float)
        ]
        self.start = np.log([getattr(cost_model, name) for name in self.names])

    def estimates(self, numbers: Any) -> Any:
        """Microseconds of each candidate, with the logarithms of the numbers."""
        for name, value in zip(self.names, numbers):
            setattr(cost_model, name, math.exp(value))
        return 1e6 * np.array(
            [cost_model.estimate(problem, choice, self.device) for problem, choice in self.candidates]
        )

    def regrets(self, estimates: Any, some: Any) -> Any:
        """Of each problem, the logarithm of the regret."""
        found = []
        for number in np.unique(self.of[some]):
            at = np.where(self.of == number)[0]
            found.append(math.log(self.times[at[np.argmin(estimates[at])]] / self.times[at].min()))
        return np.array(found)

    def fit(self, some: Any, seconds: float) -> Any:
        most = np.where([name in SHARES for name in self.names], 0.0, np.inf)
        start = np.minimum(self.start, most - 0.02)
        low, high = start - FARTHEST, np.minimum(start + FARTHEST, most)
        best_of = np.array([self.times[self.of == number].min() for number in self.of])

        def errors(numbers: Any) -> Any:
            return (np.log(self.estimates(numbers) / self.times) * best_of / self.times)[some]

        options: dict[str, Any] = {"loss": "soft_l1", "f_scale": 0.1, "max_nfev": 25, "diff_step": 1e-3}
        found = least_squares(errors, start, bounds=(low, high), **options).x

        def cost(numbers: Any) -> float:
            return self.regrets(self.estimates(numbers), some).mean() + 0.15 * np.abs(errors(numbers)).mean()

        rng, least, end = np.random.default_rng(0), cost(found), time.monotonic() + seconds
        while time.monotonic() < end:
            tried = found.copy()
            changed = rng.choice(len(tried), rng.integers(1, 4), replace=False)
            tried[changed] += rng.normal(0, 0.15, len(changed))
            tried = np.clip(tried, low, high)
            if (now := cost(tried)) < least:
                found, least = tried, now
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("candidates", type=Path)
    parser.add_argument("--device", default="H100")
    parser.add_argument("--seconds", type=float, default=60, help="of the random search (default: 60)")
    given = parser.parse_args()
    model = Model(given.candidates, given.device)
    everything = np.ones(len(model.of), bool)

    def tell(what: str, numbers: Any, some: Any) -> None:
        regrets = np.exp(model.regrets(model.estimates(numbers), some))
        print(f"{what}: regret {statistics_of(regrets)}")

    tell("as it is", model.start, everything)
    for half in (0, 1):
        fitted = model.of // 6 % 2 == half
        tell(f"half {half}, on the other", model.fit(fitted, given.seconds / 4), ~fitted)
    found = model.fit(everything, given.seconds)
    tell("fitted", found, everything)
    for name, value in zip(model.names, found):
        print(f"{name} = {math.exp(value):.3g}")


def statistics_of(regrets: Any) -> str:
    """
    >>> statistics_of(np.array([1.0, 1.21]))
    '1.100, at most 1.210'
    """
    return f"{math.exp(np.log(regrets).mean()):.3f}, at most {regrets.max():.3f}"


if __name__ == "__main__":
    main()
