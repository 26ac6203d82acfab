"""Fits the numbers of the matmul cost model to what candidates took on a GPU, and writes them where the model has them.

`python bench/fit_matmul_model.py CANDIDATES.json ... [--held-out FILE.json ...] [--seconds 60] [--folds 5] [--write]`

The files are what `bench/matmul_candidates.py` writes, or `bench/random_shapes.py`: of these the matmuls with the one
candidate that was chosen. Each names its device. First a least-squares fit of the
logarithms of the times, in which near-best candidates weigh more; then a random search for less regret. The regret of a
problem is the time of the candidate that the model takes for the fastest, over the time of the fastest. It is printed
for the numbers as they are, for fits to all `--folds` of the problems but one on that one, and for the fit to all. The
first and the last are also tried on the files that are held out. With `--write`, the numbers go to
`schedules/matmuls/cost_model.json`. Needs SciPy.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from tilewright.devices import find
from tilewright.schedules.matmuls import cost_model
from tilewright.schedules.matmuls.problem import Choice, Problem

SCHEDULES = ("matmul_wgmma", "matmul_mma")
# Shares of a published rate, which are at most 1.
SHARES = ("of_mma", "of_wgmma", "of_memory", "of_cache", "turning", "padding", "earlier")
# By which factor a number may change in one fit.
FARTHEST = math.log(20)


class Measured:
    """The candidates of some files: what the model counts of them, and what they took."""

    def __init__(self, paths: list[Path]) -> None:
        times: list[float] = []
        of: list[int] = []
        rows: dict[str, list[dict[str, float]]] = {schedule: [] for schedule in SCHEDULES}
        places: dict[str, list[int]] = {schedule: [] for schedule in SCHEDULES}
        self.problems: dict[tuple[Any, ...], int] = {}
        for path in paths:
            run = json.loads(path.read_text())
            device = find(run["device"])
            for entry in run["problems"] if "problems" in run else _chosen(run["cases"]):
                problem = Problem(*(entry[name] for name in ("M", "N", "K", "dtype", "layout")))
                # One that several files have is one problem, lest it be in both parts of a validation.
                number = self.problems.setdefault((problem, device.name), len(self.problems))
                for row in entry["candidates"]:
                    if "us" in row and row["right"]:
                        options = {key: tuple(v) if isinstance(v, list) else v for key, v in row["options"].items()}
                        choice = Choice(row["schedule"], options)
                        rows[choice.schedule].append(cost_model.counted(problem, choice, device))
                        places[choice.schedule].append(len(times))
                        times.append(row["us"])
                        of.append(number)
        self.times, self.of = np.array(times), np.array(of, int)
        self.best = np.full(len(self.problems), np.inf)
        np.minimum.at(self.best, self.of, self.times)
        self.is_one_of_several = (np.bincount(self.of) > 1)[self.of] if of else np.zeros(0, bool)
        self.columns = {
            schedule: {name: np.array([row[name] for row in found], float) for name in found[0]}
            for schedule, found in rows.items()
            if found
        }
        self.places = {schedule: np.array(found, int) for schedule, found in places.items()}

    def estimates(self, of: dict[str, float]) -> Any:
        """Microseconds of each candidate."""
        found = np.empty(len(self.times))
        for schedule, columns in self.columns.items():
            found[self.places[schedule]] = 1e6 * cost_model.seconds(schedule, columns, of)
        return found

    def regrets(self, estimates: Any, some: Any) -> Any:
        """Of each problem that has several candidates, the logarithm of the regret."""
        some = some & self.is_one_of_several
        least = np.full(len(self.problems), np.inf)
        np.minimum.at(least, self.of[some], estimates[some])
        chosen = some & (estimates <= least[self.of])
        numbers, first = np.unique(self.of[chosen], return_index=True)
        return np.log(self.times[chosen][first] / self.best[numbers])


def _chosen(cases: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What `random_shapes.py` says of matmuls by `matmul_mma` and `matmul_wgmma`, as `matmul_candidates.py` says it."""
    for case in cases:
        plan, _, options = case.get("plan", "").partition(" ")
        if plan not in SCHEDULES or "ms" not in case:
            continue
        a, b = ([int(one) for one in shape] for shape in re.findall(r"(\d+)x(\d+)", case["case"]))
        turned = ["T" if f"{name}=True" in case["case"] else "N" for name in ("transpose_a", "transpose_b")]
        M, K = reversed(a) if turned[0] == "T" else a
        candidate = {
            "schedule": plan,
            "options": ast.literal_eval(options),
            "us": 1e3 * case["ms"],
            "right": case["right"],
        }
        yield {
            "M": M,
            "N": b[0] if turned[1] == "T" else b[1],
            "K": K,
            "dtype": "tf32" if "tf32" in case["case"] else case["case"].split()[1],
            "layout": "".join(turned),
            "candidates": [candidate],
        }


