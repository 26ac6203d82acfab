"""Trials in processes that may die, from any executor."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import IO, Any

__all__ = ["close_workers", "run_trial", "start_processes"]

_STARTING = 60.0
"""Seconds that a new process gets more, for its imports."""


class _Worker:
    """A process of `tilewright.tuning.worker`."""

    def __init__(self) -> None:
        self.told: IO[bytes] = tempfile.TemporaryFile()
        # What the process writes to its standard error goes to a file: nobody has to read it in time.
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tilewright.tuning.worker"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.told,
        )  # fmt: skip
        self.fresh, self._rest = True, b""

    def ask(self, task: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """The answer to a task; the status is "crash" or "hang" where there is none."""
        limit = time.monotonic() + seconds + (_STARTING if self.fresh else 0)
        self.fresh, phase = False, "starting"
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(task).encode() + b"\n")
            self.process.stdin.flush()
            while (line := self._line(limit)) is not None:
                answer = json.loads(line)
                if "status" in answer:
                    return answer
                phase = answer["phase"]
        except (BrokenPipeError, json.JSONDecodeError):
            pass
        hung = self.process.poll() is None and time.monotonic() >= limit
        cause = f"while {phase}: no end after {seconds:g} s" if hung else f"while {phase}: {self._end()}"
        self.kill()
        return {"status": "hang" if hung else "crash", "cause": cause}

    def _line(self, limit: float) -> bytes | None:
        """The next line of its output; None at its end or when the time is over."""
        assert self.process.stdout is not None
        while b"\n" not in self._rest:
            wait = limit - time.monotonic()
            if wait <= 0 or not select.select([self.process.stdout], [], [], wait)[0]:
                return None
            part = os.read(self.process.stdout.fileno(), 65536)
            if not part:
                return None
            self._rest += part
        line, self._rest = self._rest.split(b"\n", 1)
        return line

    def _end(self) -> str:
        """How the process ended, with the last line that it wrote."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        code = self.process.poll()
        how = "the process stopped answering" if code is None else f"the process ended with exit code {code}"
        if code is not None and code < 0:
            how = f"the process ended by {signal.Signals(-code).name}"
        self.told.seek(0)
        lines = [line for line in self.told.read().decode(errors="replace").splitlines() if line.strip()]
        return how + (f": {lines[-1].strip()[:500]}" if lines else "")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        for each in (self.process.stdin, self.process.stdout, self.told):
            with contextlib.suppress(OSError, AttributeError):
                each.close()  # pyright: ignore[reportOptionalMemberAccess]


class _Place:
    """Where one trial at a time runs: in a process, a new one where the last trial ended it."""

    def __init__(self) -> None:
        self.worker: _Worker | None = None
        self._one = threading.Lock()

    def prepare(self) -> None:
        """Starts the process unless a trial runs in it."""
        if self._one.acquire(blocking=False):
            try:
                self._started()
            finally:
                self._one.release()

    def _started(self) -> _Worker:
        if self.worker is None or self.worker.process.poll() is not None:
            self.worker = _starter().submit(_Worker).result()
        return self.worker

    def ask(self, task: Mapping[str, Any]) -> dict[str, Any]:
        with self._one:
            answer = self._started().ask(task, task["policy"]["timeout"])
            if answer["status"] in ("crash", "hang"):
                self.worker = None
            return answer


_places: dict[object, _Place] = {}
_lock = threading.Lock()


@cache
def _starter() -> ThreadPoolExecutor:
    """The thread that starts all processes: Linux ends a process that is to die with its parent when the thread ends
    that started it."""
    return ThreadPoolExecutor(1, thread_name_prefix="tilewright-starts")


def _forget() -> None:
    """A fork has neither that thread nor processes of its own."""
    _starter.cache_clear()
    _places.clear()


os.register_at_fork(after_in_child=_forget)


def _place_of(key: object) -> _Place:
    with _lock:
        return _places.setdefault(key, _Place())


def _own() -> _Place:
    """The place of this thread."""
    return _place_of(threading.get_ident())


def _measuring(device: int) -> _Place:
    """The place where all threads measure on a device: it has the inputs, the results and the device's context."""
    return _place_of(f"device {device}")


def run_trial(task: Mapping[str, Any]) -> dict[str, Any]:
    """Runs one trial in this thread's worker process, a new one where the last trial ended it.

    If `task["apart"]` is true, this thread's process only compiles. One process for all threads then checks and
    measures, and takes the kernel from the cache. `tw.tune` gives its executor this function of the package and `task`,
    a dictionary of JSON types. A trial can therefore run on another machine.
    """
    if not task["apart"]:
        return _own().ask(task)
    compiled = _own().ask({**task, "only": "compiling"})
    return compiled if compiled["status"] != "ok" else _measuring(task["device"]).ask(task)


def start_processes(device: int | None) -> None:
    """Starts this thread's worker process ahead of its first trial, and the one that measures on `device`."""
    if device is not None:
        _measuring(device).prepare()
    _own().prepare()


def close_workers(*, wait: bool = True) -> None:
    """Ends the worker processes of this process; a trial that runs in one ends as a crash.

    Without `wait` they are told to end. Linux needs a tenth of a second and more to free the memory of one.
    """
    with _lock:
        workers = [one.worker for one in _places.values() if one.worker is not None]
        _places.clear()
    for worker in workers:
        worker.process.kill()
    for worker in workers:
        if wait:
            worker.kill()
        else:
            threading.Thread(target=worker.kill, daemon=True).start()
