"""Random programs with random schedules: first on the simulator, then those that it runs right on a GPU.

    python bench/fuzz_cuda.py sim SEEDS.json [--first 0] [--count 600]      on any machine
    timeout 240 python bench/fuzz_cuda.py cuda SEEDS.json OUT.json          on one with a GPU

A seed makes a program, a schedule for it and its inputs. Each is compiled, run with poisoned outputs and compared with
the exact result in float64. SEEDS.json says what became of each on the simulator, with all its checks; only what was
right there goes to the GPU. Seeds mean what the generators make of them, so the file has their digest too.
Each of several processes works off seeds: one that dies, or does not answer, costs the seed that it was at. A seed that
went wrong stands in the file with its program, its schedule and the error; the exit status is 1 then.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import queue
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GENERATORS = [
    ROOT / "test" / "python" / "fuzz" / f"{name}.py"
    for name in ("choices", "dataflow", "language", "loops", "programs", "schedules")
]


def digest() -> str:
    """Of what makes programs and schedules of seeds."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in GENERATORS)).hexdigest()[:16]


def run(seed: int, target: str) -> dict[str, Any]:
    """What became of one seed: "right", "refused", "wrong" or, where the device takes no more work, "fault"."""
    from fuzz.check import check
    from fuzz.choices import Choices, Seeded
    from fuzz.programs import random_program
    from fuzz.schedules import Scheduler
    from tilewright import LaunchError, ScheduleError

    choices = Choices(Seeded(seed))
    program = random_program(choices)
    scheduler = Scheduler(choices, program)
    try:
        check(program, scheduler.run(), target)
    except ScheduleError as error:
        return {"result": "refused", "error": str(error)}
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        source = f"{program.text}\n{scheduler.schedule.trace()}"
        return {"result": "fault" if isinstance(error, LaunchError) else "wrong", "error": told, "program": source}
    return {"result": "right"}


def work(target: str) -> None:
    """A process's part: reads seeds, a line each, and answers each with a line."""
    sys.path.insert(0, str(ROOT / "test" / "python"))
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what else is printed goes elsewhere
    for line in sys.stdin:
        answer = run(int(line), target)
        answers.write(json.dumps(answer) + "\n")
        if answer["result"] == "fault":
            return


class Worker:
    """A process that works off seeds."""

    def __init__(self, target: str) -> None:
        command = [sys.executable, str(Path(__file__).resolve()), "work", target]
        self._errors = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True
        )

    def ask(self, seed: int, seconds: float) -> dict[str, Any]:
        """What became of a seed; "late" or "crash" where the process is no more."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(f"{seed}\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], seconds)
        line = process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        process.kill()
        status = process.wait()
        self._errors.seek(0)
        return {"result": "crash" if ready else "late", "error": f"exit status {status}\n{self._errors.read()[-2000:]}"}

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def run_all(seeds: list[int], target: str, processes: int, budget: float) -> dict[int, dict[str, Any]]:
    """What became of each seed that was taken up within `budget` seconds."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for seed in seeds:
        waiting.put(seed)
    found: dict[int, dict[str, Any]] = {}
    end = time.monotonic() + budget

    def serve() -> None:
        worker = Worker(target)
        while time.monotonic() < end:
            try:
                seed = waiting.get_nowait()
            except queue.Empty:
                break
            # A late one still leaves time to write the file.
            found[seed] = worker.ask(seed, min(60.0, end + 15 - time.monotonic()))
            if found[seed]["result"] in ("crash", "late", "fault"):
                worker.close()
                worker = Worker(target)
        worker.close()

    threads = [threading.Thread(target=serve) for _ in range(processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return dict(sorted(found.items()))


def summary(found: dict[int, dict[str, Any]], since: float) -> dict[str, Any]:
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    return {
        "command": f"python bench/fuzz_cuda.py {' '.join(sys.argv[1:])}",
        "commit": commit,
        "generators": digest(),
        "counts": dict(sorted(Counter(one["result"] for one in found.values()).items())),
        "seconds": round(time.monotonic() - since, 1),
        "went wrong": {str(seed): one for seed, one in found.items() if one["result"] not in ("right", "refused")},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=["sim", "cuda", "work"])
    parser.add_argument("seeds", help="the file of seeds, which sim writes and cuda reads")
    parser.add_argument("out", nargs="?", type=Path, help="the file of results, for cuda")
    parser.add_argument("--first", type=int, default=0, help="the first seed, for sim (default: 0)")
    parser.add_argument("--count", type=int, default=600, help="how many, for sim (default: 600)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="how many (default: a core each)")
    parser.add_argument("--budget", type=float, default=0, help="seconds (default: 200 for cuda, 3600 for sim)")
    options = parser.parse_args()
    if options.target == "work":
        work(options.seeds)
        return 0
    since = time.monotonic()
    if options.target == "sim":
        found = run_all(
            list(range(options.first, options.first + options.count)), "sim", options.processes, options.budget or 3600
        )
        figures = summary(found, since)
        figures["right"] = [seed for seed, one in found.items() if one["result"] == "right"]
        Path(options.seeds).write_text(json.dumps(figures) + "\n")
    else:
        if options.out is None:
            parser.error("expected a file for the results")
        given = json.loads(Path(options.seeds).read_text())
        if given["generators"] != digest():
            sys.exit(f"{options.seeds}: its seeds are of other generators (test/python/fuzz): make it anew with sim")
        import tilewright as tw

        found = run_all(given["right"], "cuda", options.processes, options.budget or 200)
        figures = {"device": tw.cuda(0).name, **summary(found, since)}
        figures["seeds"] = f"{min(found)} to {max(found)}, those that the simulator runs right" if found else "none"
        figures["not reached"] = len(given["right"]) - len(found)
        options.out.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures["counts"]), f"{figures['seconds']} s")
    for seed, one in figures["went wrong"].items():
        print(f"--- seed {seed}: {one['result']}: {one['error']}\n{one.get('program', '')}")
    return 1 if figures["went wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