class Fit:
    """The model's numbers as a vector of logarithms."""

    def __init__(self, start: dict[str, float]) -> None:
        self.names = list(start)
        most = np.where([name in SHARES for name in self.names], 0.0, np.inf)
        self.start = np.minimum(np.log(list(start.values())), most - 0.02)
        self.low, self.high = self.start - FARTHEST, np.minimum(self.start + FARTHEST, most)

    def of(self, vector: Any) -> dict[str, float]:
        return dict(zip(self.names, np.exp(vector).tolist(), strict=True))

    def to(self, data: Measured, some: Any, seconds: float) -> dict[str, float]:
        """The numbers fitted to some of the candidates."""
        weights = data.best[data.of] / data.times

        def errors(vector: Any) -> Any:
            return (np.log(data.estimates(self.of(vector)) / data.times) * weights)[some]

        options: dict[str, Any] = {"loss": "soft_l1", "f_scale": 0.1, "max_nfev": 60, "diff_step": 1e-3}
        found = least_squares(errors, self.start, bounds=(self.low, self.high), **options).x

        def cost(vector: Any) -> float:
            estimates = data.estimates(self.of(vector))
            far = np.abs(np.log(estimates / data.times) * weights)[some].mean()
            return data.regrets(estimates, some).mean() + 0.15 * far

        rng, least, end = np.random.default_rng(0), cost(found), time.monotonic() + seconds
        while time.monotonic() < end:
            tried = found.copy()
            changed = rng.choice(len(tried), rng.integers(1, 4), replace=False)
            tried[changed] += rng.normal(0, 0.15, len(changed))
            tried = np.clip(tried, self.low, self.high)
            if (now := cost(tried)) < least:
                found, least = tried, now
        return self.of(found)


def statistics_of(regrets: Any) -> str:
    """
    >>> statistics_of(np.log([1.0, 1.21]))
    'regret 1.100, at most 1.210'
    """
    return f"regret {math.exp(regrets.mean()):.3f}, at most {math.exp(regrets.max()):.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("candidates", type=Path, nargs="+")
    parser.add_argument("--held-out", type=Path, nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=60, help="of the random search (default: 60)")
    parser.add_argument("--folds", type=int, default=5, help="parts of a cross-validation; 0 for none (default: 5)")
    parser.add_argument("--write", action="store_true", help=f"the numbers to {cost_model.NUMBERS.name}")
    given = parser.parse_args()
    data, unseen = Measured(given.candidates), Measured(given.held_out)
    fit = Fit(dict(cost_model.numbers()))

    def tell(what: str, of: dict[str, float]) -> None:
        for where, some in (("", data), (", held out", unseen)):
            if len(some.times):
                estimates = some.estimates(of)
                far = np.exp(np.abs(np.log(estimates / some.times)).mean()) - 1
                everything = np.ones(len(some.times), bool)
                print(f"{what}{where}: {statistics_of(some.regrets(estimates, everything))}, off by {far:.0%}")

    tell("as it is", dict(cost_model.numbers()))
    others = []
    for fold in range(given.folds):
        apart = data.of % given.folds == fold
        found = fit.to(data, ~apart, given.seconds / given.folds)
        others.append(data.regrets(data.estimates(found), apart))
    if others:
        print(f"fitted to all of {given.folds} parts but one, on that: {statistics_of(np.concatenate(others))}")
    found = fit.to(data, np.ones(len(data.times), bool), given.seconds)
    tell("fitted", found)
    if given.write:
        text = {
            "what": "the numbers of cost_model.py, as bench/fit_matmul_model.py fitted them",
            "fitted_to": [path.name for path in given.candidates],
            "numbers": {name: float(f"{value:.4g}") for name, value in found.items()},
        }
        cost_model.NUMBERS.write_text(json.dumps(text, indent=1) + "\n")
        print(f"written to {cost_model.NUMBERS}")


if __name__ == "__main__":
    main()
