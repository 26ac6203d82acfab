"""Random programs with random schedules: first on the simulator, then those that it runs right on a GPU.

    python bench/fuzz_cuda.py sim SEEDS.json [--first 0] [--count 600]      on any machine
    timeout 240 python bench/fuzz_cuda.py cuda SEEDS.json OUT.json          on one with a GPU
    python bench/fuzz_cuda.py cuda - OUT.json --count 100000 --budget 600   there alone, without the simulator

A seed makes a program, a schedule for it and its inputs. Each is compiled, run with poisoned outputs and compared with
the exact result in float64. SEEDS.json says what became of each on the simulator, with all its checks and with the
widths that indices have on a GPU; only what was right there goes to the GPU. In place of the file, - takes all seeds
from --first on. Seeds mean what the generators make of them, so the file has their digest too.
Each of several processes works off seeds: one that dies, or does not answer in time, costs the seed that it was at. A
process that shares a GPU with others may be slow for their sake, so a late seed is run again afterwards, three times,
with nothing beside it: if it is right then, it is "slow", with the times that it took; if not, it is "late", with where
it hangs. A seed that went wrong stands in the file with its program, its schedule and the error; the exit status is 1
then. A slow one stands there, too.

OUT.json holds a list of runs, one for each call: a call adds its run to what is there, so that many short calls make a
long one. Seeds go on after those that OUT.json has of the same generators, unless --first says where. The file is
written every 20 seconds, and progress printed: a call that is killed loses no more than that.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import json
import os
import queue
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GENERATORS = [
    ROOT / "test" / "python" / "fuzz" / f"{name}.py"
    for name in (
        "choices", "dataflow", "extents", "gathers", "language", "loops", "program", "programs", "recurrences",
        "schedules", "scripts", "tiles", "typed",
    )
]  # fmt: skip
START, COMPILE, RUN = 120.0, 60.0, 30.0
"""Seconds that a process may take to start, with its GPU's context, and a seed to be compiled and to be run: so many
times them where --patience says so, for a machine that does other things first."""
SIMULATOR = "sim -gpu-indices=on"
"""Indices have the widths that they have on a GPU."""
ALONE = 3
"""How often a late seed is run again."""
EVERY = 20.0
"""Seconds between two writes of the results."""


def digest() -> str:
    """Of what makes programs and schedules of seeds."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in GENERATORS)).hexdigest()[:16]


def run(seed: int, target: str, tell: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """What became of one seed: "right", "refused", "wrong" or, where the device takes no more work, "fault"."""
    from fuzz.check import check
    from fuzz.choices import Choices, Seeded
    from fuzz.programs import random_program
    from fuzz.schedules import Scheduler
    from tilewright import LaunchError, ScheduleError

    begin = time.monotonic()
    taken: dict[str, float] = {}

    def built() -> None:
        taken["compile"] = time.monotonic() - begin
        tell({"at": "run"})

    choices = Choices(Seeded(seed))
    program = random_program(choices)
    scheduler = Scheduler(choices, program)
    try:
        check(program, scheduler.run(), target, built)
    except ScheduleError as error:
        return {"result": "refused", "error": str(error)}
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        source = f"{program.text}\n{scheduler.schedule.trace()}"
        return {"result": "fault" if isinstance(error, LaunchError) else "wrong", "error": told, "program": source}
    taken["run"] = time.monotonic() - begin - taken["compile"]
    return {"result": "right", "seconds": {part: round(seconds, 2) for part, seconds in taken.items()}}


def start(target: str) -> None:
    """What a process does once: its GPU's context, and a first kernel."""
    import numpy as np

    import tilewright as tw
    from tilewright import te, testing

    a = te.placeholder((8,), name="a")
    b = te.compute((8,), lambda i: a[i] + 1, name="b")
    s = te.create_schedule(b.op)
    s[b].bind(b.op.axis[0], te.thread_axis("threadIdx.x"))
    testing.run(tw.build(s, [a, b], target=target), [np.zeros(8, "float32")], [((8,), "float32")])


def work(target: str) -> None:
    """A process's part: reads seeds, a line each, and says of each when it is compiled, and what became of it."""
    sys.path.insert(0, str(ROOT / "test" / "python"))
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what else is printed goes elsewhere

    def tell(what: dict[str, Any]) -> None:
        answers.write(json.dumps(what) + "\n")

    start(target)
    tell({"at": "start"})
    for line in sys.stdin:
        answer = run(int(line), target, tell)
        tell(answer)
        if answer["result"] == "fault":
            return


class Worker:
    """A process that works off seeds."""

    def __init__(self, target: str, patience: float) -> None:
        self._patience = patience
        command = [sys.executable, str(Path(__file__).resolve()), "work", target]
        self._errors = tempfile.TemporaryFile("w+")
        # Each program is new: what a cache keeps of it is of no use. A core each: no library takes more.
        alone = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
            env={**os.environ, **alone, "TILEWRIGHT_CACHE": "off"},
        )  # fmt: skip
        self._read = b""
        self._is_ready = False

    def ask(self, seed: int, end: float) -> dict[str, Any]:
        """What became of a seed; "late" or "crash" where the process is no more, or "not reached" at `end`."""
        assert self._process.stdin is not None
        if not self._is_ready:
            told = self._line(START * self._patience, end)
            if told.get("at") != "start":
                return self._given_up(told, "start")
            self._is_ready = True
        self._process.stdin.write(f"{seed}\n".encode())
        self._process.stdin.flush()
        told = self._line(COMPILE * self._patience, end)
        if told.get("at") != "run":
            return told if "result" in told else self._given_up(told, "compile")
        told = self._line(RUN * self._patience, end)
        return told if "result" in told else self._given_up(told, "run")

    def _line(self, seconds: float, end: float) -> dict[str, Any]:
        """What the process tells next; why it tells nothing where it does not."""
        assert self._process.stdout is not None
        until = min(time.monotonic() + seconds, end)
        while b"\n" not in self._read:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                return {"silent": "not reached" if until == end else "late"}
            got = os.read(self._process.stdout.fileno(), 1 << 16)
            if not got:
                return {"silent": "crash"}
            self._read += got
        line, _, self._read = self._read.partition(b"\n")
        return json.loads(line)

    def _given_up(self, told: dict[str, Any], at: str) -> dict[str, Any]:
        """Ends the process, and has it say first where it is."""
        result = told.get("silent", "crash")
        if result == "late":
            self._process.send_signal(signal.SIGUSR1)
            time.sleep(1)
        if result == "crash":
            try:
                self._process.wait(10)  # its own status
            except subprocess.TimeoutExpired:
                pass
        self._process.kill()
        status = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read()[-2000:]
        return {"result": result, "at": at, "error": f"at {at}, exit status {status}\n{said}"}

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


