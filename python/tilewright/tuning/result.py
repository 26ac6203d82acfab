"""What a tuning run found."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..records import Trial, Where
from .picture import checked_picture, new_figure
from .space import Choices

if TYPE_CHECKING:
    from ..compiler import Function
    from ..target import Target
    from ..te.schedule import Schedule

__all__ = ["Result"]


@dataclass(frozen=True, slots=True)
class Result:
    """What `tw.tune` found: the best schedule, and every trial.

    Parameters
    ----------
    schedule, args
        The best schedule with the arguments for `tw.build`.
    choices
        The point of the space that gives it.
    score
        Its time divided by that of the first schedule, both measured once more at the end, side by side. 1.0 where
        nothing better was found.
    seconds
        The medians of these two measurements: of the best and of the first schedule.
    trials
        All records of this program under the same conditions, those of earlier runs among them.
    measured
        How many of them this run made.
    """

    schedule: Schedule = field(repr=False)
    args: Sequence[Any] = field(repr=False)
    choices: Choices
    score: float
    seconds: tuple[float, float]
    trials: tuple[Trial, ...] = field(repr=False)
    measured: int
    where: Where = field(repr=False)
    target: Target
    database: Path | None

    def build(self, name: str | None = None) -> Function:
        """The compiled function of the best schedule, called `name`."""
        from ..compiler import build

        return build(self.schedule, self.args, self.target, name)

    def report(self) -> str:
        """A summary as text: the gain, how the trials ended, and why those failed that did."""
        best, first = self.seconds
        lines = [
            f"{first / best:.3f}x the first schedule: {_time(best)} beside {_time(first)} ({self.where.device})",
            f"choices: {', '.join(f'{name}={value}' for name, value in self.choices.items()) or 'none'}",
        ]
        counts = Counter(one.status for one in self.trials)
        told = ", ".join(f"{count} {status}" for status, count in counts.most_common())
        lines.append(f"{len(self.trials)} trials, {self.measured} of them in this run: {told}")
        failures = Counter((one.status, one.cause.splitlines()[0] if one.cause else "") for one in self.trials)
        for (status, cause), count in failures.most_common():
            if status != "ok":
                lines.append(f"  {count} x {status}: {cause}")
        if any(one.reproducer for one in self.trials):
            lines.append('the IR of a trial that went wrong is its `reproducer`: tw.build takes it, start="te"')
        if self.database is not None:
            lines.append(f"records: {self.database}")
        return "\n".join(lines)

    __str__ = report

    def plot(self, path: str | os.PathLike[str]) -> Path:
        """Draws the search: the score of each trial with the best so far, and predicted beside measured scores.

        Needs matplotlib (``pip install 'tilewright[plot]'``). Returns the file's path. Raises TilewrightError without
        matplotlib, ValueError for a file of another kind.
        """
        made = checked_picture(path)
        figure = new_figure(figsize=(10, 4), layout="constrained")
        left, right = figure.subplots(1, 2)
        points = [(at, one) for at, one in enumerate(self.trials) if one.score is not None]
        best: list[float] = []
        for _, one in points:
            best.append(min([*best[-1:], one.score or 1.0]))
        left.plot([at for at, _ in points], [one.score for _, one in points], "o", markersize=4, label="trial")
        left.step([at for at, _ in points], best, where="post", label="best so far")
        wrong = [at for at, one in enumerate(self.trials) if one.score is None]
        if wrong:
            left.plot(wrong, [1.0] * len(wrong), "x", color="gray", markersize=4, label="went wrong")
        left.axhline(1.0, color="gray", linewidth=0.8)
        left.set(xlabel="trial", ylabel="time / time of the first schedule", yscale="log")
        left.legend()
        predicted = [
            (one.predicted, one.score) for _, one in points if one.predicted is not None and one.score is not None
        ]
        right.plot([x for x, _ in predicted], [y for _, y in predicted], "o", markersize=4)
        values = [value for point in predicted for value in point]
        ends = [min(values, default=0.5), max(values, default=1.0)]
        right.plot(ends, ends, color="gray", linewidth=0.8)
        right.set(xlabel="predicted", ylabel="measured", xscale="log", yscale="log", title="time / time of the first")
        figure.savefig(made, dpi=150)
        return made


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"
