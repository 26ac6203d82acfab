"""Measured search for the schedule of a program."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import is_sequence, misfit
from ..messages.location import user_source
from ..records import Journal, JournalError, Trial, Where
from ..target import Target
from .cluster import RayExecutor
from .policy import Policy
from .process import run_trial
from .program import TunedProgram
from .result import Result
from .rules import RuleSpace
from .search import Search, bar, engine_of, local_workers
from .space import Choices, Knobs, Space, key_of

if TYPE_CHECKING:
    from ..te import Tensor

__all__ = [
    "Choices", "Journal", "JournalError", "Knobs", "Policy", "RayExecutor", "Result", "RuleSpace", "Space", "Trial",
    "Where", "key_of", "run_trial", "tune",
]  # fmt: skip


def tune(
    program: Tensor | Sequence[Tensor] | Space,
    target: Target | str | None = None,
    trials: int = 64,
    database: str | os.PathLike[str] | None = None,
    *,
    args: Sequence[Any] | None = None,
    sizes: Mapping[str, int] | None = None,
    device: int = 0,
    policy: Policy | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Result:
    """Searches for a fast schedule by measuring, beginning with the one that `tw.auto_schedule` makes.

    Each candidate is compiled, checked against the program in double precision, and timed beside the best one so far.
    A separate process does this, so a candidate that hangs or crashes ends only its own trial. Each trial is a record
    in the database, so a run that was killed continues where it stopped. The result is never slower than the first
    schedule.

    Parameters
    ----------
    program
        The outputs of a te program, to search what the rules of `tw.auto_schedule` can choose. Or your own space, such
        as `Knobs`, whose schedules are all of one program.
    target
        "cuda" or "cpu", or a `Target`.
    trials
        The number of trials in all. Trials of earlier runs with the same database count too.
    database
        The file of the records, which is created if it does not exist. Without a file the records are not kept.
    args
        The program's arguments in order. The default is the inputs, then the outputs. A space has its own arguments.
    sizes
        The values of symbolic extents for the measurements, by name. The default for an extent with `max=` is that.
    device
        The GPU's number.
    policy
        How candidates are measured.
    executor
        What runs the trials: any `concurrent.futures.Executor`, such as that of a Dask or Ray cluster whose workers
        have this package. The default is threads of this process, each with a separate process for its trials.
    workers
        How many trials run at the same time. The default for target cpu is one.
    seconds
        No trial starts after this many seconds.
    seed
        The seed of the random inputs and of the search.
    progress
        A function that is called with a line of text after each trial. By default a terminal shows the line.

    Raises
    ------
    TilewrightError
        There is no device to measure on, the first schedule fails or gives a wrong result, or workers disappear.
    JournalError
        Another process is writing to the database.
    TypeError, ValueError
        An argument is wrong.

    >>> import tilewright as tw
    >>> from tilewright import te
    >>> def scaled(factor):
    ...     A = te.placeholder((1024,), name="A")
    ...     B = te.compute((1024,), lambda i: A[i] * 2, name="B")
    ...     s = te.create_schedule(B.op)
    ...     outer, inner = s[B].split(B.op.axis[0], factor=factor)
    ...     s[B].vectorize(inner)
    ...     return s, [A, B]
    >>> result = tw.tune(tw.tuning.Knobs(scaled, factor=(4, 16)), "cpu", trials=2)
    >>> sorted(trial.status for trial in result.trials), result.score <= 1
    (['ok', 'ok'], True)
    """
    target, policy = Target.of(target), policy or Policy()
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 1:
        raise ValueError(f"expected trials to be 1 or more, got {trials!r}")
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise ValueError(f"expected workers to be 1 or more, got {workers!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"expected seed to be 0 or more, got {seed!r}")
    if seconds is not None and not seconds >= 0:
        raise ValueError(f"expected seconds to be 0 or more, got {seconds!r}")
    if executor is not None and not isinstance(executor, Executor):
        raise TypeError(f"expected a concurrent.futures.Executor, got {type(executor).__name__}")
    if wrong := misfit(progress, "text"):
        raise TypeError(f"{user_source()}: tune: progress: {wrong}")
    space = _space_of(program, target, args)
    problem = TunedProgram(space.make(space.first())[1], target, device, sizes or {}, policy)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trials.db" if database is None else Path(database)
        with Journal(path) as journal, journal.writing():
            journal.add_program(problem.key, problem.text)
            say = progress or bar(trials)
            search = Search(problem, space, journal, seed, say)
            count = local_workers(target.kind, workers)
            with engine_of(executor, min(count, trials), device if problem.apart else None) as engine:
                try:
                    search.run(trials, seconds, engine, count)
                finally:
                    if progress is None and sys.stderr.isatty():
                        print(file=sys.stderr)
                ratio, times = search.confirm(engine)
    assert search.best is not None and search.first is not None
    choices = search.best.choices if ratio < 1 else search.first.choices
    schedule, made = space.make(choices)
    if ratio >= 1:
        ratio, times = 1.0, (times[1], times[1])
    return Result(
        schedule, made, choices, ratio, times, tuple(search.trials), search.measured, problem.where, target,
        None if database is None else path,
    )  # fmt: skip


def _space_of(program: Any, target: Target, args: Sequence[Any] | None) -> Space:
    if all(callable(getattr(program, name, None)) for name in ("first", "draft", "neighbours", "make")):
        if args is not None:
            raise TypeError("expected no args beside a space: its schedules bring them")
        return program
    from ..te import Tensor

    outputs: list[Any] = [program] if isinstance(program, Tensor) else list(program) if is_sequence(program) else []
    if not outputs or not all(isinstance(one, Tensor) for one in outputs):
        raise TypeError(f"expected the outputs of a program or a space, got {program!r}")
    return RuleSpace(outputs, target, args)
