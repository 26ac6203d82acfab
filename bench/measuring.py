"""Cases that a process a core compiles and one process measures within a budget of time, and the file of results.

A kernel that hangs or faults ends the process that measures, not the run.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

# A case that says nothing for so long hangs.
_SILENCE = 60.0
_WRITE_EVERY = 20.0
_CONTEXT = multiprocessing.get_context("spawn")


def summary(results: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The figures of a group.

    >>> summary([{"ratio": 1.0, "right": True}, {"ratio": 4.0, "right": True}, {"error": "no such kernel"}])
    {'measured': 2, 'failed': 1, 'wrong': 0, 'geomean': 2.0, 'worst': 1.0, 'below_0.9': 0, \
'geomean_without_the_outlier': 4.0, 'worst_without_the_outlier': 4.0}
    """
    results = list(results)
    ratios = sorted(one["ratio"] for one in results if "ratio" in one and one["right"])
    found: dict[str, Any] = {
        "measured": sum("ratio" in one for one in results),
        "failed": sum("ratio" not in one for one in results),
        "wrong": sum(not one.get("right", True) for one in results),
    }
    if not ratios:
        return found
    mean = statistics.geometric_mean(ratios)
    found |= {"geomean": round(mean, 4), "worst": ratios[0], "below_0.9": sum(one < 0.9 for one in ratios)}
    outlier = max(ratios, key=lambda one: abs(math.log(one / mean)))
    # The library's own choice alone, as torch calls it.
    own = [
        next(iter(one["peers_ms"].values())) / one["ms"] for one in results if one.get("right") and "peers_ms" in one
    ]
    if own:
        found |= {"geomean_beside_torch": round(statistics.geometric_mean(own), 4), "worst_beside_torch": min(own)}
    rest = list(ratios)
    rest.remove(outlier)
    if rest:
        found["geomean_without_the_outlier"] = round(statistics.geometric_mean(rest), 4)
        found["worst_without_the_outlier"] = rest[0]
    return found


class Record:
    """What was measured, written to a file now and then."""

    def __init__(self, path: Path, head: dict[str, Any], total: int) -> None:
        self.path, self.head, self.total = path, head, total
        self.results: list[dict[str, Any]] = []
        self._written = time.monotonic()

    def add(self, case: Any, result: dict[str, Any]) -> None:
        """`case` has a group, and is told as text."""
        self.results.append({"group": case.group, "case": str(case), **result})
        ratio = f"{result['ratio']:.3f}" if "ratio" in result else "-"
        why = "" if result.get("right") else " WRONG" if "right" in result else f" {result.get('failure')}"
        print(f"[{len(self.results)}/{self.total}] {ratio} {case} {result.get('plan', '')}{why}", flush=True)
        if time.monotonic() - self._written > _WRITE_EVERY:
            self.write()

    def write(self) -> None:
        """Replaces the file at once: who reads it never finds half of one."""
        names = dict.fromkeys(one["group"] for one in self.results)
        groups = {group: [one for one in self.results if one["group"] == group] for group in names}
        text = {
            **self.head,
            "summary": {group: summary(found) for group, found in groups.items()},
            "cases": self.results,
        }
        whole = self.path.with_suffix(".part")
        whole.write_text(json.dumps(text, indent=1) + "\n")
        whole.replace(self.path)
        self._written = time.monotonic()


def compile_all(
    cases: Sequence[Any], target: str, workers: int, until: float, work: Callable[..., dict[str, Any]]
) -> list[dict[str, Any]]:
    """What `work` says of each case; those that are not ready in time are given up."""
    said: list[dict[str, Any]] = [{"failure": "it was not compiled in time"} for _ in cases]
    pool = ProcessPoolExecutor(workers, mp_context=_CONTEXT)
    jobs: dict[Future[dict[str, Any]], int] = {pool.submit(work, case, target): i for i, case in enumerate(cases)}
    waiting, shown = set(jobs), time.monotonic()
    while waiting and time.monotonic() < until:
        done, waiting = wait(waiting, timeout=2, return_when=FIRST_COMPLETED)
        for job in done:
            try:
                said[jobs[job]] = job.result()
            except Exception as error:  # its process died
                said[jobs[job]] = {"failure": f"compiling: {type(error).__name__}: {error}"}
        if time.monotonic() - shown > 5:
            print(f"compiled {len(jobs) - len(waiting)} of {len(jobs)}", flush=True)
            shown = time.monotonic()
    running = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in running if waiting else ():
        process.kill()
    return said


