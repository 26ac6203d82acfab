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
from ..records import Journal, JournalError, Trial, Where
from ..target import Target
from .cluster import RayExecutor
from .policy import Policy
from .process import run_trial
from .program import TunedProgram
from .result import Result
from .rules import RuleSpace
from .search import Search, bar, local_workers
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
    This happens in a process that may hang or crash. Each trial is a record in the database, so a run that was killed
    continues where it was. The result is never slower than the first schedule.

    Parameters
    ----------
    program
        The outputs of a te program: what the rules of `tw.auto_schedule` could have chosen is searched. Or a space of
        your own, such as `Knobs`, whose schedules are all of one program.
    target
        "cuda" or "cpu", or a `Target`.
    trials
        How many records there shall be of the program, those of earlier runs into the same database included.
    database
        A file for the records, made where there is none. Without it they are lost with the result.
    args
        The order of the program's arguments; without it the inputs, then the outputs. A space brings its own.
    sizes
        The values of symbolic extents at which the program is measured, by name; those with a `max=` have that.
    device
        The GPU's number.
    policy
        How candidates are measured.
    executor
        What runs the trials: any `concurrent.futures.Executor`, such as that of a Dask or Ray cluster whose workers
        have this package. Without it threads of this process, each with a process of its own for the trials.
    workers
        How many trials run at once; one for target cpu unless it is given.
    seconds
        No trial begins after so many seconds.
    seed
        Of the inputs and of the search.
    progress
        Called with a line of text after each trial. Without it the line goes to the terminal, where there is one.

    Raises
    ------
    TilewrightError
        Where there is no device to measure on, the first schedule does not run or is wrong, or workers vanish.
    JournalError
        Where another process is tuning into the database.
    TypeError, ValueError
        For arguments that do not fit.

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
    if seconds is not None and not seconds >= 0:
        raise ValueError(f"expected seconds to be 0 or more, got {seconds!r}")
    if executor is not None and not isinstance(executor, Executor):
        raise TypeError(f"expected a concurrent.futures.Executor, got {type(executor).__name__}")
    space = _space_of(program, target, args)
    problem = TunedProgram(space.make(space.first())[1], target, device, sizes or {}, policy)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trials.db" if database is None else Path(database)
        with Journal(path) as journal, journal.writing():
            journal.add_program(problem.key, problem.text)
            say = progress or bar(trials)
            search = Search(problem, space, journal, seed, say)
            try:
                search.run(trials, seconds, executor, local_workers(target.kind, workers))
            finally:
                if progress is None and sys.stderr.isatty():
                    print(file=sys.stderr)
            ratio, times = search.confirm(executor)
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

    outputs = [program] if isinstance(program, Tensor) else list(program) if isinstance(program, Sequence) else []
    if not outputs or not all(isinstance(one, Tensor) for one in outputs):
        raise TypeError(f"expected the outputs of a program or a space, got {program!r}")
    return RuleSpace(outputs, target, args)