Found = dict[int, dict[str, Any]]
"""By seed, what became of it."""


def run_all(
    seeds: list[int], target: str, processes: int, end: float, report: Callable[[Found], None] = lambda found: None,
    patience: float = 1,
) -> Found:  # fmt: skip
    """What became of each seed that was done at `end`. Calls `report` with what there is so far, now and then."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for seed in seeds:
        waiting.put(seed)
    found: Found = {}

    def serve() -> None:
        worker = Worker(target, patience)
        while time.monotonic() < end:
            try:
                seed = waiting.get_nowait()
            except queue.Empty:
                break
            answer = worker.ask(seed, end)
            if answer["result"] == "not reached":
                break
            found[seed] = answer
            if answer["result"] in ("crash", "late", "fault"):
                worker.close()
                worker = Worker(target, patience)
        worker.close()

    threads = [threading.Thread(target=serve) for _ in range(processes)]
    for thread in threads:
        thread.start()
    last = time.monotonic()
    for thread in threads:
        while thread.is_alive():
            thread.join(0.5)
            if time.monotonic() - last > EVERY:
                report(dict(sorted(found.copy().items())))
                last = time.monotonic()
    return dict(sorted(found.items()))


def run_alone(found: Found, target: str, end: float) -> None:
    """Runs what was late again, with nothing beside it: what is right each time was slow."""
    for seed, late in found.items():
        if late["result"] != "late":
            continue
        again = []
        worker = Worker(target, 1)
        for _ in range(ALONE):
            again.append(worker.ask(seed, end))
            if again[-1]["result"] in ("crash", "late", "fault", "not reached"):
                break
        worker.close()
        late["alone"] = again
        if len(again) == ALONE and all(one["result"] == "right" for one in again):
            late["result"] = "slow"


def counts(found: Found) -> dict[str, int]:
    return dict(sorted(Counter(one["result"] for one in found.values()).items()))


def earlier_runs(out: Path) -> list[dict[str, Any]]:
    """The runs that a file of results has."""
    if not out.exists():
        return []
    runs = json.loads(out.read_text()).get("runs")
    if not isinstance(runs, list):
        sys.exit(f"{out}: expected a file with runs, as this command writes it")
    return runs


def next_seed(runs: list[dict[str, Any]]) -> int:
    """The first seed after those of the runs with these generators."""
    return max((run["seeds"][1] + 1 for run in runs if run["generators"] == digest() and run["seeds"]), default=0)


def write(out: Path, runs: list[dict[str, Any]]) -> None:
    """The runs, and the sum of their counts for each version of the generators."""
    totals: dict[str, Counter[str]] = {}
    for run in runs:
        totals.setdefault(run["generators"], Counter()).update(run["counts"])
    fresh = out.with_name(f"{out.name}.part")
    fresh.write_text(json.dumps({"totals": totals, "runs": runs}, indent=1) + "\n")
    fresh.replace(out)


@cache
def commit() -> str:
    """Of the tree, asked for once: beside many processes git takes long."""
    told = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return told.stdout.strip()


def summary(found: Found, since: float) -> dict[str, Any]:
    seconds = {}
    for part in ("compile", "run"):
        taken = [one["seconds"][part] for one in found.values() if "seconds" in one]
        seconds[part] = {"median": round(statistics.median(taken), 2), "most": max(taken)} if taken else {}
    return {
        "command": f"python bench/fuzz_cuda.py {' '.join(sys.argv[1:])}",
        "commit": commit(),
        "generators": digest(),
        "seeds": [min(found), max(found)] if found else [],
        "counts": counts(found),
        "seconds": round(time.monotonic() - since, 1),
        "processor seconds": round(sum(os.times()[:4])),  # of the processes that ended as well
        "seconds a seed": seconds,
        "slow": {str(seed): one for seed, one in found.items() if one["result"] == "slow"},
        "went wrong": {
            str(seed): one for seed, one in found.items() if one["result"] not in ("right", "refused", "slow")
        },
    }


def progress(found: Found, since: float) -> None:
    seconds = time.monotonic() - since
    print(f"{seconds:.0f} s: {json.dumps(counts(found))}, {len(found) / seconds:.0f} a second", flush=True)


def run_on_gpu(options: argparse.Namespace, since: float, processes: int) -> dict[str, Any]:
    """Runs seeds on the GPU, and adds the run to the file of results."""
    runs = earlier_runs(options.out)
    if options.seeds == "-":
        first = next_seed(runs) if options.first is None else options.first
        seeds, which = list(range(first, first + options.count)), "all"
    else:
        given = json.loads(Path(options.seeds).read_text())
        if given["generators"] != digest():
            sys.exit(f"{options.seeds}: its seeds are of other generators (test/python/fuzz): make it anew with sim")
        seeds, which = given["right"], "those that the simulator runs right"
    # The driver says it by a process of its own: this one starts others, which have the GPU's contexts.
    ask = "import tilewright as tw; print(tw.cuda(0).name)"
    device = subprocess.run([sys.executable, "-c", ask], cwd=ROOT, capture_output=True, text=True, check=True)

    def save(found: Found) -> dict[str, Any]:
        figures = {"device": device.stdout.strip(), "which seeds": which, **summary(found, since)}
        last = max(found, default=-1)
        figures["not reached"] = sum(seed <= last for seed in seeds) - len(found)
        write(options.out, [*runs, figures])
        return figures

    def report(found: Found) -> None:
        progress(found, since)
        save(found)

    budget = options.budget or 200
    # A fifth of the time, a minute at most, is for what was late.
    until = since + budget - min(budget / 5, 60)
    found = run_all(seeds, "cuda", processes, until, report, options.patience)
    run_alone(found, "cuda", since + budget)
    return save(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=["sim", "cuda", "work"])
    parser.add_argument("seeds", help="the file of seeds, which sim writes and cuda reads; - for none")
    parser.add_argument("out", nargs="?", type=Path, help="the file of results, for cuda")
    parser.add_argument(
        "--first", type=int, help="the first seed, where no file has them (default: after those of OUT.json, or 0)"
    )
    parser.add_argument("--count", type=int, default=600, help="how many, where no file has them (default: 600)")
    parser.add_argument("--processes", type=int, default=0, help="how many (default: a core each)")
    parser.add_argument("--patience", type=float, default=1, help="times the seconds that a seed may take (default: 1)")
    parser.add_argument("--budget", type=float, default=0, help="seconds (default: 200 for cuda, 3600 for sim)")
    options = parser.parse_args()
    if options.target == "work":
        work(options.seeds)
        return 0
    since = time.monotonic()
    cores = len(os.sched_getaffinity(0))
    if options.target == "sim":
        first = options.first or 0
        end = since + (options.budget or 3600)
        counted = list(range(first, first + options.count))

        def save(found: Found) -> dict[str, Any]:
            figures = summary(found, since)
            figures["right"] = [seed for seed, one in found.items() if one["result"] == "right"]
            Path(options.seeds).write_text(json.dumps(figures) + "\n")
            return figures

        def report(found: Found) -> None:
            progress(found, since)
            save(found)

        processes = options.processes or cores
        figures = save(run_all(counted, SIMULATOR, processes, end, report, options.patience))
    elif options.out is None:
        parser.error("expected a file for the results")
    else:
        figures = run_on_gpu(options, since, options.processes or cores)
    print(json.dumps(figures["counts"]), f"{figures['seconds']} s")
    for seed, one in figures["slow"].items():
        print(f"--- seed {seed}: slow at {one['at']}, right alone: {[again['seconds'] for again in one['alone']]}")
    for seed, one in figures["went wrong"].items():
        print(f"--- seed {seed}: {one['result']}: {one['error']}\n{one.get('program', '')}")
    return 1 if figures["went wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
