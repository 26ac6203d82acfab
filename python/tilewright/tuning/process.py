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
from typing import IO, Any

__all__ = ["close_workers", "run_trial"]

_here = threading.local()
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


_workers: dict[int, _Worker] = {}
_lock = threading.Lock()


def run_trial(task: Mapping[str, Any]) -> dict[str, Any]:
    """Runs one trial in this thread's worker process, a new one where the last trial ended it.

    `tw.tune` gives its executor this function of the package and `task`, a dictionary of JSON types. A trial can
    therefore run on another machine.
    """
    worker: _Worker | None = getattr(_here, "worker", None)
    if worker is None or worker.process.poll() is not None:
        worker = _here.worker = _Worker()
        with _lock:
            _workers[threading.get_ident()] = worker
    answer = worker.ask(task, task["policy"]["timeout"])
    if answer["status"] in ("crash", "hang"):
        _here.worker = None
    return answer


def close_workers(*, wait: bool = True) -> None:
    """Ends the worker processes of this process; a trial that runs in one ends as a crash.

    Without `wait` they are told to end. Linux needs a tenth of a second and more to free the memory of one.
    """
    with _lock:
        workers = list(_workers.values())
        _workers.clear()
    for worker in workers:
        worker.process.kill()
    for worker in workers:
        if wait:
            worker.kill()
        else:
            threading.Thread(target=worker.kill, daemon=True).start()
