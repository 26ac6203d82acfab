"""The search: which points are tried, on which workers, and what their records say."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from ..errors import TilewrightError
from ..records import Journal, Trial
from .model import Ranker
from .process import close_workers, run_trial, start_processes
from .program import AnotherProgram, TunedProgram
from .space import Choices, Space, key_of

__all__ = ["Incumbent", "Search", "bar", "engine_of", "local_workers"]

_LOST = 3
"""A point is given to so many workers at the most; so many in a row that vanish end the run."""
_POOL = 256
"""Points are drafted by so many."""


@dataclass(frozen=True, slots=True)
class Incumbent:
    """The best schedule so far."""

    choices: Choices
    text: str
    score: float


@dataclass(slots=True)
class _Running:
    choices: Choices
    text: str
    trace: str
    against: Incumbent | None
    predicted: float | None
    begun: int = 1


def local_workers(target_kind: str, wanted: int | None) -> int:
    """How many trials run at once on this machine. Of target cpu one does: others would disturb its measuring."""
    return wanted or (1 if target_kind == "cpu" else min(16, os.cpu_count() or 1))


@contextmanager
def engine_of(executor: Executor | None, workers: int, device: int | None) -> Generator[Executor]:
    """What runs trials: `executor`, else threads of this process.

    Their processes start at once, with the one that measures on `device` where the trials are compiled apart.
    """
    if executor is not None:
        yield executor
        return
    own = ThreadPoolExecutor(workers, thread_name_prefix="tilewright-tune")
    try:
        starts = [own.submit(start_processes, device) for _ in range(workers)]
        yield own
        for one in starts:
            one.cancel()
    except BaseException:  # Ctrl-C waits for nothing
        own.shutdown(wait=False, cancel_futures=True)
        close_workers(wait=False)
        raise
    close_workers()
    own.shutdown()


class Search:
    """One run: points of a space until there are enough trials, no time or no points left."""

    measured: int

    def __init__(
        self, program: TunedProgram, space: Space, journal: Journal, seed: int, say: Callable[[str], None]
    ) -> None:
        self._program, self._space, self._journal, self._say = program, space, journal, say
        self._seed, self._rng = seed, random.Random(seed)
        self._ranker = Ranker(seed)
        self.trials: list[Trial] = []
        self.measured = 0
        self.best: Incumbent | None = None
        self.first: Incumbent | None = None
        self._first_error: float | None = None
        self._known: set[str] = set()
        self._drafted: dict[str, Choices] = {}
        self._is_drafted_out = False
        self._near: tuple[str, dict[str, Choices]] = ("", {})
        self._lost = 0

    def run(self, trials: int, seconds: float | None, engine: Executor, workers: int) -> None:
        """Makes trials until there are `trials`, those of earlier runs included."""
        limit = None if seconds is None else time.monotonic() + seconds
        for one in self._journal.trials(self._program.where):
            self._take(one, None)
        running: dict[Future[dict[str, Any]], _Running] = {}
        try:
            self._begin(engine)
            while True:
                over = limit is not None and time.monotonic() > limit
                room = 0 if over else min(workers + 1 - len(running), trials - len(self.trials) - len(running))
                for point, predicted in self._next(room):
                    made = self._made(point, predicted)
                    if made is not None:
                        running[self._submit(engine, made)] = made
                if not running:
                    if room <= 0 or not self._fresh(1):
                        return
                    continue
                done, _ = wait(running, timeout=0.1, return_when=FIRST_COMPLETED)
                for future in done:
                    self._finish(engine, running, future)
        except BaseException:
            for future in running:
                future.cancel()
            raise

    # ------------------------------------------------------------------ the first schedule

    def _begin(self, engine: Executor) -> None:
        """The first schedule is what all others are measured against, and never worse than what is returned."""
        choices = self._space.first()
        schedule, args = self._space.make(choices)
        text = self._program.schedule_text(schedule, args)
        self.first = Incumbent(choices, text, 1.0)
        key = key_of(choices)
        if key not in self._known:
            running = _Running(choices, text, schedule.trace().to_json(), None, None)
            self._record(running, self._answer(lambda: self._submit(engine, running), key))
        found = next((one for one in self.trials if one.choices == key and one.status != "lost"), None)
        if found is None or found.status != "ok":
            why = "the worker vanished" if found is None else f"{found.status}: {found.cause}"
            raise TilewrightError(f"expected a first schedule that runs and is right, got {key}: {why}")
        self._first_error = found.error
        if self.best is None:
            self.best = self.first

    # ------------------------------------------------------------------ points

    def _next(self, count: int) -> list[tuple[Choices, float | None]]:
        """The next points, each with its predicted score."""
        if count <= 0:
            return []
        points = self._fresh(count)
        predicted = self._ranker.predict(points)
        chosen: list[tuple[Choices, float | None]]
        if predicted is None:
            chosen = [(one, None) for one in points[:count]]
        else:
            ranked = sorted(zip(predicted, range(len(points))))
            chosen = [(points[at], score) for score, at in ranked[:count]]
            if chosen and len(points) > count and self._rng.random() < 0.25:  # to learn of what looks bad
                score, at = self._rng.choice(ranked[count:])
                chosen[-1] = (points[at], score)
        self._known.update(key_of(one) for one, _ in chosen)
        return chosen

    def _fresh(self, count: int) -> list[Choices]:
        """Points that were not tried: drafted ones and neighbours of the best one. A draft serves many calls."""
        assert self.best is not None
        best = key_of(self.best.choices)
        if self._near[0] != best:
            near = self._space.neighbours(self.best.choices, self._rng)
            self._near = best, {key_of(one): one for one in near}
        drafted, near = self._left(self._drafted), self._left(self._near[1])
        if len(drafted) < max(count, _POOL // 2):
            if not self._is_drafted_out or len(drafted) + len(near) < count:
                made = {key_of(one): one for one in self._space.draft(_POOL, self._rng)}
                self._is_drafted_out = made.keys() <= self._drafted.keys() | self._known
                drafted = self._left({**drafted, **made})
            self._drafted = drafted
        # Without predictions the draft's order counts, and every other point is a neighbour of the best one.
        points: dict[str, Choices] = {}
        for pair in itertools.zip_longest(drafted.items(), near.items()):
            points.update(one for one in pair if one is not None)
        return list(points.values())

    def _left(self, points: Mapping[str, Choices]) -> dict[str, Choices]:
        return {key: one for key, one in points.items() if key not in self._known}

    def _made(self, choices: Choices, predicted: float | None) -> _Running | None:
        try:
            schedule, args = self._space.make(choices)
            text = self._program.schedule_text(schedule, args)
        except AnotherProgram:
            raise
        except TilewrightError as error:
            self._add(Trial(key_of(choices), "refused", str(error), predicted=predicted), choices)
            return None
        return _Running(choices, text, schedule.trace().to_json(), self.best, predicted)

    # ------------------------------------------------------------------ trials

    def _submit(self, engine: Executor, running: _Running) -> Future[dict[str, Any]]:
        incumbent = None if running.against is None else running.against.text
        task = self._program.task(running.text, incumbent, self._first_error, self._seed)
        return engine.submit(run_trial, task)

    def _answer(self, submit: Callable[[], Future[dict[str, Any]]], key: str) -> dict[str, Any]:
        """The answer to a trial that is waited for, from another worker where one vanished."""
        while True:
            try:
                future = submit()
                while not wait([future], timeout=0.1).done:  # Ctrl-C is seen between two waits
                    pass
                answer = future.result()
                self._lost = 0
                return answer
            except Exception as error:
                self._is_lost(key, error)

    def _is_lost(self, key: str, error: Exception) -> None:
        """Records that a worker vanished: whatever an engine raises then. Ends the run where they all do."""
        self._lost += 1
        self._journal.add(self._program.where, Trial(key, "lost", f"{type(error).__name__}: {error}"))
        if self._lost >= _LOST:
            raise TilewrightError(
                f"expected workers that answer, got {_LOST} in a row that vanished; the last: {error}"
            ) from error

    def _finish(
        self, engine: Executor, running: dict[Future[dict[str, Any]], _Running], future: Future[dict[str, Any]]
    ) -> None:
        made = running.pop(future)
        try:
            answer = future.result()
        except Exception as error:
            self._is_lost(key_of(made.choices), error)
            if made.begun < _LOST:
                made.begun += 1
                running[self._submit(engine, made)] = made
            return
        self._lost = 0
        self._record(made, answer)

    def _record(self, made: _Running, answer: Mapping[str, Any]) -> None:
        score = None
        if answer["status"] == "ok":
            score = answer["ratio"] * (1.0 if made.against is None else made.against.score)
        trial = Trial(
            key_of(made.choices), answer["status"], answer.get("cause", ""), tuple(answer.get("seconds", ())),
            tuple(answer.get("against", ())), answer.get("ratio"), score, made.predicted, answer.get("error"),
            made.trace, "" if answer["status"] == "ok" else made.text,
        )  # fmt: skip
        self._add(trial, made.choices, made.text)

    def _add(self, trial: Trial, choices: Choices, text: str | None = None) -> None:
        self.measured += 1
        self._take(self._journal.add(self._program.where, trial), text, choices)
        counts = [one.status for one in self.trials]
        best = "" if self.best is None else f", best {1 / self.best.score:.3f}x the first"
        wrong = len(counts) - counts.count("ok")
        self._say(f"{len(counts)} trials{best}{f', {wrong} went wrong' if wrong else ''}")

    def _take(self, trial: Trial, text: str | None, choices: Choices | None = None) -> None:
        """A record of this run or of an earlier one."""
        if trial.status == "lost":
            return
        import json

        point: Choices = json.loads(trial.choices) if choices is None else choices
        self._known.add(trial.choices)
        self.trials.append(trial)
        self._ranker.add(point, trial.score)
        if trial.score is None or (self.best is not None and trial.score >= self.best.score):
            return
        if text is None:
            with contextlib.suppress(TilewrightError):
                text = self._program.schedule_text(*self._space.make(point))
        if text is not None:
            self.best = Incumbent(point, text, trial.score)

    # ------------------------------------------------------------------ the end

    def confirm(self, engine: Executor) -> tuple[float, tuple[float, float]]:
        """The best beside the first once more, with more calls: their ratio and median times."""
        assert self.best is not None and self.first is not None
        policy = self._program.policy
        most = max(policy.repeats[1], 30)
        careful = replace(policy, repeats=(min(30, most), most), precision=policy.precision / 2, hopeless=1e9)
        task = self._program.task(self.best.text, self.first.text, self._first_error, self._seed)
        from dataclasses import asdict

        task["policy"] = asdict(careful)
        answer = self._answer(lambda: engine.submit(run_trial, task), key_of(self.best.choices))
        if answer["status"] != "ok":
            key = key_of(self.best.choices)
            raise TilewrightError(f"the best schedule {key}: {answer['status']}: {answer['cause']}")
        return answer["ratio"], (statistics.median(answer["seconds"]), statistics.median(answer["against"]))


def bar(trials: int) -> Callable[[str], None]:
    """Says how far a run is, on one line of a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        return lambda text: None
    return lambda text: print(f"\r\x1b[Ktuning: {text} of {trials}", end="", file=sys.stderr, flush=True)