def answer(pipe: Connection, measure: Callable[[Any], dict[str, Any]]) -> None:
    """Measures the cases that are sent until one of them leaves the GPU unusable."""
    while (case := pipe.recv()) is not None:
        try:
            pipe.send(measure(case))
        except Exception as error:
            pipe.send({"failure": f"{type(error).__name__}: {str(error).splitlines()[0]}"})
            if "CUDA" in str(error) or "cuda" in type(error).__name__.lower():
                return  # nothing that this process measures after a fault is worth anything


class Measuring:
    """A process that measures, and another one after it died."""

    def __init__(self, serve: Callable[..., None], *args: Any) -> None:
        self._args, self._serve = args, serve
        self.about: dict[str, Any] = {}
        self._start()

    def _start(self) -> None:
        self._pipe, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=self._serve, args=(theirs, *self._args), daemon=True)
        self._process.start()
        theirs.close()
        self.about = self._receive(4 * _SILENCE)
        if "failure" in self.about:
            raise SystemExit(f"nothing can be measured: {self.about['failure']}")

    def _receive(self, seconds: float) -> dict[str, Any]:
        try:
            if self._pipe.poll(seconds):
                return self._pipe.recv()
            failure = f"no answer for {seconds:.0f} s"
        except (EOFError, OSError):
            self._process.join(5)
            failure = f"its process died, exit code {self._process.exitcode}"
        self.end()
        return {"failure": failure}

    def __call__(self, case: Any) -> dict[str, Any]:
        if not self._process.is_alive():
            self._start()
        try:
            self._pipe.send(case)
        except (BrokenPipeError, OSError):
            self.end()
            self._start()
            self._pipe.send(case)
        return self._receive(_SILENCE)

    def end(self) -> None:
        self._process.kill()
        self._process.join()


def parser_of(doc: str | None, out: str, *, budget: float, repeat: int) -> argparse.ArgumentParser:
    """The options that all such runs have."""
    parser = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    parser.add_argument("--budget", type=float, default=budget, help=f"seconds in all (default: {budget:.0f})")
    parser.add_argument("--out", type=Path, default=Path(out))
    parser.add_argument("--target", default="cuda -device=H200")
    parser.add_argument("--repeat", type=int, default=repeat)
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) - 1))
    parser.add_argument("--only-compile", action="store_true", help="measure nothing, which needs no GPU")
    return parser


def run_cases(
    cases: Sequence[Any],
    given: argparse.Namespace,
    prepare: Callable[..., dict[str, Any]],
    serve: Callable[..., None],
    arguments: Sequence[Any],
    *,
    share: float,
    environment: Callable[[str], dict[str, str]] = lambda folder: {},
) -> None:
    """Compiles all cases in `share` of the budget, measures one after the other, and writes and prints their figures.

    Kernels of earlier runs do not count: what is compiled is what this commit compiles. `environment` says what else
    the processes find in their environment, from the folder of this run's caches.
    """
    begin = time.monotonic()
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    head = {"command": " ".join(["python", *sys.argv]), "commit": commit}
    if "seed" in given:
        head["seed"] = given.seed
    record = Record(given.out, head, len(cases))
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"TILEWRIGHT_CACHE": "on", "TILEWRIGHT_CACHE_DIR": folder, **environment(folder)}
        said = compile_all(cases, given.target, given.workers, begin + share * given.budget, prepare)
        print(f"compiled after {time.monotonic() - begin:.0f} s", flush=True)
        measuring = None if given.only_compile else Measuring(serve, *arguments)
        head |= measuring.about if measuring else {}
        for case, about in zip(cases, said):
            if time.monotonic() - begin > given.budget:
                print(f"the budget is spent; {len(cases) - len(record.results)} cases are left", flush=True)
                break
            ready = measuring is not None and "failure" not in about
            record.add(case, about | (measuring(case) if ready and measuring else {}))
        record.write()
        if measuring:
            measuring.end()
    for group in dict.fromkeys(case.group for case in cases):
        found = summary(one for one in record.results if one["group"] == group)
        print(group, json.dumps(found), flush=True)
