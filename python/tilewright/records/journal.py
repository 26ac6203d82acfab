"""The journal: every trial that was made, in an SQLite file to which records are only ever added."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sqlite3
import time
import warnings
from collections.abc import Generator
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, cast

from ..errors import TilewrightError
from ..errors import TilewrightValueError as ValueError
from ..messages.printable import printable

__all__ = ["Journal", "JournalError", "Trial", "Where"]

VERSION = 1
STATUSES = ("ok", "refused", "failed", "wrong", "crash", "hang", "lost")

_SCHEMA = """
create table journal (version integer not null);
create table programs (program text primary key, ir text not null);
create table trials (
  number integer primary key autoincrement, made real not null,
  program text not null, device text not null, driver text not null, compiler text not null, policy text not null,
  choices text not null, status text not null, cause text not null,
  seconds text not null, against text not null, ratio real, score real, predicted real, error real,
  trace text not null, reproducer text not null
);
create index trials_by_key on trials (program, device, driver, compiler, policy);
create trigger no_update before update on trials begin select raise(abort, 'records are only added'); end;
create trigger no_delete before delete on trials begin select raise(abort, 'records are only added'); end;
"""


def _json(text: object) -> Any:
    """What a text says as JSON, or None."""
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (json.JSONDecodeError, RecursionError):
        return None


class JournalError(TilewrightError):
    """A journal that cannot be used: somebody else writes into it, or its folder cannot be written."""


@dataclass(frozen=True, slots=True)
class Where:
    """What a record of a `Journal` belongs to. It says nothing of another program, device, driver
    or compiler, or of another way to measure.

    `program` is a hash of the program's IR, with the sizes at which it is measured.
    """

    program: str
    device: str
    driver: str
    compiler: str
    policy: str


@dataclass(frozen=True, slots=True)
class Trial:
    """One record of a `Journal`.

    Parameters
    ----------
    choices
        The point of the space, as JSON.
    status
        ``"ok"``; ``"refused"`` of choices without a schedule; ``"failed"`` where compiling or a call raised an error;
        ``"wrong"`` where the result was; ``"crash"`` and ``"hang"`` of the process; ``"lost"`` where the worker
        vanished, which says nothing of the candidate.
    cause
        What went wrong, "" where nothing did.
    seconds, against
        The times of the calls, and those of the incumbent between them, in seconds.
    ratio
        The candidate's time divided by the incumbent's.
    score
        The candidate's time divided by that of the first schedule, by way of the incumbents between.
    predicted
        The score that was predicted before measuring.
    error
        The largest error against double precision, divided by the root mean square of the result.
    trace
        The schedule, as the JSON of `Schedule.trace`.
    reproducer
        The program with its schedule as IR, of trials that went wrong: `tw.build` takes it.
    """

    choices: str
    status: str
    cause: str = ""
    seconds: tuple[float, ...] = ()
    against: tuple[float, ...] = ()
    ratio: float | None = None
    score: float | None = None
    predicted: float | None = None
    error: float | None = None
    trace: str = ""
    reproducer: str = ""
    number: int = 0
    made: float = field(default=0.0, compare=False)


_COLUMNS = [one.name for one in fields(Trial) if one.name != "number"]


class Journal:
    """The records in a file. One process writes at a time; any number read.

    A file that is damaged, or of another version, is moved aside, with a warning that says where to, and a new one is
    begun. Nothing in it is changed.

    Raises ValueError where the folder does not exist, or `path` is no file. JournalError where the file cannot be
    opened.

    >>> import tempfile
    >>> where = Where("program", "device", "driver", "compiler", "policy")
    >>> with tempfile.TemporaryDirectory() as folder, Journal(f"{folder}/tuning.db") as journal:
    ...     _ = journal.add(where, Trial('{"tile": 8}', "ok", seconds=(1e-3,), score=0.5))
    ...     [(one.choices, one.score) for one in journal.trials(where)]
    [('{"tile": 8}', 0.5)]
    """

    path: Path

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise ValueError(f"expected a database in a folder that exists, got {self.path}")
        if self.path.exists() and not self.path.is_file():
            raise ValueError(f"expected a file as database, got {self.path}")
        self._lock: int | None = None
        self._connection = self._open()

    def _open(self) -> sqlite3.Connection:
        if self.path.exists() and self.path.stat().st_size:
            problem = self._problem()
            if problem:
                aside = self._aside()
                os.rename(self.path, aside)
                for suffix in ("-wal", "-shm"):
                    with contextlib.suppress(FileNotFoundError):
                        os.rename(f"{self.path}{suffix}", f"{aside}{suffix}")
                warnings.warn(f"{self.path}: {problem}: moved to {aside}, and a new database begun", stacklevel=4)
        try:
            connection = sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)
            connection.execute("pragma trusted_schema=off")  # a view or trigger of the file's calls no functions
            connection.execute("pragma journal_mode=wal")
            connection.execute("pragma synchronous=normal")
            if not connection.execute("select count(*) from sqlite_master").fetchone()[0]:
                connection.executescript(f"begin immediate;{_SCHEMA}insert into journal values ({VERSION});commit;")
        except sqlite3.Error as error:
            raise JournalError(f"{self.path}: {error}") from None
        return connection

    def _problem(self) -> str:
        try:
            with contextlib.closing(
                sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True)
            ) as connection:
                if connection.execute("pragma quick_check").fetchone()[0] != "ok":
                    return "the database is damaged"
                (version,) = connection.execute("select version from journal").fetchone()
                connection.execute(f"select {', '.join(_COLUMNS)} from trials limit 1").fetchone()
        except (sqlite3.Error, TypeError) as error:
            return f"no database of this version, or a damaged one ({error})"
        return "" if version == VERSION else f"expected a database of version {VERSION}, got version {version}"

    def _aside(self) -> Path:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        for count in range(1000):
            aside = self.path.with_name(f"{self.path.name}.{stamp}{f'-{count}' if count else ''}")
            if not aside.exists():
                return aside
        raise JournalError(f"{self.path}: found no name to move it aside to")

    @contextlib.contextmanager
    def writing(self) -> Generator[None]:
        """Holds the right to write. Raises JournalError where another process has it."""
        handle = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise JournalError(f"{self.path}: another process is tuning into this database") from None
            yield
        finally:
            os.close(handle)

    def add(self, where: Where, trial: Trial) -> Trial:
        """Adds the record `trial`, measured at `where`, and returns it with its number and time. Raises ValueError for
        a status that is none, JournalError where the file cannot be written.
        """
        if trial.status not in STATUSES:
            raise ValueError(f"expected a status ({', '.join(STATUSES)}), got {trial.status!r}")
        made = trial.made or time.time()
        values = {**asdict(where), **{name: getattr(trial, name) for name in _COLUMNS}, "made": made}
        for name in ("seconds", "against"):
            values[name] = json.dumps(values[name])
        names = ", ".join(values)
        try:
            cursor = self._connection.execute(
                f"insert into trials ({names}) values ({', '.join('?' * len(values))})", list(values.values())
            )
        except sqlite3.Error as error:
            raise JournalError(f"{self.path}: {error}") from None
        return replace(trial, number=cursor.lastrowid or 0, made=made)

    def add_program(self, program: str, text: str) -> None:
        """Keeps the IR of a program, `text`, once."""
        self._connection.execute("insert or ignore into programs values (?, ?)", (program, text))

    def trials(self, where: Where) -> list[Trial]:
        """The records of a program under the same conditions `where`, in the order in which they were made."""
        return self._select(" and ".join(f"{name} = ?" for name in asdict(where)), list(asdict(where).values()))

    def ranked(self, program: str, device: str) -> list[Trial]:
        """The right schedules of a program on a device, the fastest first.

        They are those of the newest driver and compiler that were measured: scores are compared within one set of
        conditions alone.
        """
        where = self.newest(program, device)
        trials = [] if where is None else self.trials(where)
        return sorted((one for one in trials if one.status == "ok" and one.score), key=lambda one: one.score or 0)

    def newest(self, program: str, device: str) -> Where | None:
        """The conditions of the newest record of a program on a device that is right; None where there is none."""
        found = self._connection.execute(
            "select driver, compiler, policy from trials where program = ? and device = ? and status = 'ok' "
            "order by number desc limit 1",
            (program, device),
        ).fetchone()
        return None if found is None else Where(program, device, *found)

    def _select(self, condition: str, values: list[Any]) -> list[Trial]:
        rows = self._connection.execute(
            f"select number, {', '.join(_COLUMNS)} from trials where {condition} order by number", values
        )
        return [self._trial(dict(zip(("number", *_COLUMNS), row))) for row in rows]

    def _trial(self, known: dict[str, Any]) -> Trial:
        """A record; others may have written into the file what none is."""

        def fail(name: str, expected: str) -> JournalError:
            got = printable(repr(known[name]))
            return JournalError(f"{self.path}: record {known['number']}: expected {expected} as {name}, got {got[:80]}")

        for name in ("choices", "status", "cause", "trace", "reproducer"):
            if not isinstance(known[name], str):
                raise fail(name, "text")
        if known["status"] not in STATUSES:
            raise fail("status", f"one of {', '.join(STATUSES)}")
        if not isinstance(_json(known["choices"]), dict):
            raise fail("choices", "a JSON object")
        for name in ("ratio", "score", "predicted", "error"):
            if not isinstance(known[name], (float, type(None))):
                raise fail(name, "a number")
        for name in ("seconds", "against"):
            found: Any = _json(known[name])
            if not isinstance(found, list) or not {int, float}.issuperset(map(type, cast(list[Any], found))):
                raise fail(name, "a JSON array of numbers")
            known[name] = tuple(cast(list[Any], found))
        return Trial(**known)

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
